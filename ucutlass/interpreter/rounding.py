"""The one rounding of a value to an element type, as every rounding point of the language does it.

Imports the element types; torch is handed in. Rounding is to nearest, ties to even, and happens once: where PyTorch
converts in two steps (double or integer to a float of 16 bits or less goes through `float32`), the first step here
keeps a sticky bit, so that the second one still sees which side of a tie the value was on.
"""

from typing import TYPE_CHECKING

from ucutlass.element_types import BOOL, E4M3, E5M2, F32, F64, S64, TF32, ElementType

if TYPE_CHECKING:
    from types import ModuleType

    from torch import Tensor

_TF32_DROPPED = F32.mantissa - TF32.mantissa


def round_to(torch: "ModuleType", value: "Tensor", element: ElementType) -> "Tensor":
    """The value rounded to an element type, as a tensor of its compute type that holds only values of the element type.

    Integers, `e4m3` and `e5m2` saturate, infinities included; NaN stays NaN in floats and is 0 in integers. The other
    floats overflow to infinity. Booleans are whether the value is not zero.
    """
    if element is BOOL:
        return value != 0
    if not element.is_float:
        return _to_integer(torch, value, element)
    if element is F64:
        return value.to(torch.float64)
    if element is F32:
        return value.to(torch.float32)
    single = _sticky_single(torch, value)
    if element is TF32:
        return _drop_bits(torch, single, _TF32_DROPPED)
    if element in (E4M3, E5M2):
        single = single.clamp(-element.max_finite, element.max_finite)
    assert element.torch is not None
    return single.to(getattr(torch, element.torch)).to(torch.float32)


def _to_integer(torch: "ModuleType", value: "Tensor", element: ElementType) -> "Tensor":
    """The nearest integer in the element type's range."""
    least = -(2**element.mantissa) if element.kind == "sint" else 0
    most = 2**element.mantissa - 1
    compute = torch.int64 if element.compute is S64 else torch.int32
    if not value.dtype.is_floating_point:
        return value.to(torch.int64).clamp(least, most).to(compute)
    whole = value.to(torch.float64).nan_to_num(nan=0.0, posinf=torch.inf, neginf=-torch.inf).round()
    # The bounds of s64 are no doubles: what lies beyond them is not converted but replaced.
    above, below = whole > float(most), whole < float(least)
    if element is S64:
        above = whole >= 2.0**63
    kept = whole.masked_fill(above | below, 0.0).to(torch.int64)
    return kept.masked_fill(above, most).masked_fill(below, least).to(compute)


def _sticky_single(torch: "ModuleType", value: "Tensor") -> "Tensor":
    """The value in single precision with its last bit set where digits were lost (rounding to odd).

    That bit lies at least two places below the last bit of every narrower float, so it decides ties and nothing else.
    """
    if value.dtype in (torch.float32, torch.float16, torch.bfloat16, torch.bool):
        return value.to(torch.float32)
    if not value.dtype.is_floating_point:
        value = _sticky_double(torch, value.to(torch.int64))
    single = value.to(torch.float32)
    back = single.to(torch.float64)
    lost = (back != value) & ~value.isnan()
    outward = lost & (back.abs() > value.abs())
    # The bit patterns of floats of one sign are in the order of their magnitudes: one less is the next one towards 0.
    truncated = single.view(torch.int32) - outward.to(torch.int32)
    return (truncated | lost.to(torch.int32)).view(torch.float32)


def _sticky_double(torch: "ModuleType", value: "Tensor") -> "Tensor":
    """An `int64` in double precision with its last bit set where digits were lost."""
    spare = 63 - F64.mantissa
    large = value.abs() >= 1 << (F64.mantissa + 1)
    large |= value == torch.iinfo(torch.int64).min
    lost = (value & ((1 << spare) - 1)) != 0
    kept = ((value >> spare) | lost.to(torch.int64)) << spare
    return torch.where(large, kept, value).to(torch.float64)


def _drop_bits(torch: "ModuleType", value: "Tensor", count: int) -> "Tensor":
    """Single-precision values rounded to `count` mantissa bits less: a carry there goes into the exponent."""
    bits = value.contiguous().view(torch.int32)
    rounded = bits + ((1 << (count - 1)) - 1) + ((bits >> count) & 1)
    return torch.where(value.isnan(), value, (rounded & -(1 << count)).view(torch.float32))
