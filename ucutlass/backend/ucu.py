"""The output form `ucu`: a module as text of the language.

Imports the printer of the frontend, which is where the language's syntax is known.
"""

from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target

from ucutlass.frontend.print_ucu import print_ucu


@dataclass(frozen=True)
class UcuTarget(Target):
    """The μCUTLASS language, in canonical form."""

    name = "ucu"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        output.write(print_ucu(module))
