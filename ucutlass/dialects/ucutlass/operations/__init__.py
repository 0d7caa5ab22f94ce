"""The operation tables, one module a family, joined here. A new operation is a row in one of them."""

from ucutlass.dialects.ucutlass.operations import (
    attention,
    binary,
    contraction,
    convolution,
    epilogue,
    movement,
    pooling,
    reduction,
    rowwise,
    scan,
    staging,
    unary,
)
from ucutlass.dialects.ucutlass.spec import OpSpec

_MODULES = (
    contraction,
    convolution,
    attention,
    unary,
    binary,
    epilogue,
    reduction,
    scan,
    rowwise,
    pooling,
    movement,
    staging,
)

SPECS: dict[str, OpSpec] = {row.name: row for module in _MODULES for row in module.ROWS}
"""Every operation of the language by the name that the dialect gives it."""


def rows_called(spelling: str) -> tuple[OpSpec, ...]:
    """The rows that `.ucu` calls by this name: none, one, or one that takes lists first and one that does not."""
    return tuple(row for row in SPECS.values() if row.spelling == spelling)
