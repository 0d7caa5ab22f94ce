"""Validation: right kernels pass on every distribution, and every planted fault is caught and called by its name.

Kernels are played by the interpreter in single precision, with faults put in by hand.
"""

from collections.abc import Callable, Mapping, Sequence

import pytest
import torch
from interpreting import inferred
from torch import Tensor
from validating import LINEAR, RIGHT, honest

from ucutlass.diagnostics.core import Diagnostic, DiagnosticError, Severity
from ucutlass.dialects.ucutlass.kernel import kernels_of
from ucutlass.passes.fuse import FusePass
from ucutlass.runtime.validate import Runner, Validation, frobenius_limits, validate
from ucutlass.runtime.validation.cases import Case, neighbouring_sizes, plan_cases
from ucutlass.runtime.validation.memory import content_hash


def check(
    source: str,
    fault: "Callable[[Runner], Runner] | None" = None,
    *,
    sizes: Mapping[str, int] | None = None,
    seed: int = 7,
    neighbours: bool = False,
) -> Validation:
    """Validate a program, played by the interpreter, with a fault wrapped around it."""
    kernel = kernels_of(inferred(source))[0]
    runner = honest(kernel)
    cases = plan_cases(kernel, sizes or {}, seed, rounds=2, neighbours=neighbours)
    return validate(kernel, runner if fault is None else fault(runner), cases)


def after(change: Callable[[Sequence[Tensor], Sequence[Tensor]], None]) -> Callable[[Runner], Runner]:
    """A fault that changes memory after an honest run."""

    def wrap(runner: Runner) -> Runner:
        def run(inputs: Sequence[Tensor], results: Sequence[Tensor]) -> None:
            runner(inputs, results)
            change(inputs, results)

        return run

    return wrap


# Right kernels -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", RIGHT.values(), ids=RIGHT.keys())
def test_a_right_kernel_passes(source: str) -> None:
    found = check(source)
    assert found.passed, found.failure
    assert 0 <= found.error_over_bound <= 1
    assert len(found.results) >= 5


def test_a_right_kernel_passes_after_fusion() -> None:
    """The cut between two kernels rounds, which the reference allows only of the fused program."""
    source = """
kernel f(x: f16[64, 256], w: f16[256, 64], v: f16[64]) -> f16[64, 64] {
  return softmax(gemm(x, w) >> bias(v), 1)
}"""
    module = inferred(source)
    fused = module.clone()
    from xdsl.context import Context

    FusePass().apply(Context(), fused)
    kernel, cut = kernels_of(module)[0], kernels_of(fused)[0]
    cases = [Case(seed, "normal", ()) for seed in range(3)]
    assert validate(kernel, honest(cut), cases, fused=cut).passed
    assert not validate(kernel, honest(cut), cases).passed


def test_dynamic_sizes_are_tried_around_the_given_ones() -> None:
    source = """
kernel f(x: f16[M, 64], w: f16[N, 64]) -> f16[M, N] where N % 8 == 0 { return gemm(x, w.T) >> relu() }"""
    kernel = kernels_of(inferred(source))[0]
    around = neighbouring_sizes(kernel, {"M": 256, "N": 512})
    assert {"M": 257, "N": 512} in around and {"M": 1, "N": 512} in around and {"M": 255, "N": 512} in around
    assert all(sizes["N"] % 8 == 0 for sizes in around)
    found = check(source, sizes={"M": 40, "N": 48}, neighbours=True)
    assert found.passed, found.failure
    assert {"M": 1, "N": 48} in [result.case.bindings for result in found.results]


# Planted faults ------------------------------------------------------------------------------------------------------

DEEP = """
kernel deep(x: f16[24, 16384], w: f16[16, 16384]) -> f16[24, 16] { return gemm(x, w.T) }
"""


def rounded_sums(inputs: Sequence[Tensor], results: Sequence[Tensor]) -> None:
    """f16 accumulators: the sum of each 16 products is rounded."""
    x, w = inputs
    total = torch.zeros(24, 16, dtype=torch.float16)
    for start in range(0, x.shape[1], 16):
        part = x[:, start : start + 16].float() @ w[:, start : start + 16].float().T
        total = (total.float() + part).half()
    results[0].copy_(total)


