"""Statistics of repeated times: medians with intervals, and whether one of two is really shorter.

A leaf: imports only the standard library. Nothing is assumed of how times scatter, except that they do so independently
from one round to the next; what drifts over many rounds meets all contestants of a round alike, so that contestants are
compared round by round.
"""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

RESAMPLES = 1000
CONFIDENCE = 0.95
"""Of the interval that is shown with a median."""
DECIDING_CONFIDENCE = 0.995
"""Of the interval that decides: of 200 comparisons of a kernel with itself, one may err."""
RESOLUTION = 0.003
"""Relative differences up to this are never called one: memory placement alone can make them."""

_TICK = 1e-9
"""Seconds; shorter times are taken to be this long."""


@dataclass(frozen=True)
class Interval:
    """A median and where the true one lies."""

    median: float
    low: float
    high: float

    def overlaps(self, other: "Interval") -> bool:
        return self.low <= other.high and other.low <= self.high


def median_interval(times: Sequence[float], confidence: float = CONFIDENCE, seed: int = 0) -> Interval:
    """The median with its bootstrap interval."""
    if not times:
        raise ValueError("there are no times to take the median of")
    generator = random.Random(seed)
    medians = sorted(median(generator.choices(times, k=len(times))) for _ in range(RESAMPLES))
    tail = (1 - confidence) / 2
    low = medians[math.floor(tail * (RESAMPLES - 1))]
    high = medians[math.ceil((1 - tail) * (RESAMPLES - 1))]
    return Interval(median(times), low, high)


@dataclass(frozen=True)
class Duel:
    """Two contestants that were timed in the same rounds."""

    ratio: Interval
    """Of the first one's times to the second one's."""

    @property
    def is_resolved(self) -> bool:
        """Whether they differ by more than chance and the resolution."""
        return not (self.ratio.low <= 1 <= self.ratio.high) and abs(self.ratio.median - 1) > RESOLUTION

    @property
    def winner(self) -> int | None:
        """0 where the first one is faster, 1 where the second one is, None where that cannot be told."""
        if not self.is_resolved:
            return None
        return 0 if self.ratio.median < 1 else 1


def duel(first: Sequence[float], second: Sequence[float], seed: int = 0) -> Duel:
    """Compare two contestants, whose times of one round stand at one place of both lists."""
    # A timer that ticks coarsely may give 0 for next to no work.
    logs = [math.log(max(a, _TICK) / max(b, _TICK)) for a, b in zip(first, second, strict=True)]
    interval = median_interval(logs, DECIDING_CONFIDENCE, seed)
    return Duel(Interval(math.exp(interval.median), math.exp(interval.low), math.exp(interval.high)))
