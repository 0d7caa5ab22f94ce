"""What the results of a kernel must be for given inputs, and how exactly.

Imports the dialect, the interpreter and this package. The reference is the program's meaning in double precision on the
stored inputs, nothing rounded in between; every rounding that a kernel makes is in the error.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.ir import Block, SSAValue

from ucutlass.dialects.ucutlass.base import UcuOp
from ucutlass.dialects.ucutlass.kernel import ConstantOp, FusedOp, KernelOp
from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.element_types import ElementType
from ucutlass.interpreter.bindings import Signature, bind_shapes, logical_shapes
from ucutlass.interpreter.machine import Machine, Options
from ucutlass.runtime.validation.estimate import Estimate, rounded
from ucutlass.runtime.validation.propagate import Operand, Propagation

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Expected:
    """What one result must be."""

    name: str
    type: TensorType
    """Its type, with the sizes of this call."""
    value: "Tensor"
    """In double precision, not rounded to the result's type except that what overflows it is infinite."""
    error: "Tensor"
    """How far from `value` a right kernel may be, its own rounding included; infinite where nothing can be said."""

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(dim.value for dim in self.type.dims)


def expected_results(kernel: KernelOp, inputs: "Sequence[Tensor]") -> list[Expected]:
    """The results of an inferred kernel for stored inputs, on whatever device they lie.

    Of a kernel after `fuse` the error holds the rounding of the cuts too. Raises DiagnosticError where the inputs do
    not fit the kernel.
    """
    import torch  # half a second, and most of the compiler needs none of it

    signature = Signature.of(kernel)
    machine = Machine(torch, Options(precision="f64", rounding=False))
    machine.sizes = bind_shapes(signature, logical_shapes(signature, [tuple(t.shape) for t in inputs]))
    with machine.arithmetic():
        arguments = [
            Estimate(machine.load(tensor, type_, f"argument {label}"), None, type_.element)
            for tensor, (label, type_) in zip(inputs, signature.arguments, strict=True)
        ]
        walk = _Walk(Propagation(machine))
        walk.bind(kernel.body.block, arguments)
        walk.run(kernel.body.block)
        names = [value.name_hint or f"result {i}" for i, value in enumerate(kernel.return_op.values)]
        return [
            _result(machine, name, walk.tensor(value), type_)
            for name, value, type_ in zip(names, kernel.return_op.values, signature.results, strict=True)
        ]


def _result(machine: Machine, name: str, estimate: Estimate, type_: TensorType) -> Expected:
    element = type_.element
    final = rounded(machine.torch, estimate, element)
    value = final.value
    if element.is_fp8:
        value = value.clamp(-element.max_finite, element.max_finite)
    error = machine.torch.zeros_like(value, dtype=machine.torch.float64) if final.error is None else final.error
    fixed = TensorType.of(machine.shape_of(type_), element, type_.order)
    return Expected(name, fixed, value.to(machine.torch.float64), error)


class _Walk:
    """Evaluates the operations of a block in order."""

    def __init__(self, propagation: Propagation) -> None:
        self._propagation = propagation
        self._known: dict[SSAValue, Operand] = {}

    def bind(self, block: Block, values: "Sequence[Operand]") -> None:
        """Say what a block's arguments are."""
        self._known |= dict(zip(block.args, values, strict=True))

    def tensor(self, value: SSAValue) -> Estimate:
        """What is known of a tensor."""
        found = self._known[value]
        assert isinstance(found, Estimate)
        return found

    def run(self, block: Block) -> None:
        """Evaluate all operations."""
        for op in block.ops:
            if isinstance(op, ConstantOp):
                self._known[op.results[0]] = op.value.data
            elif isinstance(op, FusedOp):
                self._run_fused(op)
            elif isinstance(op, UcuOp):
                self._run_operation(op)

    def _run_fused(self, group: FusedOp) -> None:
        inside = group.body.block
        self.bind(inside, [self._known[value] for value in group.inputs])
        self.run(inside)
        for outer, inner in zip(group.outputs, group.yielded, strict=True):
            self._known[outer] = rounded(self._propagation.torch, self.tensor(inner), element_of(outer))

    def _run_operation(self, op: UcuOp) -> None:
        operands = [self._known[value] for value in op.operands]
        if op.is_number:
            assert op.spec.number is not None
            self._known[op.results[0]] = op.spec.number(*operands)
            return
        for result, estimate in zip(op.results, self._propagation.apply(op, operands), strict=True):
            self._known[result] = estimate


def element_of(value: SSAValue) -> ElementType:
    """The element type of a tensor value."""
    assert isinstance(value.type, TensorType)
    return value.type.element
