"""Applies fix-its to a text.

A leaf: imports only the standard library. Pure: the same source and diagnostics give the same text however often and in
whatever order they are given, and the same edit asked for twice is made once. What overlaps is left for another run of
the tool on the new text, which then knows more.
"""

from collections.abc import Iterable, Sequence

from ucutlass.diagnostics.core import Diagnostic, FixIt
from ucutlass.diagnostics.source import SourceFile
from ucutlass.records import record


@record
class FixResult:
    """A text after its fix-its."""

    text: str
    applied: tuple[Diagnostic, ...]
    skipped: tuple[Diagnostic, ...]
    """Diagnostics whose fix-its, at least one of them, would have met another one's edit, or name another file."""

    @property
    def changed(self) -> bool:
        return bool(self.applied)


Edit = tuple[int, int, str]


def _edit(fix: FixIt) -> Edit:
    return fix.span.start, fix.span.end, fix.replacement


def _clash(one: Edit, other: Edit) -> bool:
    """Whether two different edits cannot both be made; touching ends are fine, two insertions at one place are not."""
    if one == other:
        return False
    if one[0] == one[1] == other[0] == other[1]:
        return True
    return one[0] < other[1] and other[0] < one[1]


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """Makes edits that do not clash. An insertion goes before a replacement that starts at the same place."""
    pieces: list[str] = []
    position = 0
    for start, end, replacement in sorted(set(edits)):
        pieces += [text[position:start], replacement]
        position = end
    return "".join(pieces) + text[position:]


def _usable(source: SourceFile, fixits: Sequence[FixIt]) -> bool:
    return all(
        fix.span.file == source.name and fix.span.resolved and fix.span.end <= len(source.text) for fix in fixits
    )


def apply_fixits(source: SourceFile, diagnostics: Iterable[Diagnostic]) -> FixResult:
    """The source's text with the fix-its of every diagnostic that can be honoured; earlier places win over later ones.

    A diagnostic's fix-its are applied all or none. The spans must be of this very text.
    """
    edits: list[Edit] = []
    applied: list[Diagnostic] = []
    skipped: list[Diagnostic] = []
    fixable = [diagnostic for diagnostic in diagnostics if diagnostic.fixits]
    for diagnostic in sorted(fixable, key=lambda d: (sorted(map(_edit, d.fixits)), d.code, d.message)):
        wanted = list(map(_edit, diagnostic.fixits))
        free = _usable(source, diagnostic.fixits) and not any(
            _clash(new, other) for new in wanted for other in (*edits, *wanted)
        )
        if free:
            edits += wanted
        (applied if free else skipped).append(diagnostic)
    return FixResult(apply_edits(source.text, edits), tuple(applied), tuple(skipped))
