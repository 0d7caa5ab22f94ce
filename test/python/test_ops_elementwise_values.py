"""Meanings of element-wise operations, by closed forms and by hand."""

import math
from collections.abc import Callable
from typing import Any

import pytest
from op_calls import meaning

from ucutlass.dialects.ucutlass.operations import SPECS
from ucutlass.element_types import ELEMENT_TYPES

torch: Any = pytest.importorskip("torch")

INF, NAN = math.inf, math.nan


def _log1p_exp(x: float) -> float:
    return x + math.log1p(math.exp(-x)) if x > 0 else math.log1p(math.exp(x))


CLOSED: dict[str, Callable[[float], float]] = {
    "relu": lambda x: x if x > 0 else 0.0,
    "relu6": lambda x: min(max(x, 0.0), 6.0),
    "leaky_relu": lambda x: x if x > 0 else 0.01 * x,
    "elu": lambda x: x if x > 0 else math.expm1(x),
    "selu": lambda x: 1.0507009873554805 * (x if x > 0 else 1.6732632423543772 * math.expm1(x)),
    "gelu": lambda x: x * math.erfc(-x / math.sqrt(2)) / 2,
    "silu": lambda x: x / (1 + math.exp(-x)),
    "mish": lambda x: x * math.tanh(_log1p_exp(x)),
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    "hardsigmoid": lambda x: min(max(x + 3, 0), 6) / 6,
    "hardswish": lambda x: x * min(max(x + 3, 0), 6) / 6,
    "hardtanh": lambda x: min(max(x, -1.0), 1.0),
    "softplus": lambda x: x if x > 20 else _log1p_exp(x),
    "softsign": lambda x: x / (1 + abs(x)),
    "tanh": math.tanh,
    "exp": math.exp,
    "log": lambda x: math.log(x) if x > 0 else -INF if x == 0 else NAN,
    "sqrt": lambda x: math.sqrt(x) if x >= 0 else NAN,
    "rsqrt": lambda x: 1 / math.sqrt(x) if x > 0 else math.copysign(INF, x) if x == 0 else NAN,
    "reciprocal": lambda x: 1 / x if x else math.copysign(INF, x),
    "abs": abs,
    "neg": lambda x: -x,
    "square": lambda x: x * x,
    "erf": math.erf,
    "sin": math.sin,
    "cos": math.cos,
    "logsigmoid": lambda x: -_log1p_exp(-x),
}


def test_every_unary_row_has_a_closed_form() -> None:
    assert {name for name, spec in SPECS.items() if spec.family == "unary"} == CLOSED.keys() | {"clamp", "cast"}


GRID = [
    -100.0,
    -30.0,
    -8.5,
    -4.0,
    -3.0,
    -1.0,
    -0.5,
    -1e-3,
    -1e-30,
    -1e-310,
    -0.0,
    0.0,
    1e-310,
    1e-8,
    0.25,
    1.0,
    2.9,
    3.0,
    6.0,
    20.5,
]


@pytest.mark.parametrize("name", CLOSED)
def test_unary_meanings_are_the_closed_forms(name: str) -> None:
    samples = torch.cat([torch.tensor(GRID, dtype=torch.float64), torch.randn(200, dtype=torch.float64) * 4])
    found = meaning(name, samples)
    expected = torch.tensor([CLOSED[name](x) for x in samples.tolist()], dtype=torch.float64)
    # PyTorch's gelu cancels in its tail, to an absolute error of one unit in the last place of 1; the others do not.
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-15, equal_nan=True)
    single = meaning(name, samples.to(torch.float32))
    assert single.dtype is torch.float32
    torch.testing.assert_close(
        single, meaning(name, samples.float().double()).float(), rtol=2e-5, atol=2e-6, equal_nan=True
    )


@pytest.mark.parametrize("name", CLOSED)
def test_unary_meanings_at_the_edges(name: str) -> None:
    assert meaning(name, torch.tensor([NAN])).isnan().all()
    assert meaning(name, torch.zeros(0, 3)).shape == (0, 3)
    assert meaning(name, torch.tensor(0.5)).shape == ()
    limits = {
        "relu": (INF, 0.0),
        "elu": (INF, -1.0),
        "sigmoid": (1.0, 0.0),
        "softplus": (INF, 0.0),
        "tanh": (1.0, -1.0),
    }
    limits |= {
        "logsigmoid": (0.0, -INF),
        "hardtanh": (1.0, -1.0),
        "exp": (INF, 0.0),
        "erf": (1.0, -1.0),
        "abs": (INF, INF),
    }
    if name in limits:
        assert tuple(meaning(name, torch.tensor([INF, -INF])).tolist()) == limits[name]


