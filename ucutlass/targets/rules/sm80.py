"""Rules of the sm_80 family: `mma.sync` or CUDA cores, fed by cp.async, through CUTLASS's 2.x kernels.

Imports only the standard library and the values of `ucutlass.targets`. The tiles are those that CUTLASS itself builds;
a warp tile that the program sets may be any that divides them.
"""

from ucutlass.targets.problem import Major
from ucutlass.targets.rules.common import grid_limit, no_cluster
from ucutlass.targets.rules.core import Candidate, Finding, Fix, rule
from ucutlass.targets.rules.sm80_tables import (
    CP_ASYNC_BITS,
    MAX_REGISTERS,
    WARP_COUNTS,
    best_alignment,
    has_table,
    instructions,
    is_pipelined,
    most_stages,
    one_stage,
    table,
    total_bytes,
    warp_tile,
)
from ucutlass.targets.rules.text import (
    alignment_help,
    bytes_text,
    contiguous,
    nearest,
    operand_name,
    operand_part,
    shape,
    shape_fix,
    tile_fix,
)
from ucutlass.targets.rules.types import kind_of
from ucutlass.targets.stage_arithmetic import ceil_div


@rule(
    "UC0511",
    "swap_ab",
    source="gemm/threadblock/default_mma_core_sm80.h: layouts of the specializations; 2.x kernels write row-major",
)
def operands_are_laid_out_for_mma(candidate: Candidate) -> Finding | None:
    """Integers and fp8 have k contiguous; C, D and fused matrices are row-major."""
    if not has_table(candidate):
        return None
    problem = candidate.problem
    if not table(candidate).transposed:
        for which in "ab":
            operand = candidate.operand(which)
            if operand is not None and operand.major != "k":
                return Finding(
                    f"mma.sync takes {operand.element} operands only with {problem.dim_name('k')} contiguous, but"
                    f" {contiguous(candidate, which)}",
                    operand_part(candidate, which),
                )
    results: tuple[Major, ...] = (problem.d.major, *(o.major for o in candidate.epilogue_spec.matrices))
    if any(major != "n" for major in results):
        all_columns = all(major == "m" for major in results)
        return Finding(
            "multistage kernels write row-major results and read row-major matrices in the epilogue; here"
            f" {'they are' if all_columns else 'some are'} column-major",
            "result:0",
            Fix("end", ".with_swap_ab()", "swap the operands") if all_columns and not candidate.swap_ab else None,
        )
    return None


@rule(
    "UC0504",
    "alignment",
    source="library generator: alignment_constraints; default_mma.h: cp.async of 4, 8 or 16 bytes",
)
def alignment_is_built(candidate: Candidate) -> Finding | None:
    """A and B are accessed with an alignment that the kind of product is built with."""
    if not has_table(candidate):
        return None
    legal = table(candidate).alignments
    for which in "ab":
        operand = candidate.operand(which)
        assert operand is not None
        pinned: int | None = getattr(candidate.pinned.alignment, which)
        if pinned is not None:
            if pinned in legal:
                continue
            best = nearest(pinned, [v for v in legal if operand.alignment % v == 0] or list(legal))
            return Finding(
                f"alignment {which}={pinned} of {operand.element}: multistage kernels are built with"
                f" {' or '.join(map(str, legal))}",
                f"setter:alignment:{which}",
                Fix(f"setter:alignment:{which}", str(best), f"use {which}={best}"),
            )
        if best_alignment(candidate, which) is None:
            least = legal[-1]
            fix, notes = alignment_help(candidate, which, least, operand)
            return Finding(
                f"multistage kernels access {operand.element} {least} elements at a time, but"
                f" {contiguous(candidate, which)}",
                operand_part(candidate, which),
                fix,
                notes,
                code="UC0517" if fix is not None else None,
            )
    return None


@rule("UC0504", "alignment", source="gemm/kernel/default_gemm.h: the SIMT epilogue takes ElementsPerAccess 1")
def output_alignment_is_built(candidate: Candidate) -> Finding | None:
    """CUDA-core kernels store one element at a time."""
    if not has_table(candidate) or not table(candidate).is_simt:
        return None
    for which in "cd":
        pinned: int | None = getattr(candidate.pinned.alignment, which)
        if pinned not in (None, 1):
            return Finding(
                f"alignment {which}={pinned}: kernels for exact f32 store one element at a time",
                f"setter:alignment:{which}",
                Fix(f"setter:alignment:{which}", "1", f"use {which}=1"),
            )
    return None


