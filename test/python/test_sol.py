"""Speed of Light: peaks and counts known from elsewhere, and what each rule says in numbers worked out by hand."""

import json
import math
import re
from pathlib import Path

import pytest
from interpreting import inferred, kernel_of
from validating import RIGHT
from xdsl.context import Context

from ucutlass.dialects.ucutlass.base import UcuOp
from ucutlass.dialects.ucutlass.kernel import KernelOp, kernels_of
from ucutlass.dialects.ucutlass.operations import SPECS
from ucutlass.passes.fuse import FusePass
from ucutlass.sol.bound import Measured, Pipe, Work, at_clock, bound_of, classify
from ucutlass.sol.counts import Counter, flops_of
from ucutlass.sol.modes import pipe_of, rate_of
from ucutlass.sol.program import ProgramBound, analyze
from ucutlass.sol.report import report_json, report_text
from ucutlass.targets.gpu import UnknownGpuError, gpu_for_device_name, gpu_names, load_gpu

H200 = load_gpu("h200")


def gemm(element: str, size: int, setters: str = "", out: str | None = None) -> str:
    dims = f"[{size}, {size}]"
    return (
        f"kernel f(a: {element}{dims}, b: {element}{dims}) -> {out or element}{dims} {{ return gemm(a, b){setters} }}"
    )


def bound(source: str, gpu: str = "h200", tolerance: float | None = None, **sizes: int) -> ProgramBound:
    """The bounds of a program's first kernel."""
    module = inferred(source)
    fused = module.clone()
    FusePass().apply(Context(), fused)
    return analyze(kernels_of(module)[0], kernels_of(fused)[0], load_gpu(gpu), sizes, tolerance)


def work(source: str, **sizes: int) -> Work:
    """What a program must do at least."""
    return Counter(H200, sizes).program(kernel_of(source))


# Peaks ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "gpu", "milliseconds"),
    [
        (gemm("bf16", 8192), "h200", 1.111),
        (gemm("f16", 8192), "h100-sxm", 1.111),
        (gemm("e4m3", 8192, out="f16"), "h200", 0.5556),
        (gemm("tf32", 8192, out="f32"), "h200", 2.223),
        (gemm("f32", 8192), "h200", 16.43),
        (gemm("f32", 8192, ".with_compute(tf32)"), "h200", 2.223),
        (gemm("f32", 8192, ".with_compute(tf32x3)"), "h200", 3 * 2.223),
        (gemm("f32", 8192, ".with_compute(f16x3)"), "h200", 3 * 1.111),
        (gemm("f32", 8192, ".with_compute(f16)"), "h200", 1.111),
        (gemm("s8", 8192, out="s32"), "h200", 0.5556),
        (gemm("f64", 8192), "h200", 16.43),
        (gemm("bf16", 8192), "a100-80gb", 3.524),
        (gemm("bf16", 8192), "h100-pcie", 1.454),
    ],
)
def test_products_are_bounded_by_dense_peaks(source: str, gpu: str, milliseconds: float) -> None:
    """2 M N K over the dense peak of the datasheet: half of the figure that is given with sparsity."""
    found = bound(source, gpu).program
    assert found.time * 1e3 == pytest.approx(milliseconds, rel=5e-3)
    assert found.work.matrix_flops == 2 * 8192**3
    assert found.bottleneck == "compute"


def test_memory_bounds_use_the_variant_of_the_gpu() -> None:
    source = "kernel f(x: f32[16384, 16384]) -> f32[16384, 16384] { return relu(x) }"
    moved = 2 * 4 * 16384**2
    for gpu, rate in (("a100-40gb", 1555e9), ("a100-80gb", 2039e9), ("h100-nvl", 3938e9), ("h200", 4800e9)):
        found = bound(source, gpu).program
        assert found.work.bytes == moved
        assert found.time == pytest.approx(moved / rate, rel=2e-3)
        assert found.bottleneck == "memory"


