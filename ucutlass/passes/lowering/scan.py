"""A group around `cumsum` or `cumprod` to `support::ScanKernel`."""

from xdsl.dialects.builtin import BoolAttr, IntegerAttr, StringAttr, i64

from ucutlass.dialects.cutlass.core import int_array
from ucutlass.dialects.cutlass.memory import MapOp, ScanKernelOp
from ucutlass.dialects.cutlass.program import DeviceKernelOp, EndOp
from ucutlass.dialects.ucutlass import DimsAttr, FusedOp
from ucutlass.dialects.ucutlass.base import facts_at
from ucutlass.dialects.ucutlass.types import MLIR_ELEMENT, TensorType
from ucutlass.passes.lowering.elementwise import nearest_atom, operations_of
from ucutlass.passes.lowering.memory_parts import (
    CPP,
    Parts,
    leaves_of,
    mark_fast,
    rows_of,
    stored_as,
    vector_width,
)
from ucutlass.passes.memory.affine import ONE
from ucutlass.passes.memory.evaluate import behind, evaluate, scanned_dim, space_of
from ucutlass.passes.memory.expression import Leaf, Read, Scanned
from ucutlass.targets.arch import Architecture


def lower_scan(fused: FusedOp, kernel: DeviceKernelOp, target: Architecture) -> None:
    """Fill the body of the device kernel of a group."""
    behinds = [behind(value) for value in fused.yielded]
    stored, orders = [value for value, _ in behinds], [order for _, order in behinds]
    space, values = evaluate(space_of(operations_of(fused), stored, facts_at(fused)), stored)
    assert space.scan is not None
    types = [output.type for output in kernel.outputs]
    elements = [t.element for t in types if isinstance(t, TensorType)]
    results = [stored_as(space.builder, v, e) for v, e in zip(values, elements, strict=True)]
    scanned = next(leaf for leaf in leaves_of(results) if isinstance(leaf, Scanned))
    along = list(space.places[scanned_dim(space.scan)].atoms) if space.places else []
    # What a space lacks is a dimension of size 1, which nothing depends on.
    outer = [i for i in range(len(space.atoms)) if i not in along] or [len(space.atoms)]
    atoms = [*outer, *(along or [len(space.atoms) + 1])]
    sizes = tuple(space.atoms[i].size if i < len(space.atoms) else ONE for i in atoms)
    parts = Parts(fused, kernel)
    name = kernel.outputs[0].name_hint or "value"
    every = leaves_of([scanned.value, *results])
    loaded: list[Leaf] = [leaf for leaf in every if not isinstance(leaf, Scanned)]
    number: dict[Leaf, int] = {leaf: i for i, leaf in enumerate(loaded)}
    number[scanned] = len(loaded)
    into, into_leaves = parts.functor([scanned.value], f"{name}_in_fn")
    out, out_leaves = parts.functor(results, f"{name}_fn")
    mark_fast(out, elements)
    maps = [
        parts.add(
            MapOp.build(
                operands=[functor],
                properties={"inputs": int_array([number[leaf] for leaf in leaves])},
                result_types=[CPP],
            ),
            f"{name}_{suffix}",
        )
        for functor, leaves, suffix in ((into, into_leaves, "in"), (out, out_leaves, "map"))
    ]
    loads = [parts.load(leaf, atoms, ONE) for leaf in loaded]
    stores = [
        parts.store(i, tuple(space.places_of(value)[dim] for dim in order), atoms)
        for i, (value, order) in enumerate(zip(stored, orders, strict=True))
    ]
    read = [leaf for leaf in loaded if isinstance(leaf, Read)]
    key = max(read, key=lambda leaf: len({a for place in leaf.places for a in place.atoms}), default=None)
    nearest = None if key is None else nearest_atom(space, key.tensor.type, key.places)
    widths = [leaf.tensor.type.element for leaf in read if isinstance(leaf.tensor.type, TensorType)]
    op = ScanKernelOp.build(
        operands=[*maps, loads, stores],
        properties={
            "sizes": DimsAttr(sizes),
            "width": IntegerAttr(vector_width([*widths, *elements]), i64),
            "columns": BoolAttr.from_bool(nearest is not None and nearest not in along),
            "key": IntegerAttr(0 if key is None else sum(rows_of(leaf) for leaf in loaded[: loaded.index(key)]), i64),
            "kind": StringAttr(scanned.kind),
            "compute": MLIR_ELEMENT[scanned.element.name],
        },
        result_types=[CPP],
    )
    parts.end(EndOp.build(operands=[parts.add(op, "kernel")]))
