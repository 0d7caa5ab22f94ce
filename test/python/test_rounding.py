"""The one rounding, against exact rational arithmetic: every value of the narrow types, their ties and their edges."""

import math
from bisect import bisect_left
from fractions import Fraction
from typing import Any

import pytest

from ucutlass.element_types import BOOL, ELEMENT_TYPES, F64, S64, ElementType
from ucutlass.interpreter.rounding import round_to

torch: Any = pytest.importorskip("torch")

SATURATING = ("e4m3", "e5m2")
SOURCES = (torch.float32, torch.float64)


def rounded(value: Any, element: ElementType) -> Any:
    return round_to(torch, value, element)


def finite_values(element: ElementType) -> list[float]:
    """All finite values of a float of at most 16 bits, from the definition of the format, in order; zero once."""
    exponent_bits = {"f16": 5, "bf16": 8, "e4m3": 4, "e5m2": 5}[element.name]
    bias = 2 ** (exponent_bits - 1) - 1
    values: set[Fraction] = set()
    for exponent in range(2**exponent_bits):
        for mantissa in range(2**element.mantissa):
            scale = Fraction(2) ** (max(exponent, 1) - bias - element.mantissa)
            values.add((mantissa + (2**element.mantissa if exponent else 0)) * scale)
    positive = sorted(v for v in values if v <= Fraction(element.max_finite))
    assert float(positive[-1]) == element.max_finite
    return [-float(v) for v in reversed(positive[1:])] + [float(v) for v in positive]


def nearest(values: list[float], element: ElementType, x: Fraction) -> float:
    """The right answer for a finite x: nearest, ties to the even mantissa, overflow as the format does it."""
    step = Fraction(2) ** (math.frexp(element.max_finite)[1] - 1 - element.mantissa)
    if abs(x) >= Fraction(element.max_finite) + step / 2:
        limit = element.max_finite if element.name in SATURATING else math.inf
        return limit if x > 0 else -limit
    position = bisect_left(values, x)
    around = values[max(0, position - 1) : position + 1]
    closest = min(abs(Fraction(v) - x) for v in around)
    tied = [v for v in around if abs(Fraction(v) - x) == closest]
    if len(tied) == 1:
        return tied[0]
    # Of two neighbours the one with an even mantissa is a multiple of twice their distance.
    spacing = Fraction(tied[1]) - Fraction(tied[0])
    return next(v for v in tied if Fraction(v) % (2 * spacing) == 0)


