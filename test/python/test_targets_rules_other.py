"""Verdicts on the sm_80 family, on Blackwell and on convolutions, as the compiler or the header gives them."""

from dataclasses import replace
from typing import Literal, TypedDict, Unpack

import pytest

from ucutlass.element_types import ELEMENT_TYPES, F16, F32, S32
from ucutlass.targets.arch import architecture
from ucutlass.targets.conv import ConvKind, ConvProblem
from ucutlass.targets.enumerate import Problem, complete_configs, exists
from ucutlass.targets.families import family_of, schedules_of
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
from ucutlass.targets.rules.conv import is_optimized

F16_TN = gemm_problem(4096, 4096, 4096)
TF32 = gemm_problem(4096, 4096, 4096, "f32", compute="tf32")
S8 = gemm_problem(4096, 4096, 4096, "s8")
E4M3 = gemm_problem(4096, 4096, 4096, "e4m3")
FUSED = EpilogueSpec(row_broadcasts=(F16,), has_functor=True)
MULTISTAGE: Schedule = "multistage"


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


def at(tile: Shape3 | None = None, schedule: Schedule | None = None, **fields: Unpack[Fields]) -> Config:
    config = Config(tile=tile, schedule=schedule, fast_accum=None if schedule is None else False)
    return replace(config, **fields)


def verdict(target: str, problem: Problem, config: Config = ANY, epilogue: EpilogueSpec = PLAIN) -> str | None:
    arch = architecture(target)
    found = explain_refusal(problem, epilogue, config, arch)
    assert bool(found) != exists(problem, epilogue, config, arch)
    return found[0].code if found else None


