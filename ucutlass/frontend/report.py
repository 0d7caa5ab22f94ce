"""How the frontend reports: places as offsets or nodes, and suggestions for misspelt names.

Imports the diagnostics and the syntax tree.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ucutlass.diagnostics.core import DiagnosticEngine, FixIt, Note
from ucutlass.diagnostics.source import SourceFile, Span
from ucutlass.diagnostics.suggest import nearest, phrase, suggest
from ucutlass.frontend.ast import Name, Node
from ucutlass.frontend.lexer import Token

Place = Node | Token | tuple[int, int]

_LONGEST_MESSAGE = 600
_LONGEST_NAME = 60


def _clipped(text: str, length: int) -> str:
    """A text, or its beginning: a program may hold names and numbers of any length."""
    return text if len(text) <= length else f"{text[: length - 1]}…"


@dataclass
class Reporter:
    """Reports on one source text."""

    source: SourceFile
    engine: DiagnosticEngine
    errors: int = 0

    def span(self, place: Place) -> Span:
        """The place as a span; a name without the parentheses around it."""
        if isinstance(place, Name):
            return self.source.span(*place.inner)
        if isinstance(place, tuple):
            return self.source.span(*place)
        return self.source.span(place.start, place.end)

    def error(
        self, code: str, place: Place, message: str, notes: Sequence[Note] = (), fixits: Sequence[FixIt] = ()
    ) -> None:
        self.errors += 1
        self.engine.error(code, _clipped(message, _LONGEST_MESSAGE), self.span(place), notes, fixits)

    def warning(
        self, code: str, place: Place, message: str, notes: Sequence[Note] = (), fixits: Sequence[FixIt] = ()
    ) -> None:
        self.engine.warning(code, message, self.span(place), notes, fixits)

    def note(self, message: str, place: Place) -> Note:
        return Note(message, self.span(place))

    def replace(self, place: Place, text: str, label: str = "") -> FixIt:
        """A fix-it that puts a text in a place."""
        span = self.span(place)
        was = self.source.text[span.start : span.end]
        return FixIt(span, text, label or f"replace '{_clipped(was, _LONGEST_NAME)}' by '{text}'")

    def insert(self, offset: int, text: str, label: str = "") -> FixIt:
        """A fix-it that inserts a text."""
        return FixIt(self.source.span(offset, offset), text, label or f"insert '{text.strip()}'")

    def delete(self, place: Place, label: str = "") -> FixIt:
        """A fix-it that removes a place."""
        span = self.span(place)
        was = self.source.text[span.start : span.end]
        return FixIt(span, "", label or f"remove '{_clipped(was, _LONGEST_NAME)}'")

    def unknown(
        self,
        code: str,
        name: Name,
        message: str,
        known: Iterable[str],
        aliases: Mapping[str, str] | None = None,
        notes: Sequence[Note] = (),
        listed: bool = False,
        word: str | None = None,
        spelled: Mapping[str, str] | None = None,
    ) -> None:
        """Reports a name that nothing has, with the nearest that something has.

        `listed` says all of them where none is near. `word` is compared in place of the name, and `spelled` says how
        the known ones are written in its place.
        """
        names = list(known)
        word = name.text if word is None else word
        spelling = {known: known for known in names} if spelled is None else spelled
        close = [spelling[found] for found in suggest(word, names, aliases=aliases)]
        if word in spelling:
            close.insert(0, spelling[word])
        if close:
            message = f"{message}; {phrase(close[:3])}"
        elif listed and names:
            message = f"{message}; expected one of {', '.join(spelling.values())}"
        best = word if word in spelling else nearest(word, names, aliases)
        fixits = [self.replace(name, spelling[best])] if best is not None else []
        self.error(code, name, message, notes, fixits)
