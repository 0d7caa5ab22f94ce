"""What may join the epilogue of a contraction: the rules of the visitor tree, one predicate each, with the reason.

A rule says whether an operation may join; whether it should is decided elsewhere.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from xdsl.ir import SSAValue

from ucutlass.dialects.ucutlass import UcuOp
from ucutlass.dialects.ucutlass.types import NumberType, TensorType
from ucutlass.dims import Dim, Facts

LeafKind = Literal["number", "scalar", "row", "column", "full"]
"""How a leaf's shape relates to the kernel's result: one value, one a column (a row vector), one a row, one an
element."""


@dataclass(frozen=True)
class Space:
    """What the contraction computes: the sizes of its result and what is known of them."""

    dims: tuple[Dim, ...]
    facts: Facts

    def covers(self, dims: Sequence[Dim]) -> bool:
        """Whether these sizes are the result's, leading ones aside."""
        return len(dims) == len(self.dims) and all(self.facts.equal(a, b) for a, b in zip(dims, self.dims, strict=True))


def leaf_kind(space: Space, value: SSAValue) -> LeafKind | None:
    """How an operand from outside broadcasts over the result; None where no node of the visitor tree can load it."""
    if isinstance(value.type, NumberType):
        return "number"
    if not isinstance(value.type, TensorType):
        return None
    one = Dim.of(1)
    dims = list(value.type.dims)
    while dims and dims[0] == one and len(dims) > len(space.dims):
        dims.pop(0)
    if len(dims) > len(space.dims):
        return None
    if all(d == one for d in dims):
        return "scalar"
    if space.covers(dims):
        return "full"
    if all(d == one for d in dims[:-1]) and space.facts.equal(dims[-1], space.dims[-1]):
        return "row"
    if len(dims) >= 2 and dims[-1] == one and space.facts.equal(dims[-2], space.dims[-2]):
        return "column" if all(d == one for d in dims[:-2]) else None
    return None


def refusal_of_operation(space: Space, op: UcuOp, is_inside: Callable[[SSAValue], bool]) -> str | None:
    """Why this operation cannot join the epilogue over `space`; None where it can. `is_inside` knows the kernel's
    own values."""
    if not op.spec.is_elementwise:
        return f"{op.spec.name} is not element-wise: an element of its result needs several of its operand"
    result = op.results[0].type
    if not isinstance(result, TensorType):
        return f"the type of {op.spec.name} is not known"
    if not space.covers(result.dims):
        shape = ", ".join(map(str, result.dims))
        return f"its result is [{shape}], the kernel computes [{', '.join(map(str, space.dims))}]"
    for operand in op.operands:
        if is_inside(operand):
            continue
        reason = refusal_of_leaf(space, operand)
        if reason is not None:
            return reason
    return None


def refusal_of_leaf(space: Space, value: SSAValue) -> str | None:
    """Why an operand from outside cannot be loaded by the epilogue; None where it can."""
    kind = leaf_kind(space, value)
    if kind is None:
        return f"no epilogue node broadcasts {value.type} over [{', '.join(map(str, space.dims))}]"
    if kind == "number":
        return None
    assert isinstance(value.type, TensorType)
    element = value.type.element
    if not element.is_float or element.name == "f64":
        return f"an epilogue operand of type {element} has no exact form in the f32 epilogue"
    return None
