"""Text to tokens: what the grammar calls terminals, each with its place.

Imports the table and the standard library. Never fails: a character that no terminal begins with is a token `BAD`.
"""

from dataclasses import dataclass
from functools import cache

from ucutlass.frontend.table import END, load_table, scanner

BAD = "BAD"
"""Terminal of a character that the language does not use."""


@dataclass(slots=True)
class Token:
    """One token. An inserted token that stands nowhere in the text is empty: its end is its start."""

    kind: str
    """Name of its terminal."""
    text: str
    start: int
    end: int

    @property
    def virtual(self) -> bool:
        """Whether the parser made it up to go on after an error."""
        return self.end == self.start and self.kind != END


@cache
def _words() -> dict[str, str]:
    """Terminals of the words, by their text: a name that is one of them is that word."""
    return {t.pattern: t.name for t in load_table().terminals.values() if t.literal and t.pattern.isidentifier()}


_scanner = cache(lambda: scanner(load_table()))


def tokens_of(text: str) -> list[Token]:
    """The tokens of a text, ended by `$END`."""
    words = _words()
    tokens: list[Token] = []
    for match in _scanner().finditer(text):
        kind = match.lastgroup
        if kind is None:
            continue
        found = match.group()
        if kind == "NAME":
            kind = words.get(found, kind)
        tokens.append(Token(kind, found, match.start(), match.end()))
    tokens.append(Token(END, "", len(text), len(text)))
    return tokens
