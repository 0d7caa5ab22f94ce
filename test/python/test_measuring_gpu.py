"""Validation, timing and calibration on a real GPU, with kernels that PyTorch provides: no nvcc is needed."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from interpreting import inferred
from torch import Tensor
from validating import LINEAR

from ucutlass.dialects.ucutlass.kernel import kernels_of
from ucutlass.interpreter import DISTRIBUTIONS, random_inputs
from ucutlass.runtime.baseline import baselines
from ucutlass.runtime.calibrate import calibrated
from ucutlass.runtime.machine import find_machine, gpu_data, gpu_state
from ucutlass.runtime.timing import Contestant, CudaEventTimer, Rounds, measure
from ucutlass.runtime.validate import Validation, validate
from ucutlass.runtime.validation.cases import plan_cases
from ucutlass.runtime.validation.expected import expected_results

pytestmark = pytest.mark.gpu

SLEEP: Callable[[int], None] = getattr(torch.cuda, "_sleep")  # noqa: B009  # spins for so many cycles


def linear(inputs: Sequence[Tensor], results: Sequence[Tensor]) -> None:
    """The program of `LINEAR` in single precision."""
    x, w, b = (tensor.float() for tensor in inputs)
    results[0].copy_(torch.nn.functional.gelu(x @ w.T + b))


def judged(change: Callable[[Sequence[Tensor], Sequence[Tensor]], None] | None = None) -> Validation:
    def run(inputs: Sequence[Tensor], results: Sequence[Tensor]) -> None:
        linear(inputs, results)
        if change is not None:
            change(inputs, results)

    kernel = kernels_of(inferred(LINEAR))[0]
    return validate(kernel, run, plan_cases(kernel, {}, 3, rounds=2), device="cuda")


def test_a_right_kernel_passes_on_the_device() -> None:
    found = judged()
    assert found.passed, found.failure
    assert 0 < found.error_over_bound <= 1


def wrong_tail(inputs: Sequence[Tensor], results: Sequence[Tensor]) -> None:
    results[0][-1] = results[0][-2]


def changed_input(inputs: Sequence[Tensor], results: Sequence[Tensor]) -> None:
    inputs[0][0, 0] += 1


def past_the_end(inputs: Sequence[Tensor], results: Sequence[Tensor]) -> None:
    end = results[0].storage_offset() + results[0].numel()
    results[0].as_strided((1,), (1,), end).fill_(0)


@pytest.mark.parametrize(
    ("change", "outcome"),
    [(wrong_tail, "wrong_result"), (changed_input, "input_modified"), (past_the_end, "write_outside")],
)
def test_faults_are_found_on_the_device(
    change: Callable[[Sequence[Tensor], Sequence[Tensor]], None], outcome: str
) -> None:
    found = judged(change)
    assert found.failure is not None and found.failure.outcome == outcome


def test_the_reference_of_the_device_is_that_of_the_host() -> None:
    """Double precision on both: no TF32 slips in."""
    kernel = kernels_of(inferred(LINEAR))[0]
    inputs = random_inputs(kernel, {}, 5)
    (host,) = expected_results(kernel, inputs)
    (device,) = expected_results(kernel, [tensor.cuda() for tensor in inputs])
    assert torch.allclose(device.value.cpu(), host.value, rtol=1e-12, atol=1e-12)
    assert torch.allclose(device.error.cpu(), host.error, rtol=1e-6)


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_inputs_are_drawn_on_the_device(distribution: Any) -> None:
    kernel = kernels_of(inferred(LINEAR))[0]
    once, again = (random_inputs(kernel, {}, 5, distribution, "cuda") for _ in range(2))
    assert all(tensor.is_cuda and torch.equal(tensor, other) for tensor, other in zip(once, again, strict=True))


def timer() -> CudaEventTimer:
    return CudaEventTimer(find_machine().l2_bytes)


def test_a_known_time_is_measured() -> None:
    """Spinning twice as long takes twice as long, and nothing else is in the time."""
    contestants = [Contestant(str(cycles), lambda run, c=cycles: SLEEP(c)) for cycles in (200_000, 400_000)]
    short, long = measure(contestants, timer(), Rounds(5, 30, 30, 0.2, 5))
    assert long.median / short.median == pytest.approx(2, rel=0.1)
    assert 50e-6 < short.median < 400e-6
    assert short.call_median is not None and short.call_median > short.median


def test_the_cost_of_the_call_is_not_in_the_kernel_time() -> None:
    """What a call costs the host is known from earlier runs, and the device is kept busy for so long."""

    def slow_host(run: int) -> None:
        total = 0
        for number in range(20_000):
            total += number
        SLEEP(100_000)

    quick, slow = measure(
        [Contestant("quick", lambda run: SLEEP(100_000)), Contestant("slow", slow_host)],
        timer(),
        Rounds(5, 30, 30, 0.2, 5),
    )
    assert slow.median == pytest.approx(quick.median, rel=0.2)


def test_cold_and_warm_differ() -> None:
    """A sum over 16 MiB reads the cache when warm and the memory when cold."""
    data = torch.ones(4 << 20, device="cuda")
    contestant = Contestant("sum", lambda run: torch.sum(data))
    (cold,) = measure([contestant], timer(), Rounds(5, 30, 30, 0.2, 0))
    (warm,) = measure([contestant], timer(), Rounds(5, 30, 30, 0.2, 0), cold=False)
    assert warm.median < cold.median


def test_a_kernel_is_not_faster_than_itself_on_the_device() -> None:
    a, b = (torch.randn(1024, 1024, device="cuda", dtype=torch.float16) for _ in range(2))
    winners = 0
    device_timer = timer()
    for trial in range(20):
        first, second = measure(
            [Contestant(name, lambda run: torch.matmul(a, b)) for name in ("a", "b")],
            device_timer,
            Rounds(3, 40, 40, 0.1, 0, trial),
        )
        winners += first.against(second).winner is not None
    assert winners <= 1


def test_baselines_run() -> None:
    kernel = kernels_of(inferred(LINEAR))[0]
    inputs = random_inputs(kernel, {}, 1, device="cuda")
    (wanted,) = expected_results(kernel, inputs)
    for baseline in baselines(kernel, {}):
        (found,) = baseline.run(*inputs)
        if baseline.computes_all:
            error = (found.double() - wanted.value).square().sum().sqrt() / wanted.value.square().sum().sqrt()
            assert float(error) < 2e-3


def test_calibration_stays_under_the_datasheet() -> None:
    gpu = gpu_data(find_machine())
    measured = calibrated(gpu, timer(), size=4096)
    for name in ("f16", "bf16", "tf32"):
        assert 0.4 < measured.peak(name) / gpu.peak(name) <= 1.05
    assert 0.6 < measured.memory_bytes_per_s / gpu.memory_bytes_per_s <= 1.0


def test_the_state_of_the_device_is_read() -> None:
    state = gpu_state()
    assert state.driver is not None and state.sm_clock_mhz is not None and state.sm_clock_mhz > 0
