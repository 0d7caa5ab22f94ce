"""A group around reductions and row-wise operations to `support::RowKernel`.

What varies along a row is loaded in vectors, what does not once a row. Where a reduction needs two passes (the largest
element and then a sum, the mean and then squares) a resident row takes them one after the other, which is cheaper and
more exact; a streamed one takes both in one pass.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ArrayAttr, BoolAttr, IntegerAttr, StringAttr, i64
from xdsl.ir import Attribute, Operation, SSAValue

from ucutlass.dialects.cutlass.core import int_array
from ucutlass.dialects.cutlass.memory import MapOp, RowKernelOp, StageOp, is_packed
from ucutlass.dialects.cutlass.program import DeviceKernelOp, EndOp
from ucutlass.dialects.ucutlass import DimsAttr, FusedOp
from ucutlass.dialects.ucutlass.base import facts_at
from ucutlass.dialects.ucutlass.types import MLIR_ELEMENT, TensorType
from ucutlass.dims import Dim
from ucutlass.element_types import ElementType
from ucutlass.passes.lowering.elementwise import lower_elementwise, operations_of
from ucutlass.passes.lowering.memory_parts import (
    CPP,
    Parts,
    element_bytes,
    functions_of,
    leaves_of,
    mark_fast,
    rows_of,
    stored_as,
    vector_width,
)
from ucutlass.passes.memory.affine import ONE
from ucutlass.passes.memory.evaluate import Evaluation, behind, evaluate, needs_rows, space_of
from ucutlass.passes.memory.expression import (
    TWO_PASSES,
    Builder,
    Expression,
    Gathered,
    Leaf,
    Pooled,
    Read,
    Reduced,
    Reduction,
)
from ucutlass.passes.memory.movement import type_of
from ucutlass.records import record
from ucutlass.targets.arch import Architecture

THREADS = 256
"""Threads of a block that keeps rows in registers, as in `rows.inc`."""
SCRATCH = 8 << 10
"""Bytes of shared memory that are not left for rows."""
CLUSTER = 8


@record
class Primitive:
    """A reduction of one pass, and the numbers of its results."""

    kind: str
    inputs: tuple[Expression, ...]
    outputs: tuple[int, ...]


@dataclass
class Slots:
    """Numbers of the results of reductions, and the passes that give them."""

    builder: Builder
    numbers: dict[tuple[Reduction, int], int] = field(default_factory=dict[tuple[Reduction, int], int])
    types: list[ElementType] = field(default_factory=list[ElementType])

    def add(self, reductions: Sequence[Reduction]) -> None:
        """Number the results of reductions."""
        for reduction in reductions:
            for index, element in enumerate(reduction.elements):
                self.numbers[reduction, index] = len(self.types)
                self.types.append(element)

    def streamed(self, reduction: Reduction) -> tuple[Primitive, ...]:
        """A reduction in one pass."""
        outputs = tuple(self.numbers[reduction, i] for i in range(len(reduction.elements)))
        return (Primitive(reduction.kind, reduction.inputs, outputs),)

    def resident(self, reduction: Reduction) -> tuple[Primitive, ...]:
        """A reduction in as many passes as are exact."""
        if reduction.kind not in TWO_PASSES:
            return self.streamed(reduction)
        (x,) = reduction.inputs
        first, second = (self.numbers[reduction, i] for i in range(2))
        build = self.builder
        found = build.reduced(reduction, 0)
        if reduction.kind == "LogSumExp":
            term = build.apply("exp", build.apply("sub", x, found))
            return (Primitive("Max", (x,), (first,)), Primitive("Sum", (term,), (second,)))
        distance = build.apply("sub", x, build.apply("div", found, build.length(x.element)))
        term = build.apply("square", distance)
        return (Primitive("Sum", (x,), (first,)), Primitive("Sum", (term,), (second,)))

    def stages(self, primitives: Sequence[Primitive]) -> list[list[Primitive]]:
        """Passes in order: each takes every primitive whose inputs are there."""
        ready: set[int] = set()
        stages: list[list[Primitive]] = []
        left = list(primitives)
        while left:
            stage = [p for p in left if self._needs(p) <= ready]
            assert stage, "reductions need each other"
            stages.append(stage)
            left = [p for p in left if p not in stage]
            ready |= {o for p in stage for o in p.outputs}
        return stages

    def _needs(self, primitive: Primitive) -> set[int]:
        leaves = leaves_of(primitive.inputs)
        return {self.numbers[leaf.reduction, leaf.index] for leaf in leaves if isinstance(leaf, Reduced)}


def reductions_of(expressions: Sequence[Expression]) -> list[Reduction]:
    """Every reduction that expressions need, directly or not, those that others need first."""
    ordered: dict[Reduction, None] = {}

    def visit(expression: Expression) -> None:
        for leaf in leaves_of([expression]):
            if isinstance(leaf, Reduced) and leaf.reduction not in ordered:
                for value in leaf.reduction.inputs:
                    visit(value)
                ordered[leaf.reduction] = None

    for expression in expressions:
        visit(expression)
    return list(ordered)


def lower_rows(fused: FusedOp, kernel: DeviceKernelOp, target: Architecture) -> None:
    """Fill the body of the device kernel of a group."""
    facts = facts_at(fused)
    operations = operations_of(fused)
    if not any(map(needs_rows, operations)):
        lower_elementwise(fused, kernel, target)
        return
    stored = [behind(value)[0] for value in fused.yielded]
    space, values = evaluate(space_of(operations, stored, facts), stored)
    RowLowering(fused, kernel, target, space, values).build()


class RowLowering:
    """Builds the body of one device kernel."""

    def __init__(
        self,
        fused: FusedOp,
        kernel: DeviceKernelOp,
        target: Architecture,
        space: Evaluation,
        values: Sequence[Expression],
    ) -> None:
        self.parts = Parts(fused, kernel)
        self.kernel = kernel
        self.target = target
        self.space = space
        outputs = [output.type for output in kernel.outputs]
        self.types = [t for t in outputs if isinstance(t, TensorType)]
        self.results = [stored_as(space.builder, v, t.element) for v, t in zip(values, self.types, strict=True)]
        stored = [behind(value) for value in fused.yielded]
        self.full = [i for i, (value, _) in enumerate(stored) if space.is_full(type_of(value).dims)]
        self.once = [i for i in range(len(self.results)) if i not in self.full]
        self.places = [tuple(space.places_of(value)[dim] for dim in order) for value, order in stored]
        atoms = range(len(space.atoms))
        # A space without dimensions of one kind has one of size 1, which nothing depends on.
        self.outer = [i for i in atoms if not space.atoms[i].reduced] or [len(space.atoms)]
        self.inner = [i for i in atoms if space.atoms[i].reduced] or [len(space.atoms) + 1]
        reductions = reductions_of(self.results)
        self.slots = Slots(space.builder)
        self.slots.add(reductions)
        self.streamed = self.slots.stages([p for r in reductions for p in self.slots.streamed(r)])
        self.resident = self.slots.stages([p for r in reductions for p in self.slots.resident(r)])
        self._number_leaves()

    def _sizes(self, atoms: Sequence[int]) -> tuple[Dim, ...]:
        return tuple(self.space.atoms[i].size if i < len(self.space.atoms) else ONE for i in atoms)

    def _number_leaves(self) -> None:
        passes = [*self.streamed, *self.resident]
        every = leaves_of([*(e for stage in passes for p in stage for e in p.inputs), *self.results])
        loaded = [leaf for leaf in every if not isinstance(leaf, Reduced)]
        self.loads = [leaf for leaf in loaded if self._varies(leaf)]
        self.row_loads = [leaf for leaf in loaded if not self._varies(leaf)]
        self.number: dict[Leaf, int] = {leaf: i for i, leaf in enumerate([*self.loads, *self.row_loads])}
        for leaf in every:
            if isinstance(leaf, Reduced):
                self.number[leaf] = len(loaded) + self.slots.numbers[leaf.reduction, leaf.index]

    def _varies(self, leaf: Leaf) -> bool:
        """Whether it has other values along a row."""
        return any(self.space.atoms[atom].reduced for place in functions_of(leaf) for atom in place.atoms)

    def build(self) -> None:
        """Fill the kernel's body."""
        name = self.kernel.outputs[0].name_hint or "value"
        both, parts = [*self.outer, *self.inner], self.parts
        length = ONE
        for size in self._sizes(self.inner):
            length *= size
        loads = [parts.load(leaf, both, length) for leaf in self.loads]
        row_loads = [parts.load(leaf, self.outer, length) for leaf in self.row_loads]
        streamed = [self._stage(stage, f"{name}_pass{i}") for i, stage in enumerate(self.streamed)]
        is_same = self.streamed == self.resident
        resident = (
            streamed if is_same else [self._stage(stage, f"{name}_stage{i}") for i, stage in enumerate(self.resident)]
        )
        mapped = self._map(self.full, f"{name}_map")
        stores = [parts.store(i, self.places[i], both) for i in self.full]
        row_mapped = self._map(self.once, f"{name}_row_map")
        row_stores = [parts.store(i, self.places[i], self.outer) for i in self.once]
        width = self._width()
        kept = self._kept()
        op: Operation = RowKernelOp.build(
            operands=[loads, row_loads, resident, streamed, mapped, stores, row_mapped, row_stores],
            properties={
                "outer": DimsAttr(self._sizes(self.outer)),
                "inner": DimsAttr(self._sizes(self.inner)),
                "width": IntegerAttr(width, i64),
                "columns": BoolAttr.from_bool(self._is_columns),
                "residences": IntegerAttr(self._residences(width, kept), i64),
                "key": IntegerAttr(self._key_row, i64),
                "kept": int_array(kept),
                "result_elements": ArrayAttr([MLIR_ELEMENT[t.name] for t in self.slots.types]),
                "shared": IntegerAttr(self.target.shared_memory, i64),
                "cluster": IntegerAttr(self._cluster, i64),
            },
            result_types=[CPP],
        )
        parts.end(EndOp.build(operands=[parts.add(op, "kernel")]))

    def _stage(self, stage: Sequence[Primitive], name: str) -> SSAValue:
        inputs = [e for primitive in stage for e in primitive.inputs]
        functor, leaves = self.parts.functor(inputs, f"{name}_fn")
        mark_fast(functor, [t.element for t in self.types])
        op = StageOp.build(
            operands=[functor],
            properties={
                "reductions": ArrayAttr([StringAttr(p.kind) for p in stage]),
                "computes": ArrayAttr([MLIR_ELEMENT[p.inputs[0].element.name] for p in stage]),
                "inputs": int_array([self.number[leaf] for leaf in leaves]),
                "outputs": int_array([o for p in stage for o in p.outputs]),
            },
            result_types=[CPP],
        )
        return self.parts.add(op, name)

    def _map(self, outputs: Sequence[int], name: str) -> list[SSAValue]:
        if not outputs:
            return []
        functor, leaves = self.parts.functor([self.results[i] for i in outputs], f"{name}_fn")
        mark_fast(functor, [self.types[i].element for i in outputs])
        inputs: Attribute = int_array([self.number[leaf] for leaf in leaves])
        return [
            self.parts.add(MapOp.build(operands=[functor], properties={"inputs": inputs}, result_types=[CPP]), name)
        ]

    # Choices

    @property
    def _key(self) -> int:
        """The load after which dimensions are ordered: that of the tensor which varies most."""

        def extent(leaf: Leaf) -> int:
            atoms = {atom for place in functions_of(leaf) for atom in place.atoms}
            rank = 2 if isinstance(leaf, Read) else 1 if isinstance(leaf, Gathered | Pooled) else 0
            return rank * 1000 + sum(not self.space.facts.equal(self.space.atoms[a].size, ONE) for a in atoms)

        return max(range(len(self.loads)), key=lambda i: extent(self.loads[i]), default=0)

    @property
    def _key_row(self) -> int:
        return sum(rows_of(leaf) for leaf in self.loads[: self._key])

    @property
    def _is_columns(self) -> bool:
        """Whether neighbours in memory lie in different rows."""
        if not self.loads:
            return False
        key = self.loads[self._key]
        if not isinstance(key, Read) or not isinstance(key.tensor.type, TensorType):
            return False
        for dim in reversed(key.tensor.type.order):
            terms = [
                (c, atom)
                for atom, c in key.places[dim].terms
                if not self.space.facts.equal(self.space.atoms[atom].size, ONE)
            ]
            nearest = [atom for c, atom in terms if c in (ONE, Dim.of(-1))] or [atom for _, atom in terms]
            if nearest:
                return not self.space.atoms[nearest[0]].reduced
        return False

    def _width(self) -> int:
        read = [
            leaf.tensor.type.element
            for leaf in self.loads
            if isinstance(leaf, Read | Gathered | Pooled) and isinstance(leaf.tensor.type, TensorType)
        ]
        written = self.types if self._is_columns else [self.types[i] for i in self.full]
        return vector_width([*read, *(t.element for t in written)])

    def _kept(self) -> list[int]:
        """Loads that several passes over a resident row read, and that are other ones for every row."""
        passes = [[e for p in stage for e in p.inputs] for stage in self.resident]
        passes.append([self.results[i] for i in self.full])
        outer = set(self.outer)
        kept: list[int] = []
        for i, leaf in enumerate(self.loads):
            uses = sum(leaf in leaves_of(expressions) for expressions in passes)
            atoms = {atom for place in functions_of(leaf) for atom in place.atoms}
            is_single_row = all(size == ONE for size in self._sizes(self.outer))
            if (
                isinstance(leaf, Read)
                and not leaf.bounds
                and not is_packed(leaf.tensor)
                and uses > 1
                and (atoms & outer or is_single_row)
            ):
                kept.append(i)
        return kept

    @property
    def _cluster(self) -> int:
        return CLUSTER if self.target.capability >= 90 else 1

    def _residences(self, width: int, kept: Sequence[int]) -> int:
        """How rows of this length may be kept."""
        if not kept or (not self.full and len(self.resident) == 1):
            return RowKernelOp.STREAMED
        length = 1
        for size in self._sizes(self.inner):
            if not size.is_static:
                return RowKernelOp.REGISTERS | RowKernelOp.SHARED | RowKernelOp.STREAMED
            length *= size.value
        items = 32 if len(kept) == 1 else 16
        # Columns share a block, four or more of them.
        lanes = THREADS // 4 if self._is_columns else THREADS
        most = lanes * max(items // width, 1) * (1 if self._is_columns else width)
        if length <= most:
            return RowKernelOp.REGISTERS
        tensors = [leaf.tensor.type for leaf in (self.loads[i] for i in kept) if isinstance(leaf, Read)]
        row_bytes = length * sum(element_bytes(t.element) for t in tensors if isinstance(t, TensorType))
        columns = 2 * width if self._is_columns else 1
        if row_bytes * columns <= self._cluster * (self.target.shared_memory - SCRATCH):
            return RowKernelOp.SHARED
        return RowKernelOp.STREAMED
