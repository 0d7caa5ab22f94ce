"""Rules of the sm_90a kernels about the tile of a thread block.

Imports only the standard library and the values of `ucutlass.targets`. Paths in sources are relative to CUTLASS's
`include/cutlass`; a "kernel body" condition is seen by the compiler only when the device code is instantiated.
"""

from ucutlass.targets.rules.core import Candidate, Finding, Fix, rule
from ucutlass.targets.rules.sm90_facts import (
    MAX_EXTENT,
    MIXED_MIN_K,
    TILE_M,
    atom_n,
    copy_layout,
    swizzle_parity,
    swizzle_row,
)
from ucutlass.targets.rules.text import nearest, operand_name, tile_fix
from ucutlass.targets.rules.types import MMA_K, kind_of
from ucutlass.targets.stage_arithmetic import CPASYNC_SCHEDULES, epilogue_tile


@rule(
    "UC0503",
    "schedule",
    "tile",
    source="sm90_gmma_builder.inl: 64-row instructions; kernel body: cooperative TileShape M >= 128, split over 2"
    " warpgroups",
)
def tile_m_fits_the_warpgroups(candidate: Candidate) -> Finding | None:
    """Tile m is a multiple of 64; of 128 when two warpgroups share it."""
    schedule, tile = candidate.schedule, candidate.tile
    assert schedule is not None and tile is not None
    if tile[0] in TILE_M[schedule]:
        return None
    legal = TILE_M[schedule if candidate.pinned.schedule is not None or tile[0] % 64 == 0 else "pingpong"]
    best = nearest(tile[0], legal)
    if tile[0] > MAX_EXTENT:
        why = f"no kernel is built with more than {MAX_EXTENT} rows"
    elif tile[0] % 64:
        why = "a warpgroup instruction computes 64 rows"
    else:
        why = f"the two warpgroups of schedule {schedule} share the rows, 64 at a time each"
    return Finding(
        f"tile m = {tile[0]}: {why}; m is {' or '.join(map(str, legal))}", "setter:tile:0", tile_fix(0, best)
    )


@rule(
    "UC0503",
    "tile",
    source="sm90_gmma_builder.inl: instructions are multiples of 8 wide; upstream's generator: at most 256",
)
def tile_n_is_a_multiple_of_8(candidate: Candidate) -> Finding | None:
    """Tile n is a multiple of 8, at most 256."""
    assert candidate.tile is not None
    n = candidate.tile[1]
    if 0 < n <= MAX_EXTENT and n % 8 == 0:
        return None
    best = min(MAX_EXTENT, max(16, round(n / 16) * 16))
    return Finding(
        f"tile n = {n}: n is a multiple of 8 (the instructions' widths) and at most {MAX_EXTENT}",
        "setter:tile:1",
        tile_fix(1, best),
    )


@rule(
    "UC0503",
    "tile",
    source="sm90_gmma_builder.inl: k of one instruction is 32 bytes; RS collectives: at least four instructions",
)
def tile_k_is_whole_instructions(candidate: Candidate) -> Finding | None:
    """Tile k is a multiple of the instruction's k, at most 256; mixed gemms need four instructions."""
    assert candidate.tile is not None
    problem, k = candidate.problem, candidate.tile[2]
    kind = kind_of(problem)
    step = MMA_K.get(kind, 16)
    if kind == "mixed" and k < MIXED_MIN_K:
        return Finding(
            f"tile k = {k}: converting the narrow operand needs four instructions of k = 16 to overlap, so k >="
            f" {MIXED_MIN_K}",
            "setter:tile:2",
            tile_fix(2, MIXED_MIN_K),
        )
    if 0 < k <= MAX_EXTENT and k % step == 0:
        return None
    best = min(MAX_EXTENT, max(step, round(k / step) * step))
    return Finding(
        f"tile k = {k}: one instruction takes k = {step} of {problem.a.element}, so k is a multiple of {step}, at most"
        f" {MAX_EXTENT}",
        "setter:tile:2",
        tile_fix(2, best),
    )


@rule(
    "UC0503",
    "tile",
    source="transform/collective/sm90_wgmma_transpose.hpp: SmemLayoutB K must be 128 bytes, copy size divides the tile",
)
def transposed_b_fills_the_swizzle(candidate: Candidate) -> Finding | None:
    """Where B is transposed in shared memory, tile k is exactly 128 bytes and divides tile n."""
    assert candidate.tile is not None
    problem, tile = candidate.problem, candidate.tile
    if problem.is_mixed or problem.a.element.bits == 16 or (problem.a.major, problem.b.major) != ("mn", "mn"):
        return None
    k = 1024 // problem.b.element.bits
    if tile[2] != k:
        return Finding(
            f"tile k = {tile[2]}: {problem.b.element} with n contiguous is transposed in shared memory in lines of 128"
            f" bytes, so k = {k}",
            "setter:tile:2",
            tile_fix(2, k),
        )
    if tile[1] % k:
        return Finding(
            f"tile n = {tile[1]}: {problem.b.element} with n contiguous is transposed in squares of {k} by {k}, so n is"
            " a"
            f" multiple of {k}",
            "setter:tile:1",
            tile_fix(1, max(k, round(tile[1] / k) * k)),
        )
    return None


