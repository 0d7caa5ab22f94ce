"""`lower-to-cutlass`: groups to device kernels of the `cutlass` dialect, kernels of the language to programs.

Accepts fused, configured and staged kernels. Afterwards the module holds only the `cutlass` dialect (and the
element-wise operations inside functors), ready to print as C++. A group that no backend of the target has a kernel for
is an error that lists the ones it has.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr, SymbolRefAttr
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ucutlass.diagnostics.locations import operation_error, stop_if_errors
from ucutlass.dialects.cutlass.program import DeviceKernelOp, LaunchOp, ProgramOp, ProgramReturnOp
from ucutlass.dialects.ucutlass import FusedOp, KernelOp, UcuOp
from ucutlass.dialects.ucutlass.kernel import kernels_of, set_exact_name, target_of
from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.dims import Condition
from ucutlass.passes._common import not_ready
from ucutlass.passes.fusion.groups import is_free
from ucutlass.passes.lowering.families import families_of, lowering_of
from ucutlass.passes.memory.affine import NotExpressibleError
from ucutlass.passes.stage_pipeline import PLACEMENT, WORKSPACE
from ucutlass.targets.arch import architecture


@dataclass(frozen=True)
class LowerToCutlassPass(ModulePass):
    """Groups to device kernels, kernels to programs."""

    name = "lower-to-cutlass"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        stop_if_errors(ctx)
        target = target_of(op)
        for kernel in kernels_of(op):
            _check_ready(ctx, kernel)
        stop_if_errors(ctx)
        for kernel in kernels_of(op):
            self._lower(ctx, kernel, target)
        stop_if_errors(ctx)

    def _lower(self, ctx: Context, kernel: KernelOp, target: str) -> None:
        name = kernel.sym_name.data
        groups = [op for op in kernel.body.block.ops if isinstance(op, FusedOp)]
        refused = [_refused(ctx, group, target) for group in groups]  # all of them, each with its error
        if any(refused):
            return
        arguments = [(_name(a, f"arg{i}"), _tensor(a)) for i, a in enumerate(kernel.body.block.args)]
        results = _result_names(kernel)
        source = kernel.attributes.get("source")
        text = source.data if isinstance(source, StringAttr) else ""
        program = ProgramOp.of(name, arguments, results, text, target, (*kernel.where.data, *_needs(kernel)))
        program.location = kernel.location
        program.attributes[WORKSPACE] = kernel.attributes[WORKSPACE]
        values: dict[SSAValue, SSAValue] = dict(zip(kernel.body.block.args, program.body.block.args, strict=True))
        kernels = [_device_kernel(ctx, group, f"{name}_{i}", i, target) for i, group in enumerate(groups)]
        for i, (group, device_kernel) in enumerate(zip(groups, kernels, strict=True)):
            if device_kernel is None:
                return
            Rewriter.insert_op(device_kernel, InsertPoint.before(kernel))
            inputs = [values[v] for v in group.inputs if isinstance(v.type, TensorType)]
            launch = LaunchOp.build(
                operands=[inputs],
                properties={"callee": SymbolRefAttr(f"{name}_{i}")},
                result_types=[[o.type for o in group.outputs]],
                attributes={PLACEMENT: group.attributes.get(PLACEMENT, ArrayAttr([]))},
            )
            launch.location = group.location
            program.body.block.add_op(launch)
            for old, new in zip(group.outputs, launch.outputs, strict=True):
                values[old] = new
                if old.name_hint is not None:
                    set_exact_name(new, old.name_hint)
        end = ProgramReturnOp.build(operands=[[values[v] for v in kernel.return_op.values]])
        end.location = kernel.return_op.location
        program.body.block.add_op(end)
        Rewriter.replace_op(kernel, program, [])


def _check_ready(ctx: Context, kernel: KernelOp) -> None:
    """Report what the passes before this one have left undone."""
    ops = list(kernel.body.block.ops)
    if any(isinstance(op, UcuOp) and not is_free(op) for op in ops):
        not_ready(ctx, kernel, "operations are not cut into kernels", "fuse")
    elif any(isinstance(op, FusedOp) and op.kind.data == "gemm" and op.selection is None for op in ops):
        not_ready(ctx, kernel, "a contraction has no configuration", "select-config")
    elif WORKSPACE not in kernel.attributes:
        not_ready(ctx, kernel, "intermediates have no place", "stage-pipeline")


def _needs(kernel: KernelOp) -> list[Condition]:
    """What operations need of dynamic sizes beyond what the program says: the launcher checks it, too."""
    needs = [need for op in kernel.walk() if isinstance(op, UcuOp) for need in op.needs(kernel.facts)]
    return [need for need in dict.fromkeys(needs) if need not in kernel.where.data]


def _device_kernel(ctx: Context, group: FusedOp, name: str, index: int, target: str) -> DeviceKernelOp | None:
    """The kernel of a group; None, and an error, where no kernel computes it."""
    lowering = lowering_of(group, target)
    assert lowering is not None
    inputs = [(_name(a, f"in{i}"), _tensor(a)) for i, a in enumerate(group.body.block.args) if not _is_number(a)]
    taken = {n for n, _ in inputs}
    outputs: list[tuple[str, TensorType]] = []
    for i, output in enumerate(group.outputs):
        chosen = _name(output, f"out{i}")
        while chosen in taken:
            chosen += "_out"
        taken.add(chosen)
        outputs.append((chosen, _tensor(output)))
    computed = [op.spec.name for op in group.body.block.ops if isinstance(op, UcuOp) and not is_free(op)]
    kernel = DeviceKernelOp.of(name, f"kernel {index}: {' >> '.join(computed) or 'copy'}", inputs, outputs)
    kernel.location = group.location
    try:
        lowering(group, kernel, architecture(target))
    except NotExpressibleError as problem:
        operation_error(ctx, _first_operation(group), "UC0701", f"no kernel computes this yet: {problem}")
        return None
    return kernel


def _first_operation(group: FusedOp) -> Operation:
    computed = (op for op in group.body.block.ops if isinstance(op, UcuOp) and not is_free(op))
    return next(computed, group)


def _refused(ctx: Context, group: FusedOp, target: str) -> bool:
    if lowering_of(group, target) is not None:
        return False
    families = families_of(target)
    operation_error(
        ctx,
        _first_operation(group),
        "UC0701",
        f"no kernel of the family {group.kind.data} for {target} yet: {target} has "
        + (f"those of {', '.join(families)}" if families else "none"),
    )
    return True


def _result_names(kernel: KernelOp) -> list[str]:
    taken = {a.name_hint for a in kernel.body.block.args}
    names: list[str] = []
    for i, value in enumerate(kernel.return_op.values):
        name = value.name_hint or ("result" if len(kernel.declared) == 1 else f"result{i}")
        while name in taken:
            name += "_"
        taken.add(name)
        names.append(name)
    return names


def _name(value: SSAValue, default: str) -> str:
    return value.name_hint or default


def _is_number(value: SSAValue) -> bool:
    return not isinstance(value.type, TensorType)


def _tensor(value: SSAValue) -> TensorType:
    assert isinstance(value.type, TensorType)
    return value.type
