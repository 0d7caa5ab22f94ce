"""A program in the compiler's hands: read, with its target, its diagnostics collected, lowered to C++.

Imports xDSL and the compiler. Whatever goes wrong with the program ends in the engine, never in an exception.
"""

import re
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from io import BytesIO, StringIO

from ucutlass_tools._input import Input
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Dialect, Operation
from xdsl.utils.arg_spec import parse_spec
from xdsl.utils.exceptions import (
    DiagnosticException,
    InvalidIRException,
    ParseError,
    UnregisteredConstructException,
    VerifyException,
)
from xdsl.utils.frontend import Frontend

from ucutlass.diagnostics.core import Diagnostic, DiagnosticEngine, DiagnosticError, Severity
from ucutlass.diagnostics.locations import VerifyFailure, report_failure, set_engine, span_of, verify_failure
from ucutlass.diagnostics.source import SourceFile
from ucutlass.dialects.ucutlass.kernel import TARGET_ATTRIBUTE, kernels_of, target_of
from ucutlass.errors import UsageError
from ucutlass.passes.pipelines import run_passes
from ucutlass.registry import DIALECTS, FRONTENDS, PASSES, PIPELINES, TARGETS, all_dialects, find

_MLIR_TEXT = "UC0121"
_INVALID_IR = "UC0021"
_TARGET_TWICE = "UC0025"

_DIALECT_NAME = re.compile(r"(?<![\w.])[a-z_]\w*(?=\.\w)")


@contextmanager
def into(engine: DiagnosticEngine, source: SourceFile) -> Generator[None]:
    """Turns what is raised inside because of the program into diagnostics, and goes on after the block."""
    try:
        yield
    except (DiagnosticError, DiagnosticException) as error:
        report_failure(engine, error)
    except ParseError as error:
        engine.emit(_parse_diagnostic(error, source))
    except UnregisteredConstructException as error:
        engine.error(_MLIR_TEXT, str(error))
    except InvalidIRException as error:
        engine.error(_INVALID_IR, str(error).rstrip())


def _parse_diagnostic(error: ParseError, source: SourceFile) -> Diagnostic:
    start, end = error.span.start, error.span.end
    content = error.span.input.content
    if isinstance(content, bytes):
        start, end = (len(content[:offset].decode("utf-8", "replace")) for offset in (start, end))
    return Diagnostic(_MLIR_TEXT, Severity.ERROR, error.msg, source.span(start, end))


def verify(module: ModuleOp) -> None:
    """Verifies a module. Raises VerifyException, with the place of the operation where xDSL tells none."""
    try:
        module.verify()
    except VerifyFailure:
        raise
    except VerifyException as error:
        raise verify_failure(_culprit(module), _INVALID_IR, str(error).rstrip()) from error


def _culprit(module: ModuleOp) -> Operation:
    for op in module.walk():
        try:
            op.verify(verify_nested_ops=False)
        except VerifyException:
            return op
    return module


def register_foreign_dialects(ctx: Context, text: str) -> None:
    """Register the dialects of other packages if the text may use one; to look for them costs 15 ms."""
    used = {match[0] for match in _DIALECT_NAME.finditer(text)}
    if used <= set(ctx.registered_dialect_names):
        return
    for name, entry in all_dialects().items():
        if name in used and name not in DIALECTS and name not in ctx.registered_dialect_names:
            ctx.register_dialect(name, entry.load)


def register_dialects(ctx: Context) -> None:
    """Register our dialects and xDSL's; each is loaded when a text uses it."""
    from xdsl.dialects import get_all_dialects

    ours: dict[str, Callable[[], Dialect]] = {name: entry.load for name, entry in DIALECTS.items()}
    for name, factory in {**get_all_dialects(), **ours}.items():
        ctx.register_dialect(name, factory)


def frontend_of(language: str) -> Frontend:
    """What reads a language, options in braces. Raises UsageError."""
    spec = parse_spec(language)
    try:
        return find(FRONTENDS, "language", spec.name).load().from_spec(spec)
    except ValueError as error:
        raise UsageError(f"argument -f: language {spec.name}: {error}", "UC0003") from error


def set_target(engine: DiagnosticEngine, module: ModuleOp, arch: str | None) -> None:
    """Let the caller's architecture be the target of a program that names none."""
    if arch is None:
        return
    if TARGET_ATTRIBUTE not in module.attributes:
        module.attributes[TARGET_ATTRIBUTE] = StringAttr(arch)
    elif (named := target_of(module)) != arch:
        kernels = kernels_of(module)
        span = span_of(kernels[0], engine, "target") if kernels else None
        engine.warning(_TARGET_TWICE, f"the program is for {named}, the command for {arch}: it stays {named}", span)


class Program:
    """One program from its text to its C++; diagnostics collect in `engine`."""

    def __init__(self, given: Input, max_errors: int) -> None:
        self.given = given
        self.engine = DiagnosticEngine(max_errors)
        self.engine.add_source(given.source)
        self.ctx = Context()
        register_dialects(self.ctx)
        if given.language.startswith("mlir"):
            register_foreign_dialects(self.ctx, given.source.text)
        set_engine(self.ctx, self.engine)
        self.module: ModuleOp | None = None
        """What was read; None where it could not be."""
        self.kernel_names: tuple[str, ...] = ()

    def read(self, arch: str | None = None) -> "Program":
        """Parse the text."""
        self.module = self._parsed()
        if self.module is not None:
            set_target(self.engine, self.module, arch)
            self.kernel_names = tuple(kernel.sym_name.data for kernel in kernels_of(self.module))
        return self

    def _parsed(self) -> ModuleOp | None:
        source = self.given.source
        frontend = frontend_of(self.given.language)
        with into(self.engine, source):
            return frontend.parse(self.ctx, BytesIO(source.text.encode("utf-8")), source.name)
        return None

    @property
    def arch(self) -> str:
        assert self.module is not None
        return target_of(self.module)

    @property
    def fine(self) -> bool:
        return self.module is not None and not self.engine.has_errors

    def run(self, names: Sequence[str]) -> "Program":
        """Run passes, unless something is wrong already."""
        if self.module is None or self.engine.has_errors:
            return self
        passes = [PASSES[name].load()() for name in names]
        with into(self.engine, self.given.source):
            run_passes(self.ctx, self.module, passes)
        return self

    def lower(self) -> "Program":
        """The whole way to the `cutlass` dialect, with the sources that emitted C++ shows."""
        from ucutlass.frontend.sources import record_sources  # the printer of the language

        if self.module is not None and not self.engine.has_errors:
            record_sources(self.module)
        return self.run(PIPELINES["default"].passes)

    def emit(self, form: str) -> str | None:
        """The program in an output form, `cuda{symbol-suffix=hash}`; None where something is wrong."""
        if self.module is None or self.engine.has_errors:
            return None
        spec = parse_spec(form)
        target = find(TARGETS, "output form", spec.name).load().from_spec(spec)
        text = StringIO()
        with into(self.engine, self.given.source):
            target.emit(self.ctx, self.module, text)
        return None if self.engine.has_errors else text.getvalue()

    def cuda(self, symbol_suffix: str = "none") -> str | None:
        """The C++ of a lowered program; None where something is wrong."""
        return self.emit(f"cuda{{symbol-suffix={symbol_suffix}}}")
