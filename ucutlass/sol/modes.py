"""Compute modes on a GPU: which unit forms the products, how many FLOPs it does for one, and with what error.

Imports only the standard library, the element types and the GPU's data.
"""

from collections.abc import Mapping
from types import MappingProxyType

from ucutlass.element_types import ELEMENT_TYPES
from ucutlass.sol.bound import Pipe
from ucutlass.targets.gpu import Gpu

SPLIT_MODES: Mapping[str, str] = MappingProxyType({"tf32x3": "tf32", "f16x3": "f16"})
"""Modes that split each operand in two and sum three products, by the type of the parts."""

SPLIT_PRODUCTS = 3

SPLIT_ROUNDOFF = 2.0**-21
"""Relative error of an operand that is split in two parts of 11 bits, with the product of the low parts left out."""

EXACT_IN: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "e4m3": ("f16", "bf16", "tf32", "f32"),
        "e5m2": ("f16", "bf16", "tf32", "f32"),
        "s4": ("s8", "f16", "f32"),
        "u4": ("u8", "s8", "f16", "f32"),
        "u8": ("f16", "f32"),
        "s8": ("f16", "f32"),
        "bf16": ("tf32", "f32"),
        "f16": ("tf32", "f32"),
        "tf32": ("f32",),
        "f32": ("f64",),
    }
)
"""Types that hold every value of a type, for GPUs whose tensor cores do not take it."""

FASTER_MODES: tuple[str, ...] = ("tf32x3", "f16x3", "tf32", "f16", "bf16", "e4m3", "e5m2")
"""Modes that a float contraction may be given instead of its own."""


def pipe_of(mode: str, gpu: Gpu) -> tuple[Pipe, int]:
    """Where a GPU forms products of this mode, and how many for one of the problem.

    A type that the GPU's tensor cores do not take is formed in the fastest type that holds its values.
    """
    if mode in SPLIT_MODES:
        return Pipe("tensor", _available(SPLIT_MODES[mode], gpu)), SPLIT_PRODUCTS
    if mode in ("s32", "s64", "bool"):
        # Integers of full width are multiplied on CUDA cores, at no more than the rate of f32.
        return Pipe("cuda", "f32"), 1
    found = _available(mode, gpu)
    return Pipe("cuda" if found == "f32" else "tensor", found), 1


def _available(type_: str, gpu: Gpu) -> str:
    if type_ in gpu.peak_flops:
        return type_
    wider = [t for t in EXACT_IN.get(type_, ()) if t in gpu.peak_flops]
    return max(wider, key=gpu.peak, default=type_)


def rate_of(mode: str, gpu: Gpu) -> float:
    """FLOPs of the problem a second in this mode."""
    pipe, products = pipe_of(mode, gpu)
    return gpu.peak(pipe.type) / products


def roundoff_of(mode: str) -> float:
    """Largest relative error of an operand that is brought into this mode; 0 for integers."""
    if mode in SPLIT_MODES:
        return SPLIT_ROUNDOFF
    return ELEMENT_TYPES[mode].unit_roundoff
