"""Loads a built library and calls it on PyTorch tensors.

Imports leaves and `tensors`; PyTorch when a kernel is called. A call checks what it was given, allocates results and
workspace through PyTorch, and launches on PyTorch's current stream of the tensors' device, so it can be captured into
a CUDA graph. Nothing is copied or converted.
"""

import contextlib
import ctypes
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ucutlass.runtime.tensors import Description, LaunchError, TensorInfo

if TYPE_CHECKING:
    import torch

STATUS_CODES = {
    1: "UC0910",
    2: "UC0911",
    3: "UC0902",
    4: "UC0910",
    5: "UC0905",
    6: "UC0906",
    7: "UC0907",
    8: "UC0909",
}
"""Diagnostic for each status of the C functions (`Status` in backend/support/launch.inc)."""


class Device(Protocol):
    """Where a kernel runs."""

    type: str
    """Of its tensors, as PyTorch names it."""

    def stream(self, index: int) -> int:
        """The stream to launch on, as the C functions take it."""
        ...

    def guard(self, index: int) -> contextlib.AbstractContextManager[object]:
        """Makes the device current for a while."""
        ...


class CudaDevice:
    """PyTorch's CUDA device with its current stream."""

    type = "cuda"

    def stream(self, index: int) -> int:
        import torch

        return torch.cuda.current_stream(index).cuda_stream

    def guard(self, index: int) -> contextlib.AbstractContextManager[object]:
        import torch

        # Entering a guard costs more than asking, and the device is nearly always the current one.
        return contextlib.nullcontext() if torch.cuda.current_device() == index else torch.cuda.device(index)


class _CFunctions:
    """The four C functions of one program."""

    def __init__(self, path: Path, name: str) -> None:
        try:
            library = ctypes.CDLL(str(path))
            self.launch = library[name]
            self.can_implement = library[f"{name}_can_implement"]
            self.workspace_size = library[f"{name}_workspace_size"]
            describe = library[f"{name}_describe"]
        except (OSError, AttributeError) as error:
            raise LaunchError("UC0910", f"{path} cannot be used as {name}: {error}") from error
        text = ctypes.POINTER(ctypes.c_char_p)
        tensors = (ctypes.c_char_p, ctypes.c_int)
        self.launch.argtypes = (*tensors, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, text)
        self.can_implement.argtypes = (*tensors, text)
        self.workspace_size.argtypes = (*tensors, ctypes.POINTER(ctypes.c_size_t), text)
        for function in (self.launch, self.can_implement, self.workspace_size):
            function.restype = ctypes.c_int
        describe.restype = ctypes.c_char_p
        described = describe()
        try:
            self.description = Description.parse(described.decode() if isinstance(described, bytes) else "")
        except (ValueError, KeyError, TypeError) as error:
            raise LaunchError("UC0910", f"{path} does not describe {name}: {error}") from error


@dataclass
class _Signature:
    """What calls with the same shapes, strides and devices have in common."""

    device: int
    pack: Callable[..., bytes]
    """Builds the array of C tensors from pointers, sizes and strides."""
    extents: list[tuple[int, int]]
    """Addresses of the sizes and strides of each tensor."""
    keep: list[object]
    """What those addresses point into."""
    results: list[tuple[tuple[int, ...], tuple[int, ...], "torch.dtype"]]
    """Storage shape, storage strides and dtype of each result."""
    workspace: int | None = None
    """Bytes, once they are known."""


Key = tuple[object, ...]

_MOST_SIGNATURES = 1024
"""A program whose sizes never repeat must not fill the memory with what it remembers of them."""


