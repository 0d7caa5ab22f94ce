"""Reductions and scans: types and shapes by PyTorch's own results, values in closed form, refusals by code and part."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from op_calls import DTYPES, ELEMENT_OF, call, flops, meaning, refusal, refused, result

from ucutlass.dialects.ucutlass.operations import SPECS

torch: Any = pytest.importorskip("torch")

INF, NAN = math.inf, math.nan
FP8 = ("e4m3", "e5m2")

REDUCTIONS: dict[str, Callable[[Any, list[int], bool], Any]] = {
    "sum": lambda x, d, k: torch.sum(x, d, keepdim=k),
    "mean": lambda x, d, k: torch.mean(x, d, keepdim=k),
    "max": lambda x, d, k: torch.amax(x, d, keepdim=k),
    "min": lambda x, d, k: torch.amin(x, d, keepdim=k),
    "logsumexp": lambda x, d, k: torch.logsumexp(x, d, keepdim=k),
    "var": lambda x, d, k: torch.var(x, d, keepdim=k),
    "norm": lambda x, d, k: torch.linalg.vector_norm(x, 2, d, keepdim=k),
}
"""PyTorch's functions of a list of dimensions."""
OneDimension = Callable[[Any, int | None, bool], Any]

PLACES: dict[str, OneDimension] = {
    "argmax": lambda x, d, k: torch.argmax(x, d, keepdim=k),
    "argmin": lambda x, d, k: torch.argmin(x, d, keepdim=k),
}
SCANS: dict[str, Callable[[Any, int], Any]] = {"cumsum": torch.cumsum, "cumprod": torch.cumprod}
ONE: dict[str, OneDimension] = {"prod": lambda x, d, k: torch.prod(x, d, k), **PLACES}
"""Those of one dimension."""


def text(element: str, shape: list[int] | tuple[int, ...]) -> str:
    return f"{element}[{', '.join(map(str, shape))}]"


def test_every_row_is_tested_here() -> None:
    families = {name: spec.family for name, spec in SPECS.items()}
    assert {n for n, f in families.items() if f == "reduction"} == REDUCTIONS.keys() | ONE.keys()
    assert {n for n, f in families.items() if f == "scan"} == SCANS.keys()


@pytest.mark.parametrize("name", [*REDUCTIONS, *ONE, *SCANS])
def test_element_types_are_those_of_pytorch(name: str) -> None:
    for element, dtype in DTYPES.items():
        x = torch.ones(2, 3, dtype=dtype)
        params: dict[str, Any] = {"dim": 1}
        try:
            if name in REDUCTIONS:
                found = REDUCTIONS[name](x, [1], False)
            else:
                found = SCANS[name](x, 1) if name in SCANS else ONE[name](x, 1, False)
            expected: str | None = ELEMENT_OF[found.dtype]
        except (RuntimeError, NotImplementedError):
            expected = None
        if element in FP8:  # PyTorch computes nothing in fp8; here it is a float as any other
            expected = "s64" if name in PLACES else element
        shape = [2, 3] if name in SCANS else [2]
        if expected is None:
            error = refusal(name, f"{element}[2, 3]", **params)
            assert (error.code, error.part) == ("UC0316", "operand:x") and element in error.message
        else:
            assert result(name, f"{element}[2, 3]", **params) == text(expected, shape), (name, element)
    assert result("sum", "u4[2]") == "s64[]" and result("max", "s4[2]") == "s4[]"


@st.composite
def reduced(draw: st.DrawFn) -> tuple[list[int], list[int], bool]:
    """A shape, a list of its dimensions counted from either end, and keepdim."""
    shape = draw(st.lists(st.integers(0, 4), max_size=4))
    axes = draw(st.lists(st.sampled_from(range(len(shape))), unique=True)) if shape else []
    signed = [axis - len(shape) if draw(st.booleans()) else axis for axis in axes]
    return shape, signed, draw(st.booleans())


@given(reduced(), st.sampled_from(sorted(REDUCTIONS)))
def test_shapes_and_values_are_those_of_pytorch(case: tuple[list[int], list[int], bool], name: str) -> None:
    shape, dim, keepdim = case
    x = torch.arange(math.prod(shape), dtype=torch.float64).reshape(shape).sin()
    # An absent or empty list means all dimensions.
    axes = dim or list(range(len(shape)))
    empty = any(shape[axis] == 0 for axis in axes)
    if name in ("max", "min") and empty:
        assert refused(name, text("f64", shape), dim=dim, keepdim=keepdim) == ("UC0323", "operand:x")
        return
    expected = REDUCTIONS[name](x, axes, keepdim) if shape else REDUCTIONS[name](x.reshape(1), [0], False)
    assert result(name, text("f64", shape), dim=dim, keepdim=keepdim) == text("f64", expected.shape)
    found = meaning(name, x, dim=dim, keepdim=keepdim)
    torch.testing.assert_close(found, expected, rtol=0, atol=0, equal_nan=True)
    if not dim:
        torch.testing.assert_close(meaning(name, x, keepdim=keepdim), found, rtol=0, atol=0, equal_nan=True)


