"""Data movement: operations that place elements and compute nothing."""

from typing import Any

from ucutlass.dialects.ucutlass.operations.movement_types import (
    concat_type,
    flip_type,
    gather_type,
    pad_type,
    permute_type,
    repeat_type,
    reshape_type,
    slice_type,
    split_type,
    to_layout_type,
    transpose_type,
    triangle_type,
    view_type,
)
from ucutlass.dialects.ucutlass.spec import REQUIRED, Operand, OpSpec, Param
from ucutlass.dims import Dim

_X = (Operand("x"),)
_DIAGONAL = (Param("diagonal", "dim", Dim.of(0), "0 is the main diagonal, positive ones lie above it"),)


def _permute(t: Any, x: Any, d: Any) -> Any:
    return x.permute(list(d))


def _transpose(t: Any, x: Any, d0: Any, d1: Any) -> Any:
    return x.transpose(d0, d1)


def _view(t: Any, x: Any) -> Any:
    return x.transpose(-2, -1)


def _reshape(t: Any, x: Any, shape: Any) -> Any:
    return x.reshape(list(shape))


def _pad(t: Any, x: Any, pad: Any, value: Any) -> Any:
    return t.nn.functional.pad(x, list(pad), value=value)


def _slice(t: Any, x: Any, dim: Any, start: Any, end: Any, step: Any) -> Any:
    return x[(slice(None),) * (dim % x.dim()) + (slice(start, end, step),)]


def _concat(t: Any, tensors: Any, dim: Any) -> Any:
    return t.cat(list(tensors), dim)


def _split(t: Any, x: Any, sizes: Any, dim: Any) -> Any:
    return list(t.split(x, list(sizes) if len(sizes) > 1 else sizes[0], dim))


def _repeat(t: Any, x: Any, n: Any) -> Any:
    return x.repeat(list(n))


def _flip(t: Any, x: Any, dim: Any) -> Any:
    return t.flip(x, list(dim))


def _same(t: Any, x: Any, layout: Any) -> Any:
    return x


def _gather(t: Any, x: Any, index: Any, dim: Any) -> Any:
    return t.gather(x, dim, index.to(t.int64))


def _tril(t: Any, x: Any, diagonal: Any) -> Any:
    return t.tril(x, diagonal)


def _triu(t: Any, x: Any, diagonal: Any) -> Any:
    return t.triu(x, diagonal)


ROWS: tuple[OpSpec, ...] = (
    OpSpec(
        "permute",
        "movement",
        _X,
        (Param("d", "dims", REQUIRED, "the dimensions in their new order", varargs=True),),
        permute_type,
        "Reorders all dimensions.",
        _permute,
    ),
    OpSpec(
        "transpose",
        "movement",
        _X,
        (Param("d0", "dim", REQUIRED, "a dimension"), Param("d1", "dim", REQUIRED, "the one it changes places with")),
        transpose_type,
        "Swaps two dimensions.",
        _transpose,
    ),
    OpSpec(
        "t",
        "movement",
        _X,
        (),
        view_type,
        "Swaps the last two dimensions by reading the memory otherwise: no data moves.",
        _view,
        surface=".T",
    ),
    OpSpec(
        "reshape",
        "movement",
        _X,
        (Param("shape", "dims", REQUIRED, "the new extents, one of which may be -1", varargs=True),),
        reshape_type,
        "The same elements in row-major order under other extents.",
        _reshape,
    ),
    OpSpec(
        "pad",
        "movement",
        _X,
        (
            Param("pad", "dims", REQUIRED, "`[before, after]` of the last dimension, then of the one before it, …"),
            Param("value", "number", 0, "what the new places hold"),
        ),
        pad_type,
        "Adds places before and after dimensions; negative numbers cut places off.",
        _pad,
    ),
    OpSpec(
        "slice",
        "movement",
        _X,
        (
            Param("dim", "dim", REQUIRED, "the dimension"),
            Param("start", "dim", REQUIRED, "the first place; negative ones count from the end"),
            Param("end", "dim", REQUIRED, "the place after the last"),
            Param("step", "dim", Dim.of(1), "distance of the places taken"),
        ),
        slice_type,
        "A part of one dimension.",
        _slice,
    ),
    OpSpec(
        "concat",
        "movement",
        (Operand("tensors", "list of tensors", variadic=True),),
        (Param("dim", "dim", Dim.of(0), "the dimension that grows"),),
        concat_type,
        "Joins tensors along a dimension.",
        _concat,
    ),
    OpSpec(
        "split",
        "movement",
        _X,
        (
            Param("sizes", "dims", REQUIRED, "the size of each piece, or one size for all but a smaller last one"),
            Param("dim", "dim", Dim.of(0), "the dimension that is cut"),
        ),
        split_type,
        "Cuts a dimension into pieces; gives a list.",
        _split,
        multiple_results=True,
    ),
    OpSpec(
        "repeat",
        "movement",
        _X,
        (
            Param(
                "n",
                "dims",
                REQUIRED,
                "how often along each dimension; more numbers add dimensions in front",
                varargs=True,
            ),
        ),
        repeat_type,
        "Repeats the whole tensor along its dimensions.",
        _repeat,
    ),
    OpSpec(
        "flip",
        "movement",
        _X,
        (Param("dim", "dims", REQUIRED, "a dimension or several"),),
        flip_type,
        "Reverses dimensions.",
        _flip,
    ),
    OpSpec(
        "to_layout",
        "movement",
        _X,
        (Param("layout", "layout", REQUIRED, "`@row`, `@col`, `@channels_last`, or the order `@(0,2,3,1)`"),),
        to_layout_type,
        "The same tensor in another memory layout.",
        _same,
    ),
    OpSpec(
        "gather",
        "movement",
        (Operand("x"), Operand("index", "`s64` or `s32`, as many dimensions as `x`")),
        (Param("dim", "dim", REQUIRED, "the dimension that the index is for"),),
        gather_type,
        "Picks along one dimension: `result[i][j] = x[index[i][j]][j]` for `dim=0`.",
        _gather,
        positional=("x", "dim", "index"),
    ),
    OpSpec(
        "tril",
        "movement",
        _X,
        _DIAGONAL,
        triangle_type,
        "Keeps what lies on and below a diagonal of the last two dimensions, zero elsewhere.",
        _tril,
    ),
    OpSpec(
        "triu",
        "movement",
        _X,
        _DIAGONAL,
        triangle_type,
        "Keeps what lies on and above a diagonal of the last two dimensions, zero elsewhere.",
        _triu,
    ),
)
