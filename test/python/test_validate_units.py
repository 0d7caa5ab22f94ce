"""The constants of the error bounds, against PyTorch's knowledge of the types and against sums that are really made."""

import pytest
import torch

from ucutlass.element_types import ELEMENT_TYPES
from ucutlass.runtime.validation.units import (
    holds,
    operand_roundoff,
    product_sum_error,
    smallest_step,
    sum_error,
)


@pytest.mark.parametrize("name", ["f64", "f32", "f16", "bf16", "e4m3", "e5m2"])
def test_the_smallest_step_is_pytorchs(name: str) -> None:
    element = ELEMENT_TYPES[name]
    assert element.torch is not None
    info = torch.finfo(getattr(torch, element.torch))
    assert smallest_step(element) == info.smallest_normal * 2.0**-element.mantissa


def test_which_types_hold_which() -> None:
    def pairs(*texts: str) -> list[bool]:
        return [holds(ELEMENT_TYPES[wide], ELEMENT_TYPES[narrow]) for wide, narrow in (t.split(">") for t in texts)]

    assert all(pairs("f32>f16", "f32>bf16", "f16>e4m3", "bf16>e5m2", "f16>e5m2", "tf32>f16", "f32>tf32", "f16>s8"))
    assert not any(pairs("f16>bf16", "bf16>f16", "e4m3>e5m2", "f16>f32", "bf16>s32", "s8>f16"))
    assert operand_roundoff("f16", ELEMENT_TYPES["f16"]) == operand_roundoff("f16", ELEMENT_TYPES["e4m3"]) == 0
    assert operand_roundoff("tf32", ELEMENT_TYPES["f32"]) == 2.0**-11


@pytest.mark.parametrize("count", [2, 100, 4096, 65536])
def test_sums_in_single_precision_stay_within_their_bound(count: int) -> None:
    """Term by term, the worst order; of magnitudes that are all of one sign, the worst signs."""
    generator = torch.Generator().manual_seed(count)
    terms = torch.rand(count, 64, generator=generator)
    total = torch.zeros(64)
    for term in terms:
        total += term
    exact = terms.double().sum(0)
    error = float(((total.double() - exact).abs() / exact).max())
    assert error <= sum_error(count, 2.0**-24) <= count * 2.0**-24


def test_sums_of_products_are_known_by_mode() -> None:
    """The table of the documentation, at K = 4096."""

    def loss(mode: str, accumulator: str | None = None, is_fast: bool = False) -> float:
        return product_sum_error(mode, accumulator, is_fast, 4096)

    assert loss("f16") == loss("bf16") == (256 + 8) * 2.0**-23
    assert loss("tf32") == (512 + 8) * 2.0**-23
    assert loss("tf32x3") == (3 * 512 + 8) * 2.0**-23
    assert loss("f16", "f16") == (256 + 2) * 2.0**-10
    assert loss("f32") == (4 * 64 + 4 + 2) * 2.0**-24
    assert loss("e4m3") == pytest.approx(5 * 2.0**-13, rel=0.01)
    assert loss("e4m3", is_fast=True) == pytest.approx(129 * 2.0**-13, rel=0.01)
    assert loss("s8") == loss("s32") == 0
    assert loss("f64") < 1e-13
