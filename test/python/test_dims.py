"""Symbolic sizes: the text form says the same size, without needless parentheses."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ucutlass.dims import Condition, Dim, Facts, parse_condition, parse_dim

NAMES: tuple[str, ...] = ("K", "M", "N_1")


@st.composite
def sizes(draw: st.DrawFn, depth: int = 3) -> Dim:
    """Sizes of every form: sums, products, floor quotients and remainders of each other."""
    if depth == 0 or draw(st.booleans()):
        return Dim.of(draw(st.sampled_from((*NAMES, 1, 2, 3, 8, 64))))
    left, right = draw(sizes(depth - 1)), draw(sizes(depth - 1))
    match draw(st.sampled_from("+-*/%")):
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "/" if right != Dim.of(0):
            return left // right
        case "%" if right != Dim.of(0):
            return left % right
        case _:
            return left


@given(sizes())
def test_the_text_reads_back_to_the_same_size(size: Dim) -> None:
    assert parse_dim(str(size)) == size


@given(sizes(), st.fixed_dictionaries({name: st.integers(1, 100) for name in NAMES}))
def test_the_text_is_worth_the_same(size: Dim, bindings: dict[str, int]) -> None:
    """Python's `//` and `%` bind as the language's `/` and `%` do, and round the same way."""
    try:
        expected = size.evaluate(bindings)
    except ZeroDivisionError:
        return
    assert eval(str(size).replace("/", "//"), {}, dict(bindings)) == expected


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("M % 8", "M % 8"),
        ("(M % 8)", "M % 8"),
        ("(M / 8) + 1", "M / 8 + 1"),
        ("1 - M / 8", "1 - M / 8"),
        ("-1 - M / 8", "-(M / 8) - 1"),
        ("K - M / 8", "K - M / 8"),
        ("(2 * M) / 3", "2 * M / 3"),
        ("(M + 1) / 2", "(M + 1) / 2"),
        ("M / (K + 1)", "M / (K + 1)"),
        ("M / (2 * K)", "M / (2 * K)"),
        ("3 * (M / 2)", "3 * (M / 2)"),
        ("K * (M / 2)", "K * (M / 2)"),
        ("(M / 3) % 2", "M / 3 % 2"),
        ("0 * M", "0"),
    ],
)
def test_only_needed_parentheses_are_printed(text: str, printed: str) -> None:
    assert str(parse_dim(text)) == printed


def test_a_condition_is_printed_as_where_takes_it() -> None:
    condition = parse_condition("(M % 8) == 0")
    assert str(condition) == "M % 8 == 0" and parse_condition(str(condition)) == condition
    assert condition == Condition(Dim.of("M") % 8, "==", Dim.of(0))


# What a where clause says --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("where", "left", "right"),
    [
        ("P == N", "P", "N"),
        ("P == N", "P + 1", "N + 1"),
        ("P == N, N == 2 * M", "P", "2 * M"),
        ("P == N, P == 2 * M", "N", "2 * M"),
        ("P == N, Q == N, Q == R", "P", "R"),
        ("N == M / 8, P == N", "P", "M / 8"),
    ],
)
def test_equal_sizes(where: str, left: str, right: str) -> None:
    facts = Facts(tuple(map(parse_condition, where.split(", "))))
    assert facts.equal(Dim.of(left), Dim.of(right))
    assert not facts.equal(Dim.of(left), Dim.of(f"{right} + 1"))


@pytest.mark.parametrize(
    ("where", "size", "multiple"),
    [
        ("M % 8 == 0", "M", 8),
        ("M % 8 == 0, M % 12 == 0", "M", 24),
        ("M % 8 == 0", "3 * M * N", 24),
        ("M % 8 == 0", "M + 4", 4),
        ("M % 8 == 0", "N", 1),
        ("P == N, N == 2 * M, M % 8 == 0", "P", 16),
        ("M % 8 == 0, M == N", "N", 8),
        ("M % 8 == 0, M == N", "M", 8),
        ("M == 2 * N, M % 16 == 0", "M", 16),
        ("0 == M % 4", "M", 4),
        ("M % 8 == 1", "M", 1),
        ("M == 0", "M", 0),
    ],
)
def test_divisors(where: str, size: str, multiple: int) -> None:
    assert Facts(tuple(map(parse_condition, where.split(", ")))).multiple_of(Dim.of(size)) == multiple


@given(st.lists(st.tuples(sizes(1), sizes(1)), max_size=4), sizes(2), sizes(2))
def test_facts_hold_wherever_the_conditions_do(equations: list[tuple[Dim, Dim]], left: Dim, right: Dim) -> None:
    """Every assignment of small sizes that meets the conditions meets what follows from them."""
    conditions = tuple(Condition(a, "==", b) for a, b in equations)
    facts = Facts(conditions)
    equal, multiple = facts.equal(left, right), facts.multiple_of(left)
    for values in itertools.product(range(1, 9), repeat=len(NAMES)):
        bindings = dict(zip(NAMES, values, strict=True))
        try:
            if not all(c.holds(bindings) for c in conditions):
                continue
            size, other = left.evaluate(bindings), right.evaluate(bindings)
        except ZeroDivisionError:
            continue
        assert not equal or size == other
        assert size == 0 if multiple == 0 else size % multiple == 0
