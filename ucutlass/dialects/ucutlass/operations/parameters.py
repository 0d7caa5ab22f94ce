"""Checks of parameters that the operation families share: indices of dimensions, windows, positive sizes.

Imports the records of `spec`, the types and the sizes. Every refusal names the operation, what it found and what it
takes.
"""

from collections.abc import Sequence

from ucutlass.dialects.ucutlass.operations.elementwise_types import shape_text
from ucutlass.dialects.ucutlass.spec import Call
from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.dims import Dim


def size_of(call: Call, name: str) -> Dim:
    """The value of a `dim` parameter that is not absent."""
    value = call.params[name]
    assert isinstance(value, int | str | Dim)
    return Dim.of(value)


def sizes_of(call: Call, name: str) -> tuple[Dim, ...]:
    """The values of a `dims` parameter that is not absent; one value is a list of one."""
    value = call.params[name]
    if isinstance(value, tuple):
        return tuple(Dim.of(v) for v in value)
    return (size_of(call, name),)


def counted(number: int, noun: str) -> str:
    """`1 dimension`, `2 dimensions`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def spread(call: Call, name: str, count: int) -> tuple[Dim, ...]:
    """One value for each of `count` spatial dimensions, from one for all or one for each. Raises TypingError UC0309."""
    values = sizes_of(call, name)
    if len(values) == 1:
        return values * count
    if len(values) != count:
        raise call.fail(
            "UC0309",
            f"{call.spec.spelling}: {name} {shape_text(values)} has {len(values)} values, expected 1 or {count}, one "
            "for each spatial dimension",
            f"param:{name}",
        )
    return values


def at_least(call: Call, name: str, values: Sequence[Dim], least: int) -> None:
    """Demand that each of a parameter's values is at least `least`. Raises TypingError UC0309."""
    for value in values:
        call.require(
            value,
            ">=",
            least,
            "UC0309",
            f"{call.spec.spelling}: {name} is {value}, expected at least {least}",
            f"param:{name}",
        )


def axis_of(call: Call, name: str, value: Dim, rank: int, of: str) -> int:
    """The dimension that an index means, counted from 0. Raises TypingError UC0304, UC0314 on a dynamic index."""
    if not value.is_static:
        raise call.fail(
            "UC0314",
            f"{call.spec.spelling}: {name} is the dynamic size {value}, expected the number of a dimension",
            f"param:{name}",
        )
    index = value.value
    if not -rank <= index < rank:
        allowed = f"{-rank} to {rank - 1}" if rank else "no index at all"
        raise call.fail(
            "UC0304",
            f"{call.spec.spelling}: {name} is {index}, but {of} has {counted(rank, 'dimension')}: expected {allowed}",
            f"param:{name}",
        )
    return index % rank


def axis(call: Call, name: str, x: TensorType) -> int:
    """The dimension of `x` that the parameter `name` means."""
    return axis_of(call, name, size_of(call, name), x.rank, x.spelling)


def distinct_axes(call: Call, name: str, x: TensorType) -> tuple[int, ...]:
    """The dimensions of `x` that a list means, each at most once. Raises TypingError UC0317."""
    values = sizes_of(call, name)
    axes = tuple(axis_of(call, name, value, x.rank, x.spelling) for value in values)
    for position, index in enumerate(axes):
        if index in axes[:position]:
            raise call.fail(
                "UC0317",
                f"{call.spec.spelling}: {name} {shape_text(values)} names dimension {index} of {x.spelling} twice",
                f"param:{name}",
            )
    return axes


def rank_is(call: Call, name: str, x: TensorType, rank: int, form: str, hint: str = "") -> None:
    """Demand a rank. Raises TypingError UC0303 that shows the expected form, `[N, C, H, W]`."""
    if x.rank != rank:
        raise call.fail(
            "UC0303",
            f"{call.spec.spelling} takes {form} as '{name}', {rank} dimensions, but it is {x.spelling}{hint}",
            f"operand:{name}",
        )
