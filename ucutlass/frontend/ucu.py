"""The frontend `ucu` of xDSL: a `.ucu` text to a module.

Imports the parser, the builder and the diagnostics. What is wrong goes to the engine of the context, all of it, and
then one `SourceError` ends the reading.
"""

from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.frontend import Frontend

from ucutlass.diagnostics.locations import engine_of
from ucutlass.diagnostics.source import SourceFile
from ucutlass.frontend.build import build
from ucutlass.frontend.parse import parse
from ucutlass.frontend.text import SourceError, read_text


def read_ucu(ctx: Context, source: SourceFile) -> ModuleOp:
    """The module of a text; raises SourceError after reporting everything that is wrong."""
    engine = engine_of(ctx)
    engine.add_source(source)
    before = len(engine.errors)
    program = parse(source, engine)
    module = build(source, program, engine) if program is not None else None
    errors = engine.errors
    if module is None or len(errors) > before:
        raise SourceError(errors)
    return module


@dataclass(frozen=True)
class UcuFrontend(Frontend):
    """The μCUTLASS language."""

    name = "ucu"

    def parse(self, ctx: Context, input: IO[bytes], input_name: str = "input") -> ModuleOp:
        return read_ucu(ctx, read_text(ctx, input.read(), input_name))
