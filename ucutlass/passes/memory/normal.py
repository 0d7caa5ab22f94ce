"""Reductions and row-wise operations as a few primitive reductions with element-wise operations around them.

Imports the dialect and the modules beside it. `x` is the operand at one element; what an operation needs of a whole row
is reduced from such expressions. Formulas are PyTorch's, and so are the values where a row holds infinities or NaN.
"""

import math
from collections.abc import Callable, Mapping

from ucutlass.dialects.ucutlass.spec import ParamValue
from ucutlass.element_types import F32, S64
from ucutlass.passes.memory.affine import Affine
from ucutlass.passes.memory.expression import Builder, Expression, Reduction
from ucutlass.records import record


@record
class Row:
    """What a formula sees."""

    builder: Builder
    x: Expression
    others: Mapping[str, Expression | None]
    """The further operands by name, at the same element."""
    params: Mapping[str, ParamValue]
    number: Affine
    """Which of the reduced elements this is, counted in row-major order."""
    is_scalar: bool
    """Whether the result is 0-dimensional."""

    def apply(self, operation: str, *operands: Expression | int | float) -> Expression:
        """An element-wise operation."""
        values = [o if isinstance(o, Expression) else self.builder.number(o) for o in operands]
        return self.builder.apply(operation, *values)

    def reduced(self, reduction: Reduction, index: int = 0) -> Expression:
        """A result of a reduction."""
        return self.builder.reduced(reduction, index, self.is_scalar)

    def sum(self, value: Expression) -> Expression:
        """The sum of a value over the row."""
        return self.reduced(self.builder.reduce("Sum", value))

    @property
    def count(self) -> Expression:
        """How many elements the row has."""
        return self.builder.length(self.x.element)

    def float_param(self, name: str) -> float:
        """A parameter that is a number."""
        value = self.params[name]
        assert isinstance(value, int | float)
        return float(value)

    def other(self, name: str) -> Expression | None:
        """A further operand in the compute type of `x`."""
        value = self.others.get(name)
        return None if value is None else self.builder.cast(value, self.x.element)


Formula = Callable[[Row], Expression]


def _accumulated(row: Row) -> Expression:
    """The operand as sums and products take it: integers and booleans as `s64`."""
    return row.x if row.x.element.is_float else row.builder.cast(row.x, S64)


def _plain(row: Row, kind: str) -> Expression:
    assert kind in ("Max", "Min")
    return row.reduced(row.builder.reduce(kind, row.x))


def _place(row: Row, kind: str) -> Expression:
    assert kind in ("ArgMax", "ArgMin")
    return row.reduced(row.builder.reduce(kind, row.x, row.builder.coordinate(row.number)))


def _log_sum_exp(row: Row) -> Expression:
    x = row.x if row.x.element.is_float else row.builder.cast(row.x, F32)
    reduction = row.builder.reduce("LogSumExp", x)
    largest, total = row.reduced(reduction, 0), row.reduced(reduction, 1)
    is_infinite = row.apply("eq", row.apply("abs", largest), math.inf)
    return row.apply("where", is_infinite, largest, row.apply("add", largest, row.apply("log", total)))


def _moments(row: Row) -> tuple[Expression, Expression]:
    """The mean, and the sum of squared distances from it."""
    reduction = row.builder.reduce("Moments", row.x)
    return row.apply("div", row.reduced(reduction, 0), row.count), row.reduced(reduction, 1)


def _variance(row: Row) -> Expression:
    _, squares = _moments(row)
    divisor = row.apply("maximum", row.apply("sub", row.count, row.float_param("correction")), 0.0)
    return row.apply("div", squares, divisor)


def _norm(row: Row) -> Expression:
    p = row.float_param("p")
    magnitude = row.apply("abs", row.x)
    if p in (math.inf, -math.inf):
        return row.reduced(row.builder.reduce("Max" if p > 0 else "Min", magnitude))
    if p == 0:
        return row.sum(row.builder.cast(row.apply("ne", row.x, 0.0), row.x.element))
    if p == 1:
        return row.sum(magnitude)
    if p == 2:
        return row.apply("sqrt", row.sum(row.apply("square", row.x)))
    return row.apply("pow", row.sum(row.apply("pow", magnitude, p)), 1 / p)


def _exponentials(row: Row) -> tuple[Expression, Expression, Expression]:
    """The largest element, each one's distance from it, and the sum of the exponentials of these."""
    reduction = row.builder.reduce("LogSumExp", row.x)
    largest, total = row.reduced(reduction, 0), row.reduced(reduction, 1)
    return largest, row.apply("sub", row.x, largest), total


def _softmax(row: Row) -> Expression:
    _, distance, total = _exponentials(row)
    return row.apply("mul", row.apply("exp", distance), row.apply("reciprocal", total))


def _log_softmax(row: Row) -> Expression:
    _, distance, total = _exponentials(row)
    return row.apply("sub", distance, row.apply("log", total))


def _scaled(row: Row, value: Expression) -> Expression:
    """`value * weight + bias`, where they are there."""
    weight, bias = row.other("weight"), row.other("bias")
    if weight is not None:
        value = row.apply("mul", value, weight)
    return value if bias is None else row.apply("add", value, bias)


def normalized(row: Row, mean: Expression, variance: Expression) -> Expression:
    """`(x - mean) / sqrt(variance + eps) * weight + bias`."""
    factor = row.apply("rsqrt", row.apply("add", variance, row.float_param("eps")))
    return _scaled(row, row.apply("mul", row.apply("sub", row.x, mean), factor))


def _standardized(row: Row) -> Expression:
    mean, squares = _moments(row)
    return normalized(row, mean, row.apply("div", squares, row.count))


def _rms_norm(row: Row) -> Expression:
    mean = row.apply("div", row.sum(row.apply("square", row.x)), row.count)
    factor = row.apply("rsqrt", row.apply("add", mean, row.float_param("eps")))
    return _scaled(row, row.apply("mul", row.x, factor))


def _l2_norm(row: Row) -> Expression:
    length = row.apply("sqrt", row.sum(row.apply("square", row.x)))
    return row.apply("mul", row.x, row.apply("reciprocal", row.apply("maximum", length, row.float_param("eps"))))


FORMULAS: Mapping[str, Formula] = {
    "sum": lambda row: row.sum(_accumulated(row)),
    "mean": lambda row: row.apply("div", row.sum(row.x), row.count),
    "max": lambda row: _plain(row, "Max"),
    "min": lambda row: _plain(row, "Min"),
    "prod": lambda row: row.reduced(row.builder.reduce("Prod", _accumulated(row))),
    "argmax": lambda row: _place(row, "ArgMax"),
    "argmin": lambda row: _place(row, "ArgMin"),
    "logsumexp": _log_sum_exp,
    "var": _variance,
    "norm": _norm,
    "softmax": _softmax,
    "log_softmax": _log_softmax,
    "layer_norm": _standardized,
    "rms_norm": _rms_norm,
    "group_norm": _standardized,
    "batch_norm": _standardized,
    "instance_norm": _standardized,
    "l2_norm": _l2_norm,
}
"""By operation; every operation of the families `reduction` and `rowwise`."""
