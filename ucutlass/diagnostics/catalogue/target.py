"""Codes UC05xx: what the target, or CUTLASS on it, cannot build or launch."""

from ucutlass.diagnostics.catalogue.info import CodeInfo
from ucutlass.diagnostics.core import Severity


def _gemm(target: str, setter: str = "", operands: str = "f16", result: str = "f16", k: int = 4096) -> str:
    """A program whose one gemm carries the setter in question."""
    head = f"target {target}\nkernel k(x: {operands}[4096, {k}], w: {operands}[4096, {k}]) -> {result}[4096, 4096] {{\n"
    return f"{head}  return gemm(x, w.T){setter}\n}}"


CODES = (
    CodeInfo(
        "UC0501",
        "type-not-on-target",
        Severity.ERROR,
        "the target has no instruction for this type",
        "The tensor cores of each generation multiply certain types only: fp8, for instance, begins with sm_89. The"
        " message lists what this target takes. Choose another target, store the data in another type, or say the type"
        " of the products with `.with_compute(T)`.",
        _gemm("sm_80", operands="e4m3"),
        _gemm("sm_90a", operands="e4m3"),
    ),
    CodeInfo(
        "UC0502",
        "accumulator",
        Severity.ERROR,
        "these operands cannot be summed in this type",
        "The hardware pairs each operand type with a few accumulator types: `f32` for every float, `f16` for some,"
        " `s32` for integers, `f64` for `f64`. Remove `.with_acc` to get the usual one.",
        _gemm("sm_90a", ".with_acc(f16)", "bf16", "bf16"),
        _gemm("sm_90a", ".with_acc(f32)", "bf16", "bf16"),
    ),
    CodeInfo(
        "UC0503",
        "tile-shape",
        Severity.ERROR,
        "no kernel has a tile of this shape",
        "Tile extents are multiples of what one matrix instruction computes, and a schedule divides the tile among"
        " its warps. The message gives the multiple or the bound; the fix is the nearest legal value.",
        _gemm("sm_90a", ".with_tile(128, 128, 60)"),
        _gemm("sm_90a", ".with_tile(128, 128, 64)"),
    ),
    CodeInfo(
        "UC0504",
        "alignment",
        Severity.ERROR,
        "an operand's alignment does not suit the kernel",
        "The alignment is how many elements one access moves, so it divides the extent and stride of the contiguous"
        " dimension; bulk copies by TMA need 16 bytes. Use a smaller alignment, a schedule that takes it, or an extent"
        " that is a multiple of the one named.",
        _gemm("sm_90a", ".with_schedule(cooperative)", k=4095),
        _gemm("sm_90a", ".with_schedule(cooperative)", k=4096),
    ),
    CodeInfo(
        "UC0505",
        "cluster-shape",
        Severity.ERROR,
        "a cluster of this shape cannot be launched",
        "A cluster holds at most 8 thread blocks, its extents are powers of two, and its k extent is 1. Targets"
        " before sm_90a have no clusters. The fix is the nearest legal shape.",
        _gemm("sm_90a", ".with_cluster(3, 1)"),
        _gemm("sm_90a", ".with_cluster(2, 1)"),
    ),
    CodeInfo(
        "UC0506",
        "shared-memory",
        Severity.ERROR,
        "a thread block needs more shared memory than there is",
        "Each pipeline stage holds one tile of both operands, and the epilogue needs room for its own tiles. The"
        " message adds these up against the target's limit. Use fewer stages, a smaller tile, or leave the stages to"
        " the compiler.",
        _gemm("sm_90a", ".with_tile(128, 128, 64).with_stages(12)"),
        _gemm("sm_90a", ".with_tile(128, 128, 64).with_stages(6)"),
    ),
    CodeInfo(
        "UC0507",
        "stage-count",
        Severity.ERROR,
        "the kernel cannot have this number of stages",
        "A pipeline overlaps loading with computing, so it has at least two stages; some main loops compute the"
        " number themselves and take none. Use the fix, or leave `.with_stages` out.",
        _gemm("sm_90a", ".with_stages(1)"),
        _gemm("sm_90a", ".with_stages(2)"),
    ),
    CodeInfo(
        "UC0508",
        "schedule",
        Severity.ERROR,
        "the target has no such schedule for this operation",
        "Schedules belong to a generation: `multistage` to the sm_80 family, the warp-specialized ones to sm_90a,"
        " `one_sm` and `two_sm` to sm_100a. Some take only certain tiles. The message lists what is possible here.",
        _gemm("sm_80", ".with_schedule(pingpong)"),
        _gemm("sm_80", ".with_schedule(multistage)"),
    ),
    CodeInfo(
        "UC0509",
        "epilogue-schedule",
        Severity.ERROR,
        "this epilogue does not go with this schedule",
        "The epilogue stores a tile with the warps that the schedule gives it, so not every pair exists. Remove"
        " `.with_epilogue`, or choose one of those that the message lists.",
        _gemm("sm_90a", ".with_schedule(cpasync).with_epilogue(tma)"),
        _gemm("sm_90a", ".with_schedule(cpasync).with_epilogue(nosmem)"),
    ),
    CodeInfo(
        "UC0510",
        "registers",
        Severity.ERROR,
        "the accumulators do not fit into the registers",
        "A tile's accumulators are spread over the threads that compute it: m · n values over 128 or 256 threads, and"
        " from 256 registers a thread on they spill to memory, which is slower than a smaller tile. Halve m or n, or"
        " use a cooperative schedule.",
        _gemm("sm_90a", ".with_tile(256, 256, 64)"),
        _gemm("sm_90a", ".with_tile(256, 128, 64)"),
    ),
    CodeInfo(
        "UC0511",
        "operand-layout",
        Severity.ERROR,
        "the instruction does not take an operand in this layout",
        "Some types are multiplied only when the reduction dimension is contiguous in both operands. Store the"
        " operand the other way, give it as `.T` of a tensor that is, or put `to_layout` before, which costs a copy.",
        "target sm_90a\nkernel k(x: e4m3[512, 512], w: e4m3[512, 512]) -> f32[512, 512] {\n"
        "  return gemm(x, w).with_schedule(cooperative)\n}",
        "target sm_90a\nkernel k(x: e4m3[512, 512], w: e4m3[512, 512]) -> f32[512, 512] {\n"
        "  return gemm(x, w.T).with_schedule(cooperative)\n}",
    ),
    CodeInfo(
        "UC0512",
        "tile-scheduler",
        Severity.ERROR,
        "this tile scheduler does not go with the rest",
        "Stream-k needs a schedule whose warps work on one tile together, and a reduction long enough to split. Use"
        " `persistent`, or the schedule that the message names.",
        _gemm("sm_90a", ".with_schedule(pingpong).with_scheduler(stream_k)"),
        _gemm("sm_90a", ".with_schedule(cooperative).with_scheduler(stream_k)"),
    ),
    CodeInfo(
        "UC0513",
        "split-k",
        Severity.ERROR,
        "the reduction cannot be split into so many slices",
        "Each slice takes at least one k extent of the tile, and the partial sums are added in f32 in a workspace."
        " The message gives the largest number.",
        _gemm("sm_90a", ".with_tile(128, 128, 64).with_split_k(128)"),
        _gemm("sm_90a", ".with_tile(128, 128, 64).with_split_k(8)"),
    ),
    CodeInfo(
        "UC0514",
        "instruction-shape",
        Severity.ERROR,
        "warp tile or instruction shape do not exist or do not divide the tile",
        "The thread block's tile is divided into warp tiles and those into matrix instructions; each must be a"
        " multiple of the next. Instruction shapes are fixed by the type. The message lists them.",
        _gemm("sm_80", ".with_instruction(16, 8, 12)"),
        _gemm("sm_80", ".with_instruction(16, 8, 16)"),
    ),
    CodeInfo(
        "UC0515",
        "compute-type",
        Severity.ERROR,
        "operands of this type cannot be multiplied in this one",
        "`.with_compute` says in which type the products are formed. `tf32x3` and `f16x3` are for f32 operands;"
        " narrow types are for operands that the target can convert on the way in. The message lists what is possible.",
        _gemm("sm_90a", ".with_compute(tf32x3)"),
        _gemm("sm_90a", ".with_compute(f16)"),
    ),
    CodeInfo(
        "UC0516",
        "problem-extent",
        Severity.ERROR,
        "an extent is outside of what the kernel can address",
        "Copy descriptors hold extents of 32 and strides of 40 bits. Split the tensor, or leave the schedule to the"
        " compiler, which then takes a kernel with 64-bit addresses.",
    ),
    CodeInfo(
        "UC0517",
        "missing-condition",
        Severity.ERROR,
        "a setter needs something that a dynamic size does not guarantee",
        "The kernel would be wrong, or would not launch, for some sizes that the types allow. Promise it in a `where`"
        " clause, which the launcher then checks; the fix adds the condition. Without the setter the compiler keeps a"
        " path for every size.",
        "target sm_90a\nkernel k(x: f16[M, K], w: f16[N, K]) -> f16[M, N] {\n"
        "  return gemm(x, w.T).with_alignment(a=8, b=8)\n}",
        "target sm_90a\nkernel k(x: f16[M, K], w: f16[N, K]) -> f16[M, N] where K % 8 == 0 {\n"
        "  return gemm(x, w.T).with_alignment(a=8, b=8)\n}",
    ),
    CodeInfo(
        "UC0518",
        "no-configuration",
        Severity.ERROR,
        "no kernel obeys all setters together",
        "Each setter is possible by itself, but nothing is left when all of them are obeyed. The notes say which rule"
        " refuses the nearest configurations; remove one of the setters that they name.",
        _gemm("sm_90a", ".with_cluster(2, 1).with_alignment(a=4)"),
        _gemm("sm_90a", ".with_cluster(2, 1).with_alignment(a=8)"),
    ),
    CodeInfo(
        "UC0519",
        "setter-not-on-target",
        Severity.ERROR,
        "the target has nothing that this setter could set",
        "Clusters and epilogue schedules are for sm_90a and later; `.with_warps` and `.with_instruction` are for the"
        " kernels of the sm_80 family, which other targets run as schedule `multistage`. Remove the setter, change the"
        " schedule or change the target.",
        _gemm("sm_80", ".with_cluster(2, 1)"),
        _gemm("sm_90a", ".with_cluster(2, 1)"),
    ),
    CodeInfo(
        "UC0520",
        "epilogue-operation",
        Severity.ERROR,
        "the chosen epilogue cannot hold what is to be fused",
        "Fusible consumers are never cut off for a setter's sake. On sm_90a `nosmem` rounds and stores and does"
        " nothing else. Use `tma` or `auto`, or end the kernel yourself with `materialize`.",
        "target sm_90a\nkernel k(x: f16[512, 512]) -> f16[512, 512] {\n"
        "  return gemm(x, x.T).with_epilogue(nosmem) >> relu()\n}",
        "target sm_90a\nkernel k(x: f16[512, 512]) -> f16[512, 512] {\n"
        "  return gemm(x, x.T).with_epilogue(tma) >> relu()\n}",
    ),
    CodeInfo(
        "UC0521",
        "convolution",
        Severity.ERROR,
        "the convolution kernel with these setters does not take this problem",
        "Implicit-gemm kernels read channels in pieces of 16 bytes and have bounds on filter size, stride and"
        " padding. The message gives the number. Without setters the compiler pads or takes another kernel.",
        "target sm_90a\nkernel k(x: f16[8, 3, 32, 32]@channels_last, w: f16[64, 3, 3, 3]@channels_last)"
        " -> f16[8, 64, 30, 30]@channels_last {\n  return conv2d(x, w).with_schedule(warpspecialized)\n}",
        "target sm_90a\nkernel k(x: f16[8, 8, 32, 32]@channels_last, w: f16[64, 8, 3, 3]@channels_last)"
        " -> f16[8, 64, 30, 30]@channels_last {\n  return conv2d(x, w).with_schedule(warpspecialized)\n}",
    ),
    CodeInfo(
        "UC0522",
        "fast-accumulation",
        Severity.ERROR,
        "fast accumulation is for fp8 operands",
        "Schedules ending in `_fp8_fast` skip the periodic promotion of fp8 sums to full f32, which only fp8 operands"
        " have. Remove the suffix.",
        _gemm("sm_90a", ".with_schedule(cooperative_fp8_fast)"),
        _gemm("sm_90a", ".with_schedule(cooperative)"),
    ),
)
