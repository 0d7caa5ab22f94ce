"""Unary element-wise operations: a new activation is one row here.

FLOPs per element are those of the operation as PyTorch executes it; data movement, and so a cast, costs none. Scalar
expressions are over `x` of type `T`; NaN passes through every comparison, and infinities give what PyTorch gives.
"""

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ucutlass.dialects.ucutlass.cuda_text import number_cast
from ucutlass.dialects.ucutlass.operations.elementwise_types import (
    ANY,
    FLOAT,
    NUMERIC,
    Kinds,
    check_operands,
    elementwise,
    promoted_element,
)
from ucutlass.dialects.ucutlass.spec import Call, Conversion, CudaRule, Operand, OpSpec, Param, ParamValue, TypeRule
from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.element_types import ElementType

Meaning = Callable[[Any, Any], Any] | Callable[[Any, Any, Any], Any] | Callable[[Any, Any, Any, Any], Any]
"""PyTorch's function of the torch module, `x` and up to two parameters."""


def unary(
    name: str,
    doc: str,
    flops: float,
    cuda: str | CudaRule,
    torch: Meaning,
    rule: TypeRule,
    params: tuple[Param, ...] = (),
    *,
    converts: Conversion = "result",
    number: Callable[[int | float], int | float] | None = None,
    fast: CudaRule | None = None,
) -> OpSpec:
    """A row of the table."""
    operands = (Operand("x", number=number is not None),)
    return OpSpec(
        name, "unary", operands, params, rule, doc, torch, cuda, converts, flops, number=number, cuda_fast=fast
    )


def _keeps(accepts: Kinds) -> TypeRule:
    """The operand's element type."""
    return elementwise(accepts)


def _floats(accepts: Kinds = ANY) -> TypeRule:
    """The operand's element type, `f32` for integers and booleans."""
    return elementwise(accepts, whole_to_float=True)


def _bound(call: Call, name: str) -> int | float | None:
    value = call.params[name]
    assert value is None or isinstance(value, int | float)
    return value


def _checked_bounds(call: Call, element: ElementType) -> None:
    """Whole bounds of integers lie in the type in which they are compared."""
    compute = element.compute
    for name in ("lo", "hi"):
        bound = _bound(call, name)
        if bound is None or element.is_float:
            continue
        if isinstance(bound, float) and not bound.is_integer():
            raise call.fail(
                "UC0309",
                f"{call.spec.spelling}: {name} is {bound}, expected a whole number for {element}",
                f"param:{name}",
            )
        if not -(2 ** (compute.bits - 1)) <= bound < 2 ** (compute.bits - 1):
            raise call.fail(
                "UC0309",
                f"{call.spec.spelling}: {name} is {bound}, which {compute}, the compute type of {element}, cannot hold",
                f"param:{name}",
            )


def _clamp_type(call: Call) -> Sequence[TensorType]:
    """As PyTorch, a fractional bound makes an integer `f32`, and a bound makes a boolean an integer."""
    check_operands(call, ANY)
    lo, hi = _bound(call, "lo"), _bound(call, "hi")
    if lo is None and hi is None:
        raise call.fail("UC0211", "clamp has no bound: give lo, hi or both", "call")
    element = promoted_element(call, ["x"], (lo, hi))
    _checked_bounds(call, element)
    return (call.tensor("x").with_element(element),)


def _hardtanh_type(call: Call) -> Sequence[TensorType]:
    check_operands(call, NUMERIC)
    lo, hi = _bound(call, "lo"), _bound(call, "hi")
    if lo is not None and hi is not None and lo > hi:
        raise call.fail("UC0309", f"hardtanh: lo is {lo}, expected at most hi, which is {hi}", "param:lo")
    x = call.tensor("x")
    _checked_bounds(call, x.element)
    return (x,)


def _square_type(call: Call) -> Sequence[TensorType]:
    check_operands(call, ANY)
    return (call.tensor("x").with_element(promoted_element(call, ["x"], (2,))),)


def _cast_type(call: Call) -> Sequence[TensorType]:
    check_operands(call, ANY)
    element = call.params["dtype"]
    assert isinstance(element, ElementType)
    return (call.tensor("x").with_element(element),)


