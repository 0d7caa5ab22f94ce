"""Source texts and places in them: the only code that turns offsets into lines and columns.

A leaf: imports only the standard library. Offsets and columns count characters (code points), never bytes. A line ends
at `\\n`; the `\\r` of a Windows line end belongs to the line but is never shown or pointed past. A tab is one column.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property

from ucutlass.records import record

UNKNOWN_OFFSET = -1
"""`start` and `end` of a span whose text is not at hand, for instance a location read from MLIR that names a file which
was never opened."""

_UCU_TOKEN = re.compile(r"[A-Za-z_]\w*|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|>>|->|==|!=|<=|>=|\S", re.ASCII)
_MLIR_TOKEN = re.compile(r'[%@!#^]?[A-Za-z_$][\w$.]*|[%@!#^]\d+|\d+(?:\.\d+)?|"(?:[^"\\\n]|\\.)*"|->|::|\S', re.ASCII)


@dataclass(frozen=True, order=True)
class Span:
    """A stretch of a source text, `[start, end)`; empty when something is to be inserted there."""

    file: str
    start: int
    """Offset of the first character, `UNKNOWN_OFFSET` when only line and column are known."""
    end: int
    line: int
    column: int
    end_line: int
    end_column: int
    """Column after the last character."""

    @property
    def resolved(self) -> bool:
        """Whether the offsets are known, so that the text can be shown and edited."""
        return self.start != UNKNOWN_OFFSET

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


def unresolved_span(file: str, line: int, column: int) -> Span:
    """A place in a file whose text is not at hand."""
    return Span(file, UNKNOWN_OFFSET, UNKNOWN_OFFSET, line, column, line, column)


@record
class SourceFile:
    """A named text, exactly as it was read: line ends are not translated, so offsets fit the file on disk."""

    name: str
    text: str = field(repr=False)

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    @property
    def line_count(self) -> int:
        return len(self._line_starts)

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column, from 1, of an offset; offsets outside of the text move to its nearest end."""
        offset = min(max(offset, 0), len(self.text))
        line = bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1

    def offset(self, line: int, column: int) -> int | None:
        """The offset of a line and column, None when the text has no such place."""
        if not 1 <= line <= self.line_count or column < 1:
            return None
        start, end = self.line_bounds(line)
        return start + column - 1 if start + column - 1 <= end else None

    def line_bounds(self, line: int) -> tuple[int, int]:
        """Offsets of a line's first character and of its end, line-end characters excluded."""
        start = self._line_starts[line - 1]
        end = self._line_starts[line] - 1 if line < self.line_count else len(self.text)
        return start, end - 1 if end > start and self.text[end - 1] == "\r" else end

    def line_text(self, line: int) -> str:
        start, end = self.line_bounds(line)
        return self.text[start:end]

    def span(self, start: int, end: int) -> Span:
        """The span `[start, end)`. An end before the start gives an empty span; both are moved into the text."""
        start = min(max(start, 0), len(self.text))
        end = min(max(end, start), len(self.text))
        return Span(self.name, start, end, *self.position(start), *self.position(end))

    def end_span(self) -> Span:
        """An empty span after the last character that is not white space: where something is missing at the end."""
        end = len(self.text.rstrip())
        return self.span(end, end)

    def token_span(self, offset: int) -> Span:
        """The span of the one token that starts at the offset, empty at a line's end. MLIR's names may hold dots."""
        pattern = _MLIR_TOKEN if self.name.endswith(".mlir") else _UCU_TOKEN
        match = pattern.match(self.text, offset)
        return self.span(offset, match.end() if match is not None else offset)


def decode_utf8(name: str, data: bytes) -> tuple[SourceFile, Span | None]:
    """The text of a file, and the span of its first byte that is not UTF-8, if any.

    Bad bytes become U+FFFD, so that a message can show the line; the caller refuses the text when there is a span.
    """
    text = data.decode("utf-8", "replace")
    source = SourceFile(name, text)
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        # What precedes the first bad byte is valid, so it decodes to the same characters on its own.
        start = len(data[: error.start].decode("utf-8"))
        return source, source.span(start, start + 1)
    return source, None
