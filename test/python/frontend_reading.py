"""Reading texts as the tools do; what the tests of the frontend share."""

from io import StringIO

from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.printer import Printer

from ucutlass.dialects.ucutlass import Ucutlass
from ucutlass.dialects.ucutlass.kernel import KernelOp, kernels_of
from ucutlass.frontend import read_program


def context() -> Context:
    """A context with the dialect."""
    ctx = Context()
    ctx.load_dialect(Builtin)
    ctx.load_dialect(Ucutlass)
    return ctx


def read(text: str, language: str = "ucu", ctx: Context | None = None) -> ModuleOp:
    """The verified module of a text."""
    module = read_program(ctx or context(), text, f"program.{language}")
    module.verify()
    return module


def kernel_of(text: str) -> KernelOp:
    """The only kernel of a text."""
    (kernel,) = kernels_of(read(text))
    return kernel


def mlir(op: Operation, generic: bool = False, locations: bool = False) -> str:
    """The text of IR."""
    out = StringIO()
    Printer(out, print_generic_format=generic, print_debuginfo=locations).print_op(op)
    return out.getvalue()


def defining(value: SSAValue) -> Operation:
    """The operation that a value comes from."""
    assert isinstance(value.owner, Operation)
    return value.owner
