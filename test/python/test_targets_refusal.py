"""Refusals name the place, the numbers and a fix that works. The cases are troubles people ran into with CUTLASS."""

import random

import pytest

from ucutlass.diagnostics.catalogue import CATALOGUE
from ucutlass.element_types import F16
from ucutlass.targets.arch import architecture
from ucutlass.targets.enumerate import complete_configs, exists
from ucutlass.targets.families import all_rules
from ucutlass.targets.problem import ANY, PLAIN, Alignments, Config, EpilogueSpec, GemmProblem, gemm_problem
from ucutlass.targets.refusal import apply_fix, explain_refusal, nearest_tiles
from ucutlass.targets.relax import relax, staged_problem
from ucutlass.targets.rules.core import Violation

SM90 = architecture("sm_90a")
BIAS_RELU = EpilogueSpec(row_broadcasts=(F16,), has_functor=True)


def refusal(
    problem: GemmProblem, config: Config, epilogue: EpilogueSpec = PLAIN, target: str = "sm_90a"
) -> list[Violation]:
    return explain_refusal(problem, epilogue, config, architecture(target))


def only(problem: GemmProblem, config: Config, epilogue: EpilogueSpec = PLAIN, target: str = "sm_90a") -> Violation:
    (violation,) = refusal(problem, config, epilogue, target)
    return violation


def test_b01_odd_sizes_run_and_a_pinned_alignment_says_why_not():
    problem = gemm_problem(1, 105, 107)
    config = next(complete_configs(problem, BIAS_RELU, ANY, SM90))
    assert (config.schedule, config.alignment.a) == ("multistage", 1)
    violation = only(problem, Config(alignment=Alignments(a=8)), BIAS_RELU)
    assert violation.code == "UC0504" and violation.part == "setter:alignment:a"
    for text in ("rows of A", "K = 107", "214 bytes", "multiples of 16 bytes", "largest alignment of A is 1"):
        assert text in violation.message
    assert violation.fix is not None and violation.fix.value == "1"
    assert any("padding K to 112" in note for note in violation.notes)


def test_b03_only_contiguous_extents_are_checked():
    problem = gemm_problem(1471, 256, 512, layout="tt")
    assert refusal(problem, Config(alignment=Alignments(8, 8, None, 8))) == []


def test_b11_a_ragged_tile_is_no_obstacle():
    assert refusal(gemm_problem(256, 2112, 7168, "bf16"), Config(tile=(128, 128, 64))) == []


def test_b16_small_groups_with_their_alignment():
    problem = gemm_problem(36, 36, 64, layout="tt", grouping="grouped")
    assert refusal(problem, ANY) == []
    assert next(complete_configs(problem, PLAIN, ANY, SM90)).alignment.b == 4
    violation = only(problem, Config(alignment=Alignments(8, 8, None, 8)))
    assert "N = 36" in violation.message and violation.fix is not None
    assert violation.fix.value == ".with_alignment(a=8, b=4, d=4)"


def test_b34_the_verdict_on_an_odd_width_is_the_compilers():
    common = {"schedule": ("pingpong",), "epilogue": ("tma",), "cluster": (4, 1, 1)}
    good = Config.from_settings({**common, "tile": (128, 112, 64)})
    bad = Config.from_settings({**common, "tile": (128, 24, 64)})
    assert refusal(gemm_problem(2048, 2048, 2048), good) == []
    assert {v.part for v in refusal(gemm_problem(2048, 2048, 2048), bad)} == {"setter:tile:1"}
    violation = only(gemm_problem(2048, 2048, 2048, layout="tt"), bad)
    assert "24 columns" in violation.message and violation.fix is not None and violation.fix.value == "32"


@pytest.mark.parametrize("instruction", [(8, 8, 4), (16, 8, 8)])
def test_b36_bad_splits_are_one_line_each(instruction: tuple[int, int, int]):
    config = Config(tile=(128, 16, 16), warps=(32, 16, 16), instruction=instruction)
    found = refusal(gemm_problem(256, 256, 256), config, target="sm_80")
    text = "\n".join(v.message for v in found)
    assert "256x128, 128x256" in text and "16x8x16" in text
    assert all("\n" not in v.message for v in found)
    warp = Config(tile=(128, 64, 32), warps=(48, 32, 32))
    assert "m = 48 does not divide tile m = 128" in only(gemm_problem(256, 256, 256), warp, target="sm_80").message


