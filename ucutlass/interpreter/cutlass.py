"""The `cutlass` dialect: programs, launches and device kernels with their mainloops and visitor trees.

Imports the dialects, xDSL's interpreter and this package. A program is called with stored tensors and gives stored
tensors, as a kernel of the language does. How work is tiled, scheduled and split over thread blocks is no part of the
meaning: a sum that is split is the same sum. What a launch writes lies in memory, rounded to its element type.

A kernel of another family takes part with one implementation that gives a `Kernel` (`device` says what the values are).
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

from xdsl.interpreter import (
    Interpreter,
    PythonValues,
    ReturnedValues,
    TerminatorValue,
    impl,
    impl_terminator,
    register_impls,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import InterpretationError

from ucutlass.dialects.cutlass.collectives import EpilogueBuilderOp, GemmUniversalOp, MainloopBuilderOp, ShapeOp
from ucutlass.dialects.cutlass.program import EndOp, LaunchOp, ProgramOp, ProgramReturnOp
from ucutlass.dialects.cutlass.views import ViewOp
from ucutlass.dialects.cutlass.visitors import (
    AuxLoadDescriptorOp,
    AuxStoreDescriptorOp,
    EpilogueDescriptorOp,
    FunctorOp,
    Sm90AccFetchOp,
    Sm90AuxLoadOp,
    Sm90AuxStoreOp,
    Sm90ColBroadcastOp,
    Sm90ComputeOp,
    Sm90EvtOp,
    Sm90RowBroadcastOp,
    Sm90ScalarBroadcastOp,
    Sm90SrcFetchOp,
    Sm90TopologicalVisitorOp,
    tensor_type,
)
from ucutlass.dialects.ucutlass import OPERATIONS
from ucutlass.dialects.ucutlass.attributes import ConfigAttr
from ucutlass.dialects.ucutlass.types import TensorType, element_of
from ucutlass.element_types import F32, TF32
from ucutlass.interpreter.bindings import Signature
from ucutlass.interpreter.contraction import contract
from ucutlass.interpreter.device import Epilogue, EpilogueRun, Functor, Kernel, Mainloop, Memory, Node, View
from ucutlass.interpreter.machine import Value
from ucutlass.interpreter.memory import MemoryFunctions
from ucutlass.interpreter.ucutlass import run_elements

if TYPE_CHECKING:
    from torch import Tensor

ROW, COLUMN = -1, -2
"""The dimension along which a row vector and a column vector lie."""

GEMM = OPERATIONS["gemm"].SPEC


@register_impls
class CutlassFunctions(MemoryFunctions):
    """What xDSL's interpreter registers: `CutlassFunctions(machine)`."""

    # Programs --------------------------------------------------------------------------------------------------------

    def is_kernel(self, op: Operation) -> bool:
        return isinstance(op, ProgramOp)

    def call_kernel(self, interpreter: Interpreter, kernel: Operation, inputs: "Sequence[Tensor]") -> "list[Tensor]":
        assert isinstance(kernel, ProgramOp)
        arguments = [(a.name_hint or f"#{i}", tensor_type(a)) for i, a in enumerate(kernel.body.block.args)]
        results = tuple(tensor_type(value) for value in kernel.return_op.values)
        signature = Signature(kernel.sym_name.data, tuple(arguments), results, kernel.where.data)
        return self.run_body(interpreter, signature, kernel.body, inputs)

    @impl_terminator(ProgramReturnOp)
    def run_return(
        self, interpreter: Interpreter, op: ProgramReturnOp, args: PythonValues
    ) -> tuple[TerminatorValue, PythonValues]:
        return ReturnedValues(args), ()

    @impl(LaunchOp)
    def run_launch(self, interpreter: Interpreter, op: LaunchOp, args: PythonValues) -> PythonValues:
        kernel = op.kernel()
        given = [value.type for value in (*op.inputs, *op.outputs)]
        wanted = [value.type for value in kernel.body.block.args]
        if given != wanted:
            raise InterpretationError(f"@{kernel.sym_name.data} is launched on tensors of other types than it takes")
        values: list[Tensor | None] = [*args, *(None for _ in op.outputs)]
        tensors = [
            Memory(argument.name_hint or f"#{index}", tensor_type(argument), value)
            for index, (argument, value) in enumerate(zip(kernel.body.block.args, values, strict=True))
        ]
        views = tuple(View.of(memory) for memory in tensors)
        (run,) = interpreter.run_ssacfg_region(kernel.body, views, kernel.sym_name.data)
        cast(Kernel, run)()
        return tuple(view.read() for view in views[len(args) :])

    @impl_terminator(EndOp)
    def run_end(self, interpreter: Interpreter, op: EndOp, args: PythonValues) -> tuple[TerminatorValue, PythonValues]:
        return ReturnedValues(args), ()

    @impl(ViewOp)
    def run_view(self, interpreter: Interpreter, op: ViewOp, args: PythonValues) -> PythonValues:
        return (cast(View, args[0]).reordered(op.order.get_values()),)

    # What says how, and not what -------------------------------------------------------------------------------------

    @impl(ShapeOp)
    def run_shape(self, interpreter: Interpreter, op: ShapeOp, args: PythonValues) -> PythonValues:
        return (None,)

    @impl(EpilogueDescriptorOp)
    def run_descriptor(self, interpreter: Interpreter, op: EpilogueDescriptorOp, args: PythonValues) -> PythonValues:
        return (None,)

    @impl(AuxLoadDescriptorOp)
    def run_load_descriptor(
        self, interpreter: Interpreter, op: AuxLoadDescriptorOp, args: PythonValues
    ) -> PythonValues:
        return (None,)

    @impl(AuxStoreDescriptorOp)
    def run_store_descriptor(
        self, interpreter: Interpreter, op: AuxStoreDescriptorOp, args: PythonValues
    ) -> PythonValues:
        return (None,)

    # Collectives -----------------------------------------------------------------------------------------------------

    @impl(MainloopBuilderOp)
    def run_mainloop(self, interpreter: Interpreter, op: MainloopBuilderOp, args: PythonValues) -> PythonValues:
        a, b = cast("tuple[View, View]", args[:2])
        types = (_with_element(op.a, op.element_a), _with_element(op.b, op.element_b))
        accumulator = element_of(op.accumulator)
        # Tensor cores take 32-bit floats as tf32.
        compute = {"compute": (TF32.name,)} if F32 in (types[0].element, types[1].element) else {}
        config = ConfigAttr.of({**compute, "acc": (accumulator.name,)})

        def run(swapped: bool) -> "Tensor":
            factors, elements = (a.read(), b.read()), types
            if swapped:
                factors, elements = (factors[1].mT, factors[0].mT), (types[1], types[0])
            operands: dict[str, Value] = dict(zip("ab", factors, strict=True))
            named = dict(zip("ab", elements, strict=True))
            product = cast("Tensor", contract(self.machine, GEMM, config, operands, named, {}, accumulator))
            # One batch dimension, of which a kernel takes the extent from its first factor; the second may repeat.
            ranks, batch = (a.read().dim(), b.read().dim()), product.shape[:-2]
            if (
                ranks[0] != product.dim()
                or any(f.dim() > 2 and f.shape[:-2] != batch for f in factors)
                or len(batch) > 1
            ):
                raise InterpretationError(f"no mainloop forms products of {op.a.type} and {op.b.type}")
            return product

        return (run,)

    @impl(EpilogueBuilderOp)
    def run_epilogue(self, interpreter: Interpreter, op: EpilogueBuilderOp, args: PythonValues) -> PythonValues:
        values = dict(zip(op.operands, args, strict=True))
        result = cast(View, values[op.d])
        source = None if op.c is None else cast(View, values[op.c])
        visitor = None if op.visitor is None else cast(Node, values[op.visitor])

        def run(accumulator: "Tensor", swapped: bool) -> None:
            epilogue = EpilogueRun(accumulator, source, swapped)
            value = accumulator if visitor is None else visitor(epilogue, ())
            result.write(self.machine, epilogue.oriented(value))

        return (run,)

    @impl(GemmUniversalOp)
    def run_gemm(self, interpreter: Interpreter, op: GemmUniversalOp, args: PythonValues) -> PythonValues:
        mainloop, epilogue = cast("tuple[Mainloop, Epilogue]", args)
        swapped = op.swapped is not None

        def run() -> None:
            epilogue(mainloop(swapped), swapped)

        return (run,)

    # Visitors --------------------------------------------------------------------------------------------------------

    @impl(Sm90AccFetchOp)
    def run_accumulator(self, interpreter: Interpreter, op: Sm90AccFetchOp, args: PythonValues) -> PythonValues:
        return (_leaf(lambda run: run.accumulator),)

    @impl(Sm90SrcFetchOp)
    def run_source(self, interpreter: Interpreter, op: Sm90SrcFetchOp, args: PythonValues) -> PythonValues:
        def load(run: EpilogueRun) -> "Tensor":
            if run.source is None or run.source.memory.type.element_type != op.element:
                raise InterpretationError(f"the visitor tree reads a C operand of {op.element}, which is not there")
            return run.load(run.source)

        return (_leaf(load),)

    @impl(Sm90ScalarBroadcastOp)
    def run_scalar(self, interpreter: Interpreter, op: Sm90ScalarBroadcastOp, args: PythonValues) -> PythonValues:
        tensor = cast(View, args[0])
        return (_leaf(lambda run: tensor.read().flatten()[0].expand(run.accumulator.shape)),)

    @impl(Sm90RowBroadcastOp)
    def run_row(self, interpreter: Interpreter, op: Sm90RowBroadcastOp, args: PythonValues) -> PythonValues:
        tensor = cast(View, args[0])
        return (_leaf(lambda run: run.broadcast(tensor, ROW)),)

    @impl(Sm90ColBroadcastOp)
    def run_column(self, interpreter: Interpreter, op: Sm90ColBroadcastOp, args: PythonValues) -> PythonValues:
        tensor = cast(View, args[0])
        return (_leaf(lambda run: run.broadcast(tensor, COLUMN)),)

    @impl(Sm90AuxLoadOp)
    def run_aux_load(self, interpreter: Interpreter, op: Sm90AuxLoadOp, args: PythonValues) -> PythonValues:
        tensor = cast(View, args[0])
        return (_leaf(lambda run: run.load(tensor)),)

    @impl(Sm90AuxStoreOp)
    def run_aux_store(self, interpreter: Interpreter, op: Sm90AuxStoreOp, args: PythonValues) -> PythonValues:
        tensor = cast(View, args[0])

        def visit(run: EpilogueRun, inputs: "Sequence[Tensor]") -> "Tensor":
            (value,) = inputs
            tensor.write(self.machine, run.oriented(value))
            return value

        return (visit,)

    @impl(Sm90ComputeOp)
    def run_compute(self, interpreter: Interpreter, op: Sm90ComputeOp, args: PythonValues) -> PythonValues:
        functor = cast(Functor, args[0])
        compute, output = element_of(op.element_compute), element_of(op.element_output)

        def visit(run: EpilogueRun, inputs: "Sequence[Tensor]") -> "Tensor":
            value = functor([self.machine.computed(i, compute) for i in inputs])
            # Converting to the compute type is no rounding point; to any other it is part of the store.
            return self.machine.computed(value, output) if output is compute else self.machine.in_memory(value, output)

        return (visit,)

    @impl(Sm90EvtOp)
    def run_tree(self, interpreter: Interpreter, op: Sm90EvtOp, args: PythonValues) -> PythonValues:
        node, *children = cast("tuple[Node, ...]", args)

        def visit(run: EpilogueRun, inputs: "Sequence[Tensor]") -> "Tensor":
            return node(run, [child(run, ()) for child in children])

        return (visit,)

    @impl(Sm90TopologicalVisitorOp)
    def run_topological(
        self, interpreter: Interpreter, op: Sm90TopologicalVisitorOp, args: PythonValues
    ) -> PythonValues:
        nodes, edges = cast("tuple[Node, ...]", args), op.inputs

        def visit(run: EpilogueRun, inputs: "Sequence[Tensor]") -> "Tensor":
            values: list[Tensor] = []
            for node, indices in zip(nodes, edges, strict=True):
                values.append(node(run, [values[index] for index in indices]))
            return values[-1]

        return (visit,)

    @impl(FunctorOp)
    def run_functor(self, interpreter: Interpreter, op: FunctorOp, args: PythonValues) -> PythonValues:
        def call(inputs: "Sequence[Tensor]") -> "Tensor":
            (value,) = run_elements(self.machine, op.body.block, inputs)
            return cast("Tensor", value)

        return (call,)


def _leaf(load: "Callable[[EpilogueRun], Tensor]") -> Node:
    """A visitor without inputs."""

    def visit(run: EpilogueRun, inputs: "Sequence[Tensor]") -> "Tensor":
        assert not inputs
        return load(run)

    return visit


def _with_element(value: SSAValue, element: Attribute) -> TensorType:
    """The type of a mainloop's operand. Raises InterpretationError where the builder takes it for another one."""
    type_, wanted = tensor_type(value), element_of(element)
    if type_.element is not wanted:
        raise InterpretationError(f"the mainloop reads {type_.spelling} as {wanted}")
    return type_
