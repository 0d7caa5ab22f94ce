"""The output form `cuda`: a module of the `cutlass` dialect as one C++ file.

Imports xDSL, the dialects and the printer beside it.
"""

from dataclasses import dataclass
from typing import IO, Literal

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target

from ucutlass.backend.cuda.emit import emit_cuda
from ucutlass.diagnostics.locations import fail
from ucutlass.dialects.cutlass.program import programs
from ucutlass.dialects.ucutlass.kernel import kernels_of


@dataclass(frozen=True)
class CudaTarget(Target):
    """CUDA C++ that stands alone on CUTLASS's headers."""

    name = "cuda"

    symbol_suffix: Literal["none", "hash"] = "none"
    """What the exported names end in: with `hash` programs of one name can be linked together."""

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        if left := kernels_of(module):
            name = left[0].sym_name.data
            raise fail(
                left[0], "UC0704", f"kernel {name} has not been lowered: run the pipeline 'default' first, -p default"
            )
        if not programs(module):
            raise fail(module, "UC0108", "there is no kernel to print as C++")
        output.write(emit_cuda(module, symbol_suffix_hash=self.symbol_suffix == "hash"))
