"""Rules of the sm_90a collective builders: warpgroup matrix instructions, fed by TMA or cp.async.

Imports only the standard library and the values of `ucutlass.targets`. Here are registers, stages, clusters and tile
schedulers, and the table of all rules of the family.
"""

from ucutlass.targets.rules import sm90_operands, sm90_tile
from ucutlass.targets.rules.common import grid_limit, no_cluster
from ucutlass.targets.rules.core import Candidate, Finding, Fix, rule
from ucutlass.targets.rules.sm90_facts import (
    BASE_SCHEDULES,
    CLEAN_REGISTERS,
    MAX_PROMOTED_REGISTERS,
    MAX_REGISTERS,
    NON_PERSISTENT,
    STREAM_K_SCHEDULES,
    math_threads,
)
from ucutlass.targets.rules.text import shape, tile_fix
from ucutlass.targets.rules.types import kind_of
from ucutlass.targets.stage_arithmetic import CPASYNC_SCHEDULES, accumulator_registers, ceil_div


def is_promoted(candidate: Candidate) -> bool:
    """Whether fp8 sums are promoted to a second set of accumulators."""
    return kind_of(candidate.problem) == "fp8" and not candidate.fast_accum and candidate.schedule in BASE_SCHEDULES


def registers(candidate: Candidate) -> int:
    """Accumulator registers a thread, one set."""
    assert candidate.tile is not None and candidate.schedule is not None
    m, n, _ = candidate.tile
    return accumulator_registers(m, n, math_threads(candidate.schedule, m), candidate.problem.accumulator.bits)


@rule(
    "UC0510",
    "schedule",
    "fast_accum",
    "tile",
    source="255 registers a thread; measured: 256 accumulators spill 4.7 KB, promoted fp8 above 128 more",
)
def accumulators_fit_the_registers(candidate: Candidate) -> Finding | None:
    """A thread's accumulators are fewer than 256 registers; promoted fp8 sums, kept twice, at most 128."""
    count = registers(candidate)
    promoted = is_promoted(candidate)
    if count <= (MAX_PROMOTED_REGISTERS if promoted else MAX_REGISTERS):
        return None
    assert candidate.tile is not None and candidate.schedule is not None
    m, n, _ = candidate.tile
    threads = math_threads(candidate.schedule, m)
    bound = f"at most {MAX_PROMOTED_REGISTERS} of promoted fp8 sums, kept twice" if promoted else "fewer than 256"
    words = candidate.problem.accumulator.bits // 32
    size = f"{m} * {n}" + (f" / {32 // candidate.problem.accumulator.bits}" if words == 0 else "")
    largest = next(
        (
            v
            for v in range(n - 8, 7, -8)
            if accumulator_registers(m, v, threads, candidate.problem.accumulator.bits)
            <= (MAX_PROMOTED_REGISTERS if promoted else CLEAN_REGISTERS)
            and v % 16 == 0
        ),
        0,
    )
    return Finding(
        f"tile {m}x{n} takes {size} / {threads} = {count} accumulator registers a thread with schedule"
        f" {candidate.schedule}:"
        f" {bound} fit beside everything else",
        "setter:tile",
        tile_fix(1, largest) if largest else None,
    )


@rule(
    "UC0507", "stages", source='DispatchPolicy::Stages >= 2 ("Specialization requires Stages set to value 2 or more")'
)
def stages_are_at_least_two(candidate: Candidate) -> Finding | None:
    """A pipeline has at least two stages."""
    if candidate.pinned.stages is None or candidate.pinned.stages >= 2:
        return None
    return Finding(
        f"{candidate.pinned.stages} stage{'' if candidate.pinned.stages == 1 else 's'}: loading overlaps with computing"
        " from 2 stages on",
        "setter:stages:0",
        Fix("setter:stages:0", "2", "use 2"),
    )


@rule("UC0505", "schedule", "cluster", source="upstream's generator builds cp.async kernels with 1x1x1 only")
def cpasync_has_no_cluster(candidate: Candidate) -> Finding | None:
    """cp.async has no multicast."""
    if candidate.schedule not in CPASYNC_SCHEDULES:
        return None
    return no_cluster(
        candidate, f"cp.async ({candidate.schedule}) loads for one thread block, without multicast", "UC0505"
    )


@rule(
    "UC0512",
    "schedule",
    "scheduler",
    source='gemm/kernel/sm90_gemm_*.hpp: "does not currently support stream-K scheduler"',
)
def stream_k_needs_cooperation(candidate: Candidate) -> Finding | None:
    """Stream-k needs a cooperative schedule and ungrouped gemms."""
    if candidate.scheduler != "stream_k":
        return None
    if candidate.problem.grouping is not None:
        return Finding(
            "stream_k does not go with a group of gemms: the group scheduler walks whole tiles",
            "setter:scheduler:0",
            Fix("setter:scheduler:0", "persistent", "use persistent"),
        )
    if candidate.schedule in STREAM_K_SCHEDULES:
        return None
    return Finding(
        f"schedule {candidate.schedule} computes whole tiles: stream_k goes with {' and '.join(STREAM_K_SCHEDULES)}",
        "setter:scheduler:0",
        Fix("setter:scheduler:0", "persistent", "use persistent"),
    )