@given(reduced())
def test_products_over_several_dimensions(case: tuple[list[int], list[int], bool]) -> None:
    shape, dim, keepdim = case
    x = torch.arange(math.prod(shape), dtype=torch.int64).reshape(shape) % 5 - 2
    axes = {d % len(shape) for d in dim} or set(range(len(shape)))
    kept = [1 if keepdim and axis in axes else size for axis, size in enumerate(shape) if keepdim or axis not in axes]
    found = meaning("prod", x, dim=dim, keepdim=keepdim)
    assert list(found.shape) == kept and result("prod", text("s64", shape), dim=dim, keepdim=keepdim) == text(
        "s64", kept
    )
    for place in itertools.product(*(range(size) for axis, size in enumerate(shape) if axis not in axes)):
        outer = iter(place)
        index = tuple(slice(None) if axis in axes else next(outer) for axis in range(len(shape)))
        assert found.reshape([s for a, s in enumerate(shape) if a not in axes])[place] == math.prod(
            x[index].flatten().tolist()
        )


@pytest.mark.parametrize("name", PLACES)
def test_places(name: str) -> None:
    x = torch.tensor([[1.0, 7.0, 7.0, -2.0], [NAN, 9.0, NAN, -INF]])
    for dim, keepdim in itertools.product((None, 0, 1, -1), (False, True)):
        expected = PLACES[name](x, dim, keepdim)
        assert meaning(name, x, dim=dim, keepdim=keepdim).equal(expected)
        assert result(name, "f32[2, 4]", dim=dim, keepdim=keepdim) == text("s64", expected.shape)
    first = {"argmax": [1, 0], "argmin": [3, 0]}[name]
    assert meaning(name, x, dim=1).tolist() == first
    assert (
        result(name, "f32[]", dim=-1, keepdim=True) == "s64[]" and meaning(name, torch.tensor(3.0), dim=-1).item() == 0
    )
    assert refused(name, "f32[2, 0]") == ("UC0323", "operand:x")
    assert result(name, "f32[0, 2]", dim=1) == "s64[0]" and meaning(name, torch.zeros(0, 2), dim=1).shape == (0,)


def test_values_at_the_edges() -> None:
    def listed(name: str, values: list[float], **params: Any) -> float:
        return meaning(name, torch.tensor(values), **params).item()

    assert listed("sum", []) == 0 and listed("prod", []) == 1 and math.isnan(listed("mean", []))
    assert listed("logsumexp", []) == listed("logsumexp", [-INF, -INF]) == -INF
    assert listed("logsumexp", [INF, -INF]) == INF
    assert listed("logsumexp", [1000.0, 1000.0]) == pytest.approx(1000 + math.log(2), rel=1e-7)
    assert math.isnan(listed("max", [1.0, NAN, 3.0])) and math.isnan(listed("min", [1.0, NAN]))
    assert listed("max", [-INF, -1e38]) == pytest.approx(-1e38)
    # 2^24 + 1 is no float, so sums of integers show in which type they are formed.
    integers = torch.tensor([2**24, 1, 2**31 - 1], dtype=torch.int32)
    assert meaning("sum", integers).item() == 2**24 + 2**31 and meaning("sum", integers).dtype is torch.int64
    assert meaning("sum", torch.tensor([True, True, False])).item() == 2
    assert meaning("max", torch.tensor([[True, False], [False, False]]), dim=1).tolist() == [True, False]
    assert meaning("logsumexp", torch.tensor([1, 1], dtype=torch.int32)).item() == pytest.approx(1 + math.log(2))


@pytest.mark.parametrize("p", [0, 0.5, 1, 2, 3, INF, -INF, -1])
def test_norms(p: float) -> None:
    values = [3.0, -4.0, 0.5, -1.0, 0.0] if p >= 0 else [3.0, -4.0, 0.5, -1.0]
    magnitudes = [abs(v) for v in values]
    if math.isinf(p):
        expected = max(magnitudes) if p > 0 else min(magnitudes)
    else:
        expected = sum(v != 0 for v in values) if p == 0 else sum(v**p for v in magnitudes) ** (1 / p)
    assert meaning("norm", torch.tensor(values, dtype=torch.float64), p=p).item() == pytest.approx(expected, rel=1e-12)
    extreme = p < 0 or p == INF
    assert (refused("norm", "f32[0]", p=p) == ("UC0323", "operand:x")) if extreme else result("norm", "f32[0]", p=p)
    assert extreme or meaning("norm", torch.zeros(0), p=p).item() == 0


