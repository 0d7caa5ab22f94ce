"""Numbers and scalar expressions in CUDA C++.

A leaf: imports only the element types. In the rows of the operation tables a number stands as `T(0.01)`, where `T` is
the type of the computation, and functions have the names of C++. `render` makes `0.01f` and `expf` of them for `float`;
the literal is the value of type `T` nearest to the number, as PyTorch converts it.
"""

import math
import re
import struct
from collections.abc import Mapping

from ucutlass.element_types import ElementType


def number_cast(value: object) -> str:
    """A number in an expression over `T`: `T(0.01)`, `T(-INFINITY)`."""
    assert isinstance(value, int | float), f"{value!r} is not a number"
    if isinstance(value, float) and not math.isfinite(value):
        return "T(NAN)" if math.isnan(value) else f"T({'-' if value < 0 else ''}INFINITY)"
    return f"T({value!r})"


def nearest_f32(value: int | float) -> float:
    """The single-precision number nearest to a value: infinite beyond the range, ties to even."""
    try:
        (rounded,) = struct.unpack("<f", struct.pack("<f", value))
    except OverflowError:
        return math.copysign(math.inf, value)
    return rounded


def literal(value: int | float, element: ElementType) -> str:
    """The shortest C++ literal whose value is the number, rounded to a compute type (`f32 f64 s32 s64 bool`)."""
    if element.name == "bool":
        return "true" if value else "false"
    if not element.is_float:
        assert value == int(value), f"{value} is not a whole number"
        whole = int(value)
        # The least integer has no literal: C++ reads the minus sign apart from the digits.
        text = f"{whole}" if whole > -(2 ** (element.bits - 1)) else f"{whole + 1} - 1"
        # Whether a literal of 64 bits is an int64_t depends on the platform.
        return f"{element.cutlass}({text})" if element.bits == 64 or " " in text else text
    single = element.bits == 32
    if single:
        value = nearest_f32(value)
    if not math.isfinite(value):
        name = "NAN" if math.isnan(value) else "-INFINITY" if value < 0 else "INFINITY"
        return name if single else f"double({name})"
    if single:
        shorter = (float(f"{value:.{digits}g}") for digits in range(1, 10))
        return f"{next(v for v in shorter if nearest_f32(v) == value)!r}f"
    return repr(float(value))


def _value(text: str) -> int | float:
    named = {"NAN": math.nan, "INFINITY": math.inf, "-INFINITY": -math.inf}
    if text in named:
        return named[text]
    return int(text) if re.fullmatch(r"-?\d+", text) else float(text)


MATH_FUNCTIONS = ("exp", "expm1", "log", "log1p", "erf", "tanh", "sqrt", "rsqrt", "sin", "cos", "abs")
"""Functions of C's library that expressions call, without the suffix of their type."""


def _function(name: str, element: ElementType) -> str:
    """A function of C's library for a type. C++ overloads would do, but one that is not declared means `double`."""
    if not element.is_float:
        return name
    return ("fabs" if name == "abs" else name) + ("f" if element.bits == 32 else "")


_NUMBER = r"\bT\((-?(?:INFINITY|NAN|\d[\d.]*(?:e[+-]?\d+)?))\)"
_CALL = rf"(?<!:)\b({'|'.join(MATH_FUNCTIONS)})(?=\()"


def render(expression: str, names: Mapping[str, str], element: ElementType) -> str:
    """An expression over the given C++ names: `T` becomes the compute type `element`, its numbers become literals."""
    operands = "|".join(map(re.escape, names)) or "(?!)"

    def written(match: re.Match[str]) -> str:
        if match[1] is not None:
            return literal(_value(match[1]), element)
        if match[2] is not None:
            return _function(match[2], element)
        return element.cutlass if match[0] == "T" else names[match[0]]

    return re.sub(rf"{_NUMBER}|{_CALL}|\bT\b|\b(?:{operands})\b", written, expression)
