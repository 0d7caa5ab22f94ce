"""Codes UC11xx: what a program says may cost more accuracy than meant; warnings, never errors."""

from ucutlass.diagnostics.catalogue.info import CodeInfo
from ucutlass.diagnostics.core import Severity

CODES = (
    CodeInfo(
        "UC1101",
        "narrow-accumulation",
        Severity.WARNING,
        "a long sum is accumulated in a narrow type",
        "Each addition rounds, so the error grows with the length of the sum: in f16, adding more than about 2048"
        " equal terms changes nothing any more. Accumulate in f32, the default, unless the loss is wanted.",
        "kernel k(x: f16[64, 16384]) -> f16[64, 64] { return gemm(x, x.T).with_acc(f16) }",
        "kernel k(x: f16[64, 16384]) -> f16[64, 64] { return gemm(x, x.T).with_acc(f32) }",
    ),
    CodeInfo(
        "UC1102",
        "range-lost",
        Severity.WARNING,
        "operands are rounded to a type of smaller range",
        "Values beyond the largest number of the compute type become infinite, and small ones vanish. `bf16` and"
        " `tf32` have the range of f32; `f16x3` scales so that nothing is lost.",
        "kernel k(x: f32[64, 64]) -> f32[64, 64] { return gemm(x, x).with_compute(f16) }",
        "kernel k(x: f32[64, 64]) -> f32[64, 64] { return gemm(x, x).with_compute(f16x3) }",
    ),
    CodeInfo(
        "UC1103",
        "constant-rounded",
        Severity.WARNING,
        "a constant is not representable where it is used",
        "The number is rounded, or becomes infinite or zero, in the type of the computation. The message gives the"
        " value that is used.",
        "kernel k(x: f16[8, 8]) -> f16[8, 8] { return relu(x) + 1e40 }",
        "kernel k(x: f16[8, 8]) -> f16[8, 8] { return relu(x) + 1e4 }",
    ),
    CodeInfo(
        "UC1104",
        "constant-division-by-zero",
        Severity.WARNING,
        "a tensor is divided by the constant 0",
        "The result is infinite or NaN everywhere. If that is wanted, write `x * inf`.",
        "kernel k(x: f16[8, 8]) -> f16[8, 8] { return x / 0 }",
        "kernel k(x: f16[8, 8]) -> f16[8, 8] { return x / 2 }",
    ),
    CodeInfo(
        "UC1105",
        "accumulator-overflow",
        Severity.WARNING,
        "a sum of integers may not fit its accumulator",
        "The largest products of these types, summed over so many terms, exceed 32 bits; the sum then wraps around."
        " Scale the data, split the reduction, or convert to a float type first.",
        "kernel k(x: u8[64, 65536]) -> s32[64, 64] { return gemm(x, x.T) }",
        "kernel k(x: u8[64, 16384]) -> s32[64, 64] { return gemm(x, x.T) }",
    ),
)
