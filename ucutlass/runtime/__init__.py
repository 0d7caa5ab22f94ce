"""Building, loading and launching emitted C++.

May import what stands below: diagnostics, dims, element types, backend. Nothing here imports torch before a kernel is
called.

| module | what it does |
|---|---|
| `failures` | failures of the machine, with a code and the facts around them |
| `json_data` | typed access to decoded JSON |
| `toolchain` | finds nvcc, its host compiler and CUTLASS's headers |
| `processes` | runs compilers: time limit, signals, how many at once |
| `ptxas` | what ptxas says about registers and spills |
| `compiler_log` | the errors in a compiler's output, and where in the program they come from |
| `cache` | keeps what was built, by content |
| `commands` | the command lines of a build |
| `build` | one kernel or many, from source to library |
| `tensors` | what a library says about its arguments, and the checks of a call |
| `program` | from the text of a program to callable kernels |
| `library` | loads a library and calls it on PyTorch tensors |
| `validate`, `validation` | whether a kernel is right, by the rules of `docs/validation.md` |
| `timing`, `sampling` | times of kernels beside each other, and what may be concluded from them |
| `baseline` | what a kernel is compared with: the program in PyTorch, the library's product alone |
| `machine`, `calibrate` | the GPU at hand: what it is, what it is doing, what it can do |
| `profile` | examines built kernels: validates, then times |
| `isolation`, `campaign` | the same in processes of their own, so that no kernel spoils another's verdict |
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ucutlass.runtime.program import compile, kernel

__all__ = ["compile", "kernel"]


def __getattr__(name: str) -> object:
    # Loaded at first use: the compiler is not needed to load what was built.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("ucutlass.runtime.program"), name)
