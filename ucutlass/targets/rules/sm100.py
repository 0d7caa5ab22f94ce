"""Rules of the sm_100a collective builders: tensor-memory matrix instructions of one multiprocessor or a pair.

Imports only the standard library and the values of `ucutlass.targets`. The tile is that of the matrix instruction: with
`two_sm` it is shared by the two thread blocks of a pair, each of which has half of its rows.
"""

from functools import lru_cache

from ucutlass.targets.problem import EpilogueSpec, Operand
from ucutlass.targets.rules.common import needs_access
from ucutlass.targets.rules.core import Candidate, Finding, Fix, rule
from ucutlass.targets.rules.sm90_facts import MAX_EXTENT, swizzle_parity, swizzle_row
from ucutlass.targets.rules.text import bytes_text, nearest, shape, shape_fix, tile_fix
from ucutlass.targets.rules.types import MMA_K, kind_of
from ucutlass.targets.stage_arithmetic import (
    SM100_NO_STORAGE,
    EpilogueStorage,
    operand_stage_bytes,
    sm100_auto_stages,
    sm100_epilogue_storage,
    sm100_epilogue_tile,
    sm100_least_n,
    sm100_total,
)

NOSMEM_COLUMNS = 64
"""What the epilogue without shared memory reads from tensor memory at a time."""


def is_pair(candidate: Candidate) -> bool:
    return candidate.schedule == "two_sm"


