"""A laboratory without a GPU: kernels are played by the interpreter, what they do wrong is in their library's name."""

import os
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from torch import Tensor
from validating import honest

from ucutlass.errors import MachineError
from ucutlass.runtime.campaign import Campaign, Finding
from ucutlass.runtime.machine import GpuState
from ucutlass.runtime.profile import Event, Plan, Subject, examine, read_subject
from ucutlass.runtime.timing import Contestant, Resolve, Timer
from ucutlass.runtime.validate import Runner

BASELINE_SECONDS = 2e-3


@dataclass
class FakeTimer:
    """Believes what the kernels say they took; baselines say nothing and take two milliseconds."""

    name: str = "fake"
    said: float = 0.0
    runs: list[str] = field(default_factory=list[str])

    def start(self, contestant: Contestant, run: int, cold: bool) -> Resolve:
        self.said = BASELINE_SECONDS
        contestant.call(run)
        self.runs.append(contestant.name)
        # A little noise, the same for everyone.
        took = self.said * (1 + 1e-4 * (run % 7)) * (1.0 if cold else 0.5)
        return lambda: took

    def finish(self) -> None:
        self.said = 0.0

    def call_time(self, contestant: Contestant, run: int) -> float:
        return self.start(contestant, run, True)() + 1e-5


class FakeLaboratory:
    """Kernels by the name of their library.

    `ok:SECONDS` is right and takes so long; `wrong`, `die`, `hang` and `crash` do that, and with `-late` only once they
    are timed.
    """

    device = "cpu"

    def __init__(self) -> None:
        self._timer = FakeTimer()
        self.timer: Timer = self._timer

    def load(self, subject: Subject) -> Runner:
        kind, _, seconds = Path(subject.library).name.partition(":")
        play = honest(read_subject(subject).kernel)
        calls = iter(range(10**9))

        def run(inputs: Sequence[Tensor], results: Sequence[Tensor]) -> None:
            play(inputs, results)
            self._timer.said = float(seconds or 1e-3)
            late = kind.endswith("-late")
            if kind == "ok" or (late and next(calls) < 3):
                return
            misbehave(kind.removesuffix("-late"), results)

        return run

    def state(self) -> GpuState:
        return GpuState(driver="1.2", sm_clock_mhz=1980.0)


def misbehave(kind: str, results: Sequence[Tensor]) -> None:
    match kind:
        case "wrong":
            results[0].view(-1)[0] += 1
        case "die":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "hang":
            time.sleep(1000)
        case "crash":
            raise RuntimeError("CUDA error: an illegal memory access was encountered")
        case _:
            raise AssertionError(kind)


def fake_laboratory() -> FakeLaboratory:
    return FakeLaboratory()


def examine_here(
    subjects: Sequence[Subject], plan: Plan, *, silence: float, listen: Callable[[Event], None]
) -> list[Finding]:
    """What `examine_all` does, in this process: quicker, but no kernel may crash."""
    campaign = Campaign(subjects, plan, listen=listen)
    examine(subjects, range(len(subjects)), frozenset(), plan, FakeLaboratory(), campaign.hear)
    return campaign.findings


def no_laboratory() -> FakeLaboratory:
    raise MachineError("there is no GPU", "UC0901")


def broken_laboratory() -> FakeLaboratory:
    raise ZeroDivisionError("a defect")


def leaves(tell: Callable[[int], None]) -> None:
    """Tells one thing and is gone."""
    tell(1)
    os._exit(7)
