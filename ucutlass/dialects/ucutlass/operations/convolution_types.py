"""Result types of convolutions: forward, transposed, and the two gradients, over one, two or three spatial dimensions.

Weights are `[K, C / groups, taps…]`, of transposed convolutions `[C, K / groups, taps…]`, as PyTorch stores them. As in
PyTorch, a result is laid out as the first image operand is: what reads `channels_last` writes it.
"""

from collections.abc import Sequence

from ucutlass.dialects.ucutlass.operations.contraction_types import contraction_element
from ucutlass.dialects.ucutlass.operations.elementwise_types import shape_text
from ucutlass.dialects.ucutlass.operations.parameters import at_least, rank_is, size_of, sizes_of, spread
from ucutlass.dialects.ucutlass.operations.windows import Window, positions, windows
from ucutlass.dialects.ucutlass.spec import Call
from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.dims import Dim

SPATIAL = ("D", "H", "W")
TAPS = ("T", "R", "S")


def _operand(rank: int, call: Call, name: str, leading: str, letters: Sequence[str] = SPATIAL) -> TensorType:
    """A batched operand with `rank` spatial dimensions. Raises TypingError UC0303 that shows its form."""
    operand = call.tensor(name)
    form = f"[{leading}, {', '.join(letters[3 - rank :])}]"
    hint = ": an image without batch is reshaped to a batch of 1" if operand.rank == rank + 1 else ""
    rank_is(call, name, operand, rank + 2, form, hint)
    return operand


def _groups(call: Call, channels: Dim, of: str) -> Dim:
    """The number of groups, which divides `channels`. Raises TypingError UC0309, UC0321."""
    groups = size_of(call, "groups")
    at_least(call, "groups", (groups,), 1)
    call.require_multiple(
        channels,
        groups,
        "UC0321",
        f"{call.spec.spelling}: groups is {groups}, which does not divide the {channels} {of}",
        "param:groups",
    )
    return groups


def _agree(call: Call, left: Dim, right: Dim, message: str, part: str) -> None:
    if not call.facts.equal(left, right):
        raise call.fail("UC0301", f"{call.spec.spelling}: {message}", part)


def _taps(call: Call, w: TensorType) -> tuple[Window, ...]:
    """The windows of a weight. Raises TypingError UC0309 on one without taps or without channels."""
    for size in (w.dims[0], *w.dims[2:]):
        call.require(
            size,
            ">=",
            1,
            "UC0309",
            f"{call.spec.spelling}: the weight {w.spelling} has an extent of {size}, expected 1 or more",
            "operand:w",
        )
    return windows(call, w.dims[2:])


def _weight_channels(call: Call, channels: Dim, operand: TensorType, name: str, w: TensorType, groups: Dim) -> None:
    """Demand that a forward weight reads as many channels as there are."""
    _agree(
        call,
        channels,
        w.dims[1] * groups,
        f"{name} {operand.spelling} has {channels} channels (dimension 1), but the weight {w.spelling} reads "
        f"{w.dims[1]} (dimension 1) in each of {groups} groups, {w.dims[1] * groups} in all"
        if groups != Dim.of(1)
        else f"{name} {operand.spelling} has {channels} channels (dimension 1), but the weight {w.spelling} reads "
        f"{w.dims[1]} (dimension 1)",
        "operand:w",
    )


def forward_type(rank: int, call: Call) -> Sequence[TensorType]:
    """`[N, K, P, Q]` from `x[N, C, H, W]` and `w[K, C / groups, R, S]`."""
    x, w = _operand(rank, call, "x", "N, C"), _operand(rank, call, "w", "K, C / groups", TAPS)
    over = _taps(call, w)
    groups = _groups(call, w.dims[0], f"output channels of the weight {w.spelling}")
    _groups(call, x.dims[1], f"channels of x {x.spelling}")
    _weight_channels(call, x.dims[1], x, "x", w, groups)
    output = positions(call, "the input", x.dims[2:], over, "operand:x")
    element = contraction_element(call, x.element, w.element, "operand:w")
    return (TensorType.of((x.dims[0], w.dims[0], *output), element, x.order),)