@rule("UC0504", "alignment", "tile", source="library generator: C alignment of the 8-bit and 4-bit kernels")
def narrow_results_are_stored_in_halves(candidate: Candidate) -> Finding | None:
    """8-bit results of narrow tiles are stored 8 elements at a time, not 16."""
    tile = candidate.tile
    assert tile is not None
    if kind_of(candidate.problem) not in ("int8", "int4", "fp8") or (tile[1] >= 128 and tile[0] != 32):
        return None
    for which in "cd":
        pinned: int | None = getattr(candidate.pinned.alignment, which)
        if pinned is not None and pinned > 8:
            return Finding(
                f"alignment {which}={pinned}: the epilogue of tile {tile[0]}x{tile[1]} stores at most 8 elements at a"
                " time",
                f"setter:alignment:{which}",
                Fix(f"setter:alignment:{which}", "8", f"use {which}=8"),
            )
    return None


@rule("UC0519", "epilogue", source="2.x kernels have one epilogue, through shared memory")
def epilogue_is_not_set(candidate: Candidate) -> Finding | None:
    """There is one epilogue, so none is chosen."""
    if candidate.pinned.epilogue is None:
        return None
    return Finding(
        f"epilogue {candidate.pinned.epilogue} is for kernels of sm_90a and later: multistage kernels have one"
        " epilogue, which"
        " goes through shared memory",
        "setter:epilogue",
        Fix("setter:epilogue", "", "remove .with_epilogue"),
    )


@rule("UC0522", "fast_accum", source="arch/mma_sm89.h: OpMultiplyAddFastAccum")
def fast_accumulation_is_for_fp8(candidate: Candidate) -> Finding | None:
    """Fast accumulation is for fp8 operands."""
    if not candidate.fast_accum or kind_of(candidate.problem) == "fp8":
        return None
    return Finding(
        f"multistage_fp8_fast skips steps of fp8 sums; the operands are {candidate.problem.a.element}",
        "setter:schedule:0",
        Fix("setter:schedule:0", "multistage", "use multistage"),
    )


@rule("UC0503", "tile", source="library generator: tile descriptions of the SM80 and SM89 kernels")
def tile_is_built(candidate: Candidate) -> Finding | None:
    """The tile is one that CUTLASS builds for the kind of product."""
    if not has_table(candidate):
        return None
    rows, tile = table(candidate), candidate.tile
    assert tile is not None
    m, n, k = tile
    if (m, n) not in rows.tiles:
        best = min(
            rows.tiles, key=lambda t: abs(t[0].bit_length() - m.bit_length()) * 256 + abs(t[0] - m) + abs(t[1] - n)
        )
        legal = ", ".join(shape(t) for t in rows.tiles)
        return Finding(
            f"tile {m}x{n}: multistage kernels for {candidate.problem.a.element} are built with {legal}",
            "setter:tile",
            shape_fix("tile", (*best, k if k in rows.k else rows.k[-1])),
        )
    if k not in rows.k:
        best_k = nearest(k, rows.k)
        return Finding(
            f"tile k = {k}: multistage kernels for {candidate.problem.a.element} are built with k ="
            f" {' or '.join(map(str, rows.k))}",
            "setter:tile:2",
            tile_fix(2, best_k),
        )
    return None


