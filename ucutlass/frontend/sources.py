"""Keeps the text of each kernel on the kernel, for what is emitted from it later.

Imports the printer. The lowering puts the text into the header of the emitted C++, so that a reader sees what the file
was made from; passes change the IR, so the text is taken before they run.
"""

from xdsl.dialects.builtin import ModuleOp, StringAttr

from ucutlass.dialects.ucutlass.kernel import kernels_of
from ucutlass.frontend.print_ucu import print_kernel

SOURCE_ATTRIBUTE = "source"


def record_sources(module: ModuleOp) -> None:
    """Gives every kernel its canonical text as attribute."""
    for kernel in kernels_of(module):
        kernel.attributes[SOURCE_ATTRIBUTE] = StringAttr(print_kernel(kernel))
