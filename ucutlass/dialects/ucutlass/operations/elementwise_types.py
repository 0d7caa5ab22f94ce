"""Result types of element-wise operations: NumPy's broadcasting and PyTorch's type promotion."""

from collections.abc import Sequence

from ucutlass.dialects.ucutlass.spec import Call
from ucutlass.dialects.ucutlass.types import NumberType, TensorType
from ucutlass.dims import Dim
from ucutlass.element_types import BF16, BOOL, F16, F32, F64, S32, S64, ElementType

_CATEGORY = {"bool": 0, "uint": 1, "sint": 1, "float": 2}


def broadcast(call: Call, shapes: Sequence[tuple[str, tuple[Dim, ...]]]) -> tuple[Dim, ...]:
    """The common shape of the named shapes under NumPy's rule. Raises TypingError UC0305 naming the sizes that differ."""
    rank = max(len(dims) for _, dims in shapes)
    result: list[Dim] = []
    for axis in range(-rank, 0):
        size, owner = Dim.of(1), ""
        for name, dims in shapes:
            if len(dims) < -axis or dims[axis] == Dim.of(1) or call.facts.equal(size, dims[axis]):
                continue
            if size != Dim.of(1):
                raise call.fail(
                    "UC0305",
                    f"{call.spec.name}: size {dims[axis]} of '{name}' [{', '.join(map(str, dims))}] does not broadcast to "
                    f"size {size} of '{owner}' (dimension {axis} from the right)",
                    f"operand:{name}",
                )
            size, owner = dims[axis], name
        result.append(size)
    return tuple(result)


def promote(left: ElementType, right: ElementType) -> ElementType:
    """PyTorch's promotion of two tensor element types."""
    if left is right:
        return left
    if _CATEGORY[left.kind] != _CATEGORY[right.kind]:
        return left if _CATEGORY[left.kind] > _CATEGORY[right.kind] else right
    if left.is_float:
        if {left, right} == {F16, BF16} or "tf32" in (left.name, right.name):
            return F64 if F64 in (left, right) else F32
        return max(left, right, key=lambda e: (e.bits, e.mantissa))
    if left.kind == right.kind:
        return max(left, right, key=lambda e: e.bits)
    signed, unsigned = (left, right) if left.kind == "sint" else (right, left)
    if signed.bits > unsigned.bits:
        return signed
    return {8: S32, 4: S32}.get(unsigned.bits, S64)


def promoted_element(call: Call, names: Sequence[str]) -> ElementType:
    """The element type of a result over these operands; numbers do not widen a tensor of their own category or above."""
    element: ElementType | None = None
    for name in names:
        operand = call.operands[name]
        if isinstance(operand, TensorType):
            element = operand.element if element is None else promote(element, operand.element)
    if element is None:
        raise call.fail("UC0308", f"{call.spec.name} needs a tensor: every operand is a number", "operand:0")
    return element


def elementwise_type(call: Call) -> Sequence[TensorType]:
    """Broadcast shape, promoted element type, row-major."""
    tensors = [(n, t.dims) for n, t in call.operands.items() if isinstance(t, TensorType)]
    element = promoted_element(call, [n for n, t in call.operands.items() if isinstance(t, TensorType | NumberType)])
    return (TensorType.of(broadcast(call, tensors), element),)


def comparison_type(call: Call) -> Sequence[TensorType]:
    """Broadcast shape of booleans."""
    (result,) = elementwise_type(call)
    return (result.with_element(BOOL),)
