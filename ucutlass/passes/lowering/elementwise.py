"""A group of element-wise operations and data movement to `support::ElementwiseKernel`."""

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import Attribute, Operation

from ucutlass.dialects.cutlass.core import int_array
from ucutlass.dialects.cutlass.memory import ElementwiseKernelOp, TiledKernelOp, is_packed
from ucutlass.dialects.cutlass.program import DeviceKernelOp, EndOp
from ucutlass.dialects.ucutlass import DimsAttr, FusedOp, UcuOp
from ucutlass.dialects.ucutlass.base import facts_at
from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.passes.lowering.memory_parts import CPP, Parts, mark_fast, rows_of, stored_as, vector_width
from ucutlass.passes.memory.affine import ONE, Atom, IndexMap
from ucutlass.passes.memory.evaluate import Evaluation, behind, evaluate, space_of
from ucutlass.passes.memory.expression import Gathered, Leaf, Pooled, Read
from ucutlass.targets.arch import Architecture

LEAST_TILE = 16
"""Elements of a dimension below which tiles of 64 stay mostly empty."""


def operations_of(fused: FusedOp) -> list[UcuOp]:
    """The operations of a group."""
    return [op for op in fused.body.block.ops if isinstance(op, UcuOp)]


def lower_elementwise(fused: FusedOp, kernel: DeviceKernelOp, target: Architecture) -> None:
    """Fill the body of the device kernel of a group."""
    facts = facts_at(fused)
    behinds = [behind(value) for value in fused.yielded]
    stored, orders = [value for value, _ in behinds], [order for _, order in behinds]
    space, values = evaluate(space_of(operations_of(fused), stored, facts), stored)
    # A space without dimensions has one element.
    atoms = space.atoms or (Atom(ONE),)
    numbers = range(len(atoms))
    parts = Parts(fused, kernel)
    types = [output.type for output in kernel.outputs]
    elements = [t.element for t in types if isinstance(t, TensorType)]
    results = [stored_as(space.builder, v, e) for v, e in zip(values, elements, strict=True)]
    functor, leaves = parts.functor(results, f"{kernel.outputs[0].name_hint or 'value'}_fn")
    mark_fast(functor, elements)
    loads = [parts.load(leaf, numbers, ONE) for leaf in leaves]
    stores = [
        parts.store(i, tuple(space.places_of(value)[dim] for dim in order), numbers)
        for i, (value, order) in enumerate(zip(stored, orders, strict=True))
    ]
    read = [
        leaf.tensor.type.element
        for leaf in leaves
        if isinstance(leaf, Read | Gathered | Pooled)
        and isinstance(leaf.tensor.type, TensorType)
        and leaf.tensor.type.rank
    ]
    along = nearest_atom(space, types[0], tuple(space.places_of(stored[0])[dim] for dim in orders[0]))
    # Neighbours with windows of their own are best different threads'.
    slides = any(along in w.start.atoms for leaf in leaves if isinstance(leaf, Pooled) for w in leaf.windows)
    properties: dict[str, Attribute] = {
        "sizes": DimsAttr(tuple(a.size for a in atoms)),
        "width": IntegerAttr(1 if slides else vector_width([*read, *elements]), i64),
    }
    through = [] if slides else _through(space, leaves, along)
    if through:
        properties["through"] = int_array(through)
        properties["key"] = IntegerAttr(sum(rows_of(leaf) for leaf in leaves[: through[0]]), i64)
    kind = TiledKernelOp if through else ElementwiseKernelOp
    op: Operation = kind.build(operands=[functor, loads, stores], properties=properties, result_types=[CPP])
    parts.end(EndOp.build(operands=[parts.add(op, "kernel")]))


def nearest_atom(space: Evaluation, type_: Attribute, places: IndexMap) -> int | None:
    """The atom along which a tensor's neighbours in memory lie, None where no atom steps from one to the next."""
    assert isinstance(type_, TensorType)
    for dim in reversed(type_.order):
        long = [(c, i) for i, c in places[dim].terms if not space.facts.equal(space.atoms[i].size, ONE)]
        if long:
            return next((i for c, i in long if c == ONE), None)
    return None


def _through(space: Evaluation, leaves: Sequence[Leaf], along: int | None) -> list[int]:
    """The loads whose neighbours lie along another atom than the result's, the same one for all."""
    found: list[int] = []
    across: int | None = None
    for i, leaf in enumerate(leaves):
        if along is None or not isinstance(leaf, Read) or leaf.bounds or leaf.is_flat or is_packed(leaf.tensor):
            continue
        nearest = nearest_atom(space, leaf.tensor.type, leaf.places)
        depends = {atom for place in leaf.places for atom in place.atoms}
        if nearest is None or nearest == along or along not in depends:
            continue
        if across in (None, nearest) and _is_long(space, nearest) and _is_long(space, along):
            across = nearest
            found.append(i)
    return found


def _is_long(space: Evaluation, atom: int) -> bool:
    """Whether a dimension can fill a good part of a tile."""
    size = space.facts.simplify(space.atoms[atom].size)
    return not size.is_static or size.value >= LEAST_TILE
