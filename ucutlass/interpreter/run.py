"""Interprets one kernel of a module.

Imports xDSL's interpreter and this package's machine and bindings. A dialect takes part with one line of `FUNCTIONS`: a
class of `KernelFunctions`, imported when a module has operations of the dialect.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.interpreter import Interpreter, InterpreterFunctions
from xdsl.ir import Operation, Region
from xdsl.traits import SymbolTable
from xdsl.utils.exceptions import InterpretationError

from ucutlass.interpreter.bindings import Signature, bind_shapes, logical_shapes
from ucutlass.interpreter.machine import Machine, Options, Precision

if TYPE_CHECKING:
    from torch import Tensor

FUNCTIONS: Mapping[str, str] = {
    "ucutlass": "ucutlass.interpreter.ucutlass:UcutlassFunctions",
    "cutlass": "ucutlass.interpreter.cutlass:CutlassFunctions",
}
"""The interpreter functions of each dialect, `module:Class` of a subclass of `KernelFunctions`."""


class KernelFunctions(InterpreterFunctions, ABC):
    """Interpreter functions of a dialect in which one operation stands for a whole kernel."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    @abstractmethod
    def is_kernel(self, op: Operation) -> bool:
        """Whether an operation, which is a symbol, stands for a kernel."""

    @abstractmethod
    def call_kernel(self, interpreter: Interpreter, kernel: Operation, inputs: "Sequence[Tensor]") -> "list[Tensor]":
        """The stored results of a kernel for stored inputs. Raises DiagnosticError where these do not fit."""

    def run_body(
        self, interpreter: Interpreter, signature: Signature, body: Region, inputs: "Sequence[Tensor]"
    ) -> "list[Tensor]":
        """The stored results of a kernel with this signature and body."""
        machine = self.machine
        machine.sizes = bind_shapes(signature, logical_shapes(signature, [tuple(t.shape) for t in inputs]))
        values = tuple(
            machine.load(tensor, type_, f"argument {label} of kernel {signature.name}")
            for tensor, (label, type_) in zip(inputs, signature.arguments, strict=True)
        )
        results = cast("tuple[Tensor, ...]", interpreter.run_ssacfg_region(body, values, signature.name))
        return [machine.store(v, t) for v, t in zip(results, signature.results, strict=True)]


def interpret(
    module: ModuleOp,
    kernel_name: str,
    inputs: "Sequence[Tensor]",
    *,
    precision: Precision = "compute",
    rounding: bool = True,
    cuts: bool = True,
    functions: Mapping[str, str] = FUNCTIONS,
) -> "list[Tensor]":
    """The results of a kernel for stored tensors, as stored tensors; `Options` says what the keywords mean.

    Raises DiagnosticError where the inputs do not fit the kernel and InterpretationError where it cannot be computed.
    """
    import torch  # half a second, and most of the compiler needs none of it

    machine = Machine(torch, Options(precision, rounding, cuts))
    interpreter = Interpreter(module)
    loaded = [_load(path)(machine) for path in _needed(module, functions)]
    for dialect in loaded:
        interpreter.register_implementations(dialect)
    kernel = SymbolTable.lookup_symbol(module, kernel_name)
    owner = next((dialect for dialect in loaded if kernel is not None and dialect.is_kernel(kernel)), None)
    if kernel is None or owner is None:
        raise InterpretationError(f"there is no kernel '{kernel_name}' in the module")
    with machine.arithmetic():
        return owner.call_kernel(interpreter, kernel, inputs)


def _needed(module: ModuleOp, functions: Mapping[str, str]) -> list[str]:
    dialects = dict.fromkeys(op.name.partition(".")[0] for op in module.walk())
    return [functions[dialect] for dialect in dialects if dialect in functions]


def _load(path: str) -> type[KernelFunctions]:
    name, _, attribute = path.partition(":")
    loaded: type[KernelFunctions] = getattr(import_module(name), attribute)
    return loaded
