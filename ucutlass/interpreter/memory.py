"""The memory-bound kernels of the `cutlass` dialect: iteration spaces, what is read and written in them, functors.

Imports the dialects, xDSL's interpreter and this package. An operand of a kernel (`cutlass.load`, `cutlass.store`, …)
is a function of the iteration space: what is read is a tensor of its shape, and so is what is written.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, cast

from xdsl.dialects.builtin import ArrayAttr
from xdsl.interpreter import Interpreter, PythonValues, impl
from xdsl.utils.exceptions import InterpretationError

from ucutlass.dialects.cutlass.memory import (
    BoundedLoadOp,
    CoordinateOp,
    ElementwiseKernelOp,
    GatheredLoadOp,
    LoadOp,
    MapFunctorOp,
    SizeOp,
    StoreOp,
    TiledKernelOp,
)
from ucutlass.dialects.ucutlass.types import DimsAttr, element_of
from ucutlass.dims import Dim
from ucutlass.interpreter.device import Kernel, View
from ucutlass.interpreter.machine import Machine
from ucutlass.interpreter.run import KernelFunctions
from ucutlass.interpreter.ucutlass import run_elements

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Space:
    """An iteration space of these sizes."""

    machine: Machine
    sizes: tuple[int, ...]

    @staticmethod
    def of(machine: Machine, sizes: DimsAttr) -> "Space":
        """The space of these symbolic sizes."""
        return Space(machine, tuple(size.evaluate(machine.sizes) for size in sizes.data))

    def value(self, function: Sequence[Dim]) -> "Tensor":
        """An affine function, `[constant, coefficient of coordinate 0, …]`, at every element."""
        torch = self.machine.torch
        constant, *coefficients = (dim.evaluate(self.machine.sizes) for dim in function)
        total: Tensor = torch.full((1,) * len(self.sizes), constant, dtype=torch.int64)
        for axis, coefficient in enumerate(coefficients):
            places = [1] * len(self.sizes)
            places[axis] = self.sizes[axis]
            total = total + coefficient * torch.arange(self.sizes[axis], dtype=torch.int64).reshape(places)
        return total.expand(self.sizes)

    def places(self, functions: ArrayAttr[DimsAttr]) -> "list[Tensor]":
        """For each dimension of a tensor the index at every element."""
        return [self.value(function.data) for function in functions]

    def read(self, name: str, tensor: "Tensor", places: "Sequence[Tensor]", where: "Tensor | None" = None) -> "Tensor":
        """The elements at these indices, 0 where there is nothing to read.

        Raises InterpretationError on an index outside of the tensor.
        """
        if where is not None:
            if not bool(where.any()):
                return tensor.new_zeros(self.sizes)
            places = [place.masked_fill(~where, 0) for place in places]
        for axis, (place, size) in enumerate(zip(places, tensor.shape, strict=True)):
            if bool(((place < 0) | (place >= size)).any()):
                raise InterpretationError(f"the kernel reads {name} outside of dimension {axis}, which has size {size}")
        found = tensor[tuple(places)] if places else tensor.expand(self.sizes)
        return found if where is None else found.masked_fill(~where, 0)


Load: TypeAlias = "Callable[[Space], Tensor]"
"""What a kernel reads at every element."""

Store: TypeAlias = "Callable[[Space, Tensor], None]"
"""Writes a value at every element."""

MapFunctor: TypeAlias = "Callable[[Sequence[Tensor]], list[Tensor]]"
"""An element-wise function of tensors of one shape, with several values."""


class MemoryFunctions(KernelFunctions):
    """The implementations; `CutlassFunctions` registers them."""

    @impl(MapFunctorOp)
    def run_map_functor(self, interpreter: Interpreter, op: MapFunctorOp, args: PythonValues) -> PythonValues:
        def call(inputs: "Sequence[Tensor]") -> "list[Tensor]":
            return cast("list[Tensor]", run_elements(self.machine, op.body.block, inputs))

        return (call,)

    @impl(LoadOp)
    def run_load(self, interpreter: Interpreter, op: LoadOp, args: PythonValues) -> PythonValues:
        tensor, element = cast(View, args[0]), element_of(op.compute)

        def load(space: Space) -> "Tensor":
            value = tensor.read() if op.flat is None else tensor.read().flatten()
            read = space.read(tensor.memory.name, value, space.places(op.access))
            return self.machine.computed(read, element)

        return (load,)

    @impl(BoundedLoadOp)
    def run_bounded_load(self, interpreter: Interpreter, op: BoundedLoadOp, args: PythonValues) -> PythonValues:
        tensor, element = cast(View, args[0]), element_of(op.compute)

        def load(space: Space) -> "Tensor":
            machine, torch = self.machine, self.machine.torch
            inside: Tensor = torch.ones(space.sizes, dtype=torch.bool)
            for function, extent in zip(op.bounds, op.extents.data, strict=True):
                bounded = space.value(function.data)
                inside = inside & (bounded >= 0) & (bounded < extent.evaluate(machine.sizes))
            value = tensor.read() if op.flat is None else tensor.read().flatten()
            read = space.read(tensor.memory.name, value, space.places(op.access), inside)
            return machine.computed(read, element)

        return (load,)

    @impl(GatheredLoadOp)
    def run_gathered_load(self, interpreter: Interpreter, op: GatheredLoadOp, args: PythonValues) -> PythonValues:
        tensor, index = cast("tuple[View, View]", args)
        element, axis = element_of(op.compute), op.axis.value.data

        def load(space: Space) -> "Tensor":
            value, places = tensor.read(), space.places(op.access)
            chosen = space.read(index.memory.name, index.read(), space.places(op.index_access)).long()
            places[axis] = places[axis] + chosen
            inside = (chosen >= 0) & (chosen < value.shape[axis])
            return self.machine.computed(space.read(tensor.memory.name, value, places, inside), element)

        return (load,)

    @impl(CoordinateOp)
    def run_coordinate(self, interpreter: Interpreter, op: CoordinateOp, args: PythonValues) -> PythonValues:
        def load(space: Space) -> "Tensor":
            return space.value(op.place.data)

        return (load,)

    @impl(SizeOp)
    def run_size(self, interpreter: Interpreter, op: SizeOp, args: PythonValues) -> PythonValues:
        element = element_of(op.compute)

        def load(space: Space) -> "Tensor":
            size = op.size.data[0].evaluate(self.machine.sizes)
            return self.machine.computed(self.machine.torch.full(space.sizes, size), element)

        return (load,)

    @impl(StoreOp)
    def run_store(self, interpreter: Interpreter, op: StoreOp, args: PythonValues) -> PythonValues:
        tensor = cast(View, args[0])

        def store(space: Space, value: "Tensor") -> None:
            torch, name = self.machine.torch, tensor.memory.name
            shape = tensor.shape(self.machine)
            stored = value.new_zeros(shape)
            places = tuple(space.places(op.access))
            # Reading the number of every element first says whether all of them are written, and none twice.
            numbers = torch.arange(stored.numel()).reshape(shape)
            written = space.read(name, numbers, places).flatten()
            if not torch.equal(written.sort().values, numbers.flatten()):
                raise InterpretationError(f"the kernel does not write every element of {name} once")
            stored.view(-1)[written] = value.reshape(-1)
            tensor.write(self.machine, stored)

        return (store,)

    @impl(ElementwiseKernelOp)
    def run_elementwise(self, interpreter: Interpreter, op: ElementwiseKernelOp, args: PythonValues) -> PythonValues:
        return (self._map_kernel(op, args),)

    @impl(TiledKernelOp)
    def run_tiled(self, interpreter: Interpreter, op: TiledKernelOp, args: PythonValues) -> PythonValues:
        return (self._map_kernel(op, args),)

    def _map_kernel(self, op: ElementwiseKernelOp | TiledKernelOp, args: PythonValues) -> Kernel:
        """Loads, computes and stores each element once; going through tiles is no part of the meaning."""
        values = dict(zip(op.operands, args, strict=True))
        functor = cast(MapFunctor, values[op.functor])
        loads = [cast(Load, values[load]) for load in op.loads]
        stores = [cast(Store, values[store]) for store in op.stores]

        def run() -> None:
            space = Space.of(self.machine, op.sizes)
            for store, value in zip(stores, functor([load(space) for load in loads]), strict=True):
                store(space, value)

        return run
