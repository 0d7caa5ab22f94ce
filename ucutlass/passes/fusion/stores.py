"""What each group writes to memory, and where a kernel's results come from.

A group stores a value once for the groups that read it, at its own type, and once for each result that it is, at the
declared type. `materialize` and `.T` move nothing: a materialized value is its operand written at the type that
`materialize` gives it, a transposed one is written as the view that it is.
"""

from dataclasses import dataclass, field

from xdsl.ir import Attribute, Operation, SSAValue

from ucutlass.dialects.ucutlass import KernelOp, UcuOp
from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.passes.fusion.groups import MATERIALIZE, Group, Partition, behind_views, is_free
from ucutlass.records import record

Stored = tuple[SSAValue, Attribute]
"""A value, and the type at which it is written."""


@record
class Copied:
    """A result that no group stores as declared: a tensor in memory that a kernel of its own copies."""

    value: SSAValue
    """What is returned: an argument or a materialized value, or a view of one."""
    source: SSAValue
    """The argument or the materialized value."""


@dataclass
class Stores:
    """Everything that the groups of a kernel write."""

    by_group: dict[Group, list[Stored]]
    results: list[tuple[Group, int] | Copied] = field(default_factory=list[tuple[Group, int] | Copied])
    """For each result of the kernel the group and the number of its store."""

    @staticmethod
    def of(kernel: KernelOp, partition: Partition) -> "Stores":
        """The stores of a partition."""
        stores = Stores({group: [] for group in partition.groups})
        taken: set[tuple[Group, int]] = set()
        for value, declared in zip(kernel.return_op.values, kernel.declared, strict=True):
            source = _copied_from(value, declared)
            if source is None:
                # Two results are two tensors, even of one value.
                place = stores._add(partition, unwritten(value), declared, taken)
                taken.add(place)
                stores.results.append(place)
            else:
                stores.results.append(Copied(value, source))
                if isinstance(source.owner, UcuOp):
                    stores._add(partition, *read_as(source))
        for op, group in partition.group_of.items():
            for value in values_read(op):
                owner = value.owner
                if isinstance(owner, UcuOp) and partition.group_of[owner] is not group:
                    stores._add(partition, *read_as(value))
        return stores

    def _add(
        self, partition: Partition, value: SSAValue, type_: Attribute, taken: set[tuple[Group, int]] | None = None
    ) -> tuple[Group, int]:
        """Have a value stored; an equal store that is not taken serves as well."""
        group = partition.group_of[_owner(behind_views(value))]
        stores = self.by_group[group]
        for index, stored in enumerate(stores):
            if stored == (value, type_) and (group, index) not in (taken or ()):
                return group, index
        stores.append((value, type_))
        return group, len(stores) - 1


def unwritten(value: SSAValue) -> SSAValue:
    """The value that is stored for this one: what a `materialize` writes is its operand."""
    while isinstance(value.owner, MATERIALIZE) and _is_computed(value.owner.operands[0]):
        value = value.owner.operands[0]
    return value


def read_as(value: SSAValue) -> Stored:
    """What a group reads for a value that another one computes."""
    return unwritten(value), value.type


def values_read(op: Operation) -> list[SSAValue]:
    """The values that an operation reads, looking through views and numbers."""
    found: list[SSAValue] = []
    for operand in op.operands:
        owner = operand.owner
        if isinstance(owner, Operation) and is_free(owner):
            found.extend(values_read(owner))
        else:
            found.append(operand)
    return found


def _copied_from(value: SSAValue, declared: Attribute) -> SSAValue | None:
    """What a result is copied from, None where the group that computes it stores it as declared.

    An argument is nobody's result. A materialized value was rounded to its own type before it is rounded to the
    declared one, which one store cannot do.
    """
    assert isinstance(declared, TensorType)
    value = behind_views(value)
    while isinstance(value.owner, MATERIALIZE) and _is_computed(value.owner.operands[0]):
        assert isinstance(value.type, TensorType)
        own = value.type.element
        if own not in (declared.element, own.compute):
            return value
        value = behind_views(value.owner.operands[0])
    return None if isinstance(value.owner, UcuOp) else value


def _is_computed(value: SSAValue) -> bool:
    """Whether an operation stands behind a value, rather than an argument."""
    return isinstance(behind_views(value).owner, UcuOp)


def _owner(value: SSAValue) -> Operation:
    assert isinstance(value.owner, Operation)
    return value.owner
