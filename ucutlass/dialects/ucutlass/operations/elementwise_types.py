"""Result types of element-wise operations: NumPy's broadcasting, PyTorch's type promotion, the operand's layout.

Imports the records of `spec`, the types and the leaves. Types that PyTorch lacks follow its rules: `s4 u4` are integers
of four bits, `tf32` is a float that `f32` holds. fp8 types, as there, promote with nothing.
"""

from collections.abc import Mapping, Sequence
from functools import reduce

from ucutlass.dialects.ucutlass.spec import Call, ParamValue, TypeRule
from ucutlass.dialects.ucutlass.types import NumberType, TensorType
from ucutlass.dims import Dim
from ucutlass.element_types import BF16, BOOL, ELEMENT_TYPES, F16, F32, F64, S8, S32, S64, ElementType, Kind

_CATEGORY: Mapping[Kind, int] = {"bool": 0, "uint": 1, "sint": 1, "float": 2}

Kinds = frozenset[Kind]

FLOAT: Kinds = frozenset[Kind](("float",))
NUMERIC: Kinds = frozenset[Kind](("float", "sint", "uint"))
ANY: Kinds = frozenset[Kind](("float", "sint", "uint", "bool"))


def shape_text(dims: Sequence[Dim]) -> str:
    """`[M, 4096]`."""
    return f"[{', '.join(map(str, dims))}]"


def broadcast(call: Call, shapes: Sequence[tuple[str, tuple[Dim, ...]]]) -> tuple[Dim, ...]:
    """The common shape of the named shapes under NumPy's rule. Raises TypingError UC0305 with the sizes that differ."""
    one = Dim.of(1)
    result: list[Dim] = []
    for axis in range(-max(len(dims) for _, dims in shapes), 0):
        size, owner, owned = one, "", ()
        for name, dims in shapes:
            if len(dims) < -axis or call.facts.equal(dims[axis], one) or call.facts.equal(dims[axis], size):
                continue
            if size != one:
                raise call.fail(
                    "UC0305",
                    f"{call.spec.spelling}: size {dims[axis]} of {name} {shape_text(dims)} does not broadcast to size "
                    f"{size} of {owner} {shape_text(owned)} (dimension {axis})",
                    f"operand:{name}",
                )
            size, owner, owned = dims[axis], name, dims
        result.append(size)
    return tuple(result)


def check_element(call: Call, name: str, element: ElementType, accepts: Kinds) -> None:
    """Demand an element type of these kinds. Raises TypingError UC0316."""
    if element.kind not in accepts:
        allowed = " ".join(t.name for t in ELEMENT_TYPES.values() if t.kind in accepts)
        raise call.fail(
            "UC0316",
            f"{call.spec.spelling} takes {allowed}, but '{name}' is {element}",
            f"operand:{name}",
            (f"convert it first, for instance with cast({name}, f32)",),
        )


def promote(left: ElementType, right: ElementType) -> ElementType | None:
    """PyTorch's promotion of two tensor element types, None where there is none (fp8 with anything else)."""
    if left is right:
        return left
    if left.is_fp8 or right.is_fp8:
        return None
    if _CATEGORY[left.kind] != _CATEGORY[right.kind]:
        return left if _CATEGORY[left.kind] > _CATEGORY[right.kind] else right
    if left.is_float:
        if {left, right} == {F16, BF16} or "tf32" in (left.name, right.name):
            return F64 if F64 in (left, right) else F32
        return max(left, right, key=lambda e: e.bits)
    if left.kind == right.kind:
        return max(left, right, key=lambda e: e.bits)
    signed, unsigned = (left, right) if left.kind == "sint" else (right, left)
    if signed.bits > unsigned.bits:
        return signed
    # PyTorch takes the next wider signed type; of 16 bits there is none here.
    return S8 if unsigned.bits == 4 else S32


def common_element(
    call: Call, left: ElementType, right: ElementType, part: str, names: tuple[str, str] = ("one", "the other")
) -> ElementType:
    """The promotion of two operands' elements. Raises TypingError UC0302 on fp8 with another type."""
    found = promote(left, right)
    if found is None:
        raise call.fail(
            "UC0302",
            f"{call.spec.spelling}: {names[0]} is {left} and {names[1]} is {right}: fp8 has no common type with others",
            part,
            (f"convert one of them with cast({left}) or cast({right})",),
        )
    return found