def bits(values: Any) -> list[int]:
    return values.to(torch.float32).view(torch.int32).tolist()


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("name", ["e4m3", "e5m2", "f16", "bf16"])
def test_every_value_and_every_tie(name: str, source: Any) -> None:
    element = ELEMENT_TYPES[name]
    values = finite_values(element)
    assert len(values) == {"e4m3": 253, "e5m2": 247, "f16": 63487, "bf16": 65279}[name]
    exact = torch.tensor(values, dtype=torch.float64)
    ties = (exact[1:] + exact[:-1]) / 2
    # One double beside a tie decides it; in single precision such a neighbour is the tie itself or farther away.
    infinity = torch.tensor(math.inf, dtype=torch.float64)
    beside = torch.cat([torch.nextafter(ties, infinity), torch.nextafter(ties, -infinity)])
    samples = torch.cat([exact, ties] + ([beside] if source is torch.float64 else [])).to(source)
    if len(samples) > 20000:
        samples = samples[:: len(samples) // 20000]
    expected = [nearest(values, element, Fraction(x)) for x in samples.tolist()]
    found = rounded(samples, element)
    assert found.dtype == torch.float32
    assert found.tolist() == expected


@pytest.mark.parametrize("name", ["e4m3", "e5m2"])
def test_every_code_stays_what_it_is(name: str) -> None:
    codes = torch.arange(256, dtype=torch.uint8)
    values = codes.view(torch.float8_e4m3fn if name == "e4m3" else torch.float8_e5m2).to(torch.float32)
    found = rounded(values, ELEMENT_TYPES[name])
    finite = values.isfinite()
    assert bits(found[finite]) == bits(values[finite])
    assert found[values.isnan()].isnan().all()
    assert set(found[values.isinf()].abs().tolist()) <= {ELEMENT_TYPES[name].max_finite}


@pytest.mark.parametrize("name", ["f64", "f32", "tf32", "f16", "bf16", "e4m3", "e5m2"])
@pytest.mark.parametrize("source", SOURCES)
def test_edges_of_floats(name: str, source: Any) -> None:
    element = ELEMENT_TYPES[name]
    limit = element.max_finite if name in SATURATING else math.inf
    found = rounded(torch.tensor([math.inf, -math.inf, math.nan, 0.0, -0.0], dtype=source), element)
    assert found[:2].tolist() == [limit, -limit]
    assert math.isnan(found[2].item())
    assert [math.copysign(1, v) for v in found[3:].tolist()] == [1, -1]
    if name not in ("f64", "f32"):
        smallest = {"tf32": 2.0**-136, "f16": 2.0**-24, "bf16": 2.0**-133, "e4m3": 2.0**-9, "e5m2": 2.0**-16}[name]
        found = round_to(
            torch, torch.tensor([smallest, smallest / 2, smallest * 0.75, -smallest * 0.75]).to(source), element
        )
        assert torch.equal(found.double(), torch.tensor([smallest, 0.0, smallest, -smallest], dtype=torch.float64))


def test_tf32_keeps_ten_bits_and_rounds_ties_to_even() -> None:
    unit = 2.0**-10
    cases = {
        1 + unit / 2: 1.0,
        1 + 3 * unit / 2: 1 + 2 * unit,
        1 + unit / 2 + 2.0**-23: 1 + unit,
        -(1 + unit / 2): -1.0,
        ELEMENT_TYPES["tf32"].max_finite: ELEMENT_TYPES["tf32"].max_finite,
        3.4028234663852886e38: math.inf,
    }
    values = torch.tensor(list(cases), dtype=torch.float32)
    assert rounded(values, ELEMENT_TYPES["tf32"]).tolist() == list(cases.values())


def test_doubles_are_rounded_once() -> None:
    """Just above a tie of the narrow type, but at the tie in single precision."""
    for name, tie, up in (("f16", 1 + 2.0**-11, 1 + 2.0**-10), ("bf16", 1 + 2.0**-8, 1 + 2.0**-7)):
        value = torch.tensor([tie + 2.0**-40, tie - 2.0**-40, tie], dtype=torch.float64)
        assert rounded(value, ELEMENT_TYPES[name]).tolist() == [up, 1.0, 1.0]
    assert rounded(torch.tensor([1e300, -1e300], dtype=torch.float64), ELEMENT_TYPES["f16"]).tolist() == [
        math.inf,
        -math.inf,
    ]


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
@pytest.mark.parametrize("name", ["f64", "f32", "tf32", "f16", "bf16", "e4m3", "e5m2"])
def test_integers_to_floats(name: str, dtype: Any) -> None:
    element = ELEMENT_TYPES[name]
    info = torch.iinfo(dtype)
    points = [0, 1, -1, 7, 2049, 2051, -2049, 65519, 65520, 16777217, 16777219, info.max, info.min, info.max - 1]
    points += [
        sign * ((1 << b) + d) for b in range(8, info.bits - 2) for d in (-3, -1, 0, 1, 3, 129) for sign in (1, -1)
    ]
    # Ties of an 8-bit mantissa with something far below them.
    points += [(257 << s) + d for s in range(1, info.bits - 11) for d in (-1, 0, 1)]
    found = rounded(torch.tensor(points, dtype=dtype), element).to(torch.float64).tolist()
    for point, value in zip(points, found, strict=True):
        assert value == rounded_integer(point, element), (point, name)


def rounded_integer(point: int, element: ElementType) -> float:
    """The right answer by integer arithmetic: floats have `mantissa + 1` bits."""
    spare = max(0, abs(point).bit_length() - element.mantissa - 1)
    quotient, rest = divmod(abs(point), 1 << spare)
    half = 1 << spare >> 1
    if spare and (rest > half or (rest == half and quotient % 2)):
        quotient += 1
    magnitude = quotient << spare
    if magnitude > element.max_finite:
        magnitude = element.max_finite if element.name in SATURATING else math.inf
    return math.copysign(magnitude, point)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("name", ["s64", "s32", "s8", "u8", "s4", "u4"])
def test_floats_to_integers(name: str, source: Any) -> None:
    element = ELEMENT_TYPES[name]
    least, most = (
        (0, 2**element.bits - 1)
        if element.kind == "uint"
        else (-(2 ** (element.bits - 1)), 2 ** (element.bits - 1) - 1)
    )
    points = [0.0, -0.0, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 3.49, 1e30, -1e30, math.inf, -math.inf, 1e-40]
    points += [v + d for v in (float(least), float(most)) for d in (-1.0, -0.5, 0.0, 0.5, 1.0)]
    points += [2.0**62, -(2.0**63), 2.0**63]
    samples = torch.tensor(points, dtype=source)
    found = rounded(samples, element)
    assert found.dtype == (torch.int64 if element is S64 else torch.int32)
    for x, value in zip(samples.tolist(), found.tolist(), strict=True):
        expected = most if x == math.inf else least if x == -math.inf else max(least, min(most, round(x)))
        assert value == expected, x
    assert rounded(torch.tensor([math.nan], dtype=source), element).tolist() == [0]


def test_integers_saturate_in_integers() -> None:
    values = torch.tensor([-(2**63), -300, -129, -9, -1, 0, 7, 8, 15, 16, 127, 128, 255, 256, 2**40], dtype=torch.int64)
    for name, least, most in (
        ("s8", -128, 127),
        ("u8", 0, 255),
        ("s4", -8, 7),
        ("u4", 0, 15),
        ("s32", -(2**31), 2**31 - 1),
    ):
        expected = [max(least, min(most, v)) for v in values.tolist()]
        assert rounded(values, ELEMENT_TYPES[name]).tolist() == expected


def test_booleans() -> None:
    assert rounded(torch.tensor([0.0, -0.0, 1e-45, -2.0, math.nan, math.inf]), BOOL).tolist() == [
        False,
        False,
        True,
        True,
        True,
        True,
    ]
    for element in ELEMENT_TYPES.values():
        assert rounded(torch.tensor([True, False]), element).tolist() == [1, 0]


def test_empty_and_strided_tensors() -> None:
    for element in ELEMENT_TYPES.values():
        assert rounded(torch.zeros(0, 3, dtype=torch.float64), element).shape == (0, 3)
        strided = torch.arange(12, dtype=torch.float64).reshape(3, 4).T
        assert rounded(strided, element).to(torch.float64).clamp(max=1).equal(strided.clamp(max=1))
    assert rounded(torch.tensor([1e39], dtype=torch.float64), F64).tolist() == [1e39]
