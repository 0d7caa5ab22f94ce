"""The whole pipeline keeps what programs mean, bitwise, down to the kernels' mainloops and visitor trees."""

from collections import Counter

import pytest
import torch
from hypothesis import given, settings
from keeps_meaning import assert_keeps_meaning, first_difference, new_context, read_source
from random_programs import Program, check_program, programs

from ucutlass.diagnostics.core import DiagnosticEngine, DiagnosticError
from ucutlass.diagnostics.locations import set_engine
from ucutlass.dialects.cutlass.collectives import GemmUniversalOp
from ucutlass.dialects.cutlass.program import LaunchOp, device_kernels
from ucutlass.dialects.ucutlass.kernel import FusedOp
from ucutlass.interpreter import interpret
from ucutlass.passes.pipelines import passes_of, run_passes

X_W = "x: f16[M, 64], w: f16[96, 64]"
WHERE = "where M % 8 == 0"

PROGRAMS = {
    "gemm": (f"kernel k({X_W}) -> f16[M, 96] {WHERE} {{ return gemm(x, w.T) }}", 1),
    "bias and gelu": (
        f"kernel k({X_W}, b: f16[96]) -> f16[M, 96] {WHERE} {{ return gemm(x, w.T) >> bias(b) >> gelu() }}",
        1,
    ),
    "static sizes, other layouts": (
        "kernel k(x: f16[64, 40]@col, w: f16[64, 48]) -> f16[40, 48]@col { return gemm(x.T.T.T, w) >> silu() }",
        1,
    ),
    "residual": (
        f"kernel k({X_W}, r: f16[M, 96], q: f32[96, M]) -> f32[M, 96] {WHERE} {{\n"
        "  return gemm(x, w.T) >> residual(r, beta=0.5) >> residual(q.T, beta=-2)\n}",
        1,
    ),
    "row, column and scalar": (
        f"kernel k({X_W}, row: bf16[1, 96], column: f32[M, 1], one: f32[1], other: f16[]) -> f16[M, 96] {WHERE} {{\n"
        "  return (gemm(x, w.T) * row - column) / one * other\n}",
        1,
    ),
    "an output inside the chain and a sibling": (
        f"kernel k({X_W}, b: f16[96]) -> f16[M, 96], f32[M, 96], bf16[M, 96] {WHERE} {{\n"
        "  h = gemm(x, w.T) >> bias(b)\n  return h, exp(h), relu(h) - 1\n}",
        1,
    ),
    "the accumulator and what follows": (
        f"kernel k({X_W}) -> f32[M, 96], f16[M, 96] {WHERE} {{ h = gemm(x, w.T) return h, sigmoid(h) }}",
        1,
    ),
    "a shared sub-expression": (
        f"kernel k({X_W}, b: f16[96]) -> f16[M, 96], f16[M, 96] {WHERE} {{\n"
        "  h = tanh(gemm(x, w.T) >> bias(b))\n  return h * h + h, h / 2\n}",
        1,
    ),
    "a vector computed on the way": (
        f"kernel k({X_W}, b: f16[96]) -> f16[M, 96] {WHERE} {{ return gemm(x, w.T) >> bias(gelu(b) * 2) }}",
        1,
    ),
    "a comparison": (
        f"kernel k({X_W}, r: f16[M, 96]) -> f16[M, 96] {WHERE} {{\n"
        "  h = gemm(x, w.T)\n  return where(gt(h, r), h, r * 0.1)\n}",
        1,
    ),
    "rounding on the way": (
        f"kernel k({X_W}) -> f32[M, 96] {WHERE} {{ return cast(cast(gemm(x, w.T), e4m3), f32) >> exp() }}",
        1,
    ),
    "swapped operands": (
        f"kernel k({X_W}, b: f16[96], s: f32[M, 1], r: f16[M, 96]) -> f16[M, 96], f32[96, M] {WHERE} {{\n"
        "  h = gemm(x, w.T).with_swap_ab() >> bias(b)\n  return h * s + r, gelu(h).T\n}",
        1,
    ),
    "swapped operands, nothing else": (
        f"kernel k({X_W}) -> f16[M, 96] {WHERE} {{ return gemm(x, w.T).with_swap_ab() }}",
        1,
    ),
    "products in tf32": (
        "kernel k(x: f32[32, 64], w: f32[96, 64], b: f32[96]) -> f32[32, 96] {\n"
        "  return gemm(x, w.T).with_compute(tf32) >> bias(b) >> gelu()\n}",
        1,
    ),
    "fp8 with scales": (
        "kernel k(x: e4m3[32, 64], w: e4m3[96, 64], sx: f32[32, 1], sw: f32[96], s: f32[]) -> e4m3[32, 96], f16[32, 96]"
        " {\n  h = gemm(x, w.T) * sx * sw\n  return h * s, relu(h)\n}",
        1,
    ),
    "bf16": (
        "kernel k(x: bf16[32, 64], w: bf16[96, 64], b: f32[96]) -> bf16[32, 96] {\n"
        "  return gemm(x, w.T) >> bias(b) >> silu()\n}",
        1,
    ),
    "integers": (
        "kernel k(x: s8[32, 64], w: s8[96, 64], s: f32[96]) -> s32[32, 96], s8[32, 96] {\n"
        "  h = gemm(x, w.T)\n  return h, cast(cast(h, f32) * s, s8)\n}",
        1,
    ),
    "f16 accumulator, split and stream": (
        f"kernel k({X_W}, v: f16[96, 64]) -> f16[M, 96], f16[M, 64], f16[M, 96] {WHERE} {{\n"
        "  h = gemm(x, w.T).with_split_k(2)\n  g = gemm(h, v).with_scheduler(stream_k)\n"
        "  return h, g, gemm(g, w.T).with_acc(f16)\n}",
        3,
    ),
    "batches": (
        "kernel k(x: f16[3, 32, 64], w: f16[3, 96, 64], b: f16[96], r: f32[3, 32, 96]) -> f16[3, 32, 96] {\n"
        "  return batched_gemm(x, w.T) >> bias(b) >> residual(r)\n}",
        1,
    ),
    "two gemms, the first result in the workspace": (
        f"kernel k({X_W}, b: f16[96], v: f16[64, 96]) -> f16[M, 64] {WHERE} {{\n"
        "  h = gemm(x, w.T) >> bias(b) >> gelu()\n  return gemm(h, v.T) >> residual(x, beta=0.5)\n}",
        2,
    ),
    "two gemms, the first result returned in another type": (
        f"kernel k({X_W}, v: f16[64, 96]) -> f32[M, 96], bf16[M, 64] {WHERE} {{\n"
        "  h = gemm(x, w.T) >> relu()\n  return h, gemm(h, v.T)\n}",
        2,
    ),
    "materialize": (
        f"kernel k({X_W}, v: f16[64, 96]) -> f16[M, 64], f16[M, 96] {WHERE} {{\n"
        "  h = materialize(gemm(x, w.T) >> gelu())\n  return gemm(h, v.T), h\n}",
        2,
    ),
    "a materialized transpose": (
        f"kernel k({X_W}, v: f16[64, M]) -> f16[64, 96] {WHERE} {{\n"
        "  h = materialize(gemm(x, w.T).T)\n  return gemm(v, h.T)\n}",
        2,
    ),
    "results as columns and transposed": (
        f"kernel k({X_W}, b: f16[96]) -> f16[M, 96]@col, f16[96, M], f32[96, M]@col {WHERE} {{\n"
        "  h = gemm(x, w.T) >> bias(b)\n  return h, h.T, exp(h).T\n}",
        1,
    ),
    "a value returned at two types": (
        f"kernel k({X_W}) -> f16[M, 96], f32[M, 96] {WHERE} {{ h = gelu(gemm(x, w.T)) return h, h }}",
        1,
    ),
    "a value returned twice": (
        f"kernel k({X_W}) -> f16[M, 96], f16[M, 96] {WHERE} {{ h = gelu(gemm(x, w.T)) return h, h }}",
        1,
    ),
    "the accumulator returned twice": (
        f"kernel k({X_W}) -> f16[M, 96], f16[M, 96] {WHERE} {{ h = gemm(x, w.T) return h, h }}",
        1,
    ),
    "results that nothing computes": (
        f"kernel k({X_W}) -> f16[M, 64], f32[64, M], f16[96, 64]@col {WHERE} {{ return x, x.T, w }}",
        3,
    ),
    "a materialized value in a wider type": (
        f"kernel k({X_W}) -> f32[M, 96], f32[96, M] {WHERE} {{\n"
        "  h = materialize(gemm(x, w.T))\n  return h, materialize(exp(h)).T\n}",
        4,
    ),
    "element-wise work of its own": (
        "kernel k(x: f16[48, 48], w: f16[48, 48], y: s32[48, 48]) -> f16[48, 48], s32[48, 48], bool[48, 48] {\n"
        "  h = gemm(x, w)\n  t = relu(h.T) + h\n  return gemm(t, w.T), y * 3 - y, gt(t, h)\n}",
        4,
    ),
    "one weight for a batch": (
        "kernel k(x: f16[3, 32, 64], w: f16[96, 64]) -> f16[3, 32, 96] { return batched_gemm(x, w.T) }",
        1,
    ),
    "sizes that are equal by the where clause": (
        "kernel k(x: f16[M, 64], w: f16[N, 64], b: f16[P]) -> f16[M, P] where P == N, N == 2 * M, M % 8 == 0 {\n"
        "  return gemm(x, w.T) >> bias(b)\n}",
        1,
    ),
    "what nothing depends on": (
        f"kernel k({X_W}) -> f16[M, 96] {WHERE} {{ z = gemm(x, w.T) * 2 return gemm(x, w.T) * (2 + 3) }}",
        1,
    ),
}
"""By name: the program and how many kernels it is."""


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_pipeline_keeps_the_meaning(name: str) -> None:
    source, kernels = PROGRAMS[name]
    module = assert_keeps_meaning(source, bindings={"M": 24}, distributions=("normal", "ties"))
    assert len(device_kernels(module)) == kernels
    assert sum(isinstance(op, LaunchOp) for op in module.walk()) == kernels


