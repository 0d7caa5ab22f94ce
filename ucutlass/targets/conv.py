"""What a convolution kernel must do, without any IR, and the gemm that it is.

Imports only the standard library, the element types and `problem`.
"""

import math
from typing import Literal

from ucutlass.element_types import ElementType
from ucutlass.records import record
from ucutlass.targets.problem import GemmProblem, Operand, largest_alignment

ConvKind = Literal["fprop", "dgrad", "wgrad"]


@record
class ConvProblem:
    """A convolution over 1, 2 or 3 spatial dimensions; tensors are channels-last unless `channels_last` says not.

    Sizes are those of the forward convolution whatever the kind: input [N, spatial…, C], filter [K, taps…, C/groups].
    A batch size of None is dynamic.
    """

    kind: ConvKind
    n: int | None
    spatial: tuple[int, ...]
    c: int
    k: int
    filter: tuple[int, ...]
    element: ElementType
    d: ElementType
    accumulator: ElementType
    compute: str
    stride: tuple[int, ...] = ()
    padding: tuple[tuple[int, int], ...] = ()
    """Below and above, for each spatial dimension."""
    dilation: tuple[int, ...] = ()
    groups: int = 1
    channels_last: bool = True
    """Whether all tensors are stored with channels innermost."""

    def __post_init__(self) -> None:
        dims = len(self.spatial)
        object.__setattr__(self, "stride", self.stride or (1,) * dims)
        object.__setattr__(self, "padding", self.padding or ((0, 0),) * dims)
        object.__setattr__(self, "dilation", self.dilation or (1,) * dims)
        assert dims in (1, 2, 3) and len(self.filter) == len(self.stride) == len(self.padding) == dims

    @property
    def dims(self) -> int:
        return len(self.spatial)

    @property
    def is_depthwise(self) -> bool:
        return self.groups > 1 and self.groups == self.c == self.k

    @property
    def output(self) -> tuple[int, ...]:
        """Spatial extents of the forward result."""
        return tuple(
            (size + low + high - (taps - 1) * dilation - 1) // stride + 1
            for size, taps, stride, (low, high), dilation in zip(
                self.spatial, self.filter, self.stride, self.padding, self.dilation, strict=True
            )
        )

    def as_gemm(self) -> GemmProblem:
        """The implicit gemm; its k counts every tap, a tile's k only the channels of one."""
        taps = math.prod(self.filter)
        pixels_out = None if self.n is None else self.n * math.prod(self.output)
        pixels_in = None if self.n is None else self.n * math.prod(self.spatial)
        c, k = self.c // self.groups, self.k // self.groups
        if self.kind == "fprop":
            sizes, majors, channels = (pixels_out, k, c * taps), ("k", "k"), (c, c, k)
            names = ("N·P·Q", "K", "C·R·S")
        elif self.kind == "dgrad":
            sizes, majors, channels = (pixels_in, c, k * taps), ("k", "mn"), (k, c, c)
            names = ("N·H·W", "C", "K·R·S")
        else:
            sizes, majors, channels = (k, c * taps, pixels_out), ("mn", "mn"), (k, c, c)
            names = ("K", "C·R·S", "N·P·Q")
        align = [largest_alignment(self.element, extent) for extent in channels[:2]]
        return GemmProblem(
            *sizes,
            a=Operand(self.element, "k" if majors[0] == "k" else "mn", align[0]),
            b=Operand(self.element, "k" if majors[1] == "k" else "mn", align[1]),
            d=Operand(self.d, "n", largest_alignment(self.d, channels[2])),
            accumulator=self.accumulator,
            compute=self.compute,
            names=names,
        )

    def channels(self, which: str) -> tuple[str, int]:
        """Name and number of the channels that are contiguous in operand `a`, `b` or `d` of the gemm."""
        table = {
            "fprop": ("C", "C", "K"),
            "dgrad": ("K", "C", "C"),
            "wgrad": ("K", "C", "C"),
        }
        name = table[self.kind]["abd".index(which)]
        return name, (self.c if name == "C" else self.k) // self.groups
