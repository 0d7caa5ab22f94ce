"""Attention: two products and a softmax between them, as one operation."""

from collections.abc import Sequence
from typing import Any

from ucutlass.dialects.ucutlass.operations.elementwise_types import broadcast
from ucutlass.dialects.ucutlass.operations.parameters import rank_is
from ucutlass.dialects.ucutlass.spec import Call, Operand, OpSpec, Param
from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.dims import Dim
from ucutlass.element_types import F32


def _type(call: Call) -> Sequence[TensorType]:
    q, k, v = call.tensor("q"), call.tensor("k"), call.tensor("v")
    for name, operand in (("q", q), ("k", k), ("v", v)):
        rank_is(call, name, operand, 4, "[B, H, S, D]")
        if not operand.element.is_float:
            raise call.fail(
                "UC0316",
                f"attention takes floats, but {name} is {operand.spelling}: cast it first, cast({name}, f16)",
                f"operand:{name}",
            )
        if operand.element is not q.element:
            raise call.fail(
                "UC0302",
                f"attention takes q, k and v of one element type, but q is {q.spelling} and {name} is "
                f"{operand.spelling}",
                f"operand:{name}",
            )
    for name, operand, axis, other, of, what in (
        ("k", k, 0, q, "q", "the batch"),
        ("k", k, 1, q, "q", "the number of heads"),
        ("k", k, 3, q, "q", "the head size"),
        ("v", v, 0, q, "q", "the batch"),
        ("v", v, 1, q, "q", "the number of heads"),
        ("v", v, 2, k, "k", "the number of keys"),
    ):
        if not call.facts.equal(operand.dims[axis], other.dims[axis]):
            raise call.fail(
                "UC0301",
                f"attention: {what} (dimension {axis}) is {other.dims[axis]} in {of} {other.spelling} and "
                f"{operand.dims[axis]} in {name} {operand.spelling}",
                f"operand:{name}",
            )
    _check_mask(call, (*q.dims[:3], k.dims[2]))
    element = F32 if q.element.is_fp8 or q.element.name == "tf32" else q.element
    return (TensorType.of((*q.dims[:3], v.dims[3]), element),)


def _check_mask(call: Call, scores: tuple[Dim, ...]) -> None:
    mask = call.optional_tensor("mask")
    if mask is None:
        return
    if not (mask.element.is_float or mask.element.name == "bool"):
        raise call.fail(
            "UC0316",
            "attention takes a bool mask (true: attend) or a float one (added to the scores), but it is "
            f"{mask.spelling}",
            "operand:mask",
        )
    shape = f"[{', '.join(map(str, scores))}]"
    grown = mask.rank > 4 or broadcast(call, (("scores", scores), ("mask", mask.dims))) != scores
    if grown:
        raise call.fail(
            "UC0305",
            f"attention: the mask {mask.spelling} does not broadcast to the scores {shape}: its dimensions are theirs "
            "or 1",
            "operand:mask",
        )


def _meaning(t: Any, q: Any, k: Any, v: Any, mask: Any, scale: Any, causal: Any) -> Any:
    if causal:
        # PyTorch takes a mask or the causal one; both together are their intersection.
        seen = t.ones(q.shape[2], k.shape[2], dtype=t.bool, device=q.device).tril()
        if mask is None:
            mask = seen
        elif mask.dtype == t.bool:
            mask = mask & seen
        else:
            mask = t.where(seen, mask, -float("inf"))
    if mask is not None and mask.dtype != t.bool:
        mask = mask.to(q.dtype)
    return t.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=scale)


def _flops(call: Call, results: Sequence[TensorType]) -> Dim:
    """Two products, a softmax of 5 a score, the scale of q and of k, and one a score for a mask.

    Scores that the causal mask hides need not be computed and do not count, where the extents tell how many they are.
    """
    q, k, v = call.tensor("q"), call.tensor("k"), call.tensor("v")
    heads, rows, keys = q.dims[0] * q.dims[1], q.dims[2], k.dims[2]
    pairs = rows * keys
    if call.params["causal"]:
        if call.facts.equal(rows, keys):
            pairs = rows * (rows + 1) // 2
        elif rows.is_static and keys.is_static:
            pairs = Dim.of(sum(min(row + 1, keys.value) for row in range(rows.value)))
    each = 2 * (q.dims[3] + v.dims[3]) + 5 + (1 if call.optional_tensor("mask") is not None else 0)
    return heads * (pairs * each + (rows + keys) * q.dims[3])


ROWS: tuple[OpSpec, ...] = (
    OpSpec(
        "attention",
        "attention",
        (
            Operand("q", "`[B, H, S, D]`"),
            Operand("k", "`[B, H, T, D]`"),
            Operand("v", "`[B, H, T, E]`"),
            Operand("mask", "`bool` (true: attend) or float (added), broadcasts to `[B, H, S, T]`", optional=True),
        ),
        (
            Param("scale", "number", None, "factor of the scores; `1 / sqrt(D)` where absent"),
            Param("causal", "bool", False, "whether position i attends to positions up to i only"),
        ),
        _type,
        "Scaled dot-product attention, `softmax(scale * q k^T + mask) v`; a row that attends to nothing is 0.",
        _meaning,
        flops=_flops,
        setters=("compute", "acc"),
        positional=("q", "k", "v", "scale", "causal", "mask"),
    ),
)
