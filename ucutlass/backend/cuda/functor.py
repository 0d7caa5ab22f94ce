"""Prints a functor: the element-wise operations of its region as statements on one element."""

from collections.abc import Mapping
from typing import TypeGuard

from xdsl.ir import Attribute, Operation, SSAValue

from ucutlass.backend.cuda.names import NameTable
from ucutlass.dialects.cutlass.memory import MapFunctorOp, MapYieldOp
from ucutlass.dialects.cutlass.visitors import FunctorOp, FunctorYieldOp
from ucutlass.dialects.ucutlass import ConstantOp, UcuOp
from ucutlass.dialects.ucutlass.cuda_text import MATH_FUNCTIONS, literal, render
from ucutlass.dialects.ucutlass.operations.elementwise_types import computed_in
from ucutlass.dialects.ucutlass.types import TensorType, element_of
from ucutlass.element_types import F32, ElementType

_RESERVED = frozenset(
    ("T", "Fragment", "result", "i", "element", "ucu", *MATH_FUNCTIONS, *(f"{name}f" for name in MATH_FUNCTIONS))
)


def print_functor(name: str, functor: FunctorOp) -> list[str]:
    """The lines of the class template."""
    element = element_of(functor.compute)
    names = NameTable(_RESERVED)
    values: dict[SSAValue, str] = {}
    parameters: list[str] = []
    for i, argument in enumerate(functor.body.block.args):
        values[argument] = names.unique(argument.name_hint or ("acc" if i == 0 else f"in{i}"))
        parameters.append(values[argument])
    statements: list[str] = []
    for op in functor.body.block.ops:
        if isinstance(op, FunctorYieldOp):
            statements.append(f"return {values[op.value]};")
        elif isinstance(op, ConstantOp):
            values[op.result] = literal(op.value.data, element)
        else:
            target = names.unique(op.results[0].name_hint or "v0")
            statements.append(f"auto const {target} = {expression(op, values, functor.fast is not None)};")
            values[op.results[0]] = target
    scalars = ", ".join(f"T {p}" for p in parameters)
    fragments = ", ".join(f"Fragment const& {p}" for p in parameters)
    elements = ", ".join(f"{p}[i]" for p in parameters)
    return [
        "template <class Fragment>",
        f"struct {name} {{",
        f"  using T = {element.cutlass};",
        "",
        f"  CUTLASS_HOST_DEVICE static T element({scalars}) {{",
        *(f"    {s}" for s in statements),
        "  }",
        "",
        f"  CUTLASS_HOST_DEVICE Fragment operator()({fragments}) const {{",
        "    Fragment result;",
        "    CUTLASS_PRAGMA_UNROLL",
        "    for (int i = 0; i < Fragment::kElements; ++i) {",
        f"      result[i] = element({elements});",
        "    }",
        "    return result;",
        "  }",
        "};",
    ]


def expression(op: Operation, values: dict[SSAValue, str], fast: bool) -> str:
    """The scalar C++ expression of an element-wise operation over the names of its operands."""
    assert isinstance(op, UcuOp)
    call = op.call()
    results = [result.type for result in op.results]
    assert call is not None and is_tensors(results)
    names = {n: values[v] for n, v in op.operand_values().items() if isinstance(v, SSAValue)}
    return render(op.spec.cuda_expression(call.constants, fast), names, computed_in(call, results))


def print_map_functor(name: str, functor: MapFunctorOp) -> list[str]:
    """The lines of a functor in which every value has the compute type of its own element type."""
    names = NameTable(_RESERVED)
    values: dict[SSAValue, str] = {}
    parameters: list[str] = []
    for i, argument in enumerate(functor.body.block.args):
        values[argument] = names.unique(argument.name_hint or f"in{i}")
        parameters.append(f"{_compute_of(argument).cutlass} {values[argument]}")
    statements: list[str] = []
    types: list[str] = []
    for op in functor.body.block.ops:
        if isinstance(op, MapYieldOp):
            types = [_compute_of(value).cutlass for value in op.values]
            statements.append(f"return {{{', '.join(values[value] for value in op.values)}}};")
        elif not isinstance(op, ConstantOp):
            target = names.unique(op.results[0].name_hint or "v0")
            element = _compute_of(op.results[0]).cutlass
            statements.append(f"{element} const {target} = {_typed(op, values, functor.fast is not None)};")
            values[op.results[0]] = target
    return [
        f"struct {name} {{",
        f"  CUTLASS_HOST_DEVICE static cute::tuple<{', '.join(types)}> element({', '.join(parameters)}) {{",
        *(f"    {s}" for s in statements),
        "  }",
        "};",
    ]


def _typed(op: Operation, values: Mapping[SSAValue, str], fast: bool) -> str:
    """The expression of an operation, its operands converted to the type in which it is computed."""
    assert isinstance(op, UcuOp)
    call = op.call()
    results = [result.type for result in op.results]
    assert call is not None and is_tensors(results)
    computed = computed_in(call, results)
    names: dict[str, str] = {}
    for name, operand in op.operand_values().items():
        assert isinstance(operand, SSAValue)
        if isinstance(operand.owner, ConstantOp):
            names[name] = literal(operand.owner.value.data, computed)
        else:
            is_same = _compute_of(operand) is computed
            names[name] = values[operand] if is_same else f"{computed.cutlass}({values[operand]})"
    expression = op.spec.cuda_expression(call.constants, fast and computed is F32)
    return render(expression, names, computed)


def _compute_of(value: SSAValue) -> ElementType:
    assert isinstance(value.type, TensorType)
    return value.type.element.compute


def is_tensors(types: list[Attribute]) -> TypeGuard[list[TensorType]]:
    """Whether every type is a tensor's."""
    return all(isinstance(t, TensorType) for t in types)
