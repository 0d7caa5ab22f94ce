"""Tensors as they lie in memory: PyTorch data types, packed 4-bit integers and layouts.

Imports the leaves and the dialect's types. A logical tensor has the sizes of its type and one value per element. A
stored tensor is what a caller passes: the same sizes, strides after the layout, except that `s4` and `u4` are `uint8`
tensors in which the innermost dimension in memory is halved, rounded up: each row starts on a byte, low nibble first.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ucutlass.element_types import ElementType

if TYPE_CHECKING:
    from types import ModuleType

    from torch import Tensor, dtype


def is_packed(element: ElementType) -> bool:
    """Whether two elements share a byte."""
    return element.bits == 4


def storage_dtype(torch: "ModuleType", element: ElementType) -> "dtype":
    """The data type of stored tensors of this element type."""
    found: dtype = getattr(torch, element.torch or "uint8")
    return found


def innermost(order: Sequence[int]) -> int | None:
    """The dimension that is contiguous in memory, None for a 0-dimensional tensor."""
    return order[-1] if order else None


def stored_shape(shape: Sequence[int], element: ElementType, order: Sequence[int]) -> tuple[int, ...]:
    """The shape of the stored tensor."""
    axis = innermost(order)
    if not is_packed(element) or axis is None:
        return tuple(shape)
    return tuple((size + 1) // 2 if dim == axis else size for dim, size in enumerate(shape))


def in_layout(tensor: "Tensor", order: Sequence[int]) -> "Tensor":
    """The same tensor with the strides of a layout."""
    inverse = sorted(range(len(order)), key=lambda dim: order[dim])
    return tensor.permute(*order).contiguous().permute(*inverse) if order else tensor


def unpack(torch: "ModuleType", stored: "Tensor", element: ElementType, order: Sequence[int], size: int) -> "Tensor":
    """The values of a packed tensor as `int32`; `size` is the logical size of its innermost dimension."""
    low, high = (stored & 0xF).to(torch.int32), (stored >> 4).to(torch.int32)
    if element.kind == "sint":
        low, high = ((nibble ^ 8) - 8 for nibble in (low, high))
    axis = innermost(order)
    if axis is None:
        return low
    pairs = torch.stack((low.movedim(axis, -1), high.movedim(axis, -1)), dim=-1)
    values: Tensor = pairs.flatten(-2)[..., :size].movedim(-1, axis)
    return values


def pack(torch: "ModuleType", values: "Tensor", element: ElementType, order: Sequence[int]) -> "Tensor":
    """The packed form of integers in the range of the element type, in its layout."""
    assert is_packed(element)
    nibbles = (values.to(torch.int32) & 0xF).to(torch.uint8)
    axis = innermost(order)
    if axis is None:
        return nibbles
    rows = nibbles.movedim(axis, -1)
    if rows.shape[-1] % 2:
        rows = torch.nn.functional.pad(rows, (0, 1))
    packed = rows[..., 0::2] | (rows[..., 1::2] << 4)
    return in_layout(packed.movedim(-1, axis), order)