def _clamp_expression(constants: Mapping[str, ParamValue]) -> str:
    bounds = {name: constants[name] for name in ("lo", "hi") if constants[name] is not None}
    if any(isinstance(bound, float) and math.isnan(bound) for bound in bounds.values()):
        return "T(NAN)"
    texts = {name: number_cast(bound) for name, bound in bounds.items()}
    if len(texts) == 2:
        return f"ucu::clamp(x, {texts['lo']}, {texts['hi']})"
    ((name, text),) = texts.items()
    return f"x {'<' if name == 'lo' else '>'} {text} ? {text} : x"


def _gelu_expression(constants: Mapping[str, ParamValue]) -> str:
    if constants["approximate"] == "tanh":
        return "T(0.5) * x * (T(1) + tanh(T(0.7978845608028654) * (x + T(0.044715) * (x * x * x))))"
    return "T(0.5) * x * (T(1) + erf(x * T(0.7071067811865476)))"


def _fast_gelu(constants: Mapping[str, ParamValue]) -> str:
    return "ucu::fast_gelu_tanh(x)" if constants["approximate"] == "tanh" else "ucu::fast_gelu(x)"


def _cast_expression(constants: Mapping[str, ParamValue]) -> str:
    element = constants["dtype"]
    assert isinstance(element, ElementType)
    if element.name in ("f64", "f32"):
        return f"{element.cutlass}(x)"
    if element.name == "bool":
        return "x != T(0)"
    return f"ucu::{'round' if element.is_float else 'to'}_{element}(x)"


_LO = Param("lo", "number", -1, "least value")
_HI = Param("hi", "number", 1, "largest value")

