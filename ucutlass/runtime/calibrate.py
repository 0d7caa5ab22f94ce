"""Measures the ceilings of the GPU at hand: copy bandwidth, and the peak of products in each type.

Imports the targets' data and the timing beside it; torch inside functions. Measured ceilings replace those of the
datasheet in a copy of the GPU's data, which bounds then use like any other.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ucutlass.runtime.timing import Contestant, Rounds, Timer, measure
from ucutlass.targets.gpu import Gpu

if TYPE_CHECKING:
    from torch import Tensor

SIZE = 8192
"""Of the square products: large enough for the library's best kernel to fill the chip."""
COPIED_BYTES = 2 << 30
"""Many times any L2 cache."""

ROUNDS = Rounds(warmup=5, least=20, most=50, seconds=0.5, calls=0)

_STORED: Mapping[str, str] = MappingProxyType(
    {
        "f64": "float64",
        "f32": "float32",
        "tf32": "float32",
        "f16": "float16",
        "bf16": "bfloat16",
        "e4m3": "float8_e4m3fn",
        "s8": "int8",
    }
)
"""The types whose products PyTorch can measure, and how it stores them."""

_SAME_RATE: Mapping[str, str] = MappingProxyType({"e5m2": "e4m3", "u8": "s8"})
"""Types that run at the rate of another one."""


def calibrated(
    gpu: Gpu, timer: Timer, *, device: str = "cuda", size: int = SIZE, copied_bytes: int = COPIED_BYTES
) -> Gpu:
    """The GPU with the ceilings that were measured; what cannot be measured keeps the value of its data."""
    peaks = dict(gpu.peak_flops)
    for name, contestant in _products(gpu, device, size):
        (timing,) = measure([contestant], timer, ROUNDS, cold=False)
        peaks[name] = round(2 * size**3 / timing.median)
    for name, other in _SAME_RATE.items():
        if name in peaks and other in peaks:
            peaks[name] = peaks[other]
    (copy,) = measure([_copy(device, copied_bytes)], timer, ROUNDS, cold=False)
    return replace(
        gpu,
        name=f"{gpu.name}-measured",
        peak_flops=MappingProxyType(peaks),
        memory_bytes_per_s=round(2 * copied_bytes / copy.median),
        sources=(*gpu.sources, f"peaks and bandwidth measured with {timer.name}: products of {size}³, copies"),
    )


def _products(gpu: Gpu, device: str, size: int) -> Iterator[tuple[str, Contestant]]:
    """A product in each type that the GPU has and PyTorch can run."""
    import torch  # half a second, and most of the compiler needs none of it

    for name, stored in _STORED.items():
        if name not in gpu.peak_flops:
            continue
        call = _product(torch, name, getattr(torch, stored), device, size)
        try:
            call(0)
        except (RuntimeError, NotImplementedError):
            # PyTorch has no product of this type on this device.
            continue
        yield name, Contestant(name, call)


def _product(torch: Any, name: str, dtype: Any, device: str, size: int) -> Callable[[int], object]:
    if name == "s8":
        a, b = (torch.randint(-128, 128, (size, size), dtype=dtype, device=device) for _ in range(2))
        return lambda run: torch._int_mm(a, b.t())
    a, b = (torch.randn(size, size, device=device).to(dtype) for _ in range(2))
    if name == "e4m3":
        one = torch.ones((), device=device)
        return lambda run: torch._scaled_mm(a, b.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16)
    if name not in ("f32", "tf32"):
        return lambda run: torch.matmul(a, b)
    wanted = "high" if name == "tf32" else "highest"

    def multiply(run: int) -> "Tensor":
        before = torch.get_float32_matmul_precision()
        torch.set_float32_matmul_precision(wanted)
        try:
            product: Tensor = torch.matmul(a, b)
        finally:
            torch.set_float32_matmul_precision(before)
        return product

    return multiply


def _copy(device: str, size: int) -> Contestant:
    import torch  # half a second, and most of the compiler needs none of it

    source = torch.ones(size, dtype=torch.uint8, device=device)
    target = torch.empty_like(source)
    return Contestant("copy", lambda run: target.copy_(source))


def gpu_to_data(gpu: Gpu) -> dict[str, object]:
    """The data of a GPU as a data file has it."""
    data: dict[str, object] = {name: getattr(gpu, name) for name in gpu.__dataclass_fields__}
    data["peak_flops"] = dict(gpu.peak_flops)
    data["cluster_capacity"] = {str(size): count for size, count in gpu.cluster_capacity.items()}
    data["model"] = asdict(gpu.model)
    data["device_names"], data["sources"] = list(gpu.device_names), list(gpu.sources)
    return data
