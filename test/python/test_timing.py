"""Timing: medians and intervals, who is faster and when that cannot be told, order of rounds, state of the GPU.

Times come from a timer whose device is a model: it knows how long each contestant takes, and adds noise and drift.
"""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

import pytest

from ucutlass.runtime.machine import GpuState, parse_state
from ucutlass.runtime.sampling import duel, median_interval
from ucutlass.runtime.timing import Contestant, Resolve, Rounds, Timing, measure


@dataclass
class ModelTimer:
    """A device on which contestants take known times, up to noise, and get slower while it warms up."""

    seconds: dict[str, float]
    noise: float = 0.02
    drift: float = 0.0
    """By which share everything gets slower from one run to the next."""
    seed: int = 0
    name: str = "model"
    log: list[tuple[str, int, bool]] = field(default_factory=list[tuple[str, int, bool]])
    pending: int = 0

    def __post_init__(self) -> None:
        self.generator = random.Random(self.seed)

    def start(self, contestant: Contestant, run: int, cold: bool) -> Resolve:
        contestant.call(run)
        self.log.append((contestant.name, run, cold))
        self.pending += 1
        slower = 1 + self.drift * len(self.log)
        # One run in ten is disturbed by something that takes half as long again.
        hiccup = 1.5 if self.generator.random() < 0.1 else 1.0
        took = self.seconds[contestant.name] * slower * hiccup * (1 + self.generator.gauss(0, self.noise))
        return lambda: self._resolve(took)

    def _resolve(self, took: float) -> float:
        assert self.pending == 0, "a time was asked for before the device was waited for"
        return took

    def finish(self) -> None:
        self.pending = 0

    def call_time(self, contestant: Contestant, run: int) -> float:
        return self.seconds[contestant.name] + 30e-6


def contestants(*names: str) -> list[Contestant]:
    return [Contestant(name, lambda run: None) for name in names]


QUICK = Rounds(warmup=2, least=50, most=50, calls=5)


def timed(timer: ModelTimer, *names: str, seed: int = 0) -> list[Timing]:
    return measure(contestants(*names), timer, Rounds(2, 50, 50, 1.0, 5, seed))


def test_a_kernel_is_not_faster_than_itself() -> None:
    """Of 200 comparisons of one kernel with itself, at most one in a hundred may find a winner."""
    winners = 0
    for seed in range(200):
        first, second = timed(ModelTimer({"a": 1e-3, "b": 1e-3}, seed=seed), "a", "b", seed=seed)
        winners += first.against(second).winner is not None
    assert winners <= 2


def test_a_difference_of_five_percent_is_found() -> None:
    right = 0
    for seed in range(100):
        first, second = timed(ModelTimer({"a": 1e-3, "b": 1.05e-3}, seed=seed), "a", "b", seed=seed)
        right += first.against(second).winner == 0 and second.against(first).winner == 1
    assert right >= 99


def test_drift_makes_no_winner() -> None:
    """The device slows down by a tenth during the measurement: rounds are compared with themselves."""
    timer = ModelTimer({"a": 1e-3, "b": 1e-3, "c": 1.05e-3}, noise=0.005, drift=1e-3)
    first, second, third = timed(timer, "a", "b", "c")
    assert first.against(second).winner is None
    assert first.against(third).winner == 0


def test_a_difference_under_the_resolution_is_none() -> None:
    """However sure the statistics are."""
    times = [1.0 + 1e-6 * i for i in range(100)]
    assert duel(times, [1.002 * t for t in times]).winner is None
    assert duel(times, [1.004 * t for t in times]).winner == 0


def test_contestants_meet_in_every_round_in_changing_order() -> None:
    timer = ModelTimer({"a": 1e-3, "b": 2e-3, "c": 3e-3})
    timings = timed(timer, "a", "b", "c")
    counted = timer.log[-150:]
    orders: Counter[tuple[str, ...]] = Counter()
    for start in range(0, 150, 3):
        chunk = counted[start : start + 3]
        assert {name for name, _, _ in chunk} == {"a", "b", "c"}
        assert len({run for _, run, _ in chunk}) == 1
        orders[tuple(name for name, _, _ in chunk)] += 1
    assert len(orders) == 6
    assert [round(t.median * 1e3) for t in timings] == [1, 2, 3]
    assert [len(t.times) for t in timings] == [50, 50, 50]


def test_kernel_and_call_times_stand_beside_each_other() -> None:
    (timing,) = timed(ModelTimer({"a": 1e-5}, noise=0), "a")
    assert timing.median == pytest.approx(1e-5, rel=0.01)
    assert timing.call_median == pytest.approx(4e-5)
    assert timing.timer == "model" and timing.is_cold


def test_cold_and_warm_are_told_to_the_timer() -> None:
    for cold in (True, False):
        timer = ModelTimer({"a": 1e-3})
        (timing,) = measure(contestants("a"), timer, QUICK, cold=cold)
        assert timing.is_cold is cold
        assert {logged for _, _, logged in timer.log} == {cold}


def test_the_number_of_rounds_follows_the_time() -> None:
    def rounds(seconds: float) -> int:
        settings = Rounds(warmup=2, least=30, most=200, seconds=1.0, calls=0)
        (timing,) = measure(contestants("a"), ModelTimer({"a": seconds}, noise=0), settings)
        return len(timing.times)

    assert rounds(1e-5) == 200
    assert rounds(1.0) == 30
    assert 50 < rounds(0.01) < 110


def test_buffers_rotate_with_the_run() -> None:
    seen: list[int] = []
    measure([Contestant("a", seen.append)], ModelTimer({"a": 1e-3}), Rounds(2, 20, 20, 1.0, 0))
    assert seen[-20:] == list(range(20))


def coverage(samples: Sequence[Sequence[float]], true: float) -> float:
    return sum(i.low <= true <= i.high for i in map(median_interval, samples)) / len(samples)


def test_intervals_hold_the_true_median_about_as_often_as_they_say() -> None:
    generator = random.Random(1)
    samples = [[generator.expovariate(1.0) for _ in range(60)] for _ in range(100)]
    assert 0.88 <= coverage(samples, 0.6931) <= 1.0
    assert median_interval(samples[0]).median == median(samples[0])
    assert median_interval([2.0, 2.0, 2.0]).low == 2.0
    with pytest.raises(ValueError, match="no times"):
        median_interval([])


def test_the_state_of_the_gpu_is_read() -> None:
    state = parse_state("580.159.04, 0x0000000000000004, 1980, 3201, 312.55, 41\n")
    assert state == GpuState("580.159.04", 1980, 3201, 312.55, 41, "0x0000000000000004")
    assert state.is_throttled is True
    idle = parse_state("580.159.04, 0x0000000000000001, 345, 3201, [N/A], 30\n")
    assert idle.is_throttled is False and idle.power_w is None
    assert parse_state("580.1, [Not Supported], 1, 2, 3, 4").is_throttled is None
    assert parse_state("") == parse_state("an error occurred") == GpuState()
