"""`fuse`: cuts the dataflow of each kernel into groups, each of which one device kernel computes.

Accepts inferred kernels. Afterwards a kernel's body is a sequence of `ucutlass.fused` groups and a return; a group's results are
stored at their types, views and numbers stand inside the groups that use them, and what a kernel returns has the declared type.

    kernel f(x: f16[64, 32], w: f16[64, 32], b: f16[64]) -> f16[64, 64] { return gemm(x, w.T) >> bias(b) >> relu() }

becomes one group of the family `gemm` that holds `t`, `gemm`, `bias` and `relu`.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ucutlass.diagnostics.locations import operation_remark, stop_if_errors
from ucutlass.dialects.ucutlass import FusedOp, KernelOp, ReturnOp, UcuOp, YieldOp
from ucutlass.dialects.ucutlass.kernel import kernels_of, set_exact_name
from ucutlass.passes.fusion.groups import MATERIALIZE, Decision, Group, Partition, is_free


@dataclass(frozen=True)
class FusePass(ModulePass):
    """Cut the dataflow into kernels."""

    name = "fuse"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        stop_if_errors(ctx)
        for kernel in kernels_of(op):
            partition = Partition(kernel)
            for decision in partition.decisions:
                _remark(ctx, decision)
            _rewrite(kernel, partition)


def _remark(ctx: Context, decision: Decision) -> None:
    root = decision.group.root.spec.name
    name = decision.op.spec.name
    if decision.op is decision.group.root:
        reasons = "".join(f"; not fused into {r}" for r in decision.refusals)
        operation_remark(
            ctx, decision.op, "UC0602", f"{name} begins a kernel of the family {decision.group.kind}{reasons}"
        )
    else:
        operation_remark(ctx, decision.op, "UC0601", f"{name} is fused into the kernel of {root}")


Stored = tuple[SSAValue, Attribute]
"""A value, and the type at which it is written to memory."""


def _rewrite(kernel: KernelOp, partition: Partition) -> None:
    stores = _stores(kernel, partition)
    available: dict[Stored, SSAValue] = {}
    end = kernel.return_op
    for group in partition.groups:
        fused = _fused(group, stores[group], available)
        Rewriter.insert_op(fused, InsertPoint.before(end))
        for stored, result in zip(stores[group], fused.outputs, strict=True):
            available[stored] = result
    returned = [_read(value, declared, available) for value, declared in zip(end.values, kernel.declared, strict=True)]
    replacement = ReturnOp.build(operands=[returned])
    replacement.location = end.location
    Rewriter.replace_op(end, replacement)
    for op in reversed([o for o in kernel.body.block.ops if not isinstance(o, FusedOp | ReturnOp)]):
        Rewriter.erase_op(op)


def _stores(kernel: KernelOp, partition: Partition) -> dict[Group, list[Stored]]:
    """What each group writes: values that another group reads, at their own type, and returned ones at the declared type."""
    stores: dict[Group, list[Stored]] = {group: [] for group in partition.groups}

    def store(value: SSAValue, type_: Attribute) -> None:
        source, type_ = _source(value, type_)
        owner = source.owner
        if isinstance(owner, UcuOp):
            stored = (source, type_)
            if stored not in stores[partition.group_of[owner]]:
                stores[partition.group_of[owner]].append(stored)

    for op, group in partition.group_of.items():
        for value in _read_values(op):
            owner = value.owner
            if isinstance(owner, UcuOp) and partition.group_of[owner] is not group:
                store(value, value.type)
        if isinstance(op, MATERIALIZE) and not op.results[0].uses:
            store(op.results[0], op.results[0].type)
    for value, declared in zip(kernel.return_op.values, kernel.declared, strict=True):
        store(value, declared)
    return stores


def _read_values(op: Operation) -> list[SSAValue]:
    """The values that an operation reads, looking through views and numbers."""
    found: list[SSAValue] = []
    for operand in op.operands:
        owner = operand.owner
        if isinstance(owner, Operation) and is_free(owner):
            found.extend(_read_values(owner))
        else:
            found.append(operand)
    return found


def _source(value: SSAValue, type_: Attribute) -> Stored:
    """What is stored for a value: a materialized one is its operand, written at the type that `materialize` gives it."""
    while isinstance(value.owner, MATERIALIZE):
        inner = value.owner.operands[0]
        if not isinstance(inner.owner, UcuOp):
            break
        type_, value = (value.type if type_ == value.type else type_), inner
    return value, type_


def _read(value: SSAValue, type_: Attribute, available: dict[Stored, SSAValue]) -> SSAValue:
    return available.get(_source(value, type_), value)


def _fused(group: Group, stores: list[Stored], available: dict[Stored, SSAValue]) -> FusedOp:
    block = Block()
    inside: dict[SSAValue, SSAValue] = {}
    inputs: list[SSAValue] = []

    def place(value: SSAValue) -> SSAValue:
        if value in inside:
            return inside[value]
        owner = value.owner
        if isinstance(owner, Operation) and is_free(owner):
            inside[value] = clone(owner)
            return inside[value]
        outer = _read(value, value.type, available)
        argument = block.insert_arg(outer.type, len(block.args))
        if value.name_hint is not None:
            set_exact_name(argument, value.name_hint)
        inputs.append(outer)
        inside[value] = argument
        return argument

    def clone(op: Operation) -> SSAValue:
        copy = op.clone({operand: place(operand) for operand in op.operands})
        block.add_op(copy)
        return copy.results[0]

    for member in sorted(group.members, key=_position):
        if isinstance(member, MATERIALIZE):
            inside[member.results[0]] = place(member.operands[0])
            continue
        for operand in member.operands:
            place(operand)
        copy = member.clone({operand: inside[operand] for operand in member.operands})
        block.add_op(copy)
        for old, new in zip(member.results, copy.results, strict=True):
            inside[old] = new
    end = YieldOp.build(operands=[[inside[value] for value, _ in stores]])
    end.location = group.root.location
    block.add_op(end)
    fused = FusedOp.of(group.kind, inputs, [type_ for _, type_ in stores], block)
    fused.location = group.root.location
    for (value, _), result in zip(stores, fused.outputs, strict=True):
        if value.name_hint is not None:
            set_exact_name(result, value.name_hint)
    return fused


def _position(op: Operation) -> int:
    block = op.parent
    assert block is not None
    return block.get_operation_index(op)