def test_parameters_reach_the_meaning() -> None:
    x = torch.tensor([-2.0, -0.5, 0.5, 2.0])
    assert meaning("leaky_relu", x, slope=0.5).tolist() == [-1.0, -0.25, 0.5, 2.0]
    torch.testing.assert_close(meaning("elu", x, alpha=2.0), torch.where(x > 0, x, 2 * torch.expm1(x)))
    assert meaning("hardtanh", x, lo=-0.5, hi=0.25).tolist() == [-0.5, -0.5, 0.25, 0.25]
    assert meaning("clamp", x, lo=0).tolist() == [0.0, 0.0, 0.5, 2.0]
    assert meaning("clamp", x, hi=0).tolist() == [-2.0, -0.5, 0.0, 0.0]
    assert meaning("clamp", x, lo=1, hi=-1).tolist() == [-1.0] * 4
    assert meaning("clamp", torch.tensor([1, 5]), lo=2, hi=3).tolist() == [2, 3]
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
    torch.testing.assert_close(meaning("gelu", x, approximate="tanh"), 0.5 * x * (1 + torch.tanh(inner)))
    assert meaning("cast", x, dtype=ELEMENT_TYPES["s8"]) is x


def test_binary_meanings() -> None:
    a = torch.tensor([1.5, -2.0, NAN, 0.0, INF, 3.0])
    b = torch.tensor([2.0, 0.5, 1.0, 0.0, -INF, NAN])

    def listed(name: str, *operands: Any) -> list[str]:
        return [str(v) for v in meaning(name, *operands).tolist()]

    assert listed("add", a, b) == ["3.5", "-1.5", "nan", "0.0", "nan", "nan"]
    assert listed("sub", a, b) == ["-0.5", "-2.5", "nan", "0.0", "inf", "nan"]
    assert listed("mul", a, b) == ["3.0", "-1.0", "nan", "0.0", "-inf", "nan"]
    assert listed("div", a, b) == ["0.75", "-4.0", "nan", "nan", "nan", "nan"]
    assert listed("maximum", a, b) == ["2.0", "0.5", "nan", "0.0", "inf", "nan"]
    assert listed("minimum", a, b) == ["1.5", "-2.0", "nan", "0.0", "-inf", "nan"]
    assert listed("gt", a, b) == ["False", "False", "False", "False", "True", "False"]
    assert listed("ne", a, b) == ["True", "True", "True", "False", "True", "True"]
    assert listed("le", a, 1.5) == ["True", "True", "False", "True", "False", "False"]
    assert listed("ge", 1.5, a) == ["True", "True", "False", "True", "False", "False"]
    assert listed("maximum", a, 1) == ["1.5", "1.0", "nan", "1.0", "inf", "3.0"]
    assert listed("minimum", 1, a) == ["1.0", "-2.0", "nan", "0.0", "1.0", "1.0"]
    assert listed("fma", a, b, 1.0) == ["4.0", "0.0", "nan", "1.0", "-inf", "nan"]
    assert listed("where", a > 0, a, b) == ["1.5", "0.5", "1.0", "0.0", "inf", "3.0"]
    assert listed("where", a > 0, 1, 0.5) == ["1.0", "0.5", "0.5", "0.5", "1.0", "1.0"]
    assert listed("pow", torch.tensor([2.0, 9.0, -8.0, 0.0, NAN]), 0.5)[1:] == ["3.0", "nan", "0.0", "nan"]
    assert listed("pow", 2, torch.tensor([3, 0], dtype=torch.int32)) == ["8", "1"]
    integers = torch.tensor([7, -7], dtype=torch.int32)
    assert listed("div", integers, 2) == ["3.5", "-3.5"]
    assert meaning("div", integers, integers).dtype is torch.float32
    assert listed("maximum", integers, 0.5) == ["7.0", "0.5"]
    assert listed("add", torch.tensor([True, True, False]), torch.tensor([True, False, False])) == [
        "True",
        "True",
        "False",
    ]


def test_epilogue_meanings() -> None:
    v = torch.arange(24.0).reshape(2, 3, 4)
    b = torch.tensor([100.0, 200.0, 300.0])
    assert meaning("bias", v, b, axis=1).equal(v + b[None, :, None])
    assert meaning("bias", v, torch.arange(4.0), axis=2).equal(v + torch.arange(4.0))
    assert meaning("scale", v, torch.tensor([[2.0], [3.0], [4.0]])).equal(v * torch.tensor([2.0, 3.0, 4.0])[:, None])
    assert meaning("residual", v, v).equal(2 * v)
    assert meaning("residual", v, v, beta=-0.5).equal(0.5 * v)
    unread = torch.full((5, 2, 3, 4), NAN)
    assert meaning("residual", v, unread, beta=0).equal(v.expand(5, 2, 3, 4))
