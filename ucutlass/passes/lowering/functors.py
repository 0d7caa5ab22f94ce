"""Cuts the element-wise DAG of an epilogue into functors, one for each value that is stored.

A functor reads leaves and the values of functors before it, so that a sub-expression of several results is computed
once.
"""

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import Float32Type, Float64Type, UnitAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ucutlass.dialects.cutlass.core import CppTemplate
from ucutlass.dialects.cutlass.visitors import FunctorOp, FunctorYieldOp
from ucutlass.dialects.ucutlass import ConstantOp, UcuOp
from ucutlass.dialects.ucutlass.kernel import set_exact_name
from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.dims import Facts
from ucutlass.element_types import F16
from ucutlass.passes._common import retype
from ucutlass.records import record


@record
class FunctorPlan:
    """One functor: the value it computes and what it reads, in the order of its parameters."""

    value: SSAValue
    inputs: tuple[SSAValue, ...]
    members: tuple[UcuOp, ...]


def plan_functors(stored: Sequence[SSAValue], operations: Sequence[UcuOp]) -> tuple[FunctorPlan, ...]:
    """One functor for each stored value that an operation computes, in the order in which they must run."""
    computed: dict[SSAValue, UcuOp] = {result: op for op in operations for result in op.results}
    order = {op: i for i, op in enumerate(operations)}
    targets = sorted((v for v in dict.fromkeys(stored) if v in computed), key=lambda v: order[computed[v]])
    plans: list[FunctorPlan] = []
    for target in targets:
        done = {plan.value for plan in plans}
        members: set[UcuOp] = set()
        inputs: dict[SSAValue, None] = {}
        pending = [target]
        while pending:
            value = pending.pop()
            if value in computed and value not in done:
                if computed[value] not in members:
                    members.add(computed[value])
                    pending.extend(computed[value].operands)
            elif not isinstance(value.owner, ConstantOp):
                inputs[value] = None
        ordered = sorted(members, key=lambda op: order[op])
        first_use = {v: i for i, v in enumerate(v for op in ordered for v in op.operands)}
        plans.append(FunctorPlan(target, tuple(sorted(inputs, key=lambda v: first_use[v])), tuple(ordered)))
    return tuple(plans)


def allows_fast_forms(stored: Sequence[Attribute]) -> bool:
    """Whether the types at which results are stored hide the error of the fast forms."""
    return all(isinstance(t, TensorType) and t.element.unit_roundoff >= F16.unit_roundoff for t in stored)


def build_functor(plan: FunctorPlan, compute: Attribute, fast: bool, facts: Facts) -> FunctorOp:
    """The functor of a plan, its operations cloned into its region.

    What the `where` clause makes equal is spelled equally there: the clause itself stays behind, with the kernel.
    """
    block = Block(arg_types=[simplified(value.type, facts) for value in plan.inputs])
    mapping: dict[SSAValue, SSAValue] = {}
    for value, argument in zip(plan.inputs, block.args, strict=True):
        mapping[value] = argument
        if value.name_hint is not None:
            set_exact_name(argument, value.name_hint)
    for op in plan.members:
        for operand in op.operands:
            if operand not in mapping:
                owner = operand.owner
                assert isinstance(owner, ConstantOp)
                mapping[operand] = _append(block, owner, {}, facts)
        mapping[op.results[0]] = _append(block, op, mapping, facts)
    end = FunctorYieldOp.build(operands=[mapping[plan.value]])
    end.location = plan.members[-1].location
    block.add_op(end)
    properties: dict[str, Attribute] = {"compute": compute}
    if fast:
        properties["fast"] = UnitAttr()
    functor = FunctorOp.build(properties=properties, regions=[Region(block)], result_types=[CppTemplate()])
    functor.location = plan.members[-1].location
    return functor


def _append(block: Block, op: Operation, mapping: Mapping[SSAValue, SSAValue], facts: Facts) -> SSAValue:
    copy = op.clone({operand: mapping[operand] for operand in op.operands})
    block.add_op(copy)
    return retype(copy.results[0], simplified(copy.results[0].type, facts))


def simplified(type_: Attribute, facts: Facts) -> Attribute:
    """The type with sizes that equations define written as they define them."""
    return type_.with_dims([facts.simplify(dim) for dim in type_.dims]) if isinstance(type_, TensorType) else type_


def compute_type(value: SSAValue) -> Attribute:
    """The type in which an epilogue computes: f64 for an f64 accumulator, f32 for all others."""
    assert isinstance(value.type, TensorType)
    return Float64Type() if value.type.element.name == "f64" else Float32Type()