@pytest.mark.parametrize(
    ("target", "problem", "config", "expected"),
    [
        # The same kernels on every target; fp8 begins with sm_89.
        *(
            (t, F16_TN, at(schedule=MULTISTAGE), None)
            for t in ("sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120a")
        ),
        ("sm_80", E4M3, ANY, "UC0501"),
        ("sm_86", E4M3, ANY, "UC0501"),
        ("sm_89", E4M3, ANY, None),
        ("sm_89", E4M3, at(schedule=MULTISTAGE, fast_accum=True), None),
        ("sm_89", F16_TN, at(schedule=MULTISTAGE, fast_accum=True), "UC0522"),
        ("sm_80", gemm_problem(512, 512, 512, "s8", "f16"), ANY, "UC0501"),
        # Layouts: everything but integers and fp8 takes all four.
        *(("sm_80", gemm_problem(512, 512, 512, layout=lay), ANY, None) for lay in ("tn", "nn", "nt", "tt")),
        *(
            ("sm_80", gemm_problem(512, 512, 512, "f32", compute="tf32", layout=lay), ANY, None)
            for lay in ("tn", "nn", "nt", "tt")
        ),
        *(("sm_80", gemm_problem(512, 512, 512, "f64", layout=lay), ANY, None) for lay in ("tn", "nn", "nt", "tt")),
        *(("sm_80", gemm_problem(512, 512, 512, "f32", layout=lay), ANY, None) for lay in ("tn", "nn", "nt", "tt")),
        *(("sm_80", gemm_problem(512, 512, 512, "s8", layout=lay), ANY, "UC0511") for lay in ("nn", "nt", "tt")),
        ("sm_80", gemm_problem(512, 512, 512, d_major="m"), ANY, None),
        ("sm_80", gemm_problem(512, 512, 512, d_major="m"), at((128, 64, 32)), "UC0511"),
        ("sm_80", gemm_problem(512, 512, 512, d_major="m"), at((128, 64, 32), swap_ab=True), None),
        # Alignment; one element of f16 is too small for cp.async and leaves two stages.
        *(("sm_80", gemm_problem(512, 512, k), ANY, None) for k in (512, 508, 510, 511)),
        ("sm_80", gemm_problem(512, 512, 511), at(stages=3), "UC0507"),
        ("sm_80", gemm_problem(512, 512, 511), at(stages=2), None),
        ("sm_80", gemm_problem(512, 512, 510), at(stages=3), None),
        ("sm_80", gemm_problem(512, 512, 520, "s8"), ANY, "UC0504"),
        ("sm_80", gemm_problem(512, 512, 528, "s8"), ANY, None),
        ("sm_80", gemm_problem(512, 512, 528, "s4"), ANY, "UC0504"),
        ("sm_80", S8, at(alignment=Alignments(a=8)), "UC0504"),
        ("sm_80", gemm_problem(512, 512, 512, "f32"), at(alignment=Alignments(a=4)), "UC0504"),
        ("sm_80", gemm_problem(512, 512, 512, "f32"), at(alignment=Alignments(d=4)), "UC0504"),
        ("sm_80", gemm_problem(512, 512, 512, "s8", d="s8"), at((128, 64, 64), alignment=Alignments(d=16)), "UC0504"),
        ("sm_80", gemm_problem(512, 512, 512, "s8", d="s8"), at((128, 128, 64), alignment=Alignments(d=16)), None),
        # Tiles, warps and instructions.
        *(
            ("sm_80", F16_TN, at((m, n, 32)), None)
            for m, n in ((256, 128), (128, 256), (256, 64), (64, 256), (128, 128), (64, 64))
        ),
        ("sm_80", F16_TN, at((256, 256, 32)), "UC0503"),
        ("sm_80", F16_TN, at((128, 32, 32)), "UC0503"),
        ("sm_80", S8, at((128, 32, 64)), None),
        ("sm_80", F16_TN, at((128, 128, 16)), "UC0503"),
        ("sm_80", TF32, at((128, 128, 16)), None),
        ("sm_80", gemm_problem(512, 512, 512, "f64"), at((32, 16, 16)), None),
        ("sm_80", gemm_problem(512, 512, 512, "f32"), at((128, 128, 32)), "UC0503"),
        ("sm_80", F16_TN, at((128, 128, 32), warps=(64, 64, 32)), None),
        ("sm_80", F16_TN, at((128, 128, 32), warps=(32, 128, 32)), None),
        ("sm_80", F16_TN, at((128, 128, 32), warps=(64, 32, 32)), None),
        ("sm_80", F16_TN, at((128, 128, 32), warps=(48, 64, 32)), "UC0514"),
        ("sm_80", F16_TN, at((128, 128, 32), warps=(128, 128, 32)), "UC0514"),
        ("sm_80", F16_TN, at((256, 128, 32), warps=(64, 128, 32)), "UC0510"),
        ("sm_80", F16_TN, at((128, 128, 64), warps=(64, 64, 32)), "UC0514"),
        ("sm_80", F16_TN, at(instruction=(16, 8, 16)), None),
        ("sm_80", F16_TN, at(instruction=(16, 8, 8)), "UC0514"),
        ("sm_80", TF32, at(instruction=(16, 8, 8)), None),
        ("sm_90a", gemm_problem(512, 512, 512, "f64"), at(instruction=(16, 8, 8)), None),
        ("sm_80", gemm_problem(512, 512, 512, "f64"), at(instruction=(16, 8, 8)), "UC0514"),
        # Shared memory: 32 KB a stage of 128x128x64, 48 KB of 256x128x64.
        ("sm_80", F16_TN, at((128, 128, 64), stages=5), None),
        ("sm_80", F16_TN, at((128, 128, 64), stages=6), "UC0506"),
        ("sm_86", F16_TN, at((128, 128, 64), stages=3), None),
        ("sm_86", F16_TN, at((128, 128, 64), stages=4), "UC0506"),
        ("sm_80", F16_TN, at((256, 128, 64), stages=3), None),
        ("sm_86", F16_TN, at((256, 128, 64), stages=3), "UC0506"),
        ("sm_89", F16_TN, at((256, 128, 64), stages=2), None),
        ("sm_80", F16_TN, at(stages=1), "UC0507"),
        # What the family has not.
        ("sm_80", F16_TN, at(cluster=(2, 1, 1)), "UC0519"),
        ("sm_80", F16_TN, at(cluster=(1, 1, 1)), None),
        ("sm_80", F16_TN, at(epilogue="tma"), "UC0519"),
        ("sm_80", F16_TN, at(schedule="cooperative"), "UC0508"),
        ("sm_80", F16_TN, at(scheduler="persistent"), "UC0512"),
        ("sm_80", F16_TN, at(scheduler="stream_k"), None),
        ("sm_80", F16_TN, at(split_k=4), None),
        ("sm_80", F16_TN, at((128, 128, 64), split_k=65), "UC0513"),
        ("sm_80", F16_TN, at(raster="along_n"), None),
        ("sm_80", F16_TN, at(raster="along_n", swizzle=4), "UC0512"),
        ("sm_80", F16_TN, at(raster="along_m", swizzle=8), None),
        # Groups and grids.
        ("sm_80", gemm_problem(512, 512, 512, grouping="grouped"), ANY, None),
        ("sm_80", gemm_problem(512, 512, 512, grouping="grouped"), at(scheduler="stream_k"), "UC0512"),
        ("sm_80", gemm_problem(64, 64, 64, batch=65536), ANY, "UC0516"),
        # sm_100a: one multiprocessor or a pair.
        ("sm_100a", F16_TN, at((128, 256, 64), "one_sm"), None),
        ("sm_100a", F16_TN, at((256, 256, 64), "two_sm"), None),
        ("sm_100a", F16_TN, at((192, 128, 64), "one_sm"), "UC0503"),
        ("sm_100a", F16_TN, at((256, 128, 64), "two_sm", cluster=(1, 1, 1)), "UC0505"),
        ("sm_100a", F16_TN, at((256, 128, 64), "two_sm", cluster=(2, 1, 1)), None),
        ("sm_100a", F16_TN, at((128, 512, 64), "one_sm"), "UC0503"),
        ("sm_100a", F16_TN, at((256, 24, 64), "two_sm"), "UC0503"),
        ("sm_100a", F16_TN, at((64, 8, 64), "one_sm"), "UC0503"),
        (
            "sm_100a",
            gemm_problem(512, 512, 512, "s8", d="s8"),
            at((128, 224, 64), "one_sm", epilogue="nosmem"),
            "UC0503",
        ),
        ("sm_100a", gemm_problem(512, 512, 512, "s8", d="s8"), at((128, 192, 64), "one_sm", epilogue="nosmem"), None),
        ("sm_100a", F16_TN, at(schedule="cooperative"), "UC0508"),
        ("sm_100a", gemm_problem(512, 512, 512, "f32", compute="tf32", layout="nt"), at(schedule="one_sm"), None),
        ("sm_100a", gemm_problem(512, 512, 512, "s8", layout="nt"), at(schedule="one_sm"), None),
        ("sm_100a", gemm_problem(512, 512, 512, "e4m3", "e5m2"), at(schedule="two_sm"), None),
        ("sm_100a", gemm_problem(512, 512, 508), at(schedule="one_sm"), "UC0504"),
        ("sm_100a", gemm_problem(512, 512, 508), ANY, None),
        ("sm_100a", F16_TN, at((256, 128, 64), "two_sm", epilogue="tma", stages=8), None),
        ("sm_100a", F16_TN, at((256, 128, 64), "two_sm", stages=12), "UC0506"),
        # sm_120a: fp8 with k contiguous, no clusters.
        ("sm_120a", E4M3, at((128, 128, 128), "cooperative"), None),
        ("sm_120a", E4M3, at((128, 128, 128), "pingpong"), None),
        ("sm_120a", gemm_problem(512, 512, 512, "e4m3", layout="tt"), at(schedule="cooperative"), "UC0511"),
        ("sm_120a", E4M3, at(schedule="cooperative", cluster=(2, 1, 1)), "UC0505"),
        ("sm_120a", F16_TN, at(schedule="cooperative"), "UC0508"),
        ("sm_120a", F16_TN, ANY, None),
        ("sm_120a", E4M3, at((128, 256, 128), "cooperative"), "UC0506"),
    ],
)
def test_verdicts(target: str, problem: GemmProblem, config: Config, expected: str | None):
    assert verdict(target, problem, config) == expected