def test_a_type_that_a_gpu_lacks_is_formed_in_one_that_holds_it() -> None:
    a100 = load_gpu("a100-80gb")
    assert pipe_of("e4m3", a100) == (Pipe("tensor", "f16"), 1)
    assert rate_of("e4m3", a100) == 312e12
    assert bound(gemm("e4m3", 4096, out="f16"), "a100-80gb").program.time == pytest.approx(2 * 4096**3 / 312e12)
    # 8-bit integers hold 4-bit ones on chips without these.
    assert pipe_of("s4", H200) == (Pipe("tensor", "s8"), 1)
    assert pipe_of("s4", a100) == (Pipe("tensor", "s4"), 1)


def test_every_gpu_bounds_every_mode() -> None:
    modes = ("f16", "bf16", "tf32", "f32", "f64", "e4m3", "e5m2", "s8", "u8", "s4", "u4", "s32", "tf32x3", "f16x3")
    for name in gpu_names():
        for mode in modes:
            assert math.isfinite(rate_of(mode, load_gpu(name))) and rate_of(mode, load_gpu(name)) > 0


def test_an_unknown_gpu_is_an_error_that_lists_the_known() -> None:
    with pytest.raises(UnknownGpuError, match=r"known are .*h200"):
        load_gpu("some-new-gpu")
    with pytest.raises(UnknownGpuError, match="NVIDIA H200"):
        gpu_for_device_name("NVIDIA H20")


def test_peaks_scale_with_the_clock() -> None:
    """132 multiprocessors do 4096 FLOPs of f16 in a clock; the bandwidth is not theirs."""
    slower = at_clock(H200, 1e9)
    assert slower.peak("f16") == pytest.approx(132 * 4096 * 1e9, rel=1e-9)
    assert slower.peak("e4m3") == pytest.approx(2 * 132 * 4096 * 1e9, rel=1e-3)
    assert slower.memory_bytes_per_s == H200.memory_bytes_per_s


# Counts --------------------------------------------------------------------------------------------------------------


def test_a_fused_kernel_moves_less_than_its_operations() -> None:
    found = bound("""
kernel f(x: f16[4096, 4096], w: f16[4096, 4096], b: f16[4096]) -> f16[4096, 4096] {
  return gemm(x, w) >> bias(b) >> relu()
}""")
    matrix = 2 * 4096**2
    assert [entry.kind for entry in found.operations] == ["gemm", "bias", "relu"]
    assert [entry.bound.work.bytes for entry in found.operations] == [3 * matrix, 2 * matrix + 8192, 2 * matrix]
    assert [entry.operations for entry in found.kernels] == [("gemm", "bias", "relu")]
    assert found.kernels[0].bound.work.bytes == found.program.work.bytes == 3 * matrix + 8192
    compute = 2 * 4096**3 / 989.5e12
    assert found.program.time == pytest.approx(compute)
    assert found.operations_time == pytest.approx(compute + (4 * matrix + 8192) / 4.8e12)
    assert found.program.work.total_flops == 2 * 4096**3 + 2 * 4096**2


def test_a_cut_costs_its_bytes() -> None:
    """Softmax over rows of a product is a kernel of its own, which the perfect bound does not have."""
    found = bound("""
kernel f(x: f16[1024, 1024], w: f16[1024, 1024]) -> f16[1024, 1024] { return softmax(gemm(x, w), 1) }""")
    matrix = 2 * 1024**2
    assert len(found.kernels) == 2
    assert sum(entry.bound.work.bytes for entry in found.kernels) == 5 * matrix
    assert found.program.work.bytes == 3 * matrix


def test_units_work_beside_each_other() -> None:
    """A kernel takes the longest of its units' times, not their sum."""
    found = bound_of(Work({Pipe("tensor", "f16"): 989.5e9, Pipe("cuda", "f32"): 2 * 66.9e9}, 1), H200)
    assert found.time == pytest.approx(2e-3)
    assert found.unit == "cuda"
    tensor = bound_of(Work({Pipe("tensor", "f16"): 989.5e9, Pipe("tensor", "tf32"): 494.7e9}, 1), H200)
    assert tensor.time == pytest.approx(2e-3), "but one unit does one thing after the other"
    # An f32 product and its epilogue share the CUDA cores.
    assert work(gemm("f32", 64)).flops == {Pipe("cuda", "f32"): 2 * 64**3}


