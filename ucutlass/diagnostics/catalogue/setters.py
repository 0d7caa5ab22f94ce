"""Codes UC04xx: setters, as far as the language itself decides; what a target can build has codes UC05xx."""

from ucutlass.diagnostics.catalogue.info import CodeInfo
from ucutlass.diagnostics.core import Severity

CODES = (
    CodeInfo(
        "UC0401",
        "setter-twice",
        Severity.ERROR,
        "one setter is given twice on a call",
        "Neither would win over the other, so both are refused. Remove one; the note shows the first.",
        "kernel k(x: f16[64, 64]) -> f16[64, 64] { return gemm(x, x).with_stages(3).with_stages(4) }",
        "kernel k(x: f16[64, 64]) -> f16[64, 64] { return gemm(x, x).with_stages(4) }",
    ),
    CodeInfo(
        "UC0402",
        "setter-not-taken",
        Severity.ERROR,
        "this operation does not take this setter",
        "Setters configure contractions: gemms and convolutions take all of them, `attention` only `.with_compute`"
        " and `.with_acc`. Everything else is configured by the compiler. Move the setter to the contraction's own"
        " call, before any `>>`.",
        "kernel k(x: f16[64, 64]) -> f16[64, 64] { return gemm(x, x) >> relu().with_stages(4) }",
        "kernel k(x: f16[64, 64]) -> f16[64, 64] { return gemm(x, x).with_stages(4) >> relu() }",
    ),
    CodeInfo(
        "UC0403",
        "setter-argument",
        Severity.ERROR,
        "a setter's arguments are of the wrong number or kind",
        "The message shows how the setter is written. Tile and cluster shapes are whole numbers in the order m, n, k;"
        " schedules, epilogues and schedulers are words; types are element types. `auto` leaves the choice to the"
        " compiler.",
        "kernel k(x: f16[64, 64]) -> f16[64, 64] { return gemm(x, x).with_tile(64) }",
        "kernel k(x: f16[64, 64]) -> f16[64, 64] { return gemm(x, x).with_tile(64, 64, 64) }",
    ),
    CodeInfo(
        "UC0404",
        "setter-value",
        Severity.ERROR,
        "no target takes this value of a setter",
        "Shapes, stages, slices and alignments are at least 1, swizzles are 1, 2, 4 or 8, alignments are powers of"
        " two. The message gives what is allowed.",
        "kernel k(x: f16[64, 64]) -> f16[64, 64] { return gemm(x, x).with_raster(along_m, swizzle=3) }",
        "kernel k(x: f16[64, 64]) -> f16[64, 64] { return gemm(x, x).with_raster(along_m, swizzle=4) }",
    ),
    CodeInfo(
        "UC0405",
        "setters-conflict",
        Severity.ERROR,
        "two setters of a call contradict each other",
        "Each is right by itself, but no kernel obeys both: for instance stream-k distributes the reduction by"
        " itself, so it does not go together with a fixed split. The note shows the other setter; remove one, or set"
        " it to `auto`.",
        "kernel k(x: f16[64, 64]) -> f16[64, 64] { return gemm(x, x).with_split_k(2).with_scheduler(stream_k) }",
        "kernel k(x: f16[64, 64]) -> f16[64, 64] { return gemm(x, x).with_scheduler(stream_k) }",
    ),
)
