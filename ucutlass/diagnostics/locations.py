"""How dialects and passes report on operations: the adapter between xDSL and the diagnostics.

The one module of this package that imports xDSL; only code that has loaded xDSL anyway imports it.

A pass reports as many problems as it finds and then stops once:

    for op in module.walk():
        if wrong(op):
            operation_error(ctx, op, "UC0503", "tile m = 96 …", part="setter:tile:0")
    stop_if_errors(ctx)

A verifier has no context: it raises `verify_failure(op, …)`, and a rewrite pattern that cannot go on raises
`fail(op, …)`. Both are exceptions that xDSL's own drivers understand; ours calls `report_failure` on them, which finds
the place of the part and adds the diagnostic to the engine.

The engine hangs on the xDSL `Context` as the attribute `ENGINE_ATTRIBUTE`: a `Context` cannot be hashed, so no weak
dictionary can hold it, and an attribute lives exactly as long as its context. `Context.clone()` does not copy it; call
`set_engine` on a clone whose diagnostics are wanted.
"""

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, CallSiteLoc, FileLineColLoc, FusedLoc, NameLoc
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import DiagnosticException, PassFailedException, VerifyException

from ucutlass.diagnostics.core import (
    Diagnostic,
    DiagnosticEngine,
    DiagnosticError,
    FixIt,
    Note,
    Severity,
)
from ucutlass.diagnostics.source import Span
from ucutlass.records import record

ENGINE_ATTRIBUTE = "ucutlass_diagnostics"
INVALID_IR = "UC0021"
PASS_FAILED = "UC0022"


class PipelineStoppedError(DiagnosticError, PassFailedException):
    """Errors were reported and the pipeline may not go on; carries all of them."""


@record
class PartFixIt:
    """A fix-it on a part of the reported operation; dropped where the exact place of the part is not known."""

    part: str
    replacement: str
    label: str
    insert: bool = False
    """Whether to insert after the part rather than to replace it."""


# The engine of a context -------------------------------------------------------------------------------------------


def set_engine(ctx: Context, engine: DiagnosticEngine) -> None:
    """Makes passes that run with the context report into the engine."""
    setattr(ctx, ENGINE_ATTRIBUTE, engine)


def engine_of(ctx: Context) -> DiagnosticEngine:
    """The engine of the context; a context that has none, as in another tool than ours, gets an empty one."""
    engine: object = getattr(ctx, ENGINE_ATTRIBUTE, None)
    if not isinstance(engine, DiagnosticEngine):
        engine = DiagnosticEngine()
        set_engine(ctx, engine)
    return engine


# Places --------------------------------------------------------------------------------------------------------------


def file_location(location: Attribute) -> FileLineColLoc | None:
    """The file, line and column inside of a location; the first one of a fused location, the callee of a call site."""
    match location:
        case FileLineColLoc():
            return location
        case NameLoc():
            return file_location(location.location)
        case CallSiteLoc():
            return file_location(location.callee)
        case FusedLoc(locations=ArrayAttr(data=parts)):
            return next((found for part in parts if (found := file_location(part)) is not None), None)
        case _:
            return None


def _location_of(op: Operation) -> FileLineColLoc | None:
    """The operation's location, else that of what encloses it: a rewrite may have forgotten to pass one on."""
    current: Operation | None = op
    while current is not None:
        if (location := file_location(current.location)) is not None:
            return location
        current = current.parent_op()
    return None


def span_of(op: Operation, engine: DiagnosticEngine | None = None, part: str | None = None) -> Span | None:
    """Where the operation, or a part of it, stands in the source; None when no location was recorded.

    Without an engine the span has a line and a column only.
    """
    location = _location_of(op)
    if location is None:
        return None
    # A part of an operation that lost its own location would be looked for in the operation around it.
    exact = part if file_location(op.location) is not None else None
    return (engine if engine is not None else DiagnosticEngine()).span_at(
        location.filename.data, location.line.data, location.column.data, exact
    )


def fixit_of(op: Operation, engine: DiagnosticEngine, fix: PartFixIt) -> FixIt | None:
    """The fix-it at its exact place; None when that place is not known, for a guess would edit the wrong text."""
    location = file_location(op.location)
    if location is None:
        return None
    span = engine.part_span(location.filename.data, location.line.data, location.column.data, fix.part)
    if span is None:
        return None
    if fix.insert:
        source = engine.sources.get(span.file)
        if source is None:
            return None
        span = source.span(span.end, span.end)
    return FixIt(span, fix.replacement, fix.label)


