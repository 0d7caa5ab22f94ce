"""How one line of source looks in a terminal: columns, tabs, wide and control characters, windows of long lines.

A leaf: imports only the standard library. A source is not trusted: no control character of it reaches the terminal.
"""

import unicodedata

from ucutlass.records import record

TAB_STOP = 4
ELLIPSIS = "…"


def display_width(character: str) -> int:
    """Terminal cells that a printable character takes."""
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def _cell(character: str, column: int) -> tuple[str, int]:
    """What is shown for a character that starts at a cell of the line, and how many cells it takes."""
    if character == "\t":
        width = TAB_STOP - column % TAB_STOP
        return " " * width, width
    # Cf holds the bidirectional controls, which can make a line look like another program.
    if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp"):
        shown = f"<U+{ord(character):04X}>"
        return shown, len(shown)
    return character, display_width(character)


def printable(text: str) -> str:
    """Text with every control character written out, for messages that quote the source; line breaks stay."""
    return "\n".join("".join(_cell(c, 0)[0] if c != "\t" else c for c in line) for line in text.split("\n"))


@record
class ShownLine:
    """A line, or the window of it that holds a span, laid out in cells."""

    text: str
    start: int
    """Cell at which the span starts."""
    end: int
    """Cell after the span; equal to `start` when the span is empty."""


def _window(line: str, start: int, end: int, width: int) -> tuple[int, int]:
    """First and last character of the part of a long line to show: the span, with about as much left as right of it."""
    if len(line) <= width:
        return 0, len(line)
    room = max(width - (min(end, start + width) - start), 0)
    # A span wider than the window is shown from its start.
    first = max(0, min(start - room // 2, len(line) - width))
    return first, min(first + width, len(line))


def lay_out(line: str, start: int, end: int, width: int) -> ShownLine:
    """Shows a line with a span of characters `[start, end)` in it, in about `width` cells.

    The window is cut by characters before anything is laid out, so a line of megabytes costs no more than a short one.
    """
    end = min(max(end, start), len(line))
    first, last = _window(line, start, end, width)
    shown: list[str] = [ELLIPSIS] if first > 0 else []
    cell = len(shown)
    start_cell = end_cell = None
    for index in range(first, last):
        if index == start:
            start_cell = cell
        if index == end:
            end_cell = cell
        text, taken = _cell(line[index], cell)
        shown.append(text)
        cell += taken
    if last < len(line):
        shown.append(ELLIPSIS)
    # A span may start or end after the last character that is shown.
    start_cell = cell if start_cell is None else start_cell
    return ShownLine("".join(shown).rstrip(), start_cell, cell if end_cell is None else end_cell)
