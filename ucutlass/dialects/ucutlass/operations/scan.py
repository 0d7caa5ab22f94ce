"""Scans: each element is the reduction of those up to it along one dimension."""

from typing import Any

from ucutlass.dialects.ucutlass.operations.elementwise_types import ANY
from ucutlass.dialects.ucutlass.operations.reduction_types import flops_per_input, scan_type
from ucutlass.dialects.ucutlass.spec import Operand, OpSpec, Param

_DIM = Param("dim", "dim", doc="the dimension along which to accumulate")


def _cumsum(t: Any, x: Any, dim: int) -> Any:
    return t.cumsum(x, dim)


def _cumprod(t: Any, x: Any, dim: int) -> Any:
    return t.cumprod(x, dim)


ROWS: tuple[OpSpec, ...] = (
    OpSpec(
        "cumsum",
        "scan",
        (Operand("x"),),
        (_DIM,),
        scan_type(ANY),
        "Sum of the elements up to each one; of integers and booleans in `s64`.",
        _cumsum,
        flops=flops_per_input(1),
    ),
    OpSpec(
        "cumprod",
        "scan",
        (Operand("x"),),
        (_DIM,),
        scan_type(ANY),
        "Product of the elements up to each one; of integers and booleans in `s64`.",
        _cumprod,
        flops=flops_per_input(1),
    ),
)
