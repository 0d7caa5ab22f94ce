"""The `ucutlass` dialect: what a program wants computed, and how the user asks for it to be configured.

Knows nothing of passes, text or targets.
"""

from xdsl.ir import Dialect

from ucutlass.dialects.ucutlass.attributes import ConfigAttr, NumberAttr
from ucutlass.dialects.ucutlass.base import UcuOp, operation_class
from ucutlass.dialects.ucutlass.kernel import ConstantOp, FusedOp, KernelOp, ReturnOp, WhereAttr, YieldOp
from ucutlass.dialects.ucutlass.operations import SPECS
from ucutlass.dialects.ucutlass.types import DimsAttr, LayoutAttr, NumberType, TensorType, UnresolvedType

OPERATIONS: dict[str, type[UcuOp]] = {name: operation_class(spec) for name, spec in SPECS.items()}
"""The class of each operation of the language, by its name there."""

Ucutlass = Dialect(
    "ucutlass",
    [KernelOp, ReturnOp, ConstantOp, FusedOp, YieldOp, *OPERATIONS.values()],
    [TensorType, NumberType, UnresolvedType, DimsAttr, LayoutAttr, NumberAttr, ConfigAttr, WhereAttr],
)
