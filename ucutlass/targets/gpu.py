"""GPUs: peaks, memory and limits of each model, read from the data files in `gpus/`.

A leaf: imports only the standard library. One file a variant; peaks are dense, in operations a second with two for a
multiply-add. A GPU is found by its exact name: sibling variants differ by a factor, so a guess would be worse than an
error.
"""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import cast

from ucutlass.records import record

_DATA = Path(__file__).with_name("gpus")


class UnknownGpuError(ValueError):
    """No data file is about the GPU; the text lists those that exist."""


@record
class ModelConstants:
    """Constants of the analytic cost model on one GPU; times in microseconds, rates a clock."""

    fitted_on: str | None
    """The measurements that the constants were fitted to, None while they are estimates."""
    clock_hz: float
    """Clock that the chip sustains under a full tensor load."""
    f16_flops_per_clock: float
    """Of one SM's tensor cores."""
    launch_us: float
    clear_us: float
    """Extra time of clearing a workspace before the kernel."""
    dram_efficiency: float
    l2_bytes_per_clock: float
    """Of the whole chip."""
    sm_bytes_per_clock: float
    """Largest rate at which one SM takes operands."""
    shared_bytes_per_clock: float
    """Largest rate at which one SM's tensor cores read shared memory."""
    memory_latency_clocks: float
    prologue_clocks: float
    """From a thread block's start until its first data has arrived."""
    epilogue_clocks: float
    """Fixed part of an epilogue."""
    epilogue_elements_per_clock: float
    """Results that one group of 128 threads handles."""
    store_bytes_per_clock: float
    """Of one SM."""
    reduction_bytes_per_clock: float
    """Rate of one SM on partial sums in a workspace."""
    turnstile_clocks: float
    """Waiting for the neighbour that adds its partial sums first."""
    multistage_efficiency: float
    """Share of the tensor peak that `mma.sync` reaches."""
    simt_efficiency: float
    spill_slowdown: float
    """Factor on the time of a kernel whose registers spill."""
    step_clocks: float
    """Waiting at the barriers of one k step."""
    cluster_slowdown: float
    """Share of a k step that goes into waiting for neighbours, for each doubling of a cluster."""
    functor_slowdown: float
    """Factor on the work of an epilogue that computes."""
    memory_sharpness: float
    """How well computing and memory traffic hide each other: 1 is not at all, large is entirely."""
    sustained_tflops: float
    """Rate of f16 products at which the chip reaches its power limit, were nothing moved."""
    sustained_l2_bytes_per_us: float
    """Rate of operands from L2 at which it would, were nothing multiplied."""
    power_delay_us: float
    """Time after which half of the excess of power has been answered by a lower clock."""


@record
class Gpu:
    """One GPU model."""

    name: str
    """Name in the command line and the data file, `h200`."""
    device_names: tuple[str, ...]
    """What the driver calls it, exactly."""
    arch: str
    """The target that uses all of it, `sm_90a`."""
    sm_count: int
    boost_clock_hz: int
    l2_bytes: int
    shared_memory_per_block: int
    """Largest amount that one thread block may opt in to."""
    shared_memory_per_sm: int
    memory_bytes_per_s: int
    peak_flops: Mapping[str, int]
    """Dense operations a second by the type of the products; `f32` is on CUDA cores, the rest on tensor cores."""
    cluster_capacity: Mapping[int, int]
    """Thread blocks that run at once when they come in clusters of a size."""
    model: ModelConstants
    sources: tuple[str, ...]

    def peak(self, compute: str) -> int:
        """Dense peak of one type; a type that the chip does not multiply is a ValueError that lists those it does."""
        if compute not in self.peak_flops:
            raise ValueError(f"{self.name} has no peak for {compute}; it has {', '.join(self.peak_flops)}")
        return self.peak_flops[compute]

    def flops_per_clock(self, compute: str) -> float:
        """Operations that one SM does in a clock."""
        return self.model.f16_flops_per_clock * self.peak(compute) / self.peak("f16")


@cache
def gpu_names() -> tuple[str, ...]:
    """Names of all GPUs that there is data for."""
    return tuple(sorted(file.stem for file in _DATA.glob("*.json")))


@cache
def load_gpu(name: str) -> Gpu:
    """The GPU of a name, `h200`."""
    wanted = name.strip().lower()
    if wanted not in gpu_names():
        from difflib import get_close_matches  # only a mistake needs it

        close = get_close_matches(wanted, gpu_names(), 1)
        hint = f"; did you mean {close[0]}?" if close else ""
        raise UnknownGpuError(
            f"there is no data for GPU {name!r}: known are {', '.join(gpu_names())}{hint}; another chip's peaks would"
            " give wrong bounds, so add a data file or measure them with `ucutlass-sol --calibrate`"
        )
    data = json.loads((_DATA / f"{wanted}.json").read_text("utf-8"))
    return gpu_from_data(data)


def _object(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise ValueError(f"expected an object, got {value!r}")
    return {str(k): v for k, v in cast("dict[object, object]", value).items()}


def _number(value: object) -> float:
    if not isinstance(value, int | float):
        raise ValueError(f"expected a number, got {value!r}")
    return value


def _strings(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise ValueError(f"expected a list, got {value!r}")
    return tuple(str(v) for v in cast("list[object]", value))


def _constants(value: object) -> ModelConstants:
    data = _object(value)
    fitted_on = data.pop("fitted_on")
    numbers = {key: _number(v) for key, v in data.items()}
    return ModelConstants(fitted_on=None if fitted_on is None else str(fitted_on), **numbers)


def gpu_from_data(value: object) -> Gpu:
    """A GPU from the parsed text of a data file."""
    data = _object(value)
    return Gpu(
        name=str(data["name"]),
        device_names=_strings(data["device_names"]),
        arch=str(data["arch"]),
        sm_count=int(_number(data["sm_count"])),
        boost_clock_hz=int(_number(data["boost_clock_hz"])),
        l2_bytes=int(_number(data["l2_bytes"])),
        shared_memory_per_block=int(_number(data["shared_memory_per_block"])),
        shared_memory_per_sm=int(_number(data["shared_memory_per_sm"])),
        memory_bytes_per_s=int(_number(data["memory_bytes_per_s"])),
        peak_flops=MappingProxyType({k: int(_number(v)) for k, v in _object(data["peak_flops"]).items()}),
        cluster_capacity=MappingProxyType(
            {int(k): int(_number(v)) for k, v in _object(data["cluster_capacity"]).items()}
        ),
        model=_constants(data["model"]),
        sources=_strings(data["sources"]),
    )


def gpu_for_device_name(device_name: str) -> Gpu:
    """The GPU whose driver calls itself so, `NVIDIA H100 80GB HBM3`."""
    wanted = " ".join(device_name.split())
    known: dict[str, str] = {}
    for name in gpu_names():
        gpu = load_gpu(name)
        known |= dict.fromkeys(gpu.device_names, name)
    if wanted not in known:
        raise UnknownGpuError(
            f"there is no data for device {device_name!r}: known are {', '.join(sorted(known))}; name the GPU that it"
            f" equals ({', '.join(gpu_names())}) or add a data file with its peaks"
        )
    return load_gpu(known[wanted])
