"""What every contraction shares: the element type of its result, and exact products of integers for the interpreter."""

from collections.abc import Callable
from typing import Any

from ucutlass.dialects.ucutlass.spec import Call
from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.element_types import F32, S32, ElementType

NARROW = ("s8", "u8", "s4", "u4", "e4m3", "e5m2")
"""Types that may meet f16 or bf16 in one contraction (mixed input)."""
WIDE = ("f16", "bf16")


def contraction_element(call: Call, left: ElementType, right: ElementType, part: str) -> ElementType:
    """The result's element type: the operands', the wide one's when mixed, f32 for fp8 and tf32, s32 for integers.

    `part` is the operand to blame. Raises TypingError UC0302 on types that do not go together and UC0316 on bool.
    """
    name = call.spec.spelling
    for element in (left, right):
        if element.name == "bool":
            raise call.fail(
                "UC0316", f"{name} does not contract bool: cast to s8 to count, to f16 for a float result", part
            )
    if left.is_fp8 and right.is_fp8:
        return F32
    if left is right:
        if left.name == "tf32":
            return F32
        return S32 if left.is_integer else left
    if left.name in NARROW and right.name in WIDE:
        return right
    if left.name in WIDE and right.name in NARROW:
        return left
    raise call.fail(
        "UC0302",
        f"{name} takes operands of one element type, or one of {', '.join(NARROW)} with f16 or bf16, but got {left} "
        f"and {right}: cast one of them",
        part,
    )


def same_contracted(call: Call, a: TensorType, b: TensorType, part: str) -> None:
    """Demand that the last dimension of `a` is the last but one of `b`. Raises TypingError UC0301 naming both."""
    if call.facts.equal(a.dims[-1], b.dims[-2]):
        return
    transposed = call.facts.equal(a.dims[-1], b.dims[-1])
    raise call.fail(
        "UC0301",
        f"{call.spec.spelling} contracts the last dimension of a, K = {a.dims[-1]} of {a.spelling}, with the one "
        f"before the last of b, {b.dims[-2]} of {b.spelling}: they differ",
        part,
        ("b holds its N before its K: it must be transposed",) if transposed else (),
        transposed,
    )


def bilinear(t: Any, product: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    """`product(a, b)`, which is linear in both: in their float type, for integers exact modulo 2^32 and as int32.

    PyTorch has no integer convolutions on the CPU. Halves of 16 bits are multiplied in float64, where a sum of 2^21
    products is exact; the product of the two high halves is a multiple of 2^32 and drops out.
    """
    if a.is_floating_point() or b.is_floating_point():
        element = a.dtype if a.is_floating_point() else b.dtype
        return product(a.to(element), b.to(element))

    def halves(value: Any) -> tuple[Any, Any]:
        wide = value.to(t.int64)
        return (wide & 0xFFFF).to(t.float64), (wide >> 16 & 0xFFFF).to(t.float64)

    (a_low, a_high), (b_low, b_high) = halves(a), halves(b)
    low = product(a_low, b_low).to(t.int64)
    cross = product(a_high, b_low).to(t.int64) + product(a_low, b_high).to(t.int64)
    return (low + (cross << 16)).to(t.int32)
