"""Rules that hold for every family: alignment against the problem, clusters, split-k, extents.

Imports only the standard library and the values of `ucutlass.targets`.
"""

import math

from ucutlass.targets.gpu import load_gpu
from ucutlass.targets.rules.core import Candidate, Finding, Fix, rule
from ucutlass.targets.rules.text import (
    alignment_help,
    bytes_text,
    contiguous,
    contiguous_dim,
    needed_elements,
    operand_name,
    operand_part,
    shape,
    shape_fix,
)
from ucutlass.targets.stage_arithmetic import ceil_div

MAX_CLUSTER = 8
INT_LIMIT = 2**31
GRID_YZ_LIMIT = 65535


@rule("UC0504", "alignment", source="cutlass/array.h: AlignedArray; the widest access is 16 bytes")
def alignment_is_an_access(candidate: Candidate) -> Finding | None:
    """A set alignment is a power of two and at most 16 bytes."""
    for which in "abcd":
        elements: int | None = getattr(candidate.pinned.alignment, which)
        operand = candidate.operand(which)
        if elements is None or operand is None:
            continue
        most = needed_elements(operand)
        if elements & (elements - 1) or elements > most:
            return Finding(
                f"alignment {which}={elements} of {operand.element} is"
                f" {bytes_text(elements * operand.element.bits / 8)}:"
                f" an access moves a power of two of elements and at most 16 bytes, {most} elements",
                f"setter:alignment:{which}",
                Fix(f"setter:alignment:{which}", str(most), f"use {which}={most}"),
            )
    return None


@rule("UC0504", "alignment", source="can_implement and kErrorMisalignedOperand: extent of the contiguous mode")
def alignment_divides_the_extent(candidate: Candidate) -> Finding | None:
    """A set alignment divides the contiguous extent and the strides of its operand."""
    for which in "abcd":
        elements: int | None = getattr(candidate.pinned.alignment, which)
        operand = candidate.operand(which)
        if elements is None or operand is None or operand.alignment % elements == 0:
            continue
        fix, notes = alignment_help(candidate, which, elements, operand)
        dynamic = fix is not None
        fix = fix or _possible_alignment(candidate)
        return Finding(
            f"alignment {which}={elements} needs lines that are multiples of"
            f" {bytes_text(elements * operand.element.bits / 8)}, but {contiguous(candidate, which, operand)}: the"
            " largest"
            f" alignment of {operand_name(candidate, which)} is {operand.alignment}",
            f"setter:alignment:{which}",
            fix,
            notes,
            code="UC0517" if dynamic else None,
        )
    return None


def _possible_alignment(candidate: Candidate) -> Fix:
    """The alignments that are set, each lowered to what its operand allows."""
    lowered: dict[str, int] = {}
    changed: list[str] = []
    for which in "abcd":
        elements: int | None = getattr(candidate.pinned.alignment, which)
        operand = candidate.operand(which)
        if elements is None:
            continue
        lowered[which] = elements if operand is None else math.gcd(elements, operand.alignment)
        if lowered[which] != elements:
            changed.append(which)
    text = ", ".join(f"{which}={elements}" for which, elements in lowered.items())
    if len(changed) == 1:
        which = changed[0]
        return Fix(f"setter:alignment:{which}", str(lowered[which]), f"use {which}={lowered[which]}")
    return Fix("setter:alignment", f".with_alignment({text})", f"use {text}")


