"""Shared memory, pipeline stages and registers of each kernel family, as exact arithmetic.

Imports only the standard library and the problem's values. The formulas restate what CUTLASS's builders compute at
compile time; a limit is always an argument, never a constant, because siblings of a chip have different ones.

Sources, relative to CUTLASS's `include/cutlass`:
- `gemm/collective/builders/sm90_gmma_builder.inl`: stage bytes, automatic stage count;
- `epilogue/collective/builders/sm90_builder.inl`: epilogue tile, its stages, reuse of C's memory for D;
- `gemm/kernel/sm90_gemm_tma_warpspecialized*.hpp`: the layout of the whole storage;
- `gemm/collective/builders/sm100_umma_builder.inl`, `sm120_mma_builder.inl`: the same for Blackwell;
- `gemm/threadblock/mma_base.h`: the sm_80 family.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

from ucutlass.targets.problem import EpilogueSpec, Operand, Shape3

BARRIER_BYTES = 16
"""One stage of a pipeline: a full and an empty barrier."""
TENSOR_MAP_BYTES = 128
COOPERATIVE_SCHEDULES = ("cooperative", "cpasync_cooperative")
PINGPONG_SCHEDULES = ("pingpong", "cpasync_pingpong")
CPASYNC_SCHEDULES = ("cpasync", "cpasync_cooperative", "cpasync_pingpong")


def round_up(value: int, unit: int) -> int:
    return -(-value // unit) * unit


def ceil_div(value: int, divisor: int) -> int:
    return -(-value // divisor)


def swizzle_unit(row_bytes: float) -> int:
    """Alignment of a buffer whose contiguous rows have this length: that of the widest swizzle that divides them."""
    for bytes_, unit in ((128, 1024), (64, 512), (32, 256)):
        if row_bytes % bytes_ == 0:
            return unit
    return 128


# ---- sm_90a -------------------------------------------------------------------------------------------------------


@lru_cache(4096)
def epilogue_tile(schedule: str, tile_m: int, tile_n: int, d_bits: int) -> tuple[int, int]:
    """The part of a tile that one step of a TMA epilogue handles."""
    if schedule in COOPERATIVE_SCHEDULES:
        return min(128, tile_m), math.gcd(min(32, tile_n), tile_n)
    preferred = 64 if d_bits == 8 and tile_n % 64 == 0 else 32
    return min(64, tile_m), math.gcd(min(preferred, tile_n), tile_n)


@dataclass(frozen=True, slots=True)
class EpilogueStorage:
    """Shared memory of an epilogue."""

    tile: tuple[int, int]
    stages_c: int
    stages_d: int
    reuse_c: bool
    unit: int
    """Alignment of the tensors."""
    tensor_bytes: int
    storage_bytes: int
    """What `sizeof(SharedStorage)` is: the tensors and the barriers of C's pipeline; the carveout of the main loop."""


NO_STORAGE = EpilogueStorage((0, 0), 0, 0, False, 128, 1, 1)
"""An epilogue that stores from registers; an empty structure takes one byte."""


def _matrix_unit(operand: Operand, tile: tuple[int, int]) -> int:
    return swizzle_unit((tile[1] if operand.major == "n" else tile[0]) * operand.element.bits / 8)


