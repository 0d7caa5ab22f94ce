"""Examining kernels: verdicts, times beside baselines, and that a kernel that crashes or hangs spoils no other's."""

import pytest
from interpreting import kernel_of
from profiling_fakes import (
    BASELINE_SECONDS,
    FakeLaboratory,
    broken_laboratory,
    fake_laboratory,
    leaves,
    no_laboratory,
)
from validating import LINEAR

from ucutlass.errors import MachineError
from ucutlass.runtime.campaign import Finding, examine_all
from ucutlass.runtime.isolation import run_isolated
from ucutlass.runtime.profile import Began, Event, Plan, Subject, Timed, examine, program_key
from ucutlass.runtime.timing import Rounds

PLAN = Plan(seed=5, rounds=1, distributions=("normal",), timing=Rounds(1, 10, 10, 0.1, 2), compiled=False)


def subject(library: str, text: str = LINEAR) -> Subject:
    return Subject(f"{library}.ucu", text, "ucu", None, "linear", {}, library)


def findings(*libraries: str, plan: Plan = PLAN, silence: float = 60.0) -> list[Finding]:
    return examine_all([subject(name) for name in libraries], plan, factory=fake_laboratory, silence=silence)


# In one process ------------------------------------------------------------------------------------------------------


def told(subjects: list[Subject], plan: Plan = PLAN) -> list[Event]:
    events: list[Event] = []
    examine(subjects, range(len(subjects)), frozenset(), plan, FakeLaboratory(), events.append)
    return events


def test_kernels_that_compute_the_same_are_timed_together() -> None:
    other = LINEAR.replace("gelu", "relu")
    tiled = LINEAR.replace("gemm(x, w.T)", "gemm(x, w.T).with_tile(128, 128, 64)").replace("y", "z")
    events = told([subject("ok:1e-3"), subject("ok:2e-3", other), subject("ok:3e-3", tiled)])
    timing = [event.subjects for event in events if isinstance(event, Began) and event.stage == "timing"]
    assert timing == [(0, 2), (1,)]


def test_setters_and_names_do_not_change_what_a_program_computes() -> None:
    key = program_key(kernel_of(LINEAR))
    assert key == program_key(kernel_of(LINEAR.replace("w.T)", "w.T).with_stages(4)").replace("b: f16", "c: f16")
                                        .replace("bias(b)", "bias(c)")))  # fmt: skip
    assert key != program_key(kernel_of(LINEAR.replace("gelu()", "gelu(approximate=tanh)")))
    assert key != program_key(kernel_of(LINEAR.replace("gelu()", "relu()")))
    assert key != program_key(kernel_of(LINEAR.replace("96", "97")))


def test_times_stand_beside_those_of_baselines() -> None:
    (timed,) = (event for event in told([subject("ok:1e-3")]) if isinstance(event, Timed))
    times = timed.times
    assert times.cold.median == pytest.approx(1e-3, rel=1e-3) and times.cold.timer == "fake"
    assert times.warm is not None and times.warm.median == pytest.approx(0.5e-3, rel=1e-3)
    assert times.cold.call_median == pytest.approx(1.01e-3, rel=1e-3)
    assert [baseline.name for baseline in times.baselines] == ["torch.matmul", "eager"]
    for baseline in times.baselines:
        assert baseline.timing.median == pytest.approx(BASELINE_SECONDS, rel=1e-3)
        assert baseline.ratio.median == pytest.approx(0.5, rel=1e-3) and baseline.is_resolved
    assert [baseline.computes_all for baseline in times.baselines] == [False, True]
    assert times.before.sm_clock_mhz == 1980 and times.data == "normal"


def test_what_pytorch_cannot_run_is_named_and_left_out() -> None:
    source = "kernel linear(x: u4[16, 32], w: u4[16, 32]) -> s32[16, 16] { return gemm(x, w.T) }"
    (timed,) = (event for event in told([subject("ok:1e-3", source)]) if isinstance(event, Timed))
    assert not timed.times.baselines
    ((label, reason),) = timed.times.failed_baselines
    assert label == "eager" and "no integers of 4 bits" in reason


# In processes of their own -------------------------------------------------------------------------------------------


def test_each_kernel_gets_its_own_verdict() -> None:
    """One that is wrong, one that kills its process, one that hangs, one that loses the device; the rest are fine."""
    found = findings("ok:1e-3", "wrong", "die", "ok:2e-3", "crash", "ok:3e-3")
    assert [finding.outcome for finding in found] == [
        "passed",
        "wrong_result",
        "crashed",
        "passed",
        "crashed",
        "passed",
    ]
    assert [finding.code for finding in found if not finding.passed] == ["UC1011", "UC0912", "UC0912"]
    assert "signal 11" in found[2].message and "illegal memory access" in found[4].message
    medians = [finding.times.cold.median for finding in found if finding.times is not None]
    assert medians == pytest.approx([1e-3, 2e-3, 3e-3], rel=1e-3)


def test_a_kernel_that_hangs_is_stopped() -> None:
    found = findings("hang", "ok:1e-3", silence=25.0)
    assert [finding.outcome for finding in found] == ["timeout", "passed"]
    assert found[0].code == "UC0913"


def test_a_kernel_that_dies_while_it_is_timed_is_blamed() -> None:
    other = subject("ok:1e-3", LINEAR.replace("gelu", "relu"))
    found = examine_all([subject("die-late"), other], PLAN, factory=fake_laboratory, silence=60.0)
    assert [finding.outcome for finding in found] == ["crashed", "passed"]
    assert "during timing" in found[0].message
    assert found[0].validation is not None and found[0].validation.passed


def test_results_of_timed_runs_are_verified_too() -> None:
    (found,) = findings("wrong-late")
    assert found.outcome == "wrong_result" and found.times is None
    assert "after it was timed" in found.message


def test_without_times_validation_is_the_verdict() -> None:
    plan = Plan(seed=5, rounds=1, distributions=("normal",), time=False)
    found = findings("ok:1e-3", "wrong", plan=plan)
    assert [finding.outcome for finding in found] == ["passed", "wrong_result"]
    assert all(finding.times is None for finding in found)


def test_a_machine_without_a_gpu_is_said_so() -> None:
    with pytest.raises(MachineError, match="no GPU") as caught:
        examine_all([subject("ok:1")], PLAN, factory=no_laboratory)
    assert caught.value.code == "UC0901"


def test_a_defect_is_no_verdict_on_a_kernel(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(RuntimeError, match="failed at start") as caught:
        examine_all([subject("ok:1")], PLAN, factory=broken_laboratory)
    assert "exception" in str(caught.value)
    assert "ZeroDivisionError: a defect" in capfd.readouterr().err


def test_a_process_that_leaves_is_noticed() -> None:
    heard: list[int] = []
    end = run_isolated(leaves, heard.append, 60.0)
    assert heard == [1] and end.kind == "died" and "exit code 7" in end.detail