ROWS: tuple[OpSpec, ...] = (
    unary("relu", "`max(x, 0)`.", 1, "x < T(0) ? T(0) : x", lambda t, x: t.relu(x), _keeps(NUMERIC)),
    unary(
        "relu6",
        "`min(max(x, 0), 6)`.",
        1,
        "ucu::clamp(x, T(0), T(6))",
        lambda t, x: t.nn.functional.relu6(x),
        _keeps(NUMERIC),
    ),
    unary(
        "leaky_relu",
        "`x` where positive, else `slope * x`.",
        2,
        "x > T(0) ? x : x * slope",
        lambda t, x, slope: t.nn.functional.leaky_relu(x, slope),
        _keeps(FLOAT),
        (Param("slope", "number", 0.01, "slope of negative values"),),
    ),
    unary(
        "elu",
        "`x` where positive, else `alpha * (exp(x) - 1)`.",
        3,
        "x > T(0) ? x : alpha * expm1(x)",
        lambda t, x, alpha: t.nn.functional.elu(x, alpha),
        _keeps(FLOAT),
        (Param("alpha", "number", 1.0, "scale of negative values"),),
    ),
    unary(
        "selu",
        "Scaled exponential linear unit, with the constants that keep mean 0 and variance 1.",
        4,
        "x > T(0) ? T(1.0507009873554805) * x : T(1.7580993408473766) * expm1(x)",
        lambda t, x: t.nn.functional.selu(x),
        _keeps(FLOAT),
    ),
    unary(
        "gelu",
        "Gaussian error linear unit, exact or in its tanh form.",
        5,
        _gelu_expression,
        lambda t, x, approximate: t.nn.functional.gelu(x, approximate=approximate),
        _keeps(FLOAT),
        (Param("approximate", "word", "none", "exact (`none`) or `tanh`", ("none", "tanh")),),
        fast=_fast_gelu,
    ),
    unary(
        "silu",
        "`x * sigmoid(x)`, also called swish.",
        5,
        "x / (T(1) + exp(-x))",
        lambda t, x: t.nn.functional.silu(x),
        _keeps(FLOAT),
        fast=lambda constants: "x * ucu::fast_sigmoid(x)",
    ),
    unary(
        "mish",
        "`x * tanh(softplus(x))`.",
        5,
        "ucu::mish(x)",
        lambda t, x: t.nn.functional.mish(x),
        _keeps(FLOAT),
    ),
    unary(
        "sigmoid",
        "`1 / (1 + exp(-x))`.",
        4,
        "T(1) / (T(1) + exp(-x))",
        lambda t, x: t.sigmoid(x),
        _floats(),
        fast=lambda constants: "ucu::fast_sigmoid(x)",
    ),
    unary(
        "hardsigmoid",
        "`min(max(x + 3, 0), 6) / 6`.",
        4,
        "ucu::clamp(x + T(3), T(0), T(6)) * T(0.16666666666666666)",
        lambda t, x: t.nn.functional.hardsigmoid(x),
        _keeps(FLOAT),
    ),
    unary(
        "hardswish",
        "`x * hardsigmoid(x)`.",
        5,
        "x * (ucu::clamp(x + T(3), T(0), T(6)) * T(0.16666666666666666))",
        lambda t, x: t.nn.functional.hardswish(x),
        _keeps(FLOAT),
    ),
    unary(
        "hardtanh",
        "`min(max(x, lo), hi)`.",
        1,
        _clamp_expression,
        lambda t, x, lo, hi: t.clamp(x, lo, hi),
        _hardtanh_type,
        (_LO, _HI),
    ),
    unary(
        "clamp",
        "`min(max(x, lo), hi)`; either bound may be absent.",
        1,
        _clamp_expression,
        lambda t, x, lo, hi: t.clamp(x, lo, hi),
        _clamp_type,
        (Param("lo", "number", None, _LO.doc), Param("hi", "number", None, _HI.doc)),
    ),
    unary(
        "softplus",
        "`log(1 + exp(x))`; above 20, where the two are equal, `x`.",
        3,
        "x > T(20) ? x : log1p(exp(x))",
        lambda t, x: t.nn.functional.softplus(x),
        _keeps(FLOAT),
    ),
    unary(
        "softsign",
        "`x / (1 + abs(x))`.",
        3,
        "x / (T(1) + abs(x))",
        lambda t, x: t.nn.functional.softsign(x),
        _floats(NUMERIC),
    ),
    unary("tanh", "Hyperbolic tangent.", 1, "tanh(x)", lambda t, x: t.tanh(x), _floats()),
    unary(
        "exp",
        "e to the power of `x`.",
        1,
        "exp(x)",
        lambda t, x: t.exp(x),
        _floats(),
        fast=lambda constants: "ucu::exp2_approximate(x * 1.44269504f)",
    ),
    unary("log", "Natural logarithm.", 1, "log(x)", lambda t, x: t.log(x), _floats()),
    unary("sqrt", "Square root.", 1, "sqrt(x)", lambda t, x: t.sqrt(x), _floats()),
    unary("rsqrt", "`1 / sqrt(x)`.", 1, "rsqrt(x)", lambda t, x: t.rsqrt(x), _floats()),
    unary("reciprocal", "`1 / x`.", 1, "T(1) / x", lambda t, x: t.reciprocal(x), _floats()),
    unary("abs", "Absolute value.", 1, "abs(x)", lambda t, x: t.abs(x), _keeps(NUMERIC)),
    unary(
        "neg",
        "`-x`, also written so.",
        1,
        "-x",
        lambda t, x: -x,
        _keeps(NUMERIC),
        number=operator.neg,
    ),
    unary("square", "`x * x`.", 1, "x * x", lambda t, x: t.square(x), _square_type),
    unary("erf", "Error function.", 1, "erf(x)", lambda t, x: t.erf(x), _floats()),
    unary("sin", "Sine, of radians.", 1, "sin(x)", lambda t, x: t.sin(x), _floats()),
    unary("cos", "Cosine, of radians.", 1, "cos(x)", lambda t, x: t.cos(x), _floats()),
    unary(
        "logsigmoid",
        "`log(sigmoid(x))`.",
        4,
        "(x < T(0) ? x : T(0)) - log1p(exp(-abs(x)))",
        lambda t, x: t.nn.functional.logsigmoid(x),
        _keeps(FLOAT),
    ),
    unary(
        "cast",
        "Rounds to nearest even, to another element type. Integers, `e4m3` and `e5m2` saturate; NaN becomes 0 in "
        "integers.",
        0,
        _cast_expression,
        # The rounding itself is the interpreter's: the result's type says it all.
        lambda t, x, dtype: x,
        _cast_type,
        (Param("dtype", "element", doc="element type of the result"),),
        converts="none",
    ),
)
