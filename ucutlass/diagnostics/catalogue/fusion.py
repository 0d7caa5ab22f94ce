"""Codes UC06xx: what became of each operation, as remarks; nothing here is a fault."""

from ucutlass.diagnostics.catalogue.info import CodeInfo
from ucutlass.diagnostics.core import Severity

CODES = (
    CodeInfo(
        "UC0601",
        "fused",
        Severity.REMARK,
        "an operation is part of another one's kernel",
        "Its value never goes to memory. The message names the kernel and the place in it: the epilogue of a"
        " contraction, its operand path, or a pass over memory shared with neighbours.",
        good_example="kernel k(x: f16[512, 512]) -> f16[512, 512] { return gemm(x, x.T) >> relu() }",
    ),
    CodeInfo(
        "UC0602",
        "split-off",
        Severity.REMARK,
        "an operation begins a kernel of its own",
        "The value before it is written to memory and read again; the message gives the reason and the bytes. The"
        " reason is either a rule, which says what the target's epilogue cannot hold, or the cost model, which found"
        " the cut faster.",
        good_example="kernel k(x: f16[512, 512]) -> f16[512, 512] { return gemm(x, x.T) >> softmax(dim=1) }",
    ),
    CodeInfo(
        "UC0603",
        "materialized",
        Severity.REMARK,
        "the program itself ends a kernel here",
        "`materialize` writes the value to memory in its element type, which rounds it. The message gives the bytes"
        " that the cut costs; remove `materialize` to let the compiler decide.",
        good_example="kernel k(x: f16[512, 512]) -> f16[512, 512] { return materialize(gemm(x, x.T)) >> relu() }",
    ),
    CodeInfo(
        "UC0604",
        "layout-converted",
        Severity.REMARK,
        "a tensor is copied into another layout",
        "The kernel that reads it needs another order in memory. The message gives the bytes. Declaring the parameter"
        " in that layout, such as `@channels_last` for convolutions, saves the copy when the caller can store it so.",
        good_example="kernel k(x: f16[8, 64, 32, 32], w: f16[64, 64, 1, 1]) -> f16[8, 64, 32, 32] {"
        " return conv2d(x, w) }",
    ),
    CodeInfo(
        "UC0605",
        "operand-copied",
        Severity.REMARK,
        "an operand is copied or padded for its kernel",
        "An extent or alignment does not suit any kernel that reads the tensor in place, so a copy that does is made"
        " first. The message gives the extent, the multiple that would be needed, and the bytes.",
        good_example="kernel k(x: f16[4096, 4095], w: f16[4096, 4095]) -> f16[4096, 4096] { return gemm(x, w.T) }",
    ),
    CodeInfo(
        "UC0606",
        "rewritten",
        Severity.REMARK,
        "an operation was replaced by a cheaper one of the same meaning",
        "The message names the rule. Rules are exact within the declared types; one that is not states its error"
        " bound and runs only under an option.",
        good_example="kernel k(x: f16[512, 512]) -> f16[512, 512] { return relu(x.T.T * 1) }",
    ),
    CodeInfo(
        "UC0607",
        "result-converted",
        Severity.REMARK,
        "a returned value is stored in the declared layout by a conversion",
        "The value was computed in another layout than the kernel's result declares. The message gives the bytes, or"
        " says that the last kernel stores it so at no cost.",
        good_example="kernel k(x: f16[512, 256]) -> f16[512, 256]@col { return relu(x) }",
    ),
    CodeInfo(
        "UC0608",
        "configuration-chosen",
        Severity.REMARK,
        "what the compiler chose for a contraction",
        "The message lists tile, cluster, schedule, epilogue, stages and scheduler, written as the setters that would"
        " ask for them, and the predicted time. Copy them into the program to pin the choice.",
        good_example="kernel k(x: f16[512, 512]) -> f16[512, 512] { return gemm(x, x.T) }",
    ),
)
