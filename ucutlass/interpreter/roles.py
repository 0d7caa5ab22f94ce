"""Which arguments of a kernel cannot be any numbers, because an operation uses them as indices or needs them positive.

Imports the dialect.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, cast

from xdsl.ir import SSAValue

from ucutlass.dialects.ucutlass.base import UcuOp
from ucutlass.dialects.ucutlass.kernel import FusedOp
from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.dims import Dim


@dataclass(frozen=True)
class Role:
    """What values an argument must have."""

    kind: Literal["index", "offsets", "positive"]
    """`index`: below `limit`; `offsets`: ascending, at most `limit`; `positive`: greater than 0."""
    limit: Dim = Dim(())


def _type_of(op: UcuOp, operand: str) -> TensorType:
    return cast(TensorType, cast(SSAValue, op.operand_values()[operand]).type)


def _gather(op: UcuOp) -> Role:
    axis = op.params()["dim"]
    assert isinstance(axis, Dim)
    return Role("index", _type_of(op, "x").dims[axis.value])


def _offsets(op: UcuOp) -> Role:
    return Role("offsets", _type_of(op, "a").dims[0])


def _positive(op: UcuOp) -> Role:
    return Role("positive")


_ROLES: Mapping[tuple[str, str], Callable[[UcuOp], Role]] = {
    ("gather", "index"): _gather,
    ("grouped_gemm_offsets", "offsets"): _offsets,
    ("batch_norm", "var"): _positive,
}
"""By operation and operand."""


def role_of(value: SSAValue) -> Role | None:
    """The role that the first use of a value which has one gives it; None where every use takes any numbers."""
    for use in value.uses:
        op = use.operation
        found: Role | None = None
        if isinstance(op, FusedOp):
            found = role_of(op.body.block.args[use.index])
        elif isinstance(op, UcuOp):
            names = [name for name, operand in op.operand_values().items() if operand is value]
            found = next((_ROLES[op.spec.name, n](op) for n in names if (op.spec.name, n) in _ROLES), None)
        if found is not None:
            return found
    return None
