"""Prints a functor: the element-wise operations of its region as statements on one element."""

from typing import TypeGuard

from xdsl.ir import Attribute, Operation, SSAValue

from ucutlass.backend.cuda.names import NameTable
from ucutlass.dialects.cutlass.visitors import FunctorOp, FunctorYieldOp
from ucutlass.dialects.ucutlass import ConstantOp, UcuOp
from ucutlass.dialects.ucutlass.cuda_text import MATH_FUNCTIONS, literal, render
from ucutlass.dialects.ucutlass.operations.elementwise_types import computed_in
from ucutlass.dialects.ucutlass.types import TensorType, element_of

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


def is_tensors(types: list[Attribute]) -> TypeGuard[list[TensorType]]:
    """Whether every type is a tensor's."""
    return all(isinstance(t, TensorType) for t in types)
