"""What a running device kernel sees: tensors in memory, and the epilogue's walk over the accumulator.

Imports the dialect's types and the machine. The meaning of a value of type `!cutlass.type` is one of

- a `Node`: a visitor of the epilogue, a function of the run and of its inputs;
- a `Mainloop` or an `Epilogue`: the two collectives;
- a `Kernel`: what `cutlass.end` hands over, which reads and writes the tensors when it is called;
- None: tiles and descriptors, which say how and not what.

A value of type `!cutlass.template` is a `Functor`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from xdsl.utils.exceptions import InterpretationError

from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.interpreter.machine import Machine

if TYPE_CHECKING:
    from torch import Tensor


@dataclass
class Memory:
    """A tensor argument of a device kernel; without a value until it is written."""

    name: str
    type: TensorType
    value: "Tensor | None" = None


@dataclass(frozen=True)
class View:
    """Memory with its dimensions in another order: dimension i is dimension `order[i]` of the tensor."""

    memory: Memory
    order: tuple[int, ...]

    @staticmethod
    def of(memory: Memory) -> "View":
        """The tensor as it is."""
        return View(memory, tuple(range(memory.type.rank)))

    def reordered(self, order: Sequence[int]) -> "View":
        """A view of the view."""
        return View(self.memory, tuple(self.order[dim] for dim in order))

    def shape(self, machine: Machine) -> tuple[int, ...]:
        """The sizes of the view."""
        shape = machine.shape_of(self.memory.type)
        return tuple(shape[dim] for dim in self.order)

    def read(self) -> "Tensor":
        """The values, in their compute type. Raises InterpretationError on a tensor that nothing has written."""
        if self.memory.value is None:
            raise InterpretationError(f"the kernel reads {self.memory.name}, which nothing has written")
        return self.memory.value.permute(self.order)

    def write(self, machine: Machine, value: "Tensor") -> None:
        """Stores values at the element type. Raises InterpretationError on a second write and on another shape."""
        memory, inverse = self.memory, sorted(range(len(self.order)), key=lambda dim: self.order[dim])
        if memory.value is not None:
            raise InterpretationError(f"the kernel writes {memory.name} a second time, or writes an input")
        stored = value.permute(inverse)
        expected = machine.shape_of(memory.type)
        if tuple(stored.shape) != expected:
            raise InterpretationError(
                f"the kernel writes {memory.name}, {memory.type.spelling}, shape {list(expected)} here, with values of "
                f"shape {list(stored.shape)}"
            )
        memory.value = machine.in_memory(stored, memory.type.element)


@dataclass(frozen=True)
class EpilogueRun:
    """One run of an epilogue over the whole accumulator.

    Where the kernel computes the transpose of what the program says, all values of the visitor tree are held as the
    program says, and rows and columns of memory change places on the way in and out.
    """

    accumulator: "Tensor"
    source: View | None
    """The C operand."""
    swapped: bool

    @property
    def shape(self) -> tuple[int, ...]:
        """Batch, rows and columns as the kernel sees them."""
        return tuple(self.oriented(self.accumulator).shape)

    def oriented(self, value: "Tensor") -> "Tensor":
        """Between the kernel's orientation and the program's."""
        return value.mT if self.swapped else value

    def load(self, view: View) -> "Tensor":
        """A whole tensor. Raises InterpretationError where it has not the accumulator's shape."""
        value = view.read()
        if tuple(value.shape) != self.shape:
            raise InterpretationError(
                f"the epilogue reads {view.memory.name} of shape {list(value.shape)} over {list(self.shape)}"
            )
        return self.oriented(value)

    def broadcast(self, view: View, axis: int) -> "Tensor":
        """A vector along one dimension of the accumulator, repeated along the others.

        Raises InterpretationError where it has another length.
        """
        vector = view.read().flatten()
        length = self.shape[axis]
        if vector.numel() != length:
            raise InterpretationError(
                f"the epilogue reads {vector.numel()} elements of {view.memory.name} along a dimension of {length}"
            )
        places = [1] * len(self.shape)
        places[axis] = length
        return self.oriented(vector.reshape(places).expand(self.shape))


Node: TypeAlias = "Callable[[EpilogueRun, Sequence[Tensor]], Tensor]"
"""A visitor: its value for a run, given the values of its inputs."""

Functor: TypeAlias = "Callable[[Sequence[Tensor]], Tensor]"
"""An element-wise function of tensors of one shape."""

Mainloop: TypeAlias = "Callable[[bool], Tensor]"
"""The accumulator, in the program's orientation; whether the kernel computes the transpose is handed in."""

Epilogue: TypeAlias = "Callable[[Tensor, bool], None]"
"""Stores what the visitor tree makes of an accumulator; whether the kernel computes the transpose is handed in."""

Kernel: TypeAlias = Callable[[], None]
"""A whole kernel."""