@rule(
    "UC0513",
    "schedule",
    "split_k",
    source="gemm/kernel/tile_scheduler.hpp: slices are a mode of the stream-k scheduler",
)
def slices_need_cooperation(candidate: Candidate) -> Finding | None:
    """Slices of the reduction are scheduled by the stream-k scheduler, which needs a cooperative schedule."""
    if candidate.split_k in (None, 1) or candidate.schedule in STREAM_K_SCHEDULES:
        return None
    return Finding(
        f"schedule {candidate.schedule} computes whole reductions: split_k({candidate.split_k}) goes with"
        f" {' and '.join(STREAM_K_SCHEDULES)}",
        "setter:split_k",
        Fix("setter:schedule:0", "cooperative", "use cooperative"),
    )


@rule(
    "UC0516",
    "schedule",
    "tile",
    source="cuda: grid y and z are at most 65535; non-persistent kernels launch a block for each tile",
)
def grid_fits(candidate: Candidate) -> Finding | None:
    """Kernels that are not persistent launch at most 65535 blocks along n and over the batch."""
    problem, tile = candidate.problem, candidate.tile
    assert tile is not None
    if candidate.schedule not in NON_PERSISTENT:
        return None
    if problem.n is not None:
        finding = grid_limit(candidate, ceil_div(problem.n, tile[1]), problem.dim_name("n"))
        if finding is not None:
            return finding
    return grid_limit(candidate, problem.batch, "the batch")


@rule("UC0519", "warps", "instruction", source="the collective builders choose warps and instructions themselves")
def warps_are_not_set(candidate: Candidate) -> Finding | None:
    """Warp tiles and instructions are set for the sm_80 family only."""
    return warps_and_instruction_are_absent(candidate)


def warps_and_instruction_are_absent(candidate: Candidate) -> Finding | None:
    for setter in ("warps", "instruction"):
        value: tuple[int, int, int] | None = getattr(candidate.pinned, setter)
        if value is not None:
            return Finding(
                f"{setter} {shape(value)} is for kernels of the sm_80 family (schedule multistage); these kernels"
                " divide a"
                " tile among warps by themselves",
                f"setter:{setter}",
                Fix(f"setter:{setter}", "", f"remove .with_{setter}"),
            )
    return None


@rule(
    "UC0510",
    "schedule",
    "fast_accum",
    "tile",
    severity="warning",
    source="measured: above 192 accumulators, or 128 with a heavy epilogue, registers spill",
)
def accumulators_may_spill(candidate: Candidate) -> Finding | None:
    """Few registers are left beside the accumulators."""
    count = registers(candidate)
    promoted = is_promoted(candidate)
    clean = 64 if promoted else 128 if candidate.epilogue_spec.is_heavy else CLEAN_REGISTERS
    if count <= clean:
        return None
    return Finding(
        f"{count} accumulator registers a thread{', kept twice for promotion,' if promoted else ''} may spill: up to"
        f" {clean} do not",
        "setter:tile",
    )


SM90_RULES = (
    sm90_operands.operands_are_laid_out_for_wgmma,
    sm90_operands.schedule_takes_the_operands,
    sm90_operands.operands_suit_the_loads,
    sm90_operands.fast_accumulation_is_for_fp8,
    sm90_operands.epilogue_goes_with_the_schedule,
    sm90_operands.fused_operations_need_tma,
    sm90_operands.groups_fuse_no_matrices,
    sm90_operands.results_suit_tma_stores,
    sm90_operands.alignment_suits_the_loads,
    sm90_operands.alignment_suits_tma_stores,
    sm90_tile.tile_m_fits_the_warpgroups,
    sm90_tile.tile_n_is_a_multiple_of_8,
    sm90_tile.tile_k_is_whole_instructions,
    sm90_tile.transposed_b_fills_the_swizzle,
    sm90_tile.b_tile_is_whole_swizzles,
    sm90_tile.epilogue_tile_is_whole_instructions,
    sm90_tile.cpasync_threads_cover_the_tile,
    accumulators_fit_the_registers,
    grid_fits,
    warps_are_not_set,
    stages_are_at_least_two,
    sm90_tile.stages_are_whole_swizzles,
    cpasync_has_no_cluster,
    stream_k_needs_cooperation,
    slices_need_cooperation,
    accumulators_may_spill,
)
