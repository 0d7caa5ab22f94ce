"""Merges memory-bound groups as far as one pass over memory allows.

Imports the dialect and the iteration spaces. Two groups become one kernel where the values that have to be stored
can be
expressed over one iteration space: element-wise work with whatever moves the data it reads, before and after reductions
over the same rows, and beside work that reads the same tensor. A merge that is possible is made unless it would compute
something dear many times over.
"""

from collections.abc import Iterable, Sequence

from xdsl.ir import Operation, SSAValue

from ucutlass.dialects.ucutlass import ReturnOp, UcuOp
from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.dims import Dim, Facts
from ucutlass.passes.fusion.groups import MATERIALIZE, Decision, Group, Partition, behind_views, is_free
from ucutlass.passes.memory.affine import NotExpressibleError
from ucutlass.passes.memory.evaluate import evaluate, needs_rows, space_of

KINDS = frozenset(("elementwise", "movement", "pool", "reduction", "rowwise", "scan"))
"""Families whose groups are merged."""

MOST_TENSORS = 24
"""Operands of one kernel: their strides are kernel parameters, 4 KB in all."""

CHEAP = 6
"""Operations that may be repeated for every element of a larger space rather than stored once."""


class Merging:
    """The memory-bound groups of one kernel while they grow."""

    def __init__(self, group_of: dict[Operation, Group], facts: Facts) -> None:
        self.group_of = group_of
        self.facts = facts

    def run(self) -> None:
        """Merge until nothing changes; afterwards each group's kind and root are those of what it holds."""
        self._absorb_materialized()
        self._require()
        while self._merge_one():
            self._require()
        for group in self.groups:
            self._name(group)

    @property
    def groups(self) -> list[Group]:
        """Memory-bound groups in the order of their first operations."""
        return [g for g in dict.fromkeys(self.group_of.values()) if g.kind in KINDS]

    def _absorb_materialized(self) -> None:
        """A value that is written to memory is a store of the kernel that computes it."""
        for op, group in self.group_of.items():
            if isinstance(op, MATERIALIZE):
                source = behind_views(op.operands[0]).owner
                stored = self.group_of.get(source) if isinstance(source, Operation) else None
                if stored is not None and stored is not group:
                    group.members.remove(op)
                    stored.members.append(op)
                    self.group_of[op] = stored

    def _merge_one(self) -> bool:
        for consumer in self.groups:
            for producer in self._read_groups(consumer):
                if producer.kind in KINDS and self._merged(producer, consumer):
                    return True
        for first, second in self._siblings():
            if self._merged(first, second):
                return True
        return False

    def _read_groups(self, group: Group) -> list[Group]:
        """The groups whose values a group reads, the latest first."""
        found: dict[Group, None] = {}
        for op in reversed(group.members):
            for producer in producers(op):
                other = self.group_of.get(producer)
                if other is not None and other is not group:
                    found[other] = None
        return list(found)

    def _siblings(self) -> Iterable[tuple[Group, Group]]:
        """Groups that read one tensor as large as what they compute, neither after the other."""
        readers: dict[SSAValue, list[Group]] = {}
        for group in self.groups:
            for value in inputs_of(group.members):
                readers.setdefault(value, []).append(group)
        for value, groups in readers.items():
            for i, first in enumerate(groups):
                for second in groups[i + 1 :]:
                    if second in first.needs or first in second.needs:
                        continue
                    if self._is_as_large(value, first) and self._is_as_large(value, second):
                        yield first, second

    def _is_as_large(self, value: SSAValue, group: Group) -> bool:
        """Whether a tensor has the sizes of a group's iteration space, so that it is what the group mostly reads."""
        sizes = _sizes(value)
        space = self._space_sizes(group.members)
        return len(sizes) == len(space) and all(map(self.facts.equal, sizes, space))

    def _space_sizes(self, members: Sequence[UcuOp]) -> tuple[Dim, ...]:
        reduction = next((op for op in members if needs_rows(op)), None)
        scan = next((op for op in members if op.spec.family == "scan"), None)
        if reduction is None:
            return _sizes(stored_values(members)[0] if scan is None else scan.results[0])
        x = reduction.operand_values()["x"]
        assert isinstance(x, SSAValue)
        return _sizes(x)

    def _merged(self, first: Group, second: Group) -> bool:
        if self._refusal(first, second) is not None:
            return False
        for op in second.members:
            self.group_of[op] = first
        first.members.extend(second.members)
        return True

    def refusals(self, group: Group) -> list[tuple[Group, str]]:
        """Why a group is apart from the memory-bound ones whose values it reads."""
        found = [(other, self._refusal(other, group)) for other in self._read_groups(group) if other.kind in KINDS]
        return [(other, reason) for other, reason in found if reason is not None]

    def _refusal(self, first: Group, second: Group) -> str | None:
        """Why the second group, which may read the first's values, cannot be one kernel with it."""
        for op in second.members:
            for producer in producers(op):
                if isinstance(producer, MATERIALIZE) and self.group_of[producer] is first:
                    return "materialize ends the kernel here"
        for between in (*second.needs, *first.needs):
            if between in (first, second):
                continue
            if first in between.needs and between in second.needs:
                return f"{between.root.spec.name}, which needs this kernel's result, comes before it"
            if second in between.needs and between in first.needs:
                return f"{between.root.spec.name} stands between them"
        members = _in_order([*first.members, *second.members])
        if len(inputs_of(members)) + len(stored_values(members)) > MOST_TENSORS:
            return f"one kernel takes no more than {MOST_TENSORS} tensors"
        reason = self._expressible(members)
        return self._dear(first, second) if reason is None else reason

    def _expressible(self, members: Sequence[UcuOp]) -> str | None:
        stored = [behind_views(value) for value in stored_values(members)]
        try:
            evaluate(space_of(members, stored, self.facts), stored)
        except NotExpressibleError as problem:
            return str(problem)
        return None

    def _dear(self, first: Group, second: Group) -> str | None:
        """Whether what the first group computes would be computed often for each time that it would be stored."""
        work = sum(op.spec.is_elementwise for op in first.members)
        rows = any(map(needs_rows, first.members))
        if rows or work <= CHEAP:
            return None
        small, large = self._space_sizes(first.members), self._space_sizes(second.members)
        if _product(small) == _product(large) or self.facts.equal(_product(small), _product(large)):
            return None
        return f"its {work} operations would be repeated for every element that they are broadcast to"

    def _require(self) -> None:
        """What every group needs, directly or not."""
        groups = list(dict.fromkeys(self.group_of.values()))
        direct: dict[Group, set[Group]] = {group: set() for group in groups}
        for op, group in self.group_of.items():
            for producer in producers(op):
                other = self.group_of.get(producer)
                if other is not None and other is not group:
                    direct[group].add(other)
        for group in groups:
            pending, needs = list(direct[group]), set[Group]()
            while pending:
                other = pending.pop()
                if other not in needs:
                    needs.add(other)
                    pending.extend(direct[other])
            group.needs = needs

    def _name(self, group: Group) -> None:
        group.members[:] = _in_order(group.members)
        reduction = next((op for op in group.members if needs_rows(op) or op.spec.family == "scan"), None)
        computed = next((op for op in group.members if op.spec.is_elementwise), None)
        if reduction is not None:
            group.root, group.kind = reduction, reduction.spec.family
        elif computed is not None:
            group.root, group.kind = computed, "elementwise"
        elif group.root not in group.members:
            group.root = group.members[0]


