"""Element-wise operations: each element of a result depends on the elements that it is made of and on nothing else.

Imports the dialect's rows and the machine. PyTorch computes the elements that fill the processor's vectors and those
left over at the end of a row, or of a thread's share, by different code, and for some functions (`gelu`, `sigmoid`,
`pow`) the two differ in the last bit. Passes move element-wise work between tensors of different shapes, which must not
change a bit, so here no element is left over: operands are broadcast, laid out in one row and padded.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from ucutlass.dialects.ucutlass.spec import OpSpec
from ucutlass.interpreter.machine import Machine, PythonParam, Value

if TYPE_CHECKING:
    from types import ModuleType

    from torch import Tensor

BLOCK = 128
"""A multiple of the elements that any vector loop takes at once: two vectors of 512 bits, of bytes."""
GRAIN = 32768
"""From this many elements on PyTorch shares the work among threads, at least this many each."""


def elementwise(
    machine: Machine, spec: OpSpec, operands: Mapping[str, Value], params: Mapping[str, PythonParam]
) -> "Tensor":
    """The value of an element-wise operation whose operands broadcast; numbers stay numbers."""
    torch = machine.torch
    values = dict(operands)
    settings = dict(params)
    if spec.channels_of is not None:
        # A vector along the channels, wherever they are; in one row all operands lie beside each other.
        axis, rank = cast(int, settings["axis"]), cast("Tensor", values[spec.channels_of]).dim()
        for name, value in values.items():
            if name != spec.channels_of and torch.is_tensor(value) and cast("Tensor", value).dim() == 1:
                along = [-1 if dim == axis else 1 for dim in range(rank)]
                values[name] = cast("Tensor", value).reshape(along)
        settings["axis"] = 0
    tensors = {name: cast("Tensor", value) for name, value in values.items() if torch.is_tensor(value)}
    shape = torch.broadcast_shapes(*(t.shape for t in tensors.values()))
    count = shape.numel()
    padding = _padded(count, torch.get_num_threads()) - count
    rows = {name: _row(torch, tensor.expand(shape).reshape(-1), padding) for name, tensor in tensors.items()}
    result: Tensor = spec.torch(torch, *({**values, **rows}[o.name] for o in spec.operands), **settings)
    return result[:count].reshape(shape)


def _row(torch: "ModuleType", row: "Tensor", padding: int) -> "Tensor":
    return cast("Tensor", torch.cat((row, row.new_ones(padding)))) if padding else row


def _padded(count: int, threads: int) -> int:
    """The least number of elements, from `count` on, of which every thread gets whole blocks."""
    while True:
        shares = max(1, min(threads, -(-count // GRAIN)))
        padded = -(-count // (BLOCK * shares)) * BLOCK * shares
        if padded == count:
            return count
        count = padded
