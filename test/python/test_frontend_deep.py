"""Programs of a size and depth that nobody writes: they work, or give an error, and never end in a crash."""

import time

import pytest
from frontend_reading import context, mlir, read

from ucutlass.diagnostics.core import Diagnostic
from ucutlass.diagnostics.locations import engine_of
from ucutlass.frontend import read_program
from ucutlass.frontend.print_ucu import print_ucu
from ucutlass.frontend.text import SourceError

HEAD = "kernel k(x: f16[8, 8]) -> f16[8, 8] {\n  "


DOUBLING = ", ".join(f"A{i + 1} == A{i} * A{i} + 1" for i in range(40))
"""Each size is a polynomial of twice the degree of the one before."""
PRODUCT = " * ".join(f"(M + A{i})" for i in range(20))
"""A million terms, were it multiplied out."""


def errors_of(text: str) -> tuple[Diagnostic, ...]:
    ctx = context()
    try:
        read_program(ctx, text, "deep.ucu")
    except SourceError:
        pass
    return engine_of(ctx).errors


@pytest.mark.parametrize(
    "expression",
    [
        "(" * 10_000 + "x" + ")" * 10_000,
        "x" + " >> relu()" * 5_000,
        "relu(" * 2_000 + "x" + ")" * 2_000,
        "-" * 2_000 + "x",
        "x" + ".T" * 2_000,
        "x" + " + x" * 2_000,
        "x + (" * 1_500 + "x" + ")" * 1_500,
        "maximum(x, " * 1_500 + "x" + ")" * 1_500,
        "x * (" + "(" * 1_500 + "1" + ")" * 1_500 + ")",
    ],
    ids=["parentheses", "pipes", "calls", "signs", "suffixes", "sum", "right", "binary", "number"],
)
def test_deep_expressions_work(expression: str) -> None:
    module = read(f"{HEAD}return {expression}\n}}\n")
    printed = print_ucu(module)
    assert mlir(read(printed)) == mlir(module)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (HEAD + "return " + "(" * 10_000 + "x }", "UC0103"),
        (HEAD + "return " + "(" * 10_000 + "x", "UC0103"),
        (HEAD + "return x" + ")" * 10_000 + " }", "UC0117"),
        (HEAD + "return " + "relu(" * 5_000, "UC0211"),
        (HEAD + "return softmax(x, " + "[" * 5_000 + "0" + "]" * 5_000 + ") }", "UC0319"),
        (HEAD + "return reshape(x, " + "(" * 5_000 + "8" + ")" * 5_000 + ", 9.5) }", "UC0319"),
        (HEAD + "return reshape(x" + ", 2 * M" * 5_000 + ") }", "UC0213"),
        ("kernel k(x: f16[M]) -> f16[M] where " + "(" * 5_000 + "M" + " + 1)" * 5_000 + " > 0 { return x }", "UC0104"),
        ("kernel k(x: f16[M]) -> f16[M] where M" + " / 2" * 500 + " > 0 { return x }", "UC0104"),
        ("kernel k(x: f16[M]) -> f16[M] where " + "(M + 1) * " * 40 + "(N + 1) > 0 { return x }", None),
        (f"kernel k(x: f16[M]) -> f16[M] where {PRODUCT} > 0 {{ return x }}", "UC0104"),
        (f"kernel k(x: f16[A0]) -> f16[A0] where {DOUBLING} {{ return x }}", None),
        ("kernel k(x: f16[" + "9" * 10_000 + "]) -> f16[8] { return x }", "UC0119"),
        (HEAD + "return x * " + "9" * 10_000 + ".0 }", "UC0119"),
        (HEAD + "return " + "y" * 100_000 + " }", "UC0201"),
        ("(" * 10_000, "UC0101"),
    ],
)  # fmt: skip
def test_what_goes_too_far_is_an_error(text: str, code: str | None) -> None:
    start = time.process_time()
    errors = errors_of(text)
    assert time.process_time() - start < 5
    assert (errors[0].code if errors else None) == code, [str(e)[:200] for e in errors[:3]]
    assert all(len(e.message) < 1000 for e in errors)


def test_five_thousand_statements() -> None:
    names = ["x", *(f"y{i}" for i in range(5_000))]
    lines = "\n  ".join(f"{name} = relu({before})" for before, name in zip(names, names[1:], strict=False))
    text = f"{HEAD}{lines}\n  return {names[-1]}\n}}\n"
    start = time.process_time()
    module = read(text)
    printed = print_ucu(module)
    elapsed = time.process_time() - start
    assert printed == text
    # 0.9 s on an idle machine: twelve empty runs of xdsl-opt take 3.4 s there.
    assert elapsed < 10
