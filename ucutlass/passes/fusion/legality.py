"""What may join the epilogue of a contraction: the rules of the visitor tree, one predicate each, with the reason.

A rule says whether an operation may join; whether it should is decided elsewhere.
"""

from collections.abc import Callable, Sequence
from typing import Literal

from xdsl.ir import SSAValue

from ucutlass.dialects.ucutlass import UcuOp
from ucutlass.dialects.ucutlass.types import NumberType, TensorType
from ucutlass.dims import Dim, Facts
from ucutlass.element_types import BOOL, F32, F64, ElementType
from ucutlass.records import record

LeafKind = Literal["number", "scalar", "row", "column", "full"]
"""How a leaf's shape relates to the kernel's result: one value, one a column (a row vector), one a row, one an
element."""


@record
class Space:
    """What the contraction computes: the sizes of its result and what is known of them."""

    dims: tuple[Dim, ...]
    facts: Facts
    compute: ElementType = F32
    """The type in which its epilogue computes."""

    @staticmethod
    def of(result: TensorType, facts: Facts) -> "Space":
        """The space of a kernel around an operation with this result."""
        return Space(result.dims, facts, F64 if result.element is F64 else F32)

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
    reason = _refusal_of_arithmetic(space, op, result.element)
    if reason is not None:
        return reason
    for operand in op.operands:
        if is_inside(operand):
            continue
        reason = refusal_of_leaf(space, operand)
        if reason is not None:
            return reason
    return None


def _refusal_of_arithmetic(space: Space, op: UcuOp, result: ElementType) -> str | None:
    """Why the epilogue does not compute this exactly; None where it does.

    It holds every value in its own type. An integer sum may enter a float result, as the language converts it there
    too; what stays an integer, or is compared as one, may need more digits.
    """
    operands = [operand.type.element for operand in op.operands if isinstance(operand.type, TensorType)]
    if result.is_float and result.compute is space.compute:
        return None
    is_exact = not result.is_float and all(element.compute is space.compute for element in operands)
    if is_exact and (result is BOOL or op.spec.converts == "none"):
        return None
    kinds = ", ".join(dict.fromkeys(map(str, operands)))
    return f"{op.spec.name} of {kinds} gives {result}, for which the {space.compute} epilogue has not the digits"


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
