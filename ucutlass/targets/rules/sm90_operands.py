"""Rules of the sm_90a kernels about operands and results: layouts, alignment, what an epilogue can hold.

Imports only the standard library and the values of `ucutlass.targets`. Paths in sources are relative to CUTLASS's
`include/cutlass`.
"""

from ucutlass.targets.rules.common import needs_access
from ucutlass.targets.rules.core import Candidate, Finding, Fix, rule
from ucutlass.targets.rules.sm90_facts import (
    BASE_SCHEDULES,
    GROUPED_SCHEDULES,
    TMA_SCHEDULES,
    uses_registers_for_a,
)
from ucutlass.targets.rules.text import bytes_text, contiguous, operand_name, operand_part
from ucutlass.targets.rules.types import kind_of


@rule(
    "UC0511",
    "swap_ab",
    source="gemm/collective/builders/sm90_common.inl: gmma_ss_tag_to_major_A/B, is_use_rmem_A, is_swapAB",
)
def operands_are_laid_out_for_wgmma(candidate: Candidate) -> Finding | None:
    """8-bit operands have k contiguous; tf32 never in A alone; a narrow operand is A with k contiguous."""
    problem = candidate.problem
    kind = kind_of(problem)
    if kind in ("fp8", "int8"):
        for which in "ab":
            operand = candidate.operand(which)
            if operand is not None and operand.major != "k":
                return Finding(
                    f"wgmma takes {operand.element} operands only with {problem.dim_name('k')} contiguous, but"
                    f" {contiguous(candidate, which)}: 8-bit operands have no transposed form",
                    operand_part(candidate, which),
                    notes=(
                        f"store {operand_name(candidate, which)} the other way, or let the compiler copy it: remove the"
                        " setters that ask for this kernel",
                    ),
                )
    if kind == "tf32" and (problem.a.major, problem.b.major) == ("k", "mn"):
        return Finding(
            "wgmma takes tf32 with k contiguous, and transposes A on the way through registers but not B alone: this"
            " layout needs the operands swapped",
            operand_part(candidate, "b"),
            Fix("end", ".with_swap_ab()", "swap the operands"),
        )
    if kind == "mixed" and problem.narrow == "b":
        return Finding(
            f"the narrow operand of a mixed gemm ({problem.b.element}) is converted in registers, which only A goes"
            " through:"
            " the operands must be swapped",
            operand_part(candidate, "b"),
            Fix("end", ".with_swap_ab()", "swap the operands"),
        )
    if kind == "mixed" and problem.a.major != "k":
        return Finding(
            f"the narrow operand of a mixed gemm must have {problem.dim_name('k')} contiguous, but"
            f" {contiguous(candidate, 'a')}",
            operand_part(candidate, "a"),
        )
    return None


@rule(
    "UC0508",
    "schedule",
    source="gemm/collective/builders/sm90_gmma_builder.inl: enable_if of the RS builders; upstream's generator",
)
def schedule_takes_the_operands(candidate: Candidate) -> Finding | None:
    """Operands that go through registers take the warp-specialized TMA schedules, grouped gemms two of them."""
    problem, schedule = candidate.problem, candidate.schedule
    assert schedule is not None
    fix = Fix("setter:schedule:0", "cooperative", "use cooperative")
    if uses_registers_for_a(problem) and schedule not in BASE_SCHEDULES:
        why = (
            "operands of two widths"
            if problem.is_mixed
            else f"{problem.a.element} without k contiguous in both operands"
        )
        return Finding(
            f"schedule {schedule} reads both operands from shared memory; {why} need a register-sourced A, which"
            f" {', '.join(BASE_SCHEDULES)} have",
            "setter:schedule:0",
            fix,
        )
    if problem.grouping is None:
        return None
    if schedule not in GROUPED_SCHEDULES:
        return Finding(
            f"schedule {schedule} has no kernel for a group of gemms: {' and '.join(GROUPED_SCHEDULES)} do",
            "setter:schedule:0",
            fix,
        )
    if uses_registers_for_a(problem) and not problem.is_mixed:
        return Finding(
            f"a group of {problem.a.element} gemms needs k contiguous in both operands",
            operand_part(candidate, "a" if problem.a.major != "k" else "b"),
            code="UC0511",
        )
    return None


@rule(
    "UC0522",
    "schedule",
    "fast_accum",
    source="gemm/collective/builders/sm90_gmma_builder.inl: GMMA_TMA_WS_FP8_FAST_ACCUM_SS",
)
def fast_accumulation_is_for_fp8(candidate: Candidate) -> Finding | None:
    """Fast accumulation is for fp8 operands and the warp-specialized TMA schedules."""
    if not candidate.fast_accum:
        return None
    problem, schedule = candidate.problem, candidate.schedule
    if kind_of(problem) != "fp8":
        return Finding(
            f"{schedule}_fp8_fast skips the promotion of fp8 sums; the operands are {problem.a.element} and"
            f" {problem.b.element}",
            "setter:schedule:0",
            Fix("setter:schedule:0", str(schedule), f"use {schedule}"),
        )
    if schedule not in BASE_SCHEDULES:
        return Finding(
            f"{schedule} has no fast fp8 form: {', '.join(BASE_SCHEDULES)} have",
            "setter:schedule:0",
            Fix("setter:schedule:0", "cooperative_fp8_fast", "use cooperative_fp8_fast"),
        )
    return None


