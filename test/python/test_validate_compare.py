"""Comparing one result with what is expected of it: forms, the table of what is not finite, zeros, the two figures."""

from math import inf, nan

import pytest
import torch
from interpreting import kernel_of
from torch import Tensor

from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.element_types import ELEMENT_TYPES
from ucutlass.runtime.validation.compare import NonFinite, compare
from ucutlass.runtime.validation.expected import Expected, expected_results


def expected(value: Tensor, error: float | Tensor = 0.0, element: str = "f32") -> Expected:
    """An expectation with one bound for every element."""
    type_ = TensorType.of(list(value.shape), ELEMENT_TYPES[element])
    bound = error if isinstance(error, Tensor) else torch.full(value.shape, error, dtype=torch.float64)
    return Expected("y", type_, value.double(), bound)


@pytest.mark.parametrize(
    ("reference", "found", "forbid", "match"),
    [
        (nan, nan, False, True),
        (inf, inf, False, True),
        (-inf, -inf, False, True),
        (inf, -inf, False, False),
        (1.0, nan, False, False),
        (1.0, inf, False, False),
        (nan, 1.0, False, False),
        (inf, 3e38, False, False),
        (1.0, 1.0, True, True),
    ],
)
def test_what_is_not_finite_follows_the_table(reference: float, found: float, forbid: bool, match: bool) -> None:
    policies: list[tuple[NonFinite, bool]] = [("forbid", forbid), ("match", match)]
    for policy, right in policies:
        wanted = expected(torch.tensor([2.0, reference]), 1e-3)
        assert compare(torch.tensor([2.0, found]), wanted, non_finite=policy).passed is right


def test_nothing_equals_nothing() -> None:
    assert compare(torch.empty(0, 4), expected(torch.empty(0, 4))).passed


def test_type_and_shape_come_before_numbers() -> None:
    wanted = expected(torch.zeros(2, 3))
    assert compare(torch.zeros(2, 3, dtype=torch.float16), wanted).fault == "dtype"
    assert compare(torch.zeros(3, 2), wanted).fault == "shape"
    message = compare(torch.zeros(3, 2), wanted).message
    assert "[2, 3]" in message and "[3, 2]" in message


def test_the_bound_decides_each_element() -> None:
    wanted = expected(torch.tensor([1.0, 100.0]), torch.tensor([0.5, 1e-3], dtype=torch.float64))
    assert compare(torch.tensor([1.4, 100.0005]), wanted).passed
    found = compare(torch.tensor([1.4, 100.004]), wanted)
    assert found.fault == "wrong_result"
    assert found.error_over_bound == pytest.approx(4.0, rel=1e-2)
    assert found.worst == (1,) and found.outside == 1 and found.matched_ratio == 0.5
    assert "y[1] is 100.00" in found.message


def test_an_exact_element_that_is_wrong_is_wrong() -> None:
    found = compare(torch.tensor([1.0, 2.0]), expected(torch.tensor([1.0, 3.0]), 0.0))
    assert found.fault == "wrong_result" and found.error_over_bound == inf and found.worst == (1,)


def test_zeros_are_right_where_the_reference_rounds_to_zero() -> None:
    tiny = torch.tensor([1e-9, -1e-9])
    assert compare(torch.zeros(2, dtype=torch.float16), expected(tiny, 3e-8, "f16")).passed
    small = torch.tensor([1e-3, 0.0])
    assert compare(torch.zeros(2, dtype=torch.float16), expected(small, 1e-6, "f16")).fault == "zeros"


def test_results_near_one_thousandth_are_held_to_bounds_of_their_size() -> None:
    """Under a usual absolute tolerance of 1e-2 zeros would pass here, and so would an error of one percent."""
    kernel = kernel_of("kernel f(x: f32[64, 64], w: f32[64, 64]) -> f32[64, 64] { return gemm(x, w) }")
    generator = torch.Generator().manual_seed(5)
    x, w = (torch.randn(64, 64, generator=generator) * 1e-3 for _ in range(2))
    (wanted,) = expected_results(kernel, [x, w])
    assert compare(x @ w, wanted).passed
    assert compare(torch.zeros(64, 64), wanted).fault == "zeros"
    assert compare((x @ w) * 1.0001, wanted).fault == "wrong_result"


def test_cancelling_sums_pass_and_a_lost_part_fails() -> None:
    """Products cancel but for their last bits: a bound relative to the result would refuse a right kernel."""
    kernel = kernel_of("kernel f(x: f32[8, 4096], w: f32[4096, 8]) -> f32[8, 8] { return gemm(x, w) }")
    generator = torch.Generator().manual_seed(6)
    half = torch.randn(8, 2048, generator=generator)
    weights = torch.randn(2048, 8, generator=generator)
    x = torch.cat((half, half), 1)
    w = torch.cat((weights, -weights * (1 + 1e-6)), 0)
    (wanted,) = expected_results(kernel, [x, w])
    sums = sum(x[:, k : k + 16] @ w[k : k + 16] for k in range(0, 4096, 16))
    assert isinstance(sums, Tensor)
    relative = float(((sums.double() - wanted.value).abs() / wanted.value.abs()).max())
    assert relative > 1e-3
    assert compare(sums, wanted).passed
    assert compare(sums - x[:, 64:80] @ w[64:80], wanted).fault == "wrong_result"


def test_the_norm_is_a_figure_of_its_own() -> None:
    reference = torch.ones(1000)
    found = compare(reference * 1.002, expected(reference, 1e-2), frobenius_limit=1e-3)
    assert found.fault == "frobenius" and found.frobenius == pytest.approx(2e-3, rel=1e-3)
    assert compare(reference * 1.002, expected(reference, 1e-2), frobenius_limit=3e-3).passed


def test_elements_that_may_overflow_are_not_counted_as_checked() -> None:
    """Sums near the largest f16: a right kernel may round to it or to infinity, and must say infinity far beyond."""
    kernel = kernel_of("kernel f(x: f16[3, 16], w: f16[16, 1]) -> f16[3, 1] { return gemm(x, w) }")
    x = torch.zeros(3, 16, dtype=torch.float16)
    x[0, 0], x[1, 0], x[2, 0] = 60000, 60000, 1
    x[0, 1], x[1, 1] = 5520, 60000
    w = torch.ones(16, 1, dtype=torch.float16)
    (wanted,) = expected_results(kernel, [x, w])
    for first in (65504.0, inf):
        found = torch.tensor([[first], [inf], [1.0]], dtype=torch.float16)
        result = compare(found, wanted, non_finite="match")
        assert result.passed and result.checked == 1
    wrong = torch.tensor([[inf], [65504.0], [1.0]], dtype=torch.float16)
    assert not compare(wrong, wanted, non_finite="match").passed
