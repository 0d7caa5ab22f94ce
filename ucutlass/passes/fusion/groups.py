"""The partition of a kernel's operations into groups, one device kernel each.

Operations are visited in order. A contraction opens a group; an element-wise operation joins the group of an operand
where the rules allow it and no dependency would run in a circle; element-wise work that only feeds one group is drawn
into it. What remains forms groups of its own.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from xdsl.ir import Operation, SSAValue

from ucutlass.dialects.ucutlass import OPERATIONS, ConstantOp, KernelOp, ReturnOp, UcuOp
from ucutlass.dialects.ucutlass.spec import OpSpec
from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.passes.fusion.legality import Space, refusal_of_leaf, refusal_of_operation
from ucutlass.targets.rules.types import RESULTS as STORED_TYPES

TRANSPOSE = OPERATIONS["t"]
MATERIALIZE = OPERATIONS["materialize"]

FAMILIES: Mapping[str, str] = {
    **dict.fromkeys(("unary", "binary", "ternary", "epilogue"), "elementwise"),
    "staging": "copy",
}
"""The family of kernels for a family of operations, where that has another name."""


def family_of(spec: OpSpec) -> str:
    """The family of the kernel that is opened for an operation."""
    if spec.family == "gemm" and (spec.takes_list or len(spec.operands) > 2):
        return "grouped"
    return FAMILIES.get(spec.family, spec.family)


def is_free(op: Operation) -> bool:
    """Whether an operation moves no data, so that every group that needs it holds its own copy: numbers and `.T`."""
    return isinstance(op, ConstantOp | TRANSPOSE)


def behind_views(value: SSAValue) -> SSAValue:
    """The value that this one is a view of."""
    while isinstance(value.owner, TRANSPOSE):
        value = value.owner.operands[0]
    return value


@dataclass(eq=False)
class Group:
    """Operations that one device kernel holds."""

    kind: str
    """Family of the kernel: that of the operation it was opened for."""
    root: UcuOp
    members: list[UcuOp] = field(default_factory=list[UcuOp])
    needs: set["Group"] = field(default_factory=set["Group"])
    """Every group that must have run before, direct or not."""


@dataclass(frozen=True)
class Decision:
    """One row of the ledger: where an operation went, and why not where it might have gone."""

    op: UcuOp
    group: Group
    refusals: tuple[tuple[Group, str], ...]


class Partition:
    """The groups of one kernel and the decisions that led to them."""

    def __init__(self, kernel: KernelOp) -> None:
        self.kernel = kernel
        self.facts = kernel.facts
        self.group_of: dict[Operation, Group] = {}
        self.decisions: list[Decision] = []
        self._apart: set[Operation] = set()
        """What no contraction's epilogue may hold: something outside reads its value, and it could not be written."""
        self._place_all()
        while unstored := {op for op, group in self.group_of.items() if _leaves_unstored(op, group, self.group_of)}:
            self._apart |= unstored
            self.group_of.clear()
            self.decisions.clear()
            self._place_all()

    def _place_all(self) -> None:
        waiting: list[UcuOp] = []
        for op in self.kernel.body.block.ops:
            if isinstance(op, ReturnOp) or is_free(op) or not isinstance(op, UcuOp):
                continue
            if op.spec.is_elementwise and not self._depends_on_group(op):
                waiting.append(op)
            else:
                self._place(op)
        for op in waiting:
            if op not in self.group_of:
                self._place(op)

    @property
    def groups(self) -> list[Group]:
        """The groups in an order in which they can run."""
        ordered: list[Group] = []
        pending = list(dict.fromkeys(self.group_of.values()))
        while pending:
            ready = next(g for g in pending if not (g.needs - {g}) & set(pending))
            pending.remove(ready)
            ordered.append(ready)
        return ordered

    def _producers(self, op: Operation) -> Iterator[Operation]:
        """The operations whose results `op` reads, looking through views and numbers."""
        for operand in op.operands:
            owner = operand.owner
            if isinstance(owner, Operation):
                if is_free(owner):
                    yield from self._producers(owner)
                else:
                    yield owner

    def _depends_on_group(self, op: Operation) -> bool:
        return any(p in self.group_of for p in self._producers(op))

    def _space(self, group: Group) -> Space | None:
        result = group.root.results[0].type
        return Space.of(result, self.facts) if isinstance(result, TensorType) else None

    def _place(self, op: UcuOp) -> None:
        refusals: list[tuple[Group, str]] = []
        if isinstance(op, MATERIALIZE):
            # Written by the kernel that computes it, so there must be one.
            for producer in self._producers(op):
                if isinstance(producer, UcuOp) and producer not in self.group_of:
                    self._place(producer)
        for candidate in self._candidates(op):
            reason = self._refusal(op, candidate)
            if reason is None:
                self._join(op, candidate)
                self.decisions.append(Decision(op, candidate, tuple(refusals)))
                return
            refusals.append((candidate, reason))
        group = Group(family_of(op.spec), op)
        self._join(op, group)
        self.decisions.append(Decision(op, group, tuple(refusals)))

    def _candidates(self, op: UcuOp) -> list[Group]:
        """Groups of the operands, the latest first, so that a chain stays with the contraction that ends it."""
        found = [self.group_of[p] for p in self._producers(op) if p in self.group_of]
        return sorted(dict.fromkeys(found), key=lambda g: len(g.needs), reverse=True)

    def _refusal(self, op: UcuOp, group: Group) -> str | None:
        if op in self._apart and group.kind == "gemm":
            return "its value is read outside of the kernel, and no epilogue stores its type"
        if isinstance(op, MATERIALIZE):
            stored = self._group_behind(op.operands[0])
            return None if stored is group else "it stores another kernel's value"
        if any(isinstance(p, MATERIALIZE) and self.group_of.get(p) is group for p in self._producers(op)):
            return "materialize ends the kernel here"
        if any(isinstance(o.owner, TRANSPOSE) and self._group_behind(o) is group for o in op.operands):
            return "it reads the transpose of this kernel's value, which other threads hold"
        if group.kind not in ("gemm", "elementwise"):
            return f"kernels of the family {group.kind} take no epilogue"
        space = self._space(group)
        if space is None:
            return "its sizes are not known"
        for producer in self._producers(op):
            other = self.group_of.get(producer)
            if other is not None and other is not group and group in other.needs:
                return f"it also reads {producer.name.removeprefix('ucutlass.')}, which needs this kernel's result"
        if group.kind == "elementwise" and op.spec.is_elementwise:
            result = op.results[0].type
            if not (isinstance(result, TensorType) and space.covers(result.dims)):
                return "its result has another shape"
            return None
        return refusal_of_operation(space, op, lambda value: self._is_inside(value, group, op))

    def _group_behind(self, value: SSAValue) -> Group | None:
        """The group that computes a value or what it is a view of."""
        owner = behind_views(value).owner
        return self.group_of.get(owner) if isinstance(owner, Operation) else None

    def _is_inside(self, value: SSAValue, group: Group, reader: UcuOp) -> bool:
        owner = value.owner
        if not isinstance(owner, UcuOp):
            return False
        return self.group_of.get(owner) is group or self._can_draw_in(owner, group, reader)

    def _can_draw_in(self, op: UcuOp, group: Group, reader: UcuOp) -> bool:
        """Whether waiting element-wise work can be computed inside a contraction's epilogue, where alone it is read."""
        if op in self.group_of or op in self._apart or not op.spec.is_elementwise or group.kind != "gemm":
            return False
        if any(use.operation is not reader and use.operation not in group.members for use in op.results[0].uses):
            return False
        space = self._space(group)
        return (
            space is not None
            and refusal_of_leaf(space, op.results[0]) is None
            and all(refusal_of_leaf(space, operand) is None for operand in op.operands)
        )

    def _join(self, op: UcuOp, group: Group) -> None:
        """Put `op` into the group, and before it what it reads: drawn in where possible, else in groups of its own."""
        self.group_of[op] = group
        group.members.append(op)
        pending = [op]
        while pending:
            reader = pending.pop()
            for producer in self._producers(reader):
                if not isinstance(producer, UcuOp):
                    continue
                if producer not in self.group_of:
                    if reader is not group.root and self._can_draw_in(producer, group, reader):
                        self.group_of[producer] = group
                        group.members.append(producer)
                        self.decisions.append(Decision(producer, group, ()))
                        pending.append(producer)
                    else:
                        self._place(producer)
                other = self.group_of[producer]
                if other is not group:
                    self._require(group, other)

    def _require(self, group: Group, other: Group) -> None:
        group.needs |= {other} | other.needs
        for later in set(self.group_of.values()):
            if group in later.needs:
                later.needs |= group.needs


def _leaves_unstored(op: Operation, group: Group, group_of: Mapping[Operation, Group]) -> bool:
    """Whether other kernels or the caller read a value that the epilogue of its kernel cannot write."""
    if group.kind != "gemm" or op is group.root:
        return False
    value = op.results[0]
    if not isinstance(value.type, TensorType) or value.type.element.name in STORED_TYPES:
        return False
    return any(group_of.get(use.operation) is not group for use in value.uses)
