"""Compiles emitted C++ for the CPU, where threads are fibers, and calls it on PyTorch tensors.

What only a device does (`device.inc`) and the CUDA runtime are replaced by `cuda_on_cpu.h`; every other line is the one
that nvcc gets. Tensors are copied to where a page that may not be touched follows, so that a read beyond a tensor's end
is a crash, and results come back with whatever lay there before where a kernel wrote nothing.
"""

import ctypes
import mmap
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import Tensor
from xdsl.context import Context

from ucutlass.backend.cuda.emit import emit_cuda
from ucutlass.diagnostics.core import DiagnosticEngine
from ucutlass.diagnostics.locations import set_engine
from ucutlass.frontend import read_program
from ucutlass.passes.pipelines import passes_of, run_passes
from ucutlass.runtime.library import (
    _CFunctions,  # pyright: ignore[reportPrivateUsage]
    logical_extents,
    storage_extents,
)
from ucutlass.runtime.tensors import TensorInfo
from ucutlass.runtime.toolchain import find_toolchain

HERE = Path(__file__).parent
SUPPORT = HERE.parents[1] / "ucutlass" / "backend" / "support"
PAGE = mmap.PAGESIZE

_ENTRY = re.compile(
    r"#if defined\(__CUDACC__\) && \(!defined\(UCUTLASS_PART\).*?\n"
    r'extern "C" __global__ void __launch_bounds__\(.*?\)\n'
    r"(?P<name>\w+)\(__grid_constant__ (?P<params>.*?) const params\) \{\n"
    r"  extern __shared__ char shared\[\];\n(?P<body>.*?)\n\}\n#endif",
    re.S,
)


def for_cpu(source: str) -> str:
    """The emitted text with fibers for a device."""
    kernels: list[tuple[str, str]] = []

    def entry(match: re.Match[str]) -> str:
        kernels.append((match["name"], match["params"]))
        return (
            f'extern "C" void {match["name"]}_on_cpu(void* pointer, char* shared) {{\n'
            f"  {match['params']} const& params = *static_cast<{match['params']}*>(pointer);\n{match['body']}\n}}\n"
            f'extern "C" {{ extern unsigned char const {match["name"]}_image[]; '
            f"unsigned char const {match['name']}_image[1] = {{0}}; }}"
        )

    text = _ENTRY.sub(entry, source)
    namespace = re.search(r"namespace (ucutlass_\w{16})", text)
    assert kernels and namespace is not None
    device = (SUPPORT / "device.inc").read_text().rstrip()
    assert device in text
    text = text.replace(device, "UCUTLASS_ON_CPU_DEVICE")
    rows = ", ".join(
        f'{{"{name}", sizeof({namespace[1]}::{params}), {namespace[1]}::{name}_on_cpu}}' for name, params in kernels
    )
    return f"""#include "{HERE / "cuda_on_cpu.h"}"
{text}
namespace on_cpu {{
Kernel const* find(char const* name) {{
  static Kernel const kernels[] = {{{rows}}};
  for (Kernel const& kernel : kernels) {{
    if (std::strcmp(kernel.name, name) == 0) return &kernel;
  }}
  return nullptr;
}}
}}
"""


def compile_program(source: str, target: Path) -> Path:
    """The library of a program's kernels for the CPU."""
    ctx = Context()
    set_engine(ctx, DiagnosticEngine())
    module = read_program(ctx, source, "test.ucu")
    run_passes(ctx, module, passes_of("default"))
    tools = find_toolchain()
    text = target.with_suffix(".cpp")
    text.write_text(for_cpu(emit_cuda(module)))
    includes = [f"-I{folder}" for folder in (*tools.cutlass, *tools.cuda_includes)]
    command = ["g++", "-w", "-std=c++17", "-O1", "-fno-strict-aliasing", "-shared", "-fPIC", "-include"]
    command += [str(SUPPORT / "host_pass.h"), *includes, str(text), "-o", str(target)]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr[-6000:]
    return target


class _CTensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("sizes", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
    )


_libc = ctypes.CDLL(None, use_errno=True)


