"""Prints a functor: the element-wise operations of its region as statements on one element."""

import math
import re
import struct

from xdsl.ir import Operation, SSAValue

from ucutlass.backend.cuda.names import NameTable
from ucutlass.dialects.cutlass.core import cpp_element
from ucutlass.dialects.cutlass.visitors import FunctorOp, FunctorYieldOp
from ucutlass.dialects.ucutlass import ConstantOp, UcuOp

_RESERVED = frozenset(("T", "Fragment", "result", "i", "element", "exp", "log", "tanh", "erf"))


def literal(value: int | float, compute: str) -> str:
    """The exact C++ literal of a number in the compute type `float` or `double`."""
    if math.isnan(value) or math.isinf(value):
        word = "NAN" if math.isnan(value) else "INFINITY" if value > 0 else "-INFINITY"
        return f"{compute}({word})"
    if compute == "double":
        text = repr(float(value))
    else:
        (rounded,) = struct.unpack("f", struct.pack("f", value))
        text = next(t for digits in range(1, 18) if float(t := f"{rounded:.{digits}g}") == rounded)
    text = text if any(c in text for c in ".en") else text + ".0"
    return text + ("f" if compute == "float" else "")


def print_functor(name: str, functor: FunctorOp) -> list[str]:
    """The lines of the class template."""
    compute = cpp_element(functor.compute)
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
            values[op.result] = literal(op.value.data, compute)
        else:
            target = names.unique(op.results[0].name_hint or "v0")
            statements.append(f"auto const {target} = {expression(op, values)};")
            values[op.results[0]] = target
    scalars = ", ".join(f"T {p}" for p in parameters)
    fragments = ", ".join(f"Fragment const& {p}" for p in parameters)
    elements = ", ".join(f"{p}[i]" for p in parameters)
    return [
        "template <class Fragment>",
        f"struct {name} {{",
        f"  using T = {compute};",
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


def expression(op: Operation, values: dict[SSAValue, str]) -> str:
    """The scalar C++ expression of an element-wise operation over the names of its operands."""
    assert isinstance(op, UcuOp)
    text = op.spec.cuda_expression(op.params())
    operands = {n: v for n, v in op.operand_values().items() if isinstance(v, SSAValue)}
    return re.sub(r"\b[A-Za-z_]\w*\b", lambda m: values[operands[m[0]]] if m[0] in operands else m[0], text)
