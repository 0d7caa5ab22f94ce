"""Result types of data movement: where the elements of a tensor go.

A result is row-major except where the operation is about the layout: `.T`, which moves nothing, and `to_layout`.
"""

from collections.abc import Sequence

from ucutlass.dialects.ucutlass.operations.elementwise_types import common_element, shape_text
from ucutlass.dialects.ucutlass.operations.parameters import at_least, axis, counted, distinct_axes, size_of, sizes_of
from ucutlass.dialects.ucutlass.spec import Call
from ucutlass.dialects.ucutlass.types import LAYOUT_NAMES, TensorType, named_layout
from ucutlass.dims import Dim

ZERO, INFERRED = Dim.of(0), Dim.of(-1)


def _product(sizes: Sequence[Dim]) -> Dim:
    total = Dim.of(1)
    for size in sizes:
        total *= size
    return total


def _at_least_2d(call: Call) -> TensorType:
    x = call.tensor("x")
    if x.rank < 2:
        raise call.fail(
            "UC0303",
            f"{call.spec.spelling} takes a tensor of at least 2 dimensions, but x is {x.spelling}",
            "operand:x",
        )
    return x


def permute_type(call: Call) -> Sequence[TensorType]:
    """The dimensions of `x` in the order of `d`."""
    x = call.tensor("x")
    axes = distinct_axes(call, "d", x)
    if len(axes) != x.rank:
        raise call.fail(
            "UC0303",
            f"permute orders all dimensions of x, but {shape_text(sizes_of(call, 'd'))} names {len(axes)} of the "
            f"{x.rank} of {x.spelling}",
            "param:d",
        )
    return (x.with_dims([x.dims[a] for a in axes]),)


def transpose_type(call: Call) -> Sequence[TensorType]:
    """`x` with two dimensions swapped."""
    x = call.tensor("x")
    first, second = axis(call, "d0", x), axis(call, "d1", x)
    dims = list(x.dims)
    dims[first], dims[second] = dims[second], dims[first]
    return (x.with_dims(dims),)


def view_type(call: Call) -> Sequence[TensorType]:
    """The last two dimensions swapped, in the shape and in the layout: the memory stays as it is."""
    x = _at_least_2d(call)
    last, other = x.rank - 1, x.rank - 2
    renamed = {last: other, other: last}
    dims = (*x.dims[:-2], x.dims[-1], x.dims[-2])
    return (TensorType.of(dims, x.element, [renamed.get(d, d) for d in x.order]),)


