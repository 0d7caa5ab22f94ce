"""The one diagnostics mechanism of the compiler: what a diagnostic is, and the engine that collects them.

A leaf: imports only the standard library. The parser, the verifiers and the passes all report into one engine; the
renderers beside this module turn what it holds into text, JSON or SARIF. Emitting never raises: whoever must stop
raises one `DiagnosticError` after everything that could be found was reported.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum

from ucutlass.diagnostics.source import SourceFile, Span, unresolved_span
from ucutlass.records import record

__all__ = [
    "Diagnostic",
    "DiagnosticEngine",
    "DiagnosticError",
    "FixIt",
    "Note",
    "PartResolver",
    "Severity",
    "SourceFile",
    "Span",
]

DEFAULT_MAX_ERRORS = 20
TOO_MANY_ERRORS = "UC0010"

_OWN_CODE = re.compile(r"UC\d{4}")
_ANY_CODE = re.compile(r"[A-Z][A-Z0-9]*\d{4}")

PartResolver = Callable[[int, int, str], Span | None]
"""Finds a part of the operation whose name stands at a line and column.

IR carries only the place of an operation's name; the frontend that read the text knows where its parts are. Parts are
words joined by colons, indices from 0:

    name                    the operation's name
    call                    the whole call with its parentheses, setters excluded
    end                     the empty span after the call and its setters: where another setter goes
    operand:1, operand:b    an operand, by position or by name as in the operation's definition
    param:dim               the value of a parameter, however it was given
    keyword:dim             the whole `dim=1`
    setter:tile             the whole `.with_tile(…)`
    setter:tile:2           its third argument
    setter:raster:swizzle   its argument of that name
    result:0                a name on the left of `=`
    argument:0              a parameter of the enclosing kernel, `argument:0:type` its type
    return:0                a declared result type of the enclosing kernel
    where                   the empty span where another `where` condition of the enclosing kernel goes
    target                  the file's target name

