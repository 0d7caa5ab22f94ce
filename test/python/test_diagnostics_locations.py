"""How passes and verifiers report on operations: the adapter to xDSL."""

import gc
import weakref
from typing import ClassVar

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    LocationAttr,
    ModuleOp,
    NameLoc,
    NoneAttr,
    StringAttr,
)
from xdsl.ir import Operation
from xdsl.irdl import IRDLOperation, irdl_op_definition
from xdsl.utils.exceptions import DiagnosticException, PassFailedException, VerifyException

from ucutlass.diagnostics.core import DiagnosticEngine, DiagnosticError, FixIt, Note, Severity, SourceFile, Span
from ucutlass.diagnostics.locations import (
    PartFixIt,
    PipelineStoppedError,
    engine_of,
    fail,
    operation_error,
    operation_note,
    operation_remark,
    operation_warning,
    report_failure,
    set_engine,
    span_of,
    stop_if_errors,
    verify_failure,
)

SOURCE = SourceFile("a.ucu", "kernel k {\n  y = gemm(x, w).with_tile(128, 60)\n}\n")
GEMM = FileLineColLoc(StringAttr("a.ucu"), IntAttr(2), IntAttr(7))


@irdl_op_definition
class EmptyOp(IRDLOperation):
    """An operation that is always right."""

    name = "test.empty"


def resolve(line: int, column: int, part: str) -> Span | None:
    words = {"setter:tile:1": "60", "setter:tile": ".with_tile(128, 60)", "end": ")\n"}
    if (line, column) != (2, 7) or part not in words:
        return None
    start = SOURCE.text.index(words[part]) + (part == "end")
    return SOURCE.span(start, start + (len(words[part]) if part != "end" else 0))


@pytest.fixture
def ctx() -> Context:
    engine = DiagnosticEngine()
    engine.add_source(SOURCE)
    engine.register_parts("a.ucu", resolve)
    context = Context()
    set_engine(context, engine)
    return context


def operation(location: LocationAttr = GEMM) -> Operation:
    op = EmptyOp()
    op.location = location
    return op


def text_of(span: Span | None) -> str:
    assert span is not None
    return SOURCE.text[span.start : span.end]


def test_the_engine_lives_and_dies_with_its_context() -> None:
    context, other = Context(), Context()
    assert context == other, "contexts compare by content, so a table keyed by them would mix them up"
    engine = engine_of(context)
    assert engine_of(context) is engine and engine_of(other) is not engine
    gone = weakref.ref(engine)
    del engine, context
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize(
    "location",
    [
        GEMM,
        NameLoc(StringAttr("y"), GEMM),
        FusedLoc((UNKNOWN_LOC, GEMM), NoneAttr()),
        CallSiteLoc(GEMM, UNKNOWN_LOC),
    ],
    ids=["plain", "named", "fused", "call site"],
)
def test_span_of_an_operation(ctx: Context, location: LocationAttr) -> None:
    assert text_of(span_of(operation(location), engine_of(ctx))) == "gemm"


def test_span_without_an_engine_is_a_place_only() -> None:
    span = span_of(operation())
    assert span is not None and str(span) == "a.ucu:2:7" and not span.resolved
    assert span_of(operation(UNKNOWN_LOC)) is None


def test_an_operation_without_a_location_is_shown_at_what_encloses_it(ctx: Context) -> None:
    inner = operation(UNKNOWN_LOC)
    outer = ModuleOp([inner])
    outer.location = GEMM
    assert text_of(span_of(inner, engine_of(ctx), "setter:tile:1")) == "gemm", (
        "its parts are not those of the outer one"
    )