@rule(
    "UC0514",
    "tile",
    "warps",
    source='default_mma_core_sm80.h: "Threadblock-scoped GEMM should be divisible by warp-scoped GEMM size"',
)
def warps_divide_the_tile(candidate: Candidate) -> Finding | None:
    """The warp tile divides the tile into 4 or 8 warps (2 for small tiles that CUTLASS builds so)."""
    tile, warps = candidate.tile, candidate.warps
    assert tile is not None and warps is not None
    default = warp_tile(candidate) if has_table(candidate) else None
    if warps == default:
        return None
    fix = None if default is None else shape_fix("warps", default)
    for index, name in enumerate("mnk"):
        if warps[index] <= 0 or tile[index] % warps[index]:
            return Finding(
                f"warp tile {shape(warps)}: {name} = {warps[index]} does not divide tile {name} = {tile[index]}",
                f"setter:warps:{index}",
                fix,
            )
    count = (tile[0] // warps[0]) * (tile[1] // warps[1]) * (tile[2] // warps[2])
    if count not in WARP_COUNTS:
        return Finding(
            f"tile {shape(tile)} in warp tiles of {shape(warps)} is {count} warps: kernels have 4 or 8",
            "setter:warps",
            fix,
        )
    if warps[2] != tile[2]:
        return Finding(
            f"warp tile k = {warps[2]}: dividing tile k = {tile[2]} among warps needs another epilogue; k = {tile[2]}",
            "setter:warps:2",
            Fix("setter:warps:2", str(tile[2]), f"use k = {tile[2]}"),
        )
    if has_table(candidate) and (table(candidate).is_simt or kind_of(candidate.problem) == "f64"):
        return Finding(
            f"warp tile {shape(warps)}: kernels for {candidate.problem.compute} are built with"
            f" {shape(default) if default else 'one warp tile for each tile'}",
            "setter:warps",
            fix,
        )
    for index, least in ((0, 32), (1, 32)):
        if warps[index] not in (32, 64, 128):
            return Finding(
                f"warp tile {'mn'[index]} = {warps[index]}: a warp loads operands in pieces of {least} rows; 32, 64 or"
                " 128",
                f"setter:warps:{index}",
                fix,
            )
    return None


@rule(
    "UC0514",
    "warps",
    "instruction",
    source='mma_tensor_op_policy.h; "WarpShape k must be a multiple of two instructions"',
)
def instruction_divides_the_warp_tile(candidate: Candidate) -> Finding | None:
    """The instruction exists for the kind of product and divides the warp tile in an even number of k steps."""
    if not has_table(candidate):
        return None
    instruction, warps = candidate.instruction, candidate.warps
    assert instruction is not None and warps is not None
    legal = instructions(candidate)
    if instruction not in legal:
        return Finding(
            f"instruction {shape(instruction)} does not multiply {candidate.problem.a.element} in"
            f" {candidate.problem.compute}: {' or '.join(map(shape, legal))} do{'es' if len(legal) == 1 else ''}",
            "setter:instruction",
            shape_fix("instruction", legal[0]),
        )
    for index, name in enumerate("mnk"):
        if warps[index] % instruction[index]:
            return Finding(
                f"instruction {shape(instruction)}: {name} = {instruction[index]} does not divide warp tile {name} ="
                f" {warps[index]}",
                f"setter:instruction:{index}",
                shape_fix("instruction", legal[0]),
            )
    steps = warps[2] // instruction[2]
    if not table(candidate).is_simt and (steps < 2 or steps % 2):
        return Finding(
            f"warp tile k = {warps[2]} is {steps} step{'' if steps == 1 else 's'} of k = {instruction[2]}: loading"
            " fragments ahead"
            " needs an even number",
            "setter:instruction:2",
            shape_fix("instruction", legal[0]),
        )
    return None


@rule("UC0510", "warps", source="255 registers a thread; 32 threads hold a warp tile's sums")
def accumulators_fit_the_registers(candidate: Candidate) -> Finding | None:
    """A thread's accumulators are fewer than 256 registers."""
    warps = candidate.warps
    assert warps is not None
    count = warps[0] * warps[1] * candidate.problem.accumulator.bits // 32 // 32
    if count <= MAX_REGISTERS:
        return None
    return Finding(
        f"warp tile {warps[0]}x{warps[1]} takes {warps[0]} * {warps[1]} / 32 = {count} accumulator registers a thread:"
        " fewer than"
        " 256 fit beside everything else",
        "setter:warps",
    )


@rule(
    "UC0507",
    "alignment",
    "stages",
    source="default_mma.h: Stages > 2 is the cp.async main loop, 2 the register-staged one",
)
def stages_suit_the_loads(candidate: Candidate) -> Finding | None:
    """There are at least two stages; operands that cp.async cannot copy have exactly two."""
    stages = candidate.pinned.stages
    if stages is None:
        return None
    if stages < 2:
        return Finding(
            f"{stages} stage{'' if stages == 1 else 's'}: loading overlaps with computing from 2 stages on",
            "setter:stages:0",
            Fix("setter:stages:0", "2", "use 2"),
        )
    if stages == 2 or not is_pipelined(candidate):
        return None
    for which in "ab":
        elements, operand = candidate.alignment_of(which), candidate.operand(which)
        assert elements is not None and operand is not None
        if elements * operand.element.bits < CP_ASYNC_BITS:
            return Finding(
                f"{stages} stages are filled by cp.async, which copies 4, 8 or 16 bytes:"
                f" {operand_name(candidate, which)} allows"
                f" {bytes_text(elements * operand.element.bits / 8)}, so there are 2 stages",
                "setter:stages:0",
                Fix("setter:stages:0", "2", "use 2"),
            )
    return None


@rule("UC0506", "tile", "stages", source="gemm/device/gemm_universal_base.h: kErrorInternal above the opt-in limit")
def stages_fit_the_shared_memory(candidate: Candidate) -> Finding | None:
    """All stages fit into the shared memory of a thread block."""
    if not has_table(candidate):
        return None
    stages, tile, limit = candidate.stages, candidate.tile, candidate.arch.shared_memory
    assert stages is not None and tile is not None
    automatic = candidate.pinned.stages is None
    if automatic and stages < 2:
        stages = 2
    total = total_bytes(candidate, stages)
    if total <= limit:
        return None
    most = most_stages(candidate)
    message = (
        f"tile {shape(tile)} with {stages} stages of {one_stage(candidate)} bytes takes {total} bytes of shared memory,"
        " more than"
        f" the {limit} of a thread block on {candidate.arch}"
    )
    if most < 2:
        return Finding(f"{message}: not even two stages fit", "setter:tile")
    return Finding(
        f"{message}: at most {most} stages fit",
        "setter:stages:0",
        Fix("setter:stages:0", str(most), f"use {most}"),
    )


@rule("UC0519", "cluster", source="thread-block clusters exist since sm_90, and 2.x kernels do not use them")
def there_is_no_cluster(candidate: Candidate) -> Finding | None:
    """Multistage kernels have no clusters."""
    if candidate.arch.capability < 90:
        return no_cluster(candidate, f"{candidate.arch} has no thread-block clusters", "UC0519")
    return no_cluster(candidate, "multistage kernels do not use clusters", "UC0505")


@rule("UC0512", "scheduler", source="gemm/kernel: 2.x kernels launch a block for each tile, or stream-k")
def scheduler_exists(candidate: Candidate) -> Finding | None:
    """There is no persistent tile scheduler; stream-k is for ungrouped gemms."""
    pinned = candidate.pinned
    if pinned.scheduler == "persistent":
        return Finding(
            "multistage kernels launch one thread block for each tile: there is no persistent scheduler",
            "setter:scheduler:0",
            Fix("setter:scheduler", "", "remove .with_scheduler"),
        )
    if candidate.scheduler == "stream_k" and (candidate.problem.grouping is not None or candidate.conv is not None):
        what = "convolution" if candidate.conv is not None else "group of gemms"
        return Finding(
            f"there is no stream_k kernel for a {what}",
            "setter:scheduler",
            Fix("setter:scheduler", "", "remove .with_scheduler"),
        )
    return None


@rule("UC0512", "scheduler", "raster", "swizzle", source="gemm/threadblock/threadblock_swizzle.h")
def swizzle_exists(candidate: Candidate) -> Finding | None:
    """Tiles are walked along m with a swizzle, along n without one; stream-k has its own order."""
    pinned = candidate.pinned
    if candidate.scheduler == "stream_k" and (pinned.raster is not None or pinned.swizzle not in (None, 1)):
        return Finding(
            "stream_k on multistage kernels has its own order of tiles",
            "setter:raster",
            Fix("setter:raster", "", "remove .with_raster"),
        )
    if candidate.raster == "along_n" and candidate.swizzle not in (None, 1):
        return Finding(
            f"swizzle={candidate.swizzle} goes with along_m: multistage kernels walk tiles along n without one",
            "setter:raster:swizzle",
            Fix("setter:raster:0", "along_m", "use along_m"),
        )
    return None


@rule("UC0516", "tile", source="gemm/kernel/gemm_universal.h: grid y and z at most 65535 (kErrorInvalidProblem)")
def grid_fits(candidate: Candidate) -> Finding | None:
    """At most 65535 tiles along n and 65535 batches."""
    problem, tile = candidate.problem, candidate.tile
    assert tile is not None
    if problem.n is not None:
        finding = grid_limit(candidate, ceil_div(problem.n, tile[1]), problem.dim_name("n"))
        if finding is not None:
            return finding
    return grid_limit(candidate, problem.batch, "the batch")


@rule("UC0520", source="gemm/kernel/default_gemm_grouped.h takes an output operator, no visitor")
def groups_fuse_nothing(candidate: Candidate) -> Finding | None:
    """A group of multistage gemms adds C and rounds, nothing else."""
    if candidate.problem.grouping is None or not candidate.epilogue_spec.takes_visitor:
        return None
    return Finding(
        "multistage kernels for a group of gemms add one matrix and round: they take no other fused operation",
        "name",
    )


SM80_RULES = (
    operands_are_laid_out_for_mma,
    groups_fuse_nothing,
    fast_accumulation_is_for_fp8,
    epilogue_is_not_set,
    alignment_is_built,
    output_alignment_is_built,
    tile_is_built,
    narrow_results_are_stored_in_halves,
    grid_fits,
    warps_divide_the_tile,
    accumulators_fit_the_registers,
    instruction_divides_the_warp_tile,
    stages_suit_the_loads,
    stages_fit_the_shared_memory,
    there_is_no_cluster,
    scheduler_exists,
    swizzle_exists,
)