def _combined(call: Call, held: Sequence[tuple[str, ElementType]]) -> ElementType | None:
    """The promotion of the elements of several operands."""
    if not held:
        return None
    first, element = held[0]
    for name, other in held[1:]:
        element = common_element(call, element, other, f"operand:{name}", (f"'{first}'", f"'{name}'"))
        first = name if element is other else first
    return element


def promoted_element(
    call: Call, names: Sequence[str], numbers: Sequence[ParamValue] = (), whole_to_float: bool = False
) -> ElementType:
    """The element type of a result over these operands and further `numbers`.

    As in PyTorch, 0-dimensional tensors widen the others only to a higher category (boolean, integer, float), and
    numbers widen neither but so. Raises TypingError UC0302 on fp8 with another type, UC0309 on a whole number that the
    result cannot hold.
    """
    tensors: list[tuple[str, ElementType]] = []
    scalars: list[tuple[str, ElementType]] = []
    literals: list[tuple[str, int | float]] = []
    for name in names:
        operand = call.operands[name]
        if isinstance(operand, TensorType):
            (tensors if operand.rank else scalars).append((name, operand.element))
        elif isinstance(operand, NumberType) and name in call.numbers:
            literals.append((name, call.numbers[name]))
    written = [value for _, value in literals] + [n for n in numbers if isinstance(n, int | float)]
    tiers = [
        _combined(call, tensors),
        _combined(call, scalars),
        (F32 if any(isinstance(n, float) for n in written) else S64) if written else None,
    ]
    present = [tier for tier in tiers if tier is not None]
    element = reduce(lambda high, low: low if _CATEGORY[low.kind] > _CATEGORY[high.kind] else high, present or [F32])
    if whole_to_float and not element.is_float:
        return F32
    compute = element.compute
    for name, value in literals:
        if compute.is_integer and not -(2 ** (compute.bits - 1)) <= value < 2 ** (compute.bits - 1):
            raise call.fail(
                "UC0309",
                f"{call.spec.spelling}: the number {value} does not fit {compute}, in which {element} is computed",
                f"operand:{name}",
            )
    return element


def shape_of_result(call: Call) -> tuple[tuple[Dim, ...], tuple[int, ...]]:
    """The broadcast shape, and the layout of the first operand that has this shape, else row-major."""
    found = [(name, t) for name, t in call.operands.items() if isinstance(t, TensorType)]
    dims = broadcast(call, [(name, t.dims) for name, t in found])
    for _, t in found:
        if t.rank == len(dims) and all(map(call.facts.equal, t.dims, dims)):
            return dims, t.order
    return dims, tuple(range(len(dims)))


def check_operands(call: Call, accepts: Kinds) -> None:
    """Demand a tensor of these kinds wherever no number may stand, and at least one tensor.

    Raises TypingError UC0315 and UC0316.
    """
    numbers: list[str] = []
    for operand in call.spec.operands:
        if operand.number and isinstance(call.operands[operand.name], NumberType):
            numbers.append(operand.name)
        else:
            check_element(call, operand.name, call.tensor(operand.name).element, accepts)
    if len(numbers) == len(call.spec.operands):
        raise call.fail(
            "UC0315",
            f"{call.spec.spelling} needs a tensor, but {' and '.join(numbers)} are numbers",
            f"operand:{numbers[0]}",
        )


def elementwise(accepts: Kinds = ANY, *, whole_to_float: bool = False) -> TypeRule:
    """The rule of operations with PyTorch's promotion over operands of these kinds.

    `whole_to_float`: integers and booleans give `f32`, PyTorch's default float.
    """

    def rule(call: Call) -> Sequence[TensorType]:
        check_operands(call, accepts)
        dims, order = shape_of_result(call)
        element = promoted_element(call, list(call.operands), whole_to_float=whole_to_float)
        return (TensorType.of(dims, element, order),)

    return rule


def comparison_type(call: Call) -> Sequence[TensorType]:
    """Broadcast shape of booleans; the operands must have a common type."""
    (compared,) = elementwise()(call)
    return (compared.with_element(BOOL),)


def computed_in(call: Call, results: Sequence[TensorType]) -> ElementType:
    """The type `T` of an element-wise call's scalar expression, to which its operands are converted first."""
    match call.spec.converts:
        case "result":
            return results[0].element.compute
        case "operands":
            return promoted_element(call, list(call.operands)).compute
        case "none":
            return call.tensor(call.spec.operands[0].name).element.compute