def test_a_sm_120a_kernel_gets_two_stages():
    """128x128x128 e4m3 with an f16 result was measured to fit twice into 99 KB."""
    problem = gemm_problem(4096, 4096, 4096, "e4m3", d="f16")
    spec = EpilogueSpec(c=Operand(F16, "n", 8))
    config = next(complete_configs(problem, spec, at((128, 128, 128), "cooperative"), architecture("sm_120a")))
    assert config.stages == 2


@pytest.mark.parametrize(
    ("target", "a", "b", "d", "layout", "c", "schedule", "epilogue", "tile", "stages"),
    [
        ("sm_100a", "f16", "f16", "f16", "tn", None, "one_sm", "tma", (128, 160, 64), 5),
        ("sm_100a", "f16", "f16", "f16", "tn", None, "one_sm", "nosmem", (128, 64, 16), 37),
        ("sm_100a", "f16", "f16", "f16", "tn", None, "one_sm", "nosmem", (64, 192, 32), 14),
        ("sm_100a", "f16", "f16", "f16", "nt", "f16", "two_sm", "nosmem", (128, 128, 64), 14),
        ("sm_100a", "f16", "f16", "f16", "nt", "f16", "one_sm", "tma", (64, 32, 32), 36),
        ("sm_100a", "f16", "f16", "f16", "nt", "f16", "one_sm", "nosmem", (128, 64, 16), 37),
        ("sm_100a", "f32", "f32", "f32", "nt", None, "one_sm", "tma", (128, 160, 16), 10),
        ("sm_100a", "f32", "f32", "f32", "nt", None, "one_sm", "tma", (64, 192, 8), 24),
        ("sm_100a", "s8", "s8", "s8", "nn", None, "one_sm", "nosmem", (128, 32, 64), 22),
        ("sm_100a", "s8", "s8", "s8", "nn", None, "two_sm", "tma", (256, 192, 64), 15),
        ("sm_100a", "e4m3", "e4m3", "bf16", "tt", None, "one_sm", "nosmem", (128, 48, 32), 41),
        ("sm_100a", "e4m3", "e4m3", "bf16", "tt", None, "two_sm", "tma", (128, 32, 128), 22),
        ("sm_100a", "e4m3", "e4m3", "e4m3", "tn", None, "one_sm", "tma", (64, 128, 32), 36),
        ("sm_100a", "e4m3", "e4m3", "e4m3", "tn", None, "one_sm", "tma", (128, 256, 128), 4),
        ("sm_120a", "e4m3", "e4m3", "f16", "tn", "f16", "cooperative", "tma", (128, 256, 32), 7),
        ("sm_120a", "e4m3", "e4m3", "f16", "tn", "f16", "cooperative", "tma", (128, 128, 64), 5),
        ("sm_120a", "e4m3", "e4m3", "f16", "tn", "f16", "pingpong", "tma", (128, 64, 128), 3),
        ("sm_120a", "e4m3", "e4m3", "f16", "tn", "f16", "pingpong", "tma", (128, 192, 32), 8),
        ("sm_120a", "e4m3", "e4m3", "f32", "tn", None, "cooperative", "tma", (64, 128, 128), 3),
        ("sm_120a", "e4m3", "e4m3", "f32", "tn", None, "cooperative", "tma", (128, 128, 128), 2),
        ("sm_120a", "e4m3", "e4m3", "f32", "tn", None, "pingpong", "tma", (64, 96, 64), 8),
        ("sm_120a", "e4m3", "e4m3", "f32", "tn", None, "cooperative", "tma", (128, 64, 32), 13),
        ("sm_120a", "e5m2", "e4m3", "e4m3", "tn", None, "cooperative", "tma", (64, 160, 64), 6),
        ("sm_120a", "e5m2", "e4m3", "e4m3", "tn", None, "cooperative", "tma", (64, 192, 64), 5),
    ],
)
def test_stages_of_compiled_blackwell_kernels(
    target: str,
    a: str,
    b: str,
    d: str,
    layout: str,
    c: str | None,
    schedule: Schedule,
    epilogue: EpilogueKind,
    tile: Shape3,
    stages: int,
):
    """Sampled configurations that nvcc built, with the number of stages that CUTLASS chose for them."""
    problem = gemm_problem(4096, 4096, 4096, a, b, d, layout=layout, compute="tf32" if a == "f32" else None)
    spec = EpilogueSpec(c=None if c is None else Operand(ELEMENT_TYPES[c], "n", 128 // ELEMENT_TYPES[c].bits))
    config = next(complete_configs(problem, spec, at(tile, schedule, epilogue=epilogue), architecture(target)))
    assert config.stages == stages


def test_fused_operations_on_the_other_families():
    assert verdict("sm_80", F16_TN, ANY, FUSED) is None
    assert verdict("sm_100a", F16_TN, at(epilogue="nosmem"), FUSED) is None
    assert verdict("sm_80", gemm_problem(512, 512, 512, grouping="grouped"), ANY, FUSED) == "UC0520"
    with_c = EpilogueSpec(c=Operand(F16, "n", 8))
    assert verdict("sm_80", gemm_problem(512, 512, 512, grouping="grouped"), ANY, with_c) is None


# ---- convolutions ----------------------------------------------------------------------------------------------------


def conv(
    kind: ConvKind = "fprop",
    element: str = "f16",
    spatial: tuple[int, ...] = (56, 56),
    filter_: tuple[int, ...] = (3, 3),
    c: int = 64,
    k: int = 64,
    groups: int = 1,
    stride: tuple[int, ...] = (),
    dilation: tuple[int, ...] = (),
    padding: tuple[tuple[int, int], ...] = (),
    channels_last: bool = True,
    n: int = 8,
) -> ConvProblem:
    stored = ELEMENT_TYPES[element]
    result = stored if stored.is_float else S32
    compute = "tf32" if element == "f32" else element
    accumulator = F32 if stored.is_float else S32
    return ConvProblem(
        kind,
        n,
        spatial,
        c,
        k,
        filter_,
        stored,
        result,
        accumulator,
        compute,
        stride,
        padding,
        dilation,
        groups,
        channels_last,
    )


TMA = at(schedule="warpspecialized")


@pytest.mark.parametrize(
    ("problem", "config", "expected"),
    [
        *((conv(spatial=s, filter_=(3,) * len(s)), TMA, None) for s in ((128,), (56, 56), (20, 20, 20))),
        (conv(), at(schedule="cooperative"), "UC0508"),
        (conv(), at(schedule="warpspecialized", epilogue="tma"), None),
        (conv(channels_last=False), ANY, "UC0511"),
        *((conv(element=e), TMA, None) for e in ("f16", "bf16", "f32", "s8", "e4m3")),
        *((conv(kind, e), TMA, None) for kind in ("dgrad", "wgrad") for e in ("f16", "bf16")),
        (conv("dgrad", "f32"), TMA, "UC0521"),
        (conv("wgrad", "s8"), TMA, "UC0521"),
        (conv("dgrad", "f32"), ANY, None),
        # Channels: 16 bytes for TMA.
        (conv(c=3, k=96, filter_=(11, 11), spatial=(227, 227), stride=(4, 4)), TMA, "UC0521"),
        (conv(c=3, k=96, filter_=(11, 11), spatial=(227, 227), stride=(4, 4)), ANY, None),
        (conv(element="f32", c=1, k=8, spatial=(128,), filter_=(3,)), TMA, "UC0521"),
        (conv(c=1, k=4, spatial=(8, 8, 8), filter_=(3, 3, 3)), ANY, None),
        # Groups.
        (conv(groups=4), TMA, "UC0521"),
        (conv(groups=4), ANY, None),
        (conv(groups=3), ANY, "UC0521"),
        (conv(groups=64), ANY, None),
        # Strides, dilation, padding, corners.
        (conv(stride=(2, 2), dilation=(2, 2)), TMA, None),
        (conv("dgrad", stride=(2, 2)), TMA, "UC0521"),
        (conv("dgrad", stride=(2, 2)), ANY, None),
        (conv("dgrad", stride=(2, 2), dilation=(2, 2)), ANY, "UC0521"),
        (conv(padding=((64, 64), (1, 1)), filter_=(129, 3), spatial=(300, 56)), TMA, None),
        (conv(padding=((257, 0), (0, 0)), spatial=(300, 56)), TMA, "UC0521"),
        (conv(dilation=(128, 1), spatial=(300, 56)), TMA, "UC0521"),
        (conv(padding=((0, 0), (0, 0)), dilation=(65, 1), spatial=(300, 56)), TMA, "UC0521"),
        (conv(padding=((64, 64), (0, 0)), dilation=(65, 1), spatial=(300, 56)), TMA, None),
        (conv(spatial=(64, 20, 20), filter_=(3, 3, 3), dilation=(16, 1, 1)), TMA, "UC0521"),
        # Tiles are those of gemms; no schedule that shares tiles among warpgroups.
        (conv(), at((128, 128, 64), "warpspecialized"), None),
        (conv(), at((100, 128, 64), "warpspecialized"), "UC0503"),
        (conv(), at(None, "warpspecialized", split_k=2), "UC0513"),
        (conv(), at(None, "multistage", split_k=2), None),
    ],
)
def test_convolutions_on_sm_90a(problem: ConvProblem, config: Config, expected: str | None):
    assert verdict("sm_90a", problem, config) == expected


def test_the_gemm_of_a_convolution():
    """N·P·Q by K by C·R·S, with the output size that PyTorch's formula gives."""
    problem = conv(spatial=(8, 10), filter_=(3, 3), dilation=(2, 1), c=16, k=32, n=2)
    assert problem.output == (4, 8)
    gemm = problem.as_gemm()
    assert (gemm.m, gemm.n, gemm.k) == (2 * 4 * 8, 32, 16 * 9)
    assert (gemm.a.major, gemm.b.major, gemm.d.major) == ("k", "k", "n")
    gradient = replace(problem, kind="dgrad").as_gemm()
    assert (gradient.m, gradient.n, gradient.k) == (2 * 8 * 10, 16, 32 * 9)
    weights = replace(problem, kind="wgrad").as_gemm()
    assert (weights.m, weights.n, weights.k) == (32, 16 * 9, 2 * 4 * 8)


def test_schedules_belong_to_families():
    asked: tuple[Schedule, ...] = ("pingpong", "multistage", "two_sm")
    assert schedules_of(architecture("sm_80")) == ("multistage",)
    assert set(schedules_of(architecture("sm_100a"))) == {"one_sm", "two_sm", "multistage"}
    names = {s: family_of(s, architecture("sm_90a")) for s in asked}
    assert {s: None if f is None else f.name for s, f in names.items()} == {
        "pingpong": "sm90_3x",
        "multistage": "sm80_2x",
        "two_sm": None,
    }


def test_large_filters_take_the_general_iterator():
    assert is_optimized(conv(filter_=(32, 3), spatial=(64, 64)))
    assert not is_optimized(conv(filter_=(33, 3), spatial=(64, 64)))


def test_output_sizes_agree_with_pytorch():
    torch = pytest.importorskip("torch")
    for size in range(1, 10):
        for taps in range(1, 4):
            for stride in (1, 2, 3):
                for dilation in (1, 2, 3):
                    for pad in (0, 1, 2):
                        if size + 2 * pad < (taps - 1) * dilation + 1:
                            continue
                        problem = conv(
                            spatial=(size,),
                            filter_=(taps,),
                            c=1,
                            k=1,
                            n=1,
                            stride=(stride,),
                            dilation=(dilation,),
                            padding=((pad, pad),),
                        )
                        got = torch.nn.functional.conv1d(
                            torch.zeros(1, 1, size), torch.zeros(1, 1, taps), None, stride, pad, dilation
                        )
                        assert problem.output == (got.shape[-1],)


@pytest.mark.parametrize("major", ["n", "m"])
def test_swapping_twice_is_the_same_problem(major: Literal["n", "m"]):
    problem = gemm_problem(128, 256, 512, "s8", "f16", d_major=major, multiples={"m": 4}, names=("P", "Q", "R"))
    assert problem.swapped().swapped() == problem
    assert problem.swapped().names == ("Q", "P", "R")
    spec = EpilogueSpec(c=Operand(F16, "n", 8), row_broadcasts=(F16,), col_reductions=(F32,))
    assert spec.swapped().swapped() == spec and spec.swapped().col_broadcasts == (F16,)
