"""One result against what is expected of it. Shapes and types first, then numbers; what is not finite by a fixed table.

Imports the interpreter's storage and this package.

| reference | result | `forbid` | `match` |
|---|---|---|---|
| finite | finite | the bound decides | the bound decides |
| finite | NaN or infinite | wrong | wrong |
| NaN | NaN | wrong | equal |
| infinite | infinite, same sign | wrong | equal |
| infinite | infinite, other sign | wrong | wrong |
| NaN or infinite | anything else | wrong | wrong |

Where the bound is infinite (a value so near to overflow that a right kernel may go either way) anything is right, and
the element does not count as checked. No elements are equal to no elements.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from ucutlass.interpreter.machine import Machine, Options
from ucutlass.interpreter.storage import storage_dtype, stored_shape
from ucutlass.runtime.validation.expected import Expected
from ucutlass.runtime.validation.units import smallest_step

if TYPE_CHECKING:
    from types import ModuleType

    from torch import Tensor

NonFinite = Literal["forbid", "match"]
"""Whether a reference may hold NaN and infinities, which the result must then hold at the same places."""

Fault = Literal["dtype", "shape", "zeros", "non_finite", "wrong_result", "frobenius"]


@dataclass(frozen=True)
class Comparison:
    """How one result compares with the reference."""

    name: str
    fault: Fault | None
    message: str
    """What is wrong in numbers; empty where nothing is."""
    elements: int = 0
    checked: int = 0
    """Elements that have a finite reference and a finite bound."""
    outside: int = 0
    """Elements that are farther off than their bound."""
    max_error: float = 0.0
    error_over_bound: float = 0.0
    """The largest ratio of an error to its bound: a right kernel stays at or below 1."""
    frobenius: float = 0.0
    """`‖err‖/‖ref‖` over the elements whose reference is finite."""
    frobenius_limit: float | None = None
    """What it may be at most; None where only the bound of each element counts."""
    worst: tuple[int, ...] | None = None
    """Index of the element with the largest ratio."""

    @property
    def passed(self) -> bool:
        return self.fault is None

    @property
    def matched_ratio(self) -> float:
        """Share of elements that are right."""
        return 1 - self.outside / self.elements if self.elements else 1.0


def compare(
    found: "Tensor",
    expected: Expected,
    *,
    non_finite: NonFinite = "forbid",
    frobenius_limit: float | None = None,
    least_matched: float = 1.0,
) -> Comparison:
    """Compare a stored result with what is expected of it."""
    import torch  # half a second, and most of the compiler needs none of it

    wrong = _form_fault(found, expected)
    if wrong is not None:
        return wrong
    machine = Machine(torch, Options(precision="f64"))
    value = machine.load(found, expected.type, f"result {expected.name}").to(torch.float64)
    reference, bound = expected.value, expected.error
    error = (value - reference).abs()
    finite = reference.isfinite() & value.isfinite()
    settled = bound.isfinite()
    same = (value == reference) | (value.isnan() & reference.isnan())
    allowed = ~settled | (same if non_finite == "match" else same & reference.isfinite())
    outside = ~(allowed | (finite & (error <= bound)))
    checked = finite & settled
    # An exact element that is right has no ratio; one that is wrong has an infinite one.
    ratio = torch.where(checked & (error > 0), error / bound, 0.0)
    measures = _Measures(torch, value, reference, bound, outside, finite)
    result = Comparison(
        name=expected.name,
        fault=None,
        message="",
        elements=value.numel(),
        checked=int(checked.sum()),
        outside=int(outside.sum()),
        max_error=_largest(torch.where(checked, error, 0.0)),
        error_over_bound=_largest(ratio),
        frobenius=_relative_norm(torch.where(finite, error, 0.0), torch.where(finite, reference, 0.0)),
        frobenius_limit=frobenius_limit,
        worst=_place(torch.where(outside, ratio.clamp(min=1.0), ratio)),
    )
    fault = _fault_of(result, measures, expected, least_matched)
    return result if fault is None else replace(result, fault=fault[0], message=fault[1])


def _form_fault(found: "Tensor", expected: Expected) -> Comparison | None:
    """What is wrong before any number is looked at."""
    import torch  # half a second, and most of the compiler needs none of it

    element = expected.type.element
    wanted = storage_dtype(torch, element)
    if found.dtype != wanted:
        message = f"{expected.name} is {expected.type.spelling}, stored as {wanted}, but the result is {found.dtype}"
        return Comparison(expected.name, "dtype", message)
    shape = stored_shape(expected.shape, element, expected.type.order)
    if tuple(found.shape) != shape:
        message = f"{expected.name} has shape {list(shape)}, but the result has {list(found.shape)}"
        return Comparison(expected.name, "shape", message)
    return None


@dataclass(frozen=True)
class _Measures:
    """What the messages are made of."""

    torch: "ModuleType"
    value: "Tensor"
    reference: "Tensor"
    bound: "Tensor"
    outside: "Tensor"
    finite: "Tensor"

    def describe(self, place: tuple[int, ...]) -> str:
        """One element in numbers."""
        value, reference, bound = (float(t[place]) for t in (self.value, self.reference, self.bound))
        return f"[{', '.join(map(str, place))}] is {value:.9g}, expected {reference:.9g} ± {bound:.3g}"


def _fault_of(
    result: Comparison, measures: _Measures, expected: Expected, least_matched: float
) -> tuple[Fault, str] | None:
    if result.elements == 0:
        return None
    name = expected.name
    # A reference that underflows in the result's type, or is 0 up to rounding, is rightly 0.
    nonzero = measures.reference.abs() > measures.bound.nan_to_num(nan=0.0) + smallest_step(expected.type.element)
    if bool((measures.value == 0).all()) and bool(nonzero.any()):
        return "zeros", f"every element of {name} is 0, but the reference has others"
    strange = measures.outside & ~measures.value.isfinite() & measures.reference.isfinite()
    if bool(strange.any()):
        place = _place(strange.to(measures.value.dtype))
        assert place is not None
        return "non_finite", f"{name}{measures.describe(place)}; {int(strange.sum())} elements are not finite"
    if result.matched_ratio < least_matched:
        assert result.worst is not None
        share = f"{result.outside} of {result.elements} elements are outside of their bounds"
        ratio = f"{result.error_over_bound:.3g} times the bound at worst"
        return "wrong_result", f"{name}{measures.describe(result.worst)}; {share}, {ratio}"
    if result.frobenius_limit is not None and result.frobenius > result.frobenius_limit:
        return (
            "frobenius",
            f"‖err‖/‖ref‖ of {name} is {result.frobenius:.3g}, expected at most {result.frobenius_limit:.3g}",
        )
    return None


def _largest(values: "Tensor") -> float:
    return float(values.max()) if values.numel() else 0.0


def _relative_norm(error: "Tensor", reference: "Tensor") -> float:
    size, scale = (float(values.square().sum().sqrt()) for values in (error, reference))
    if scale > 0:
        return size / scale
    return 0.0 if size == 0 else float("inf")


def _place(values: "Tensor") -> tuple[int, ...] | None:
    """Index of the largest value; None where there is no value above 0."""
    if values.numel() == 0 or float(values.max()) <= 0:
        return None
    flat = int(values.argmax())
    place: list[int] = []
    for size in reversed(values.shape):
        place.insert(0, flat % size)
        flat //= size
    return tuple(place)
