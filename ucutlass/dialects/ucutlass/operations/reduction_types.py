"""Result types and costs of reductions and scans: which dimensions go, what PyTorch accumulates in.

Imports the records of `spec`, the types and the leaves.
"""

import math
from collections.abc import Callable, Sequence

from ucutlass.dialects.ucutlass.operations.elementwise_types import Kinds, check_element
from ucutlass.dialects.ucutlass.operations.parameters import axis, distinct_axes, sizes_of
from ucutlass.dialects.ucutlass.spec import Call, CostRule, TypeRule
from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.dims import Dim
from ucutlass.element_types import F32, S64, ElementType

ElementRule = Callable[[ElementType], ElementType]


def same(element: ElementType) -> ElementType:
    """The operand's element type."""
    return element


def summed(element: ElementType) -> ElementType:
    """The element type of a sum or product: integers and booleans add up in `s64`."""
    return element if element.is_float else S64


def real(element: ElementType) -> ElementType:
    """The element type of a logarithm: `f32` for integers and booleans."""
    return element if element.is_float else F32


def index(element: ElementType) -> ElementType:
    """The element type of an index."""
    return S64


def size_of_all(dims: Sequence[Dim]) -> Dim:
    """The number of elements of a tensor of these sizes."""
    return math.prod(dims, start=Dim.of(1))


def flops_per_input(each: int) -> CostRule:
    """The cost rule of operations that cost `each` FLOPs for one element of `x`."""
    return lambda call, results: each * size_of_all(call.tensor("x").dims)


def dimension(call: Call, x: TensorType, name: str = "dim") -> int | None:
    """The dimension that a `dim` parameter means, None for a 0-dimensional tensor.

    As in PyTorch a 0-dimensional tensor has, for this, one dimension. Raises TypingError UC0304.
    """
    if x.rank:
        return axis(call, name, x)
    axis(call, name, x.with_dims((1,)))
    return None


def reduced_axes(call: Call, x: TensorType) -> tuple[int, ...]:
    """The dimensions that go: all where `dim` is absent or an empty list. Raises TypingError UC0304 and UC0317."""
    if call.params["dim"] is None or not sizes_of(call, "dim"):
        return tuple(range(x.rank))
    if call.spec.param("dim").kind == "dim":
        found = dimension(call, x)
        return () if found is None else (found,)
    if x.rank:
        return distinct_axes(call, "dim", x)
    distinct_axes(call, "dim", x.with_dims((1,)))
    return ()


def demand_elements(call: Call, x: TensorType, axes: Sequence[int]) -> None:
    """Demand that there is something to choose from: the largest of nothing has no value. Raises TypingError UC0323."""
    for reduced in axes:
        call.require(
            x.dims[reduced],
            ">=",
            1,
            "UC0323",
            f"{call.spec.spelling} over dimension {reduced} of {x.spelling}, which has no elements: there is no value",
            "operand:x",
        )


def reduction(
    accepts: Kinds, element: ElementRule = same, choosing: Callable[[Call], bool] = lambda call: False
) -> TypeRule:
    """The rule of reductions: row-major, without the reduced dimensions, or with size 1 there under `keepdim`.

    `choosing`: whether the value is one of the elements, so that there must be one.
    """

    def rule(call: Call) -> Sequence[TensorType]:
        x = call.tensor("x")
        check_element(call, "x", x.element, accepts)
        axes = reduced_axes(call, x)
        if choosing(call):
            demand_elements(call, x, axes)
        if call.params["keepdim"]:
            dims = [Dim.of(1) if d in axes else size for d, size in enumerate(x.dims)]
        else:
            dims = [size for d, size in enumerate(x.dims) if d not in axes]
        return (TensorType.of(dims, element(x.element)),)

    return rule


def scan_type(accepts: Kinds) -> TypeRule:
    """The rule of scans: the shape and layout of the operand, the element type of a sum."""

    def rule(call: Call) -> Sequence[TensorType]:
        x = call.tensor("x")
        check_element(call, "x", x.element, accepts)
        dimension(call, x)
        return (x.with_element(summed(x.element)),)

    return rule
