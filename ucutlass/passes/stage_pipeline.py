"""`stage-pipeline`: orders the kernels of a program and places what passes between them in one workspace.

Accepts kernels that `fuse` has cut. Afterwards every group carries `placement`: for each of its results a unit where
the caller
supplies the tensor, else the offset in bytes of an intermediate in the workspace, an expression over the dimension
names. The kernel carries the `workspace` that
all intermediates take together. Offsets are multiples of 256 bytes, the alignment that every CUTLASS access and the
copy engine accept.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, UnitAttr
from xdsl.ir import Attribute
from xdsl.passes import ModulePass

from ucutlass.diagnostics.locations import stop_if_errors
from ucutlass.dialects.ucutlass import DimsAttr, FusedOp, KernelOp
from ucutlass.dialects.ucutlass.kernel import kernels_of
from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.dims import Dim

ALIGNMENT = 256
PLACEMENT = "placement"
WORKSPACE = "workspace"


@dataclass(frozen=True)
class StagePipelinePass(ModulePass):
    """Order the kernels and place intermediates."""

    name = "stage-pipeline"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        stop_if_errors(ctx)
        for kernel in kernels_of(op):
            _place(kernel)


def _place(kernel: KernelOp) -> None:
    returned = set(kernel.return_op.values)
    offset = Dim.of(0)
    for group in kernel.body.block.ops:
        if not isinstance(group, FusedOp):
            continue
        placement: list[Attribute] = []
        for result in group.outputs:
            if result in returned:
                placement.append(UnitAttr())
                continue
            assert isinstance(result.type, TensorType)
            placement.append(DimsAttr((offset,)))
            offset = offset + aligned(tensor_bytes(result.type))
        group.attributes[PLACEMENT] = ArrayAttr(placement)
    kernel.attributes[WORKSPACE] = DimsAttr((offset,))


def tensor_bytes(type_: TensorType) -> Dim:
    """Bytes that a tensor of this type takes, packed; 4-bit elements two a byte, each row on a byte of its own."""
    elements = Dim.of(1)
    for i, dim in enumerate(type_.dims):
        is_row = type_.element.bits < 8 and i == type_.order[-1]
        elements = elements * ((dim + 1) // 2 * 2 if is_row else dim)
    return (elements * type_.element.bits + 7) // 8


def aligned(size: Dim) -> Dim:
    """The size rounded up to a multiple of the workspace's alignment."""
    return (size + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