def _fusion_bytes(
    spec: EpilogueSpec, tile_n: int, epi: tuple[int, int], stages_c: int, stages_d: int
) -> tuple[int, int]:
    """Shared memory of the visitor tree, and the alignment that it asks for.

    Vectors along n are staged whole, each beside empty structures that pad it; matrices that TMA can address take one
    epilogue tile a stage. The order of the tree decides some padding, so this is an upper bound, tight for one node.
    """
    total, unit = 0, 1
    for operands, stages in ((spec.aux_loads, stages_c), (spec.aux_stores, stages_d)):
        for operand in operands:
            if operand.alignment_bytes % 16 == 0:
                own_unit = _matrix_unit(operand, epi)
                total += round_up(stages * epi[0] * epi[1] * operand.element.bits // 8, own_unit)
                unit = max(unit, own_unit)
    for element in spec.row_broadcasts:
        total += round_up(round_up(tile_n * element.bits // 8, 16) + 32, unit if unit > 1 else 16)
    return total, unit


def tma_epilogue_storage(
    tile: tuple[int, int],
    epi: tuple[int, int],
    stages_c: int,
    stages_d: int,
    reuse_c: bool,
    spec: EpilogueSpec,
    d: Operand,
) -> EpilogueStorage:
    """Storage of a TMA epilogue whose subtile and stages are known (sm_90a, sm_100a, sm_120a)."""
    c = spec.c
    elements = epi[0] * epi[1]
    bytes_d = elements * d.element.bits // 8
    unit = _matrix_unit(d, epi)
    if c is None:
        matrices = stages_d * bytes_d
    else:
        unit = max(unit, _matrix_unit(c, epi))
        bytes_c = elements * c.element.bits // 8
        matrices = stages_c * bytes_d if reuse_c else stages_c * bytes_c + stages_d * bytes_d
    fusion, fusion_unit = _fusion_bytes(spec, tile[1], epi, stages_c, stages_d)
    unit = max(unit, fusion_unit)
    tensors = round_up(matrices + max(fusion, 1), unit)
    return EpilogueStorage(
        epi, stages_c, stages_d, reuse_c, unit, tensors, round_up(tensors + BARRIER_BYTES * stages_c, unit)
    )


def sm90_epilogue_storage(schedule: str, tile: Shape3, spec: EpilogueSpec, d: Operand) -> EpilogueStorage:
    """Storage of the TMA epilogue that CUTLASS chooses by itself for a schedule."""
    epi = epilogue_tile(schedule, tile[0], tile[1], d.element.bits)
    tiles = (tile[0] // epi[0]) * (tile[1] // epi[1])
    c_bits = 0 if spec.c is None else spec.c.element.bits
    reuse = c_bits == d.element.bits and c_bits > 8
    stages_d = min(tiles, 2)
    stages_c = max(min(tiles, 4), stages_d + 1) if reuse else min(tiles, 4)
    return tma_epilogue_storage(tile[:2], epi, stages_c, stages_d, reuse, spec, d)


def operand_stage_bytes(tile: Shape3, a_bits: int, b_bits: int, unit: int = 128) -> int:
    """One tile of both operands."""
    m, n, k = tile
    return round_up(ceil_div(a_bits * m * k, 8) + ceil_div(b_bits * n * k, 8), unit)


def sm90_kernel_carveout(grouping: str | None, mixed: bool) -> int:
    """Tensor maps, and the barriers of the scheduler that fetches group sizes."""
    if grouping is None:
        return 0
    return TENSOR_MAP_BYTES * (4 if mixed else 2) + (128 if grouping == "grouped" else 0)


def sm90_auto_stages(limit: int, carveout: int, kernel_carveout: int, operand_bytes: int, unit: int = 128) -> int:
    """What `StageCountAutoCarveout<carveout>` comes to."""
    capacity = (limit - kernel_carveout) // unit * unit
    return (capacity - round_up(carveout, unit)) // (operand_bytes + BARRIER_BYTES)


def sm90_total(
    schedule: str,
    epilogue: EpilogueStorage,
    stages: int,
    operand_bytes: int,
    *,
    main_unit: int = 128,
    mixed: bool = False,
    grouping: str | None = None,
) -> int:
    """Shared memory of the whole kernel.

    `main_unit` is the alignment of the operands' buffers: 128, or that of the swizzles where A goes through registers.
    A mixed main loop holds the empty buffers of scales and zero points too.
    """
    main_loop = stages * operand_bytes + (main_unit if mixed else 0)
    if schedule == "tma":
        return main_loop + BARRIER_BYTES * stages
    unit = max(epilogue.unit, main_unit)
    barriers = BARRIER_BYTES * (stages + max(epilogue.stages_c, 1))
    if schedule in ("warpspecialized", "cpasync"):
        # Not persistent: the epilogue starts when the main loop is over and takes its place.
        return round_up(max(main_loop, epilogue.tensor_bytes) + round_up(barriers, unit), unit)
    if schedule in CPASYNC_SCHEDULES:
        return main_loop + 128 + round_up(barriers + (32 if schedule in PINGPONG_SCHEDULES else 0), 128)
    barriers += 48 if schedule in PINGPONG_SCHEDULES else 16
    if grouping is not None:
        barriers += TENSOR_MAP_BYTES * 4 + (384 if grouping == "grouped" else 128)
    return round_up(round_up(barriers, unit) + round_up(epilogue.tensor_bytes, main_unit) + main_loop, unit)


def accumulator_registers(tile_m: int, tile_n: int, threads: int, bits: int) -> int:
    """Registers that each thread needs for a tile's sums."""
    return tile_m * tile_n * bits // 32 // threads


def promotion_interval(tile_k: int) -> int:
    """`mainloop.mma_promotion_interval` of exact fp8 sums: a multiple of the instructions of one k tile, near 4."""
    steps = tile_k // 32
    return round_up(4, steps) if steps > 0 else 4


# ---- sm_100a and sm_120a ---------------------------------------------------------------------------------------------


def sm100_epilogue_tile(
    tile: tuple[int, int], two_sm: bool, mma_m: int, spec: EpilogueSpec, d: Operand
) -> tuple[int, int]:
    """Subtile of the epilogue of one CTA, whose tile is `tile`."""
    m, n = tile
    warps_m, warps_n = (2, 2) if two_sm and mma_m == 128 else (4, 1)
    subtile_m = min(m, 32 * warps_m)
    c = spec.c
    bits = max(d.element.bits, 0 if c is None else c.element.bits)
    if c is None:
        preferred = 4096 // subtile_m
    elif bits == 32:
        preferred = 16 if m > 64 and n <= 128 else 32
    elif bits == 16:
        preferred = 32 if n <= 128 else 64
    else:
        preferred = 64
    least = max(sm100_least_n(o, warps_n) for o in ((d,) if c is None else (c, d)))
    return subtile_m, min(n, max(preferred, least))


def sm100_least_n(operand: Operand, warps_n: int) -> int:
    return (8 if operand.major == "m" else 128 // operand.element.bits) * warps_n


def sm100_epilogue_storage(
    tile: tuple[int, int], two_sm: bool, mma_m: int, spec: EpilogueSpec, d: Operand
) -> EpilogueStorage:
    epi = sm100_epilogue_tile(tile, two_sm, mma_m, spec, d)
    tiles = ceil_div(tile[0], epi[0]) * ceil_div(tile[1], epi[1])
    reuse = spec.c is not None and spec.c.element.bits > 8 and spec.c.element.bits == d.element.bits
    stages_d = min(tiles, 2)
    stages_c = max(min(tiles, 4), stages_d + 1) if reuse else min(tiles, 4)
    return tma_epilogue_storage(tile, epi, stages_c, stages_d, reuse, spec, d)


SM100_NO_STORAGE = EpilogueStorage((0, 0), 0, 0, False, 128, 32, 32)
SM100_KERNEL_CARVEOUT = 256
"""Barriers of the accumulator, scheduler and throttle pipelines, responses, tensor-memory pointers: an upper bound."""


def sm100_auto_stages(limit: int, carveout: int, operand_bytes: int) -> int:
    return (limit - SM100_KERNEL_CARVEOUT - carveout) // (operand_bytes + BARRIER_BYTES)


def sm100_total(epilogue: EpilogueStorage, stages: int, operand_bytes: int) -> int:
    """Upper bound: the barriers are rounded up to the alignment of the tensors."""
    barriers = SM100_KERNEL_CARVEOUT + BARRIER_BYTES * (stages + epilogue.stages_c)
    return round_up(barriers, 512) + round_up(epilogue.tensor_bytes, 128) + stages * operand_bytes


def sm120_epilogue_storage(tile: tuple[int, int], spec: EpilogueSpec, d: Operand) -> EpilogueStorage:
    epi = (64, 32)
    tiles = ceil_div(tile[0], 64) * ceil_div(tile[1], 32)
    reuse = spec.c is not None and spec.c.element.bits == d.element.bits and d.element.bits > 8
    stages_d = min(tiles, 2)
    stages_c = max(min(tiles, 2), stages_d + 1) if reuse else stages_d
    return tma_epilogue_storage(tile, epi, stages_c, stages_d, reuse, spec, d)


def sm120_total(epilogue: EpilogueStorage, stages: int, operand_bytes: int) -> int:
    return 1024 + round_up(epilogue.tensor_bytes, 1024) + stages * operand_bytes


# ---- sm_80 family ----------------------------------------------------------------------------------------------------


def sm80_stage_bytes(tile: Shape3, a_bits: int, b_bits: int, simt: bool) -> int:
    """One stage; CUDA-core kernels pad the rows of transposed operands by up to four elements a k step."""
    m, n, k = tile
    padding = 4 if simt else 0
    return ((m + padding) * k * a_bits + (n + padding) * k * b_bits) // 8


def sm80_epilogue_bytes(tile: Shape3, warps: Shape3, accumulator_bits: int) -> int:
    """The rows that one step of the epilogue exchanges, eight a warp, padded by a little."""
    rows = 8 * (tile[0] // warps[0]) * (tile[2] // warps[2])
    return rows * (tile[1] + 8) * accumulator_bits // 8


def sm80_total(
    tile: Shape3, warps: Shape3, stages: int, a_bits: int, b_bits: int, accumulator_bits: int, simt: bool
) -> int:
    main_loop = stages * sm80_stage_bytes(tile, a_bits, b_bits, simt)
    return max(main_loop, sm80_epilogue_bytes(tile, warps, accumulator_bits))
