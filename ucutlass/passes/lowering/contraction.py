"""What a fused group around one contraction computes, read off its body: operands, leaves and stored values.

Shared by the lowerings of every architecture and by the description that the legality rules and the cost model see.
"""

from xdsl.ir import BlockArgument, Operation, SSAValue

from ucutlass.dialects.ucutlass import ConstantOp, FusedOp, UcuOp
from ucutlass.dialects.ucutlass.base import facts_at
from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.passes.fusion.groups import TRANSPOSE, behind_views
from ucutlass.passes.fusion.legality import LeafKind, Space, leaf_kind
from ucutlass.records import record


def swapped_view(type_: TensorType) -> TensorType:
    """The type of a matrix, or of a batch of them, seen with rows and columns exchanged: the same memory."""
    dims = [*type_.dims[:-2], type_.dims[-1], type_.dims[-2]]
    last = {type_.rank - 1: type_.rank - 2, type_.rank - 2: type_.rank - 1}
    return TensorType.of(dims, type_.element, [last.get(dim, dim) for dim in type_.order])


@record
class Leaf:
    """A tensor that the epilogue reads, and how it broadcasts over the result."""

    value: SSAValue
    """Inside the group: a block argument or a view of one."""
    kind: LeafKind


@record
class Contraction:
    """A fused group around one contraction."""

    fused: FusedOp
    root: UcuOp
    a: SSAValue
    b: SSAValue
    epilogue: tuple[UcuOp, ...]
    """Element-wise operations in order."""
    leaves: tuple[Leaf, ...]
    """Tensors that the epilogue reads, in order of first use."""
    stored: tuple[SSAValue, ...]
    """The values that are written, one per result of the group: the contraction's or the epilogue's."""
    transposed: tuple[bool, ...]
    """Whether each is written as its transpose."""
    space: Space

    @property
    def result(self) -> SSAValue:
        """The contraction's own value: the accumulator."""
        return self.root.results[0]

    @property
    def stored_types(self) -> tuple[TensorType, ...]:
        """The types at which the values are written, in the orientation of the contraction's result."""
        types: list[TensorType] = []
        for output, transposed in zip(self.fused.outputs, self.transposed, strict=True):
            assert isinstance(output.type, TensorType)
            types.append(swapped_view(output.type) if transposed else output.type)
        return tuple(types)

    @property
    def main_output(self) -> int:
        """Index of the result that the epilogue's own store writes: the last one computed; the others are auxiliary."""
        order = {op: i for i, op in enumerate(self.fused.body.block.ops)}
        return max(range(len(self.stored)), key=lambda i: order[_owner(self.stored[i])])

    @property
    def source_leaf(self) -> Leaf | None:
        """The full tensor that is the kernel's C operand: the first one."""
        return next((leaf for leaf in self.leaves if leaf.kind == "full"), None)


def _owner(value: SSAValue) -> Operation:
    assert isinstance(value.owner, Operation)
    return value.owner


def read_contraction(fused: FusedOp) -> Contraction:
    """Read a group of the family `gemm`."""
    ops = [op for op in fused.body.block.ops if isinstance(op, UcuOp)]
    root = next(op for op in ops if op.spec.is_contraction)
    values = root.operand_values()
    a, b = values["a"], values["b"]
    assert isinstance(a, SSAValue) and isinstance(b, SSAValue) and isinstance(root.results[0].type, TensorType)
    space = Space.of(root.results[0].type, facts_at(fused))
    epilogue = tuple(op for op in ops if op.spec.is_elementwise)
    inside = {result for op in (root, *epilogue) for result in op.results}
    leaves: dict[SSAValue, Leaf] = {}
    for op in epilogue:
        for operand in op.operands:
            if operand in inside or isinstance(operand.owner, ConstantOp) or operand in leaves:
                continue
            assert isinstance(operand, BlockArgument) or isinstance(operand.owner, TRANSPOSE)
            kind = leaf_kind(space, operand)
            assert kind is not None
            leaves[operand] = Leaf(operand, kind)
    stored = tuple(behind_views(value) for value in fused.yielded)
    transposed = tuple(_is_transposed(value) for value in fused.yielded)
    return Contraction(fused, root, a, b, epilogue, tuple(leaves.values()), stored, transposed, space)


def _is_transposed(value: SSAValue) -> bool:
    found = False
    while isinstance(value.owner, TRANSPOSE):
        value, found = value.owner.operands[0], not found
    return found