def cta_tile(candidate: Candidate) -> tuple[int, int]:
    """Tile of one thread block in the epilogue."""
    assert candidate.tile is not None
    m, n, _ = candidate.tile
    return (m // 2 if is_pair(candidate) else m), n


def _operand_rows(candidate: Candidate) -> tuple[int, int]:
    """Rows of A and B that one thread block loads."""
    assert candidate.tile is not None
    m, n, _ = candidate.tile
    return (m // 2, n // 2) if is_pair(candidate) else (m, n)


@rule(
    "UC0508", source="gemm/collective/builders/sm100_umma_builder.inl; grouped kernels are not emitted for this target"
)
def gemm_is_not_grouped(candidate: Candidate) -> Finding | None:
    """Groups of gemms have no kernel here."""
    if candidate.problem.grouping is None:
        return None
    return Finding(f"there is no kernel for a group of gemms on {candidate.arch}", "name")


@rule("UC0504", "schedule", source="sm100_common.inl: sm1xx_gemm_is_aligned, 16 bytes")
def operands_suit_tma(candidate: Candidate) -> Finding | None:
    """TMA moves lines of multiples of 16 bytes."""
    for which in "ab":
        finding = needs_access(candidate, which, 128, f"TMA ({candidate.schedule})", "setter:schedule:0")
        if finding is not None:
            return finding
    return None


@rule("UC0504", "alignment", source="sm100_common.inl: sm1xx_gemm_is_aligned; epilogue is_aligned")
def alignment_suits_tma(candidate: Candidate) -> Finding | None:
    """A set alignment is 16 bytes where TMA moves the operand."""
    moved = "abcd" if candidate.epilogue == "tma" else "ab"
    for which in moved:
        elements: int | None = getattr(candidate.pinned.alignment, which)
        operand = candidate.operand(which)
        if elements is None or operand is None or elements * operand.element.bits % 128 == 0:
            continue
        needed = 128 // operand.element.bits
        return Finding(
            f"alignment {which}={elements} of {operand.element} is {bytes_text(elements * operand.element.bits / 8)}:"
            " TMA moves"
            " 16 bytes at a time",
            f"setter:alignment:{which}",
            Fix(f"setter:alignment:{which}", str(needed), f"use {which}={needed}"),
        )
    return None


@rule("UC0504", "epilogue", source="epilogue/collective/builders/sm100_builder.inl: is_aligned")
def results_suit_tma_stores(candidate: Candidate) -> Finding | None:
    """A TMA epilogue moves lines of multiples of 16 bytes."""
    if candidate.epilogue != "tma":
        return None
    for which in "cd":
        finding = needs_access(candidate, which, 128, "a TMA epilogue", "setter:epilogue:0")
        if finding is not None:
            return finding
    for index, store in enumerate(candidate.epilogue_spec.aux_stores):
        if store.alignment_bytes % 16:
            return Finding(
                f"a TMA store moves lines of multiples of 16 bytes, but stored intermediate {index} ({store.element})"
                " allows"
                f" accesses of {bytes_text(store.alignment_bytes)}",
                "setter:epilogue:0",
            )
    return None


@rule("UC0503", "schedule", "tile", source='sm100_common.inl: "Invalid TileShape_M", "Invalid TileShape_N"')
def tile_is_an_instruction(candidate: Candidate) -> Finding | None:
    """m is 64 or 128, for a pair 128 or 256; n a multiple of 8, for a pair of 16, up to 256; k whole instructions."""
    assert candidate.tile is not None
    m, n, k = candidate.tile
    pair = is_pair(candidate)
    legal_m = (128, 256) if pair else (64, 128)
    if m not in legal_m:
        return Finding(
            f"tile m = {m}: {candidate.schedule} instructions have {legal_m[0]} or {legal_m[1]} rows",
            "setter:tile:0",
            tile_fix(0, nearest(m, legal_m)),
        )
    kind = kind_of(candidate.problem)
    step = 16 if pair else 8
    if kind in ("fp8", "int8") and candidate.problem.b.major == "mn":
        step *= 2
    if not 0 < n <= MAX_EXTENT or n % step:
        return Finding(
            f"tile n = {n}: {candidate.schedule} instructions have a multiple of {step} columns, at most {MAX_EXTENT}",
            "setter:tile:1",
            tile_fix(1, min(MAX_EXTENT, max(step, round(n / step) * step))),
        )
    k_step = MMA_K.get(kind, 16)
    if not 0 < k <= MAX_EXTENT or k % k_step:
        return Finding(
            f"tile k = {k}: one instruction takes k = {k_step} of {candidate.problem.a.element}; k is a multiple, at"
            " most"
            f" {MAX_EXTENT}",
            "setter:tile:2",
            tile_fix(2, min(MAX_EXTENT, max(k_step, round(k / k_step) * k_step))),
        )
    return None


@rule(
    "UC0503", "schedule", "tile", source='sm100_common.inl: sm100_smem_selector; cute/layout.hpp: "Stride Divisibility"'
)
def operand_tiles_are_whole_swizzles(candidate: Candidate) -> Finding | None:
    """An operand's tile in one thread block is a whole number of swizzle patterns."""
    assert candidate.tile is not None
    problem, k = candidate.problem, candidate.tile[2]
    for index, (operand, rows) in enumerate(zip((problem.a, problem.b), _operand_rows(candidate), strict=True)):
        bits = operand.element.bits
        extent = candidate.tile[index]
        if operand.major == "k":
            if swizzle_parity(rows, k, bits) == 1:
                continue
            width, pattern = swizzle_row(k, bits)
            step = pattern // width * (extent // rows)
        elif bits == 32:
            step = 32 * (extent // rows)
        else:
            step = 128 // bits * (extent // rows)
        if extent % step:
            return Finding(
                f"tile {'mn'[index]} = {extent}: {operand.element} is swizzled in blocks of {step} rows of the tile, so"
                f" {'mn'[index]} is a multiple of {step}",
                f"setter:tile:{index}",
                tile_fix(index, min(MAX_EXTENT, max(step, round(extent / step) * step))),
            )
    return None


@rule(
    "UC0503",
    "schedule",
    "epilogue",
    "tile",
    source='epilogue/collective/builders/sm100_builder.inl: "CTA tile too small"; EPI_TILE_N divides CTA_N',
)
def epilogue_divides_the_tile(candidate: Candidate) -> Finding | None:
    """The epilogue's steps divide the tile's columns."""
    assert candidate.tile is not None
    spec, d, n = candidate.epilogue_spec, candidate.problem.d, candidate.tile[1]
    pair = is_pair(candidate)
    if candidate.epilogue == "nosmem":
        least, step = 1, min(NOSMEM_COLUMNS, n)
    else:
        warps_n = 2 if pair and candidate.tile[0] == 128 else 1
        least = max(sm100_least_n(o, warps_n) for o in ((d,) if spec.c is None else (d, spec.c)))
        step = sm100_epilogue_tile(cta_tile(candidate), pair, candidate.tile[0], spec, d)[1]
    if n < least:
        return Finding(
            f"tile n = {n}: the epilogue stores at least {least} columns at a time", "setter:tile:1", tile_fix(1, least)
        )
    if step and n % step:
        return Finding(
            f"tile n = {n}: the epilogue stores {step} columns at a time, so n is a multiple of {step}",
            "setter:tile:1",
            tile_fix(1, max(step, round(n / step) * step)),
        )
    return None


@rule("UC0505", "schedule", "cluster", source='sm100_common.inl: "Cluster shape not divisible by MMA size"')
def pairs_fill_the_cluster(candidate: Candidate) -> Finding | None:
    """With two_sm the cluster's m extent is even."""
    assert candidate.cluster is not None
    if not is_pair(candidate) or candidate.cluster[0] % 2 == 0:
        return None
    m, n, k = candidate.cluster
    return Finding(
        f"cluster {shape(candidate.cluster)}: two_sm pairs thread blocks along m, so the cluster's m extent is even",
        "setter:cluster:0",
        shape_fix("cluster", (m + 1, n, k)),
    )


@lru_cache(4096)
def _storage(tile: tuple[int, int], pair: bool, mma_m: int, spec: EpilogueSpec, d: Operand) -> EpilogueStorage:
    return sm100_epilogue_storage(tile, pair, mma_m, spec, d)


def epilogue_storage(candidate: Candidate) -> EpilogueStorage:
    assert candidate.tile is not None
    if candidate.epilogue == "nosmem":
        return SM100_NO_STORAGE
    return _storage(
        cta_tile(candidate), is_pair(candidate), candidate.tile[0], candidate.epilogue_spec, candidate.problem.d
    )


def stage_bytes(candidate: Candidate) -> int:
    assert candidate.tile is not None
    rows_a, rows_b = _operand_rows(candidate)
    problem = candidate.problem
    return operand_stage_bytes((rows_a, rows_b, candidate.tile[2]), problem.a.element.bits, problem.b.element.bits)


def auto_stages(candidate: Candidate) -> int:
    storage = epilogue_storage(candidate).storage_bytes
    return sm100_auto_stages(candidate.arch.shared_memory, storage, stage_bytes(candidate))


def most_stages(candidate: Candidate) -> int:
    return auto_stages(candidate)


@rule(
    "UC0506",
    "schedule",
    "epilogue",
    "tile",
    "stages",
    source='kernel body: "SMEM usage exceeded capacity"; "Stages >= 2"',
)
def stages_fit_the_shared_memory(candidate: Candidate) -> Finding | None:
    """All stages, the epilogue's tiles and the barriers fit into the shared memory of a thread block."""
    assert candidate.tile is not None and candidate.stages is not None
    most, stages, limit = most_stages(candidate), candidate.stages, candidate.arch.shared_memory
    if 2 <= stages <= most:
        return None
    if candidate.pinned.stages is not None and stages < 2:
        return None
    stages = max(stages, 2)
    total = sm100_total(epilogue_storage(candidate), stages, stage_bytes(candidate))
    message = (
        f"tile {shape(candidate.tile)} with {stages} stages of {stage_bytes(candidate)} bytes and the epilogue takes"
        f" {total} bytes"
        f" of shared memory, more than the {limit} of a thread block on {candidate.arch}"
    )
    if most < 2:
        return Finding(f"{message}: not even two stages fit", "setter:tile")
    return Finding(
        f"{message}: at most {most} stages fit",
        "setter:stages:0",
        Fix("setter:stages:0", str(most), f"use {most}"),
    )


SM100_RULES = (
    gemm_is_not_grouped,
    operands_suit_tma,
    alignment_suits_tma,
    results_suit_tma_stores,
    tile_is_an_instruction,
    operand_tiles_are_whole_swizzles,
    epilogue_divides_the_tile,
    pairs_fill_the_cluster,
    stages_fit_the_shared_memory,
)