@pytest.mark.parametrize("correction", [0, 1, 1.5, 4, 7])
def test_variances(correction: float) -> None:
    values = [1.0, 2.0, 4.0, 9.0]
    centre = sum(values) / 4
    squares = sum((v - centre) ** 2 for v in values)
    expected = squares / (4 - correction) if correction < 4 else INF
    found = meaning("var", torch.tensor([values, values]), dim=1, correction=correction, keepdim=True)
    assert found.tolist() == [[pytest.approx(expected)]] * 2


@pytest.mark.parametrize("name", SCANS)
def test_scans(name: str) -> None:
    x = torch.tensor([[1.0, 2.0, NAN, 4.0], [3.0, -1.0, 0.5, INF]])
    for dim in (0, 1, -1, -2):
        found = meaning(name, x, dim=dim)
        steps = x.unbind(dim)
        running = steps[0]
        for step, value in enumerate(steps):
            running = value if step == 0 else running + value if name == "cumsum" else running * value
            torch.testing.assert_close(found.select(dim, step), running, rtol=0, atol=0, equal_nan=True)
    assert result(name, "u8[M, 4]@col", dim=0) == "s64[M, 4]@col"
    assert meaning(name, torch.tensor([200, 2], dtype=torch.int32), dim=0).tolist() == [
        200,
        202 if name == "cumsum" else 400,
    ]
    assert result(name, "f16[]", dim=0) == "f16[]" and meaning(name, torch.tensor(3.0), dim=-1).item() == 3
    assert result(name, "f16[0, 3]", dim=0) == "f16[0, 3]" and meaning(name, torch.zeros(0, 3), dim=0).shape == (0, 3)
    assert refused(name, "f16[4, 4]", dim=2) == ("UC0304", "param:dim")
    assert refused(name, "f16[]", dim=1) == ("UC0304", "param:dim")


@pytest.mark.parametrize("name", [*REDUCTIONS, "prod"])
def test_refusals(name: str) -> None:
    for dim in (2, -3, [0, 2]):
        error = refusal(name, "f32[4, 5]", dim=dim)
        assert (error.code, error.part) == ("UC0304", "param:dim")
        assert "f32[4, 5]" in error.message and "-2" in error.message
    assert refused(name, "f32[4, 5]", dim=[1, -1]) == ("UC0317", "param:dim")
    assert refused(name, "f32[4, N]", dim="N") == ("UC0314", "param:dim")
    assert refused(name, "f32[]", dim=1) == ("UC0304", "param:dim")
    assert refused(name, "f32[]", dim=[0, -1]) == ("UC0317", "param:dim")
    assert refused(name, 2.0) == ("UC0315", "operand:x")
    assert result(name, "f32[]", dim=[-1], keepdim=True) == "f32[]"


def test_an_exponent_that_is_no_number() -> None:
    assert refused("norm", "f32[4]", p=NAN) == ("UC0309", "param:p")


def test_dynamic_sizes() -> None:
    assert result("sum", "f16[M, K, N]", dim=[0, -1]) == "f16[K]"
    assert result("sum", "f16[M, K, N]", dim=1, keepdim=True) == "f16[M, 1, N]"
    assert result("sum", "f16[M, N]@col") == "f16[]"
    assert result("mean", "f16[M, K, N]@(2,1,0)", dim=1) == "f16[M, N]"
    for name, conditions in (("max", ["K >= 1"]), ("argmin", ["K >= 1"]), ("sum", []), ("norm", [])):
        made = call(name, "f32[M, K]", dim=1)
        made.spec.infer(made)
        # That there is something to choose from is left to the launcher.
        assert [str(c) for c in made.needs] == conditions
    made = call("max", "f32[M, K]", dim=1, facts=["K >= 1"])
    made.spec.infer(made)
    assert made.needs == []


def test_costs_by_input_element() -> None:
    for name in (*REDUCTIONS, *ONE, *SCANS):
        each = {"norm": 2, "logsumexp": 4}.get(name, 1)
        assert flops(name, "f32[128, 4096, 4095]", dim=1) == each * 128 * 4096 * 4095, name
    assert str(flops("norm", "f32[M, 8]", dim=1)) == "16 * M"
    assert flops("sum", "f32[]") == 1