class CompiledKernel:
    """A program, ready to be called: `kernel(x, w, b)`, or `kernel(x, w, b, out=y)`."""

    def __init__(self, path: str | Path, name: str, device: Device | None = None) -> None:
        self.path = Path(path)
        self._functions = _CFunctions(self.path, name)
        self.description = self._functions.description
        """Names, types, shapes and layouts of arguments and results."""
        self._device: Device = CudaDevice() if device is None else device
        self._signatures: dict[Key, _Signature] = {}

    @property
    def name(self) -> str:
        return self.description.name

    def __repr__(self) -> str:
        return f"<kernel {self.description.signature} for {self.description.arch}>"

    def __call__(
        self, *tensors: "torch.Tensor", out: "torch.Tensor | Sequence[torch.Tensor] | None" = None
    ) -> "torch.Tensor | tuple[torch.Tensor, ...]":
        """Launches the program on tensors in the order of its parameters.

        The results are new tensors, or `out` where it is given. Raises LaunchError on whatever the program does not
        take.
        """
        results = self._given_results(tensors, out)
        signature = self._signature(tensors, results)
        with self._device.guard(signature.device):
            if results is None:
                results = self._allocate(signature, tensors[0] if tensors else None)
            packed = self._pack(signature, (*tensors, *results))
            count = len(tensors) + len(results)
            bytes_needed = self._workspace_bytes(signature, packed, count)
            workspace = self._allocate_workspace(bytes_needed, results[0])
            message = ctypes.c_char_p()
            status = self._functions.launch(
                packed,
                count,
                workspace.data_ptr() if workspace is not None else None,
                bytes_needed,
                self._device.stream(signature.device),
                ctypes.byref(message),
            )
            self._check(status, message)
        if out is not None:
            return out if not isinstance(out, Sequence) else tuple(out)
        return results[0] if len(results) == 1 else results

    def workspace_size(self, *tensors: "torch.Tensor") -> int:
        """Bytes of scratch memory that a call with such tensors allocates."""
        signature = self._signature(tensors, None)
        with self._device.guard(signature.device):
            results = self._allocate(signature, tensors[0] if tensors else None)
            packed = self._pack(signature, (*tensors, *results))
            return self._workspace_bytes(signature, packed, len(tensors) + len(results))

    def check(self, *tensors: "torch.Tensor") -> None:
        """Raises LaunchError where a call with these tensors would, without launching."""
        signature = self._signature(tensors, None)
        with self._device.guard(signature.device):
            results = self._allocate(signature, tensors[0] if tensors else None)
            packed = self._pack(signature, (*tensors, *results))
            message = ctypes.c_char_p()
            status = self._functions.can_implement(packed, len(tensors) + len(results), ctypes.byref(message))
            self._check(status, message)

    # Checking --------------------------------------------------------------------------------------------------------

    def _given_results(
        self, tensors: "tuple[torch.Tensor, ...]", out: "torch.Tensor | Sequence[torch.Tensor] | None"
    ) -> "tuple[torch.Tensor, ...] | None":
        expected, results = len(self.description.arguments), len(self.description.results)
        if len(tensors) != expected:
            names = ", ".join(t.name for t in self.description.arguments)
            self._refuse("UC0903", f"takes {expected} tensors ({names}), got {len(tensors)}")
        if out is None:
            return None
        given = tuple(out) if isinstance(out, Sequence) else (out,)
        if len(given) != results:
            self._refuse("UC0903", f"has {results} results, but out= gives {len(given)}")
        return given

    def _signature(self, tensors: "tuple[torch.Tensor, ...]", results: "tuple[torch.Tensor, ...] | None") -> _Signature:
        every = tensors if results is None else (*tensors, *results)
        try:
            key: Key = (results is None, *((t.shape, t.stride(), t.dtype, t.device) for t in every))
        except AttributeError:
            self._require_tensors(every)
            raise
        signature = self._signatures.get(key)
        if signature is None:
            if len(self._signatures) >= _MOST_SIGNATURES:
                self._signatures.clear()
            signature = self._signatures[key] = self._prepare(tensors, results)
        if results is not None:
            self._check_overlap(tensors, results)
        return signature

    def _require_tensors(self, every: Sequence[object]) -> None:
        import torch

        infos = (*self.description.arguments, *self.description.results)
        for info, tensor in zip(infos, every, strict=False):
            if not isinstance(tensor, torch.Tensor):
                self._refuse("UC0904", f"{info.name} is a {type(tensor).__name__}, expected a tensor")

    def _prepare(self, tensors: "tuple[torch.Tensor, ...]", results: "tuple[torch.Tensor, ...] | None") -> _Signature:
        """Checks everything that does not depend on addresses."""
        every = tensors if results is None else (*tensors, *results)
        self._require_tensors(every)
        infos = (*self.description.arguments, *self.description.results)
        device = self._common_device(every, infos)
        logical: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
        for info, tensor in zip(infos, every, strict=False):
            self._check_type(info, tensor)
            logical.append(logical_extents(info, tuple(tensor.shape), tensor.stride()))
        count = len(tensors)
        bindings = self.description.bind([sizes for sizes, _ in logical[:count]])
        planned: list[tuple[tuple[int, ...], tuple[int, ...], torch.dtype]] = []
        for i, info in enumerate(self.description.results):
            sizes = info.sizes(bindings)
            stored = storage_extents(info, sizes)
            if results is None:
                logical.append((sizes, logical_extents(info, *stored)[1]))
            else:
                self.description.check_shape(info, logical[count + i][0], bindings, {})
            planned.append((*stored, _storage_type(info)))
        keep: list[object] = []
        extents: list[tuple[int, int]] = []
        for sizes, strides in logical:
            arrays = (ctypes.c_int64 * len(sizes))(*sizes), (ctypes.c_int64 * len(strides))(*strides)
            keep.extend(arrays)
            extents.append((ctypes.addressof(arrays[0]), ctypes.addressof(arrays[1])))
        return _Signature(device, struct.Struct("@" + "PPP" * len(logical)).pack, extents, keep, planned)

    def _common_device(self, tensors: "Sequence[torch.Tensor]", infos: Sequence[TensorInfo]) -> int:
        where: list[tuple[str, torch.device]] = [(i.name, t.device) for i, t in zip(infos, tensors, strict=False)]
        for name, device in where:
            if device.type != self._device.type:
                self._refuse("UC0908", f"{name} is on {device}, expected a {self._device.type} device")
            if device != where[0][1]:
                self._refuse("UC0908", f"{name} is on {device}, but {where[0][0]} is on {where[0][1]}")
        return where[0][1].index or 0 if where else 0

    def _check_type(self, info: TensorInfo, tensor: "torch.Tensor") -> None:
        expected = _storage_type(info)
        if tensor.dtype != expected and not (info.pack > 1 and tensor.dtype.itemsize == 1):
            self._refuse("UC0904", f"{info.name} has type {tensor.dtype}, expected {expected} for {info.element}")

    def _check_overlap(self, tensors: "tuple[torch.Tensor, ...]", results: "tuple[torch.Tensor, ...]") -> None:
        """A kernel reads its arguments while it writes its results, in no order that anybody may rely on."""
        infos = (*self.description.arguments, *self.description.results)
        spans = [_span(t) for t in (*tensors, *results)]
        for i in range(len(tensors), len(spans)):
            for j in range(i):
                if spans[i][0] < spans[j][1] and spans[j][0] < spans[i][1]:
                    self._refuse("UC0915", f"the result {infos[i].name} overlaps {infos[j].name} in memory")

    def _refuse(self, code: str, problem: str) -> None:
        raise LaunchError(code, f"{self.name}: {problem}", [self.description.signature])

    def _check(self, status: int, message: ctypes.c_char_p) -> None:
        if status != 0:
            text = (message.value or b"no message").decode("utf-8", errors="replace")
            raise LaunchError(STATUS_CODES.get(status, "UC0910"), text, [self.description.signature], status)

    # Memory ----------------------------------------------------------------------------------------------------------

    def _allocate(self, signature: _Signature, like: "torch.Tensor | None") -> "tuple[torch.Tensor, ...]":
        import torch

        device = like.device if like is not None else torch.device(self._device.type, signature.device)
        return tuple(
            torch.empty_strided(sizes, strides, dtype=dtype, device=device)
            for sizes, strides, dtype in signature.results
        )

    def _pack(self, signature: _Signature, tensors: "tuple[torch.Tensor, ...]") -> bytes:
        words: list[int] = []
        for tensor, (sizes, strides) in zip(tensors, signature.extents, strict=True):
            words += (tensor.data_ptr(), sizes, strides)
        return signature.pack(*words)

    def _workspace_bytes(self, signature: _Signature, packed: bytes, count: int) -> int:
        if signature.workspace is None:
            size, message = ctypes.c_size_t(), ctypes.c_char_p()
            status = self._functions.workspace_size(packed, count, ctypes.byref(size), ctypes.byref(message))
            self._check(status, message)
            signature.workspace = size.value
        return signature.workspace

    def _allocate_workspace(self, size: int, like: "torch.Tensor") -> "torch.Tensor | None":
        if size == 0:
            return None
        import torch

        return torch.empty(size, dtype=torch.uint8, device=like.device)