def test_b38_three_nearest_tiles_are_named():
    problem = gemm_problem(16, 16, 16777216)
    violation = only(problem, Config(tile=(16, 16, 32), split_k=64))
    assert violation.code == "UC0503" and "tile m = 16" in violation.message
    assert violation.notes[-1].startswith("nearest legal tiles: 64x16x32, ")
    tiles = nearest_tiles(problem, PLAIN, Config(tile=(16, 16, 32), split_k=64), SM90)
    assert len(tiles) == 3
    assert all(exists(problem, PLAIN, Config(tile=t, split_k=64), SM90) for t in tiles)


def test_b41_widths_that_three_instructions_make():
    problem = gemm_problem(256, 192, 256)
    assert refusal(problem, Config(tile=(128, 96, 64), schedule="cooperative")) == []
    violation = only(problem, Config(tile=(192, 192, 64), schedule="cooperative"))
    assert "128 or 256" in violation.message


def test_b43_eight_bit_operands_are_copied_or_refused():
    problem = gemm_problem(128, 128, 128, "s8", layout="tt")
    relaxed = relax(problem, PLAIN, SM90)
    assert relaxed is not None and [(r.kind, r.operand) for r in relaxed.repairs] == [("transpose", "b")]
    assert relaxed.repairs[0].bytes == 2 * 128 * 128
    violation = only(problem, Config(schedule="cooperative", fast_accum=False))
    assert violation.code == "UC0511" and violation.part == "operand:1"
    assert "K contiguous" in violation.message and "template" not in violation.message


def test_b45_clusters_are_portable():
    problem = gemm_problem(4096, 4096, 512)
    for cluster in ((16, 1, 1), (8, 2, 1)):
        violation = only(problem, Config(tile=(128, 128, 64), cluster=cluster))
        assert "has 16 thread blocks: at most 8" in violation.message
        assert violation.fix is not None and violation.fix.value == ".with_cluster(8, 1)"
    assert refusal(gemm_problem(128, 4096, 512), Config(tile=(128, 128, 64), cluster=(2, 1, 1))) == []


def test_b47_the_arithmetic_of_shared_memory():
    problem = gemm_problem(4096, 4096, 4096, "f32", compute="tf32")
    violation = only(problem, Config(tile=(256, 64, 32), stages=4), target="sm_86")
    assert violation.code == "UC0506"
    for text in ("163840 bytes", "101376", "sm_86", "at most 2 stages fit"):
        assert text in violation.message
    assert violation.fix is not None and violation.fix.value == "2"
    assert refusal(problem, Config(tile=(256, 64, 32), stages=4), target="sm_80") == []


def test_b49_one_kib_over():
    problem = gemm_problem(4096, 4096, 4096)
    partial = Config(tile=(64, 256, 32))
    stages = {t: next(complete_configs(problem, PLAIN, partial, architecture(t))).stages for t in ("sm_80", "sm_86")}
    assert stages == {"sm_80": 4, "sm_86": 4}
    assert refusal(problem, Config(tile=(64, 256, 32), stages=5), target="sm_80") == []
    violation = only(problem, Config(tile=(64, 256, 32), stages=5), target="sm_86")
    assert "102400 bytes" in violation.message and "at most 4 stages fit" in violation.message


def test_b52_siblings_run_the_kernels_of_sm_80():
    for target in ("sm_86", "sm_89"):
        config = next(complete_configs(gemm_problem(256, 256, 256), PLAIN, ANY, architecture(target)))
        assert config.schedule == "multistage"


def test_setters_that_are_each_possible_are_refused_together():
    partial = Config(cluster=(2, 1, 1), alignment=Alignments(a=4))
    violation = only(gemm_problem(4096, 4096, 4096), partial)
    assert violation.code == "UC0518" and len(violation.notes) == 2
    assert ".with_cluster(2, 1, 1).with_alignment(a=4)" in violation.message


def test_a_missing_condition_is_the_fix():
    problem = gemm_problem(None, 4096, None, names=("rows", "N", "depth"))
    violation = only(problem, Config(schedule="cooperative", fast_accum=False))
    assert violation.code == "UC0517" and violation.fix is not None
    assert (violation.fix.part, violation.fix.value) == ("where", "depth % 8 == 0")


def test_every_code_is_in_the_catalogue():
    assert {r.code for r in all_rules()} | {"UC0517", "UC0518"} <= set(CATALOGUE)


