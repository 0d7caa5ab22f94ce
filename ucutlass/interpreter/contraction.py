"""Contractions of every type through PyTorch's floating-point kernels.

Imports the leaves, the dialect's rows and the machine. What a contraction means, whatever computes it:

1. each operand is rounded to its element type, then, if `with_compute(T)` names one, to T (`tf32x3` and `f16x3` are
   ways to form products of full `f32` operands, so they round nothing);
2. products are summed in the accumulator type: `f32`, `f64` for `f64`, `s32` modulo 2^32 for integers. The order of a
   floating-point sum is not part of the meaning. `with_acc(f16)` is the same sum rounded once to `f16`;
3. the sum is a value in the compute type of the result.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from ucutlass.dialects.ucutlass.attributes import ConfigAttr
from ucutlass.dialects.ucutlass.spec import OpSpec
from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.element_types import ELEMENT_TYPES, F16, F64, ElementType
from ucutlass.interpreter.machine import Machine, PythonParam, Value

if TYPE_CHECKING:
    from torch import Tensor

OperandType = TensorType | tuple[TensorType, ...] | None
"""The type of an operand: of each member for a list, None for a number and for an absent operand."""

FACTORS = 2
"""The first operands of a contraction are what it multiplies; the rest (offsets) say where."""


def product_type(config: ConfigAttr, element: ElementType) -> ElementType:
    """The type to which `with_compute` rounds an operand of this element type."""
    return ELEMENT_TYPES.get(config.word("compute") or element.name, element)


def round_operand(machine: Machine, config: ConfigAttr, value: Value, type_: OperandType) -> Value:
    """An operand of a contraction or of attention: rounded to its element type and to that of the products."""
    if type_ is None or value is None:
        return value
    if isinstance(type_, tuple):
        return [_round(machine, config, v, t) for v, t in zip(cast("list[Tensor]", value), type_, strict=True)]
    return _round(machine, config, cast("Tensor", value), type_)


def _round(machine: Machine, config: ConfigAttr, value: "Tensor", type_: TensorType) -> "Tensor":
    stored = machine.rounded(value, type_.element)
    wanted = product_type(config, type_.element)
    return stored if wanted is type_.element else machine.rounded(stored, wanted)


def contract(
    machine: Machine,
    spec: OpSpec,
    config: ConfigAttr,
    operands: Mapping[str, Value],
    types: Mapping[str, OperandType],
    params: Mapping[str, PythonParam],
    result: ElementType,
) -> "Tensor | list[Tensor]":
    """The value of a contraction whose result has this element type."""
    names = [operand.name for operand in spec.operands]
    factors = [round_operand(machine, config, operands[n], types[n]) for n in names[:FACTORS]]
    rest = [operands[n] for n in names[FACTORS:]]
    products = [product_type(config, e) for n in names[:FACTORS] for e in _elements(types[n])]

    def run(left: Value, right: Value) -> "Tensor | list[Tensor]":
        value: Tensor | list[Tensor] = spec.torch(machine.torch, left, right, *rest, **params)
        return value

    if all(e.is_integer for e in products):
        sums = _integer_sums(machine, run, factors, narrow=all(e.bits <= 8 for e in products))
    else:
        wide = machine.options.precision == "f64" or config.word("acc") == F64.name or F64 in products
        carrier = machine.torch.float64 if wide else machine.torch.float32
        sums = run(*(_each(lambda t: t.to(carrier).contiguous(), f) for f in factors))
    if config.word("acc") == F16.name:
        sums = _each(lambda t: machine.rounded(t, F16), sums)
    return _each(lambda t: machine.computed(t, result), sums)


def _integer_sums(
    machine: Machine,
    run: "Callable[[Value, Value], Tensor | list[Tensor]]",
    factors: Sequence[Value],
    narrow: bool,
) -> "Tensor | list[Tensor]":
    """Sums of integer products modulo 2^32.

    The rows' meanings do this for integers of any width, with three products of halves. For numbers of at most 8 bits
    one product in `float64` is exact: it holds sums of 2^37 of them.
    """
    torch = machine.torch
    if not narrow:
        return run(*(_each(lambda t: t.to(torch.int64), f) for f in factors))
    sums = run(*(_each(lambda t: t.to(torch.float64).contiguous(), f) for f in factors))
    return _each(lambda t: t.to(torch.int64).to(torch.int32), sums)


def _each(action: "Callable[[Tensor], Tensor]", value: Value) -> "Tensor | list[Tensor]":
    """The action on a tensor, or on each tensor of a list."""
    if isinstance(value, list):
        return [action(member) for member in value]
    return action(cast("Tensor", value))


def _elements(type_: OperandType) -> Sequence[ElementType]:
    if type_ is None:
        return ()
    return [t.element for t in (type_ if isinstance(type_, tuple) else (type_,))]