@rule("UC0503", "tile", source='cute/layout.hpp: "Stride Divisibility" when the swizzled B tile is sliced by stage')
def b_tile_is_whole_swizzles(candidate: Candidate) -> Finding | None:
    """With k contiguous, B's tile is a whole number of swizzle patterns or a whole part of one."""
    problem, tile = candidate.problem, candidate.tile
    assert tile is not None
    if problem.b.major != "k" or tile[1] % 8:
        return None
    bits = problem.b.element.bits
    if swizzle_parity(tile[1], tile[2], bits) is not None:
        return None
    width, pattern = swizzle_row(tile[2], bits)
    step = pattern // width
    best = min(MAX_EXTENT, max(step, round(tile[1] / step) * step))
    return Finding(
        f"tile n = {tile[1]}: {problem.b.element} with k contiguous is swizzled in blocks of {step} rows of {width}"
        " elements"
        f" (tile k = {tile[2]}), so n is a multiple of {step}",
        "setter:tile:1",
        tile_fix(1, best),
    )


@rule(
    "UC0507",
    "tile",
    "stages",
    source='cute/layout.hpp: "Stride Divisibility" when the swizzled B tile is sliced by stage',
)
def stages_are_whole_swizzles(candidate: Candidate) -> Finding | None:
    """Where a stage of B is a part of a swizzle pattern, the stages together are whole patterns."""
    problem, tile, stages = candidate.problem, candidate.tile, candidate.stages
    assert tile is not None and stages is not None
    if problem.b.major != "k" or tile[1] % 8:
        return None
    parity = swizzle_parity(tile[1], tile[2], problem.b.element.bits)
    if parity is None or stages % parity == 0:
        return None
    return Finding(
        f"{stages} stages of n = {tile[1]} rows are not whole swizzle patterns of B: the stages must be a multiple of"
        f" {parity}",
        "setter:stages:0",
        Fix(
            "setter:stages:0",
            str(max(parity, stages // parity * parity)),
            f"use {max(parity, stages // parity * parity)}",
        ),
    )


@rule(
    "UC0503",
    "schedule",
    "epilogue",
    "tile",
    source='epilogue/collective/sm90_epilogue_tma_warpspecialized.hpp: "Fragment size does not vectorize properly"'
    " (kernel body)",
)
def epilogue_tile_is_whole_instructions(candidate: Candidate) -> Finding | None:
    """A step of the TMA epilogue stays within one instruction's columns."""
    schedule, tile = candidate.schedule, candidate.tile
    assert schedule is not None and tile is not None
    if candidate.epilogue != "tma" or tile[1] % 8:
        return None
    n = tile[1]
    step = epilogue_tile(schedule, tile[0], n, candidate.problem.d.element.bits)[1]
    if atom_n(n) % step == 0:
        return None
    best = nearest(n, [v for v in (16, 32, 40, 48) if v != n])
    return Finding(
        f"tile n = {n}: a TMA epilogue stores {step} columns at a time, and the tile is made of instructions"
        f" {atom_n(n)}"
        " columns wide, which are not whole steps",
        "setter:tile:1",
        tile_fix(1, best),
    )


def cpasync_alignment(candidate: Candidate, which: str) -> int | None:
    """The widest copies of A or B that the threads can be laid over evenly; None where there are none.

    A set alignment is taken as it is; else narrower copies are tried, because they spread over more threads.
    """
    tile, operand, widest = candidate.tile, candidate.operand(which), candidate.alignment_of(which)
    assert tile is not None and operand is not None and widest is not None
    rows = tile["ab".index(which)]
    threads = 256 if candidate.schedule == "cpasync" else 128
    pinned: int | None = getattr(candidate.pinned.alignment, which)
    alignment = widest
    while alignment * operand.element.bits >= 32:
        if copy_layout(tile[2], rows, alignment, threads, operand.major == "k")[2]:
            return alignment
        if pinned is not None:
            return None
        alignment //= 2
    return None


@rule("UC0503", "schedule", "tile", source="gemm/collective/builders/sm90_common.inl: make_simt_gmem_tiled_copy")
def cpasync_threads_cover_the_tile(candidate: Candidate) -> Finding | None:
    """The threads that copy by cp.async cover an operand's tile evenly."""
    schedule, tile = candidate.schedule, candidate.tile
    assert tile is not None
    if schedule not in CPASYNC_SCHEDULES:
        return None
    for index, which in enumerate("ab"):
        if cpasync_alignment(candidate, which) is not None:
            continue
        operand, alignment = candidate.operand(which), candidate.alignment_of(which)
        assert operand is not None and alignment is not None
        k_major, threads = operand.major == "k", 256 if schedule == "cpasync" else 128
        along, across, _ = copy_layout(tile[2], tile[index], alignment, threads, k_major)
        part = index if k_major else 2
        return Finding(
            f"tile {'mnk'[part]} = {tile[part]}: {threads} threads copy {operand_name(candidate, which)} in {along} x"
            f" {across}"
            f" pieces of {alignment} elements, which do not cover the tile evenly",
            f"setter:tile:{part}",
        )
    return None
