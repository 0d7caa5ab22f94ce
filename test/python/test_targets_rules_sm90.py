"""Verdicts on sm_90a configurations, each one that a compiler or the header was asked about.

The expected verdicts are what nvcc said (or the run-time check of the header would say) about the same kernel, not what
the rules say: `None` is a kernel that builds, a code one that does not build, launch or compute the right thing.
"""

from dataclasses import replace
from typing import TypedDict, Unpack

import pytest

from ucutlass.element_types import BF16, F16
from ucutlass.targets.arch import architecture
from ucutlass.targets.enumerate import check, exists, warnings
from ucutlass.targets.families import all_rules
from ucutlass.targets.problem import (
    ANY,
    PLAIN,
    Alignments,
    Config,
    EpilogueKind,
    EpilogueSpec,
    GemmProblem,
    Operand,
    RasterOrder,
    Schedule,
    Scheduler,
    Shape3,
    gemm_problem,
)
from ucutlass.targets.refusal import explain_refusal

SM90 = architecture("sm_90a")
F16_TN = gemm_problem(4096, 4096, 4096)
F16_NT = gemm_problem(4096, 4096, 4096, layout="nt")
FP8 = gemm_problem(4096, 4096, 4096, "e4m3", d="bf16")
S8 = gemm_problem(4096, 4096, 4096, "s8")
FUSED = EpilogueSpec(row_broadcasts=(F16,), has_functor=True)
WITH_C = EpilogueSpec(c=Operand(F16, "n", 8))


def tf32(layout: str) -> GemmProblem:
    return gemm_problem(4096, 4096, 4096, "f32", compute="tf32", layout=layout)


def mixed(a: str, b: str, layout: str = "tn") -> GemmProblem:
    return gemm_problem(4096, 4096, 4096, a, b, layout=layout)


class Fields(TypedDict, total=False):
    """Fields of a configuration that a case sets beside tile and schedule."""

    fast_accum: bool
    epilogue: EpilogueKind
    stages: int
    cluster: Shape3
    scheduler: Scheduler
    split_k: int
    raster: RasterOrder
    swizzle: int
    alignment: Alignments
    warps: Shape3
    instruction: Shape3
    swap_ab: bool


def at(tile: Shape3 | None, schedule: Schedule | None = None, **fields: Unpack[Fields]) -> Config:
    config = Config(tile=tile, schedule=schedule, fast_accum=None if schedule is None else False)
    return replace(config, **fields)


def verdict(problem: GemmProblem, config: Config, epilogue: EpilogueSpec = PLAIN) -> str | None:
    found = explain_refusal(problem, epilogue, config, SM90)
    assert bool(found) != exists(problem, epilogue, config, SM90)
    return found[0].code if found else None


COOP: Schedule = "cooperative"
PP: Schedule = "pingpong"
WS: Schedule = "warpspecialized"


