"""The interpreter computes what PyTorch computes when it is told, by hand, where the language rounds."""

# torch leaves the element type of `tolist` open.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

import struct

import pytest
import torch
from interpreting import inferred, run
from keeps_meaning import first_difference, new_context, read_source
from torch import Tensor
from torch.nn.functional import gelu, silu
from xdsl.parser import Parser
from xdsl.utils.exceptions import InterpretationError

from ucutlass.diagnostics.core import DiagnosticError
from ucutlass.interpreter import interpret


def normal(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def integers(low: int, high: int, *shape: int, seed: int = 0, dtype: torch.dtype = torch.int8) -> Tensor:
    drawn = torch.randint(low, high + 1, shape, generator=torch.Generator().manual_seed(seed))
    return drawn.to(dtype)


def assert_same(found: Tensor, expected: Tensor) -> None:
    difference = first_difference(expected, found)
    assert difference is None, difference


def tf32(value: Tensor) -> Tensor:
    """Rounds to 10 mantissa bits, ties to even, by hand on the bits of each number."""

    def one(number: float) -> float:
        (pattern,) = struct.unpack("<I", struct.pack("<f", number))
        kept, rest = pattern & ~0x1FFF, pattern & 0x1FFF
        if rest > 0x1000 or (rest == 0x1000 and kept & 0x2000):
            kept += 0x2000
        return struct.unpack("<f", struct.pack("<I", kept))[0]

    return torch.tensor([one(v) for v in value.flatten().tolist()]).reshape(value.shape)


# Rounding points -----------------------------------------------------------------------------------------------------


def test_epilogue_rounds_once() -> None:
    x, w, b = normal(48, 64, dtype=torch.half), normal(32, 64, seed=1, dtype=torch.half), normal(32, dtype=torch.half)
    (y,) = run(
        """kernel k(x: f16[48, 64], w: f16[32, 64], b: f16[32]) -> f16[48, 32] {
             return gemm(x, w.T) >> bias(b) >> gelu()
           }""",
        x,
        w,
        b,
    )
    accumulator = x.float() @ w.float().T
    assert_same(y, gelu(accumulator + b.float()).half())
    twice = gelu(accumulator.half().float() + b.float()).half()
    assert not torch.equal(y, twice), "these inputs do not tell one rounding from two"


def test_cast_and_materialize_round_between() -> None:
    x, w, b = normal(48, 64, dtype=torch.half), normal(64, 32, seed=1, dtype=torch.half), normal(32, dtype=torch.half)
    for way in ("cast(f16)", "materialize()"):
        (y,) = run(
            f"""kernel k(x: f16[48, 64], w: f16[64, 32], b: f16[32]) -> f16[48, 32] {{
                  return gemm(x, w) >> {way} >> bias(b) >> gelu()
                }}""",
            x,
            w,
            b,
        )
        accumulator = (x.float() @ w.float()).half().float()
        assert_same(y, gelu(accumulator + b.float()).half())


def test_operand_of_a_gemm_is_rounded_and_its_other_uses_are_not() -> None:
    x, w, v = (normal(32, 32, seed=s, dtype=torch.half) for s in range(3))
    y, z = run(
        """kernel k(x: f16[32, 32], w: f16[32, 32], v: f16[32, 32]) -> f32[32, 32], f32[32, 32] {
             y = gemm(x, w)
             return gemm(y, v), y
           }""",
        x,
        w,
        v,
    )
    accumulator = x.float() @ w.float()
    assert_same(y, accumulator.half().float() @ v.float())
    assert_same(z, accumulator)


def test_bf16_chain_rounds_at_the_end() -> None:
    x, c = normal(16, 24, dtype=torch.bfloat16), normal(16, 24, seed=1, dtype=torch.bfloat16)
    (y,) = run(
        """kernel k(x: bf16[16, 24], c: bf16[16, 24]) -> bf16[16, 24] {
             return silu(x) * 0.7 - c / 3 >> residual(c, beta=0.25)
           }""",
        x,
        c,
    )
    assert_same(y, (silu(x.float()) * 0.7 - c.float() / 3 + 0.25 * c.float()).bfloat16())


def test_two_outputs_of_one_value() -> None:
    x, w, s = normal(24, 40, dtype=torch.half), normal(40, 16, seed=1, dtype=torch.half), normal(24, 1, seed=2)
    y, z = run(
        """kernel k(x: f16[24, 40], w: f16[40, 16], s: f32[24, 1]) -> f16[24, 16], bf16[24, 16] {
             y = gemm(x, w) >> scale(s)
             return relu(y), y
           }""",
        x,
        w,
        s,
    )
    accumulator = x.float() @ w.float() * s
    assert_same(y, accumulator.relu().half())
    assert_same(z, accumulator.bfloat16())


def test_masked_softmax_chain() -> None:
    x, m = normal(8, 100, dtype=torch.half), normal(8, 100, seed=1)
    (y,) = run(
        """kernel k(x: f16[8, 100], m: f32[8, 100]) -> f16[8, 100] {
             return where(gt(m, 0), x * 0.125, -inf) >> softmax(dim=1)
           }""",
        x,
        m,
    )
    expected = torch.where(m > 0, x.float() * 0.125, -float("inf")).softmax(1)
    assert_same(y, expected.half())


# Types ---------------------------------------------------------------------------------------------------------------


def test_fp8_gives_f32_and_casts_saturate() -> None:
    x = normal(16, 64).to(torch.float8_e4m3fn)
    w = (normal(64, 16, seed=1) * 20).to(torch.float8_e4m3fn)
    y, z = run(
        """kernel k(x: e4m3[16, 64], w: e4m3[64, 16]) -> f32[16, 16], e4m3[16, 16] {
             y = gemm(x, w)
             return y, cast(y * 10, e4m3)
           }""",
        x,
        w,
    )
    accumulator = x.float() @ w.float()
    assert_same(y, accumulator)
    assert (accumulator.abs() * 10 > 464).any(), "nothing is out of range"
    assert_same(z, (accumulator * 10).clamp(-448, 448).to(torch.float8_e4m3fn))


def test_tf32_rounds_operands_to_nearest_even() -> None:
    x, w = normal(8, 16), normal(16, 8, seed=1)
    program = "kernel k(x: f32[8, 16], w: f32[16, 8]) -> f32[8, 8] {{ return gemm(x, w).with_compute({}) }}"
    assert_same(run(program.format("tf32"), x, w)[0], tf32(x) @ tf32(w))
    assert_same(run(program.format("bf16"), x, w)[0], x.bfloat16().float() @ w.bfloat16().float())
    for exact in ("f32", "tf32x3", "f16x3"):
        assert_same(run(program.format(exact), x, w)[0], x @ w)


def test_f16_accumulator_is_one_rounding() -> None:
    x, w = normal(8, 64, dtype=torch.half), normal(64, 8, seed=1, dtype=torch.half)
    (y,) = run(
        "kernel k(x: f16[8, 64], w: f16[64, 8]) -> f32[8, 8] { return gemm(x, w).with_acc(f16) }",
        x,
        w,
    )
    assert_same(y, (x.float() @ w.float()).half().float())


def test_f64() -> None:
    x, w = normal(8, 64).double() / 3, normal(64, 8, seed=1).double() / 7
    (y,) = run("kernel k(x: f64[8, 64], w: f64[64, 8]) -> f64[8, 8] { return exp(gemm(x, w)) }", x, w)
    assert_same(y, (x @ w).exp())


def test_mixed_input() -> None:
    x, w = normal(8, 64, dtype=torch.half), integers(-128, 127, 64, 8)
    (y,) = run("kernel k(x: f16[8, 64], w: s8[64, 8]) -> f16[8, 8] { return gemm(x, w) * 0.01 }", x, w)
    assert_same(y, (x.float() @ w.float() * 0.01).half())


def test_integers_are_exact_and_casts_saturate() -> None:
    x, w = integers(-128, 127, 16, 300), integers(0, 255, 300, 16, seed=1, dtype=torch.uint8)
    y, z = run(
        """kernel k(x: s8[16, 300], w: s8[300, 16]) -> s32[16, 16], s8[16, 16] {
             y = gemm(x, w)
             return y, cast(y / 1000, s8)
           }""",
        x,
        w.to(torch.int8),
    )
    exact = (x.long() @ w.to(torch.int8).long()).int()
    assert_same(y, exact)
    assert_same(z, (exact.float() / 1000).round().clamp(-128, 127).to(torch.int8))


def test_integer_products_wrap_at_32_bits() -> None:
    x = integers(-(2**31), 2**31 - 1, 6, 50, dtype=torch.int32)
    w = integers(-(2**31), 2**31 - 1, 50, 6, seed=1, dtype=torch.int32)
    (y,) = run("kernel k(x: s32[6, 50], w: s32[50, 6]) -> s32[6, 6] { return gemm(x, w) }", x, w)
    exact = [[sum(a * b for a, b in zip(r, c, strict=True)) for c in w.T.tolist()] for r in x.tolist()]
    wrapped = [[(v + 2**31) % 2**32 - 2**31 for v in row] for row in exact]
    assert y.tolist() == wrapped


def test_packed_integers() -> None:
    x = integers(-8, 7, 4, 6)
    packed = (x[:, 0::2] & 15) | ((x[:, 1::2] & 15) << 4)
    y, z = run(
        "kernel k(x: s4[4, 6], i: s4[6, 4]@col) -> s32[4, 4], u4[4, 6] { return gemm(x, i), cast(x, u4) }",
        packed.to(torch.uint8),
        packed.T.to(torch.uint8),
    )
    assert_same(y, x.int() @ x.T.int())
    low = x.clamp(0, 15)
    assert_same(z, (low[:, 0::2] | (low[:, 1::2] << 4)).to(torch.uint8))


def test_values_between_are_wider_than_their_type() -> None:
    x = integers(100, 127, 8)
    (y,) = run("kernel k(x: s8[8]) -> s8[8] { return x + x - x }", x)
    assert_same(y, x)


def test_conversion_from_double_rounds_once() -> None:
    # In float32 first, the second addend vanishes and the rest is a tie that goes the other way.
    x = torch.tensor([1 + 2.0**-11 + 2.0**-40, 1 + 3 * 2.0**-11 - 2.0**-40], dtype=torch.float64)
    (y,) = run("kernel k(x: f64[2]) -> f16[2] { return x }", x)
    assert y.tolist() == [1 + 2.0**-10, 1 + 2.0**-10]


def test_nan_passes_and_becomes_zero_as_an_integer() -> None:
    x = torch.tensor([float("nan"), 1.5, 2.5, -float("inf")])
    y, z, i = run(
        "kernel k(x: f32[4]) -> f32[4], f32[4], s8[4] { return relu(x), clamp(x, -1, 2), cast(x, s8) }",
        x,
    )
    assert_same(y, torch.tensor([float("nan"), 1.5, 2.5, 0.0]))
    assert_same(z, torch.tensor([float("nan"), 1.5, 2.0, -1.0]))
    assert i.tolist() == [0, 2, 2, -128]


# Sizes and layouts ---------------------------------------------------------------------------------------------------

DYNAMIC = """kernel k(x: f16[M, K], w: f16[N, K]) -> f16[P, N] where K % 8 == 0, P == M / 2 {
  return slice(gemm(x, w.T), 0, 0, P)
}"""


def test_dynamic_dimensions_are_bound_by_inputs_and_equations() -> None:
    x, w = normal(7, 16, dtype=torch.half), normal(5, 16, seed=1, dtype=torch.half)
    (y,) = run(DYNAMIC, x, w)
    assert_same(y, (x.float() @ w.float().T)[:3].half())


@pytest.mark.parametrize(
    ("shapes", "code", "text"),
    [
        (((7, 12), (5, 12)), "UC0909", "'where K % 8 == 0' does not hold for K = 12"),
        (((7, 16), (5, 8)), "UC1002", "size K is 16 in dimension 1 of x, but 8 in dimension 1 of w"),
        (((7, 16), (5,)), "UC1002", "argument w is f16[N, K], 2 dimensions, got 1: [5]"),
        (((7, 16),), "UC1002", "takes 2 tensors, got 1"),
    ],
)
def test_wrong_sizes_are_refused(shapes: tuple[tuple[int, ...], ...], code: str, text: str) -> None:
    with pytest.raises(DiagnosticError) as caught:
        run(DYNAMIC, *(torch.zeros(shape, dtype=torch.half) for shape in shapes))
    assert [d.code for d in caught.value.diagnostics] == [code]
    assert text in caught.value.diagnostics[0].message


def test_wrong_data_type_is_refused() -> None:
    with pytest.raises(DiagnosticError, match="argument x of kernel k is f16.2., which is stored as torch.float16"):
        run("kernel k(x: f16[2]) -> f16[2] { return x }", torch.zeros(2))


def test_layouts_are_strides_only() -> None:
    x = normal(2, 3, 4, 5)
    (y,) = run(
        "kernel k(x: f32[2, 3, 4, 5]) -> f32[2, 3, 4, 5]@channels_last { return x * 2 }",
        x.contiguous(memory_format=torch.channels_last),
    )
    assert_same(y, x * 2)
    assert y.is_contiguous(memory_format=torch.channels_last)


def test_empty_tensors_and_empty_reductions() -> None:
    program = "kernel k(x: f16[M, K], w: f16[K, N]) -> f16[M, N] { return gemm(x, w) + 1 }"
    (y,) = run(program, torch.zeros(0, 8, dtype=torch.half), torch.zeros(8, 4, dtype=torch.half))
    assert y.shape == (0, 4)
    (y,) = run(program, torch.zeros(3, 0, dtype=torch.half), torch.zeros(0, 4, dtype=torch.half))
    assert_same(y, torch.ones(3, 4, dtype=torch.half))


def test_what_an_operation_needs_of_dynamic_sizes_is_checked() -> None:
    with pytest.raises(DiagnosticError, match="kernel k: max needs K >= 1, which does not hold for K = 0"):
        run("kernel k(x: f32[M, K]) -> f32[M] { return max(x, dim=1) }", torch.zeros(3, 0))


def test_what_pytorch_refuses_is_refused_with_the_shapes() -> None:
    with pytest.raises(InterpretationError, match=r"gather cannot be computed of x \[3, 2\], index \[1, 2\]"):
        run(
            "kernel k(x: f32[3, 2], i: s64[1, 2]) -> f32[1, 2] { return gather(x, 0, i) }",
            torch.zeros(3, 2),
            torch.tensor([[0, 3]]),
        )


def test_unknown_kernel_and_missing_types_are_refused() -> None:
    program = "kernel k(x: f32[2]) -> f32[2] { return relu(x) }"
    with pytest.raises(InterpretationError, match="there is no kernel 'other'"):
        interpret(inferred(program), "other", [torch.zeros(2)])
    with pytest.raises(InterpretationError, match="run the pass 'infer' before"):
        interpret(read_source(new_context(), program), "k", [torch.zeros(2)])


# Modes ---------------------------------------------------------------------------------------------------------------


def test_reference_mode_computes_in_double_without_rounding() -> None:
    x, w, v = (normal(16, 16, seed=s, dtype=torch.half) for s in range(3))
    program = """kernel k(x: f16[16, 16], w: f16[16, 16], v: f16[16, 16]) -> f16[16, 16] {
      return gemm(gemm(x, w) >> gelu(), v).with_compute(bf16) / 3
    }"""
    a, b, c = x.double(), w.double(), v.double()
    (exact,) = run(program, x, w, v, precision="f64", rounding=False)
    assert_same(exact, gelu(a @ b) @ c / 3)
    (rounded,) = run(program, x, w, v, precision="f64")
    inner = gelu(a @ b).half().bfloat16().double()
    assert_same(rounded, (inner @ v.bfloat16().double() / 3).half())


def test_reference_mode_leaves_pytorchs_settings_alone() -> None:
    run("kernel k(x: f32[2]) -> f32[2] { return x }", torch.zeros(2), precision="f64")
    assert torch.get_default_dtype() is torch.float32


def test_integer_division_is_exact_in_reference_mode() -> None:
    x, y = torch.tensor([1], dtype=torch.int32), torch.tensor([3], dtype=torch.int32)
    program = "kernel k(x: s32[1], y: s32[1]) -> f32[1] { return x / y }"
    (exact,) = run(program, x, y, precision="f64", rounding=False)
    assert exact.tolist() == [1 / 3]
    (single,) = run(program, x, y)
    assert_same(single, torch.tensor([1 / 3], dtype=torch.float32))


FUSED = """
ucutlass.kernel @k(%x: !ucutlass.tensor<[16, 32], f16>, %w: !ucutlass.tensor<[32, 16], f16>)
    -> (!ucutlass.tensor<[16, 16], f32>) {
  %y = ucutlass.fused "gemm" (%a = %x : !ucutlass.tensor<[16, 32], f16>, %b = %w : !ucutlass.tensor<[32, 16], f16>)
      -> (!ucutlass.tensor<[16, 16], f16>) {
    %g = ucutlass.gemm %a, %b
      : (!ucutlass.tensor<[16, 32], f16>, !ucutlass.tensor<[32, 16], f16>) -> !ucutlass.tensor<[16, 16], f16>
    ucutlass.yield %g : !ucutlass.tensor<[16, 16], f16>
  }
  %z = ucutlass.relu %y : (!ucutlass.tensor<[16, 16], f16>) -> !ucutlass.tensor<[16, 16], f16>
  ucutlass.return %z : !ucutlass.tensor<[16, 16], f16>
}
"""


def test_fused_groups_store_what_they_yield() -> None:
    x, w = normal(16, 32, dtype=torch.half), normal(32, 16, seed=1, dtype=torch.half)
    module = Parser(new_context(), FUSED).parse_module()
    (stored,) = interpret(module, "k", [x, w])
    accumulator = x.float() @ w.float()
    assert_same(stored, accumulator.half().float().relu())
    (kept,) = interpret(module, "k", [x, w], cuts=False)
    assert_same(kept, accumulator.relu())
