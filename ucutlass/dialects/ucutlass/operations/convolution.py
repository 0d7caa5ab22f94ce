"""The convolution family: one table of four kinds over one, two and three spatial dimensions."""

from collections.abc import Callable
from functools import partial
from typing import Any

from ucutlass.dialects.ucutlass.attributes import SETTERS
from ucutlass.dialects.ucutlass.operations.contraction_types import bilinear
from ucutlass.dialects.ucutlass.operations.convolution_types import (
    forward_flops,
    forward_type,
    input_gradient_flops,
    input_gradient_type,
    transposed_flops,
    transposed_type,
    weight_gradient_flops,
    weight_gradient_type,
)
from ucutlass.dialects.ucutlass.spec import REQUIRED, CostRule, Operand, OpSpec, Param
from ucutlass.dims import Dim

ONE, NONE = Dim.of(1), Dim.of(0)

_STEPS = (
    Param("stride", "dims", (ONE,), "step of the window"),
    Param("padding", "dims", (NONE,), "zeros before and after each spatial dimension"),
    Param("dilation", "dims", (ONE,), "distance of the taps"),
    Param("groups", "dim", ONE, "independent groups of channels"),
)


def _each(rank: int, values: Any) -> list[int]:
    """One value for each spatial dimension."""
    return list(values) * rank if len(values) == 1 else list(values)


def _forward(rank: int, t: Any, x: Any, w: Any, stride: Any, padding: Any, dilation: Any, groups: Any) -> Any:
    function = getattr(t.nn.functional, f"conv{rank}d")
    steps = [_each(rank, v) for v in (stride, padding, dilation)]
    return bilinear(t, lambda a, b: function(a, b, None, *steps, groups), x, w)


def _transposed(
    rank: int, t: Any, x: Any, w: Any, stride: Any, padding: Any, dilation: Any, groups: Any, output_padding: Any
) -> Any:
    function = getattr(t.nn.functional, f"conv_transpose{rank}d")
    stride, padding, dilation, extra = (_each(rank, v) for v in (stride, padding, dilation, output_padding))
    return bilinear(t, lambda a, b: function(a, b, None, stride, padding, extra, groups, dilation), x, w)


def _input_gradient(
    rank: int, t: Any, dy: Any, w: Any, input_size: Any, stride: Any, padding: Any, dilation: Any, groups: Any
) -> Any:
    function = getattr(t.nn.grad, f"conv{rank}d_input")
    steps = [_each(rank, v) for v in (stride, padding, dilation)]
    return bilinear(t, lambda a, b: function(list(input_size), b, a, *steps, groups), dy, w)


def _weight_gradient(
    rank: int, t: Any, dy: Any, x: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any, groups: Any
) -> Any:
    function = getattr(t.nn.grad, f"conv{rank}d_weight")
    steps = [_each(rank, v) for v in (stride, padding, dilation)]
    size = [dy.shape[1], x.shape[1] // groups, *_each(rank, kernel_size)]
    return bilinear(t, lambda a, b: function(b, size, a, *steps, groups), dy, x)


def _row(
    rank: int,
    name: str,
    operands: tuple[Operand, ...],
    params: tuple[Param, ...],
    infer: Callable[..., Any],
    doc: str,
    meaning: Callable[..., Any],
    flops: CostRule,
) -> OpSpec:
    return OpSpec(
        name,
        "conv",
        operands,
        params,
        partial(infer, rank),
        doc,
        partial(meaning, rank),
        flops=flops,
        setters=tuple(SETTERS),
    )


def _rows(rank: int) -> tuple[OpSpec, ...]:
    outer, inner, taps = (", ".join(letters[3 - rank :]) for letters in ("DHW", "OPQ", "TRS"))
    x = Operand("x", f"`[N, C, {outer}]`")
    w = Operand("w", f"`[K, C / groups, {taps}]`")
    dy = Operand("dy", f"`[N, K, {inner}]`, the gradient of the result")
    return (
        _row(
            rank,
            f"conv{rank}d",
            (x, w),
            _STEPS,
            forward_type,
            f"Convolution, `[N, C, {outer}]` with `[K, C / groups, {taps}]` to `[N, K, {inner}]`.",
            _forward,
            forward_flops,
        ),
        _row(
            rank,
            f"conv_transpose{rank}d",
            (x, Operand("w", f"`[C, K / groups, {taps}]`")),
            (*_STEPS, Param("output_padding", "dims", (NONE,), "added to one end of the result")),
            transposed_type,
            f"Transposed convolution, `[N, C, {outer}]` with `[C, K / groups, {taps}]`.",
            _transposed,
            transposed_flops,
        ),
        _row(
            rank,
            f"conv{rank}d_dgrad",
            (dy, w),
            (Param("input_size", "dims", REQUIRED, f"`[N, C, {outer}]`, the extents of the result"), *_STEPS),
            input_gradient_type,
            f"Gradient of `conv{rank}d` with respect to its input.",
            _input_gradient,
            input_gradient_flops,
        ),
        _row(
            rank,
            f"conv{rank}d_wgrad",
            (dy, x),
            (Param("kernel_size", "dims", REQUIRED, f"`[{taps}]`, the taps of the weight"), *_STEPS),
            weight_gradient_type,
            f"Gradient of `conv{rank}d` with respect to its weight, `[K, C / groups, {taps}]`.",
            _weight_gradient,
            weight_gradient_flops,
        ),
    )


ROWS: tuple[OpSpec, ...] = tuple(row for rank in (1, 2, 3) for row in _rows(rank))
