"""The operation tables, one module a family, joined here. A new operation is a row in one of them."""

from ucutlass.dialects.ucutlass.operations import contraction, unary
from ucutlass.dialects.ucutlass.spec import OpSpec

SPECS: dict[str, OpSpec] = {row.name: row for module in (contraction, unary) for row in module.ROWS}
"""Every operation of the language by name."""
