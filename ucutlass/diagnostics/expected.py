"""Compares diagnostics with the ones that comments of the source expect, for `--verify-diagnostics`.

A leaf: imports only the standard library. The syntax is that of MLIR's tests, in a `#` or `//` comment:

    y = gemm(x, v)   # expected-error {{shapes do not match}}
    # expected-warning@+1 {{UC0205}}
    # expected-error-re@above {{tile k = {{[0-9]+}} is not}}

`@+N` and `@-N` count lines from the comment; `@above` and `@below` mean the next line in that direction that holds no
expectation; `@unknown` is a diagnostic without a place. The text must occur in `message [code]`. In the `-re` form what
stands in inner double braces is a regular expression. Each expectation is met by one diagnostic and each diagnostic
meets one expectation.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise

from ucutlass.diagnostics.core import Diagnostic, Severity
from ucutlass.diagnostics.source import SourceFile, Span
from ucutlass.records import record

MISSING = "UC0013"
UNEXPECTED = "UC0014"
MALFORMED = "UC0015"

_COMMENT = re.compile(r"(?:#|//).*")
_START = re.compile(r"expected-[a-z]+")
_EXPECTATION = re.compile(
    r"expected-(?P<severity>error|warning|remark|note)(?P<re>-re)?\s*"
    r"(?:@(?P<place>[+-]\d+|above|below|unknown))?\s*\{\{(?P<text>.*)\}\}"
)


@record
class Expectation:
    """One `expected-…` comment."""

    severity: Severity
    pattern: re.Pattern[str]
    text: str
    """The text as written between the braces."""
    line: int | None
    """The line that it is about, None for `@unknown`."""
    span: Span
    """The comment itself."""


@record
class Seen:
    """A diagnostic, or a note of one, as something to be expected."""

    severity: Severity
    text: str
    line: int | None
    span: Span | None


def _problem(code: str, message: str, span: Span | None) -> Diagnostic:
    return Diagnostic(code, Severity.ERROR, message, span)


def _pattern(text: str, is_regex: bool) -> re.Pattern[str]:
    if not is_regex:
        return re.compile(re.escape(text))
    pieces = re.split(r"\{\{(.*?)\}\}", text)
    return re.compile("".join(f"(?:{piece})" if index % 2 else re.escape(piece) for index, piece in enumerate(pieces)))


def _segments(source: SourceFile, line: int) -> list[tuple[str, Span]]:
    """The expectations in a line's comment, each from its `expected-` to the next one's."""
    comment = _COMMENT.search(source.line_text(line))
    if comment is None:
        return []
    bounds = [*(match.start() for match in _START.finditer(comment.group())), len(comment.group())]
    offset = source.line_bounds(line)[0] + comment.start()
    found: list[tuple[str, Span]] = []
    for start, end in pairwise(bounds):
        text = comment.group()[start:end].rstrip()
        found.append((text, source.span(offset + start, offset + start + len(text))))
    return found


def parse_expectations(source: SourceFile) -> tuple[list[Expectation], list[Diagnostic]]:
    """The expectations of a source, and the comments that look like one but are none."""
    commented = {line: found for line in range(1, source.line_count + 1) if (found := _segments(source, line))}
    # A sentence that only mentions the word is no attempt at an expectation.
    meant = {
        line: segments
        for line, found in commented.items()
        if (segments := [(text, span) for text, span in found if "{{" in text or "@" in text])
    }
    expectations: list[Expectation] = []
    problems: list[Diagnostic] = []
    for line, segments in meant.items():
        for text, span in segments:
            match = _EXPECTATION.match(text)
            if match is None:
                message = f"cannot read {text!r} as an expectation; write expected-error@+1 {{{{text}}}}"
                problems.append(_problem(MALFORMED, message, span))
                continue
            try:
                pattern = _pattern(match["text"], match["re"] is not None)
            except re.error as error:
                problems.append(_problem(MALFORMED, f"not a regular expression: {error}", span))
                continue
            place = _line_of(line, match["place"], meant)
            expectations.append(Expectation(Severity(match["severity"]), pattern, match["text"], place, span))
    return expectations, problems


def _line_of(line: int, place: str | None, comments: Collection[int]) -> int | None:
    match place:
        case None:
            return line
        case "unknown":
            return None
        case "above" | "below":
            step = 1 if place == "below" else -1
            line += step
            while line in comments:
                line += step
            return line
        case offset:
            return line + int(offset)


def _seen(diagnostics: Iterable[Diagnostic], ignore: Collection[Severity]) -> list[Seen]:
    seen: list[Seen] = []
    for diagnostic in diagnostics:
        span = diagnostic.span
        line = span.line if span is not None else None
        seen.append(Seen(diagnostic.severity, f"{diagnostic.message} [{diagnostic.code}]", line, span))
        for note in diagnostic.notes:
            # A note without a place stands under its diagnostic.
            place = note.span if note.span is not None else span
            seen.append(Seen(Severity.NOTE, note.message, place.line if place is not None else None, place))
    return [one for one in seen if one.severity not in ignore]


def _meets(expectation: Expectation, seen: Seen, file: str) -> bool:
    return (
        expectation.severity is seen.severity
        and expectation.line == seen.line
        and (seen.span is None or seen.span.file == file)
        and expectation.pattern.search(seen.text) is not None
    )


def _match(expectations: Sequence[Expectation], seen: Sequence[Seen], file: str) -> dict[int, int]:
    """A largest assignment of diagnostics to expectations: a vague text does not take what a precise one needs."""
    by_line: dict[int | None, list[int]] = {}
    for index, one in enumerate(seen):
        by_line.setdefault(one.line, []).append(index)
    taken: dict[int, int] = {}

    def assign(wanted: int, tried: set[int]) -> bool:
        for index in by_line.get(expectations[wanted].line, ()):
            if index in tried or not _meets(expectations[wanted], seen[index], file):
                continue
            tried.add(index)
            if index not in taken or assign(taken[index], tried):
                taken[index] = wanted
                return True
        return False

    for wanted in range(len(expectations)):
        assign(wanted, set())
    return taken


def check_expectations(
    source: SourceFile, diagnostics: Iterable[Diagnostic], ignore: Collection[Severity] = ()
) -> list[Diagnostic]:
    """What differs, as errors: expected but not seen, seen but not expected, unreadable comments; empty when all fits.

    Diagnostics of the severities in `ignore` need not be expected; expecting one of them fails.
    """
    expectations, problems = parse_expectations(source)
    seen = _seen(diagnostics, ignore)
    taken = _match(expectations, seen, source.name)
    met = set(taken.values())
    for index, expectation in enumerate(expectations):
        if index not in met:
            place = f"on line {expectation.line}" if expectation.line is not None else "without a place"
            message = f"expected {expectation.severity} {place} was not produced: {expectation.text}"
            problems.append(_problem(MISSING, message, expectation.span))
    for index, one in enumerate(seen):
        if index not in taken:
            problems.append(_problem(UNEXPECTED, f"unexpected {one.severity}: {one.text}", one.span))
    return problems
