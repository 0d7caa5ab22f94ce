"""The element types of the language: their names, widths and spellings in C++, PyTorch and MLIR.

A leaf: imports only the standard library. Every layer that needs a fact about an element type takes it from this table.
"""

from typing import Literal

from ucutlass.records import record

Kind = Literal["float", "sint", "uint", "bool"]


@record
class ElementType:
    """One element type of the language."""

    name: str
    """Keyword of the language, `f16`."""
    bits: int
    """Width in memory, in bits."""
    kind: Kind
    mantissa: int
    """Explicit mantissa bits of a float (unit roundoff is 2^-(mantissa+1)); value bits without sign of an integer."""
    mlir: str
    """Spelling as a builtin MLIR type."""
    cutlass: str
    """C++ type in device code."""
    torch: str | None
    """Attribute of the `torch` module that holds such data, None where PyTorch has none (packed 4-bit)."""
    max_finite: float
    """Largest finite value; conversions to the saturating types clamp to it."""

    @property
    def is_float(self) -> bool:
        return self.kind == "float"

    @property
    def is_integer(self) -> bool:
        return self.kind in ("sint", "uint")

    @property
    def is_fp8(self) -> bool:
        return self.name in ("e4m3", "e5m2")

    @property
    def unit_roundoff(self) -> float:
        """Largest relative error of one rounding to nearest, 2^-(mantissa+1); 0 for integers."""
        return 2.0 ** -(self.mantissa + 1) if self.is_float else 0.0

    @property
    def compute(self) -> "ElementType":
        """The type in which values of this type are computed between rounding points."""
        if self.name in ("f64", "s64", "bool"):
            return self
        return F32 if self.is_float else S32

    def __str__(self) -> str:
        return self.name


F64 = ElementType("f64", 64, "float", 52, "f64", "double", "float64", 1.7976931348623157e308)
F32 = ElementType("f32", 32, "float", 23, "f32", "float", "float32", 3.4028234663852886e38)
TF32 = ElementType("tf32", 32, "float", 10, "tf32", "cutlass::tfloat32_t", "float32", 3.4011621342146535e38)
F16 = ElementType("f16", 16, "float", 10, "f16", "cutlass::half_t", "float16", 65504.0)
BF16 = ElementType("bf16", 16, "float", 7, "bf16", "cutlass::bfloat16_t", "bfloat16", 3.3895313892515355e38)
E4M3 = ElementType("e4m3", 8, "float", 3, "f8E4M3FN", "cutlass::float_e4m3_t", "float8_e4m3fn", 448.0)
E5M2 = ElementType("e5m2", 8, "float", 2, "f8E5M2", "cutlass::float_e5m2_t", "float8_e5m2", 57344.0)
S64 = ElementType("s64", 64, "sint", 63, "si64", "int64_t", "int64", float(2**63 - 1))
S32 = ElementType("s32", 32, "sint", 31, "si32", "int32_t", "int32", float(2**31 - 1))
S8 = ElementType("s8", 8, "sint", 7, "si8", "int8_t", "int8", 127.0)
U8 = ElementType("u8", 8, "uint", 8, "ui8", "uint8_t", "uint8", 255.0)
S4 = ElementType("s4", 4, "sint", 3, "si4", "cutlass::int4b_t", None, 7.0)
U4 = ElementType("u4", 4, "uint", 4, "ui4", "cutlass::uint4b_t", None, 15.0)
BOOL = ElementType("bool", 8, "bool", 1, "i1", "bool", "bool", 1.0)

ELEMENT_TYPES: dict[str, ElementType] = {
    t.name: t for t in (F64, F32, TF32, F16, BF16, E4M3, E5M2, S64, S32, S8, U8, S4, U4, BOOL)
}
BY_MLIR: dict[str, ElementType] = {t.mlir: t for t in ELEMENT_TYPES.values()}

COMPUTE_MODES: tuple[str, ...] = ("f16", "bf16", "tf32", "tf32x3", "f16x3", "e4m3", "e5m2", "s8", "f32", "f64")
"""What `.with_compute` takes: an element type in which products are formed, or a split mode."""
