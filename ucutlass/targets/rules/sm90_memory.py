"""Shared memory of the sm_90a kernels: how many stages fit, and the rules that follow.

Imports only the standard library and the values of `ucutlass.targets`.
"""

from functools import lru_cache

from ucutlass.targets.problem import EpilogueSpec, Operand, Shape3
from ucutlass.targets.rules.core import REFUSED, Candidate, Finding, Fix, rule
from ucutlass.targets.rules.sm90_facts import swizzle_parity, uses_registers_for_a
from ucutlass.targets.rules.text import shape
from ucutlass.targets.stage_arithmetic import (
    NO_STORAGE,
    EpilogueStorage,
    operand_stage_bytes,
    sm90_auto_stages,
    sm90_epilogue_storage,
    sm90_kernel_carveout,
    sm90_total,
    swizzle_unit,
)


@lru_cache(4096)
def _tma_storage(schedule: str, tile: Shape3, spec: EpilogueSpec, d: Operand) -> EpilogueStorage:
    return sm90_epilogue_storage(schedule, tile, spec, d)


def epilogue_storage(candidate: Candidate) -> EpilogueStorage:
    """Shared memory of the candidate's epilogue."""
    assert candidate.tile is not None and candidate.schedule is not None
    if candidate.epilogue == "nosmem":
        return NO_STORAGE
    return _tma_storage(candidate.schedule, candidate.tile, candidate.epilogue_spec, candidate.problem.d)


def _unit(candidate: Candidate) -> int:
    """Alignment of the operands' buffers: 128 bytes, or the swizzles' where A goes through registers."""
    problem, tile = candidate.problem, candidate.tile
    if not uses_registers_for_a(problem):
        return 128
    assert tile is not None
    units: list[int] = []
    for operand, rows in ((problem.a, tile[0]), (problem.b, tile[1])):
        if operand.major == "mn" and operand.element.bits == 32:
            # The narrowest swizzle is chosen here because it transposes without bank conflicts.
            units.append(swizzle_unit(32))
        else:
            units.append(swizzle_unit((tile[2] if operand.major == "k" else rows) * operand.element.bits / 8))
    return max(units)


def stage_bytes(candidate: Candidate) -> int:
    """One stage of both operands."""
    assert candidate.tile is not None
    problem = candidate.problem
    return operand_stage_bytes(candidate.tile, problem.a.element.bits, problem.b.element.bits, _unit(candidate))


def auto_stages(candidate: Candidate) -> int:
    """Stages when the program sets none: what CUTLASS computes, lowered to what can be launched."""
    problem, tile = candidate.problem, candidate.tile
    assert tile is not None
    stages = sm90_auto_stages(
        candidate.arch.shared_memory,
        epilogue_storage(candidate).storage_bytes,
        sm90_kernel_carveout(problem.grouping, problem.is_mixed),
        stage_bytes(candidate),
        _unit(candidate),
    )
    parity = swizzle_parity(tile[1], tile[2], problem.b.element.bits) if problem.b.major == "k" else 1
    parity = parity or 1
    stages = stages // parity * parity
    if problem.grouping is not None and not uses_registers_for_a(problem):
        # CUTLASS's count leaves out the tensor maps of the epilogue.
        while stages > 0 and total_bytes(candidate, stages) > candidate.arch.shared_memory:
            stages -= parity
    return stages


def total_bytes(candidate: Candidate, stages: int) -> int:
    """Shared memory of the whole kernel with a number of stages."""
    problem = candidate.problem
    assert candidate.schedule is not None
    return sm90_total(
        candidate.schedule,
        epilogue_storage(candidate),
        stages,
        stage_bytes(candidate),
        main_unit=_unit(candidate),
        mixed=problem.is_mixed,
        grouping=problem.grouping,
    )


def most_stages(candidate: Candidate) -> int:
    """The largest number of stages that fits."""
    fits = auto_stages(candidate)
    while total_bytes(candidate, fits + 1) <= candidate.arch.shared_memory:
        fits += 1
    while fits > 0 and total_bytes(candidate, fits) > candidate.arch.shared_memory:
        fits -= 1
    return fits


@rule(
    "UC0506",
    "schedule",
    "epilogue",
    "tile",
    "stages",
    source="initialize: kErrorInternal when SharedStorageSize exceeds the opt-in limit",
)
def stages_fit_the_shared_memory(candidate: Candidate) -> Finding | None:
    """All stages, the epilogue's tiles and the barriers fit into the shared memory of a thread block."""
    stages, tile, limit = candidate.stages, candidate.tile, candidate.arch.shared_memory
    assert stages is not None and tile is not None
    automatic = candidate.pinned.stages is None
    if automatic and stages >= 2 and not uses_registers_for_a(candidate.problem):
        return None
    too_few = stages < 2
    stages = max(stages, 2)
    total = total_bytes(candidate, stages)
    if total <= limit and not (automatic and too_few):
        return None
    if not candidate.explaining:
        return REFUSED
    one, epilogue = stage_bytes(candidate), epilogue_storage(candidate).tensor_bytes
    most = most_stages(candidate)
    parts = f"{stages} stages of {one} bytes" + (f", {epilogue} bytes of epilogue" if epilogue > 1 else "")
    message = (
        f"tile {shape(tile)} with {parts} and barriers takes {total} bytes of shared memory, more than the {limit} of a"
        " thread"
        f" block on {candidate.arch}"
    )
    if most < 2:
        return Finding(f"{message}: not even two stages fit", "setter:tile")
    return Finding(
        f"{message}: at most {most} stages fit",
        "setter:stages:0",
        Fix("setter:stages:0", str(most), f"use {most}"),
    )


@rule(
    "UC0507",
    "schedule",
    "epilogue",
    "tile",
    "stages",
    source="sm90_gmma_builder.inl, RS builder: StageCountType::bytes, which StageCount<N> has not",
)
def register_sourced_stages_are_automatic(candidate: Candidate) -> Finding | None:
    """Main loops with A from registers compute the number of stages themselves."""
    problem, pinned = candidate.problem, candidate.pinned.stages
    if pinned is None or not uses_registers_for_a(problem):
        return None
    automatic = auto_stages(candidate)
    if pinned == automatic:
        return None
    if not candidate.explaining:
        return REFUSED
    assert candidate.tile is not None
    why = "mixed widths" if problem.is_mixed else f"{problem.a.element} without k contiguous in both operands"
    return Finding(
        f"stages({pinned}) cannot be set: the main loop that takes A through registers ({why}) computes the number"
        f" itself, {automatic} for tile {shape(candidate.tile)}",
        "setter:stages",
        Fix("setter:stages", "", "remove .with_stages"),
    )


MEMORY_RULES = (register_sourced_stages_are_automatic, stages_fit_the_shared_memory)