@pytest.mark.parametrize(
    ("source", "moved"),
    [
        ("kernel f(x: f16[8, 64], dead: f16[512]) -> f16[8, 64] { return relu(x) }", 2 * 2 * 512),
        ("kernel f(x: f16[8, 64]) -> f16[8, 64], f16[8, 64] { y = relu(x) return y, y }", 3 * 2 * 512),
        ("kernel f(x: f16[8, 64]) -> f16[8, 64] { return x + x }", 2 * 2 * 512),
        ("kernel f(x: f16[8, 64], b: f16[1, 64]) -> f32[8, 64] { return x + b >> cast(f32) }", 1024 + 128 + 2048),
        ("kernel f(x: f16[8, 64]) -> f16[8, 16] { return slice(x, 1, 0, 16) >> relu() }", 2 * 2 * 128),
        (
            "kernel f(x: f16[8, 64]) -> f16[8, 16], f16[8, 16] { return slice(x, 1, 0, 16), slice(x, 1, 8, 24) }",
            4 * 2 * 128,
        ),
        ("kernel f(x: f32[99, 4], i: s64[7, 4]) -> f32[7, 4] { return gather(x, 0, i) }", 28 * 4 + 28 * 8 + 28 * 4),
        ("kernel f(x: f32[3, 4], i: s64[99, 4]) -> f32[99, 4] { return gather(x, 0, i) }", 48 + 396 * 8 + 396 * 4),
        ("kernel f(x: s4[3, 5]) -> s8[3, 5] { return x >> cast(s8) }", 3 * 3 + 15),
        ("kernel f(x: f16[64, 32]@col) -> f16[32, 64] { return x.T }", 2 * 2 * 2048),
        ("kernel f(x: f64[]) -> f64[] { return x * 2 }", 16),
        ("kernel f(x: f32[0, 8]) -> f32[0, 8] { return relu(x) }", 0),
    ],
)
def test_bytes_are_those_that_a_perfect_kernel_moves(source: str, moved: int) -> None:
    assert work(source).bytes == moved


@pytest.mark.parametrize(
    ("source", "flops", "matrix"),
    [
        ("kernel f(x: f16[8, 64]) -> f16[8, 64] { return gelu(x) }", 5 * 512, 0),
        ("kernel f(x: f16[8, 64]) -> f16[8, 64] { dead = gelu(x) return relu(x) }", 512, 0),
        ("kernel f(x: f16[8, 64]) -> f16[64, 8] { return transpose(x, 0, 1) }", 0, 0),
        ("kernel f(x: f16[8, 64]) -> f16[8, 64] { return softmax(x, 1) }", 5 * 512, 0),
        ("kernel f(a: f16[5, 8, 64], b: f16[64, 9]) -> f16[5, 8, 9] { return batched_gemm(a, b) }", 46080, 46080),
        (
            "kernel f(x: f16[2, 8, 9, 9], w: f16[16, 8, 3, 3]) -> f16[2, 16, 7, 7] { return conv2d(x, w) }",
            2 * 2 * 16 * 49 * 72,
            2 * 2 * 16 * 49 * 72,
        ),
    ],
)
def test_flops_are_those_of_live_operations(source: str, flops: int, matrix: int) -> None:
    found = work(source)
    assert found.total_flops == flops
    assert found.matrix_flops == matrix


