"""`fuse`: cuts the dataflow of each kernel into groups, each of which one device kernel computes.

Accepts inferred kernels. Afterwards a kernel's body is a sequence of `ucutlass.fused` groups and a return; a group's
results are stored at their types, views and numbers stand inside the groups that use them, and what a kernel returns
has the declared type. A group may yield a view of what it computes: it is stored transposed. What nothing depends on is
gone. A group of the family `copy` computes nothing: it stores an argument, or a materialized value in another type, as
a result.

    kernel f(x: f16[64, 32], w: f16[64, 32], b: f16[64]) -> f16[64, 64] { return gemm(x, w.T) >> bias(b) >> relu() }

becomes one group of the family `gemm` that holds `t`, `gemm`, `bias` and `relu`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ucutlass.diagnostics.locations import operation_remark, stop_if_errors
from ucutlass.dialects.ucutlass import OPERATIONS, ConstantOp, FusedOp, KernelOp, ReturnOp, UcuOp, YieldOp
from ucutlass.dialects.ucutlass.base import number_value, param_to_attribute
from ucutlass.dialects.ucutlass.kernel import is_unresolved, kernels_of, set_exact_name
from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.dims import Dim
from ucutlass.passes._common import locate, not_ready, replace
from ucutlass.passes.fusion.groups import MATERIALIZE, TRANSPOSE, Decision, Group, Partition, is_free
from ucutlass.passes.fusion.merging import merge_groups
from ucutlass.passes.fusion.stores import Copied, Stored, Stores, read_as

SPLIT, SLICE = OPERATIONS["split"], OPERATIONS["slice"]
MEAN, LAYOUT = OPERATIONS["mean"], OPERATIONS["to_layout"]


@dataclass(frozen=True)
class FusePass(ModulePass):
    """Cut the dataflow into kernels."""

    name = "fuse"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        stop_if_errors(ctx)
        for kernel in kernels_of(op):
            if any(is_unresolved(result) for inner in kernel.walk() for result in inner.results):
                not_ready(ctx, kernel, "values have no types", "infer")
        stop_if_errors(ctx)
        for kernel in kernels_of(op):
            _tidy(kernel)
            partition = Partition(kernel)
            merge_groups(partition)
            for decision in partition.decisions:
                _remark(ctx, decision)
            _rewrite(ctx, kernel, partition)


def _remark(ctx: Context, decision: Decision) -> None:
    root = decision.group.root.spec.name
    name = decision.op.spec.name
    if decision.op is decision.group.root:
        reasons = "".join(f"; not fused into {g.root.spec.name}: {reason}" for g, reason in decision.refusals)
        operation_remark(
            ctx, decision.op, "UC0602", f"{name} begins a kernel of the family {decision.group.kind}{reasons}"
        )
    else:
        operation_remark(ctx, decision.op, "UC0601", f"{name} is fused into the kernel of {root}")


def _tidy(kernel: KernelOp) -> None:
    """Numbers are computed now, pieces of a tensor are slices, and what nothing depends on is not computed."""
    for op in list(kernel.body.block.ops):
        number = number_value(op.results[0]) if isinstance(op, UcuOp) and op.is_number else None
        if number is not None:
            replace(op, ConstantOp.of(number))
        elif isinstance(op, SPLIT):
            _slice_pieces(op)
        elif isinstance(op, UcuOp) and op.spec.name.startswith("adaptive_avg_pool"):
            _average_all(op)
    for op in reversed(list(kernel.body.block.ops)):
        if not isinstance(op, ReturnOp) and not any(result.uses for result in op.results):
            Rewriter.erase_op(op)


def _average_all(pool: UcuOp) -> None:
    """The average of everything is a mean, which many threads share."""
    operand, result = pool.operands[0], pool.results[0]
    sizes = pool.params()["size"]
    assert isinstance(operand.type, TensorType) and isinstance(result.type, TensorType)
    assert isinstance(sizes, tuple)
    if any(size != Dim.of(1) for size in sizes):
        return
    rank = int(pool.spec.name[-2])
    dims = tuple(Dim.of(operand.type.rank - rank + i) for i in range(rank))
    params = {"dim": dims, "keepdim": True}
    properties = {name: param_to_attribute(MEAN.SPEC.param(name), value) for name, value in params.items()}
    means = [
        MEAN.build(operands=[operand], properties=properties, result_types=[result.type.with_dims(result.type.dims)])
    ]
    if not result.type.layout.is_row:
        layout = {"layout": param_to_attribute(LAYOUT.SPEC.param("layout"), result.type.order)}
        means.append(LAYOUT.build(operands=[means[0].results[0]], properties=layout, result_types=[result.type]))
    replace(pool, means)


def _slice_pieces(split: UcuOp) -> None:
    """Each piece is cut out where it is used, so that it can be part of what uses it."""
    operand = split.operands[0]
    assert isinstance(operand.type, TensorType)
    dim = split.params()["dim"]
    assert isinstance(dim, Dim)
    axis = dim.value % operand.type.rank
    start = Dim.of(0)
    slices: list[Operation] = []
    for piece in split.results:
        assert isinstance(piece.type, TensorType)
        end = start + piece.type.dims[axis]
        bounds = {"dim": Dim.of(axis), "start": start, "end": end}
        properties = {name: param_to_attribute(SLICE.SPEC.param(name), bound) for name, bound in bounds.items()}
        slices.append(SLICE.build(operands=[operand], properties=properties, result_types=[piece.type]))
        start = end
    replace(split, slices, [piece.results[0] for piece in slices])


def _rewrite(ctx: Context, kernel: KernelOp, partition: Partition) -> None:
    stores = Stores.of(kernel, partition)
    available: dict[Stored, SSAValue] = {}
    fused: dict[Group, FusedOp] = {}
    end = kernel.return_op
    order = {op: index for index, op in enumerate(kernel.body.block.ops)}
    for group in partition.groups:
        members = sorted(group.members, key=order.__getitem__)
        fused[group] = _fused(group, members, stores.by_group[group], available)
        Rewriter.insert_op(fused[group], InsertPoint.before(end))
        for stored, result in zip(stores.by_group[group], fused[group].outputs, strict=True):
            available.setdefault(stored, result)
    returned: list[SSAValue] = []
    for index, (result, declared) in enumerate(zip(stores.results, kernel.declared, strict=True)):
        if not isinstance(result, Copied):
            group, number = result
            returned.append(fused[group].outputs[number])
            continue
        copy = _copy(result, declared, available)
        locate([copy], end)
        Rewriter.insert_op(copy, InsertPoint.before(end))
        returned.append(copy.outputs[0])
        shown = f"'{result.value.name_hint}'" if result.value.name_hint else f"value {index + 1}"
        operation_remark(ctx, end, "UC0602", f"returned {shown} begins a kernel of the family copy", f"operand:{index}")
    replacement = ReturnOp.build(operands=[returned])
    replacement.location = end.location
    Rewriter.replace_op(end, replacement)
    for op in reversed([o for o in kernel.body.block.ops if not isinstance(o, FusedOp | ReturnOp)]):
        Rewriter.erase_op(op)


def _copy(copied: Copied, declared: Attribute, available: dict[Stored, SSAValue]) -> FusedOp:
    """A group that stores a tensor, or a view of it, as a result."""
    source = available.get(read_as(copied.source), copied.source)
    views: list[Operation] = []
    value = copied.value
    while value is not copied.source:
        assert isinstance(value.owner, TRANSPOSE)
        views.append(value.owner)
        value = value.owner.operands[0]
    block = Block()
    inside: SSAValue = block.insert_arg(source.type, 0)
    for view in reversed(views):
        clone = view.clone({view.operands[0]: inside})
        block.add_op(clone)
        inside = clone.results[0]
    block.add_op(YieldOp.build(operands=[[inside]]))
    fused = FusedOp.of("copy", [source], [declared], block)
    for outer, inner in ((copied.source, block.args[0]), (copied.value, fused.outputs[0])):
        if outer.name_hint is not None:
            set_exact_name(inner, outer.name_hint)
    return fused


def _fused(
    group: Group, members: Sequence[Operation], stores: list[Stored], available: dict[Stored, SSAValue]
) -> FusedOp:
    """The group's members, in the order of the program, in a group operation."""
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
        outer = available.get(read_as(value), value)
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

    for member in members:
        if isinstance(member, MATERIALIZE):
            inside[member.results[0]] = place(member.operands[0])
            continue
        for operand in member.operands:
            place(operand)
        copy = member.clone({operand: inside[operand] for operand in member.operands})
        block.add_op(copy)
        for old, new in zip(member.results, copy.results, strict=True):
            inside[old] = new
    end = YieldOp.build(operands=[[place(value) for value, _ in stores]])
    end.location = group.root.location
    block.add_op(end)
    fused = FusedOp.of(group.kind, inputs, [type_ for _, type_ in stores], block)
    fused.location = group.root.location
    for (value, _), result in zip(stores, fused.outputs, strict=True):
        if value.name_hint is not None:
            set_exact_name(result, value.name_hint)
    return fused
