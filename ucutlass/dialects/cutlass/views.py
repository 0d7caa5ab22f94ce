"""Tensors as a kernel sees them: an argument, or a view of one with its dimensions in another order."""

from xdsl.dialects.builtin import I64, DenseArrayBase
from xdsl.ir import SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure

from ucutlass.dialects.cutlass.core import Check, Dimension, Stride
from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.dims import Dim


@irdl_op_definition
class ViewOp(IRDLOperation):
    """The same memory with its dimensions in another order: dimension i of the result is dimension `order[i]` of the
    tensor."""

    name = "cutlass.view"
    tensor = operand_def(TensorType)
    order = prop_def(DenseArrayBase[I64])
    result = result_def(TensorType)
    traits = traits_def(Pure())
    assembly_format = "$tensor `order` $order attr-dict `:` type($tensor) `->` type($result)"


def argument_of(value: SSAValue) -> tuple[SSAValue, tuple[int, ...]]:
    """The kernel argument behind a value, and for each dimension of the value the dimension of the argument."""
    if isinstance(value.owner, ViewOp):
        argument, inner = argument_of(value.owner.tensor)
        return argument, tuple(inner[i] for i in value.owner.order.get_values())
    assert isinstance(value.type, TensorType)
    return value, tuple(range(value.type.rank))


def contiguous_dimension(value: SSAValue) -> int:
    """The dimension of the value whose neighbours are adjacent in memory."""
    assert isinstance(value.type, TensorType)
    return value.type.order[-1]


def matrix_stride(value: SSAValue, transposed: bool = False) -> Stride:
    """CuTe stride (rows, columns, batch) of a matrix, or of a batch of them with the batch first.

    `transposed` gives (columns, rows, batch): CUTLASS describes B, `[K, N]` here, as N by K.
    """
    assert isinstance(value.type, TensorType)
    argument, dims = argument_of(value)
    contiguous = contiguous_dimension(value)
    rank = value.type.rank
    matrix = (rank - 1, rank - 2) if transposed else (rank - 2, rank - 1)
    modes: list[int | Dimension] = [1 if i == contiguous else Dimension(dims[i]) for i in matrix]
    modes.append(Dimension(dims[0]) if rank == 3 else 0)
    return Stride(argument, tuple(modes))


def layout_tag(value: SSAValue) -> str:
    """`RowMajor` where columns are adjacent in memory, `ColumnMajor` where rows are."""
    assert isinstance(value.type, TensorType)
    return "RowMajor" if contiguous_dimension(value) == value.type.rank - 1 else "ColumnMajor"


def matrix_check(value: SSAValue, alignment: int, written: bool = False) -> Check:
    """A matrix, or a batch of them, of which `alignment` neighbours are accessed at once."""
    argument, dims = argument_of(value)
    contiguous = dims[contiguous_dimension(value)]
    role = "Call::kOutput" if written else "Call::kInput"
    return Check(argument, "matrix", (str(len(dims)), str(contiguous), str(alignment), role))


def vector_check(value: SSAValue) -> Check:
    """Single elements along one dimension, where the others have size 1."""
    argument, dims = argument_of(value)
    assert isinstance(value.type, TensorType)
    long = [dims[i] for i, d in enumerate(value.type.dims) if d != Dim.of(1)]
    return Check(argument, "vector", (str(long[-1] if long else max(value.type.rank - 1, 0)),))


def element_check(tensor: SSAValue, written: bool) -> Check:
    """Single elements anywhere: a pointer that is there, and a result that does not overlap itself."""
    assert isinstance(tensor.type, TensorType)
    return Check(tensor, "elements", (str(tensor.type.rank), "Call::kOutput" if written else "Call::kInput"))
