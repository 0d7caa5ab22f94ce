"""Timing of kernels beside each other: cold caches, many rounds, every contestant in each of them.

Imports the statistics beside it; torch inside functions. Two times are taken, because they answer two questions:

- *kernel time*: from the first to the last work on the device, between two CUDA events. The device is kept busy until
  the call is enqueued, so that the cost of the call from Python is not in it. Before each run the L2 cache is filled
  with something else, unless warm times are asked for;
- *call time*: what a caller waits for who calls once and needs the result, on the host's clock.

The timer's name stands beside every time; there is no second timer that would step in unseen.
"""

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import median
from typing import TYPE_CHECKING, Protocol

from ucutlass.runtime.sampling import Duel, Interval, duel, median_interval

if TYPE_CHECKING:
    from torch import Tensor

FLUSH_FACTOR = 2
"""The buffer that displaces the L2 cache's content is this many times as large."""
LEAST_FLUSH_BYTES = 256 << 20

Resolve = Callable[[], float]
"""Gives the seconds of a sample once the device has done it."""


@dataclass(frozen=True)
class Contestant:
    """What is timed."""

    name: str
    call: Callable[[int], object]
    """Enqueues the work once; the number of the run lets it take another set of buffers each time."""


class Timer(Protocol):
    """How one run is timed."""

    name: str

    def start(self, contestant: Contestant, run: int, cold: bool) -> Resolve:
        """Enqueue one run and what times it."""
        ...

    def finish(self) -> None:
        """Wait until everything that was enqueued is done."""
        ...

    def call_time(self, contestant: Contestant, run: int) -> float:
        """Seconds from the call to its end on an idle device."""
        ...


@dataclass(frozen=True)
class Rounds:
    """How long to measure."""

    warmup: int = 10
    """Runs of each contestant before anything counts."""
    least: int = 30
    most: int = 200
    seconds: float = 1.0
    """About what the counted rounds of kernel times take together."""
    calls: int = 20
    """Rounds of call times."""
    seed: int = 0
    """Of the order of contestants in each round."""


@dataclass(frozen=True)
class Timing:
    """The times of one contestant, in seconds."""

    name: str
    timer: str
    is_cold: bool
    times: tuple[float, ...]
    """Kernel times by round."""
    call_times: tuple[float, ...] = field(default=())

    @cached_property
    def interval(self) -> Interval:
        """The median kernel time and its interval."""
        return median_interval(self.times)

    @property
    def median(self) -> float:
        return self.interval.median

    @property
    def call_median(self) -> float | None:
        """The median call time; None where none were taken."""
        return median(self.call_times) if self.call_times else None

    def against(self, other: "Timing") -> Duel:
        """The comparison with a contestant of the same rounds."""
        return duel(self.times, other.times)


def measure(
    contestants: Sequence[Contestant], timer: Timer, rounds: Rounds | None = None, *, cold: bool = True
) -> list[Timing]:
    """The times of all contestants, taken in the same rounds, in an order that changes from round to round."""
    settings = rounds or Rounds()
    estimate = sum(_warm_up(contestant, timer, settings, cold) for contestant in contestants)
    count = round(settings.seconds / estimate) if estimate > 0 else settings.most
    count = min(max(count, settings.least), settings.most)
    generator = random.Random(settings.seed)
    kernel_times = _interleaved(contestants, count, generator, lambda c, run: timer.start(c, run, cold), timer.finish)
    call_times = _interleaved(
        contestants, settings.calls, generator, lambda c, run: _known(timer.call_time(c, run)), timer.finish
    )
    return [
        Timing(contestant.name, timer.name, cold, tuple(kernel_times[index]), tuple(call_times[index]))
        for index, contestant in enumerate(contestants)
    ]


def _known(seconds: float) -> Resolve:
    return lambda: seconds


def _warm_up(contestant: Contestant, timer: Timer, settings: Rounds, cold: bool) -> float:
    """Run a contestant until it is warm; the seconds that one run takes, what is around it included."""
    timer.start(contestant, 0, cold)
    timer.finish()
    begin = time.perf_counter()
    pending = [timer.start(contestant, run, cold) for run in range(settings.warmup)]
    timer.finish()
    elapsed = (time.perf_counter() - begin) / max(settings.warmup, 1)
    # A timer that keeps its own clock is believed.
    return max(elapsed, *(resolve() for resolve in pending)) if pending else elapsed


_ROUNDS_AT_ONCE = 10
"""Rounds that are enqueued before the device is waited for."""


def _interleaved(
    contestants: Sequence[Contestant],
    rounds: int,
    generator: random.Random,
    start: Callable[[Contestant, int], Resolve],
    finish: Callable[[], None],
) -> list[list[float]]:
    """Seconds by contestant and round."""
    times: list[list[float]] = [[] for _ in contestants]
    pending: list[tuple[int, Resolve]] = []
    for number in range(rounds):
        order = list(range(len(contestants)))
        generator.shuffle(order)
        pending += [(index, start(contestants[index], number)) for index in order]
        if (number + 1) % _ROUNDS_AT_ONCE == 0 or number + 1 == rounds:
            finish()
            for index, resolve in pending:
                times[index].append(resolve())
            pending = []
    return times


class CudaEventTimer:
    """Times with CUDA events on PyTorch's current stream."""

    name = "cuda_events"

    def __init__(self, l2_bytes: int, device: int | None = None) -> None:
        import torch  # half a second, and most of the compiler needs none of it

        self._torch = torch
        self._device = torch.cuda.current_device() if device is None else device
        size = max(FLUSH_FACTOR * l2_bytes, LEAST_FLUSH_BYTES)
        self._flush: Tensor = torch.empty(size // 4, dtype=torch.int32, device=f"cuda:{self._device}")
        self._enqueue_seconds: dict[int, float] = {}
        """What enqueueing a run costs the host, by contestant."""

    @property
    def flush_bytes(self) -> int:
        return self._flush.numel() * 4

    def start(self, contestant: Contestant, run: int, cold: bool) -> Resolve:
        """Displace the cache, keep the device busy while the host enqueues the run, and record events around it."""
        begin, end = (self._torch.cuda.Event(enable_timing=True) for _ in range(2))
        if cold:
            self._flush.zero_()
        self._keep_busy(2 * self._enqueue_seconds.get(id(contestant), 0.0) + 20e-6)
        begin.record()
        host = time.perf_counter()
        contestant.call(run)
        seconds = time.perf_counter() - host
        end.record()
        known = self._enqueue_seconds.get(id(contestant))
        # The first run compiles, loads and allocates, so that the least is taken.
        self._enqueue_seconds[id(contestant)] = seconds if known is None else min(known, seconds)
        return lambda: begin.elapsed_time(end) * 1e-3

    def _keep_busy(self, seconds: float) -> None:
        """Let the device wait, so that it does not run dry between the first event and the run."""
        # There is no public kernel that only waits.
        sleep: Callable[[int], None] = getattr(self._torch.cuda, "_sleep")  # noqa: B009
        sleep(int(min(seconds, 0.02) * 2e9))

    def finish(self) -> None:
        self._torch.cuda.synchronize(self._device)

    def call_time(self, contestant: Contestant, run: int) -> float:
        self.finish()
        begin = time.perf_counter()
        contestant.call(run)
        self.finish()
        return time.perf_counter() - begin
