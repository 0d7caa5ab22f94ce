"""Which kernels of a program a call is about, and at which sizes; what the tools that measure and bound share.

Imports the dialect and the interpreter's bindings.
"""

from collections.abc import Mapping, Sequence
from typing import NoReturn

from ucutlass_tools._program import Program

from ucutlass.diagnostics.core import Diagnostic, DiagnosticError, Severity
from ucutlass.dialects.ucutlass.kernel import KernelOp, kernels_of
from ucutlass.interpreter.bindings import Signature, complete_bindings

_UNKNOWN_KERNEL = "UC0020"
_SIZE_NOT_GIVEN = "UC0009"
_UNKNOWN_DIMENSION = "UC0213"


def chosen_kernels(program: Program, name: str | None) -> list[KernelOp]:
    """The kernel of that name, or all. Raises DiagnosticError."""
    assert program.module is not None
    kernels = kernels_of(program.module)
    if name is None:
        return kernels
    chosen = [kernel for kernel in kernels if kernel.sym_name.data == name]
    if not chosen:
        _refuse(_UNKNOWN_KERNEL, f"there is no kernel '{name}'; there are {', '.join(program.kernel_names)}")
    return chosen


def own_sizes(
    kernel: KernelOp, kernels: Sequence[KernelOp], combinations: Sequence[Mapping[str, int]]
) -> list[dict[str, int]]:
    """The combinations as they concern one of the chosen kernels: without names that only others have, each once."""
    own = Signature.of(kernel).dimension_names
    others = {name for other in kernels for name in Signature.of(other).dimension_names}.difference(own)
    found: list[dict[str, int]] = []
    for combination in combinations:
        concerned = {name: size for name, size in combination.items() if name not in others}
        if concerned not in found:
            found.append(concerned)
    return found


def complete_sizes(kernel: KernelOp, given: Mapping[str, int]) -> dict[str, int]:
    """The size of every dimension name, in the order in which the kernel names them. Raises DiagnosticError."""
    signature = Signature.of(kernel)
    names = signature.dimension_names
    for name in given:
        if name not in names:
            known = ", ".join(names) or "none"
            _refuse(_UNKNOWN_DIMENSION, f"kernel {signature.name} has no dimension {name}, there are: {known}")
    defined = {name for condition in signature.where for name, _ in condition.definitions}
    missing = [name for name in names if name not in given and name not in defined]
    if missing:
        flags = " ".join(f"--dim {name}=SIZE" for name in missing)
        _refuse(_SIZE_NOT_GIVEN, f"kernel {signature.name} leaves {', '.join(missing)} open: add {flags}")
    complete = complete_bindings(signature, given)
    return {name: complete[name] for name in names}


def _refuse(code: str, message: str) -> NoReturn:
    raise DiagnosticError(Diagnostic(code, Severity.ERROR, message))
