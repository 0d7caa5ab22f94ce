"""The parts that every memory-bound kernel has: functors of expressions, operands of what lies in memory.

Imports the dialects and the expressions. A functor takes the leaves of its expressions, each once, in the order of
their first use.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import IntegerAttr, StringAttr, UnitAttr, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ucutlass.dialects.cutlass.core import CppType
from ucutlass.dialects.cutlass.memory import (
    AccessAttr,
    BoundedLoadOp,
    CoordinateOp,
    GatheredLoadOp,
    LoadOp,
    MapFunctorOp,
    MapYieldOp,
    PooledLoadOp,
    SizeOp,
    StoreOp,
    access_attr,
    is_packed,
)
from ucutlass.dialects.cutlass.program import DeviceKernelOp
from ucutlass.dialects.ucutlass import OPERATIONS, ConstantOp, DimsAttr, FusedOp
from ucutlass.dialects.ucutlass.base import facts_at, param_to_attribute
from ucutlass.dialects.ucutlass.kernel import set_exact_name
from ucutlass.dialects.ucutlass.types import MLIR_ELEMENT, TensorType
from ucutlass.dims import Dim, Facts
from ucutlass.element_types import F16, F32, ElementType
from ucutlass.passes.memory.affine import Affine, IndexMap, NotExpressibleError
from ucutlass.passes.memory.expression import (
    Applied,
    Builder,
    Coordinate,
    Expression,
    Gathered,
    Leaf,
    Length,
    Number,
    Pooled,
    Read,
    Reduced,
    Scanned,
    scalar_type,
)

CPP = CppType()


def leaves_of(expressions: Sequence[Expression]) -> tuple[Leaf, ...]:
    """What expressions are made of, each leaf once, in the order of first use."""
    found: dict[Leaf, None] = {}
    seen: set[Expression] = set()
    pending = list(reversed(expressions))
    while pending:
        expression = pending.pop()
        if expression in seen:
            continue
        seen.add(expression)
        if isinstance(expression, Applied):
            pending.extend(reversed(expression.operands))
        elif isinstance(expression, Leaf):
            found[expression] = None
    return tuple(found)


def in_order(expressions: Sequence[Expression]) -> list[Applied]:
    """The operations of expressions, operands first."""
    ordered: dict[Applied, None] = {}
    pending = [(e, False) for e in reversed(expressions)]
    while pending:
        expression, is_ready = pending.pop()
        if not isinstance(expression, Applied) or expression in ordered:
            continue
        if is_ready:
            ordered[expression] = None
        else:
            pending.append((expression, True))
            pending.extend((o, False) for o in reversed(expression.operands))
    return list(ordered)


STORE_ROUNDS = frozenset(("f16", "bf16", "e4m3", "e5m2"))
"""Types to which a store converts `f32` as `cast` does."""


def stored_as(builder: Builder, value: Expression, element: ElementType) -> Expression:
    """The value as its store takes it: rounded already where the conversion of the store would round it otherwise."""
    unrounded = _before_rounding(value, element)
    if element.name in STORE_ROUNDS and (value if unrounded is None else unrounded).element is F32:
        return value if unrounded is None else unrounded
    is_wide = element in (element.compute, F32)
    return value if is_wide or unrounded is not None else builder.cast(value, element)


def _before_rounding(value: Expression, element: ElementType) -> Expression | None:
    """What was rounded to this type to give the value, None where it is no such rounding."""
    if not isinstance(value, Applied) or value.operation != "cast":
        return None
    if value.params["dtype"] is element:
        return value.operands[0]
    (inner,) = value.operands
    if isinstance(inner, Applied) and inner.operation == "cast" and inner.params["dtype"] is element:
        return inner.operands[0]
    return None


@dataclass
class Parts:
    """Builds the operations of one device kernel."""

    fused: FusedOp
    kernel: DeviceKernelOp
    tensors: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """Tensors of the group to those of the kernel."""

    def __post_init__(self) -> None:
        arguments = [a for a in self.fused.body.block.args if isinstance(a.type, TensorType)]
        self.tensors = dict(zip(arguments, self.kernel.inputs, strict=True))
        self.facts: Facts = facts_at(self.fused)

    def add(self, op: Operation, name: str | None = None) -> SSAValue:
        """Append an operation to the kernel."""
        if op.location is not self.fused.location:
            op.location = self.fused.location
        self.kernel.body.block.add_op(op)
        if name is not None:
            set_exact_name(op.results[0], name)
        return op.results[0]

    def end(self, op: Operation) -> None:
        """Append the terminator."""
        op.location = self.fused.location
        self.kernel.body.block.add_op(op)

    def functor(self, results: Sequence[Expression], name: str) -> tuple[SSAValue, tuple[Leaf, ...]]:
        """A functor of expressions, and the leaves that it takes."""
        leaves = leaves_of(results)
        block = Block(arg_types=[scalar_type(leaf.element, leaf.is_scalar) for leaf in leaves])
        values: dict[Expression, SSAValue] = dict(zip(leaves, block.args, strict=True))
        for leaf, argument in zip(leaves, block.args, strict=True):
            if leaf.name is not None:
                set_exact_name(argument, leaf.name)
        for applied in in_order(results):
            values[applied] = self._append(block, applied, values)
        end = MapYieldOp.build(operands=[[values[r] for r in results]])
        block.add_op(end)
        op = MapFunctorOp.build(regions=[Region(block)], result_types=[CPP])
        for inner in op.walk():
            inner.location = self.fused.location
        return self.add(op, name), leaves

    def _append(self, block: Block, applied: Applied, values: dict[Expression, SSAValue]) -> SSAValue:
        operands: list[SSAValue] = []
        for operand in applied.operands:
            if isinstance(operand, Number) and operand not in values:
                constant = ConstantOp.of(operand.value)
                block.add_op(constant)
                values[operand] = constant.result
            operands.append(values[operand])
        class_ = OPERATIONS[applied.operation]
        given = {k: v for k, v in applied.params.items() if v is not None}
        properties: dict[str, Attribute] = {
            name: param_to_attribute(class_.SPEC.param(name), value) for name, value in given.items()
        }
        op = class_.build(
            operands=operands,
            properties=properties,
            result_types=[scalar_type(applied.element, applied.is_scalar)],
        )
        block.add_op(op)
        if applied.name is not None:
            set_exact_name(op.results[0], applied.name)
        return op.results[0]

    # Operands

    def access(self, places: IndexMap, atoms: Sequence[int]) -> AccessAttr:
        """Places in the space of these atoms, in this order."""
        return access_attr([self.row(place, atoms) for place in places])

    def row(self, place: Affine, atoms: Sequence[int]) -> tuple[Dim, ...]:
        """One function in the space of these atoms."""
        return (place.constant, *(place.coefficient(atom) for atom in atoms))

    def load(self, leaf: Leaf, atoms: Sequence[int], length: Dim) -> SSAValue:
        """The operand that gives a leaf its value."""
        compute = MLIR_ELEMENT[leaf.element.name]
        rank = IntegerAttr(len(atoms), i64)
        name = f"{leaf.name or 'value'}_load"
        if isinstance(leaf, Read | Gathered | Pooled) and is_packed(leaf.tensor):
            if not isinstance(leaf, Read) or leaf.bounds:
                raise NotExpressibleError("integers of four bits are read whole, not in part, by index or by window")
        flat: dict[str, Attribute] = {"flat": UnitAttr()} if isinstance(leaf, Read) and leaf.is_flat else {}
        match leaf:
            case Read(bounds=()):
                properties = {"compute": compute, "access": self.access(leaf.places, atoms), "rank": rank, **flat}
                op = LoadOp.build(operands=[self.tensors[leaf.tensor]], properties=properties, result_types=[CPP])
            case Read():
                properties = {
                    "compute": compute,
                    "access": self.access(leaf.places, atoms),
                    "rank": rank,
                    **flat,
                    "bounds": access_attr([self.row(b.place, atoms) for b in leaf.bounds]),
                    "extents": DimsAttr(tuple(b.extent for b in leaf.bounds)),
                }
                op = BoundedLoadOp.build(
                    operands=[self.tensors[leaf.tensor]], properties=properties, result_types=[CPP]
                )
            case Gathered():
                properties = {
                    "compute": compute,
                    "access": self.access(leaf.places, atoms),
                    "rank": rank,
                    "index_access": self.access(leaf.index_places, atoms),
                    "axis": IntegerAttr(leaf.axis, i64),
                }
                operands = [self.tensors[leaf.tensor], self.tensors[leaf.index]]
                op = GatheredLoadOp.build(operands=operands, properties=properties, result_types=[CPP])
            case Pooled():
                windows = [(Dim.of(w.dim), w.kernel, w.dilation, w.padding) for w in leaf.windows]
                properties = {
                    "compute": compute,
                    "access": self.access(leaf.places, atoms),
                    "rank": rank,
                    "kind": StringAttr(leaf.kind),
                    "starts": access_attr([self.row(w.start, atoms) for w in leaf.windows]),
                    "windows": access_attr(windows),
                }
                op = PooledLoadOp.build(operands=[self.tensors[leaf.tensor]], properties=properties, result_types=[CPP])
            case Coordinate():
                row = DimsAttr(self.row(leaf.place, atoms))
                op = CoordinateOp.build(properties={"place": row}, result_types=[CPP])
            case Length():
                op = SizeOp.build(properties={"compute": compute, "size": DimsAttr((length,))}, result_types=[CPP])
            case Reduced() | Scanned():
                raise AssertionError("what a kernel computes is not loaded")
        return self.add(op, name)

    def store(self, output: int, places: IndexMap, atoms: Sequence[int]) -> SSAValue:
        """The operand that writes a result."""
        tensor = self.kernel.outputs[output]
        properties: Mapping[str, Attribute] = {
            "access": self.access(places, atoms),
            "rank": IntegerAttr(len(atoms), i64),
        }
        op = StoreOp.build(operands=[tensor], properties=dict(properties), result_types=[CPP])
        return self.add(op, f"{tensor.name_hint or 'result'}_store")


def mark_fast(functor: SSAValue, stored: Sequence[ElementType]) -> None:
    """Allow the fast forms where the types at which results are stored hide their error."""
    owner = functor.owner
    assert isinstance(owner, MapFunctorOp)
    if all(element.is_float and element.unit_roundoff >= F16.unit_roundoff for element in stored):
        owner.fast = UnitAttr()


def element_bytes(element: ElementType) -> int:
    """Bytes of an element in memory."""
    return max(element.bits // 8, 1)


def vector_width(elements: Sequence[ElementType]) -> int:
    """Neighbours that one thread takes: 16 bytes of the narrowest operand, at most 32 of the widest."""
    sizes = [element_bytes(e) for e in elements] or [4]
    return max(min(16 // min(sizes), 32 // max(sizes)), 1)


def rows_of(leaf: Leaf) -> int:
    """Rows of the table of operands that a load takes."""
    match leaf:
        case Read():
            return 1 + len(leaf.bounds)
        case Gathered():
            return 2
        case Pooled():
            return 1 + PooledLoadOp.WINDOWS
        case Coordinate():
            return 1
        case Length() | Reduced() | Scanned():
            return 0


def functions_of(leaf: Leaf) -> tuple[Affine, ...]:
    """The affine functions that a leaf depends on."""
    match leaf:
        case Read():
            return (*leaf.places, *(bound.place for bound in leaf.bounds))
        case Gathered():
            return (*leaf.places, *leaf.index_places)
        case Pooled():
            return (*leaf.places, *(window.start for window in leaf.windows))
        case Coordinate():
            return (leaf.place,)
        case Length() | Reduced() | Scanned():
            return ()