@rule(
    "UC0504",
    "schedule",
    source="sm90_gmma_builder.inl: is_aligned with tma_alignment_bytes = 16, cp_async_min_alignment_bytes = 4",
)
def operands_suit_the_loads(candidate: Candidate) -> Finding | None:
    """TMA moves lines of multiples of 16 bytes, cp.async of 4, 8 or 16."""
    schedule = candidate.schedule
    assert schedule is not None
    for which in "ab":
        finding = (
            needs_access(candidate, which, 128, f"TMA ({schedule})", "setter:schedule:0")
            if schedule in TMA_SCHEDULES
            else needs_access(candidate, which, 32, f"cp.async ({schedule})", "setter:schedule:0")
        )
        if finding is not None:
            return finding
    return None


@rule(
    "UC0504",
    "schedule",
    "alignment",
    source="sm90_gmma_builder.inl: is_aligned; cute/arch/copy_sm80.hpp: cp.async sizes",
)
def alignment_suits_the_loads(candidate: Candidate) -> Finding | None:
    """A set alignment of A or B is what the schedule's loads move."""
    schedule = candidate.schedule
    assert schedule is not None
    for which in "ab":
        elements = candidate.alignment_of(which)
        operand = candidate.operand(which)
        if elements is None or operand is None:
            continue
        bits = elements * operand.element.bits
        least = 128 if schedule in TMA_SCHEDULES else 32
        if bits % least == 0:
            continue
        loads = "TMA moves 16 bytes at a time" if least == 128 else "cp.async moves 4, 8 or 16 bytes at a time"
        needed = least // operand.element.bits
        return Finding(
            f"alignment {which}={elements} of {operand.element} is {bytes_text(bits / 8)}: {loads} ({schedule})",
            f"setter:alignment:{which}",
            Fix(f"setter:alignment:{which}", str(needed), f"use {which}={needed}"),
        )
    return None


@rule(
    "UC0509",
    "schedule",
    "epilogue",
    source="epilogue/collective/builders/sm90_builder.inl; upstream never builds the other pairs",
)
def epilogue_goes_with_the_schedule(candidate: Candidate) -> Finding | None:
    """A TMA epilogue needs a warp-specialized TMA schedule."""
    schedule = candidate.schedule
    if candidate.epilogue != "tma" or schedule in BASE_SCHEDULES:
        return None
    return Finding(
        f"schedule {schedule} has no warps that store by TMA: it goes with epilogue nosmem; epilogue tma goes with"
        f" {', '.join(BASE_SCHEDULES)}",
        "setter:epilogue:0",
        Fix("setter:epilogue:0", "nosmem", "use nosmem"),
    )


@rule(
    "UC0520",
    "epilogue",
    source="epilogue/collective/builders/sm90_builder.inl: the NoSmem builder takes LinearCombination only",
)
def fused_operations_need_tma(candidate: Candidate) -> Finding | None:
    """The epilogue that stores from registers rounds and stores, nothing else."""
    if candidate.epilogue != "nosmem" or candidate.epilogue_spec.is_plain:
        return None
    schedule = candidate.schedule
    who = (
        "epilogue nosmem" if schedule in (None, *BASE_SCHEDULES) else f"schedule {schedule}, whose epilogue is nosmem,"
    )
    setter = "setter:epilogue:0" if candidate.pinned.epilogue is not None else "setter:schedule:0"
    return Finding(
        f"{who} stores the rounded accumulator and takes no fused operation: fused operations need epilogue tma",
        setter,
        Fix(setter, "tma", "use tma")
        if setter.startswith("setter:epilogue")
        else Fix(setter, "cooperative", "use cooperative"),
        ("`materialize` before the fused operations ends the kernel there",),
    )


@rule(
    "UC0504",
    "epilogue",
    source="epilogue/collective/builders/sm90_common.inl: is_aligned, 128 bits; TMA needs 16-byte strides",
)
def results_suit_tma_stores(candidate: Candidate) -> Finding | None:
    """A TMA epilogue moves C, D and stored intermediates in lines of multiples of 16 bytes."""
    if candidate.epilogue != "tma":
        return None
    for which in "cd":
        finding = needs_access(
            candidate, which, 128, f"a TMA {'store' if which == 'd' else 'load'}", "setter:epilogue:0"
        )
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


@rule("UC0504", "epilogue", "alignment", source="epilogue/collective/builders/sm90_common.inl: is_aligned")
def alignment_suits_tma_stores(candidate: Candidate) -> Finding | None:
    """A set alignment of C or D is 16 bytes where TMA moves them."""
    if candidate.epilogue != "tma":
        return None
    for which in "cd":
        elements: int | None = getattr(candidate.pinned.alignment, which)
        operand = candidate.operand(which)
        if elements is None or operand is None or elements * operand.element.bits % 128 == 0:
            continue
        needed = 128 // operand.element.bits
        return Finding(
            f"alignment {which}={elements} of {operand.element} is {bytes_text(elements * operand.element.bits / 8)}: a"
            " TMA"
            " epilogue moves 16 bytes at a time",
            f"setter:alignment:{which}",
            Fix(f"setter:alignment:{which}", str(needed), f"use {which}={needed}"),
        )
    return None


@rule(
    "UC0520",
    "schedule",
    source="epilogue/collective/sm90_epilogue_array_tma_warpspecialized.hpp: tensor maps of C and D only",
)
def groups_fuse_no_matrices(candidate: Candidate) -> Finding | None:
    """In a group of gemms only C and D are found through pointer arrays."""
    spec = candidate.epilogue_spec
    if candidate.problem.grouping is None or not (spec.aux_loads or spec.aux_stores):
        return None
    return Finding(
        f"a group of gemms fuses vectors and one matrix; it has {len(spec.aux_loads)} further matrices to read and"
        f" {len(spec.aux_stores)} to write, which need a pointer for each group",
        "name",
    )
