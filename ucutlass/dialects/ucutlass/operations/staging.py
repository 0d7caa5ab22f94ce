"""Staging: where the program itself wants a value in memory."""

from collections.abc import Sequence
from typing import Any

from ucutlass.dialects.ucutlass.spec import Call, Operand, OpSpec
from ucutlass.dialects.ucutlass.types import TensorType


def _same_type(call: Call) -> Sequence[TensorType]:
    return (call.tensor("v"),)


def _materialize(t: Any, v: Any) -> Any:
    # The rounding is the interpreter's: it stores the value and reads it back.
    return v


ROWS: tuple[OpSpec, ...] = (
    OpSpec(
        "materialize",
        "staging",
        (Operand("v"),),
        (),
        _same_type,
        "The same value, written to memory in its element type here: it ends a kernel.",
        _materialize,
    ),
)