def test_a_lowered_program_computes_what_pytorch_does() -> None:
    """The anchor of the chain of comparisons: the other tests only say that passes change nothing."""
    source, _ = PROGRAMS["bias and gelu"]
    ctx = new_context()
    module = read_source(ctx, source)
    run_passes(ctx, module, passes_of("default"))
    x, w, b = torch.randn(16, 64).half(), torch.randn(96, 64).half(), torch.randn(96).half()
    (found,) = interpret(module, "k", [x, w, b])
    expected = torch.nn.functional.gelu(x.float() @ w.float().T + b.float()).half()
    assert found.shape == (16, 96) and found.dtype == torch.float16
    assert torch.allclose(found.float(), expected.float(), rtol=2**-10, atol=2**-14)


def test_large_and_tiny_values_are_kept() -> None:
    for name in ("row, column and scalar", "rounding on the way", "integers", "fp8 with scales"):
        source, _ = PROGRAMS[name]
        distributions = ("large", "denormal", "cancellation")
        assert_keeps_meaning(source, bindings={"M": 16}, seeds=[0], distributions=distributions)


def test_a_swapped_kernel_says_so() -> None:
    module = assert_keeps_meaning(PROGRAMS["swapped operands"][0], bindings={"M": 16}, seeds=[0])
    (kernel,) = [op for op in module.walk() if isinstance(op, GemmUniversalOp)]
    assert kernel.swapped is not None


