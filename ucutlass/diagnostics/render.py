"""Diagnostics as text for a person, in the manner of clang: place, message, source line, caret, fix-its, notes.

A leaf: imports only the standard library. The form, with the line number left of the bar:

    bad.ucu:4:24: error: tile k = 60 is not a multiple of 16 [UC0503]
        4 |   y = gemm(x, w).with_tile(128, 256, 60)
          |                                      ^~
      fix: use 64
        4 +   y = gemm(x, w).with_tile(128, 256, 64)

A line with `+` shows the source after the fix; `-` marks a line that the fix takes away.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TextIO

from ucutlass.diagnostics.core import Diagnostic, FixIt, Note, Severity
from ucutlass.diagnostics.display import lay_out, printable
from ucutlass.diagnostics.source import SourceFile, Span

DEFAULT_WIDTH = 120
_GUTTER = 6
_MAX_FIX_LINES = 6
"""More changed lines than this are not a glance any more; the rest is counted."""

_BOLD = "1"
_COLOURS = {Severity.ERROR: "1;31", Severity.WARNING: "1;35", Severity.REMARK: "1;34", Severity.NOTE: "1;36"}
_GREEN = "32"
_RED = "31"


def wants_colour(stream: TextIO, when: str = "auto") -> bool:
    """Whether to colour what goes to a stream, for `--color=auto|always|never`."""
    if when != "auto":
        return when == "always"
    return stream.isatty() and os.environ.get("TERM") != "dumb" and not os.environ.get("NO_COLOR")


class _Style:
    def __init__(self, colour: bool) -> None:
        self._colour = colour

    def __call__(self, text: str, codes: str) -> str:
        return f"\x1b[{codes}m{text}\x1b[0m" if self._colour and text else text


def _gutter(line: int | None, mark: str) -> str:
    number = "" if line is None else str(line)
    return f"{number:>{_GUTTER - 1}} {mark} "


def _excerpt(source: SourceFile, span: Span, width: int, style: _Style) -> list[str]:
    """The span's first line with a caret under its start and tildes under the rest."""
    line_start, line_end = source.line_bounds(span.line)
    line = source.text[line_start:line_end]
    end = span.end - line_start if span.end_line == span.line else len(line)
    shown = lay_out(line, span.start - line_start, end, width)
    tildes = max(shown.end - shown.start - 1, 0)
    caret = style("^" + "~" * tildes, _GREEN)
    numbered = _gutter(span.line, "|")
    blank = " " * (len(numbered) - 2) + "| "
    return [numbered + shown.text, blank + " " * shown.start + caret]


def _lines(text: str) -> list[str]:
    return [line.removesuffix("\r") for line in text.split("\n")]


def _fixed_lines(source: SourceFile, fixits: Sequence[FixIt], width: int, style: _Style) -> list[str]:
    """The lines that a set of fix-its changes, as they read afterwards."""
    ordered = sorted(fixits, key=lambda fix: (fix.span.start, fix.span.end))
    first, last = ordered[0].span.line, max(fix.span.end_line for fix in ordered)
    start, end = source.line_bounds(first)[0], source.line_bounds(last)[1]
    if end - start > 100_000:
        return []  # A fix over so much text cannot be read as an excerpt.
    text = ""
    position = start
    for fix in ordered:
        if fix.span.start < position:
            return []  # Overlapping edits cannot be shown as one result; they will not be applied either.
        text += source.text[position : fix.span.start] + fix.replacement
        position = fix.span.end
    text += source.text[position:end]
    before = _lines(source.text[start:end])
    after = _lines(text)
    lines: list[str] = []
    while before and after and before[0] == after[0]:
        before.pop(0)
        after.pop(0)
        first += 1
    while before and after and before[-1] == after[-1]:
        before.pop()
        after.pop()
    if not after:
        for offset, gone in enumerate(before[:_MAX_FIX_LINES]):
            lines.append(style(_gutter(first + offset, "-") + lay_out(gone, 0, 0, width).text, _RED))
        after = before
    else:
        # Where an edit is far to the right of a long line, the window follows it.
        column = ordered[0].span.column - 1 if first == ordered[0].span.line else 0
        for offset, new in enumerate(after[:_MAX_FIX_LINES]):
            place = min(column, len(new)) if offset == 0 else 0
            lines.append(style(_gutter(first + offset, "+") + lay_out(new, place, place, width).text, _GREEN))
    if len(after) > _MAX_FIX_LINES:
        lines.append(_gutter(None, "…") + f"{len(after) - _MAX_FIX_LINES} more lines")
    return lines


def _fixits(sources: Mapping[str, SourceFile], fixits: Sequence[FixIt], width: int, style: _Style) -> list[str]:
    if not fixits:
        return []
    labels = dict.fromkeys(printable(fix.label) for fix in fixits)
    lines = [style("  fix: ", _BOLD) + "; ".join(labels)]
    for name in dict.fromkeys(fix.span.file for fix in fixits):
        source = sources.get(name)
        mine = [fix for fix in fixits if fix.span.file == name]
        if source is not None and all(_shown_in(source, fix.span) for fix in mine):
            lines += _fixed_lines(source, mine, width, style)
    return lines


def _shown_in(source: SourceFile, span: Span) -> bool:
    """Whether the span is one of this very text, as far as can be told."""
    known = span.resolved and span.end <= len(source.text)
    return known and source.position(span.start) == (span.line, span.column)


def _headed(
    sources: Mapping[str, SourceFile], severity: Severity, message: str, span: Span | None, width: int, style: _Style
) -> list[str]:
    first, *rest = printable(message).split("\n")
    place = style(f"{printable(str(span))}: ", _BOLD) if span is not None else ""
    lines = [place + style(f"{severity}: ", _COLOURS[severity]) + style(first, _BOLD)]
    lines += [f"    {line}" for line in rest]
    source = sources.get(span.file) if span is not None else None
    if span is not None and source is not None and _shown_in(source, span):
        lines += _excerpt(source, span, width, style)
    return lines


def render_diagnostic(
    diagnostic: Diagnostic,
    sources: Mapping[str, SourceFile],
    colour: bool = False,
    width: int = DEFAULT_WIDTH,
) -> str:
    """One diagnostic, without a final line break."""
    style = _Style(colour)
    message, *rest = diagnostic.message.split("\n")
    coded = "\n".join([f"{message} [{diagnostic.code}]", *rest])
    lines = _headed(sources, diagnostic.severity, coded, diagnostic.span, width, style)
    lines += _fixits(sources, diagnostic.fixits, width, style)
    for note in diagnostic.notes:
        lines += _note(sources, note, width, style)
    return "\n".join(lines)


def _note(sources: Mapping[str, SourceFile], note: Note, width: int, style: _Style) -> list[str]:
    return _headed(sources, Severity.NOTE, note.message, note.span, width, style)


def summary(diagnostics: Iterable[Diagnostic]) -> str:
    """The count of what was shown, "2 errors, 1 warning"; empty when there is neither."""
    counts = {Severity.ERROR: 0, Severity.WARNING: 0}
    for diagnostic in diagnostics:
        if diagnostic.severity in counts:
            counts[diagnostic.severity] += 1
    return ", ".join(f"{count} {severity}{'s' if count != 1 else ''}" for severity, count in counts.items() if count)


def render(
    diagnostics: Iterable[Diagnostic],
    sources: Mapping[str, SourceFile],
    colour: bool = False,
    width: int = DEFAULT_WIDTH,
) -> str:
    """All diagnostics in the order given, each line ended; empty when there are none."""
    return "".join(render_diagnostic(diagnostic, sources, colour, width) + "\n" for diagnostic in diagnostics)
