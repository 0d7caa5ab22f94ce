"""Typed access to decoded JSON.

A leaf: imports only the standard library. Every function raises TypeError on a value of another kind, and `field`
KeyError on a missing name.
"""

from collections.abc import Mapping
from typing import cast

Object = Mapping[str, object]


def as_object(value: object) -> Object:
    if not isinstance(value, dict):
        raise TypeError(f"expected an object, got {value!r}")
    return cast("Object", value)  # the keys of decoded JSON are strings


def as_list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise TypeError(f"expected a list, got {value!r}")
    return cast("list[object]", value)  # isinstance cannot say what is inside


def as_str(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected a string, got {value!r}")
    return value


def as_int(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"expected an integer, got {value!r}")
    return value


def as_float(value: object) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise TypeError(f"expected a number, got {value!r}")
    return float(value)


def as_bool(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"expected true or false, got {value!r}")
    return value
