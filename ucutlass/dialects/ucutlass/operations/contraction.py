"""The GEMM family: products of matrices, batched and grouped."""

from collections.abc import Sequence
from typing import Any

from ucutlass.dialects.ucutlass.attributes import SETTERS
from ucutlass.dialects.ucutlass.operations.contraction_types import bilinear, contraction_element, same_contracted
from ucutlass.dialects.ucutlass.operations.elementwise_types import broadcast
from ucutlass.dialects.ucutlass.operations.parameters import rank_is
from ucutlass.dialects.ucutlass.spec import Call, Operand, OpSpec
from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.dims import Dim

ALL_SETTERS: tuple[str, ...] = tuple(SETTERS)


def _gemm_type(call: Call) -> Sequence[TensorType]:
    a, b = call.tensor("a"), call.tensor("b")
    for name, operand, form in (("a", a, "[M, K]"), ("b", b, "[K, N]")):
        rank_is(call, name, operand, 2, form, ": batched_gemm takes leading dimensions" if operand.rank > 2 else "")
    same_contracted(call, a, b, "operand:b")
    return (TensorType.of((a.dims[0], b.dims[1]), contraction_element(call, a.element, b.element, "operand:b")),)


def _batched_type(call: Call) -> Sequence[TensorType]:
    a, b = call.tensor("a"), call.tensor("b")
    for name, operand, form in (("a", a, "[…, M, K]"), ("b", b, "[…, K, N]")):
        if operand.rank < 2:
            raise call.fail(
                "UC0303",
                f"{call.spec.spelling} takes {form} as '{name}', at least 2 dimensions, but it is {operand.spelling}",
                f"operand:{name}",
            )
    same_contracted(call, a, b, "operand:b")
    leading = broadcast(call, (("a", a.dims[:-2]), ("b", b.dims[:-2])))
    return (
        TensorType.of((*leading, a.dims[-2], b.dims[-1]), contraction_element(call, a.element, b.element, "operand:b")),
    )


def _grouped_type(call: Call) -> Sequence[TensorType]:
    left, right = call.tensors("a"), call.tensors("b")
    if len(left) != len(right):
        raise call.fail(
            "UC0301",
            f"{call.spec.spelling} multiplies two lists pair by pair, but a has {len(left)} tensors and b has "
            f"{len(right)}",
            "operand:b",
        )
    results: list[TensorType] = []
    for index, (a, b) in enumerate(zip(left, right, strict=True)):
        for name, operand, form, first in (("a", a, "[M, K]", left[0]), ("b", b, "[K, N]", right[0])):
            part = f"operand:{name}:{index}"
            if operand.rank != 2:
                raise call.fail(
                    "UC0303",
                    f"{call.spec.spelling} takes {form} as each of '{name}', 2 dimensions, but {name}[{index}] is "
                    f"{operand.spelling}",
                    part,
                )
            if operand.element is not first.element:
                raise call.fail(
                    "UC0302",
                    f"{call.spec.spelling} runs as one kernel: each of '{name}' has one element type, but {name}[0] "
                    f"is {first.spelling} and {name}[{index}] is {operand.spelling}",
                    part,
                )
        same_contracted(call, a, b, f"operand:b:{index}")
        element = contraction_element(call, a.element, b.element, f"operand:b:{index}")
        results.append(TensorType.of((a.dims[0], b.dims[1]), element))
    return results


def _offsets_type(call: Call) -> Sequence[TensorType]:
    a, b, offsets = call.tensor("a"), call.tensor("b"), call.tensor("offsets")
    rank_is(call, "a", a, 2, "[M, K]", ": the lists' form is grouped_gemm([a, …], [b, …])")
    rank_is(call, "b", b, 3, "[G, K, N]", ": one matrix for each group")
    rank_is(call, "offsets", offsets, 1, "[G]", ": the end row of each group")
    if offsets.element.name != "s32":
        raise call.fail(
            "UC0316", f"{call.spec.spelling} takes s32[G] as 'offsets', but it is {offsets.spelling}", "operand:offsets"
        )
    same_contracted(call, a, b, "operand:b")
    if not call.facts.equal(b.dims[0], offsets.dims[0]):
        raise call.fail(
            "UC0301",
            f"{call.spec.spelling} needs the end row of each of the {b.dims[0]} groups of b, {b.spelling}, but "
            f"offsets is {offsets.spelling}",
            "operand:offsets",
        )
    return (TensorType.of((a.dims[0], b.dims[2]), contraction_element(call, a.element, b.element, "operand:b")),)


def _matmul(t: Any, a: Any, b: Any) -> Any:
    return bilinear(t, t.matmul, a, b)


def _grouped_meaning(t: Any, a: Any, b: Any) -> Any:
    return [_matmul(t, left, right) for left, right in zip(a, b, strict=True)]


def _offsets_meaning(t: Any, a: Any, b: Any, offsets: Any) -> Any:
    pieces: list[Any] = []
    start, rows = 0, a.shape[0]
    for group, end in enumerate(offsets.tolist()):
        stop = min(max(end, start), rows)
        pieces.append(_matmul(t, a[start:stop], b[group]))
        start = stop
    # What no group covers is zero; as a product it has the products' type.
    width = (rows - start, b.shape[1], b.shape[2])
    pieces.append(_matmul(t, a.new_zeros(width[:2]), b.new_zeros(width[1:])))
    return t.cat(pieces)


def _flops(call: Call, results: Sequence[TensorType]) -> Dim:
    """2 M N K for each matrix of the result."""
    found = call.operands["a"]
    total = Dim.of(0)
    for a, result in zip(found if isinstance(found, tuple) else (call.tensor("a"),), results, strict=True):
        product = 2 * a.dims[-1]
        for size in result.dims:
            product *= size
        total += product
    return total


ROWS: tuple[OpSpec, ...] = (
    OpSpec(
        "gemm",
        "gemm",
        (Operand("a", "`[M, K]`"), Operand("b", "`[K, N]`")),
        (),
        _gemm_type,
        "Matrix product of two 2-D tensors, `[M, K] x [K, N] -> [M, N]`.",
        _matmul,
        flops=_flops,
        setters=ALL_SETTERS,
    ),
    OpSpec(
        "batched_gemm",
        "gemm",
        (Operand("a", "`[…, M, K]`"), Operand("b", "`[…, K, N]`")),
        (),
        _batched_type,
        "Matrix products over leading dimensions that broadcast, `[…, M, K] x […, K, N] -> […, M, N]`.",
        _matmul,
        flops=_flops,
        setters=ALL_SETTERS,
    ),
    OpSpec(
        "grouped_gemm",
        "gemm",
        (Operand("a", "list of `[M, K]`", variadic=True), Operand("b", "list of `[K, N]`", variadic=True)),
        (),
        _grouped_type,
        "Matrix products pair by pair in one kernel, each pair with extents of its own; gives the list of products.",
        _grouped_meaning,
        flops=_flops,
        setters=ALL_SETTERS,
        multiple_results=True,
    ),
    OpSpec(
        "grouped_gemm_offsets",
        "gemm",
        (
            Operand("a", "`[M, K]`"),
            Operand("b", "`[G, K, N]`"),
            Operand("offsets", "`s32[G]`, the end row of each group"),
        ),
        (),
        _offsets_type,
        "Multiplies each group of rows of `a` by a matrix of its own: the group ends before row `offsets[g]`; rows "
        "past the last are zero.",
        _offsets_meaning,
        flops=_flops,
        setters=ALL_SETTERS,
        surface="grouped_gemm",
    ),
)