@dataclass
class _Guarded:
    """A copy of a tensor's storage that ends where a page begins that may not be touched."""

    tensor: Tensor
    region: mmap.mmap = field(init=False)
    address: int = field(init=False)
    bytes: int = field(init=False)

    def __post_init__(self) -> None:
        size = self.tensor.element_size()
        reach = sum((n - 1) * s for n, s in zip(self.tensor.shape, self.tensor.stride(), strict=True))
        self.bytes = (reach + 1) * size if self.tensor.numel() else 0
        pages = (self.bytes + PAGE - 1) // PAGE + 1
        self.region = mmap.mmap(-1, (pages + 1) * PAGE)
        start = ctypes.addressof(ctypes.c_char.from_buffer(self.region))
        end = start + pages * PAGE
        # What the tensor's own address says of alignment within 16 bytes is kept.
        offset = (self.tensor.data_ptr() - (end - self.bytes)) % 16 if self.tensor.numel() else 0
        self.address = end - self.bytes - ((16 - offset) % 16)
        assert _libc.mprotect(ctypes.c_void_p(end), ctypes.c_size_t(PAGE), 0) == 0
        self.put(self.tensor)

    def put(self, tensor: Tensor) -> None:
        ctypes.memmove(self.address, tensor.data_ptr(), self.bytes)

    def get(self, tensor: Tensor) -> None:
        ctypes.memmove(tensor.data_ptr(), self.address, self.bytes)


class OnCpu:
    """The kernels of one library."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def call(self, name: str, inputs: Sequence[Tensor], out: Sequence[Tensor] | None = None) -> list[Tensor]:
        """The results of a kernel, as stored tensors. Raises AssertionError with its message where it refuses."""
        functions = _CFunctions(self.path, name)
        description = functions.description
        infos = (*description.arguments, *description.results)
        shapes = [_logical(info, t)[0] for info, t in zip(description.arguments, inputs, strict=True)]
        bindings = description.bind(shapes)
        results = list(out) if out is not None else [_empty(info, bindings) for info in description.results]
        guarded = [_Guarded(t) for t in (*inputs, *results)]
        tensors = (_CTensor * len(guarded))()
        keep: list[object] = []
        for i, (info, given) in enumerate(zip(infos, guarded, strict=True)):
            sizes = info.sizes(bindings)
            strides = _logical(info, given.tensor)[1]
            arrays = [(ctypes.c_int64 * max(len(values), 1))(*values) for values in (sizes, strides)]
            keep += arrays
            tensors[i] = _CTensor(given.address, *arrays)
        message = ctypes.c_char_p()
        packed = ctypes.cast(tensors, ctypes.c_char_p)
        needed = ctypes.c_size_t()
        status = functions.workspace_size(packed, len(guarded), ctypes.byref(needed), ctypes.byref(message))
        assert status == 0, (message.value or b"").decode()
        workspace = ctypes.create_string_buffer(needed.value + 256)
        aligned = (ctypes.addressof(workspace) + 255) // 256 * 256
        status = functions.launch(packed, len(guarded), aligned, needed.value, None, ctypes.byref(message))
        assert status == 0, (message.value or b"").decode()
        for result, memory in zip(results, guarded[len(inputs) :], strict=True):
            memory.get(result)
        return results


def _logical(info: TensorInfo, tensor: Tensor) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Sizes and strides in elements, of which two may share a byte."""
    return logical_extents(info, tuple(tensor.shape), tuple(tensor.stride()))


def _empty(info: TensorInfo, bindings: Mapping[str, int]) -> Tensor:
    """A stored tensor of a result's type, full of what no kernel writes."""
    sizes, strides = storage_extents(info, info.sizes(bindings))
    dtype = getattr(torch, info.element.torch or "uint8")
    count = 1
    for size in sizes:
        count *= size
    storage = torch.full((max(1, count) * dtype.itemsize,), 0xCD, dtype=torch.uint8).view(dtype)
    return storage.as_strided(sizes, strides)


def load(source: str, folder: Path, name: str = "program") -> OnCpu:
    """Compile a program for the CPU."""
    return OnCpu(compile_program(source, folder / f"{name}.so"))