A resolver answers None for what the text does not have.
"""


class Severity(Enum):
    """How much a diagnostic matters; only errors make a tool fail."""

    ERROR = "error"
    WARNING = "warning"
    REMARK = "remark"
    NOTE = "note"

    def __str__(self) -> str:
        return self.value


@record
class FixIt:
    """Text to put in place of a span. All fix-its of one diagnostic are one edit: they hold together or not at all."""

    span: Span
    replacement: str
    """Empty to delete; the span is empty to insert."""
    label: str
    """What the edit does, as an order: "use 64"."""


@record
class Note:
    """A further fact, with the place that it is about if there is one."""

    message: str
    span: Span | None = None


@record
class Diagnostic:
    """One finding: what is wrong where, in numbers, and how to mend it."""

    code: str
    """Row of the catalogue, `UC0301`."""
    severity: Severity
    message: str
    span: Span | None = None
    notes: tuple[Note, ...] = ()
    fixits: tuple[FixIt, ...] = ()
    operation: str | None = None
    """Name of the operation that is concerned, where there is one."""

    def __str__(self) -> str:
        place = f"{self.span}: " if self.span is not None else ""
        return f"{place}{self.severity}: {self.message} [{self.code}]"


class DiagnosticError(Exception):
    """Stops the work at hand; carries one or more diagnostics for whoever reports them."""

    def __init__(self, *diagnostics: Diagnostic) -> None:
        assert diagnostics, "a DiagnosticError needs a diagnostic"
        super().__init__(*diagnostics)
        self.diagnostics = diagnostics

    def __str__(self) -> str:
        return "\n".join(map(str, self.diagnostics))


def _check_code(code: str) -> None:
    """A code of this project must be in the catalogue; extensions bring codes with a prefix of their own."""
    # Imported here: the catalogue is text that a run without a diagnostic need not load.
    from ucutlass.diagnostics.catalogue import CATALOGUE

    assert _ANY_CODE.fullmatch(code), f"{code!r} is not a diagnostic code"
    assert code in CATALOGUE or not _OWN_CODE.fullmatch(code), f"{code} is not in the catalogue"


@dataclass
class DiagnosticEngine:
    """Collects the diagnostics of one run over one or more source files."""

    max_errors: int = DEFAULT_MAX_ERRORS
    """How many errors `diagnostics` lists before it says how many more there are; 0 lists all."""
    sources: dict[str, SourceFile] = field(default_factory=dict[str, SourceFile])
    _reported: dict[tuple[str, Severity, str, Span | None], Diagnostic] = field(
        default_factory=dict[tuple[str, Severity, str, Span | None], Diagnostic], init=False, repr=False
    )
    _resolvers: dict[str, list[PartResolver]] = field(
        default_factory=dict[str, list[PartResolver]], init=False, repr=False
    )

    def add_source(self, source: SourceFile) -> SourceFile:
        """Makes a text known, so that spans in it can be shown."""
        self.sources[source.name] = source
        return source

    # Reporting -------------------------------------------------------------------------------------------------------

    def emit(self, diagnostic: Diagnostic) -> None:
        """Records a diagnostic. One that says the same of the same place again is dropped."""
        _check_code(diagnostic.code)
        self._reported.setdefault(
            (diagnostic.code, diagnostic.severity, diagnostic.message, diagnostic.span), diagnostic
        )

    def extend(self, diagnostics: Iterable[Diagnostic]) -> None:
        for diagnostic in diagnostics:
            self.emit(diagnostic)

    def _report(
        self,
        severity: Severity,
        code: str,
        message: str,
        span: Span | None,
        notes: Sequence[Note],
        fixits: Sequence[FixIt],
        operation: str | None,
    ) -> Diagnostic:
        diagnostic = Diagnostic(code, severity, message, span, tuple(notes), tuple(fixits), operation)
        self.emit(diagnostic)
        return diagnostic

    def error(
        self,
        code: str,
        message: str,
        span: Span | None = None,
        notes: Sequence[Note] = (),
        fixits: Sequence[FixIt] = (),
        operation: str | None = None,
    ) -> Diagnostic:
        return self._report(Severity.ERROR, code, message, span, notes, fixits, operation)

    def warning(
        self,
        code: str,
        message: str,
        span: Span | None = None,
        notes: Sequence[Note] = (),
        fixits: Sequence[FixIt] = (),
        operation: str | None = None,
    ) -> Diagnostic:
        return self._report(Severity.WARNING, code, message, span, notes, fixits, operation)

    def remark(
        self,
        code: str,
        message: str,
        span: Span | None = None,
        notes: Sequence[Note] = (),
        fixits: Sequence[FixIt] = (),
        operation: str | None = None,
    ) -> Diagnostic:
        return self._report(Severity.REMARK, code, message, span, notes, fixits, operation)

    # Reading ---------------------------------------------------------------------------------------------------------

    @property
    def has_errors(self) -> bool:
        return any(diagnostic.severity is Severity.ERROR for diagnostic in self._reported.values())

    def _in_order(self) -> list[Diagnostic]:
        """By file in the order in which the files were added, then by place, then as reported; without a place last."""
        ranks = {name: rank for rank, name in enumerate(self.sources)}

        def key(diagnostic: Diagnostic) -> tuple[int, str, int, int]:
            span = diagnostic.span
            if span is None:
                return len(ranks) + 1, "", 0, 0
            # Line and column rather than offsets: an unresolved span has no offset.
            return ranks.get(span.file, len(ranks)), span.file, span.line, span.column

        return sorted(self._reported.values(), key=key)

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """Every error, in order, without the limit."""
        return tuple(d for d in self._in_order() if d.severity is Severity.ERROR)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What to show, in order. Errors past `max_errors` are left out and counted in a note at the end."""
        shown: list[Diagnostic] = []
        errors = 0
        for diagnostic in self._in_order():
            errors += diagnostic.severity is Severity.ERROR
            if diagnostic.severity is not Severity.ERROR or not self.max_errors or errors <= self.max_errors:
                shown.append(diagnostic)
        if self.max_errors and errors > self.max_errors:
            hidden = f"not shown: {errors - self.max_errors} more of {errors} errors"
            shown.append(Diagnostic(TOO_MANY_ERRORS, Severity.NOTE, hidden))
        return tuple(shown)

    def raise_if_errors(self) -> None:
        if errors := self.errors:
            raise DiagnosticError(*errors)

    # Places ----------------------------------------------------------------------------------------------------------

    def register_parts(self, file: str, resolver: PartResolver) -> None:
        """Lets a frontend say where the parts of a file's operations are; a file read in chunks has several."""
        self._resolvers.setdefault(file, []).append(resolver)

    def part_span(self, file: str, line: int, column: int, part: str) -> Span | None:
        """The exact place of a part, None when nobody knows it; what a fix-it needs."""
        for resolver in self._resolvers.get(file, ()):
            if (span := resolver(line, column, part)) is not None:
                return span
        return None

    def span_at(self, file: str, line: int, column: int, part: str | None = None) -> Span:
        """The best place to point at: the part, else what encloses it, else the token at the line and column."""
        while part:
            if (span := self.part_span(file, line, column, part)) is not None:
                return span
            part = part.rpartition(":")[0]
        source = self.sources.get(file)
        offset = source.offset(line, column) if source is not None else None
        if source is None or offset is None:
            return unresolved_span(file, line, column)
        return source.token_span(offset)
