"""The frontend `mlir` of xDSL: MLIR text to a module whose operations know where they stand.

Imports xDSL's parser and the diagnostics. Differs from xDSL's own frontend in that operations and arguments get a
location, values keep their exact names (`x_1` too), errors of verifiers are placed at the operation that they are
about, and everything that is wrong goes to the engine of the context.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, ModuleOp, StringAttr, UnknownLoc
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue, TypeAttribute
from xdsl.parser import Parser
from xdsl.utils.exceptions import MultipleSpansParseError, ParseError, VerifyException
from xdsl.utils.frontend import Frontend
from xdsl.utils.lexer import Span as XdslSpan

from ucutlass.diagnostics.core import Diagnostic, Note, Severity
from ucutlass.diagnostics.locations import engine_of
from ucutlass.diagnostics.source import SourceFile, Span
from ucutlass.dialects.ucutlass.kernel import set_exact_name
from ucutlass.frontend.text import SourceError, read_text

MLIR_SYNTAX = "UC0121"
NESTING = "UC0104"

_READ_AS_MLIR = "the text was read as MLIR; a μCUTLASS program begins with 'target' or 'kernel', and -f ucu names it so"

_XdslSpan = XdslSpan[str] | XdslSpan[bytes]
_RESULTS = re.compile(r"(?:%[\w$.-]+(?::\d+)?\s*,?\s*)+=\s*")
"""What stands before the name of an operation."""


_STRINGS = re.compile(r'//[^\n]*|"(?:[^"\\\n\v\f]|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*"|"')
"""Comments, strings, and a quotation mark that begins neither."""


class LocatingParser(Parser):
    """xDSL's parser, which tells where operations stand."""

    def __init__(self, ctx: Context, source: SourceFile) -> None:
        super().__init__(ctx, source.text, source.name)
        self._source = source
        self._file = StringAttr(source.name)

    def _location(self, offset: int) -> FileLineColLoc:
        line, column = self._source.position(offset)
        return FileLineColLoc(self._file, IntAttr(line), IntAttr(column))

    def parse_operation(self) -> Operation:
        start = self.pos
        results = _RESULTS.match(self._source.text, start)
        name = results.end() if results is not None else start
        try:
            op = super().parse_operation()
        except VerifyException as error:
            # Raised while an operation is made: it says neither which one nor where.
            self.raise_error(str(error), name, self.pos)
        if isinstance(op.location, UnknownLoc):
            op.location = self._location(name)
        return op

    def parse_optional_type(self) -> TypeAttribute | None:
        start = self.pos
        try:
            return super().parse_optional_type()
        except VerifyException as error:
            self.raise_error(str(error), start, self.pos)

    def parse_optional_attribute(self) -> Attribute | None:
        start = self.pos
        try:
            return super().parse_optional_attribute()
        except VerifyException as error:
            self.raise_error(str(error), start, self.pos)

    def _register_ssa_definition(self, name: str, values: Sequence[SSAValue], span: XdslSpan[str]) -> None:
        super()._register_ssa_definition(name, values, span)
        for value in values:
            if len(values) == 1 and SSAValue.is_valid_name(name):
                set_exact_name(value, name)
            else:
                # `%parts:2` names no value by itself.
                value.name_hint = None
            if isinstance(value, BlockArgument) and isinstance(value.location, UnknownLoc):
                value.location = self._location(span.start)


def _diagnostic(source: SourceFile, error: ParseError) -> Diagnostic:
    """What xDSL says, as a diagnostic."""
    notes: list[Note] = []
    if isinstance(error, MultipleSpansParseError):
        notes = [Note(text or error.ref_text or "here", _span(source, span)) for span, text in error.refs]
    if not source.name.endswith(".mlir"):
        notes.append(Note(_READ_AS_MLIR))
    message = error.msg.strip().removesuffix(".").removesuffix("!")
    return Diagnostic(MLIR_SYNTAX, Severity.ERROR, message, _span(source, error.span), tuple(notes))


def _span(source: SourceFile, span: _XdslSpan) -> Span:
    return source.span(span.start, span.end)


def read_mlir(ctx: Context, source: SourceFile, no_implicit_module: bool = False) -> ModuleOp:
    """The module of a text; raises SourceError after reporting what is wrong."""
    engine = engine_of(ctx)
    engine.add_source(source)
    # xDSL's reader takes exponential time to see that a string does not end.
    for match in _STRINGS.finditer(source.text):
        if match.group() == '"':
            message = "this string has no end on its line, or an escape that MLIR does not have"
            engine.error(MLIR_SYNTAX, message, source.span(match.start(), match.end()))
            raise SourceError(engine.errors)
    try:
        return LocatingParser(ctx, source).parse_module(not no_implicit_module)
    except ParseError as error:
        diagnostic = _diagnostic(source, error)
    except RecursionError:
        message = "the text is nested more deeply than the parser of MLIR can follow"
        diagnostic = Diagnostic(NESTING, Severity.ERROR, message, source.span(0, 0))
    engine.emit(diagnostic)
    raise SourceError(engine.errors)


@dataclass(frozen=True)
class MlirFrontend(Frontend):
    """MLIR text."""

    name = "mlir"

    no_implicit_module: bool = False

    def parse(self, ctx: Context, input: IO[bytes], input_name: str = "input") -> ModuleOp:
        return read_mlir(ctx, read_text(ctx, input.read(), input_name), self.no_implicit_module)
