"""The operations of the `ucutlass` dialect: one implementation for all rows of its tables.

Imports the dialect, xDSL's interpreter and this package. Values are tensors in the compute type of their element type,
or Python numbers; a kernel is called with stored tensors and gives stored tensors. Rounding points are

- `cast` and `materialize`: any row of the staging family, or with an element type among its parameters;
- operands of contractions and of attention;
- results of kernels, in the declared type;
- what a fused group reads and yields: these tensors lie in memory.
"""

from collections.abc import Callable, Mapping, Sequence
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
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.traits import IsTerminator
from xdsl.utils.exceptions import InterpretationError

from ucutlass.dialects.ucutlass import OPERATIONS
from ucutlass.dialects.ucutlass.attributes import ConfigAttr
from ucutlass.dialects.ucutlass.base import UcuOp, facts_at
from ucutlass.dialects.ucutlass.kernel import ConstantOp, FusedOp, KernelOp, ReturnOp, YieldOp
from ucutlass.dialects.ucutlass.spec import OpSpec, ParamValue
from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.dims import Dim
from ucutlass.interpreter.bindings import Signature
from ucutlass.interpreter.contraction import OperandType, contract, round_operand
from ucutlass.interpreter.elementwise import elementwise
from ucutlass.interpreter.machine import Machine, PythonParam, Value
from ucutlass.interpreter.run import KernelFunctions

if TYPE_CHECKING:
    from torch import Tensor


def is_rounding_point(spec: OpSpec) -> bool:
    """Whether the operation's meaning is the rounding of its operand to the result's element type."""
    return spec.family == "staging" or any(param.kind == "element" for param in spec.params)


def python_param(value: ParamValue, sizes: Mapping[str, int]) -> PythonParam:
    """A parameter as the rows' PyTorch meanings take it: dimension names are replaced by their sizes."""
    if isinstance(value, Dim):
        return value.evaluate(sizes)
    if isinstance(value, tuple):
        return [member.evaluate(sizes) if isinstance(member, Dim) else member for member in value]
    return value


def _tensor_type(value: SSAValue) -> TensorType | None:
    return value.type if isinstance(value.type, TensorType) else None


class _Functions(KernelFunctions):
    """The operations that hold a program together, and `run_row` for all others."""

    def is_kernel(self, op: Operation) -> bool:
        return isinstance(op, KernelOp)

    def call_kernel(self, interpreter: Interpreter, kernel: Operation, inputs: "Sequence[Tensor]") -> "list[Tensor]":
        assert isinstance(kernel, KernelOp)
        return self.run_body(interpreter, Signature.of(kernel), kernel.body, inputs)

    @impl_terminator(ReturnOp)
    def run_return(
        self, interpreter: Interpreter, op: ReturnOp, args: PythonValues
    ) -> tuple[TerminatorValue, PythonValues]:
        return ReturnedValues(args), ()

    @impl_terminator(YieldOp)
    def run_yield(
        self, interpreter: Interpreter, op: YieldOp, args: PythonValues
    ) -> tuple[TerminatorValue, PythonValues]:
        return ReturnedValues(args), ()

    @impl(ConstantOp)
    def run_constant(self, interpreter: Interpreter, op: ConstantOp, args: PythonValues) -> PythonValues:
        return (op.value.data,)

    @impl(FusedOp)
    def run_fused(self, interpreter: Interpreter, op: FusedOp, args: PythonValues) -> PythonValues:
        read = tuple(
            self.machine.in_memory(cast("Tensor", value), type_.element) if (type_ := _tensor_type(operand)) else value
            for value, operand in zip(args, op.inputs, strict=True)
        )
        yielded = cast("tuple[Tensor, ...]", interpreter.run_ssacfg_region(op.body, read, "fused"))
        types = [_resolved(output.type) for output in op.outputs]
        return tuple(self.machine.in_memory(value, type_.element) for value, type_ in zip(yielded, types, strict=True))

    def run_row(self, interpreter: Interpreter, op: UcuOp, args: PythonValues) -> PythonValues:
        """Runs an operation of the tables."""
        if op.is_number:
            assert op.spec.number is not None
            return (op.spec.number(*args),)
        by_value = dict(zip(op.operands, args, strict=True))
        operands: dict[str, Value] = {}
        types: dict[str, OperandType] = {}
        for name, value in op.operand_values().items():
            if value is None:
                operands[name], types[name] = None, None
            elif isinstance(value, SSAValue):
                operands[name], types[name] = by_value[value], _tensor_type(value)
            else:
                operands[name] = [by_value[v] for v in value]
                types[name] = tuple(_resolved(v.type) for v in value)
        try:
            results = self._meaning(op, operands, types)
        except (RuntimeError, IndexError, ValueError, TypeError) as error:
            # What PyTorch refuses at run time, say the maximum of no elements, is refused here too.
            shapes = ", ".join(f"{n} {_described(v)}" for n, v in operands.items() if v is not None)
            raise InterpretationError(f"{op.spec.name} cannot be computed of {shapes}: {error}") from error
        return self._checked(op, results)

    def _meaning(
        self, op: UcuOp, operands: Mapping[str, Value], types: Mapping[str, OperandType]
    ) -> "Tensor | list[Tensor]":
        machine, spec = self.machine, op.spec
        result = _resolved(op.results[0].type).element
        call = op.call(facts_at(op))
        assert call is not None, "the operands of an operation with a type have types"
        params = {name: python_param(value, machine.sizes) for name, value in call.params.items()}
        if spec.is_contraction:
            return contract(machine, spec, op.setters, operands, types, params, result)
        if is_rounding_point(spec):
            value = cast("Tensor", operands[spec.operands[0].name])
            return machine.in_memory(value, result) if spec.family == "staging" else machine.rounded(value, result)
        if spec.is_elementwise:
            return elementwise(machine, spec, operands, params)
        values = list(operands.values())
        if spec.family == "attention":
            # The mask is optional, and no factor of a product.
            configs = {o.name: ConfigAttr(()) if o.optional else op.setters for o in spec.operands}
            values = [round_operand(machine, configs[n], operands[n], types[n]) for n in operands]
        meaning: Tensor | list[Tensor] = spec.torch(machine.torch, *values, **params)
        return meaning

    def _checked(self, op: UcuOp, results: "Tensor | list[Tensor]") -> PythonValues:
        """The results in their compute types. Raises InterpretationError where the type rule foresaw other shapes."""
        values = list(results) if isinstance(results, list | tuple) else [results]
        computed: list[Tensor] = []
        for value, result in zip(values, op.results, strict=True):
            type_ = _resolved(result.type)
            expected = self.machine.shape_of(type_)
            if tuple(value.shape) != expected:
                raise InterpretationError(
                    f"{op.spec.name} has type {type_.spelling}, shape {list(expected)} here, but its value has shape "
                    f"{list(value.shape)}"
                )
            computed.append(self.machine.computed(value, type_.element))
        return tuple(computed)