# What fuse makes of results -------------------------------------------------------------------------------------------


def fused(source: str) -> list[FusedOp]:
    """The groups of a program, after the check that they mean what it does."""
    module = assert_keeps_meaning(source, "infer,fuse", bindings={"M": 16})
    return [op for op in module.walk() if isinstance(op, FusedOp)]


@pytest.mark.parametrize(
    ("results", "returned", "kinds"),
    [
        ("f16[M, 64]", "x", ["copy"]),
        ("f32[64, M]@col", "x.T", ["copy"]),
        ("f16[M, 64], f16[M, 64]", "x, x", ["copy", "copy"]),
        ("f32[M, 64]", "materialize(x)", ["copy"]),
        ("f16[M, 96]", "materialize(gemm(x, w.T))", ["gemm"]),
        ("f32[M, 96]", "materialize(gemm(x, w.T))", ["gemm", "copy"]),
        ("f32[96, M]", "materialize(gemm(x, w.T)).T", ["gemm", "copy"]),
        ("f32[M, 96]", "materialize(cast(gemm(x, w.T), f32))", ["gemm"]),
        ("f16[M, 96], f16[96, M]", "gemm(x, w.T), gemm(x, w.T).T", ["gemm", "gemm"]),
    ],
)
def test_where_results_come_from(results: str, returned: str, kinds: list[str]) -> None:
    groups = fused(f"kernel k({X_W}) -> {results} {WHERE} {{ return {returned} }}")
    assert [group.kind.data for group in groups] == kinds


def test_a_wider_result_keeps_the_rounding_of_materialize() -> None:
    """By hand: 1 + 2^-12 is no f16, so the materialized value is 1, whatever type the result has."""
    source = "kernel k(x: f32[8, 8]) -> f32[8, 8] { return materialize(cast(x, f16) * 1.000244140625) }"
    ctx = new_context()
    module = read_source(ctx, source)
    run_passes(ctx, module, passes_of("infer,fuse"))
    (result,) = interpret(module, "k", [torch.ones(8, 8)])
    assert torch.equal(result, torch.ones(8, 8))