def _random_config(rng: random.Random) -> Config:
    settings: dict[str, tuple[int | str | None, ...]] = {}
    if rng.random() < 0.7:
        settings["tile"] = (
            rng.choice((32, 64, 96, 128, 192, 256, 512)),
            8 * rng.randint(1, 40),
            8 * rng.randint(1, 20),
        )
    if rng.random() < 0.4:
        settings["cluster"] = (rng.choice((1, 2, 3, 4, 8, 16)), rng.choice((1, 2, 4)), rng.choice((1, 1, 1, 2)))
    if rng.random() < 0.5:
        names = ("cooperative", "pingpong", "warpspecialized", "tma", "cpasync", "multistage", "one_sm")
        settings["schedule"] = (rng.choice(names) + rng.choice(("", "", "_fp8_fast")),)
    if rng.random() < 0.3:
        settings["epilogue"] = (rng.choice(("tma", "nosmem")),)
    if rng.random() < 0.3:
        settings["stages"] = (rng.randint(1, 14),)
    if rng.random() < 0.2:
        settings["scheduler"] = (rng.choice(("persistent", "stream_k")),)
    if rng.random() < 0.2:
        settings["split_k"] = (rng.choice((1, 2, 4, 500)),)
    if rng.random() < 0.2:
        settings["alignment"] = (rng.choice((1, 2, 4, 8, 16)), None, None, rng.choice((None, 4, 8)))
    return Config.from_settings(settings)


_PROBLEMS = [
    gemm_problem(4096, 4096, 4096),
    gemm_problem(100, 104, 108, layout="tt"),
    gemm_problem(512, 512, 512, "e4m3", d="bf16"),
    gemm_problem(512, 512, 512, "f32", compute="tf32", layout="nn"),
    gemm_problem(512, 512, 512, "s8", "f16"),
    gemm_problem(None, 4096, None),
]


@pytest.mark.parametrize("seed", range(120))
def test_fixes_make_the_program_pass(seed: int):
    """Refused exactly when no configuration exists; all fixes of a refusal together lead to one that does."""
    rng = random.Random(seed)
    problem = rng.choice(_PROBLEMS)
    epilogue = rng.choice((PLAIN, BIAS_RELU))
    config = _random_config(rng)
    target = rng.choice(("sm_90a", "sm_90a", "sm_80", "sm_100a"))
    arch = architecture(target)
    found = explain_refusal(problem, epilogue, config, arch)
    assert bool(found) != exists(problem, epilogue, config, arch)
    if not any(v.fix is not None for v in found):
        return
    current: tuple[GemmProblem, Config] = (problem, config)
    for violation in found:
        assert violation.message and violation.part
        if violation.fix is not None:
            applied = apply_fix(*current, violation.fix)
            assert applied is not None and isinstance(applied[0], GemmProblem)
            current = (applied[0], applied[1])
    assert exists(current[0], epilogue, current[1], arch)


@pytest.mark.parametrize(
    ("problem", "kinds"),
    [
        (gemm_problem(128, 128, 107, "e4m3"), {"pad"}),
        (gemm_problem(128, 128, 100, "s4"), {"pad"}),
        (gemm_problem(128, 128, 100, "s4", "f16"), {"convert"}),
        (gemm_problem(128, 128, 127, "e4m3", layout="tt"), {"transpose", "pad"}),
    ],
)
def test_what_has_no_kernel_is_prepared(problem: GemmProblem, kinds: set[str]):
    assert not exists(problem, PLAIN, ANY, SM90)
    relaxed = relax(problem, PLAIN, SM90)
    assert relaxed is not None and {r.kind for r in relaxed.repairs} == kinds
    assert exists(relaxed.problem, relaxed.epilogue, ANY, SM90)


def test_nothing_prepares_operands_of_two_wide_types():
    assert relax(gemm_problem(128, 128, 128, "f16", "bf16"), PLAIN, SM90) is None


def test_a_fused_group_of_misaligned_gemms_is_cut():
    problem = gemm_problem(36, 36, 64, layout="tt", grouping="grouped")
    relaxed = relax(problem, BIAS_RELU, SM90)
    assert relaxed is not None and [r.kind for r in relaxed.repairs] == ["cut"]


def test_operands_are_converted_to_the_type_of_the_products():
    rounded = staged_problem(gemm_problem(64, 64, 96, "f32", compute="f16"))
    assert rounded is not None and rounded.a.element == F16 and rounded.a.alignment == 8
    split = staged_problem(gemm_problem(64, 64, 100, "f32", compute="f16x3"))
    assert split is not None and (split.k, split.compute) == (300, "f16")
    assert exists(split, PLAIN, Config(schedule="cooperative", fast_accum=False), SM90)
    assert staged_problem(gemm_problem(64, 64, 64, "f32", compute="tf32")) is None
    assert staged_problem(gemm_problem(64, 64, 64)) is None
