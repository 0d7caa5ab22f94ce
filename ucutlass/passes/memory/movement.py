"""Data movement as a change of places: an element of the result is an element of the operand somewhere else.

Imports the dialect and the modules beside it. Each rule says where the operands are read, and what becomes of what is
read there. Rules know no kernel: they serve every iteration space.
"""

from collections.abc import Callable, Mapping, Sequence

from xdsl.ir import SSAValue

from ucutlass.dialects.ucutlass import UcuOp
from ucutlass.dialects.ucutlass.spec import ParamValue
from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.dims import Dim, Facts
from ucutlass.passes.memory.affine import (
    ONE,
    ZERO,
    Affine,
    Atom,
    Bound,
    IndexMap,
    NotExpressibleError,
    regrouped,
    remainder,
    row_major,
)
from ucutlass.passes.memory.expression import Builder, Expression, PoolKind, PoolWindow, Read
from ucutlass.records import record

Wanted = tuple[SSAValue, IndexMap, tuple[Bound, ...]]
"""A value, where it is wanted, and within which bounds it is needed."""


@record
class Route:
    """How a value comes about: from which values elsewhere, and how."""

    operands: tuple[Wanted, ...]
    combine: Callable[[Sequence[Expression]], Expression]


@record
class Site:
    """Where a value is wanted."""

    op: UcuOp
    result: int
    places: IndexMap
    bounds: tuple[Bound, ...]
    atoms: tuple[Atom, ...]
    facts: Facts
    builder: Builder
    is_memory: Callable[[SSAValue], bool]
    """Whether a value lies in memory, rather than being computed here."""

    @property
    def params(self) -> Mapping[str, ParamValue]:
        return self.op.params()

    def operand(self, name: str) -> SSAValue:
        """The operand of this name."""
        value = self.op.operand_values()[name]
        assert isinstance(value, SSAValue)
        return value

    def dims(self, name: str = "x") -> tuple[Dim, ...]:
        """The sizes of an operand."""
        return type_of(self.operand(name)).dims

    def axis(self, param: str = "dim") -> int:
        """The dimension that a parameter names, counted from the front."""
        return index_of(self.params[param]) % len(self.dims())

    def moved(self, places: Sequence[Affine], bounds: Sequence[Bound] = ()) -> Route:
        """The operand, somewhere else."""
        wanted = (self.operand("x"), tuple(places), (*self.bounds, *bounds))
        return Route((wanted,), lambda operands: operands[0])


def type_of(value: SSAValue) -> TensorType:
    """The type of a tensor."""
    assert isinstance(value.type, TensorType)
    return value.type


def index_of(value: ParamValue) -> int:
    """The value of a parameter that is a known integer."""
    assert isinstance(value, int | str | Dim)
    return Dim.of(value).value


def sizes_of(value: ParamValue) -> tuple[Dim, ...]:
    """The value of a parameter that is a list of sizes, or one size."""
    if isinstance(value, tuple):
        return tuple(Dim.of(v) for v in value)
    assert isinstance(value, int | str | Dim)
    return (Dim.of(value),)


def _view(site: Site) -> Route:
    *front, last, other = site.places
    return site.moved([*front, other, last])


def _permute(site: Site) -> Route:
    order = [index_of(d) % len(site.places) for d in sizes_of(site.params["d"])]
    places = [Affine()] * len(order)
    for place, dim in zip(site.places, order, strict=True):
        places[dim] = place
    return site.moved(places)


def _transpose(site: Site) -> Route:
    first, second = site.axis("d0"), site.axis("d1")
    places = list(site.places)
    places[first], places[second] = places[second], places[first]
    return site.moved(places)


def _same(site: Site) -> Route:
    return site.moved(site.places)


def _reshape(site: Site) -> Route:
    dims = type_of(site.op.results[0]).dims
    if any(site.facts.simplify(d) == ZERO for d in (*dims, *site.dims())):
        return site.moved([Affine()] * len(site.dims()))
    place = row_major(site.places, [site.facts.simplify(d) for d in dims])
    try:
        return site.moved(regrouped(place, site.dims(), site.atoms, site.facts))
    except NotExpressibleError:
        x = site.operand("x")
        if not site.is_memory(x) or not type_of(x).layout.is_row:
            raise
        read = site.builder.read(x, (place,), site.bounds, is_flat=True)
        return Route((), lambda operands: read)