def test_the_transpose_of_a_kernels_own_value_is_no_operand_of_its_epilogue() -> None:
    """Square, so that the shapes alone would allow it."""
    groups = fused("kernel k(x: f16[64, 64]) -> f16[64, 64] { h = gemm(x, x) return relu(h.T) + h }")
    assert [group.kind.data for group in groups] == ["gemm", "elementwise"]


def test_integer_arithmetic_stays_out_of_the_float_epilogue() -> None:
    """2^24 + 1 has no float: an epilogue that computed in f32 would give 2^24 + 2."""
    source = "kernel k(x: s8[16, 16], w: s8[16, 16], y: s32[16, 16]) -> s32[16, 16] { return gemm(x, w.T) + y }"
    assert [group.kind.data for group in fused(source)] == ["gemm", "elementwise"]
    squared = "kernel k(x: s8[16, 16], w: s8[16, 16]) -> s32[16, 16] { h = gemm(x, w.T) return h * h * h }"
    assert [group.kind.data for group in fused(squared)] == ["gemm", "elementwise"]


def test_a_copied_result_is_in_the_ledger() -> None:
    ctx, engine = new_context(), DiagnosticEngine()
    set_engine(ctx, engine)
    run_passes(ctx, read_source(ctx, "kernel k(x: f16[16, 16]) -> f16[16, 16] { return x.T }"), passes_of("infer,fuse"))
    (remark,) = [d for d in engine.diagnostics if d.code == "UC0602"]
    assert remark.message == "returned value 1 begins a kernel of the family copy"


@pytest.mark.parametrize(
    ("source", "code", "reason"),
    [
        (
            "a: f16[2, 3, 32, 64], b: f16[2, 3, 64, 32]) -> f16[2, 3, 32, 32] { return batched_gemm(a, b) }",
            "UC0702",
            "it has 2 batch dimensions, [2, 3], kernels have one",
        ),
        (
            "a: f16[32, 64], b: f16[3, 64, 32]) -> f16[3, 32, 32] { return batched_gemm(a, b) }",
            "UC0702",
            "without a batch dimension",
        ),
        (
            "a: f16[1, 32, 64], b: f16[3, 64, 32]) -> f16[3, 32, 32] { return batched_gemm(a, b) }",
            "UC0702",
            "a factor is f16[1, 32, 64], but there are 3 products",
        ),
        ("a: f32[32, 64], b: f32[64, 32]) -> f32[32, 32] { return gemm(a, b) }", "UC0702", "schedule multistage"),
        (
            "a: f16[32, 64], b: f16[4, 64, 32], o: s32[4]) -> f16[32, 32] { return grouped_gemm(a, b, o) }",
            "UC0701",
            "no kernel of the family grouped",
        ),
    ],
)
def test_what_no_lowering_spells_is_refused(source: str, code: str, reason: str) -> None:
    ctx = new_context()
    module = read_source(ctx, f"kernel k({source}")
    with pytest.raises(DiagnosticError) as caught:
        run_passes(ctx, module, passes_of("default"))
    assert [d.code for d in caught.value.diagnostics] == [code] and reason in str(caught.value)


# Element-wise values --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["gelu", "silu", "sigmoid", "mish", "softplus", "elu", "exp", "tanh"])
def test_an_element_does_not_depend_on_its_neighbours(name: str) -> None:
    """A vector that is broadcast first and then mapped gives bitwise what it gives mapped first and then broadcast."""
    values = torch.randn(37)
    source = "kernel k(x: f32[{shape}]) -> f32[{shape}] {{ return {name}(x) }}"
    ctx = new_context()

    def mapped(tensor: torch.Tensor) -> torch.Tensor:
        module = read_source(ctx, source.format(shape=", ".join(map(str, tensor.shape)), name=name))
        run_passes(ctx, module, passes_of("infer"))
        return interpret(module, "k", [tensor])[0]

    alone = torch.cat([mapped(value.reshape(1)) for value in values])
    assert first_difference(alone, mapped(values)) is None
    many = values.expand(1500, 37).contiguous()
    assert first_difference(alone.expand(1500, 37), mapped(many)) is None


# Random programs ------------------------------------------------------------------------------------------------------


def test_random_programs_keep_their_meaning() -> None:
    outcomes = Counter[str]()

    @settings(max_examples=100)
    @given(programs())
    def check(program: Program) -> None:
        outcomes[check_program(program)] += 1

    check()
    assert outcomes["lowered"] >= 0.7 * outcomes.total(), outcomes