def elementwise_value(machine: Machine, op: UcuOp, operands: Sequence[Value]) -> "Tensor | int | float":
    """The value of an element-wise operation on tensors of one shape and numbers, whatever shapes its types have."""
    spec = op.spec
    if op.is_number:
        assert spec.number is not None
        return spec.number(*operands)
    element = _resolved(op.results[0].type).element
    if is_rounding_point(spec):
        return machine.rounded(cast("Tensor", operands[0]), element)
    call = op.call(facts_at(op))
    assert call is not None, "the operands of an operation with a type have types"
    params = {name: python_param(value, machine.sizes) for name, value in call.params.items()}
    named = {operand.name: value for operand, value in zip(spec.operands, operands, strict=True)}
    return machine.computed(elementwise(machine, spec, named, params), element)


def run_elements(machine: Machine, block: Block, inputs: "Sequence[Tensor]") -> "list[Value]":
    """What a block of element-wise operations hands to its terminator, on tensors of one shape.

    Every value has that shape, whatever its type says; fast forms are the same functions up to the error that each
    states. Raises InterpretationError on any other operation.
    """
    values: dict[SSAValue, Value] = dict(zip(block.args, inputs, strict=True))
    for op in block.ops:
        match op:
            case ConstantOp():
                values[op.result] = op.value.data
            case UcuOp():
                values[op.results[0]] = elementwise_value(machine, op, [values[operand] for operand in op.operands])
            case _ if op.has_trait(IsTerminator):
                return [values[operand] for operand in op.operands]
            case _:
                raise InterpretationError(f"{op.name} is no element-wise operation")
    raise InterpretationError("a functor ends without a terminator")


def _resolved(type_: Attribute) -> TensorType:
    if not isinstance(type_, TensorType):
        raise InterpretationError(f"a value has type {type_}: run the pass 'infer' before interpreting")
    return type_


def _described(value: Value) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_described, value))}]"
    return str(value) if isinstance(value, int | float) else str(list(cast("Tensor", value).shape))


def _row_implementations() -> dict[str, Callable[..., object]]:
    """One registered implementation for each class of the tables."""
    return {f"run_{name}": impl(operation)(_Functions.run_row) for name, operation in OPERATIONS.items()}


UcutlassFunctions = cast(
    type[_Functions], register_impls(type("UcutlassFunctions", (_Functions,), _row_implementations()))
)
"""What xDSL's interpreter registers: `UcutlassFunctions(machine)`."""
