"""Expressions over one element of an iteration space: what a memory-bound kernel computes there.

Imports the dialect and the affine functions. Expressions are compared by identity: who builds them builds each once.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from xdsl.ir import SSAValue

from ucutlass.dialects.ucutlass.operations import SPECS
from ucutlass.dialects.ucutlass.spec import Call, ParamValue, Required
from ucutlass.dialects.ucutlass.types import NumberType, TensorType
from ucutlass.dims import Dim
from ucutlass.element_types import BOOL, S64, ElementType
from ucutlass.passes.memory.affine import Affine, Bound, IndexMap


@dataclass(eq=False)
class Expression:
    """A value at one element."""

    element: ElementType
    """The type in which it is computed: what lies in memory as `f16` is an `f32` here."""
    is_scalar: bool = field(default=False, kw_only=True)
    """Whether it is 0-dimensional, which matters for the types of what is computed from it."""
    name: str | None = field(default=None, kw_only=True)
    """What the program calls it."""


@dataclass(eq=False)
class Number(Expression):
    """A number of the program."""

    value: int | float


@dataclass(eq=False)
class Read(Expression):
    """An element of a tensor, 0 outside of the bounds."""

    tensor: SSAValue
    places: IndexMap
    bounds: tuple[Bound, ...] = ()
    is_flat: bool = False
    """Whether the only place counts the elements of a tensor without gaps, in row-major order."""


@dataclass(eq=False)
class Gathered(Expression):
    """An element of a tensor whose coordinate along one dimension another tensor holds."""

    tensor: SSAValue
    places: IndexMap
    """That of the gathered dimension is 0."""
    axis: int
    index: SSAValue
    index_places: IndexMap


@dataclass(frozen=True)
class PoolWindow:
    """A window along one dimension of a tensor."""

    dim: int
    start: Affine
    """Where it begins; for an average to a given size, its number."""
    kernel: Dim
    """Taps; for an average to a given size, the number of windows."""
    dilation: Dim
    padding: Dim


PoolKind = Literal["kLargest", "kAverage", "kAverageInside", "kAverageTo"]


@dataclass(eq=False)
class Pooled(Expression):
    """The largest value or the average of a window of a tensor."""

    tensor: SSAValue
    places: IndexMap
    """Those of windowed dimensions are 0."""
    windows: tuple[PoolWindow, ...]
    kind: PoolKind


@dataclass(eq=False)
class Coordinate(Expression):
    """An affine function of the coordinates, `s64`."""

    place: Affine


@dataclass(eq=False)
class Length(Expression):
    """How many elements are reduced."""


@dataclass(eq=False)
class Applied(Expression):
    """An element-wise operation of the language."""

    operation: str
    params: Mapping[str, ParamValue]
    operands: tuple[Expression, ...]


ReductionKind = Literal["Sum", "Prod", "Max", "Min", "ArgMax", "ArgMin", "LogSumExp", "Moments"]


@dataclass(eq=False)
class Reduction:
    """A reduction over the reduced atoms. `LogSumExp` and `Moments` have two results and need one pass or two."""

    kind: ReductionKind
    inputs: tuple[Expression, ...]

    @property
    def elements(self) -> tuple[ElementType, ...]:
        """Compute types of the results."""
        if self.kind in ("ArgMax", "ArgMin"):
            return (S64,)
        element = self.inputs[0].element
        return (element, element) if self.kind in TWO_PASSES else (element,)

    @property
    def names(self) -> tuple[str, ...]:
        """What the results are called."""
        return TWO_PASSES.get(self.kind, (self.kind.lower(),))


TWO_PASSES: Mapping[str, tuple[str, str]] = {"LogSumExp": ("largest", "sum"), "Moments": ("sum", "squares")}
"""Reductions that a resident row takes two passes for, and what their results are called."""


@dataclass(eq=False)
class Reduced(Expression):
    """A result of a reduction."""

    reduction: Reduction
    index: int = 0


@dataclass(eq=False)
class Scanned(Expression):
    """What a value has accumulated to, along the dimension that a kernel scans."""

    kind: Literal["Sum", "Prod"]
    value: Expression


Leaf = Read | Gathered | Pooled | Coordinate | Length | Reduced | Scanned
"""What an expression is made of, numbers aside."""


class Builder:
    """Makes expressions, equal ones once."""

    def __init__(self) -> None:
        self._made: dict[tuple[object, ...], Expression] = {}
        self._reductions: dict[tuple[object, ...], Reduction] = {}

    def _once(self, key: tuple[object, ...], make: Callable[[], Expression]) -> Expression:
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    def number(self, value: int | float) -> Expression:
        """A number."""
        return self._once(("number", type(value), repr(value)), lambda: Number(S64, value))

    def coordinate(self, place: Affine) -> Expression:
        """An affine function of the coordinates."""
        return self._once(("coordinate", place), lambda: Coordinate(S64, place, name="place"))

    def length(self, element: ElementType) -> Expression:
        """The number of reduced elements, as a value of this compute type."""
        return self._once(("length", element), lambda: Length(element, is_scalar=True, name="count"))

    def read(
        self, tensor: SSAValue, places: IndexMap, bounds: tuple[Bound, ...] = (), is_flat: bool = False
    ) -> Expression:
        """An element of a tensor."""
        type_ = tensor.type
        assert isinstance(type_, TensorType)
        element, is_scalar = type_.element.compute, type_.rank == 0
        return self._once(
            ("read", tensor, places, bounds, is_flat),
            lambda: Read(element, tensor, places, bounds, is_flat, is_scalar=is_scalar, name=tensor.name_hint),
        )

    def gather(
        self, tensor: SSAValue, places: IndexMap, axis: int, index: SSAValue, index_places: IndexMap
    ) -> Expression:
        """An element of a tensor at a place that another tensor holds."""
        assert isinstance(tensor.type, TensorType)
        element = tensor.type.element.compute
        return self._once(
            ("gather", tensor, places, axis, index, index_places),
            lambda: Gathered(element, tensor, places, axis, index, index_places, name=tensor.name_hint),
        )

    def pool(self, tensor: SSAValue, places: IndexMap, windows: tuple[PoolWindow, ...], kind: PoolKind) -> Expression:
        """What a window of a tensor gives."""
        assert isinstance(tensor.type, TensorType)
        element = tensor.type.element.compute
        return self._once(
            ("pool", tensor, places, windows, kind),
            lambda: Pooled(element, tensor, places, windows, kind, name=tensor.name_hint),
        )

    def apply(self, operation: str, *operands: Expression, name: str | None = None, **params: ParamValue) -> Expression:
        """An element-wise operation; its type follows from the operands'."""
        key = ("apply", operation, *map(id, operands), *sorted(params.items()))
        return self._once(key, lambda: _applied(operation, operands, params, name))

    def cast(self, value: Expression, element: ElementType) -> Expression:
        """The value rounded to an element type, or in another compute type."""
        rounded = value if element is value.element else self.apply("cast", value, dtype=element)
        # A value of a narrow type is one of its compute type, which C++ spells as a conversion that does nothing.
        return rounded if element is element.compute else self.apply("cast", rounded, dtype=element.compute)

    def inside(self, bounds: Iterable[Bound]) -> Expression | None:
        """Whether every place is within its bounds; None where there are none."""
        total: Expression | None = None
        for bound in bounds:
            for test in (
                self.apply("ge", self.coordinate(bound.place), self.number(0)),
                self.apply("lt", self.coordinate(bound.place - bound.extent), self.number(0)),
            ):
                total = test if total is None else self.apply("mul", total, test)
        return total

    def choose(self, condition: Expression, value: Expression, other: int | float) -> Expression:
        """The value where the condition holds, else a number, in the value's type."""
        if value.element is not BOOL:
            filler = self.number(float(other) if value.element.is_float else int(other))
            return self.apply("where", condition, value, filler)
        if not other:
            return self.apply("mul", condition, value)
        return self.apply("maximum", value, self.apply("eq", condition, self.number(0)))

    def reduce(self, kind: ReductionKind, *inputs: Expression) -> Reduction:
        """A reduction of values; equal ones are one."""
        key = (kind, *map(id, inputs))
        if key not in self._reductions:
            self._reductions[key] = Reduction(kind, inputs)
        return self._reductions[key]

    def scan(self, kind: Literal["Sum", "Prod"], value: Expression) -> Expression:
        """What a value has accumulated to."""
        return self._once(
            ("scan", kind, id(value)),
            lambda: Scanned(value.element, kind, value, is_scalar=value.is_scalar, name="accumulated"),
        )

    def reduced(self, reduction: Reduction, index: int = 0, is_scalar: bool = False) -> Expression:
        """A result of a reduction."""
        return self._once(
            ("reduced", id(reduction), index, is_scalar),
            lambda: Reduced(
                reduction.elements[index], reduction, index, is_scalar=is_scalar, name=reduction.names[index]
            ),
        )


def _applied(
    operation: str, operands: tuple[Expression, ...], params: Mapping[str, ParamValue], name: str | None
) -> Applied:
    spec = SPECS[operation]
    types: dict[str, TensorType | NumberType] = {}
    numbers: dict[str, int | float] = {}
    for operand, expression in zip(spec.operands, operands, strict=True):
        if isinstance(expression, Number):
            types[operand.name], numbers[operand.name] = NumberType(), expression.value
        else:
            types[operand.name] = scalar_type(expression.element, expression.is_scalar)
    call = Call(
        spec,
        types,
        {**{p.name: p.default for p in spec.params if not isinstance(p.default, Required)}, **params},
        numbers=numbers,
    )
    (result,) = spec.infer(call)
    return Applied(result.element, operation, params, operands, is_scalar=result.rank == 0, name=name)


def scalar_type(element: ElementType, is_scalar: bool) -> TensorType:
    """The type of one element inside of a functor; what is not 0-dimensional has one dimension, of size 1."""
    return TensorType.of(() if is_scalar else (1,), element)
