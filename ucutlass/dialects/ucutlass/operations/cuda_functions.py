"""Functions that the scalar expressions of the operation tables call, as CUDA C++ to be emitted with a kernel.

A leaf: imports only the standard library. Everything else in an expression is C++ or an overload of CUDA's mathematical
library for `float` and `double` (`exp`, `expm1`, `log1p`, `erf`, `tanh`, `rsqrt`, …). The texts need `<cmath>`,
`<cstdint>`, `<cstring>` and the macro `CUTLASS_HOST_DEVICE`; host and device compute the same bits.
"""

import re
from collections.abc import Iterable

from ucutlass.records import record


@record
class CudaFunction:
    """One function, or a set of overloads, of namespace `ucu`."""

    name: str
    source: str
    needs: tuple[str, ...] = ()
    """Functions that it calls."""


def _function(name: str, source: str, *needs: str) -> CudaFunction:
    return CudaFunction(name, source.strip("\n").replace("FUNCTION", "CUTLASS_HOST_DEVICE"), needs)


def _on_device(cutlass: str) -> str:
    """The conversion instruction, where there is one: it rounds and saturates the same."""
    return f"""#if defined(__CUDA_ARCH__)
  return float({cutlass}(y));
#endif
"""


def _narrow_float(name: str, mantissa: int, least_exponent: int, tail: str) -> CudaFunction:
    """Rounding to a float of few bits, through integers: the quantum is a power of two, so scaling by it is exact."""
    device = _on_device("cutlass::half_t") if name == "f16" else ""
    source = f"""
/// The value of {name} nearest to x, ties to even.
template <class T>
FUNCTION float round_{name}(T x) {{
  float const y = sticky_float(x);
{device}  int exponent = int(float_bits(y) >> 23 & 255u) - 127;
  exponent = exponent < {least_exponent} ? {least_exponent} : exponent;
  float const quantum = bits_float(uint32_t(exponent - {mantissa} + 127) << 23);
  float const per_quantum = bits_float(uint32_t({mantissa} - exponent + 127) << 23);
  float const rounded = rintf(y * per_quantum) * quantum;
  {tail}
}}"""
    return _function(f"round_{name}", source, "float_bits", "bits_float", "sticky_float")


def _saturating(bound: float) -> str:
    return f"return rounded > {bound}f ? {bound}f : rounded < -{bound}f ? -{bound}f : rounded;"


def _short_float(name: str, dropped: int) -> CudaFunction:
    """Rounding to a float that has the exponents of `float` and `dropped` mantissa bits less."""
    device = _on_device("cutlass::bfloat16_t") if name == "bf16" else ""
    source = f"""
/// The value of {name} nearest to x, ties to even.
template <class T>
FUNCTION float round_{name}(T x) {{
  float const y = sticky_float(x);
{device}  uint32_t const bits = float_bits(y);
  uint32_t const rounded = bits + {hex((1 << (dropped - 1)) - 1)}u + (bits >> {dropped} & 1u);
  return y != y ? y : bits_float(rounded & {hex(0x100000000 - (1 << dropped))}u);
}}"""
    return _function(f"round_{name}", source, "float_bits", "bits_float", "sticky_float")


def _integer(name: str, least: str, most: str) -> CudaFunction:
    source = f"""
template <class T>
FUNCTION int32_t to_{name}(T x) {{
  return saturate<{least}, {most}>(x);
}}"""
    return _function(f"to_{name}", source, "saturate")


