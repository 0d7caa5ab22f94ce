"""The output form `mlir`: a module as MLIR text.

Imports xDSL. Differs from xDSL's form in that the text ends in one line break, so that printing what was read from a
printed file gives that file.
"""

from dataclasses import dataclass
from io import StringIO
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.targets.mlir import MLIRTarget


@dataclass(frozen=True)
class MlirTarget(MLIRTarget):
    """MLIR text; the options are those of xDSL's form."""

    name = "mlir"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        text = StringIO()
        super().emit(ctx, module, text)
        output.write(text.getvalue().rstrip("\n") + "\n")
