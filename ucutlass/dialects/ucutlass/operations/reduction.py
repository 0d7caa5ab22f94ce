"""Reductions: sums, extremes, their places, moments and norms over some or all dimensions."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from ucutlass.dialects.ucutlass.operations.elementwise_types import ANY, FLOAT, NUMERIC
from ucutlass.dialects.ucutlass.operations.reduction_types import (
    flops_per_input,
    index,
    real,
    reduction,
    summed,
)
from ucutlass.dialects.ucutlass.spec import Call, Operand, OpSpec, Param, TypeRule
from ucutlass.dialects.ucutlass.types import TensorType

_DIM = Param("dim", "dims", None, "the dimensions that go, one or a list; all where absent")
_KEEPDIM = Param("keepdim", "bool", False, "whether they stay, with size 1")

Meaning = Callable[[Any, Any, list[int], bool], Any]
"""PyTorch's function of the torch module, `x`, the reduced dimensions and `keepdim`."""


def _over(x: Any, dim: list[int] | None, keepdim: bool) -> tuple[Any, list[int], bool]:
    """The tensor, all dimensions to reduce, and `keepdim`; a 0-dimensional tensor counts as one of one element."""
    if x.dim() == 0:
        return x.reshape(1), [0], False
    return x, dim or list(range(x.dim())), keepdim


def _reduction(
    name: str, doc: str, torch: Meaning, rule: TypeRule, params: tuple[Param, ...] = (_DIM, _KEEPDIM)
) -> OpSpec:
    """A row whose only parameters are `dim` and `keepdim`."""

    def meaning(t: Any, x: Any, dim: list[int] | None, keepdim: bool) -> Any:
        return torch(t, *_over(x, dim, keepdim))

    return OpSpec(name, "reduction", (Operand("x"),), params, rule, doc, meaning, flops=flops_per_input(1))


def _prod(t: Any, x: Any, dim: list[int], keepdim: bool) -> Any:
    """PyTorch multiplies along one dimension only."""
    for d in sorted((d % x.dim() for d in dim), reverse=True):
        x = t.prod(x, d, keepdim)
    return x


def _logsumexp(t: Any, x: Any, dim: list[int] | None, keepdim: bool) -> Any:
    values, axes, keeps = _over(x, dim, keepdim)
    return t.logsumexp(values, axes, keeps)


def _var(t: Any, x: Any, dim: list[int] | None, correction: int | float, keepdim: bool) -> Any:
    values, axes, keeps = _over(x, dim, keepdim)
    return t.var(values, axes, correction=correction, keepdim=keeps)


def _norm(t: Any, x: Any, p: int | float, dim: list[int] | None, keepdim: bool) -> Any:
    values, axes, keeps = _over(x, dim, keepdim)
    return t.linalg.vector_norm(values, p, axes, keeps)


def _argmax(t: Any, x: Any, dim: int | None, keepdim: bool) -> Any:
    return t.argmax(x, dim, keepdim)


def _argmin(t: Any, x: Any, dim: int | None, keepdim: bool) -> Any:
    return t.argmin(x, dim, keepdim)


def _always(call: Call) -> bool:
    return True


def _exponent(call: Call) -> float:
    p = call.params["p"]
    assert isinstance(p, int | float)
    return float(p)


def _is_extreme(call: Call) -> bool:
    """Whether a norm has no value for no elements: the largest magnitude, or an inverse power of a sum."""
    p = _exponent(call)
    return p < 0 or p == math.inf


def _norm_type(call: Call) -> Sequence[TensorType]:
    if math.isnan(_exponent(call)):
        raise call.fail("UC0309", "norm: p is nan, expected a number or inf", "param:p")
    return reduction(FLOAT, choosing=_is_extreme)(call)


_PLACE = (Param("dim", "dim", None, "the dimension that goes; the flattened tensor's where absent"), _KEEPDIM)

ROWS: tuple[OpSpec, ...] = (
    _reduction(
        "sum", "Sum; of integers and booleans in `s64`.", lambda t, x, d, k: t.sum(x, d, k), reduction(ANY, summed)
    ),
    _reduction("mean", "Arithmetic mean.", lambda t, x, d, k: t.mean(x, d, k), reduction(FLOAT)),
    _reduction(
        "max",
        "Largest value, NaN if there is one; the values only.",
        lambda t, x, d, k: t.amax(x, d, k),
        reduction(ANY, choosing=_always),
    ),
    _reduction(
        "min",
        "Smallest value, NaN if there is one; the values only.",
        lambda t, x, d, k: t.amin(x, d, k),
        reduction(ANY, choosing=_always),
    ),
    _reduction("prod", "Product; of integers and booleans in `s64`.", _prod, reduction(ANY, summed)),
    OpSpec(
        "argmax",
        "reduction",
        (Operand("x"),),
        _PLACE,
        reduction(NUMERIC, index, _always),
        "Index of the largest value, the first one; NaN counts as the largest.",
        _argmax,
        flops=flops_per_input(1),
    ),
    OpSpec(
        "argmin",
        "reduction",
        (Operand("x"),),
        _PLACE,
        reduction(NUMERIC, index, _always),
        "Index of the smallest value, the first one; NaN counts as the smallest.",
        _argmin,
        flops=flops_per_input(1),
    ),
    OpSpec(
        "logsumexp",
        "reduction",
        (Operand("x"),),
        (_DIM, _KEEPDIM),
        reduction(ANY, real),
        "`log(sum(exp(x)))`, without overflow.",
        _logsumexp,
        flops=flops_per_input(4),
    ),
    OpSpec(
        "var",
        "reduction",
        (Operand("x"),),
        (_DIM, Param("correction", "number", 1, "what is subtracted from the count that divides the sum"), _KEEPDIM),
        reduction(FLOAT),
        "Variance: the sum of squared distances from the mean, divided by `count - correction`.",
        _var,
        flops=flops_per_input(1),
    ),
    OpSpec(
        "norm",
        "reduction",
        (Operand("x"),),
        (
            Param(
                "p", "number", 2, "exponent; `inf`, `-inf` and 0 give the largest and smallest magnitude and the count"
            ),
            _DIM,
            _KEEPDIM,
        ),
        _norm_type,
        "`sum(abs(x)^p)^(1/p)`; with `p=0`, how many elements are not zero.",
        _norm,
        flops=flops_per_input(2),
    ),
)
