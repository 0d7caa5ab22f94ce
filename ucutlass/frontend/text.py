"""Bytes to source texts, and the one exception that ends reading a program.

Imports the diagnostics.
"""

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Input, Span

from ucutlass.diagnostics.core import Diagnostic, DiagnosticError
from ucutlass.diagnostics.locations import engine_of
from ucutlass.diagnostics.source import SourceFile, decode_utf8


class SourceError(ParseError, DiagnosticError):
    """A text is no program: carries every error, which the engine of the context has too. xDSL takes it for its own."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        DiagnosticError.__init__(self, *diagnostics)
        self.msg = DiagnosticError.__str__(self)
        self.span = Span(0, 0, Input("", diagnostics[0].span.file if diagnostics[0].span is not None else ""))

    def __str__(self) -> str:
        return self.msg

    # xDSL's errors are compared by value, and so cannot be hashed.
    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        return id(self)


def read_text(ctx: Context, data: bytes | str, name: str) -> SourceFile:
    """The source text of a file; raises SourceError where it is not UTF-8."""
    engine = engine_of(ctx)
    if isinstance(data, str):
        return engine.add_source(SourceFile(name, data))
    source, bad = decode_utf8(name, data)
    engine.add_source(source)
    if bad is not None:
        diagnostic = engine.error("UC0105", "the text is not UTF-8: save it in that encoding", bad)
        raise SourceError([diagnostic])
    return source