@pytest.mark.parametrize(
    ("problem", "config", "epilogue", "expected"),
    [
        # Types and accumulators.
        (gemm_problem(512, 512, 512, accumulator="f16"), at(None, COOP), PLAIN, None),
        (gemm_problem(512, 512, 512, "bf16", accumulator="f16"), at(None, COOP), PLAIN, "UC0502"),
        (gemm_problem(512, 512, 512, "f16", "bf16"), ANY, PLAIN, "UC0501"),
        (gemm_problem(512, 512, 512, "e4m3", accumulator="f16", d="f16"), at(None, COOP), PLAIN, None),
        (gemm_problem(512, 512, 512, "e4m3", "e5m2"), at(None, COOP), PLAIN, None),
        (gemm_problem(512, 512, 512, "s8", accumulator="f32"), at(None, COOP), PLAIN, "UC0502"),
        (gemm_problem(512, 512, 512, "u8", "s8"), at(None, COOP), PLAIN, None),
        (gemm_problem(512, 512, 512, "f64"), at(None, COOP), PLAIN, "UC0508"),
        (gemm_problem(512, 512, 512, "f64"), ANY, PLAIN, None),
        (gemm_problem(512, 512, 512, "s4"), at(None, COOP), PLAIN, "UC0508"),
        (gemm_problem(512, 512, 512, "f32"), at(None, COOP), PLAIN, "UC0508"),
        (gemm_problem(512, 512, 512, compute="tf32x3"), ANY, PLAIN, "UC0515"),
        # Layouts: 16-bit in all four, tf32 in three, 8-bit in one.
        *((gemm_problem(512, 512, 512, layout=lay), at(None, COOP), PLAIN, None) for lay in ("tn", "nn", "nt", "tt")),
        (tf32("tn"), at((128, 128, 32), COOP), PLAIN, None),
        (tf32("nn"), at((128, 128, 32), COOP), PLAIN, None),
        (tf32("nt"), at((128, 128, 32), COOP), PLAIN, None),
        (tf32("tt"), at((128, 128, 32), COOP), PLAIN, "UC0511"),
        (tf32("tt"), at((128, 128, 32), COOP, swap_ab=True), PLAIN, None),
        (tf32("tt"), at(None, COOP), FUSED, None),
        *(
            (gemm_problem(512, 512, 512, "e4m3", layout=lay), at(None, COOP), PLAIN, "UC0511")
            for lay in ("nn", "nt", "tt")
        ),
        *(
            (gemm_problem(512, 512, 512, "s8", layout=lay), at(None, COOP), PLAIN, "UC0511")
            for lay in ("nn", "nt", "tt")
        ),
        # Register-sourced main loops count their stages themselves: 128x128x32 tf32 with a plain f32 result takes 6.
        (tf32("tn"), at((128, 128, 32), COOP, stages=3), PLAIN, None),
        (tf32("nn"), at((128, 128, 32), COOP, stages=3), PLAIN, "UC0507"),
        (mixed("s8", "f16"), at((128, 128, 64), COOP, stages=3), PLAIN, "UC0507"),
        (tf32("nt"), at((128, 128, 16), COOP), PLAIN, "UC0503"),
        (tf32("nt"), at((128, 48, 32), COOP), PLAIN, "UC0503"),
        # Alignment.
        (gemm_problem(512, 512, 508), at(None, COOP), PLAIN, "UC0504"),
        (gemm_problem(512, 512, 508), at(None, "cpasync"), PLAIN, None),
        (gemm_problem(512, 512, 510), at(None, "cpasync"), PLAIN, None),
        (gemm_problem(512, 512, 511), at(None, "cpasync"), PLAIN, "UC0504"),
        (gemm_problem(512, 512, 511), ANY, PLAIN, None),
        (F16_TN, at(None, COOP, alignment=Alignments(a=4)), PLAIN, "UC0504"),
        (F16_TN, at(None, COOP, alignment=Alignments(a=16)), PLAIN, "UC0504"),
        (F16_TN, at(None, "cpasync", alignment=Alignments(a=4, b=2)), PLAIN, None),
        (F16_TN, at(None, "cpasync", alignment=Alignments(a=1)), PLAIN, "UC0504"),
        (mixed("s4", "f16"), at(None, COOP), PLAIN, None),
        (gemm_problem(512, 512, 528, "s4", "f16"), at(None, COOP), PLAIN, "UC0504"),
        # Only contiguous extents count: M and N here may be anything.
        (gemm_problem(1471, 257, 512), at(None, COOP, epilogue="nosmem"), PLAIN, None),
        (gemm_problem(512, 516, 512), at(None, COOP, epilogue="tma"), PLAIN, "UC0504"),
        (gemm_problem(512, 516, 512), at(None, COOP, epilogue="nosmem"), PLAIN, None),
        (gemm_problem(512, 516, 512), at(None, COOP), FUSED, "UC0504"),
        (gemm_problem(516, 512, 512, d_major="m"), at(None, COOP, epilogue="tma"), PLAIN, "UC0504"),
        # Tile m.
        (F16_TN, at((100, 128, 64)), PLAIN, "UC0503"),
        (F16_TN, at((64, 128, 64), COOP), PLAIN, "UC0503"),
        (F16_TN, at((192, 128, 64), COOP, epilogue="tma"), PLAIN, "UC0503"),
        (F16_TN, at((192, 128, 64), COOP, epilogue="nosmem"), PLAIN, "UC0503"),
        (F16_TN, at((192, 128, 64), PP), PLAIN, None),
        (F16_TN, at((192, 128, 64), WS), PLAIN, None),
        (F16_TN, at((256, 64, 64), PP), PLAIN, None),
        (F16_TN, at((64, 128, 64), "cpasync_cooperative"), PLAIN, None),
        (F16_TN, at((192, 128, 64), "cpasync_cooperative"), PLAIN, "UC0503"),
        # Tile n.
        (F16_TN, at((128, 24, 64), COOP, epilogue="nosmem"), PLAIN, "UC0503"),
        (F16_TN, at((128, 40, 64), COOP), PLAIN, "UC0503"),
        (F16_TN, at((128, 56, 64), COOP), PLAIN, "UC0503"),
        (F16_NT, at((128, 24, 64), COOP, epilogue="nosmem"), PLAIN, None),
        (F16_NT, at((128, 24, 64), COOP, epilogue="tma"), PLAIN, "UC0503"),
        (F16_NT, at((128, 40, 64), COOP, epilogue="tma"), PLAIN, None),
        (F16_NT, at((64, 8, 64), PP, epilogue="tma"), PLAIN, None),
        (F16_TN, at((128, 8, 64), COOP, stages=12), PLAIN, None),
        (F16_TN, at((128, 8, 64), COOP, stages=13), PLAIN, "UC0507"),
        (tf32("tn"), at((128, 8, 32), COOP, stages=5), PLAIN, "UC0507"),
        (tf32("tn"), at((128, 8, 32), COOP, stages=8), PLAIN, None),
        (tf32("tn"), at((128, 48, 32), COOP), PLAIN, "UC0503"),
        (FP8, at((128, 24, 128), COOP, epilogue="nosmem"), PLAIN, None),
        (F16_TN, at((128, 512, 64), COOP), PLAIN, "UC0503"),
        (F16_TN, at((128, 112, 64), PP, epilogue="tma", cluster=(4, 1, 1)), PLAIN, None),
        # Tile k.
        *((F16_TN, at((128, 128, k), COOP), PLAIN, None) for k in (16, 32, 48, 64, 96, 128)),
        (F16_TN, at((128, 128, 24), COOP), PLAIN, "UC0503"),
        *((FP8, at((128, 64, k), COOP), PLAIN, None) for k in (32, 64, 96, 128, 256)),
        (FP8, at((128, 64, 48), COOP), PLAIN, "UC0503"),
        (mixed("s8", "f16"), at((128, 128, 32), COOP), PLAIN, "UC0503"),
        (mixed("s8", "f16"), at((128, 128, 64), COOP), PLAIN, None),
        # Schedules with epilogues and schedulers.
        (F16_TN, at(None, "tma", epilogue="tma"), PLAIN, "UC0509"),
        (F16_TN, at(None, "tma", epilogue="nosmem"), PLAIN, None),
        (F16_TN, at(None, "cpasync", epilogue="tma"), PLAIN, "UC0509"),
        (F16_TN, at(None, COOP, scheduler="stream_k"), FUSED, None),
        (F16_TN, at(None, "cpasync_cooperative", scheduler="stream_k"), PLAIN, None),
        *((F16_TN, at(None, s, scheduler="stream_k"), PLAIN, "UC0512") for s in (PP, WS, "tma", "cpasync_pingpong")),
        *((F16_TN, at(None, s, scheduler="persistent"), PLAIN, None) for s in (COOP, PP, WS, "tma", "cpasync")),
        (FP8, at(None, COOP, fast_accum=True), PLAIN, None),
        (FP8, at(None, PP, fast_accum=True), PLAIN, None),
        (F16_TN, at(None, COOP, fast_accum=True), PLAIN, "UC0522"),
        (FP8, at(None, "tma", fast_accum=True), PLAIN, "UC0522"),
        (F16_TN, at(None, COOP, epilogue="nosmem"), FUSED, "UC0520"),
        (F16_TN, at(None, COOP, epilogue="nosmem"), WITH_C, "UC0520"),
        (F16_TN, at(None, COOP, epilogue="tma"), FUSED, None),
        (F16_TN, at(None, "tma"), FUSED, "UC0520"),
        # Clusters.
        *(
            (F16_TN, at((128, 128, 64), COOP, cluster=(m, n, 1)), PLAIN, None)
            for m in (1, 2, 4, 8)
            for n in (1, 2, 4, 8)
            if m * n <= 8
        ),
        (F16_TN, at((128, 16, 64), COOP, cluster=(4, 1, 1)), PLAIN, None),
        (F16_TN, at((64, 32, 64), PP, cluster=(1, 8, 1)), PLAIN, None),
        (F16_TN, at((128, 128, 64), COOP, cluster=(3, 1, 1)), PLAIN, "UC0505"),
        (F16_TN, at((128, 128, 64), COOP, cluster=(2, 1, 2)), PLAIN, "UC0505"),
        (F16_TN, at((128, 128, 64), COOP, cluster=(16, 1, 1)), PLAIN, "UC0505"),
        (F16_TN, at((128, 128, 64), COOP, cluster=(4, 4, 1)), PLAIN, "UC0505"),
        (F16_TN, at(None, "cpasync", cluster=(2, 1, 1)), PLAIN, "UC0505"),
        # Shared memory and stages.
        (F16_TN, at((128, 128, 64), COOP, epilogue="tma", stages=6), PLAIN, None),
        (F16_TN, at((128, 128, 64), COOP, epilogue="tma", stages=7), PLAIN, "UC0506"),
        (F16_TN, at((128, 128, 64), COOP, epilogue="nosmem", stages=7), PLAIN, None),
        (F16_TN, at((128, 128, 64), stages=12), PLAIN, "UC0506"),
        (F16_TN, at((128, 128, 64), stages=1), PLAIN, "UC0507"),
        (F16_TN, at((64, 128, 64), WS, epilogue="tma", stages=9), PLAIN, None),
        # Registers.
        (F16_TN, at((256, 192, 64), COOP), PLAIN, None),
        (F16_TN, at((128, 192, 64), PP), PLAIN, None),
        (F16_TN, at((256, 256, 64), COOP), PLAIN, "UC0510"),
        (F16_TN, at((128, 256, 64), PP), PLAIN, "UC0510"),
        (gemm_problem(512, 512, 512, accumulator="f16"), at((256, 256, 64), COOP), PLAIN, None),
        (FP8, at((128, 128, 128), COOP), PLAIN, None),
        (FP8, at((256, 128, 128), COOP), PLAIN, None),
        (FP8, at((256, 192, 128), COOP), PLAIN, "UC0510"),
        (FP8, at((256, 192, 128), COOP, fast_accum=True), PLAIN, None),
        # Mixed input.
        *(
            (mixed(narrow, wide), at(None, COOP), FUSED, None)
            for narrow in ("s8", "u8", "s4", "u4", "e4m3", "e5m2")
            for wide in ("f16", "bf16")
        ),
        (mixed("f16", "s8"), ANY, FUSED, None),
        (mixed("f16", "s8"), at((128, 128, 64)), FUSED, "UC0511"),
        (mixed("f16", "s8"), at((128, 128, 64), swap_ab=True), FUSED, None),
        (mixed("s8", "f16", "tt"), at(None, COOP), PLAIN, None),
        (mixed("s8", "f16", "nn"), at(None, COOP), PLAIN, "UC0511"),
        (mixed("s8", "f16"), at(None, "tma"), PLAIN, "UC0508"),
        (mixed("s8", "f16"), at(None, "cpasync"), PLAIN, "UC0508"),
        # Groups of gemms.
        *(
            (gemm_problem(512, 512, 512, grouping=g), at(None, s), PLAIN, None)
            for g in ("array", "grouped")
            for s in (COOP, PP)
        ),
        (gemm_problem(512, 512, 512, grouping="grouped"), at(None, WS), PLAIN, "UC0508"),
        (gemm_problem(512, 512, 512, grouping="grouped"), at(None, COOP, scheduler="stream_k"), PLAIN, "UC0512"),
        (
            gemm_problem(512, 512, 512, "f32", compute="tf32", layout="nn", grouping="grouped"),
            at(None, COOP),
            PLAIN,
            "UC0511",
        ),
        # Slices of the reduction.
        (F16_TN, at((128, 128, 64), COOP, split_k=64), FUSED, None),
        (F16_TN, at((128, 128, 64), COOP, split_k=65), FUSED, "UC0513"),
        (F16_TN, at(None, PP, split_k=2), PLAIN, "UC0513"),
        (F16_TN, at(None, COOP, split_k=2, scheduler="stream_k"), PLAIN, "UC0405"),
        (gemm_problem(512, 512, 65536, accumulator="f16"), at(None, COOP, split_k=2), PLAIN, "UC0513"),
        (gemm_problem(512, 512, 65536), at(None, COOP, split_k=256), PLAIN, "UC0513"),
        # What belongs to other targets.
        (F16_TN, at(None, "one_sm"), PLAIN, "UC0508"),
        (F16_TN, at(None, COOP, warps=(64, 64, 64)), PLAIN, "UC0519"),
        (F16_TN, at(None, "multistage"), FUSED, None),
        (F16_TN, at(None, "multistage", cluster=(2, 1, 1)), PLAIN, "UC0505"),
        # Extents and grids.
        (gemm_problem(2**31, 64, 64), ANY, PLAIN, "UC0516"),
        (gemm_problem(65536, 32768, 64, "bf16"), ANY, PLAIN, None),
        (gemm_problem(64, 64, 64, batch=65536), at(None, WS), PLAIN, "UC0516"),
        (gemm_problem(64, 64, 64, batch=65536), at(None, COOP), PLAIN, None),
    ],
)
def test_verdicts(problem: GemmProblem, config: Config, epilogue: EpilogueSpec, expected: str | None):
    assert verdict(problem, config, epilogue) == expected


