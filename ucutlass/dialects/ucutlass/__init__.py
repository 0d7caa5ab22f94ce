"""The `ucutlass` dialect: what a program wants computed, and how the user asks for it to be configured.

Knows nothing of passes, text or targets.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING

from xdsl.ir import Dialect

from ucutlass.dialects.ucutlass.attributes import ConfigAttr, NumberAttr
from ucutlass.dialects.ucutlass.base import UcuOp, operation_class
from ucutlass.dialects.ucutlass.kernel import ConstantOp, FusedOp, KernelOp, ReturnOp, WhereAttr, YieldOp
from ucutlass.dialects.ucutlass.operations import SPECS
from ucutlass.dialects.ucutlass.types import DimsAttr, LayoutAttr, NumberType, TensorType, UnresolvedType

if TYPE_CHECKING:
    Ucutlass: Dialect
    """The dialect. Made when it is first asked for: it needs the class of every operation."""


class _Operations(Mapping[str, type[UcuOp]]):
    """Makes the class of an operation when it is first asked for: a program uses a few of a hundred."""

    def __init__(self) -> None:
        self._made: dict[str, type[UcuOp]] = {}

    def __getitem__(self, name: str) -> type[UcuOp]:
        if name not in self._made:
            self._made[name] = operation_class(SPECS[name])
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in SPECS

    def __iter__(self) -> Iterator[str]:
        return iter(SPECS)

    def __len__(self) -> int:
        return len(SPECS)


OPERATIONS: Mapping[str, type[UcuOp]] = _Operations()
"""The class of each operation of the language, by its name there."""


@cache
def _dialect() -> Dialect:
    return Dialect(
        "ucutlass",
        [KernelOp, ReturnOp, ConstantOp, FusedOp, YieldOp, *OPERATIONS.values()],
        [TensorType, NumberType, UnresolvedType, DimsAttr, LayoutAttr, NumberAttr, ConfigAttr, WhereAttr],
    )


def __getattr__(name: str) -> Dialect:
    if name != "Ucutlass":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _dialect()
