"""Rules of the sm_120a collective builder: `mma.sync` for fp8, fed by TMA.

Imports only the standard library and the values of `ucutlass.targets`.
"""

from functools import lru_cache

from ucutlass.targets.problem import EpilogueSpec, Operand
from ucutlass.targets.rules.common import no_cluster
from ucutlass.targets.rules.core import Candidate, Finding, Fix, rule
from ucutlass.targets.rules.sm90_facts import MAX_EXTENT
from ucutlass.targets.rules.text import contiguous, nearest, operand_part, shape, tile_fix
from ucutlass.targets.stage_arithmetic import (
    EpilogueStorage,
    accumulator_registers,
    operand_stage_bytes,
    sm100_auto_stages,
    sm120_epilogue_storage,
    sm120_total,
)

TILE_M = (64, 128)
STEP_N = 32
STEP_K = 32
MAX_REGISTERS = 255


@rule("UC0508", source='gemm/collective/builders/sm120_mma_builder.inl: "PtrArray kernel is not supported"')
def gemm_is_not_grouped(candidate: Candidate) -> Finding | None:
    """Groups of gemms have no kernel here."""
    if candidate.problem.grouping is None:
        return None
    return Finding(f"there is no kernel for a group of gemms on {candidate.arch}", "name")


@rule("UC0511", "swap_ab", source='sm120_mma_builder.inl: "Only TN layout is supported"')
def operands_have_k_contiguous(candidate: Candidate) -> Finding | None:
    """Both operands have k contiguous."""
    for which in "ab":
        operand = candidate.operand(which)
        if operand is not None and operand.major != "k":
            return Finding(
                f"{candidate.arch} kernels take {operand.element} only with {candidate.problem.dim_name('k')}"
                " contiguous, but"
                f" {contiguous(candidate, which)}",
                operand_part(candidate, which),
            )
    return None


@rule("UC0509", "epilogue", source="epilogue/collective/builders/sm120_builder.inl has the TMA epilogue only")
def epilogue_is_tma(candidate: Candidate) -> Finding | None:
    """The epilogue stores by TMA."""
    if candidate.epilogue != "nosmem":
        return None
    return Finding(
        f"kernels for {candidate.arch} store by TMA: there is no epilogue nosmem",
        "setter:epilogue:0",
        Fix("setter:epilogue:0", "tma", "use tma"),
    )


@rule("UC0522", "fast_accum", source="sm120_mma_builder.inl has no fast accumulation")
def there_is_no_fast_accumulation(candidate: Candidate) -> Finding | None:
    """fp8 sums need no promotion here, so there is no fast form."""
    if not candidate.fast_accum:
        return None
    return Finding(
        f"schedule {candidate.schedule} has no fast fp8 form on {candidate.arch}",
        "setter:schedule:0",
        Fix("setter:schedule:0", str(candidate.schedule), f"use {candidate.schedule}"),
    )


@rule(
    "UC0503",
    "tile",
    source="sm120_builder.inl: epilogue tile 64x32; sm120_mma_builder.inl: 4x2 or 2x2 warps of 16x8x32",
)
def tile_is_whole_warps(candidate: Candidate) -> Finding | None:
    """m is 64 or 128, n a multiple of 32, k a multiple of 32."""
    assert candidate.tile is not None
    m, n, k = candidate.tile
    if m not in TILE_M:
        return Finding(
            f"tile m = {m}: kernels for {candidate.arch} have 64 or 128 rows",
            "setter:tile:0",
            tile_fix(0, nearest(m, TILE_M)),
        )
    for index, value, step in ((1, n, STEP_N), (2, k, STEP_K)):
        if not 0 < value <= MAX_EXTENT or value % step:
            return Finding(
                f"tile {'mnk'[index]} = {value}: it is a multiple of {step}, at most {MAX_EXTENT}",
                f"setter:tile:{index}",
                tile_fix(index, min(MAX_EXTENT, max(step, round(value / step) * step))),
            )
    return None