def reshape_type(call: Call) -> Sequence[TensorType]:
    """The extents of `shape`, one of which may be -1. Raises TypingError UC0318 where the element count changes."""
    x = call.tensor("x")
    shape = sizes_of(call, "shape")
    open_ones = [i for i, size in enumerate(shape) if size == INFERRED]
    if len(open_ones) > 1:
        raise call.fail(
            "UC0309",
            f"reshape: {shape_text(shape)} leaves {len(open_ones)} extents open, expected one -1 at most",
            "param:shape",
        )
    for size in shape:
        if size != INFERRED:
            at_least(call, "shape", (size,), 0)
    total, given = _product(x.dims), _product([size for size in shape if size != INFERRED])
    counts = f"x {x.spelling} has {total} elements"
    if not open_ones:
        if not call.facts.equal(total, given):
            dynamic = not (total - given).is_static
            raise call.fail(
                "UC0318",
                f"reshape keeps the number of elements, but {counts} and {shape_text(shape)} has {given}",
                "param:shape",
                (f"if they are equal for every call, say so: where {given} == {total}",) if dynamic else (),
            )
        return (x.with_dims(shape),)
    if call.facts.simplify(given) == ZERO:
        raise call.fail(
            "UC0318",
            f"reshape: any extent fits the -1 in {shape_text(shape)}, since the others hold no element: write the "
            "extent",
            "param:shape",
        )
    call.require_multiple(
        total,
        given,
        "UC0318",
        f"reshape keeps the number of elements, but {counts}, which is not a multiple of the {given} of "
        f"{shape_text(shape)}",
        "param:shape",
    )
    total, given = call.facts.simplify(total), call.facts.simplify(given)
    return (x.with_dims([total // given if size == INFERRED else size for size in shape]),)


def pad_type(call: Call) -> Sequence[TensorType]:
    """Each padded dimension grows by what is before and after it; a negative padding cuts off."""
    x = call.tensor("x")
    values = sizes_of(call, "pad")
    if len(values) % 2 or len(values) > 2 * x.rank:
        raise call.fail(
            "UC0309",
            f"pad: {shape_text(values)} has {counted(len(values), 'value')}, expected pairs of before and after from "
            f"the last dimension on, at most {2 * x.rank} values for {x.spelling}",
            "param:pad",
        )
    dims = list(x.dims)
    for pair in range(len(values) // 2):
        index = x.rank - 1 - pair
        before, after = values[2 * pair], values[2 * pair + 1]
        cut = [v for v in (before, after) if v.is_static and v.value < 0]
        kept = x.dims[index] + sum(v.value for v in cut)
        if cut:
            call.require(
                kept,
                ">=",
                0,
                "UC0309",
                f"pad: {before} and {after} cut more off than the {x.dims[index]} places of dimension {index} of "
                f"{x.spelling}",
                "param:pad",
            )
        for value in (before, after):
            if not value.is_static:
                at_least(call, "pad", (value,), 0)
        dims[index] = x.dims[index] + before + after
    return (x.with_dims(dims),)


def slice_type(call: Call) -> Sequence[TensorType]:
    """Places `start` to `end` of one dimension, every `step`th. Of a known size bounds are clipped as Python does."""
    x = call.tensor("x")
    index = axis(call, "dim", x)
    size = call.facts.simplify(x.dims[index])
    step = size_of(call, "step")
    at_least(call, "step", (step,), 1)
    start, end = (_bound(call, name, size) for name in ("start", "end"))
    if size.is_static and start.is_static and end.is_static:
        first, last = (min(max(v.value, 0), size.value) for v in (start, end))
        length = Dim.of(max(last - first, 0))
    else:
        shown = f"slice({start}, {end}) of the {size} places of dimension {index} of {x.spelling}"
        call.require(start, ">=", 0, "UC0309", f"slice: {shown} starts before the first", "param:start")
        call.require(end, ">=", start, "UC0309", f"slice: {shown} ends before it starts", "param:end")
        call.require(size, ">=", end, "UC0309", f"slice: {shown} ends after the last", "param:end")
        length = end - start
    dims = list(x.dims)
    dims[index] = (length + step - 1) // step
    return (x.with_dims(dims),)


def _bound(call: Call, name: str, size: Dim) -> Dim:
    """A bound counted from the start."""
    value = call.facts.simplify(size_of(call, name))
    return size + value if value.is_static and value.value < 0 else value


def concat_type(call: Call) -> Sequence[TensorType]:
    """The sum along `dim`; the other extents are equal, the element type is the promoted one."""
    tensors = call.tensors("tensors")
    first = tensors[0]
    index = axis(call, "dim", first)
    total, element = first.dims[index], first.element
    for position, tensor in enumerate(tensors[1:], 1):
        part = f"operand:tensors:{position}"
        if tensor.rank != first.rank:
            raise call.fail(
                "UC0303",
                f"concat joins tensors of one rank, but the first is {first.spelling} and number {position} is "
                f"{tensor.spelling}",
                part,
            )
        for d in range(first.rank):
            if d != index and not call.facts.equal(first.dims[d], tensor.dims[d]):
                raise call.fail(
                    "UC0301",
                    f"concat along dimension {index}: dimension {d} is {first.dims[d]} in the first, "
                    f"{first.spelling}, and {tensor.dims[d]} in number {position}, {tensor.spelling}",
                    part,
                )
        total += tensor.dims[index]
        element = common_element(call, element, tensor.element, part, ("what stands before", f"number {position}"))
    dims = list(first.dims)
    dims[index] = total
    return (TensorType.of(dims, element),)


def split_type(call: Call) -> Sequence[TensorType]:
    """One piece for each of several sizes, or pieces of one size with a smaller last one."""
    x = call.tensor("x")
    index = axis(call, "dim", x)
    size, sizes = call.facts.simplify(x.dims[index]), sizes_of(call, "sizes")
    where = f"dimension {index} of {x.spelling}"
    pieces = sizes if len(sizes) > 1 else _equal_pieces(call, size, sizes[0], where) if sizes else ()
    at_least(call, "sizes", pieces, 0)
    total = Dim.of(0)
    for piece in pieces:
        total += piece
    if not call.facts.equal(total, size):
        raise call.fail(
            "UC0301",
            f"split: the sizes {shape_text(sizes)} add up to {total}, but {where} has {size} places",
            "param:sizes",
        )
    return [x.with_dims((*x.dims[:index], piece, *x.dims[index + 1 :])) for piece in pieces]


def _equal_pieces(call: Call, size: Dim, piece: Dim, where: str) -> tuple[Dim, ...]:
    piece = call.facts.simplify(piece)
    at_least(call, "sizes", (piece,), 0 if size in (piece, ZERO) else 1)
    if size in (piece, ZERO):
        return (size,)
    count, rest = size // piece, size % piece
    if not (count.is_static and rest.is_static):
        raise call.fail(
            "UC0314",
            f"split: how many pieces of {piece} {where} has is not known when the kernel is compiled: list the size "
            "of each, [a, b]",
            "param:sizes",
        )
    return (piece,) * count.value + ((rest,) if rest != ZERO else ())


def repeat_type(call: Call) -> Sequence[TensorType]:
    """Each dimension `n` times, with new dimensions in front where there are more numbers than dimensions."""
    x = call.tensor("x")
    counts = sizes_of(call, "n")
    if len(counts) < x.rank:
        raise call.fail(
            "UC0309",
            f"repeat: {shape_text(counts)} has {counted(len(counts), 'number')}, expected one for each of the "
            f"{x.rank} dimensions of {x.spelling}",
            "param:n",
        )
    at_least(call, "n", counts, 0)
    dims = (*(Dim.of(1) for _ in counts[x.rank :]), *x.dims)
    return (x.with_dims([count * size for count, size in zip(counts, dims, strict=True)]),)


def flip_type(call: Call) -> Sequence[TensorType]:
    """The shape of `x`."""
    x = call.tensor("x")
    distinct_axes(call, "dim", x)
    return (x.with_dims(x.dims),)


def to_layout_type(call: Call) -> Sequence[TensorType]:
    """`x` in another layout. Raises TypingError UC0311 where the layout has no meaning for its rank."""
    x = call.tensor("x")
    layout = call.params["layout"]
    order = named_layout(layout, x.rank) if isinstance(layout, str) else layout
    places = [d.value if isinstance(d, Dim) else d for d in order] if isinstance(order, tuple) else []
    if sorted(places) != list(range(x.rank)):
        shown = layout if isinstance(layout, str) else f"({','.join(map(str, places))})"
        named = [name for name in LAYOUT_NAMES if named_layout(name, x.rank) is not None]
        raise call.fail(
            "UC0311",
            f"to_layout: {x.spelling} has no layout {shown}: with {counted(x.rank, 'dimension')} it is "
            f"{' or '.join(named)}, or an order of the numbers 0 to {x.rank - 1}",
            "param:layout",
        )
    return (TensorType.of(x.dims, x.element, places),)


def gather_type(call: Call) -> Sequence[TensorType]:
    """The shape of `index`, whose other dimensions fit into those of `x`."""
    x, index = call.tensor("x"), call.tensor("index")
    along = axis(call, "dim", x)
    if index.element.name not in ("s64", "s32"):
        raise call.fail("UC0316", f"gather takes an index of s64 or s32, but it is {index.spelling}", "operand:index")
    if index.rank != x.rank:
        raise call.fail(
            "UC0303",
            f"gather takes an index with as many dimensions as x, {x.rank} as in {x.spelling}, but it is "
            f"{index.spelling}",
            "operand:index",
        )
    for d, (places, found) in enumerate(zip(x.dims, index.dims, strict=True)):
        if d != along:
            call.require(
                found,
                "<=",
                places,
                "UC0301",
                f"gather along dimension {along}: the index {index.spelling} has {found} places in dimension {d}, x "
                f"{x.spelling} only {places}",
                "operand:index",
            )
    return (x.with_dims(index.dims),)


def triangle_type(call: Call) -> Sequence[TensorType]:
    """The shape of `x`."""
    x = _at_least_2d(call)
    return (x.with_dims(x.dims),)