def test_errors_are_collected_and_stop_the_pipeline_once(ctx: Context) -> None:
    stop_if_errors(ctx)
    note = operation_note(ctx, operation(), "the gemm")
    fix = PartFixIt("setter:tile:1", "64", "use 64")
    operation_error(ctx, operation(), "UC0503", "k is 60", "setter:tile:1", [note], [fix])
    operation_error(ctx, operation(), "UC0503", "m is 7", "setter:tile:0")
    operation_warning(ctx, operation(), "UC0205", "unused")
    operation_remark(ctx, operation(UNKNOWN_LOC), "UC0601", "fused")
    with pytest.raises(PassFailedException) as caught:
        stop_if_errors(ctx)
    assert isinstance(caught.value, PipelineStoppedError) and isinstance(caught.value, DiagnosticError)
    assert {d.message for d in caught.value.diagnostics} == {"k is 60", "m is 7"}
    by_message = {d.message: d for d in engine_of(ctx).diagnostics}
    k = by_message["k is 60"]
    assert text_of(k.span) == "60" and k.operation == "test.empty"
    assert text_of(k.notes[0].span) == "gemm"
    assert [(text_of(f.span), f.replacement, f.label) for f in k.fixits] == [("60", "64", "use 64")]
    assert text_of(by_message["m is 7"].span) == ".with_tile(128, 60)"
    assert by_message["unused"].severity is Severity.WARNING
    assert by_message["fused"].span is None and by_message["fused"].severity is Severity.REMARK


def test_a_fix_is_inserted_after_a_part_or_dropped_whole(ctx: Context) -> None:
    insert = PartFixIt("setter:tile", ".with_stages(2)", "add stages", insert=True)
    at_end = PartFixIt("end", "!", "shout")
    unknown = PartFixIt("param:dim", "1", "use 1")
    own = FixIt(SOURCE.span(0, 6), "KERNEL", "shout")
    operation_error(ctx, operation(), "UC0503", "a", fixits=[insert, at_end, own])
    operation_error(ctx, operation(), "UC0503", "b", fixits=[insert, unknown])
    operation_error(ctx, operation(UNKNOWN_LOC), "UC0503", "c", fixits=[insert])
    fixes = {d.message: d.fixits for d in engine_of(ctx).diagnostics}
    end = SOURCE.text.index("\n}")
    assert [(f.span.start, f.span.end) for f in fixes["a"]] == [(end, end), (end, end), (0, 6)]
    assert fixes["b"] == fixes["c"] == (), "half of an edit, or one at a guessed place, is none"


@irdl_op_definition
class BrokenOp(IRDLOperation):
    """Breaks a rule of its own."""

    name = "test.broken"
    MESSAGE: ClassVar[str] = "k is 60, expected a multiple of 16"

    def verify_(self) -> None:
        raise verify_failure(
            self, "UC0503", self.MESSAGE, "setter:tile:1", [Note("n")], [PartFixIt("setter:tile:1", "64", "use 64")]
        )


def test_a_verifier_error_keeps_its_code_place_and_fix(ctx: Context) -> None:
    op = BrokenOp()
    op.location = GEMM
    with pytest.raises(VerifyException, match=r"a.ucu:2:7: test.broken: k is 60.*\[UC0503\]") as caught:
        ModuleOp([op]).verify()
    report_failure(engine_of(ctx), caught.value)
    (found,) = engine_of(ctx).diagnostics
    assert (found.code, found.message, text_of(found.span)) == ("UC0503", BrokenOp.MESSAGE, "60")
    assert [f.replacement for f in found.fixits] == ["64"] and found.notes == (Note("n"),)


def test_a_pattern_error_is_a_failed_pass(ctx: Context) -> None:
    error = fail(operation(), "UC0701", "no kernel for this")
    assert isinstance(error, PassFailedException)
    report_failure(engine_of(ctx), error)
    with pytest.raises(PipelineStoppedError) as caught:
        stop_if_errors(ctx)
    other = DiagnosticEngine()
    report_failure(other, caught.value)
    assert other.diagnostics == engine_of(ctx).diagnostics
    assert str(other.diagnostics[0]) == "a.ucu:2:7: error: no kernel for this [UC0701]"


@pytest.mark.parametrize(
    ("error", "code"), [(VerifyException("operand 0 is odd"), "UC0021"), (PassFailedException("no loop"), "UC0022")]
)
def test_exceptions_of_xdsl_itself_become_diagnostics(error: DiagnosticException, code: str) -> None:
    engine = DiagnosticEngine()
    report_failure(engine, error)
    assert [(d.code, d.message) for d in engine.errors] == [(code, str(error))]
