"""Runs `.ucu` text through the interpreter; what the interpreter's tests share."""

from typing import TYPE_CHECKING

from keeps_meaning import new_context, read_source
from xdsl.dialects.builtin import ModuleOp

from ucutlass.dialects.ucutlass.kernel import KernelOp, kernels_of
from ucutlass.interpreter import Precision, interpret
from ucutlass.passes.pipelines import passes_of, run_passes

if TYPE_CHECKING:
    from torch import Tensor


def inferred(source: str) -> ModuleOp:
    """The module of a program, with types."""
    ctx = new_context()
    module = read_source(ctx, source)
    run_passes(ctx, module, passes_of("infer"))
    return module


def kernel_of(source: str) -> KernelOp:
    """The first kernel of a program, with types."""
    return kernels_of(inferred(source))[0]


def run(
    source: str, *inputs: "Tensor", precision: Precision = "compute", rounding: bool = True, cuts: bool = True
) -> "list[Tensor]":
    """The results of a program's first kernel."""
    module = inferred(source)
    name = kernels_of(module)[0].sym_name.data
    return interpret(module, name, inputs, precision=precision, rounding=rounding, cuts=cuts)
