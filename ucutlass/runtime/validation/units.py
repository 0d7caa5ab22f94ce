"""How exactly hardware computes: the constants and growth factors of the error bounds.

Imports only the standard library and the element types. `docs/validation.md` derives them.
"""

import math
from dataclasses import dataclass

from ucutlass.element_types import ELEMENT_TYPES, F16, F32, F64, ElementType
from ucutlass.sol.modes import SPLIT_MODES, roundoff_of

FUNCTION_ULPS = 8.0
"""Roundoffs that one operation between two rounding points may cost: functions of CUDA's library stay below 4."""

SMALLEST_NORMAL = 2.0**-126
"""Below this a function of the library in single precision may give anything, 0 included."""


@dataclass(frozen=True)
class Accumulator:
    """How a unit sums products."""

    step: int
    """Products that one instruction sums before the sum is cut off once."""
    roundoff: float
    """Relative error of one such step."""


TENSOR_CORES = {
    "f16": Accumulator(16, 2.0**-23),
    "bf16": Accumulator(16, 2.0**-23),
    "tf32": Accumulator(8, 2.0**-23),
}
"""Tensor cores cut off sums after their last bit instead of rounding them, so that errors have one sign and add up."""

FP8_ROUNDOFF = 2.0**-13
"""Of sums of fp8 products inside of Hopper's tensor cores, which keep 14 bits of them."""
FP8_STEP = 32
FP8_PROMOTED = 128
"""Products after which the exact mode moves the sum to a register in single precision."""


def sum_error(count: float, roundoff: float) -> float:
    """Relative error of a sum of so many terms, each partial sum rounded to nearest.

    Rounding errors are as often up as down, so that they grow like the root of the number of terms; four standard
    deviations are allowed. The bound never exceeds that of the worst case.
    """
    if count <= 1:
        return 0.0
    return roundoff * min(count, 4 * math.sqrt(count) + 4)


def product_sum_error(mode: str, accumulator: str | None, is_fast: bool, count: float) -> float:
    """Error of a sum of products relative to the sum of their magnitudes, the products themselves being exact.

    `count` is the number of products, `accumulator` what `.with_acc` says, `is_fast` whether fp8 sums stay in the
    tensor cores.
    """
    part = SPLIT_MODES.get(mode, mode)
    if part not in ELEMENT_TYPES or ELEMENT_TYPES[part].is_integer:
        return 0.0
    if part == F64.name:
        return 2 * sum_error(count, F64.unit_roundoff) + F64.unit_roundoff
    if part == F32.name:
        return sum_error(count, F32.unit_roundoff) + 2 * F32.unit_roundoff
    if accumulator == F16.name:
        return (math.ceil(count / 16) + 2) * 2 * F16.unit_roundoff
    if ELEMENT_TYPES[part].is_fp8:
        within = count if is_fast else min(count, FP8_PROMOTED)
        inside = (math.ceil(within / FP8_STEP) + 1) * FP8_ROUNDOFF
        return inside + sum_error(count / FP8_PROMOTED, F32.unit_roundoff) + 2 * F32.unit_roundoff
    unit = TENSOR_CORES[part]
    products = 3 if mode in SPLIT_MODES else 1
    return (products * math.ceil(count / unit.step) + 8) * unit.roundoff


def operand_roundoff(mode: str, stored: ElementType) -> float:
    """Relative error of bringing an operand of this element type into the mode of the products."""
    if mode in SPLIT_MODES:
        return roundoff_of(mode)
    wanted = ELEMENT_TYPES[mode]
    return 0.0 if holds(wanted, stored) else wanted.unit_roundoff


def holds(wide: ElementType, narrow: ElementType) -> bool:
    """Whether every value of one element type is a value of the other."""
    if wide is narrow:
        return True
    if wide.is_float and narrow.is_float:
        return wide.mantissa >= narrow.mantissa and wide.max_finite >= narrow.max_finite
    if wide.is_float:
        return wide.mantissa + 1 >= narrow.mantissa
    return False


def smallest_step(element: ElementType) -> float:
    """The distance of the numbers next to 0."""
    if not element.is_float:
        return 0.0
    least_exponent = {"f64": -1022, "f16": -14, "e4m3": -6, "e5m2": -14}.get(element.name, -126)
    return 2.0 ** (least_exponent - element.mantissa)