FUNCTIONS: dict[str, CudaFunction] = {
    f.name: f
    for f in (
        _function(
            "maximum",
            """
/// The larger one; NaN if either is.
template <class T>
FUNCTION T maximum(T a, T b) {
  return a != a || a > b ? a : b;
}""",
        ),
        _function(
            "minimum",
            """
/// The smaller one; NaN if either is.
template <class T>
FUNCTION T minimum(T a, T b) {
  return a != a || a < b ? a : b;
}""",
        ),
        _function(
            "clamp",
            """
/// x between lo and hi, which wins where they cross; NaN stays.
template <class T>
FUNCTION T clamp(T x, T lo, T hi) {
  T const raised = x < lo ? lo : x;
  return raised > hi ? hi : raised;
}""",
        ),
        _function(
            "mish",
            """
/// x tanh(log(1 + e^x)), by the identity tanh(log(1 + e)) = n / (n + 2) with n = e (e + 2).
template <class T>
FUNCTION T mish(T x) {
  T const e = exp(x);
  T const n = e * (e + T(2));
  return x > T(20) ? x : x * (n / (n + T(2)));
}""",
        ),
        _function(
            "exp2_approximate",
            """
/// 2 to the power x, to 2 ulp.
FUNCTION float exp2_approximate(float x) {
#if defined(__CUDA_ARCH__)
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return exp2f(x);
#endif
}""",
        ),
        _function(
            "reciprocal_approximate",
            """
/// 1 / x, to 1 ulp.
FUNCTION float reciprocal_approximate(float x) {
#if defined(__CUDA_ARCH__)
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return 1.0f / x;
#endif
}""",
        ),
        _function(
            "fast_sigmoid",
            """
/// 1 / (1 + e^-x).
FUNCTION float fast_sigmoid(float x) {
  return reciprocal_approximate(1.0f + exp2_approximate(x * -1.44269504f));
}""",
            "exp2_approximate",
            "reciprocal_approximate",
        ),
        _function(
            "fast_gelu_tanh",
            """
/// The tanh form of gelu, by the identity (1 + tanh(u)) / 2 = sigmoid(2 u).
FUNCTION float fast_gelu_tanh(float x) {
  return x * fast_sigmoid(x * (1.59576912f + 0.0713548163f * x * x));
}""",
            "fast_sigmoid",
        ),
        _function(
            "fast_gelu",
            """
/// x / 2 + |x| (1/2 - q), where q is the upper tail of the normal distribution at |x|. Its binary logarithm is a
/// polynomial of degree 7, fitted on [0, 5.5] so that the relative error of q is at most 3.2e-6; beyond, q vanishes.
FUNCTION float fast_gelu(float x) {
  float const a = fabsf(x);
  float p = fmaf(a, -1.79346465e-6f, 6.09043389e-5f);
  p = fmaf(a, p, -9.26030125e-4f);
  p = fmaf(a, p, 8.4937607e-3f);
  p = fmaf(a, p, -0.0539378507f);
  p = fmaf(a, p, -0.458480506f);
  p = fmaf(a, p, -1.15124683f);
  p = fmaf(a, p, -0.999995466f);
  return fmaf(a, 0.5f - exp2_approximate(p), 0.5f * x);
}""",
            "exp2_approximate",
        ),
        _function(
            "power",
            """
/// a to the power b; for integers modulo the width of the type, and truncated for negative b.
FUNCTION float power(float a, float b) {
  return pow(a, b);
}
FUNCTION double power(double a, double b) {
  return pow(a, b);
}
template <class T>
FUNCTION T power(T a, T b) {
  if (b < T(0)) {
    return a == T(1) ? T(1) : a != T(-1) ? T(0) : b % T(2) == T(0) ? T(1) : T(-1);
  }
  uint64_t result = 1;
  for (uint64_t base = uint64_t(int64_t(a)); b > T(0); b /= T(2), base *= base) {
    result *= b % T(2) == T(0) ? 1 : base;
  }
  return T(result);
}""",
        ),
        _function(
            "float_bits",
            """
FUNCTION uint32_t float_bits(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}""",
        ),
        _function(
            "bits_float",
            """
FUNCTION float bits_float(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}""",
        ),
        _function(
            "sticky_float",
            """
/// x as a float whose last bit is set when digits were lost: what is rounded again then is rounded right.
FUNCTION float sticky_float(float x) {
  return x;
}
FUNCTION float sticky_float(double x) {
  float const y = float(x);
  if (double(y) == x || x != x) {
    return y;
  }
  bool const outward = x < 0 ? double(y) < x : double(y) > x;
  return bits_float((float_bits(y) - (outward ? 1u : 0u)) | 1u);
}
FUNCTION float sticky_float(int32_t x) {
  return sticky_float(double(x));
}
FUNCTION float sticky_float(int64_t x) {
  bool const exact = x >= -(int64_t(1) << 53) && x <= int64_t(1) << 53;
  return sticky_float(exact ? double(x) : double((x & ~int64_t(2047)) | (x & 2047 ? 2048 : 0)));
}
FUNCTION float sticky_float(bool x) {
  return x ? 1.0f : 0.0f;
}""",
            "float_bits",
            "bits_float",
        ),
        _narrow_float(
            "f16",
            10,
            -14,
            "return rounded > 65504.0f ? INFINITY : rounded < -65504.0f ? -INFINITY : rounded;",
        ),
        _narrow_float("e4m3", 3, -6, _saturating(448.0)),
        _narrow_float("e5m2", 2, -14, _saturating(57344.0)),
        _short_float("bf16", 16),
        _short_float("tf32", 13),
        _function(
            "saturate",
            """
/// The integer of [Least, Most] nearest to x, ties to even; 0 for NaN.
FUNCTION float to_whole(float x) {
  return rintf(x);
}
FUNCTION double to_whole(double x) {
  return rint(x);
}
template <class T>
FUNCTION T to_whole(T x) {
  return x;
}
template <int32_t Least, int32_t Most, class T>
FUNCTION int32_t saturate(T x) {
  return x != x ? 0 : x >= T(Most + 0.5) ? Most : x <= T(Least) ? Least : int32_t(to_whole(x));
}
template <int32_t Least, int32_t Most>
FUNCTION int32_t saturate(bool x) {
  return x ? 1 : 0;
}""",
        ),
        _integer("s32", "-2147483647 - 1", "2147483647"),
        _integer("s8", "-128", "127"),
        _integer("u8", "0", "255"),
        _integer("s4", "-8", "7"),
        _integer("u4", "0", "15"),
        _function(
            "to_s64",
            """
FUNCTION int64_t to_s64(double x) {
  double const limit = 9223372036854775808.0;
  return x != x ? 0 : x >= limit ? INT64_MAX : x < -limit ? INT64_MIN : int64_t(rint(x));
}
FUNCTION int64_t to_s64(float x) {
  return to_s64(double(x));
}
template <class T>
FUNCTION int64_t to_s64(T x) {
  return int64_t(x);
}""",
        ),
    )
}
"""Every function by name, callees first."""


def functions_of(expressions: Iterable[str]) -> list[CudaFunction]:
    """What these expressions call as `ucu::name`, directly or not, callees first."""
    wanted = {name for text in expressions for name in re.findall(r"\bucu::(\w+)", text)}
    for function in reversed(FUNCTIONS.values()):
        wanted.update(function.needs if function.name in wanted else ())
    return [function for function in FUNCTIONS.values() if function.name in wanted]


def prelude(expressions: Iterable[str]) -> str:
    """The definitions that these expressions need, as namespace `ucu`; empty where they need none."""
    functions = functions_of(expressions)
    if not functions:
        return ""
    return "\n\n".join(["namespace ucu {", *(f.source for f in functions), "}  // namespace ucu\n"])