def test_attention_counts_its_products_on_tensor_cores() -> None:
    """Only half of the scores of causal attention are needed; the softmax runs on CUDA cores."""
    type_ = "f16[2, 4, 128, 64]"
    full, causal = (
        work(f"kernel f(q: {type_}, k: {type_}, v: {type_}) -> {type_} {{ return attention(q, k, v{more}) }}")
        for more in ("", ", causal=true")
    )
    assert full.matrix_flops == 8 * 128 * 128 * 4 * 64
    assert causal.matrix_flops == 8 * (128 * 129 // 2) * 4 * 64
    assert full.flops[Pipe("tensor", "f16")] == full.matrix_flops
    assert 0 < full.flops[Pipe("cuda", "f32")] < 0.1 * full.matrix_flops


def test_dynamic_sizes_are_those_that_are_given() -> None:
    source = "kernel f(x: f16[M, 64], w: f16[64, N]) -> f16[P, N] where P == M { return gemm(x, w) }"
    assert work(source, M=3, N=5, P=3).matrix_flops == 2 * 3 * 5 * 64
    with pytest.raises(KeyError, match="N"):
        work(source, M=3, P=3)


@pytest.mark.parametrize("source", RIGHT.values(), ids=RIGHT.keys())
def test_every_level_is_bounded_and_no_cut_is_free(source: str) -> None:
    """The whole is never slower than its kernels, and these not than the operations, one after another."""
    found = bound(source)
    slack = 1 + 1e-9
    assert 0 < found.program.time <= found.kernels_time * slack
    assert found.program.work.bytes <= sum(entry.bound.work.bytes for entry in found.kernels)
    assert found.program.work.bytes <= sum(entry.bound.work.bytes for entry in found.operations)


# Verdicts ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("memory", "compute", "verdict"),
    [
        (0.8, 0.2, "memory"),
        (0.2, 0.8, "compute"),
        (0.3, 0.3, "underused"),
        (0.8, 0.8, "balanced"),
        (0.80, 0.76, "balanced"),
        (0.80, 0.74, "memory"),
        (0.41, 0.1, "memory"),
        (0.0, 0.0, "underused"),
    ],
)
def test_the_larger_share_limits(memory: float, compute: float, verdict: str) -> None:
    assert classify(memory, compute) == verdict


def test_intensity_and_ridge_agree_with_the_verdict() -> None:
    """A gemm on the H200 turns from memory to arithmetic at 206 FLOPs a byte."""
    assert bound(gemm("f16", 8192)).program.ridge_point == pytest.approx(206.1, rel=1e-3)
    square = "kernel f(a: f16[M, M], b: f16[M, M]) -> f16[M, M] { return gemm(a, b) }"
    for size, limit in ((256, "memory"), (4096, "compute")):
        found = bound(square, M=size).program
        assert found.arithmetic_intensity == pytest.approx(size / 3)
        assert found.bottleneck == limit
    assert bound(square, M=618).program.bottleneck == "balanced"


def test_a_time_under_the_bound_is_impossible() -> None:
    possible, impossible = Measured(1.2e-3, 1.111e-3), Measured(1.068e-3, 1.111e-3)
    assert not possible.is_impossible and possible.fraction == pytest.approx(0.926, rel=1e-3)
    assert possible.gap == pytest.approx(1.08, rel=1e-3)
    assert impossible.is_impossible
    text = report_text(bound(gemm("bf16", 8192)), impossible)
    assert "impossible" in text and "L2 cache" in text and "skipped work" in text


# Faster types --------------------------------------------------------------------------------------------------------


def modes(source: str, tolerance: float | None = None) -> dict[str, bool | None]:
    return {faster.mode: faster.is_allowed for faster in bound(source, tolerance=tolerance).faster_types}


def test_faster_types_are_those_that_the_tolerance_allows() -> None:
    source = gemm("f32", 4096)
    assert list(modes(source)) == ["tf32x3", "f16x3", "tf32", "f16", "bf16", "e4m3", "e5m2"]
    allowed = modes(source, 2e-3)
    assert [mode for mode, is_allowed in allowed.items() if is_allowed] == ["tf32x3", "f16x3", "tf32", "f16"]
    listed = json.loads(json.dumps(report_json(bound(source, tolerance=2e-3))["faster_types"]))
    assert [one["compute"] for one in listed] == ["tf32x3", "f16x3", "tf32", "f16"]
    assert list(modes(gemm("f16", 4096, out="f16"))) == ["e4m3", "e5m2"]
    assert not modes(gemm("s8", 4096, out="s32")) and not modes("kernel f(x: f32[8]) -> f32[8] { return relu(x) }")


