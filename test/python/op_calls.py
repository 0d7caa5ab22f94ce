"""Calls of single operations without IR; what the tests of the operation tables share."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from ucutlass.dialects.ucutlass.operations import SPECS
from ucutlass.dialects.ucutlass.spec import Call, Param, ParamValue, TypingError
from ucutlass.dialects.ucutlass.types import NumberType, TensorType, named_layout
from ucutlass.dims import Dim, Facts, parse_condition
from ucutlass.element_types import ELEMENT_TYPES

torch: Any = pytest.importorskip("torch")

DTYPES: dict[str, Any] = {n: getattr(torch, e.torch) for n, e in ELEMENT_TYPES.items() if e.torch and n != "tf32"}
"""PyTorch's type of each element type that it has."""
ELEMENT_OF = {dtype: name for name, dtype in DTYPES.items()}

Operand = str | list[str] | int | float | None
"""A type as text, `f16[M, 4]@channels_last`, a list of them, a number, or an absent operand."""


def type_of(text: str) -> TensorType:
    """The type that a text spells."""
    match = re.fullmatch(r"(\w+)\[(.*)\](?:@(.+))?", text)
    assert match is not None, text
    dims = [Dim.of(d.strip()) for d in match[2].split(",") if d.strip()]
    order = None
    if match[3]:
        order = named_layout(match[3], len(dims)) or tuple(int(d) for d in re.findall(r"\d+", match[3]))
    return TensorType.of(dims, ELEMENT_TYPES[match[1]], order)


def _param(param: Param, value: Any) -> ParamValue:
    if value is None:
        return None
    match param.kind:
        case "dim":
            return Dim.of(value)
        case "dims":
            return tuple(Dim.of(v) for v in ([value] if isinstance(value, int | str) else value))
        case "element":
            return ELEMENT_TYPES[value]
        case _:
            return value


def call(name: str, *operands: Operand, facts: Sequence[str] = (), axis: int | None = None, **params: Any) -> Call:
    """What a type rule sees of a call with these operands, in the row's order, and parameters as plain values."""
    spec = SPECS[name]
    types: dict[str, Any] = {o.name: None for o in spec.operands}
    numbers: dict[str, int | float] = {}
    for operand, value in zip(spec.operands, operands, strict=False):
        if isinstance(value, int | float):
            types[operand.name], numbers[operand.name] = NumberType(), value
        elif isinstance(value, list):
            types[operand.name] = tuple(type_of(v) for v in value)
        else:
            types[operand.name] = None if value is None else type_of(value)
    values: dict[str, Any] = {p.name: p.default for p in spec.params}
    values |= {n: _param(spec.param(n), v) for n, v in params.items()}
    if spec.channels_of is not None:
        values["axis"] = types[spec.channels_of].rank - 1 if axis is None else axis
    made = Call(spec, types, values, Facts(tuple(parse_condition(f) for f in facts)), numbers)
    return made if spec.resolve is None else replace(made, params={**values, **spec.resolve(made)})


def result(name: str, *operands: Operand, **keywords: Any) -> str:
    """The spelling of the type that the rule gives."""
    (found,) = SPECS[name].infer(call(name, *operands, **keywords))
    return found.spelling


def sizes(found: TensorType, bindings: Mapping[str, int] | None = None) -> tuple[int, ...]:
    """The extents of a type with its names bound."""
    return tuple(d.evaluate(bindings or {}) for d in found.dims)


def refusal_of(found: Call) -> TypingError:
    """The rule's refusal of a call."""
    with pytest.raises(TypingError) as caught:
        found.spec.infer(found)
    return caught.value


def refusal(name: str, *operands: Operand, **keywords: Any) -> TypingError:
    """The rule's refusal."""
    return refusal_of(call(name, *operands, **keywords))


def refused(name: str, *operands: Operand, **keywords: Any) -> tuple[str, str | None]:
    """Code and part of the rule's refusal."""
    error = refusal(name, *operands, **keywords)
    return error.code, error.part


def flops(name: str, *operands: Operand, **keywords: Any) -> float | Dim:
    """The cost of a call."""
    return flops_of(call(name, *operands, **keywords))


def flops_of(made: Call) -> float | Dim:
    """The cost of a call."""
    results = made.spec.infer(made)
    cost = made.spec.flops
    if isinstance(cost, int | float):
        total = Dim.of(1)
        for dim in results[0].dims:
            total = total * dim
        return total.value * cost if total.is_static else total * int(cost)
    found = cost(made, results)
    return found.value if isinstance(found, Dim) and found.is_static else found


def meaning(name: str, *operands: Any, **params: Any) -> Any:
    """The value that the row's PyTorch meaning gives, defaults filled in as the interpreter does."""
    spec = SPECS[name]
    values: dict[str, Any] = {}
    for param in spec.params:
        default = param.default
        values[param.name] = default.value if isinstance(default, Dim) else default
    given = list(operands) + [None] * (len(spec.operands) - len(operands))
    return spec.torch(torch, *given, **(values | params))


def spelled(dtype: Any, shape: Sequence[int]) -> str:
    """The type of a PyTorch tensor as text."""
    return f"{ELEMENT_OF[dtype]}[{', '.join(map(str, shape))}]"
