"""Examining many kernels although some of them crash or hang: each is given a verdict, and none spoils another's.

Imports the modules beside it. The work is done by `profile.examine` in a process of its own; when that is lost, the
kernel at work is blamed and the rest goes on in another process.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from ucutlass.errors import MachineError
from ucutlass.runtime.isolation import End, run_isolated
from ucutlass.runtime.profile import (
    Began,
    Event,
    Laboratory,
    Plan,
    Spoiled,
    Subject,
    Tell,
    Timed,
    Times,
    Validated,
    cuda_laboratory,
    examine,
)
from ucutlass.runtime.validate import CODES, Outcome, Validation

DEFAULT_SILENCE = 600.0
"""Seconds without a word after which a kernel is taken to hang; `torch.compile` alone may take a minute."""


@dataclass
class Finding:
    """What is known of one kernel."""

    outcome: Outcome | None = None
    """None while it is not known."""
    message: str = ""
    code: str | None = None
    validation: Validation | None = None
    times: Times | None = None

    @property
    def passed(self) -> bool:
        return self.outcome == "passed"

    def judge(self, outcome: Outcome, message: str = "", code: str | None = None) -> None:
        """Settle it."""
        self.outcome = outcome
        self.message = message
        self.code = code or CODES.get(outcome)


def examine_all(
    subjects: Sequence[Subject],
    plan: Plan,
    *,
    factory: Callable[[], Laboratory] = cuda_laboratory,
    silence: float = DEFAULT_SILENCE,
    listen: Callable[[Event], None] | None = None,
) -> list[Finding]:
    """The findings on all subjects, in their order. Raises MachineError where there is nothing to examine them on."""
    campaign = Campaign(subjects, plan, factory, silence, listen)
    campaign.run()
    return campaign.findings


@dataclass
class Campaign:
    """One call's work, over as many processes as it takes; what is told of it becomes findings."""

    subjects: Sequence[Subject]
    plan: Plan
    factory: Callable[[], Laboratory] = cuda_laboratory
    silence: float = DEFAULT_SILENCE
    listen: Callable[[Event], None] | None = None

    def __post_init__(self) -> None:
        self.findings = [Finding() for _ in self.subjects]
        self._at_work = Began((), "start")

    @property
    def _pending(self) -> list[int]:
        return [index for index, finding in enumerate(self.findings) if finding.outcome is None]

    def run(self) -> None:
        while pending := self._pending:
            passed = frozenset(
                index
                for index in pending
                if (validation := self.findings[index].validation) is not None and validation.passed
            )
            self._at_work = Began((), "start")
            work = partial(_work, self.subjects, pending, passed, self.plan, self.factory)
            self._settle(run_isolated(work, self.hear, self.silence))
            assert len(self._pending) < len(pending), "a process settled nothing"

    def hear(self, event: Event) -> None:
        match event:
            case Began():
                self._at_work = event
            case Validated():
                self._hear_verdict(event)
            case Timed():
                self.findings[event.subject].times = event.times
                self.findings[event.subject].judge("passed")
            case Spoiled():
                self.findings[event.subject].judge(event.outcome, event.message)
        if self.listen is not None:
            self.listen(event)

    def _hear_verdict(self, event: Validated) -> None:
        finding = self.findings[event.subject]
        finding.validation = event.validation
        failure = event.validation.failure
        if failure is not None:
            finding.judge(failure.outcome, failure.message, failure.code)
        elif not self.plan.time:
            finding.judge("passed")

    def _settle(self, end: End) -> None:
        """Blame whoever was at work when the process was lost."""
        if end.kind == "done":
            return
        if end.kind == "machine":
            raise MachineError(end.detail, end.code)
        if end.kind == "raised" or not self._at_work.subjects:
            raise RuntimeError(f"the measuring process failed at {self._at_work.stage}: {end.detail}")
        outcome: Outcome = "timeout" if end.kind == "silent" else "crashed"
        for index in self._at_work.subjects:
            if self.findings[index].outcome is None:
                self.findings[index].judge(outcome, f"during {self._at_work.stage}, {end.detail}")


def _work(
    subjects: Sequence[Subject],
    chosen: Sequence[int],
    passed: frozenset[int],
    plan: Plan,
    factory: Callable[[], Laboratory],
    tell: Tell,
) -> None:
    """What the process does."""
    examine(subjects, chosen, passed, plan, factory(), tell)
