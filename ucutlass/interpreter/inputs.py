"""Random inputs that suit a kernel: right types and layouts, and values that bring certain faults to light.

Imports the dialect and this package. The same seed gives the same tensors on every machine, but not on every kind of
device.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Literal, cast, get_args

from ucutlass.dialects.ucutlass.kernel import KernelOp
from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.element_types import ElementType
from ucutlass.interpreter.bindings import Signature, complete_bindings
from ucutlass.interpreter.machine import Machine
from ucutlass.interpreter.roles import Role, role_of

if TYPE_CHECKING:
    from types import ModuleType

    from torch import Generator, Tensor

Distribution = Literal["normal", "uniform", "large", "cancellation", "one_hot", "ties", "denormal"]
"""How values are drawn. Integers are drawn from the whole range of their type unless something else is said.

| name | floats | what it shows |
|---|---|---|
| `normal` | standard normal | wrong results in general |
| `uniform` | between -1 and 1 | the same, without large values |
| `large` | `sqrt(max)/256` to `sqrt(max)`; integers: the ends of the range | overflow, missing saturation |
| `cancellation` | pairs of one magnitude, of opposite signs in every other operand | dropped terms, poor sums |
| `one_hot` | one 1 in each row, else 0 | wrong indices |
| `ties` | halfway between two values of a narrower type | double rounding, rounding away from even |
| `denormal` | below the smallest normal number, times ordinary values in every other operand | flushing to zero |
"""

DISTRIBUTIONS: tuple[Distribution, ...] = get_args(Distribution)


def random_inputs(
    kernel: KernelOp,
    bindings: Mapping[str, int] | None = None,
    seed: int = 0,
    distribution: Distribution = "normal",
    device: str = "cpu",
) -> "list[Tensor]":
    """Stored tensors for the arguments of an inferred kernel whose dimension names have these sizes.

    They are drawn on `device`, where they then lie. Raises DiagnosticError where the sizes are incomplete or break the
    kernel's conditions.
    """
    import torch  # half a second, and most of the compiler needs none of it

    signature = Signature.of(kernel)
    machine = Machine(torch, sizes=complete_bindings(signature, bindings or {}))
    tensors: list[Tensor] = []
    with torch.device(device):
        for index, (argument, (_, type_)) in enumerate(zip(kernel.body.block.args, signature.arguments, strict=True)):
            generator = torch.Generator(device=device).manual_seed(seed * 1_000_003 + index)
            drawer = _Drawer(torch, generator, index)
            values = drawer.for_role(machine, role_of(argument), type_)
            if values is None:
                values = drawer.values(machine.shape_of(type_), type_.element, distribution)
            tensors.append(machine.store(values, type_))
    return tensors


class _Drawer:
    """Draws the values of one argument."""

    def __init__(self, torch: "ModuleType", generator: "Generator", index: int) -> None:
        self.torch = torch
        self.generator = generator
        self.is_second = index % 2 == 1
        """Whether this stands in every other operand, as a weight usually does."""

    def values(self, shape: tuple[int, ...], element: ElementType, distribution: Distribution) -> "Tensor":
        """Values of the element type, not yet rounded to it."""
        if element.kind == "bool":
            return self._integers(shape, 0, 1).to(self.torch.bool)
        draw: Callable[[tuple[int, ...], ElementType], Tensor]
        draw = getattr(self, f"_{'integer' if element.is_integer else 'float'}_{distribution}")
        return draw(shape, element)

    def for_role(self, machine: Machine, role: Role | None, type_: TensorType) -> "Tensor | None":
        """Values for an argument that its operation does not take freely; None for any other."""
        shape = machine.shape_of(type_)
        if role is None:
            return None
        if role.kind == "positive":
            return self._normal(shape).abs() + 0.1
        limit = role.limit.evaluate(machine.sizes)
        values = self._integers(shape, 0, limit if role.kind == "offsets" else max(limit - 1, 0))
        return values.sort().values if role.kind == "offsets" else values

    # Drawing -------------------------------------------------------------------------------------------------------

    def _normal(self, shape: tuple[int, ...]) -> "Tensor":
        drawn: Tensor = self.torch.randn(shape, generator=self.generator, dtype=self.torch.float64)
        return drawn

    def _unit(self, shape: tuple[int, ...]) -> "Tensor":
        drawn: Tensor = self.torch.rand(shape, generator=self.generator, dtype=self.torch.float64)
        return drawn

    def _integers(self, shape: tuple[int, ...], low: int, high: int) -> "Tensor":
        # The bound of randint is exclusive and itself an int64: the largest one is never drawn.
        drawn: Tensor = self.torch.randint(low, min(high, 2**63 - 2) + 1, shape, generator=self.generator)
        return drawn

    def _signs(self, shape: tuple[int, ...]) -> "Tensor":
        return self._integers(shape, 0, 1) * 2 - 1

    def _pairs(self, shape: tuple[int, ...]) -> "Tensor":
        """Normal values that are equal in blocks of two along every dimension."""
        values = self._normal(tuple((size + 1) // 2 for size in shape))
        for axis, size in enumerate(shape):
            values = values.repeat_interleave(2, dim=axis).narrow(axis, 0, size)
        return values

    def _checkerboard(self, shape: tuple[int, ...]) -> "Tensor":
        """Signs that alternate along every dimension."""
        signs: Tensor = self.torch.ones(shape, dtype=self.torch.int64)
        for axis, size in enumerate(shape):
            line = 1 - 2 * (self.torch.arange(size) % 2)
            signs = signs * line.reshape([-1 if dim == axis else 1 for dim in range(len(shape))])
        return signs

    def _hot(self, shape: tuple[int, ...]) -> "Tensor":
        if not shape or 0 in shape:
            return cast("Tensor", self.torch.ones(shape, dtype=self.torch.int64))
        places = self._integers((*shape[:-1], 1), 0, shape[-1] - 1)
        return cast("Tensor", self.torch.zeros(shape, dtype=self.torch.int64).scatter(-1, places, 1))

    # Floats --------------------------------------------------------------------------------------------------------

    def _float_normal(self, shape: tuple[int, ...], element: ElementType) -> "Tensor":
        return self._normal(shape)

    def _float_uniform(self, shape: tuple[int, ...], element: ElementType) -> "Tensor":
        return self._unit(shape) * 2 - 1

    def _float_large(self, shape: tuple[int, ...], element: ElementType) -> "Tensor":
        return element.max_finite**0.5 * 2.0 ** (-8 * self._unit(shape)) * self._signs(shape)

    def _float_cancellation(self, shape: tuple[int, ...], element: ElementType) -> "Tensor":
        # A few units in the last place are left of each pair.
        values = self._pairs(shape) * (1 + 8 * element.unit_roundoff * self._normal(shape))
        return values if self.is_second else values * self._checkerboard(shape)

    def _float_one_hot(self, shape: tuple[int, ...], element: ElementType) -> "Tensor":
        return self._hot(shape).to(self.torch.float64)

    def _float_ties(self, shape: tuple[int, ...], element: ElementType) -> "Tensor":
        halves = self._integers(shape, -8, 7) + 0.5
        narrower = [m for m in (10, 7, 3, 2) if m < element.mantissa]
        if not narrower:
            return halves
        choice = self._integers(shape, 0, len(narrower) - 1)
        mantissa = self.torch.tensor(narrower, dtype=self.torch.float64)[choice]
        steps = 2.0**mantissa
        odd = 2 * (self._unit(shape) * steps).floor() + 1
        ties = (1 + odd / (2 * steps)) * 2.0 ** self._integers(shape, -3, 3) * self._signs(shape)
        return cast("Tensor", self.torch.where(self._integers(shape, 0, 1) == 0, halves, ties))

    def _float_denormal(self, shape: tuple[int, ...], element: ElementType) -> "Tensor":
        if self.is_second:
            return self._normal(shape)
        assert element.torch is not None
        smallest: float = self.torch.finfo(getattr(self.torch, element.torch)).smallest_normal
        return smallest * self._unit(shape) * self._signs(shape)

    # Integers ------------------------------------------------------------------------------------------------------

    def _integer_normal(self, shape: tuple[int, ...], element: ElementType) -> "Tensor":
        return self._integers(shape, *integer_range(element))

    _integer_uniform = _integer_ties = _integer_normal

    def _integer_large(self, shape: tuple[int, ...], element: ElementType) -> "Tensor":
        low, high = integer_range(element)
        return cast("Tensor", self.torch.where(self._integers(shape, 0, 1) == 0, low, high))

    def _integer_cancellation(self, shape: tuple[int, ...], element: ElementType) -> "Tensor":
        low, high = integer_range(element)
        values = (self._pairs(shape).abs() * min(high, 2**31) / 8).floor().to(self.torch.int64)
        return values if self.is_second or low == 0 else values * self._checkerboard(shape)

    def _integer_one_hot(self, shape: tuple[int, ...], element: ElementType) -> "Tensor":
        return self._hot(shape)

    def _integer_denormal(self, shape: tuple[int, ...], element: ElementType) -> "Tensor":
        return self._integers(shape, 0 if element.kind == "uint" else -1, 1)


def integer_range(element: ElementType) -> tuple[int, int]:
    """The smallest and largest integer of an element type."""
    if element.kind == "uint":
        return 0, 2**element.bits - 1
    return -(2 ** (element.bits - 1)), 2 ** (element.bits - 1) - 1
