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
| `library` | loads a library and calls it on PyTorch tensors |
"""
