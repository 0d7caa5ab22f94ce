"""Symbolic sizes: the text form says the same size, without needless parentheses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ucutlass.dims import Condition, Dim, parse_condition, parse_dim

NAMES = ("K", "M", "N_1")


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
