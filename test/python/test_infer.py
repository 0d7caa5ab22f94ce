"""`infer` gives every value its type, names each mistake once with its place, and goes on."""

import pytest
from keeps_meaning import new_context, read_source
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from ucutlass.diagnostics.core import Diagnostic, Severity
from ucutlass.diagnostics.locations import PipelineStoppedError, engine_of
from ucutlass.dialects.ucutlass.kernel import kernels_of
from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.dims import Facts, bound_names, parse_condition, parse_dim
from ucutlass.passes._signature import false_conditions
from ucutlass.passes.infer import InferPass


def infer(source: str) -> tuple[Context, ModuleOp]:
    ctx = new_context()
    module = read_source(ctx, source)
    InferPass().apply(ctx, module)
    module.verify()
    return ctx, module


def errors(source: str) -> list[Diagnostic]:
    """What the pass refuses a program for."""
    with pytest.raises(PipelineStoppedError) as caught:
        infer(source)
    return list(caught.value.diagnostics)


def types(module: ModuleOp) -> dict[str, str]:
    """The spelled type of each named value of the first kernel."""
    values = [result for op in kernels_of(module)[0].walk() for result in op.results]
    return {v.name_hint: v.type.spelling for v in values if v.name_hint and isinstance(v.type, TensorType)}


def marked(source: str, diagnostic: Diagnostic) -> str:
    """The text that a diagnostic points at."""
    assert diagnostic.span is not None
    return source[diagnostic.span.start : diagnostic.span.end]


# Types ---------------------------------------------------------------------------------------------------------------


def test_types_follow_the_rules() -> None:
    _, module = infer(
        """kernel k(x: f16[M, 64], w: f16[32, 64], b: f32[32]) -> f16[M, 32] {
             wt = w.T
             y_1 = gemm(x, wt)
             y_2 = y_1 + b
             y_3 = gt(y_2, 0)
             y = cast(where(y_3, y_2, 1), f16)
             return y
           }"""
    )
    assert types(module) == {
        "wt": "f16[64, 32]@col",
        "y_1": "f16[M, 32]",
        "y_2": "f32[M, 32]",
        "y_3": "bool[M, 32]",
        "y": "f16[M, 32]",
    }


def test_equal_sizes_by_the_where_clause() -> None:
    _, module = infer(
        """kernel k(x: f16[M, K], w: f16[L, N]) -> f16[M, P] where L == K, P == N + 0 {
             y = gemm(x, w)
             return y
           }"""
    )
    assert types(module) == {"y": "f16[M, N]"}


def test_inferring_twice_changes_nothing() -> None:
    ctx, module = infer("kernel k(x: f16[M, 64]) -> f32[M] { y_1 = relu(x) y_2 = softmax(y_1, 1) return sum(y_2, 1) }")
    before = str(module)
    InferPass().apply(ctx, module)
    assert str(module) == before
    assert "%y_1 = " in before and "%y_2 = " in before


def test_locations_stay() -> None:
    from ucutlass.passes.check_locations import CheckLocationsPass

    ctx, module = infer("kernel k(x: f16[8, 64]) -> f16[8, 64] { y = relu(x) return y * 2 }")
    CheckLocationsPass().apply(ctx, module)


# Several mistakes ----------------------------------------------------------------------------------------------------


def test_every_mistake_once_and_nothing_that_follows_from_it() -> None:
    source = """kernel k(x: f16[8, 64], w: f16[32, 65], v: bf16[64, 8]) -> f16[8, 8] {
      y = gemm(x, w.T)
      z = y >> relu() >> gelu()
      u = gemm(x, v)
      return z + u
    }
    kernel l(x: f16[8]) -> f16[8] { return softmax(x, dim=3) }"""
    found = errors(source)
    assert [d.code for d in found] == ["UC0301", "UC0302", "UC0304"]
    assert [marked(source, d) for d in found] == ["w.T", "v", "3"]


SPLIT = """
ucutlass.kernel @k(%x: !ucutlass.tensor<[8, 64], f16>) -> (!ucutlass.tensor<[8, 64], f16>) {
  %a, %b, %c = ucutlass.split %x {sizes = #ucutlass.dims<[4, 4]>, dim = #ucutlass.dims<[0]>}
    : (!ucutlass.tensor<[8, 64], f16>) -> (!ucutlass.unresolved, !ucutlass.unresolved, !ucutlass.unresolved)
  ucutlass.return %x : !ucutlass.tensor<[8, 64], f16>
}
"""


def test_the_number_of_results_is_checked() -> None:
    (error,) = errors(SPLIT)
    assert (error.code, error.message) == ("UC0306", "split gives 2 values, but 3 names stand on the left")


# Results of the kernel -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("declared", "value", "text"),
    [
        ("s8[8, 64]", "x", "only floats are rounded to floats by themselves, f16 to s8 needs cast"),
        ("f16[8, 64]", "gt(x, 0)", "only floats are rounded to floats by themselves, bool to f16 needs cast"),
        ("f16[8, 32]", "x", "returned 'x' is f16[8, 64], but the kernel declares f16[8, 32]: size 64, expected 32"),
        ("f16[8]", "x", "2 dimensions, expected 1"),
    ],
)
def test_what_cannot_be_returned(declared: str, value: str, text: str) -> None:
    source = f"kernel k(x: f16[8, 64]) -> {declared} {{ return {value} }}"
    (error,) = errors(source)
    assert error.code == "UC0307"
    assert text in error.message
    assert marked(source, error) == value


