"""The roofline: from FLOPs, bytes and the rates of a GPU to the shortest possible time and what it is spent on.

Pure functions; imports only the standard library and the GPU's data. Times are in seconds. Units work side by side, so
a kernel takes the longest of the times of its units and of its memory traffic:

    t_SOL = max(tensor-core time, CUDA-core time, bytes / bandwidth)
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import inf
from types import MappingProxyType
from typing import Literal, NamedTuple

from ucutlass.targets.gpu import Gpu

Unit = Literal["tensor", "cuda"]
"""Tensor cores, or CUDA cores, on which everything runs that is no product of matrices."""

Bottleneck = Literal["memory", "compute", "balanced", "underused"]

BALANCED_WITHIN = 0.05
"""Two shares that differ by no more than this are equal: neither limits alone."""
UNDERUSED_BELOW = 0.4
"""Where neither share reaches this, something else limits: latency, launches, too little work."""


class Pipe(NamedTuple):
    """Where FLOPs are done: the unit, and the type whose peak counts."""

    unit: Unit
    type: str


@dataclass(frozen=True)
class Work:
    """What must be done: FLOPs by where, and bytes that must move."""

    flops: Mapping[Pipe, float] = field(default_factory=lambda: MappingProxyType(dict[Pipe, float]()))
    bytes: int = 0
    """Bytes read and written in the GPU's memory."""
    matrix_flops: float = 0
    """FLOPs of products of matrices as the problem states them: a product split in three counts once."""

    @property
    def total_flops(self) -> float:
        return sum(self.flops.values())


def add_flops(works: Iterable[Work], moved_bytes: int) -> Work:
    """The FLOPs of several works, with the bytes that they move together."""
    flops: dict[Pipe, float] = {}
    matrix = 0.0
    for work in works:
        for pipe, count in work.flops.items():
            flops[pipe] = flops.get(pipe, 0.0) + count
        matrix += work.matrix_flops
    return Work(MappingProxyType(flops), moved_bytes, matrix)


@dataclass(frozen=True)
class Bound:
    """The shortest possible time of some work on a GPU."""

    work: Work
    unit_times: Mapping[Unit, float]
    memory_time: float
    ridge_point: float
    """FLOPs a byte from which the unit that takes longest, and not memory, limits."""

    @property
    def compute_time(self) -> float:
        return max(self.unit_times.values(), default=0.0)

    @property
    def time(self) -> float:
        return max(self.compute_time, self.memory_time)

    @property
    def unit(self) -> Unit | None:
        """The unit that takes longest, None where nothing is computed."""
        if self.compute_time == 0:
            return None
        return max(self.unit_times, key=lambda unit: self.unit_times[unit])

    @property
    def arithmetic_intensity(self) -> float:
        """FLOPs a byte."""
        if self.work.bytes == 0:
            return inf if self.work.total_flops else 0.0
        return self.work.total_flops / self.work.bytes

    @property
    def bottleneck(self) -> Bottleneck:
        if self.time == 0:
            return "underused"
        return classify(self.memory_time / self.time, self.compute_time / self.time)


def bound_of(work: Work, gpu: Gpu) -> Bound:
    """The bound of work on a GPU. Raises ValueError on a type that the GPU has no peak for."""
    times: dict[Unit, float] = {}
    for pipe, flops in work.flops.items():
        times[pipe.unit] = times.get(pipe.unit, 0.0) + flops / gpu.peak(pipe.type)
    slowest = max(times, key=lambda unit: times[unit], default=None)
    peak = float(gpu.peak("f32"))
    if slowest is not None and times[slowest] > 0:
        peak = sum(flops for pipe, flops in work.flops.items() if pipe.unit == slowest) / times[slowest]
    return Bound(
        work,
        MappingProxyType(times),
        work.bytes / gpu.memory_bytes_per_s,
        peak / gpu.memory_bytes_per_s,
    )


def classify(memory: float, compute: float) -> Bottleneck:
    """What limits, from the shares of the memory bandwidth and of the peak that are reached: the larger one does.

    Shares within `BALANCED_WITHIN` of each other are `balanced`; both under `UNDERUSED_BELOW` are `underused`.
    """
    if max(memory, compute) < UNDERUSED_BELOW:
        return "underused"
    if abs(memory - compute) <= BALANCED_WITHIN:
        return "balanced"
    return "memory" if memory > compute else "compute"


IMPOSSIBLE_CAUSES = (
    "the data stayed in the L2 cache between runs, so that less was read from memory than the bound counts",
    "the peaks are those of another GPU or of a lower clock",
    "the kernel skipped work: it did not compute all of the result, or not in the type that was bounded",
    "the timer did not cover the whole kernel",
)
"""Why a measured time may lie under the bound; none of them is a fast kernel."""


@dataclass(frozen=True)
class Measured:
    """A measured time beside its bound."""

    time: float
    bound: float

    @property
    def fraction(self) -> float:
        """Share of the Speed of Light that is reached."""
        return self.bound / self.time if self.time > 0 else inf

    @property
    def gap(self) -> float:
        """`g`: how many times longer than the bound."""
        return self.time / self.bound if self.bound > 0 else inf

    @property
    def is_impossible(self) -> bool:
        """Whether it is faster than the bound."""
        return self.fraction > 1


def at_clock(gpu: Gpu, clock_hz: float) -> Gpu:
    """The GPU with its arithmetic peaks at another clock of its multiprocessors; memory has a clock of its own."""
    peak_clock = gpu.peak("f16") / (gpu.sm_count * gpu.model.f16_flops_per_clock)
    scale = clock_hz / peak_clock
    return replace(gpu, peak_flops=MappingProxyType({k: round(v * scale) for k, v in gpu.peak_flops.items()}))
