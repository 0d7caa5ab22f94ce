"""Offsets and diagnostics as the Language Server Protocol has them.

Imports the protocol's types and the diagnostics.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable

from lsprotocol import types

from ucutlass.diagnostics.core import Diagnostic, FixIt, Severity
from ucutlass.diagnostics.source import Span

SOURCE = "ucutlass"

_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.REMARK: types.DiagnosticSeverity.Information,
    Severity.NOTE: types.DiagnosticSeverity.Information,
}
_FIRST = types.Range(types.Position(0, 0), types.Position(0, 0))


class Positions:
    """Offsets of a text in characters, and lines and columns in the units that the client counts in.

    The protocol ends lines at `\\r` too, which the compiler does not.
    """

    def __init__(self, text: str, encoding: str) -> None:
        self.text = text
        self.encoding = encoding
        self._starts = [0, *(match.end() for match in re.finditer(r"\r\n|\n|\r", text))]

    def position(self, offset: int) -> types.Position:
        """The line and column of an offset."""
        line = bisect_right(self._starts, offset) - 1
        return types.Position(line, sum(map(self._units, self.text[self._starts[line] : offset])))

    def offset(self, position: types.Position) -> int:
        """The offset of a line and column; what lies outside of the text moves to its nearest end."""
        if position.line >= len(self._starts):
            return len(self.text)
        offset, units = self._starts[position.line], 0
        last = position.line + 1 == len(self._starts)
        end = len(self.text) if last else self._starts[position.line + 1]
        while offset < end and units < position.character and self.text[offset] not in "\r\n":
            units += self._units(self.text[offset])
            offset += 1
        return offset

    def range(self, start: int, end: int) -> types.Range:
        return types.Range(self.position(start), self.position(end))

    @property
    def everything(self) -> types.Range:
        return self.range(0, len(self.text))

    def _units(self, character: str) -> int:
        match self.encoding:
            case "utf-8":
                return len(character.encode("utf-8", "surrogatepass"))
            case "utf-32":
                return 1
            case _:
                return 2 if ord(character) > 0xFFFF else 1


def diagnostic(uri: str, positions: Positions, found: Diagnostic) -> types.Diagnostic:
    """A diagnostic; notes with a place of their own become related places, others a part of the message."""
    related: list[types.DiagnosticRelatedInformation] = []
    message = found.message
    for note in found.notes:
        if note.span is not None and note.span.resolved:
            place = types.Location(uri, _range(positions, note.span))
            related.append(types.DiagnosticRelatedInformation(place, note.message))
        else:
            message += f"\nnote: {note.message}"
    return types.Diagnostic(
        _range(positions, found.span),
        message,
        severity=_SEVERITIES[found.severity],
        code=found.code,
        source=SOURCE,
        related_information=related or None,
    )


def _range(positions: Positions, span: Span | None) -> types.Range:
    return positions.range(span.start, span.end) if span is not None and span.resolved else _FIRST


def quick_fix(uri: str, positions: Positions, found: Diagnostic) -> types.CodeAction:
    """The fix-its of a diagnostic, which hold together, as one action."""
    labels = list(dict.fromkeys(fix.label for fix in found.fixits))
    return types.CodeAction(
        title="; ".join(labels),
        kind=types.CodeActionKind.QuickFix,
        diagnostics=[diagnostic(uri, positions, found)],
        is_preferred=True,
        edit=types.WorkspaceEdit(changes={uri: edits(positions, found.fixits)}),
    )


def edits(positions: Positions, fixits: Iterable[FixIt]) -> list[types.TextEdit]:
    return [types.TextEdit(positions.range(fix.span.start, fix.span.end), fix.replacement) for fix in fixits]
