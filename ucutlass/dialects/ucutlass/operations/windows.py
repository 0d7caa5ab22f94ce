"""Output sizes of sliding windows, shared by convolutions and pooling.

Pure arithmetic on sizes. A window of `kernel` taps, `dilation` apart, covers `dilation * (kernel - 1) + 1` places:
counting `kernel * dilation` instead is short of the right output as soon as the dilation is not 1.
"""

from collections.abc import Sequence

from ucutlass.dialects.ucutlass.operations.elementwise_types import shape_text
from ucutlass.dialects.ucutlass.operations.parameters import at_least, spread
from ucutlass.dialects.ucutlass.spec import Call
from ucutlass.dims import Dim
from ucutlass.records import record


@record
class Window:
    """A window along one spatial dimension."""

    kernel: Dim
    stride: Dim
    padding: Dim
    dilation: Dim

    @property
    def reach(self) -> Dim:
        """Distance between the first and the last tap."""
        return self.dilation * (self.kernel - 1)

    def travel(self, size: Dim) -> Dim:
        """How far the window can move over a padded dimension; negative where it does not fit."""
        return size + 2 * self.padding - self.reach - 1

    def backward(self, count: Dim, extra: Dim) -> Dim:
        """The size that a transposed convolution makes from `count` positions, with `extra` at the end."""
        return (count - 1) * self.stride - 2 * self.padding + self.reach + extra + 1


def windows(call: Call, kernel: Sequence[Dim]) -> tuple[Window, ...]:
    """The windows of a call's `stride`, `padding` and `dilation`, each checked. An absent stride is the kernel."""
    count = len(kernel)
    stride = tuple(kernel) if call.params["stride"] is None else spread(call, "stride", count)
    padding = spread(call, "padding", count)
    dilation = spread(call, "dilation", count) if "dilation" in call.params else (Dim.of(1),) * count
    at_least(call, "stride", stride, 1)
    at_least(call, "padding", padding, 0)
    at_least(call, "dilation", dilation, 1)
    return tuple(Window(*w) for w in zip(kernel, stride, padding, dilation, strict=True))


def positions(
    call: Call, what: str, sizes: Sequence[Dim], over: Sequence[Window], part: str, rounded_up: bool = False
) -> tuple[Dim, ...]:
    """Number of positions along each dimension. Raises TypingError UC0320 where there are none."""
    for size, window in zip(sizes, over, strict=True):
        # Without a division: the launcher's rounds to zero where sizes round down.
        call.require(
            window.travel(size) + (window.stride - 1 if rounded_up else 0),
            ">=",
            0,
            "UC0320",
            f"{call.spec.spelling}: a window of {window.kernel} taps with dilation {window.dilation} covers "
            f"{window.reach + 1} places, but {what} {shape_text(sizes)} with padding {window.padding} has "
            f"{size + 2 * window.padding}: more padding or a smaller window is needed",
            part,
        )
        if window.padding != Dim.of(0):
            call.require(
                size,
                ">=",
                1,
                "UC0320",
                f"{call.spec.spelling}: {what} {shape_text(sizes)} has nothing but padding",
                part,
            )
    count = _rounded_up if rounded_up else _rounded_down
    return tuple(count(call, size, window) for size, window in zip(sizes, over, strict=True))


def _rounded_down(call: Call, size: Dim, window: Window) -> Dim:
    return window.travel(size) // window.stride + 1


def _rounded_up(call: Call, size: Dim, window: Window) -> Dim:
    """Number of positions with the last incomplete step kept, if its window starts before the padding at the end.

    At most `ceil((size + padding) / stride)` windows start there. That is the count of steps rounded up, or one less:
    unless a window reaches a stride or more past the start of the padding, when the last step always starts inside.
    Which of the two it is does not depend on the size, so a dynamic size has a formula.
    """
    excess = call.facts.simplify(window.reach + 1 - window.padding - window.stride)
    if not excess.is_static:
        raise call.fail(
            "UC0314",
            f"{call.spec.spelling}: with ceil_mode the window must be known, but kernel {window.kernel}, stride "
            f"{window.stride}, padding {window.padding} and dilation {window.dilation} depend on dynamic sizes",
            "param:ceil_mode",
        )
    if excess.value >= 0:
        return (window.travel(size) + window.stride - 1) // window.stride + 1
    return (size + window.padding + window.stride - 1) // window.stride