def lost_tile(inputs: Sequence[Tensor], results: Sequence[Tensor]) -> None:
    x, w = inputs
    results[0].copy_(x[:, :-64].float() @ w[:, :-64].float().T)


@pytest.mark.parametrize("fault", [rounded_sums, lost_tile])
def test_long_sums_are_held_to_a_tight_bound(fault: Callable[[Sequence[Tensor], Sequence[Tensor]], None]) -> None:
    """A bound that grows with K in the worst case would hide both; an honest kernel passes."""
    kernel = kernels_of(inferred(DEEP))[0]
    cases = [Case(11, "normal", ())]
    assert validate(kernel, honest(kernel), cases).passed
    found = validate(kernel, fault, cases)
    assert found.failure is not None and found.failure.outcome == "wrong_result"
    assert found.failure.code == "UC1011"


def wrong_tail(inputs: Sequence[Tensor], results: Sequence[Tensor]) -> None:
    results[0][-1] = results[0][-2]


def missing_bias_in_the_last_column(inputs: Sequence[Tensor], results: Sequence[Tensor]) -> None:
    x, w, _ = inputs
    column = x.float() @ w[-1].float()
    results[0][:, -1] = torch.nn.functional.gelu(column)


def one_wrong_element(inputs: Sequence[Tensor], results: Sequence[Tensor]) -> None:
    results[0][3, 5] = results[0][3, 5] * 1.01 + 0.01


def zeros(inputs: Sequence[Tensor], results: Sequence[Tensor]) -> None:
    results[0].zero_()


def not_a_number(inputs: Sequence[Tensor], results: Sequence[Tensor]) -> None:
    results[0][0, 0] = float("nan")


def changed_input(inputs: Sequence[Tensor], results: Sequence[Tensor]) -> None:
    inputs[0][0, 0] += 1


def past_the_end(inputs: Sequence[Tensor], results: Sequence[Tensor]) -> None:
    size = results[0].numel()
    results[0].as_strided((1,), (1,), results[0].storage_offset() + size).fill_(0)


def before_the_start(inputs: Sequence[Tensor], results: Sequence[Tensor]) -> None:
    results[0].as_strided((1,), (1,), results[0].storage_offset() - 8).fill_(0)


def refusal(inputs: Sequence[Tensor], results: Sequence[Tensor]) -> None:
    raise DiagnosticError(Diagnostic("UC0907", Severity.ERROR, "x is not aligned"))


def illegal_access(inputs: Sequence[Tensor], results: Sequence[Tensor]) -> None:
    raise RuntimeError("CUDA error: an illegal memory access was encountered")


@pytest.mark.parametrize(
    ("change", "outcome", "code"),
    [
        (wrong_tail, "wrong_result", "UC1011"),
        (missing_bias_in_the_last_column, "wrong_result", "UC1011"),
        (one_wrong_element, "wrong_result", "UC1011"),
        (zeros, "zeros", "UC1011"),
        (not_a_number, "non_finite", "UC1011"),
        (changed_input, "input_modified", "UC1014"),
        (past_the_end, "write_outside", "UC1015"),
        (before_the_start, "write_outside", "UC1015"),
        (refusal, "refused", "UC0907"),
        (illegal_access, "crashed", "UC0912"),
    ],
)
def test_a_planted_fault_is_called_by_its_name(
    change: Callable[[Sequence[Tensor], Sequence[Tensor]], None], outcome: str, code: str
) -> None:
    found = check(LINEAR, after(change))
    assert not found.passed and found.failure is not None
    assert (found.failure.outcome, found.failure.code) == (outcome, code)
    assert "seed" in found.failure.message


def test_an_unwritten_element_is_found() -> None:
    def lazy(runner: Runner) -> Runner:
        def run(inputs: Sequence[Tensor], results: Sequence[Tensor]) -> None:
            kept = results[0][-1, -1].clone()
            runner(inputs, results)
            results[0][-1, -1] = kept

        return run

    found = check(LINEAR, lazy)
    assert found.failure is not None and found.failure.outcome == "not_written"
    assert "2 of 4480 bytes" in found.failure.message and "place 2239" in found.failure.message