@rule("UC0510", "schedule", "tile", source="255 registers a thread; 8 warps share a tile, 4 with pingpong")
def accumulators_fit_the_registers(candidate: Candidate) -> Finding | None:
    """A thread's accumulators are fewer than 256 registers."""
    assert candidate.tile is not None
    m, n, _ = candidate.tile
    threads = 128 if candidate.schedule == "pingpong" else 256
    count = accumulator_registers(m, n, threads, candidate.problem.accumulator.bits)
    if count <= MAX_REGISTERS:
        return None
    return Finding(
        f"tile {m}x{n} takes {m} * {n} / {threads} = {count} accumulator registers a thread with schedule"
        f" {candidate.schedule}:"
        " fewer than 256 fit",
        "setter:tile",
    )


@rule("UC0505", "cluster", source='sm120_mma_builder.inl: "no programmatic multicast on this arch"')
def there_is_no_cluster(candidate: Candidate) -> Finding | None:
    """There is no multicast, so clusters are 1x1x1."""
    return no_cluster(candidate, f"{candidate.arch} has no multicast between thread blocks", "UC0505")


@lru_cache(4096)
def _storage(tile: tuple[int, int], spec: EpilogueSpec, d: Operand) -> EpilogueStorage:
    return sm120_epilogue_storage(tile, spec, d)


def epilogue_storage(candidate: Candidate) -> EpilogueStorage:
    assert candidate.tile is not None
    return _storage(candidate.tile[:2], candidate.epilogue_spec, candidate.problem.d)


def stage_bytes(candidate: Candidate) -> int:
    assert candidate.tile is not None
    problem = candidate.problem
    return operand_stage_bytes(candidate.tile, problem.a.element.bits, problem.b.element.bits)


def total_bytes(candidate: Candidate, stages: int) -> int:
    return sm120_total(epilogue_storage(candidate), stages, stage_bytes(candidate))


def most_stages(candidate: Candidate) -> int:
    """The largest number of stages that fits."""
    fits = max(0, (candidate.arch.shared_memory - total_bytes(candidate, 0)) // stage_bytes(candidate))
    return int(fits)


def auto_stages(candidate: Candidate) -> int:
    computed = sm100_auto_stages(
        candidate.arch.shared_memory, epilogue_storage(candidate).storage_bytes, stage_bytes(candidate)
    )
    return min(computed, most_stages(candidate))


@rule("UC0506", "schedule", "epilogue", "tile", "stages", source='kernel body: shared memory capacity; "Stages >= 2"')
def stages_fit_the_shared_memory(candidate: Candidate) -> Finding | None:
    """All stages, the epilogue's tiles and the barriers fit into the shared memory of a thread block."""
    assert candidate.tile is not None and candidate.stages is not None
    most, stages, limit = most_stages(candidate), candidate.stages, candidate.arch.shared_memory
    if 2 <= stages <= most or (candidate.pinned.stages is not None and stages < 2):
        return None
    stages = max(stages, 2)
    message = (
        f"tile {shape(candidate.tile)} with {stages} stages of {stage_bytes(candidate)} bytes and the epilogue takes"
        f" {total_bytes(candidate, stages)} bytes of shared memory, more than the {limit} of a thread block on"
        f" {candidate.arch}"
    )
    if most < 2:
        return Finding(f"{message}: not even two stages fit", "setter:tile")
    return Finding(
        f"{message}: at most {most} stages fit",
        "setter:stages:0",
        Fix("setter:stages:0", str(most), f"use {most}"),
    )


SM120_RULES = (
    gemm_is_not_grouped,
    operands_have_k_contiguous,
    epilogue_is_tma,
    there_is_no_fast_accumulation,
    tile_is_whole_warps,
    accumulators_fit_the_registers,
    there_is_no_cluster,
    stages_fit_the_shared_memory,
)