def transposed_type(rank: int, call: Call) -> Sequence[TensorType]:
    """`[N, K, H, W]` from `x[N, C, P, Q]` and `w[C, K / groups, R, S]`."""
    x, w = _operand(rank, call, "x", "N, C"), _operand(rank, call, "w", "C, K / groups", TAPS)
    over = _taps(call, w)
    groups = _groups(call, x.dims[1], f"channels of x {x.spelling}")
    _agree(
        call,
        x.dims[1],
        w.dims[0],
        f"x {x.spelling} has {x.dims[1]} channels (dimension 1), but the transposed weight {w.spelling} reads "
        f"{w.dims[0]} (dimension 0: it is stored [C, K / groups, …])",
        "operand:w",
    )
    extra = spread(call, "output_padding", len(over))
    at_least(call, "output_padding", extra, 0)
    sizes: list[Dim] = []
    for size, window, end in zip(x.dims[2:], over, extra, strict=True):
        # Of two dynamic bounds the launcher checks the stride: it cannot be told to check either of two.
        bound = window.stride
        if window.dilation.is_static and bound.is_static and window.dilation.value > bound.value:
            bound = window.dilation
        call.require(
            end,
            "<",
            bound,
            "UC0309",
            f"{call.spec.spelling}: output_padding is {end}, expected less than the stride {window.stride} or the "
            f"dilation {window.dilation}",
            "param:output_padding",
        )
        result = window.backward(size, end)
        call.require(size, ">=", 1, "UC0320", f"{call.spec.spelling}: x {x.spelling} has no positions", "operand:x")
        call.require(
            result,
            ">=",
            1,
            "UC0320",
            f"{call.spec.spelling}: the output would have an extent of {result}: x has {size}, a window of "
            f"{window.kernel} taps with dilation {window.dilation} and stride {window.stride} spreads it, and padding "
            f"{window.padding} cuts that much off each end",
            "param:padding",
        )
        sizes.append(result)
    element = contraction_element(call, x.element, w.element, "operand:w")
    return (TensorType.of((x.dims[0], w.dims[1] * groups, *sizes), element, x.order),)


def _gradient(call: Call, dy: TensorType, of: Sequence[Dim], over: Sequence[Window], batch: Dim, part: str) -> None:
    """Demand that `dy` has the batch and the extents of the forward result."""
    _agree(
        call, dy.dims[0], batch, f"dy {dy.spelling} has a batch of {dy.dims[0]}, the input one of {batch}", "operand:dy"
    )
    output = positions(call, "the input", of, over, part)
    for found, expected in zip(dy.dims[2:], output, strict=True):
        _agree(
            call,
            found,
            expected,
            f"dy {dy.spelling} has the extents {shape_text(dy.dims[2:])}, but the convolution of an input of "
            f"{shape_text(of)} gives {shape_text(output)}",
            "operand:dy",
        )


def input_gradient_type(rank: int, call: Call) -> Sequence[TensorType]:
    """`input_size` from `dy[N, K, P, Q]` and `w[K, C / groups, R, S]`."""
    dy, w = _operand(rank, call, "dy", "N, K"), _operand(rank, call, "w", "K, C / groups", TAPS)
    sizes = sizes_of(call, "input_size")
    if len(sizes) != dy.rank:
        form = f"[N, C, {', '.join(SPATIAL[3 - rank :])}]"
        raise call.fail(
            "UC0309",
            f"{call.spec.spelling}: input_size {shape_text(sizes)} has {len(sizes)} extents, expected {dy.rank}, "
            f"{form}",
            "param:input_size",
        )
    at_least(call, "input_size", sizes, 0)
    over = _taps(call, w)
    groups = _groups(call, w.dims[0], f"output channels of the weight {w.spelling}")
    _agree(
        call,
        dy.dims[1],
        w.dims[0],
        f"dy {dy.spelling} has {dy.dims[1]} channels (dimension 1), but the weight {w.spelling} makes {w.dims[0]} "
        "(dimension 0)",
        "operand:w",
    )
    element = contraction_element(call, dy.element, w.element, "operand:w")
    result = TensorType.of(sizes, element, dy.order)
    _weight_channels(call, sizes[1], result, "input_size", w, groups)
    _gradient(call, dy, sizes[2:], over, sizes[0], "param:input_size")
    return (result,)


def weight_gradient_type(rank: int, call: Call) -> Sequence[TensorType]:
    """`[K, C / groups, R, S]` from `dy[N, K, P, Q]`, `x[N, C, H, W]` and the taps `[R, S]`."""
    dy, x = _operand(rank, call, "dy", "N, K"), _operand(rank, call, "x", "N, C")
    taps = spread(call, "kernel_size", rank)
    at_least(call, "kernel_size", taps, 1)
    over = windows(call, taps)
    groups = _groups(call, dy.dims[1], f"channels of dy {dy.spelling}")
    _groups(call, x.dims[1], f"channels of x {x.spelling}")
    _gradient(call, dy, x.dims[2:], over, x.dims[0], "operand:x")
    element = contraction_element(call, dy.element, x.element, "operand:x")
    return (TensorType.of((dy.dims[1], x.dims[1] // groups, *taps), element, x.order),)


def _product(*sizes: Dim) -> Dim:
    total = Dim.of(2)
    for size in sizes:
        total *= size
    return total


def forward_flops(call: Call, results: Sequence[TensorType]) -> Dim:
    """Two for each tap and channel of a group that an output sums."""
    return _product(*results[0].dims, *call.tensor("w").dims[1:])


def transposed_flops(call: Call, results: Sequence[TensorType]) -> Dim:
    """Two for each tap and channel of a group that an input is spread to."""
    return _product(*call.tensor("x").dims, *call.tensor("w").dims[1:])


def input_gradient_flops(call: Call, results: Sequence[TensorType]) -> Dim:
    """Those of the forward convolution."""
    return _product(*call.tensor("dy").dims, *call.tensor("w").dims[1:])


def weight_gradient_flops(call: Call, results: Sequence[TensorType]) -> Dim:
    """Those of the forward convolution."""
    return _product(*call.tensor("dy").dims, *results[0].dims[1:])
