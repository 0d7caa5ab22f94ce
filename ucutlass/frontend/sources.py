"""Keeps the text of each kernel on it, for whoever shows it after the kernel has been taken apart.

Imports the printer of the language. The text is the canonical one: a program gives the same C++, and so the same entry
of the build cache, however it was laid out and in whichever language it was written. A kernel that only MLIR can say is
kept as MLIR.
"""

from xdsl.dialects.builtin import ModuleOp, StringAttr

from ucutlass.diagnostics.locations import OperationFailure
from ucutlass.dialects.ucutlass.kernel import KernelOp, kernels_of
from ucutlass.frontend.print_ucu import print_kernel

SOURCE_ATTRIBUTE = "source"
"""Of a kernel: its text."""


def record_sources(module: ModuleOp) -> None:
    """Gives every kernel of a module its text, unless it has one. To be called before any pass."""
    for kernel in kernels_of(module):
        if SOURCE_ATTRIBUTE in kernel.attributes:
            continue
        kernel.attributes[SOURCE_ATTRIBUTE] = StringAttr(_text(kernel).rstrip("\n"))


def _text(kernel: KernelOp) -> str:
    try:
        return print_kernel(kernel)
    except OperationFailure:
        return str(kernel)