def _pad(site: Site) -> Route:
    values = sizes_of(site.params["pad"])
    dims, places, bounds = site.dims(), list(site.places), list[Bound]()
    for pair in range(len(values) // 2):
        index = len(dims) - 1 - pair
        before, after = values[2 * pair], values[2 * pair + 1]
        places[index] -= before
        if any(not v.is_static or v.value > 0 for v in (before, after)):
            bounds.append(Bound(places[index], dims[index]))
    route = site.moved(places, bounds)
    value = site.params["value"]
    assert isinstance(value, int | float)

    def fill(operands: Sequence[Expression]) -> Expression:
        (x,) = operands
        inside = site.builder.inside(bounds)
        # What is read is 0 outside of its bounds.
        is_filled = isinstance(x, Read) and value == 0 and set(bounds) <= set(x.bounds)
        return x if inside is None or is_filled else site.builder.choose(inside, x, value)

    return Route(route.operands, fill)


def _slice(site: Site) -> Route:
    dim = site.axis()
    size = site.facts.simplify(site.dims()[dim])
    start = site.facts.simplify(sizes_of(site.params["start"])[0])
    end = site.facts.simplify(sizes_of(site.params["end"])[0])
    (step,) = sizes_of(site.params["step"])
    start, end = (size + v if v.is_static and v.value < 0 else v for v in (start, end))
    if size.is_static and start.is_static and end.is_static:
        start = Dim.of(min(max(start.value, 0), size.value))
    places = list(site.places)
    places[dim] = places[dim] * step + start
    return site.moved(places)


def _concat(site: Site) -> Route:
    tensors = site.op.operand_values()["tensors"]
    assert isinstance(tensors, tuple)
    dim = index_of(site.params["dim"]) % type_of(tensors[0]).rank
    wanted: list[Wanted] = []
    start = ZERO
    starts: list[Dim] = []
    for tensor in tensors:
        places = list(site.places)
        places[dim] -= start
        extent = type_of(tensor).dims[dim]
        wanted.append((tensor, tuple(places), (*site.bounds, Bound(places[dim], extent))))
        starts.append(start)
        start += extent

    def join(operands: Sequence[Expression]) -> Expression:
        total = operands[-1]
        for value, end in zip(reversed(operands[:-1]), reversed(starts[1:]), strict=True):
            before = site.builder.apply("lt", site.builder.coordinate(site.places[dim] - end), site.builder.number(0))
            total = site.builder.apply("where", before, value, total)
        return total

    return Route(tuple(wanted), join)


def _split(site: Site) -> Route:
    dim = site.axis()
    places = list(site.places)
    for result in site.op.results[: site.result]:
        places[dim] += type_of(result).dims[dim]
    return site.moved(places)


def _repeat(site: Site) -> Route:
    dims = site.dims()
    places = site.places[len(site.places) - len(dims) :]
    return site.moved([remainder(p, d, site.atoms, site.facts) for p, d in zip(places, dims, strict=True)])


def _flip(site: Site) -> Route:
    places, dims = list(site.places), site.dims()
    for value in sizes_of(site.params["dim"]):
        dim = index_of(value) % len(dims)
        places[dim] = Affine(dims[dim] - 1) - places[dim]
    return site.moved(places)


def _gather(site: Site) -> Route:
    if site.bounds:
        raise NotExpressibleError("a part of what is gathered lies outside, and an index there is not read")
    dim = site.axis()
    places = list(site.places)
    places[dim] = Affine()
    x, index = site.operand("x"), site.operand("index")
    if not (site.is_memory(x) and site.is_memory(index)):
        raise NotExpressibleError("what is gathered and the index are read from memory, not computed here")
    gathered = site.builder.gather(x, tuple(places), dim, index, site.places)
    return Route((), lambda operands: gathered)


def _pool(site: Site) -> Route:
    x, params = site.operand("x"), site.params
    if site.bounds or not site.is_memory(x):
        raise NotExpressibleError("windows overlap: what they slide over is read from memory, not computed here")
    name = site.op.spec.name
    rank = int(name[-2])
    first = len(site.places) - rank

    def each(param: str, default: Sequence[Dim] = ()) -> tuple[Dim, ...]:
        value = params.get(param)
        values = tuple(default) if value is None else sizes_of(value)
        return values * rank if len(values) == 1 else values

    kind: PoolKind = "kLargest"
    if name.startswith("adaptive"):
        kind = "kAverageTo"
        kernel, stride, padding, dilation = each("size"), (ONE,) * rank, (ZERO,) * rank, (ONE,) * rank
    else:
        if name.startswith("avg"):
            kind = "kAverage" if params["count_include_pad"] else "kAverageInside"
        kernel = each("kernel")
        stride, padding, dilation = each("stride", kernel), each("padding"), each("dilation", (ONE,))
    windows = tuple(
        PoolWindow(first + i, site.places[first + i] * stride[i] - padding[i], kernel[i], dilation[i], padding[i])
        for i in range(rank)
    )
    pooled = site.builder.pool(x, (*site.places[:first], *(Affine() for _ in range(rank))), windows, kind)
    return Route((), lambda operands: pooled)


def _triangle(keeps: str) -> Callable[[Site], Route]:
    def route(site: Site) -> Route:
        (diagonal,) = sizes_of(site.params["diagonal"])
        row, column = site.places[-2:]
        place = site.builder.coordinate(column - row - diagonal)
        kept = site.builder.apply(keeps, place, site.builder.number(0))
        return Route(
            ((site.operand("x"), site.places, site.bounds),),
            lambda operands: site.builder.choose(kept, operands[0], 0),
        )

    return route


ROUTES: Mapping[str, Callable[[Site], Route]] = {
    "t": _view,
    "permute": _permute,
    "transpose": _transpose,
    "to_layout": _same,
    "reshape": _reshape,
    "pad": _pad,
    "slice": _slice,
    "concat": _concat,
    "split": _split,
    "repeat": _repeat,
    "flip": _flip,
    "gather": _gather,
    "tril": _triangle("le"),
    "triu": _triangle("ge"),
    **{f"{kind}_pool{rank}d": _pool for kind in ("max", "avg", "adaptive_avg") for rank in (1, 2, 3)},
}
"""By operation; every operation of the families `movement` and `pool`."""


def elementwise(site: Site) -> Route:
    """An element-wise operation: each operand at the same place, broadcast as NumPy does."""
    wanted: list[Wanted] = []
    numbers: dict[int, int | float] = {}
    spec = site.op.spec
    call = site.op.call(site.facts)
    assert call is not None
    for index, operand in enumerate(spec.operands):
        if operand.name in call.numbers:
            numbers[index] = call.numbers[operand.name]
            continue
        value = site.operand(operand.name)
        dims = type_of(value).dims
        if spec.channels_of is not None and operand.name != spec.channels_of:
            axis = call.params["axis"]
            assert isinstance(axis, int)
            places = site.places[axis : axis + 1]
        else:
            places = site.places[len(site.places) - len(dims) :]
        read = tuple(Affine() if site.facts.equal(d, ONE) else p for p, d in zip(places, dims, strict=True))
        wanted.append((value, read, site.bounds))
    result = type_of(site.op.results[0])

    def combine(operands: Sequence[Expression]) -> Expression:
        values = iter(operands)
        inputs = [site.builder.number(numbers[i]) if i in numbers else next(values) for i in range(len(spec.operands))]
        name = site.op.results[0].name_hint
        if spec.name == "cast":
            return site.builder.cast(inputs[0], result.element)
        # A bias is an addition once it is known where its elements lie.
        params = {} if spec.name == "bias" else {p: v for p, v in call.params.items() if p != "axis"}
        made = site.builder.apply("add" if spec.name == "bias" else spec.name, *inputs, name=name, **params)
        if made.element is not result.element.compute:
            raise NotExpressibleError(
                f"{spec.name} of these types is computed in {made.element}, not as {result.element}"
            )
        return made

    return Route(tuple(wanted), combine)
