"""A group of element-wise operations and data movement to `support::ElementwiseKernel`."""

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import Operation

from ucutlass.dialects.cutlass.memory import ElementwiseKernelOp
from ucutlass.dialects.cutlass.program import DeviceKernelOp, EndOp
from ucutlass.dialects.ucutlass import DimsAttr, FusedOp, UcuOp
from ucutlass.dialects.ucutlass.base import facts_at
from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.passes.lowering.memory_parts import CPP, Parts, mark_fast, stored_as, vector_width
from ucutlass.passes.memory.affine import ONE, Atom
from ucutlass.passes.memory.evaluate import behind, evaluate, space_of
from ucutlass.passes.memory.expression import Gathered, Read
from ucutlass.targets.arch import Architecture


def operations_of(fused: FusedOp) -> list[UcuOp]:
    """The operations of a group."""
    return [op for op in fused.body.block.ops if isinstance(op, UcuOp)]


def lower_elementwise(fused: FusedOp, kernel: DeviceKernelOp, target: Architecture) -> None:
    """Fill the body of the device kernel of a group."""
    facts = facts_at(fused)
    stored, orders = zip(*(behind(value) for value in fused.yielded), strict=True)
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
        if isinstance(leaf, Read | Gathered) and isinstance(leaf.tensor.type, TensorType) and leaf.tensor.type.rank
    ]
    op: Operation = ElementwiseKernelOp.build(
        operands=[functor, loads, stores],
        properties={
            "sizes": DimsAttr(tuple(a.size for a in atoms)),
            "width": IntegerAttr(vector_width([*read, *elements]), i64),
        },
        result_types=[CPP],
    )
    parts.end(EndOp.build(operands=[parts.add(op, "kernel")]))