@rule("UC0505", "cluster", source="cluster launch: cudaErrorInvalidClusterSize; CUTLASS instantiates powers of two")
def cluster_is_portable(candidate: Candidate) -> Finding | None:
    """A cluster's extents are powers of two, it has at most 8 thread blocks, and its k extent is 1."""
    cluster = candidate.cluster
    assert cluster is not None
    m, n, k = cluster
    if k != 1:
        return Finding(
            f"cluster {shape(cluster)} has k extent {k}: a cluster spans output tiles, the grid is one deep along k",
            "setter:cluster:2",
            shape_fix("cluster", (m, n, 1)),
        )
    for index, extent in enumerate((m, n)):
        if extent & (extent - 1):
            smaller = 1 << (extent.bit_length() - 1)
            legal = (smaller, n, 1) if index == 0 else (m, smaller, 1)
            return Finding(
                f"cluster extent {'mn'[index]} = {extent} is not a power of two: multicast cuts a tile into equal"
                " parts",
                f"setter:cluster:{index}",
                shape_fix("cluster", legal),
            )
    if m * n > MAX_CLUSTER:
        legal = (
            min(m, MAX_CLUSTER),
            max(1, MAX_CLUSTER // min(m, MAX_CLUSTER)) if m >= n else min(n, MAX_CLUSTER // m),
            1,
        )
        return Finding(
            f"cluster {m}x{n} has {m * n} thread blocks: at most {MAX_CLUSTER} can be launched on every chip",
            "setter:cluster",
            shape_fix("cluster", legal),
        )
    return None


def no_cluster(candidate: Candidate, why: str, code: str) -> Finding | None:
    """For kernels whose thread blocks do not cooperate: only 1x1x1."""
    cluster = candidate.cluster
    assert cluster is not None
    if cluster == (1, 1, 1):
        return None
    return Finding(
        f"cluster {shape(cluster)} is not possible: {why}",
        "setter:cluster",
        shape_fix("cluster", (1, 1, 1)),
        code=code,
    )


@rule("UC0405", "scheduler", "split_k", source="gemm/kernel/sm90_tile_scheduler_stream_k.hpp: can_implement")
def split_is_not_with_stream_k(candidate: Candidate) -> Finding | None:
    """Stream-k divides the reduction by itself, so no number of slices goes with it."""
    if candidate.scheduler != "stream_k" or candidate.split_k in (None, 1):
        return None
    return Finding(
        f"stream_k divides the reduction by itself; it does not go with split_k({candidate.split_k})",
        "setter:split_k",
        Fix("setter:split_k", "", "remove .with_split_k"),
    )


@rule("UC0513", "tile", "split_k", source="gemm/kernel/tile_scheduler_params.h: adjust_split_count")
def slices_are_whole_k_tiles(candidate: Candidate) -> Finding | None:
    """Every slice of the reduction holds at least one k tile; CUTLASS would take fewer slices without a word."""
    problem, tile, slices = candidate.problem, candidate.tile, candidate.split_k
    assert tile is not None and slices is not None
    if problem.k is None or slices == 1:
        return None
    k_tiles = max(1, ceil_div(problem.k, tile[2]))
    if slices <= k_tiles:
        return None
    return Finding(
        f"split_k({slices}) has more slices than there are k tiles: {problem.dim_name('k')} = {problem.k} is {k_tiles}"
        f" tile{'' if k_tiles == 1 else 's'} of k = {tile[2]}",
        "setter:split_k:0",
        Fix("setter:split_k:0", str(k_tiles), f"use {k_tiles}"),
    )


@rule(
    "UC0513",
    "split_k",
    source="gemm/kernel/tile_scheduler_params.h: adjust_split_count; partial sums keep the accumulator's type",
)
def slices_are_summed_in_f32(candidate: Candidate) -> Finding | None:
    """The slices are summed in f32, and no more of them exist than multiprocessors."""
    slices = candidate.split_k
    problem = candidate.problem
    if slices is None or slices == 1:
        return None
    if problem.accumulator.name == "f16":
        return Finding(
            f"split_k({slices}) sums the slices in the accumulator's type, which is f16 here: the language sums them in"
            " f32",
            "setter:split_k:0",
            Fix("setter:acc:0", "f32", "use f32 sums"),
        )
    if problem.grouping is not None:
        return Finding(
            f"split_k({slices}) is not possible for a grouped gemm: its scheduler walks whole tiles",
            "setter:split_k",
            Fix("setter:split_k", "", "remove .with_split_k"),
        )
    if candidate.conv is not None and candidate.family != "sm80_2x":
        return Finding(
            f"split_k({slices}) is not possible for this convolution kernel: it has no scheduler that splits a"
            " reduction",
            "setter:split_k",
            Fix("setter:split_k", "", "remove .with_split_k"),
        )
    if candidate.family == "sm80_2x":
        return None
    most = load_gpu(candidate.arch.default_gpu).sm_count
    if slices <= most:
        return None
    return Finding(
        f"split_k({slices}) has more slices than multiprocessors: the scheduler takes at most one a multiprocessor,"
        f" {most}",
        "setter:split_k:0",
        Fix("setter:split_k:0", str(most), f"use {most}"),
    )


@rule("UC0516", source="ProblemShape and GemmCoord hold int")
def extents_are_ints(candidate: Candidate) -> Finding | None:
    """Every extent is below 2^31."""
    problem = candidate.problem
    for dim in "mnk":
        size = problem.size(dim)
        if size is not None and size >= INT_LIMIT:
            return Finding(
                f"{problem.dim_name(dim)} = {size} does not fit in 31 bits, which is what CUTLASS counts extents in",
                "name",
            )
    return None


def grid_limit(candidate: Candidate, tiles: int | None, what: str) -> Finding | None:
    """The second and third extent of a grid are 16-bit numbers."""
    if tiles is None or tiles <= GRID_YZ_LIMIT:
        return None
    return Finding(
        f"the grid would be {tiles} thread blocks along {what}: a grid takes at most {GRID_YZ_LIMIT} there; a"
        " persistent"
        " schedule has no such bound",
        "setter:schedule:0",
        code="UC0516",
    )


def provides(candidate: Candidate, which: str, bits: int) -> bool:
    """Whether an operand's extents and strides allow accesses of so many bits."""
    operand = candidate.operand(which)
    return operand is None or operand.alignment * operand.element.bits % bits == 0


def needs_access(candidate: Candidate, which: str, bits: int, who: str, part: str) -> Finding | None:
    """The finding when an operand does not allow accesses of so many bits."""
    if provides(candidate, which, bits):
        return None
    operand = candidate.operand(which)
    assert operand is not None
    needed = needed_elements(operand, bits)
    fix, notes = alignment_help(candidate, which, needed, operand)
    dim = contiguous_dim(candidate.problem, which, operand)
    return Finding(
        f"{who} moves lines of multiples of {bits // 8} bytes, but {contiguous(candidate, which, operand)}:"
        f" {candidate.problem.dim_name(dim)} must be a multiple of {needed}",
        part if fix is None or candidate.pinned.schedule is not None else operand_part(candidate, which),
        fix,
        notes,
        code="UC0517" if fix is not None else "UC0504",
    )


COMMON_RULES = (
    alignment_is_an_access,
    alignment_divides_the_extent,
    split_is_not_with_stream_k,
    slices_are_whole_k_tiles,
    slices_are_summed_in_f32,
    extents_are_ints,
)
