"""Codes UC08xx: turning the emitted C++ into a library."""

from ucutlass.diagnostics.catalogue.info import CodeInfo
from ucutlass.diagnostics.core import Severity

CODES = (
    CodeInfo(
        "UC0801",
        "nvcc-missing",
        Severity.ERROR,
        "nvcc was not found",
        "Compiling needs NVIDIA's CUDA compiler. Put a toolkit's `nvcc` on the path, name it with `--nvcc`, or"
        " install the extra `cuda`, which brings one from PyPI. Checking, interpreting and Speed-of-Light bounds work"
        " without it.",
    ),
    CodeInfo(
        "UC0802",
        "nvcc-too-old",
        Severity.ERROR,
        "this nvcc does not know the target",
        "Each target needs a certain version of CUDA: 12.0 for sm_90a, 12.8 for sm_100a and sm_120a. The message"
        " gives both versions. Name a newer compiler with `--nvcc`, or choose another target.",
    ),
    CodeInfo(
        "UC0803",
        "cutlass-missing",
        Severity.ERROR,
        "the CUTLASS headers were not found",
        "They come with the Python package `nvidia-cutlass`. To use a checkout of your own, name the folder that"
        " holds `include/cutlass/cutlass.h` with `--cutlass`.",
    ),
    CodeInfo(
        "UC0804",
        "cutlass-version",
        Severity.WARNING,
        "the rules of this CUTLASS version are not known",
        "What can be built differs from version to version: a program that passes the checks may still end in template"
        " errors. The message gives the version that was found and those that are tested.",
    ),
    CodeInfo(
        "UC0805",
        "nvcc-failed",
        Severity.ERROR,
        "nvcc refused the emitted code",
        "A program that passes the checks should always compile, so this is a defect of the compiler's rules. The"
        " notes hold nvcc's first errors with the operation that the line was emitted for; report them with the"
        " program. Without setters the compiler may choose another kernel, which builds.",
    ),
    CodeInfo(
        "UC0806",
        "register-spill",
        Severity.WARNING,
        "a kernel spills registers to memory",
        "The numbers are ptxas's. The kernel is right but slow: use a smaller tile, a cooperative schedule, or fuse"
        " less with `materialize`.",
    ),
    CodeInfo(
        "UC0807",
        "serialized-wgmma",
        Severity.WARNING,
        "ptxas serialized the matrix instructions",
        "The warnings C7510 to C7519 of ptxas mean that the kernel waits after each matrix instruction, or that its"
        " register request is ignored, which costs most of its speed. Another tile or fewer fused operations usually"
        " help.",
    ),
    CodeInfo(
        "UC0808",
        "cache-not-writable",
        Severity.ERROR,
        "the kernel cache cannot be written",
        "Built kernels are kept by content so that each is built once. The folder is full or may not be written by"
        " this user; name another with `--cache-dir`.",
    ),
    CodeInfo(
        "UC0809",
        "build-timeout",
        Severity.ERROR,
        "building a kernel took too long",
        "nvcc was stopped at the limit that the message gives. A kernel costs about a minute of one core; an"
        " overloaded machine or very large fused programs need more. Raise the limit with `--build-timeout`.",
    ),
    CodeInfo(
        "UC0810",
        "host-compiler",
        Severity.ERROR,
        "nvcc has no usable host compiler",
        "nvcc needs a C++17 compiler for the host part. Install g++ or clang, or name one with `--host-compiler`; the"
        " message says which versions this nvcc takes.",
    ),
    CodeInfo(
        "UC0811",
        "compiler-killed",
        Severity.ERROR,
        "the compiler was killed",
        "The system ends the largest process when memory runs out, and a kernel costs nvcc up to 4 GiB. Build fewer at"
        " once with `--jobs`, or close what else uses memory. The message names the signal.",
    ),
    CodeInfo(
        "UC0812",
        "cuda-headers-missing",
        Severity.ERROR,
        "CUDA's headers or its runtime library are missing",
        "A toolkit has them; from PyPI they are packages of their own beside nvcc. The message says which to install.",
    ),
)
