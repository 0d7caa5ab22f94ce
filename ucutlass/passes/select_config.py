"""`select-config`: fills whatever the program leaves to the compiler.

Accepts fused kernels. Afterwards every group around a contraction carries `selection`: a complete configuration that
obeys the setters, the fastest by the cost model of the GPU. Without the option the GPU is the target's usual one.

    gemm(x, w.T).with_tile(128, 256, 64)      selection <acc = (f32), tile = (128, 256, 64), cluster = (2, 1, 1), …>
"""

from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ucutlass.diagnostics.core import Note
from ucutlass.diagnostics.locations import operation_error, operation_remark, stop_if_errors
from ucutlass.dialects.ucutlass import ConfigAttr, FusedOp
from ucutlass.dialects.ucutlass.attributes import SetterValue
from ucutlass.dialects.ucutlass.kernel import target_of
from ucutlass.passes.contraction_problem import Described, describe
from ucutlass.passes.lowering.contraction import Contraction, read_contraction
from ucutlass.passes.lowering.limits import may_swap, refusal_of_batch, refusal_of_schedule
from ucutlass.targets.arch import architecture
from ucutlass.targets.gpu import load_gpu
from ucutlass.targets.problem import Config, Operand
from ucutlass.targets.relax import relax
from ucutlass.targets.rules.sm90_facts import uses_registers_for_a
from ucutlass.targets.select import select


@dataclass(frozen=True)
class SelectConfigPass(ModulePass):
    """Choose whatever the program leaves to the compiler."""

    name = "select-config"

    gpu: str | None = None
    """GPU to choose for, by its name in `ucutlass-sol --list-gpus`."""

    def __post_init__(self) -> None:
        if self.gpu is not None:
            load_gpu(self.gpu)  # an unknown one is a wrong option, before any program is read

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        stop_if_errors(ctx)
        target = architecture(target_of(op))
        gpu = load_gpu(self.gpu if self.gpu is not None else target.default_gpu)
        for group in op.walk():
            if not (isinstance(group, FusedOp) and group.kind.data == "gemm"):
                continue
            contraction = read_contraction(group)
            described = describe(contraction)
            partial = described.partial
            reason = refusal_of_batch(contraction, bool(partial.swap_ab))
            if reason is not None:
                _not_lowered(ctx, contraction, reason)
                continue
            if not may_swap(contraction):
                partial = replace(partial, swap_ab=False)
            chosen = select(described.problem, described.epilogue, partial, target, gpu)
            if chosen is None:
                _no_kernel(ctx, contraction, described)
                continue
            reason = refusal_of_schedule(chosen, target.name)
            if reason is not None:
                _not_lowered(ctx, contraction, reason)
                continue
            group.selection = complete(chosen, described)
            operation_remark(
                ctx, contraction.root, "UC0608", f"{contraction.root.spec.name} runs with {chosen.describe()}"
            )
        stop_if_errors(ctx)


def _no_kernel(ctx: Context, contraction: Contraction, described: Described) -> None:
    """No kernel takes the operands as they are; say what would have to be done first."""
    target = architecture(target_of(_module(contraction)))
    relaxed = relax(described.problem, described.epilogue, target)
    notes = [Note(repair.text) for repair in relaxed.repairs] if relaxed is not None else []
    operation_error(
        ctx,
        contraction.root,
        "UC0702",
        f"no kernel of {target} takes this {contraction.root.spec.name} as it stands, and the stages that would "
        "prepare it are not lowered yet",
        None,
        notes,
    )


def _not_lowered(ctx: Context, contraction: Contraction, reason: str) -> None:
    name = contraction.root.spec.name
    operation_error(ctx, contraction.root, "UC0702", f"this {name} has no kernel yet: {reason}")


def _module(contraction: Contraction) -> ModuleOp:
    top = contraction.fused.get_toplevel_object()
    assert isinstance(top, ModuleOp)
    return top


def complete(config: Config, described: Described) -> ConfigAttr:
    """The configuration with every choice written out that the lowering spells."""
    problem = described.problem.swapped() if config.swap_ab else described.problem
    epilogue = described.epilogue.swapped() if config.swap_ab else described.epilogue
    settings: dict[str, SetterValue] = dict(config.to_settings())
    if uses_registers_for_a(problem):
        # Such a mainloop takes its stage count from the shared memory that is left: the builder refuses a number.
        settings.pop("stages", None)
    settings["acc"] = (problem.accumulator.name,)
    settings["compute"] = (problem.compute,)
    c: Operand = epilogue.c if epilogue.c is not None else problem.d
    pinned = config.alignment
    settings["alignment"] = (
        pinned.a or problem.a.alignment,
        pinned.b or problem.b.alignment,
        pinned.c or c.alignment,
        pinned.d or problem.d.alignment,
    )
    return ConfigAttr.of(settings)