# Reporting -----------------------------------------------------------------------------------------------------------


def _diagnostic(
    engine: DiagnosticEngine,
    severity: Severity,
    op: Operation,
    code: str,
    message: str,
    part: str | None,
    notes: Sequence[Note],
    fixits: Sequence[FixIt | PartFixIt],
) -> Diagnostic:
    placed = [fix if isinstance(fix, FixIt) else fixit_of(op, engine, fix) for fix in fixits]
    # All fix-its of a diagnostic are one edit: without one of them the others are no fix.
    whole = tuple(fix for fix in placed if fix is not None) if None not in placed else ()
    return Diagnostic(code, severity, message, span_of(op, engine, part), tuple(notes), whole, op.name)


def operation_error(
    ctx: Context,
    op: Operation,
    code: str,
    message: str,
    part: str | None = None,
    notes: Sequence[Note] = (),
    fixits: Sequence[FixIt | PartFixIt] = (),
) -> None:
    """Reports an error on an operation and returns: find what else is wrong, then call `stop_if_errors`."""
    engine = engine_of(ctx)
    engine.emit(_diagnostic(engine, Severity.ERROR, op, code, message, part, notes, fixits))


def operation_warning(
    ctx: Context,
    op: Operation,
    code: str,
    message: str,
    part: str | None = None,
    notes: Sequence[Note] = (),
    fixits: Sequence[FixIt | PartFixIt] = (),
) -> None:
    engine = engine_of(ctx)
    engine.emit(_diagnostic(engine, Severity.WARNING, op, code, message, part, notes, fixits))


def operation_remark(
    ctx: Context,
    op: Operation,
    code: str,
    message: str,
    part: str | None = None,
    notes: Sequence[Note] = (),
) -> None:
    engine = engine_of(ctx)
    engine.emit(_diagnostic(engine, Severity.REMARK, op, code, message, part, notes, ()))


def operation_note(ctx: Context, op: Operation, message: str, part: str | None = None) -> Note:
    """A note that points at another operation than the reported one."""
    return Note(message, span_of(op, engine_of(ctx), part))


def stop_if_errors(ctx: Context) -> None:
    """Ends the pipeline when anything was reported as an error, in this pass or before."""
    if errors := engine_of(ctx).errors:
        raise PipelineStoppedError(*errors)


# Failures without a context ------------------------------------------------------------------------------------------


@record
class Failure:
    """What an exception raised on an operation says, before the place of the part has been looked up."""

    op: Operation
    code: str
    message: str
    part: str | None = None
    notes: tuple[Note, ...] = ()
    fixits: tuple[FixIt | PartFixIt, ...] = ()

    def __str__(self) -> str:
        span = span_of(self.op)
        place = f"{span}: " if span is not None else ""
        return f"{place}{self.op.name}: {self.message} [{self.code}]"


class OperationFailure(PassFailedException):
    """A pass or a pattern cannot go on with an operation."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(str(failure))
        self.failure = failure


class VerifyFailure(VerifyException):
    """An operation breaks a rule of its own."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(str(failure))
        self.failure = failure


def fail(
    op: Operation,
    code: str,
    message: str,
    part: str | None = None,
    notes: Sequence[Note] = (),
    fixits: Sequence[FixIt | PartFixIt] = (),
) -> OperationFailure:
    """The exception for a pass to raise where there is no context or nothing more to find."""
    return OperationFailure(Failure(op, code, message, part, tuple(notes), tuple(fixits)))


def verify_failure(
    op: Operation,
    code: str,
    message: str,
    part: str | None = None,
    notes: Sequence[Note] = (),
    fixits: Sequence[FixIt | PartFixIt] = (),
) -> VerifyFailure:
    """The exception for a verifier to raise."""
    return VerifyFailure(Failure(op, code, message, part, tuple(notes), tuple(fixits)))


def report_failure(engine: DiagnosticEngine, error: DiagnosticError | DiagnosticException) -> None:
    """Adds what an exception of a pass or verifier carries to the engine, xDSL's own exceptions included."""
    if isinstance(error, DiagnosticError):
        engine.extend(error.diagnostics)
        return
    if not isinstance(error, OperationFailure | VerifyFailure):
        engine.error(INVALID_IR if isinstance(error, VerifyException) else PASS_FAILED, str(error).rstrip())
        return
    failure = error.failure
    engine.emit(
        _diagnostic(
            engine,
            Severity.ERROR,
            failure.op,
            failure.code,
            failure.message,
            failure.part,
            failure.notes,
            failure.fixits,
        )
    )
