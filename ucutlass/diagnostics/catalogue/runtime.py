"""Codes UC09xx: loading and launching a kernel."""

from ucutlass.diagnostics.catalogue.info import CodeInfo
from ucutlass.diagnostics.core import Severity

CODES = (
    CodeInfo(
        "UC0901",
        "no-gpu",
        Severity.ERROR,
        "there is no usable GPU",
        "The driver is missing or shows no device; `nvidia-smi` tells which. `--interpret` computes the same values"
        " on the CPU, and the Speed-of-Light bound of a named GPU needs none.",
    ),
    CodeInfo(
        "UC0902",
        "gpu-mismatch",
        Severity.ERROR,
        "the kernel was built for another GPU",
        "Code for sm_90a runs on Hopper only; code for sm_80 runs on later ones too. The message gives the target and"
        " the device. Build for this GPU with `--target`, or choose another device.",
    ),
    CodeInfo(
        "UC0903",
        "tensor-count",
        Severity.ERROR,
        "a kernel is called with the wrong number of tensors",
        "A kernel takes its parameters in the order of the program, and optionally its results after them. The"
        " message shows the signature.",
    ),
    CodeInfo(
        "UC0904",
        "tensor-type",
        Severity.ERROR,
        "a tensor has another element type than the program says",
        "Nothing is converted silently. Convert the tensor with `.to(…)`, or change the type in the program.",
    ),
    CodeInfo(
        "UC0905",
        "tensor-shape",
        Severity.ERROR,
        "a tensor has another shape than the program says",
        "A fixed extent differs, or one dynamic dimension was given two sizes by two tensors. The message shows both"
        " shapes.",
    ),
    CodeInfo(
        "UC0906",
        "tensor-strides",
        Severity.ERROR,
        "a tensor lies in memory in another order than the program says",
        "The declared layout says which dimension is contiguous. Call `.contiguous()`, with `memory_format=` for"
        " `@channels_last`, or declare the layout that the tensor has.",
    ),
    CodeInfo(
        "UC0907",
        "tensor-alignment",
        Severity.ERROR,
        "a tensor's address or stride is not aligned as the kernel needs",
        "The kernel reads several elements at once. Tensors that PyTorch allocates are aligned; views into them at an"
        " odd offset are not: clone the view, or ask for a smaller `.with_alignment`.",
    ),
    CodeInfo(
        "UC0908",
        "tensor-device",
        Severity.ERROR,
        "tensors are on different devices, or not on a GPU",
        "All tensors of one call are on the GPU that the kernel runs on. Move them with `.to(device)`.",
    ),
    CodeInfo(
        "UC0909",
        "condition-not-met",
        Severity.ERROR,
        "the sizes of a call break a where condition",
        "The program promises the condition and the kernel relies on it. The message gives the sizes. Pad the"
        " tensors, or compile the program without the setter that needs the condition.",
    ),
    CodeInfo(
        "UC0910",
        "launch-failed",
        Severity.ERROR,
        "the GPU refused to launch the kernel",
        "The message gives the driver's reason. Too much shared memory or too large a cluster is a defect of the"
        " rules; a used-up device is not: see with `nvidia-smi` who else uses it.",
    ),
    CodeInfo(
        "UC0911",
        "workspace-too-small",
        Severity.ERROR,
        "the workspace that was passed is too small",
        "Ask the library's `…_workspace_size` with the same tensors and pass at least so many bytes, aligned to 256."
        " From Python this happens by itself.",
    ),
    CodeInfo(
        "UC0912",
        "illegal-access",
        Severity.ERROR,
        "a kernel touched memory that is not its own",
        "The kernel ran in a process of its own, which is lost; later kernels are not affected. This is a defect of"
        " the compiler unless a tensor was freed too early: run again under `compute-sanitizer` and report what it"
        " says.",
    ),
    CodeInfo(
        "UC0913",
        "kernel-timeout",
        Severity.ERROR,
        "a kernel did not end in time",
        "It was stopped at the limit that the message gives. A kernel that waits for a barrier never ends; one that"
        " is only slow ends with a larger `--timeout`.",
    ),
    CodeInfo(
        "UC0914",
        "out-of-memory",
        Severity.ERROR,
        "the GPU has not enough free memory",
        "The message adds up tensors, workspace and what the measurement needs beside them. Use smaller sizes with"
        " `--dim`, or free what other processes hold.",
    ),
    CodeInfo(
        "UC0915",
        "tensors-overlap",
        Severity.ERROR,
        "a result lies in the memory of another tensor of the call",
        "A kernel reads its arguments while it writes its results, in no order that one may rely on. Give `out=` memory"
        " of its own, or leave it away.",
    ),
)