def test_the_fix_of_a_returned_type_is_a_cast() -> None:
    source = "kernel k(x: f16[8, 64]) -> s8[8, 64], f16[8, 64] { return x + 1, x }"
    (error,) = errors(source)
    (fix,) = error.fixits
    mended = source[: fix.span.start] + fix.replacement + source[fix.span.end :]
    assert mended == source.replace("x + 1", "x + 1 >> cast(s8)")
    infer(mended)


def test_a_dynamic_size_that_may_differ_gets_a_hint() -> None:
    (error,) = errors("kernel k(x: f16[M, 64], y: f16[N, 64]) -> f16[N, 64] { return x }")
    assert error.code == "UC0307"
    assert [note.message for note in error.notes] == ["if they are the same size, say 'where M == N'"]


def test_floats_are_rounded_to_any_float() -> None:
    infer("kernel k(x: f64[8]) -> e4m3[8], f32[8], f64[8] { return x, x, x }")


def test_another_layout_is_a_remark() -> None:
    ctx, _ = infer("kernel k(x: f16[8, 64]) -> f16[8, 64]@col { return relu(x) }")
    (remark,) = engine_of(ctx).diagnostics
    assert (remark.code, remark.severity) == ("UC0607", Severity.REMARK)


# The signature -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("kernel k(x: f16[M]) -> f16[N] { return x }", "N"),
        ("kernel k(x: f16[M]) -> f16[M] where Q > 2 { return x }", "Q"),
        ("kernel k(x: f16[M]) -> f16[M] where P == Q, Q == P { return slice(x, 0, 0, P) }", "PQ"),
        ("kernel k(x: f16[M]) -> f16[R] { return slice(x, 0, 0, R) }", "R"),
    ],
)
def test_unbound_dimensions(source: str, names: str) -> None:
    found = [d.message for d in errors(source) if d.code == "UC0313"]
    assert {message.split()[3] for message in found} == set(names)


def test_an_unbound_dimension_is_named_wherever_it_is_used() -> None:
    source = "kernel k(x: f16[M]) -> f16[R] { return slice(x, 0, 0, R) }"
    found = errors(source)
    assert [(d.code, marked(source, d)) for d in found] == [("UC0313", "f16[R]"), ("UC0313", "R")]
    assert "of result 1:" in found[0].message and "of 'end' of slice:" in found[1].message


@pytest.mark.parametrize(
    ("conditions", "false"),
    [
        ("64 % 7 == 0", ["64 % 7 == 0"]),
        ("M == 8, M % 16 == 0", ["M % 16 == 0"]),
        ("M >= 8, N < 3, M <= 7", ["M <= 7"]),
        ("M < 0", ["M < 0"]),
        ("8 > M, 8 <= M", ["8 <= M"]),
        ("M != M", ["M != M"]),
        ("M % 8 == 0, M >= 8, M <= 8, N == M * 2, 2 * M == N", []),
        ("M * N >= 4, M * N < 4", ["M * N < 4"]),
    ],
)
def test_conditions_that_never_hold(conditions: str, false: list[str]) -> None:
    parsed = [parse_condition(text) for text in conditions.split(",")]
    assert [parsed[index] for index in false_conditions(tuple(parsed))] == [parse_condition(text) for text in false]


def test_a_false_condition_is_an_error() -> None:
    (error,) = errors("kernel k(x: f16[M]) -> f16[M] where M > 8, M < 8 { return x }")
    assert (error.code, error.message) == ("UC0312", "'where M < 8' holds for no sizes")


def test_names_are_bound_through_equations() -> None:
    conditions = [parse_condition("P == Q * 2"), parse_condition("M + 1 == Q"), parse_condition("R == S")]
    assert bound_names([parse_dim("M"), parse_dim("2 * N")], conditions) == {"M", "P", "Q"}
    assert Facts(tuple(conditions)).equal(parse_dim("P"), parse_dim("2 * M + 2"))


# MLIR text -----------------------------------------------------------------------------------------------------------

TYPED = """
ucutlass.kernel @k(%x: !ucutlass.tensor<[8, 64], f16>) -> (!ucutlass.tensor<[8, 64], f16>) {{
  %y = ucutlass.relu %x : (!ucutlass.tensor<[8, 64], f16>) -> {0}
  %z = ucutlass.relu %y : ({0}) -> !ucutlass.unresolved
  ucutlass.return %z : !ucutlass.unresolved
}}
"""


def test_types_that_are_there_are_checked_and_used() -> None:
    _, module = infer(TYPED.format("!ucutlass.tensor<[8, 64], f16>"))
    assert types(module) == {"y": "f16[8, 64]", "z": "f16[8, 64]"}
    ctx = new_context()
    wrong = Parser(ctx, TYPED.format("!ucutlass.tensor<[8, 32], f16>")).parse_module()
    with pytest.raises(PipelineStoppedError) as caught:
        InferPass().apply(ctx, wrong)
    assert "relu gives f16[8, 64], but its result is declared as f16[8, 32]" in str(caught.value)