def producers(op: Operation) -> Iterable[Operation]:
    """The operations whose results one reads, looking through views and numbers."""
    for operand in op.operands:
        owner = operand.owner
        if isinstance(owner, Operation):
            if is_free(owner):
                yield from producers(owner)
            else:
                yield owner


def inputs_of(members: Sequence[UcuOp]) -> list[SSAValue]:
    """The tensors that operations read from memory, views of them aside."""
    inside = set(members)
    found: dict[SSAValue, None] = {}
    for op in members:
        for operand in op.operands:
            value = behind_views(operand)
            if isinstance(value.type, TensorType) and not (isinstance(value.owner, UcuOp) and value.owner in inside):
                found[value] = None
    return list(found)


def stored_values(members: Sequence[UcuOp]) -> list[SSAValue]:
    """The values of operations that others read, or that are returned."""
    inside = set(members)
    found: dict[SSAValue, None] = {}
    for op in members:
        for result in op.results:
            if _is_read(result, inside):
                # What a materialize writes is its operand.
                value = result
                while isinstance(value.owner, MATERIALIZE) and behind_views(value.owner.operands[0]).owner in inside:
                    value = behind_views(value.owner.operands[0])
                found[value] = None
    return list(found)


def _is_read(value: SSAValue, inside: set[UcuOp]) -> bool:
    for use in value.uses:
        user = use.operation
        if isinstance(user, ReturnOp):
            return True
        if is_free(user):
            if any(_is_read(result, inside) for result in user.results):
                return True
        elif user not in inside:
            return True
    return False


def _sizes(value: SSAValue) -> tuple[Dim, ...]:
    return value.type.dims if isinstance(value.type, TensorType) else ()


def _product(dims: Iterable[Dim]) -> Dim:
    total = Dim.of(1)
    for dim in dims:
        total *= dim
    return total


def _in_order(members: Sequence[UcuOp]) -> list[UcuOp]:
    """The members, all of one block, in its order: asking for the index of each would walk the block each time."""
    block = members[0].parent
    assert block is not None
    wanted = set(members)
    return [op for op in block.ops if op in wanted and isinstance(op, UcuOp)]


def merge_groups(partition: Partition) -> None:
    """Merge the memory-bound groups of a partition in place, and say so in its ledger."""
    merging = Merging(partition.group_of, partition.facts)
    merging.run()
    decisions: list[Decision] = []
    for decision in partition.decisions:
        group = partition.group_of[decision.op]
        refusals = [(other, reason) for other, reason in decision.refusals if other.kind not in KINDS]
        if group.kind in KINDS and decision.op is group.root:
            refusals += merging.refusals(group)
        decisions.append(Decision(decision.op, group, tuple(refusals)))
    partition.decisions = decisions
