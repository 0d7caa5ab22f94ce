"""The enumeration holds exactly the stated space, agrees with the single verdicts, and is fast enough to be asked."""

import random
import time
from dataclasses import replace

import pytest

from ucutlass.element_types import F16
from ucutlass.targets.arch import architecture
from ucutlass.targets.enumerate import check, complete_configs, exists
from ucutlass.targets.problem import (
    ANY,
    PLAIN,
    Alignments,
    Config,
    EpilogueSpec,
    GemmProblem,
    Operand,
    gemm_problem,
)

SM90 = architecture("sm_90a")
F16_TN = gemm_problem(4096, 4096, 4096)
FUSED = EpilogueSpec(c=Operand(F16, "n", 8), row_broadcasts=(F16,), has_functor=True)

PROBLEMS = {
    "f16": (F16_TN, PLAIN),
    "f16 fused": (F16_TN, FUSED),
    "f16 nt": (gemm_problem(4096, 4096, 4096, layout="nt"), PLAIN),
    "f16 align 4": (gemm_problem(4096, 4096, 4100), PLAIN),
    "f16 align 1": (gemm_problem(1, 105, 107), EpilogueSpec(row_broadcasts=(F16,), has_functor=True)),
    "tf32 tt": (gemm_problem(512, 512, 512, "f32", compute="tf32", layout="tt"), PLAIN),
    "e4m3": (gemm_problem(4096, 4096, 4096, "e4m3", d="e4m3"), PLAIN),
    "s8": (gemm_problem(4096, 4096, 4096, "s8", d="s8"), PLAIN),
    "mixed": (gemm_problem(4096, 4096, 4096, "f16", "s4"), FUSED),
    "grouped": (gemm_problem(4096, 4096, 4096, grouping="grouped"), PLAIN),
    "f64": (gemm_problem(512, 512, 512, "f64"), PLAIN),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_every_listed_configuration_is_complete_and_accepted_by_itself(name: str):
    problem, epilogue = PROBLEMS[name]
    listed = list(complete_configs(problem, epilogue, ANY, SM90))
    schedulers = {c.scheduler for c in listed}
    assert listed and len(set(listed)) == len(listed)
    for config in random.Random(1).sample(listed, min(60, len(listed))):
        assert None not in (config.tile, config.cluster, config.schedule, config.stages, config.split_k, config.swap_ab)
        assert check(problem, epilogue, config, SM90) == []
        again = list(complete_configs(problem, epilogue, config, SM90))
        # Multistage kernels have no name for the usual scheduler: leaving it open lists stream-k too.
        assert config in again and len(again) == (2 if config.scheduler is None and "stream_k" in schedulers else 1)


def test_the_stated_space_is_covered():
    listed = list(complete_configs(F16_TN, PLAIN, ANY, SM90))
    tma = [c for c in listed if c.schedule == "pingpong" and not c.swap_ab and c.epilogue == "tma"]
    tiles = {c.tile for c in tma}
    # 64 to 256 rows, 16 columns at a time, three k extents, fewer than 256 registers of 128 threads.
    expected = {
        (m, n, k) for m in (64, 128, 192, 256) for n in range(16, 257, 16) for k in (16, 32, 64) if m * n // 128 < 256
    }
    assert tiles == expected
    clusters = {c.cluster for c in tma}
    assert clusters == {(m, n, 1) for m in (1, 2, 4, 8) for n in (1, 2, 4, 8) if m * n <= 8}
    assert len(tma) == len(tiles) * len(clusters)
    assert {c.schedule for c in listed} == {
        *("cooperative", "pingpong", "warpspecialized", "tma", "multistage"),
        *("cpasync", "cpasync_cooperative", "cpasync_pingpong"),
    }


@pytest.mark.parametrize("name", ["f16", "tf32 tt", "mixed", "f16 align 4"])
def test_a_partial_configuration_filters_the_list(name: str):
    """What is set on the grid selects from the whole list; nothing is lost and nothing new appears."""
    problem, epilogue = PROBLEMS[name]
    listed = list(complete_configs(problem, epilogue, ANY, SM90))
    rng = random.Random(7)
    for _ in range(40):
        model = rng.choice(listed)
        fields = rng.sample(["tile", "cluster", "schedule", "epilogue", "stages", "scheduler"], rng.randint(1, 4))
        partial = replace(ANY, **{f: getattr(model, f) for f in fields})
        got = set(complete_configs(problem, epilogue, partial, SM90))
        kept = {c for c in listed if all(getattr(c, f) == getattr(model, f) for f in fields)}
        if partial.tile is not None or partial.cluster is not None:
            kept = {c for c in kept if not c.swap_ab}
        if partial.stages is not None:
            # Other kernels than those with as many stages as fit may have the number that is set.
            assert kept <= got
        else:
            assert got == kept


def test_setters_are_obeyed():
    asked = Config(
        tile=(128, 112, 48),
        cluster=(1, 4, 1),
        schedule="pingpong",
        stages=3,
        raster="along_n",
        swizzle=4,
        alignment=Alignments(a=8),
    )
    found = list(complete_configs(F16_TN, PLAIN, asked, SM90))
    assert found
    for config in found:
        for field in ("tile", "cluster", "schedule", "stages", "raster", "swizzle"):
            assert getattr(config, field) == getattr(asked, field)
        assert config.alignment.a == 8 and config.swap_ab is False


def test_operands_are_swapped_unasked_only_where_no_extent_is_set():
    assert {c.swap_ab for c in complete_configs(F16_TN, PLAIN, Config(schedule="pingpong"), SM90)} == {False, True}
    for partial in (Config(tile=(128, 128, 64)), Config(cluster=(1, 1, 1)), Config(alignment=Alignments(a=8))):
        assert {c.swap_ab for c in complete_configs(F16_TN, PLAIN, partial, SM90)} == {False}
    assert {c.swap_ab for c in complete_configs(F16_TN, PLAIN, Config(swap_ab=True), SM90)} == {True}


def test_a_swapped_kernel_walks_the_tiles_as_the_program_says():
    found = list(complete_configs(F16_TN, PLAIN, Config(raster="along_m", schedule="pingpong"), SM90))
    assert {(c.swap_ab, c.raster) for c in found} == {(False, "along_m"), (True, "along_n")}


def test_misaligned_problems_go_through_cp_async_or_the_sm80_kernels():
    four = {c.schedule for c in complete_configs(gemm_problem(512, 512, 516), PLAIN, ANY, SM90)}
    assert four == {"cpasync", "cpasync_cooperative", "cpasync_pingpong", "multistage"}
    one = list(complete_configs(gemm_problem(1, 105, 107), PLAIN, ANY, SM90))
    assert {c.schedule for c in one} == {"multistage"}
    assert {(c.alignment.a, c.alignment.b, c.alignment.d, c.stages) for c in one} == {(1, 1, 1, 2)}


def test_settings_and_configurations_say_the_same():
    settings = {
        "tile": (128, 256, 64),
        "cluster": (2, 1),
        "schedule": ("cooperative_fp8_fast",),
        "raster": ("along_m", 4),
        "alignment": (16, None, None, 8),
        "swap_ab": (),
    }
    config = Config.from_settings(settings)
    assert config == Config(
        tile=(128, 256, 64),
        cluster=(2, 1, 1),
        schedule="cooperative",
        fast_accum=True,
        raster="along_m",
        swizzle=4,
        alignment=Alignments(a=16, d=8),
        swap_ab=True,
    )
    assert Config.from_settings(config.to_settings()) == config
    assert Config.from_settings({"schedule": ("auto",), "epilogue": ("auto",)}) == ANY
    assert config.describe().startswith(".with_tile(128, 256, 64).with_cluster(2, 1, 1)")


def _best_of(repeats: int, problem: GemmProblem, partial: Config) -> float:
    times: list[float] = []
    for _ in range(repeats):
        begin = time.process_time()
        exists(problem, PLAIN, partial, SM90)
        times.append(time.process_time() - begin)
    return min(times)


@pytest.mark.parametrize(
    "partial",
    [ANY, Config(tile=(128, 128, 64)), Config(stages=100), Config(cluster=(3, 1, 1)), Config(tile=(100, 128, 64))],
)
def test_a_verdict_is_quick(partial: Config):
    """50 ms in a warm process; the best of five, because other processes share the machine."""
    assert _best_of(5, F16_TN, partial) < 0.05


def test_listing_everything_is_quick():
    begin = time.process_time()
    count = sum(1 for _ in complete_configs(F16_TN, PLAIN, ANY, SM90))
    assert time.process_time() - begin < 2
    assert 15_000 < count < 60_000
