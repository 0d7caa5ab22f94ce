"""The value of an operation's result at one element of an iteration space, as an expression over what lies in memory.

Imports the dialect and the modules beside it. Expressions are built from the result towards the operands, each of which
may be wanted in several places; so an operation that moves data costs nothing but another place to read at.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from ucutlass.dialects.ucutlass import ConstantOp, UcuOp
from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.dims import Dim, Facts
from ucutlass.element_types import S64
from ucutlass.passes.memory.affine import (
    ONE,
    Affine,
    Atom,
    Bound,
    IndexMap,
    NotExpressibleError,
    RefineError,
    cut,
    row_major,
)
from ucutlass.passes.memory.expression import Builder, Expression
from ucutlass.passes.memory.movement import ROUTES, Route, Site, Wanted, elementwise, index_of, sizes_of, type_of
from ucutlass.passes.memory.normal import FORMULAS, Row, normalized
from ucutlass.records import record

ROWWISE = ("reduction", "rowwise")
"""Families whose results need whole rows."""


def needs_rows(op: Operation) -> bool:
    """Whether an operation reduces: it needs more than one element of its operand for one of its result."""
    return isinstance(op, UcuOp) and op.spec.family in ROWWISE and not has_statistics(op)


def has_statistics(op: UcuOp) -> bool:
    """Whether it is a normalization by given statistics, which is element-wise."""
    return op.spec.name == "batch_norm" and op.operand_values()["mean"] is not None


@record
class RowShape:
    """The rows of a kernel: the sizes of what is reduced, cut so that each part is reduced or stays."""

    dims: tuple[Dim, ...]
    parts: tuple[tuple[tuple[Dim, bool], ...], ...]
    """For each dimension its parts, outermost first: sizes, and whether they are reduced."""


def row_shape(op: UcuOp, facts: Facts) -> RowShape:
    """The rows of a reduction or row-wise operation."""
    value = op.operand_values()["x"]
    assert isinstance(value, SSAValue)
    dims = type_of(value).dims
    if op.spec.name == "group_norm":
        (groups,) = sizes_of(op.params()["groups"])
        inner = facts.simplify(dims[1]) // facts.simplify(groups)
        channels = ((groups, False), (inner, True))
        return RowShape(dims, (((dims[0], False),), channels, *(((d, True),) for d in dims[2:])))
    reduced = reduced_dims(op, len(dims))
    return RowShape(dims, tuple(((d, i in reduced),) for i, d in enumerate(dims)))


def scanned_dim(op: UcuOp) -> int:
    """The dimension along which a scan goes; that of a 0-dimensional tensor does not exist."""
    rank = type_of(op.results[0]).rank
    return index_of(op.params()["dim"]) % rank if rank else 0


def reduced_dims(op: UcuOp, rank: int) -> frozenset[int]:
    """The dimensions over which an operation goes, `group_norm` aside."""
    params = op.params()
    match op.spec.name:
        case "layer_norm" | "rms_norm":
            return frozenset(range(rank - len(sizes_of(params["shape"])), rank))
        case "instance_norm":
            return frozenset(range(2, rank))
        case "batch_norm":
            return frozenset(i for i in range(rank) if i != 1)
        case _:
            dim = params["dim"]
            listed = () if dim is None else sizes_of(dim)
            return frozenset(index_of(d) % rank for d in listed) if rank and listed else frozenset(range(rank))


@dataclass(eq=False)
class Evaluation:
    """Expressions over one iteration space."""

    atoms: tuple[Atom, ...]
    dims: tuple[Dim, ...]
    """Sizes of a tensor that fills the space."""
    places: IndexMap
    """Where such a tensor is read."""
    facts: Facts
    is_inside: Callable[[UcuOp], bool]
    """Whether an operation is computed here; the results of others lie in memory."""
    rows: RowShape | None = None
    scan: UcuOp | None = None
    """The operation that accumulates, where this is the space of a scan."""

    def __post_init__(self) -> None:
        self.builder = Builder()
        self._made: dict[Wanted, Expression] = {}

    @staticmethod
    def over(
        dims: Sequence[Dim], facts: Facts, is_inside: Callable[[UcuOp], bool], scan: UcuOp | None = None
    ) -> "Evaluation":
        """The space of a tensor."""
        atoms = tuple(Atom(d) for d in dims)
        places = tuple(Affine.coordinate(i) for i in range(len(dims)))
        return Evaluation(atoms, tuple(dims), places, facts, is_inside, scan=scan)

    @staticmethod
    def over_rows(shape: RowShape, facts: Facts, is_inside: Callable[[UcuOp], bool]) -> "Evaluation":
        """The space of the operand of a reduction."""
        atoms: list[Atom] = []
        places: list[Affine] = []
        for parts in shape.parts:
            numbers = range(len(atoms), len(atoms) + len(parts))
            places.append(row_major([Affine.coordinate(i) for i in numbers], [size for size, _ in parts]))
            atoms.extend(Atom(size, reduced) for size, reduced in parts)
        return Evaluation(tuple(atoms), shape.dims, tuple(places), facts, is_inside, shape)

    def refined(self, refine: RefineError) -> "Evaluation":
        """The same space with one of its atoms cut in two. Raises NotExpressibleError for the one that is scanned."""
        if self.scan is not None and refine.atom in self.places[scanned_dim(self.scan)].atoms:
            raise NotExpressibleError("the dimension that is scanned stays whole")

        def renamed(place: Affine) -> Affine:
            terms: dict[int, Dim] = {}
            for atom, coefficient in place.terms:
                if atom == refine.atom:
                    terms[atom], terms[atom + 1] = coefficient * refine.inner, coefficient
                else:
                    terms[atom if atom < refine.atom else atom + 1] = coefficient
            return Affine.of(place.constant, terms)

        places = tuple(map(renamed, self.places))
        return Evaluation(cut(self.atoms, refine, self.facts), self.dims, places, self.facts, self.is_inside, self.rows)

    def is_full(self, dims: Sequence[Dim]) -> bool:
        """Whether a tensor of these sizes fills the space."""
        return self._are(dims, self.dims)

    def row_places(self, dims: Sequence[Dim]) -> IndexMap | None:
        """Where a tensor that has one element a row is read; None where these are not its sizes."""
        kept = [self._outer_part(i) for i in range(len(self.dims))]
        sizes = [ONE if place is None else size for place, size in kept]
        if self._are(dims, sizes):
            return tuple(Affine() if place is None else place for place, _ in kept)
        left = [(place, size) for place, size in kept if place is not None]
        if self._are(dims, [size for _, size in left]):
            return tuple(place for place, _ in left)
        return None

    def _outer_part(self, dim: int) -> tuple[Affine | None, Dim]:
        """Where a row lies along a dimension, None where all of it is reduced."""
        place = self.places[dim]
        if any(not self.atoms[i].reduced for i in place.atoms) or not place.atoms:
            return place, self.dims[dim]
        return None, ONE

    def _are(self, left: Sequence[Dim], right: Sequence[Dim]) -> bool:
        return len(left) == len(right) and all(self.facts.equal(a, b) for a, b in zip(left, right, strict=True))

    def places_of(self, value: SSAValue) -> IndexMap:
        """Where a value that is stored lies. Raises NotExpressibleError where it fills neither the space nor its
        rows."""
        dims = type_of(value).dims
        if self.is_full(dims):
            return self.places
        found = self.row_places(dims) if self.rows is not None else None
        if found is None:
            shown = ", ".join(map(str, dims))
            raise NotExpressibleError(f"[{shown}] is not the shape that this kernel computes")
        return found

    def expression(self, value: SSAValue, places: IndexMap | None = None) -> Expression:
        """The value at one element. Raises RefineError and NotExpressibleError."""
        root: Wanted = (value, self.places_of(value) if places is None else places, ())
        routes: dict[Wanted, Route] = {}
        pending: list[Wanted] = [root]
        while pending:
            wanted = pending[-1]
            if wanted in self._made:
                pending.pop()
                continue
            if wanted not in routes:
                routes[wanted] = self._route(*wanted)
            missing = [o for o in routes[wanted].operands if o not in self._made]
            if missing:
                pending.extend(missing)
                continue
            self._made[wanted] = routes[wanted].combine([self._made[o] for o in routes[wanted].operands])
            pending.pop()
        return self._made[root]

    def _route(self, value: SSAValue, places: IndexMap, bounds: tuple[Bound, ...]) -> Route:
        op = value.owner
        assert not isinstance(op, ConstantOp), "numbers are parts of the operations that use them"
        if self._is_memory(value):
            read = self.builder.read(value, places, bounds)
            return Route((), lambda operands: read)
        assert isinstance(op, UcuOp)
        number = op.results.index(value)
        site = Site(op, number, places, bounds, self.atoms, self.facts, self.builder, self._is_memory)
        if op.spec.is_elementwise:
            return elementwise(site)
        if op.spec.name in ROUTES:
            return ROUTES[op.spec.name](site)
        if op.spec.family == "staging":
            (operand,) = op.operands
            return Route(((operand, places, bounds),), lambda operands: operands[0])
        if has_statistics(op):
            return self._by_statistics(site)
        if op.spec.name in FORMULAS:
            return self._by_rows(site)
        if op.spec.family == "scan":
            return self._by_scan(site)
        raise NotExpressibleError(f"{op.spec.name} is no operation of a memory-bound kernel")

    def _is_memory(self, value: SSAValue) -> bool:
        """Whether a value lies in memory, rather than being computed here."""
        return not isinstance(value.owner, UcuOp) or not self.is_inside(value.owner)

    def _by_rows(self, site: Site) -> Route:
        op = site.op
        value = type_of(op.results[0])
        if self.rows is None or row_shape(op, self.facts) != self._shape_like(op):
            raise NotExpressibleError(f"{op.spec.name} goes over other dimensions than this kernel reduces")
        expected = self.places if op.spec.family == "rowwise" else self.row_places(value.dims)
        if site.places != expected or site.bounds:
            raise NotExpressibleError(f"{op.spec.name} is wanted at another element than the one computed")
        operands = self._operands(op)
        reduced = [i for i, atom in enumerate(self.atoms) if atom.reduced]
        number = row_major([Affine.coordinate(i) for i in reduced], [self.atoms[i].size for i in reduced])
        return self._formula(site, operands, number, FORMULAS[op.spec.name], value.rank == 0)

    def _by_scan(self, site: Site) -> Route:
        if site.op is not self.scan or site.places != self.places or site.bounds:
            raise NotExpressibleError(f"{site.op.spec.name} needs a kernel that goes along its dimension in order")

        def combine(operands: Sequence[Expression]) -> Expression:
            (x,) = operands
            value = x if x.element.is_float else self.builder.cast(x, S64)
            return self.builder.scan("Sum" if site.op.spec.name == "cumsum" else "Prod", value)

        return Route(((site.operand("x"), self.places, ()),), combine)

    def _by_statistics(self, site: Site) -> Route:
        operands: list[tuple[str, Wanted]] = []
        for name, value in site.op.operand_values().items():
            if isinstance(value, SSAValue):
                places = site.places if name == "x" else site.places[1:2]
                operands.append((name, (value, places, site.bounds)))

        def formula(row: Row) -> Expression:
            mean, variance = row.other("mean"), row.other("var")
            assert mean is not None and variance is not None
            return normalized(row, mean, variance)

        return self._formula(site, operands, Affine(), formula, False)

    def _shape_like(self, op: UcuOp) -> RowShape | None:
        """The rows of this kernel, with the sizes as the operation writes them where they are equal."""
        shape = row_shape(op, self.facts)
        if self.rows is None or not self._are(shape.dims, self.rows.dims):
            return None
        same = len(shape.parts) == len(self.rows.parts) and all(
            self._are([s for s, _ in a], [s for s, _ in b]) and [r for _, r in a] == [r for _, r in b]
            for a, b in zip(shape.parts, self.rows.parts, strict=True)
        )
        return shape if same else None

    def _operands(self, op: UcuOp) -> list[tuple[str, Wanted]]:
        """Where the operands of a row-wise operation are read: weights over the last dimensions, or by channel."""
        found: list[tuple[str, Wanted]] = []
        for name, value in op.operand_values().items():
            if not isinstance(value, SSAValue):
                continue
            rank = type_of(value).rank
            is_over_shape = op.spec.name in ("layer_norm", "rms_norm")
            last = self.places[len(self.places) - rank :]
            places = self.places if name == "x" else last if is_over_shape else self.places[1:2]
            found.append((name, (value, places, ())))
        return found

    def _formula(
        self,
        site: Site,
        operands: Sequence[tuple[str, Wanted]],
        number: Affine,
        formula: Callable[[Row], Expression],
        is_scalar: bool,
    ) -> Route:
        call = site.op.call(self.facts)
        assert call is not None

        def combine(values: Sequence[Expression]) -> Expression:
            named = dict(zip((name for name, _ in operands), values, strict=True))
            x = named.pop("x")
            return formula(Row(self.builder, x, named, call.params, number, is_scalar))

        return Route(tuple(wanted for _, wanted in operands), combine)


def evaluate(evaluation: Evaluation, values: Sequence[SSAValue]) -> tuple[Evaluation, tuple[Expression, ...]]:
    """The expressions of values that are stored, in the space cut as finely as they need. Raises
    NotExpressibleError."""
    while True:
        try:
            return evaluation, tuple(evaluation.expression(value) for value in values)
        except RefineError as refine:
            evaluation = evaluation.refined(refine)


def space_of(ops: Sequence[UcuOp], stored: Sequence[SSAValue], facts: Facts) -> Evaluation:
    """The iteration space of operations that form one kernel: that of what they reduce, else of what they store."""
    inside = set(ops)
    reduction = next((op for op in ops if needs_rows(op)), None)

    def is_inside(op: UcuOp) -> bool:
        return op in inside or op.spec.name == "t"

    if reduction is not None:
        return Evaluation.over_rows(row_shape(reduction, facts), facts, is_inside)
    scan = next((op for op in ops if op.spec.family == "scan"), None)
    type_ = (stored[0] if scan is None else scan.results[0]).type
    assert isinstance(type_, TensorType)
    return Evaluation.over(type_.dims, facts, is_inside, scan)


def behind(value: SSAValue) -> tuple[SSAValue, tuple[int, ...]]:
    """The value that this one is a view of, and for each dimension of the view the dimension of the value."""
    order = list(range(type_of(value).rank))
    while isinstance(value.owner, UcuOp) and value.owner.spec.name == "t":
        order[-2:] = order[-1], order[-2]
        value = value.owner.operands[0]
    return value, tuple(order)
