"""The meaning of programs, in PyTorch.

Beside the backend in rank: imports the dialects and the leaves. torch is loaded when something is interpreted, not when
this package is imported.

| module | what it does |
|---|---|
| `machine` | in which types one interpretation computes, and where it rounds |
| `rounding` | the one rounding of a value to an element type |
| `storage` | tensors as they lie in memory: data types, packed 4-bit integers, layouts |
| `bindings` | the sizes that dimension names stand for, and the conditions on them |
| `contraction` | products of any types through PyTorch's floating-point kernels |
| `elementwise` | element-wise operations of any shapes, element by element |
| `ucutlass` | the operations of the `ucutlass` dialect |
| `device` | what a running device kernel sees |
| `memory` | memory-bound kernels of the `cutlass` dialect |
| `cutlass` | the operations of the `cutlass` dialect |
| `run` | interprets one kernel of a module of any dialect that has a module here |
| `roles` | arguments that are indices, or must be positive |
| `inputs` | random inputs that suit a kernel |
"""

from ucutlass.interpreter.bindings import Signature, bind_shapes, complete_bindings
from ucutlass.interpreter.inputs import DISTRIBUTIONS, Distribution, random_inputs
from ucutlass.interpreter.machine import Options, Precision
from ucutlass.interpreter.run import interpret

__all__ = [
    "DISTRIBUTIONS",
    "Distribution",
    "Options",
    "Precision",
    "Signature",
    "bind_shapes",
    "complete_bindings",
    "interpret",
    "random_inputs",
]
