"""The element type of a contraction's result, shared by every gemm, convolution and attention."""

from ucutlass.dialects.ucutlass.spec import Call
from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.element_types import F32, S32, ElementType

NARROW = ("s8", "u8", "s4", "u4", "e4m3", "e5m2")
"""Types that may meet f16 or bf16 in one contraction (mixed input)."""
WIDE = ("f16", "bf16")


def contraction_element(call: Call, a: TensorType, b: TensorType) -> ElementType:
    """The result's element type: the operands', the wide one's when mixed, f32 for fp8 and tf32, s32 for integers."""
    left, right = a.element, b.element
    if left is right:
        if left.name == "bool":
            raise call.fail("UC0302", f"{call.spec.name} does not contract bool operands", "operand:1")
        if left.is_fp8 or left.name == "tf32":
            return F32
        return S32 if left.is_integer else left
    if left.is_fp8 and right.is_fp8:
        return F32
    if left.name in NARROW and right.name in WIDE:
        return right
    if left.name in WIDE and right.name in NARROW:
        return left
    raise call.fail(
        "UC0302",
        f"{call.spec.name} takes operands of one element type, or one of {', '.join(NARROW)} with f16 or bf16: "
        f"got {left} and {right}",
        "operand:1",
        (f"cast one of them: cast({left}) or cast({right})",),
    )