@pytest.mark.parametrize("n", range(8, 257, 8))
def test_widths_with_k_contiguous(n: int):
    """f16 with k contiguous in both: multiples of 16 build with both epilogues, 8 with an even number of stages."""
    for epilogue in ("tma", "nosmem"):
        accepted = verdict(F16_TN, at((128, n, 64), COOP, epilogue=epilogue)) is None
        assert accepted == (n % 16 == 0 or n == 8)


@pytest.mark.parametrize("n", range(8, 257, 8))
def test_widths_with_n_contiguous(n: int):
    """f16 with n contiguous in B: every multiple of 8 builds, 24 not with a TMA epilogue."""
    assert verdict(F16_NT, at((128, n, 64), COOP, epilogue="nosmem")) is None
    assert (verdict(F16_NT, at((128, n, 64), COOP, epilogue="tma")) is None) == (n != 24)


def test_stored_intermediates_are_aligned_and_loaded_ones_need_not_be():
    odd_store = EpilogueSpec(aux_stores=(Operand(F16, "n", 4),), has_functor=True)
    odd_load = EpilogueSpec(aux_loads=(Operand(F16, "n", 1),), has_functor=True)
    assert verdict(F16_TN, at(None, COOP), odd_store) == "UC0504"
    assert verdict(F16_TN, at(None, COOP), odd_load) is None, "unaligned matrices are read without TMA"