def _storage_type(info: TensorInfo) -> "torch.dtype":
    import torch

    dtype: object = getattr(torch, info.element.torch or "uint8")
    assert isinstance(dtype, torch.dtype)
    return dtype


def logical_extents(
    info: TensorInfo, sizes: tuple[int, ...], strides: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Sizes and strides in elements from those of a tensor's storage."""
    if info.pack == 1 or not sizes or len(sizes) != len(info.order):
        return sizes, strides
    inner = info.order[-1]
    declared = info.shape[inner]
    size = sizes[inner] * info.pack
    if declared.is_static and -(-declared.value // info.pack) == sizes[inner]:
        size = declared.value
    return (
        tuple(size if i == inner else s for i, s in enumerate(sizes)),
        tuple(s if i == inner else s * info.pack for i, s in enumerate(strides)),
    )


def storage_extents(info: TensorInfo, sizes: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Sizes and strides of new storage for so many elements."""
    if info.pack > 1 and sizes:
        inner = info.order[-1]
        sizes = tuple(-(-s // info.pack) if i == inner else s for i, s in enumerate(sizes))
    return sizes, info.packed_strides(sizes)


def _span(tensor: "torch.Tensor") -> tuple[int, int]:
    """The addresses between which a tensor lies; empty for an empty tensor."""
    if tensor.numel() == 0:
        return 0, 0
    last = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    start = tensor.data_ptr()
    return start, start + (last + 1) * tensor.dtype.itemsize
