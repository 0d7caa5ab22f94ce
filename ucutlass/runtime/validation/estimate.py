"""A reference value together with the error that a kernel's rounding may have brought about.

Imports the element types, the interpreter's rounding and this package's constants; torch is handed in.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ucutlass.element_types import ElementType
from ucutlass.interpreter.rounding import round_to
from ucutlass.runtime.validation.units import holds, smallest_step

if TYPE_CHECKING:
    from types import ModuleType

    from torch import Tensor


@dataclass(frozen=True)
class Estimate:
    """A value in double precision, and how far from it a right kernel may be."""

    value: "Tensor"
    error: "Tensor | None" = None
    """Of the value's shape in double precision; infinite where nothing can be said. None: the value is exact."""
    stored: ElementType | None = None
    """The element type to which the kernel has rounded it, after which another rounding to it changes nothing."""

    @property
    def magnitude(self) -> "Tensor":
        """Largest absolute value that the kernel may have here."""
        magnitude = self.value.abs()
        return magnitude if self.error is None else magnitude + self.error


def known_errors(torch: "ModuleType", error: "Tensor") -> "Tensor":
    """The error with what is not a number, a difference of infinities, made infinite."""
    return error.nan_to_num(nan=torch.inf, posinf=torch.inf, neginf=torch.inf)


def added(torch: "ModuleType", estimate: Estimate, error: "Tensor") -> Estimate:
    """The estimate with a further error."""
    total = error if estimate.error is None else estimate.error + error
    return Estimate(estimate.value, known_errors(torch, total), estimate.stored)


def rounded(torch: "ModuleType", estimate: Estimate, element: ElementType) -> Estimate:
    """The estimate after a rounding to an element type.

    A value that is exact and of the type stays exact. What lies beyond the type's range becomes infinite, or may.
    """
    if not element.is_float or not estimate.value.is_floating_point():
        return Estimate(estimate.value, estimate.error, element)
    if estimate.stored is not None and holds(element, estimate.stored):
        return estimate
    if estimate.error is None and bool((round_to(torch, estimate.value, element) == estimate.value).all()):
        return Estimate(estimate.value, None, element)
    step = element.unit_roundoff * estimate.magnitude + smallest_step(element) / 2
    result = added(torch, estimate, step)
    if not element.is_fp8:
        result = limited(torch, result, element)
    return Estimate(result.value, result.error, element)


def limited(torch: "ModuleType", estimate: Estimate, element: ElementType) -> Estimate:
    """The estimate in a type that overflows to infinity: infinite where it must be, unknown where it may be."""
    limit = element.max_finite * (1 + element.unit_roundoff)
    magnitude = estimate.magnitude
    if not bool((magnitude > limit).any()):
        return estimate
    error = torch.zeros_like(estimate.value) if estimate.error is None else estimate.error
    surely = estimate.value.abs() - error > limit
    maybe = (magnitude > limit) & ~surely
    value = torch.where(surely, estimate.value.sign() * torch.inf, estimate.value)
    error = error.masked_fill(surely, 0.0).masked_fill(maybe, torch.inf)
    return Estimate(value, error, estimate.stored)
