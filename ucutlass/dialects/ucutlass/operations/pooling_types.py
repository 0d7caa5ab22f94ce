"""Result types of pooling: windows over the last one, two or three dimensions of a tensor with or without a batch.

A result is laid out as the operand is.
"""

import math
from collections.abc import Sequence

from ucutlass.dialects.ucutlass.operations.elementwise_types import shape_text
from ucutlass.dialects.ucutlass.operations.parameters import at_least, spread
from ucutlass.dialects.ucutlass.operations.windows import positions, windows
from ucutlass.dialects.ucutlass.spec import Call
from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.dims import Dim

SPATIAL = ("D", "H", "W")


def _operand(rank: int, call: Call) -> TensorType:
    """The tensor, whose dimensions but the batch are not empty. Raises TypingError UC0303, UC0309."""
    x = call.tensor("x")
    if x.rank not in (rank + 1, rank + 2):
        form = f"C, {', '.join(SPATIAL[3 - rank :])}]"
        raise call.fail(
            "UC0303",
            f"{call.spec.spelling} takes [N, {form} or [{form}, {rank + 2} or {rank + 1} dimensions, but x is "
            f"{x.spelling}",
            "operand:x",
        )
    return x


def _not_empty(call: Call, x: TensorType, sizes: Sequence[Dim]) -> None:
    for size in sizes:
        call.require(
            size,
            ">=",
            1,
            "UC0320",
            f"{call.spec.spelling}: x {x.spelling} has an extent of {size}: only the batch may be empty",
            "operand:x",
        )


def _float_only(call: Call, x: TensorType) -> None:
    if not x.element.is_float:
        raise call.fail(
            "UC0316",
            f"{call.spec.spelling} averages floats, but x is {x.spelling}: cast it first, cast(x, f32)",
            "operand:x",
        )


def window_type(rank: int, call: Call) -> Sequence[TensorType]:
    """Of max_pool and avg_pool: the leading dimensions stay, each spatial one becomes its number of windows."""
    x = _operand(rank, call)
    dilated = "dilation" in call.params
    if not dilated:
        _float_only(call, x)
    elif x.element.name == "bool":
        raise call.fail("UC0316", f"{call.spec.spelling} compares numbers, but x is {x.spelling}", "operand:x")
    kernel = spread(call, "kernel", rank)
    at_least(call, "kernel", kernel, 1)
    over = windows(call, kernel)
    for window in over:
        call.require(
            2 * window.padding,
            "<=",
            window.kernel,
            "UC0309",
            f"{call.spec.spelling}: padding is {window.padding}, expected at most half the kernel {window.kernel}: a "
            "window must not lie in the padding alone",
            "param:padding",
        )
    spatial = x.dims[-rank:]
    _not_empty(call, x, x.dims[-rank - 1 :])
    if rank == 3 and not dilated:
        # Of all its windows PyTorch wants only these to be inside without the padding.
        for size, window in zip(spatial, over, strict=True):
            call.require(
                size,
                ">=",
                window.kernel,
                "UC0320",
                f"{call.spec.spelling}: the kernel {shape_text(kernel)} is larger than x {shape_text(spatial)}",
                "operand:x",
            )
    output = positions(call, "x", spatial, over, "operand:x", rounded_up=call.params["ceil_mode"] is True)
    return (TensorType.of((*x.dims[:-rank], *output), x.element, x.order),)


def adaptive_type(rank: int, call: Call) -> Sequence[TensorType]:
    """The leading dimensions stay, the spatial ones become `size`."""
    x = _operand(rank, call)
    _float_only(call, x)
    sizes = spread(call, "size", rank)
    at_least(call, "size", sizes, 0)
    _not_empty(call, x, x.dims[-rank:])
    return (TensorType.of((*x.dims[:-rank], *sizes), x.element, x.order),)


def window_flops(rank: int, call: Call, results: Sequence[TensorType]) -> Dim:
    """One for each tap of each result."""
    total = Dim.of(1)
    for size in (*results[0].dims, *spread(call, "kernel", rank)):
        total *= size
    return total


def adaptive_flops(rank: int, call: Call, results: Sequence[TensorType]) -> Dim:
    """One for each element of each window.

    `size` windows over `n` places, from `floor(i n / size)` to `ceil((i + 1) n / size)`, share one place at each border
    that is not a whole number: they have `n + size - gcd(n, size)` places. Of a dynamic `n` only the `n` is certain.
    """
    x = call.tensor("x")
    total = Dim.of(1)
    for size in x.dims[:-rank]:
        total *= size
    for place, size in zip(x.dims[-rank:], spread(call, "size", rank), strict=True):
        known = place.is_static and size.is_static
        total *= place.value + size.value - math.gcd(place.value, size.value) if known else place
    return total
