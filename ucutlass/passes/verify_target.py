"""`verify-target`: refuses what the target or CUTLASS cannot build, launch or compute right, before anything is
emitted.

Accepts inferred modules and changes nothing. It asks the enumerator that `select-config` asks, with the visitor tree
that `fuse`
builds, so a program is accepted exactly when a configuration exists. A contraction without setters is accepted
wherever its types are: the copies, paddings and cuts that it costs are decided later and are remarks.

    target sm_90a  kernel f(…) -> … { return gemm(x, w.T).with_tile(100, 128, 64) }

is refused: the tile's m is no multiple of 64, and the fix proposes the nearest that is.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ucutlass.diagnostics.core import DiagnosticEngine, Note
from ucutlass.diagnostics.locations import PartFixIt, operation_error, operation_warning, set_engine, stop_if_errors
from ucutlass.dialects.ucutlass import FusedOp, UcuOp
from ucutlass.dialects.ucutlass.base import facts_at
from ucutlass.dialects.ucutlass.kernel import target_of
from ucutlass.passes.contraction_problem import Described, describe
from ucutlass.passes.fuse import FusePass
from ucutlass.passes.lowering.contraction import read_contraction
from ucutlass.targets.arch import Architecture, architecture
from ucutlass.targets.problem import ANY
from ucutlass.targets.refusal import explain_refusal
from ucutlass.targets.relax import relax
from ucutlass.targets.rules.core import Fix, Violation

INSERTED_PARTS = ("end", "where")
"""Parts of a fix at which text is added, not replaced."""


@dataclass(frozen=True)
class VerifyTargetPass(ModulePass):
    """Refuse what the target cannot do."""

    name = "verify-target"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        stop_if_errors(ctx)
        target = architecture(target_of(op))
        copy = op.clone()
        scratch = ctx.clone()
        set_engine(scratch, DiagnosticEngine())
        FusePass().apply(scratch, copy)
        for group in copy.walk():
            if isinstance(group, FusedOp) and group.kind.data == "gemm":
                contraction = read_contraction(group)
                for violation in _violations(describe(contraction), target):
                    _report(ctx, contraction.root, violation)
        stop_if_errors(ctx)


def _violations(described: Described, target: Architecture) -> list[Violation]:
    problem, epilogue, partial = described.problem, described.epilogue, described.partial
    found = explain_refusal(problem, epilogue, partial, target)
    if found and partial == ANY and relax(problem, epilogue, target) is not None:
        return []
    return found


def _placed(fix: Fix, root: UcuOp) -> PartFixIt:
    """The edit of the text that a fix stands for."""
    part, value = fix.part, fix.value
    if part == "where":
        value = (", " if facts_at(root).conditions else " where ") + value
    elif part.count(":") == 2:
        part += ":value"  # the keyword before it stays
    return PartFixIt(part, value, fix.text, insert=part in INSERTED_PARTS)


def _report(ctx: Context, root: UcuOp, violation: Violation) -> None:
    fixits = [_placed(violation.fix, root)] if violation.fix is not None else []
    notes = [Note(text) for text in violation.notes]
    report = operation_error if violation.severity == "error" else operation_warning
    report(ctx, root, violation.code, violation.message, violation.part, notes, fixits)
