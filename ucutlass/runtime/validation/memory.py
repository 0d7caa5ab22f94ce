"""Memory around a kernel: results between guards and poisoned before the run, inputs that are hashed.

Imports the interpreter's storage and the element types. Works on any device; nothing is copied to the host but numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.interpreter.storage import storage_dtype, stored_shape

if TYPE_CHECKING:
    from torch import Tensor, device

GUARD_BYTES = 4096
"""On either side of a tensor; a multiple of every alignment that a kernel asks for."""
GUARD = 0xA5
"""What guards are filled with."""
POISONS = (0xFF, 0x7B)
"""Bytes that results are filled with, one for each run. The first makes NaN of every float."""

_CHUNK = 1 << 22
"""Words that are hashed at a time."""


@dataclass(frozen=True)
class Guarded:
    """A stored tensor with guards on both sides."""

    tensor: "Tensor"
    buffer: "Tensor"
    """All bytes, guards included."""

    @property
    def inside(self) -> "Tensor":
        """The tensor's bytes, in the order in which they lie."""
        return self.buffer[GUARD_BYTES : self.buffer.numel() - GUARD_BYTES]

    def poison(self, byte: int) -> None:
        """Fill the tensor, not the guards."""
        self.inside.fill_(byte)

    def damage(self) -> int | None:
        """Offset in bytes, from the start of the tensor, of the first damaged byte of a guard; None where both are
        whole."""
        size = self.buffer.numel()
        for start, end in ((0, GUARD_BYTES), (size - GUARD_BYTES, size)):
            damaged = (self.buffer[start:end] != GUARD).nonzero()
            if damaged.numel():
                return start + int(damaged[0, 0]) - GUARD_BYTES
        return None

    def unwritten(self, byte: int) -> "Tensor":
        """Which of the tensor's bytes still hold a poison."""
        return self.inside == byte


def guarded_like(tensor: "Tensor", order: Sequence[int]) -> Guarded:
    """A copy of a stored tensor between guards; `order` lists its dimensions from outermost to innermost in memory."""
    guarded = _allocate(tuple(tensor.shape), tensor.dtype.itemsize, order, tensor)
    copy = Guarded(guarded.tensor.view(tensor.dtype), guarded.buffer)
    copy.tensor.copy_(tensor)
    return copy


def guarded_result(type_: TensorType, shape: Sequence[int], device: "device | str") -> Guarded:
    """Room for a result of logical sizes `shape`."""
    import torch  # half a second, and most of the compiler needs none of it

    dtype = storage_dtype(torch, type_.element)
    like = torch.empty(0, dtype=dtype, device=device)
    return _allocate(stored_shape(shape, type_.element, type_.order), dtype.itemsize, type_.order, like)


def _allocate(shape: Sequence[int], item: int, order: Sequence[int], like: "Tensor") -> Guarded:
    import torch  # half a second, and most of the compiler needs none of it

    size = prod(shape) * item
    buffer = torch.full((size + 2 * GUARD_BYTES,), GUARD, dtype=torch.uint8, device=like.device)
    flat = buffer[GUARD_BYTES : GUARD_BYTES + size].view(like.dtype)
    inverse = sorted(range(len(order)), key=lambda dim: order[dim])
    placed = flat.reshape([shape[dim] for dim in order]).permute(inverse) if order else flat.reshape(())
    return Guarded(placed, buffer)


def content_hash(tensor: "Tensor") -> int:
    """A hash of a tensor's bytes: any single change of them changes it, and hardly any other change does not.

    Of a tensor that has holes in memory only the elements count.
    """
    import torch  # half a second, and most of the compiler needs none of it

    order = sorted(range(tensor.dim()), key=lambda dim: (-tensor.stride(dim), dim))
    data = tensor.permute(order).contiguous().reshape(-1).view(torch.uint8)
    padding = -data.numel() % 8
    if padding:
        data = torch.cat((data, data.new_zeros(padding)))
    words = data.view(torch.int64)
    total = torch.zeros((), dtype=torch.int64, device=tensor.device)
    for start in range(0, words.numel(), _CHUNK):
        chunk = words[start : start + _CHUNK]
        places = torch.arange(start, start + chunk.numel(), dtype=torch.int64, device=tensor.device)
        total += _mixed(chunk ^ _mixed(places + 1)).sum()
    return int(total) & (2**64 - 1)


def _mixed(words: "Tensor") -> "Tensor":
    """A bijection of 64-bit words in which every bit depends on many (the finalizer of MurmurHash3)."""
    words = words ^ ((words >> 33) & 0x7FFFFFFF)
    words = words * -0xAE502812AA7333
    words = words ^ ((words >> 33) & 0x7FFFFFFF)
    words = words * -0x3B314601E57A13AD
    return words ^ ((words >> 33) & 0x7FFFFFFF)


def same_bytes(left: Guarded, right: Guarded) -> bool:
    """Whether two results hold the same bytes."""
    return bool((left.inside == right.inside).all())