def test_a_stale_result_is_found() -> None:
    """A kernel that computes once and then hands out the same result again."""

    def stale(runner: Runner) -> Runner:
        kept: list[Tensor] = []

        def run(inputs: Sequence[Tensor], results: Sequence[Tensor]) -> None:
            if not kept:
                runner(inputs, results)
                kept.append(results[0].clone())
            results[0].copy_(kept[0])

        return run

    found = check(LINEAR, stale)
    assert found.failure is not None and found.failure.outcome == "wrong_result"
    assert len(found.results) == 2, "the first inputs are answered rightly"


def test_a_kernel_that_is_not_deterministic_is_found() -> None:
    """Two results that are both within the bound."""

    def unsteady(runner: Runner) -> Runner:
        calls = iter(range(100))

        def run(inputs: Sequence[Tensor], results: Sequence[Tensor]) -> None:
            runner(inputs, results)
            results[0].view(torch.int16)[0, 0] ^= next(calls) % 2

        return run

    found = check(LINEAR, unsteady)
    assert found.failure is not None and found.failure.outcome == "not_deterministic"


def test_a_kernel_that_is_right_for_one_seed_only_is_found() -> None:
    kernel = kernels_of(inferred(LINEAR))[0]

    def cheat(runner: Runner) -> Runner:
        def run(inputs: Sequence[Tensor], results: Sequence[Tensor]) -> None:
            runner(inputs, results)
            if float(inputs[0][0, 0]) < 0:
                results[0].mul_(2)

        return run

    cases = [Case(seed, "normal", ()) for seed in range(8)]
    assert not validate(kernel, cheat(honest(kernel)), cases).passed


def test_a_kernel_that_is_right_for_multiples_of_128_only_is_found() -> None:
    source = "kernel f(x: f16[M, 64], w: f16[32, 64]) -> f16[M, 32] { return gemm(x, w.T) }"

    def whole_tiles(runner: Runner) -> Runner:
        def run(inputs: Sequence[Tensor], results: Sequence[Tensor]) -> None:
            runner(inputs, results)
            rows = results[0].shape[0]
            results[0][rows // 128 * 128 :] = 1

        return run

    found = check(source, whole_tiles, sizes={"M": 256}, neighbours=True)
    assert found.failure is not None and found.failure.case.bindings["M"] % 128 != 0


# The parts -----------------------------------------------------------------------------------------------------------


def test_the_norm_counts_where_it_says_something() -> None:
    def limits(source: str) -> tuple[float | None, ...]:
        return frobenius_limits(kernels_of(inferred(source))[0])

    assert limits(LINEAR) == (2.0**-11 + 2 * 2.0**-11,)
    assert limits(RIGHT["tf32 of f32"]) == (2.0**-24 + 2 * 2.0**-11,)
    assert limits(RIGHT["integers"]) == (None,)
    assert limits(RIGHT["two products with a rounding between"]) == (None,)
    assert limits("kernel f(x: f16[8]) -> f16[8] { return exp(x) }") == (None,)


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.uint8, torch.float8_e4m3fn, torch.bool])
def test_a_hash_changes_with_any_element(dtype: torch.dtype) -> None:
    generator = torch.Generator().manual_seed(3)
    data = torch.randint(0, 2, (5, 7), generator=generator).to(torch.float32).to(dtype)
    hashes = {content_hash(data)}
    for place in range(35):
        other = data.clone()
        flat = other.view(torch.uint8).reshape(-1)
        flat[place * dtype.itemsize] ^= 1
        hashes.add(content_hash(other))
    assert len(hashes) == 36
    assert content_hash(data) == content_hash(data.clone())
    transposed = data.t().contiguous().t()
    assert content_hash(transposed) == content_hash(transposed.clone(memory_format=torch.preserve_format))


def test_a_hash_sees_two_elements_that_change_places() -> None:
    data = torch.arange(64, dtype=torch.int64)
    swapped = data.clone()
    swapped[3], swapped[40] = data[40], data[3]
    assert content_hash(data) != content_hash(swapped)
