"""Unary element-wise operations: a new activation is one row here.

FLOPs per element follow the cost table of `docs/sol.md`. CUDA expressions are written over `x` of type `T` (float or double);
the overloads of `exp`, `erf`, `tanh`, … for both stand in the emitted prelude. Comparisons are written so that NaN passes through.
"""

from collections.abc import Callable
from typing import Any

from ucutlass.dialects.ucutlass.operations.elementwise_types import elementwise_type
from ucutlass.dialects.ucutlass.spec import Operand, OpSpec, Param


def unary(
    name: str, doc: str, flops: float, cuda: str, torch: Callable[..., Any], params: tuple[Param, ...] = ()
) -> OpSpec:
    """A row of the table."""
    return OpSpec(name, "unary", (Operand("x"),), params, elementwise_type, doc, torch, cuda, flops)


ROWS: tuple[OpSpec, ...] = (
    unary("relu", "`max(x, 0)`.", 1, "x < T(0) ? T(0) : x", lambda t, x: t.relu(x)),
    unary(
        "gelu",
        "Gaussian error linear unit, exact or in its tanh form.",
        5,
        "APPROXIMATE_TANH ? T(0.5) * x * (T(1) + tanh(T(0.7978845608028654) * (x + T(0.044715) * x * x * x))) "
        ": T(0.5) * x * (T(1) + erf(x * T(0.7071067811865476)))",
        lambda t, x, approximate: t.nn.functional.gelu(x, approximate=approximate),
        (Param("approximate", "word", "none", "exact (`none`) or `tanh`", ("none", "tanh")),),
    ),
    unary("silu", "`x * sigmoid(x)`.", 5, "x / (T(1) + exp(-x))", lambda t, x: t.nn.functional.silu(x)),
)