def test_a_group_fuses_vectors_but_no_further_matrix():
    grouped = gemm_problem(512, 512, 512, grouping="grouped")
    assert verdict(grouped, at(None, COOP), EpilogueSpec(row_broadcasts=(BF16,), has_functor=True)) is None
    assert verdict(grouped, at(None, COOP), EpilogueSpec(aux_loads=(Operand(F16, "n", 8),))) == "UC0520"


def test_dynamic_sizes_need_a_condition_only_where_something_is_set():
    dynamic = gemm_problem(None, None, None)
    assert verdict(dynamic, ANY) is None
    assert verdict(dynamic, at(None, COOP)) == "UC0517"
    promised = gemm_problem(None, None, None, multiples={"k": 8, "n": 8})
    assert verdict(promised, at(None, COOP, epilogue="tma")) is None
    assert verdict(gemm_problem(None, None, None, multiples={"k": 8}), at(None, COOP)) is None
    assert verdict(gemm_problem(None, None, None, multiples={"k": 8}), at(None, COOP, epilogue="tma")) == "UC0517"


def test_spilling_registers_are_a_warning():
    full = at((256, 208, 64), COOP)
    assert check(F16_TN, PLAIN, full, SM90) == []
    assert [w.rule for w in warnings(F16_TN, PLAIN, full, SM90)] == ["accumulators_may_spill"]
    assert warnings(F16_TN, PLAIN, at((128, 128, 64), COOP), SM90) == []
    assert [w.severity for w in warnings(FP8, PLAIN, at((256, 128, 128), COOP), SM90)] == ["warning"]


def test_every_rule_says_what_it_means_and_where_it_stands():
    rules = all_rules()
    assert len({r.name for r in rules}) >= 60
    for rule in rules:
        assert rule.doc.endswith(".") and rule.source and rule.code.startswith("UC0")


def test_results_of_every_width_are_stored():
    for d in ("f32", "f16", "bf16", "e4m3", "e5m2", "s8"):
        assert verdict(gemm_problem(512, 512, 512, d=d), at(None, COOP, epilogue="tma")) is None
    assert verdict(gemm_problem(512, 512, 512, d="s64"), ANY) == "UC0501"