def test_a_faster_type_moves_the_same_bytes() -> None:
    found = bound(gemm("f32", 8192))
    faster = {one.mode: one for one in found.faster_types}
    assert faster["tf32"].bound.work.bytes == found.program.work.bytes
    assert faster["tf32"].bound.time == pytest.approx(2 * 8192**3 / 494.7e12)
    assert faster["tf32"].relative_error == 2.0**-24 + 2 * 2.0**-11
    assert faster["tf32x3"].bound.work.total_flops == 3 * found.program.work.total_flops


# Reports -------------------------------------------------------------------------------------------------------------


def test_json_has_the_documented_fields() -> None:
    report = json.loads(json.dumps(report_json(bound(gemm("f16", 4096)), Measured(200e-6, 138.9e-6))))
    assert report["gpu"] == "h200"
    program = report["program"]
    documented = {"flops", "bytes", "t_sol_us", "bottleneck", "arithmetic_intensity", "ridge_point", "sol_fraction"}
    assert documented <= program.keys()
    assert program["flops"] == 2 * 4096**3 and program["t_sol_us"] == pytest.approx(138.9, rel=1e-3)
    assert len(report["kernels"]) == len(report["operations"]) == 1


def entries(kernel: KernelOp) -> list[int | None]:
    return [entry.line for entry in analyze(kernel, None, H200, {}).operations]


def test_operations_know_their_line() -> None:
    kernel = kernel_of("kernel f(x: f16[8, 8]) -> f16[8, 8] {\n  y = relu(x)\n  return y >> gelu()\n}")
    assert entries(kernel) == [2, 3]


# The documentation ---------------------------------------------------------------------------------------------------

TABLE = Path(__file__).resolve().parents[2] / "docs" / "sol.md"

SAMPLES = {
    "logsumexp": "logsumexp(x, dim=1)",
    "norm": "norm(x, dim=1)",
    "cumsum": "cumsum(x, 1)",
    "cumprod": "cumprod(x, 1)",
    "rms_norm": "rms_norm(x, [6])",
    "l2_norm": "l2_norm(x, 1)",
    "layer_norm": "layer_norm(x, [6])",
    "group_norm": "group_norm(x, 2)",
    "batch_norm": "batch_norm(x)",
    "instance_norm": "instance_norm(x)",
}


def documented() -> dict[str, tuple[str, str]]:
    """FLOPs and what they are for, by operation, as the documentation has them."""
    text = TABLE.read_text(encoding="utf-8").partition("## FLOPs of each operation")[2]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if "`" in line]
    names = [(name, flops, each) for cell, flops, each in rows for name in re.findall(r"`(\w+)`", cell)]
    assert len(names) == len({name for name, _, _ in names}), "an operation stands in two rows"
    return {name: (flops, each) for name, flops, each in names}


def test_every_operation_is_documented_with_its_cost() -> None:
    table = documented()
    assert set(table) == set(SPECS)
    fixed = {name: spec.flops for name, spec in SPECS.items() if not callable(spec.flops)}
    assert {name: float(table[name][0]) for name in fixed} == fixed
    assert {table[name][1] for name, flops in fixed.items() if flops} == {"element of the result"}


@pytest.mark.parametrize("name", [n for n, (_, each) in documented().items() if each == "element of the operand"])
def test_costs_for_each_element_of_the_operand_are_as_documented(name: str) -> None:
    call = SAMPLES.get(name, f"{name}(x, dim=1)")
    shape = "[3, 4, 6]" if name == "instance_norm" else "[12, 6]"
    kernel = kernel_of(f"kernel f(x: f32{shape}) -> f32{shape} {{ y = {call} return x }}")
    (op,) = (op for op in kernel.walk() if isinstance(op, UcuOp))
    assert flops_of(op, {}) == 72 * int(documented()[name][0].split(",")[0])
