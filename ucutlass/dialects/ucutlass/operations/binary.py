"""Element-wise operations over two or three operands, and comparisons.

A number may stand for an operand; two numbers give a number where the operation has a sign in the language. Scalar
expressions are over the operands by name, all of type `T`.
"""

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ucutlass.dialects.ucutlass.operations.elementwise_types import (
    ANY,
    NUMERIC,
    check_element,
    comparison_type,
    elementwise,
    promoted_element,
    shape_of_result,
)
from ucutlass.dialects.ucutlass.spec import Call, CudaRule, Operand, OpSpec, ParamValue, TypeRule
from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.element_types import BOOL

Number = int | float


def _as_float(value: Number) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _arithmetic(function: Callable[[Number, Number], Number]) -> Callable[[Number, Number], Number]:
    """Python's arithmetic with infinity where an integer is too large for a float."""

    def compute(a: Number, b: Number) -> Number:
        try:
            return function(a, b)
        except OverflowError:
            return function(_as_float(a), _as_float(b))

    return compute


def _quotient(a: Number, b: Number) -> float:
    if b == 0:
        sign = math.copysign(1.0, a) * math.copysign(1.0, b)
        return math.nan if a == 0 or math.isnan(a) else sign * math.inf
    return a / b


def _tensors(t: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """Both as tensors: PyTorch takes no number in some places."""
    dtype = t.result_type(a, b)
    return tuple(v if t.is_tensor(v) else t.as_tensor(v, dtype=dtype) for v in (a, b))


def _pow_type(call: Call) -> Sequence[TensorType]:
    (result,) = elementwise()(call)
    exponent = call.numbers.get("b")
    if not result.element.is_float and exponent is not None and exponent < 0:
        raise call.fail(
            "UC0309",
            f"pow: {result.element} to the power {exponent} is no integer: expected an exponent of at least 0",
            "operand:b",
            ("cast the base to a float type, or write the exponent as a float",),
        )
    if result.element is BOOL:
        raise call.fail("UC0316", "pow of two bool tensors has no meaning: cast one of them", "operand:a")
    return (result,)


def _where_type(call: Call) -> Sequence[TensorType]:
    condition = call.tensor("cond")
    if condition.element is not BOOL:
        raise call.fail(
            "UC0316",
            f"where takes bool as 'cond', but it is {condition.spelling}",
            "operand:cond",
            ("a comparison gives booleans: ne(cond, 0)",),
        )
    for name in ("a", "b"):
        if isinstance(call.operands[name], TensorType):
            check_element(call, name, call.tensor(name).element, ANY)
    dims, order = shape_of_result(call)
    return (TensorType.of(dims, promoted_element(call, ("a", "b")), order),)


_POWERS: Mapping[Number, str] = {
    -2: "T(1) / (a * a)",
    -1: "T(1) / a",
    -0.5: "rsqrt(a)",
    0: "T(1)",
    0.5: "sqrt(a)",
    1: "a",
    2: "a * a",
    3: "a * a * a",
}
"""Exponents for which PyTorch, too, uses something simpler than a general power."""


def _pow_expression(constants: Mapping[str, ParamValue]) -> str:
    exponent = constants.get("b")
    simple = _POWERS.get(exponent) if isinstance(exponent, int | float) else None
    return simple or "ucu::power(a, b)"


def _operands(*names: str) -> tuple[Operand, ...]:
    return tuple(Operand(name, number=True) for name in names)


def _comparison(name: str, sign: str, function: Callable[[Any, Any], Any]) -> OpSpec:
    def meaning(t: Any, a: Any, b: Any) -> Any:
        return function(a, b)

    doc = f"`a {sign} b`, a boolean."
    return OpSpec(
        name, "binary", _operands("a", "b"), (), comparison_type, doc, meaning, f"a {sign} b", "operands", flops=1
    )


def _binary(
    name: str,
    doc: str,
    cuda: str | CudaRule,
    torch: Callable[[Any, Any, Any], Any],
    rule: TypeRule,
    number: Callable[[Number, Number], Number] | None = None,
) -> OpSpec:
    return OpSpec(name, "binary", _operands("a", "b"), (), rule, doc, torch, cuda, flops=1, number=number)


def _fma_meaning(t: Any, a: Any, b: Any, c: Any) -> Any:
    return a * b + c


def _where_meaning(t: Any, cond: Any, a: Any, b: Any) -> Any:
    return t.where(cond, a, b)


ROWS: tuple[OpSpec, ...] = (
    _binary(
        "add",
        "`a + b`, also written so.",
        "a + b",
        lambda t, a, b: a + b,
        elementwise(),
        _arithmetic(operator.add),
    ),
    _binary(
        "sub",
        "`a - b`, also written so.",
        "a - b",
        lambda t, a, b: a - b,
        elementwise(NUMERIC),
        _arithmetic(operator.sub),
    ),
    _binary(
        "mul",
        "`a * b`, also written so.",
        "a * b",
        lambda t, a, b: a * b,
        elementwise(),
        _arithmetic(operator.mul),
    ),
    _binary(
        "div",
        "`a / b`, also written so; of integers it is a float.",
        "a / b",
        lambda t, a, b: a / b,
        elementwise(whole_to_float=True),
        _arithmetic(_quotient),
    ),
    _binary(
        "maximum",
        "The larger one of `a` and `b`; NaN where either is.",
        "ucu::maximum(a, b)",
        lambda t, a, b: t.maximum(*_tensors(t, a, b)),
        elementwise(),
    ),
    _binary(
        "minimum",
        "The smaller one of `a` and `b`; NaN where either is.",
        "ucu::minimum(a, b)",
        lambda t, a, b: t.minimum(*_tensors(t, a, b)),
        elementwise(),
    ),
    _binary("pow", "`a` to the power of `b`.", _pow_expression, lambda t, a, b: t.pow(a, b), _pow_type),
    OpSpec(
        "fma",
        "ternary",
        _operands("a", "b", "c"),
        (),
        elementwise(),
        "`a * b + c`.",
        _fma_meaning,
        "a * b + c",
        flops=2,
    ),
    OpSpec(
        "where",
        "ternary",
        (Operand("cond", "booleans"), *_operands("a", "b")),
        (),
        _where_type,
        "`a` where `cond` is true, else `b`.",
        _where_meaning,
        "cond ? a : b",
        flops=1,
    ),
    _comparison("gt", ">", operator.gt),
    _comparison("ge", ">=", operator.ge),
    _comparison("lt", "<", operator.lt),
    _comparison("le", "<=", operator.le),
    _comparison("eq", "==", operator.eq),
    _comparison("ne", "!=", operator.ne),
)
