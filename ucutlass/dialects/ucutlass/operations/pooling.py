"""Pooling: maxima and averages of windows, and averages to a given size."""

from functools import partial
from typing import Any

from ucutlass.dialects.ucutlass.operations.pooling_types import (
    adaptive_flops,
    adaptive_type,
    window_flops,
    window_type,
)
from ucutlass.dialects.ucutlass.spec import REQUIRED, Operand, OpSpec, Param
from ucutlass.dims import Dim

_KERNEL = Param("kernel", "dims", REQUIRED, "extents of the window")
_STRIDE = Param("stride", "dims", None, "step of the window; the kernel where absent")
_PADDING = Param(
    "padding", "dims", (Dim.of(0),), "places before and after each spatial dimension, at most half the kernel"
)
_DILATION = Param("dilation", "dims", (Dim.of(1),), "distance of the taps")
_CEIL = Param("ceil_mode", "bool", False, "whether an incomplete last step counts, if its window starts inside")
_COUNT = Param("count_include_pad", "bool", True, "whether padding counts in the average")


def _each(rank: int, values: Any) -> list[int]:
    return list(values) * rank if len(values) == 1 else list(values)


def _max(rank: int, t: Any, x: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: Any) -> Any:
    step = kernel if stride is None else stride
    if rank == 1:
        # PyTorch has the one-dimensional form for floats only.
        flat = t.nn.functional.max_pool2d
        window = ([1, *kernel], [1, *step], [0, *padding], [1, *dilation])
        return flat(x.unsqueeze(-2), *window, ceil_mode).squeeze(-2)
    function = getattr(t.nn.functional, f"max_pool{rank}d")
    return function(x, *(_each(rank, v) for v in (kernel, step, padding, dilation)), ceil_mode)


def _average(
    rank: int, t: Any, x: Any, kernel: Any, stride: Any, padding: Any, ceil_mode: Any, count_include_pad: Any
) -> Any:
    function = getattr(t.nn.functional, f"avg_pool{rank}d")
    step = kernel if stride is None else stride
    return function(x, *(_each(rank, v) for v in (kernel, step, padding)), ceil_mode, count_include_pad)


def _adaptive(rank: int, t: Any, x: Any, size: Any) -> Any:
    return getattr(t.nn.functional, f"adaptive_avg_pool{rank}d")(x, _each(rank, size))


def _rows(rank: int) -> tuple[OpSpec, ...]:
    spatial = ", ".join("DHW"[3 - rank :])
    x = (Operand("x", f"`[N, C, {spatial}]` or `[C, {spatial}]`"),)
    return (
        OpSpec(
            f"max_pool{rank}d",
            "pool",
            x,
            (_KERNEL, _STRIDE, _PADDING, _DILATION, _CEIL),
            partial(window_type, rank),
            f"Largest value of each window over `[{spatial}]`; padding never is.",
            partial(_max, rank),
            flops=partial(window_flops, rank),
        ),
        OpSpec(
            f"avg_pool{rank}d",
            "pool",
            x,
            (_KERNEL, _STRIDE, _PADDING, _CEIL, _COUNT),
            partial(window_type, rank),
            f"Average of each window over `[{spatial}]`.",
            partial(_average, rank),
            flops=partial(window_flops, rank),
        ),
        OpSpec(
            f"adaptive_avg_pool{rank}d",
            "pool",
            x,
            (Param("size", "dims", REQUIRED, f"`[{spatial}]` of the result"),),
            partial(adaptive_type, rank),
            f"Averages over `[{spatial}]` with windows chosen so that the result has the given size.",
            partial(_adaptive, rank),
            flops=partial(adaptive_flops, rank),
        ),
    )


ROWS: tuple[OpSpec, ...] = tuple(row for rank in (1, 2, 3) for row in _rows(rank))
