"""Memory-bound kernels: which operations become one kernel, what is emitted, and what it computes.

What the kernels compute is checked on the CPU: the emitted C++, compiled by g++ with fibers for a device's threads,
against the interpreter. nvcc compiles one file of each kind, too.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import torch
from keeps_meaning import new_context, read_source
from memory_programs import FAMILIES, Programs
from on_cpu import OnCpu, load
from torch import Tensor
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.parser import Parser

from ucutlass.backend.cuda.emit import emit_cuda
from ucutlass.diagnostics.core import DiagnosticError
from ucutlass.dialects.cutlass.memory import ElementwiseKernelOp, RowKernelOp, TiledKernelOp
from ucutlass.dialects.ucutlass.kernel import FusedOp, KernelOp, kernels_of
from ucutlass.interpreter import interpret, random_inputs
from ucutlass.passes.pipelines import passes_of, run_passes
from ucutlass.runtime.build import build_kernel
from ucutlass.runtime.cache import Cache

ROUNDING = {
    torch.float16: 2.0**-11,
    torch.bfloat16: 2.0**-8,
    torch.float32: 2.0**-20,
    torch.float64: 2.0**-45,
    torch.float8_e4m3fn: 2.0**-4,
    torch.float8_e5m2: 2.0**-3,
}
"""How far apart two orders of a sum may be, relative to a value or to the mean magnitude of a result: two roundings of
narrow types, sixteen of wide ones, whose sums are of some thousand terms."""


def module_after(source: str, passes: str) -> ModuleOp:
    ctx = new_context()
    module = read_source(ctx, source)
    run_passes(ctx, module, passes_of(passes))
    return module


def difference(expected: Tensor, found: Tensor) -> str | None:
    """Where two results differ by more than rounding, None where they do not."""
    assert expected.dtype == found.dtype and expected.shape == found.shape
    a, b = expected.double(), found.double()
    same = (a == b) | (a.isnan() & b.isnan())
    if expected.is_floating_point():
        finite = a.isfinite() & b.isfinite()
        scale = a[finite].abs().mean() if finite.any() else a.new_zeros(())
        same |= finite & ((a - b).abs() <= 2 * ROUNDING[expected.dtype] * torch.maximum(a.abs(), scale))
    if same.all():
        return None
    place = int((~same).flatten().int().argmax())
    return f"{int((~same).sum())} of {same.numel()}, number {place}: {b.flatten()[place]}, not {a.flatten()[place]}"


# What the kernels compute ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], OnCpu]:
    """The library of a family, compiled when it is first asked for."""
    folder, made = tmp_path_factory.mktemp("on_cpu"), dict[str, OnCpu]()

    def library(family: str) -> OnCpu:
        if family not in made:
            made[family] = load(FAMILIES[family].source, folder, family.replace(" ", "_"))
        return made[family]

    return library


def kernels_in(programs: Programs) -> list[KernelOp]:
    return kernels_of(module_after(programs.source, "infer"))


def check_kernel(library: OnCpu, module: ModuleOp, kernel: KernelOp, inputs: Sequence[Tensor], what: str) -> None:
    name = kernel.sym_name.data
    expected = interpret(module, name, [tensor.contiguous() for tensor in inputs])
    for index, (want, got) in enumerate(zip(expected, library.call(name, inputs), strict=True)):
        problem = difference(want, got)
        assert problem is None, f"{name}, {what}, result {index}: {problem}"


@pytest.mark.compile
@pytest.mark.parametrize("family", FAMILIES)
def test_kernels_compute_what_the_language_says(family: str, compiled: Callable[[str], OnCpu]) -> None:
    programs = FAMILIES[family]
    module = module_after(programs.source, "infer")
    for kernel in kernels_of(module):
        for sizes in programs.own.get(kernel.sym_name.data, programs.sizes):
            inputs = random_inputs(kernel, sizes)
            check_kernel(compiled(family), module, kernel, inputs, str(sizes))


def test_a_wrong_result_is_found() -> None:
    right = torch.tensor([1.0, -2.0, float("nan")])
    assert difference(right, right.clone()) is None
    assert difference(right, torch.tensor([1.0, -2.0001, float("nan")])) is not None
    assert difference(right, torch.tensor([1.0, -2.0, 0.0])) is not None


def _with_an_offset(tensor: Tensor) -> Tensor:
    storage = torch.zeros(tensor.numel() + 3, dtype=tensor.dtype)
    return storage[3:].view(tensor.shape).copy_(tensor)


def _with_gaps(tensor: Tensor) -> Tensor:
    return torch.zeros(*tensor.shape[:-1], tensor.shape[-1] + 5, dtype=tensor.dtype)[..., :-5].copy_(tensor)


def _every_second(tensor: Tensor) -> Tensor:
    return torch.zeros(*tensor.shape[:-1], 2 * tensor.shape[-1], dtype=tensor.dtype)[..., ::2].copy_(tensor)


def _reversed(tensor: Tensor) -> Tensor:
    order = tuple(range(tensor.dim() - 1, -1, -1))
    return tensor.permute(order).contiguous().permute(order)


def _expanded(tensor: Tensor) -> Tensor:
    return tensor[:1].expand(tensor.shape)


ODD = (_with_an_offset, _with_gaps, _every_second, _reversed, _expanded)

ODD_PROGRAM = """
kernel ew(x: f16[M, N], y: f16[M, N], b: f16[N]) -> f16[M, N] { return relu(x + y) * b }
kernel sm(x: f16[M, N]) -> f16[M, N] { return softmax(x, 1) }
kernel fixed(x: f16[M, 512]) -> f16[M, 512] { return softmax(x, 1) }
kernel down(x: f32[M, N]) -> f32[N] { return sum(x, dim=0) }
kernel tr(x: f16[M, N]) -> f16[N, M] { return transpose(x, 0, 1) }
kernel cs(x: f32[M, N]) -> f32[M, N] { return cumsum(x, 1) }
kernel mp(x: f16[2, 3, M, N]) -> f16[2, 3, P, Q] where P == M / 2, Q == N / 2 { return max_pool2d(x, 2) }
"""


@pytest.mark.compile
def test_tensors_may_lie_anywhere_in_memory(tmp_path: Path) -> None:
    """Misaligned, with gaps, in another order, broadcast: operands as well as results."""
    library = load(ODD_PROGRAM, tmp_path)
    module = module_after(ODD_PROGRAM, "infer")
    for kernel in kernels_of(module):
        name = kernel.sym_name.data
        for sizes in ({"M": 4, "N": 64}, {"M": 70, "N": 130}):
            given = random_inputs(kernel, sizes)
            for change in ODD:
                inputs = [change(tensor) for tensor in given]
                expected = interpret(module, name, [tensor.contiguous() for tensor in inputs])
                for place in (*ODD[:4], torch.clone):
                    found = library.call(name, inputs, [place(torch.zeros_like(e)) for e in expected])
                    for want, got in zip(expected, found, strict=True):
                        problem = difference(want, got)
                        assert problem is None, f"{name}, {change.__name__}, {place.__name__}: {problem}"


EXTREMES = """
kernel sm(x: f32[M, N]) -> f32[M, N] { return softmax(x, 1) }
kernel lsm(x: f32[M, N]) -> f32[M, N] { return log_softmax(x, 1) }
kernel lse(x: f32[M, N]) -> f32[M], f32[N] { return logsumexp(x, dim=1), logsumexp(x, dim=0) }
kernel mx(x: f32[M, N]) -> f32[M], f32[M] { return max(x, dim=1), min(x, dim=1) }
kernel am(x: f32[M, N]) -> s64[M], s64[N] { return argmax(x, dim=1), argmin(x, dim=0) }
kernel ln(x: f32[M, N]) -> f32[M, N], f32[M] { return layer_norm(x, [N]), var(x, dim=1) }
"""


@pytest.mark.compile
def test_infinities_and_nan_give_what_pytorch_gives(tmp_path: Path) -> None:
    library = load(EXTREMES, tmp_path)
    module = module_after(EXTREMES, "infer")
    for kernel in kernels_of(module):
        for columns in (33, 64, 9000):
            (x,) = random_inputs(kernel, {"M": 9, "N": columns})
            x[0] = -torch.inf
            x[1, 0] = torch.inf
            x[2, -1] = torch.nan
            x[3, ::2] = -torch.inf
            x[4] = 5
            x[5] = torch.inf
            x[6] = torch.nan
            x[7, 1:3] = 100
            check_kernel(library, module, kernel, [x], f"{columns} columns")


@pytest.mark.compile
def test_a_launch_is_refused_with_its_reason(tmp_path: Path) -> None:
    source = """
kernel cut(x: f16[M, N]) -> f16[M, K] where K == N - 5 { return slice(x, 1, 5, N) }
kernel largest(x: f16[M, N]) -> f16[M] { return max(x, dim=1) }
kernel regrouped(x: f16[6, 4]) -> f16[8, 3] { return reshape(x, 8, 3) }
"""
    library = load(source, tmp_path)
    with pytest.raises(DiagnosticError, match="requires N >= 5, but N = 4"):
        library.call("cut", [torch.zeros(3, 4).half()], [torch.zeros(3, 0).half()])
    with pytest.raises(DiagnosticError, match="requires N >= 1, but N = 0"):
        library.call("largest", [torch.zeros(3, 0).half()])
    with pytest.raises(AssertionError, match="reshape regroups its elements, so they must be contiguous"):
        library.call("regrouped", [torch.zeros(4, 6).half().T])


# Which operations are one kernel --------------------------------------------------------------------------------------


def groups(source: str) -> list[tuple[str, list[str]]]:
    """Family and operations of each group that `fuse` makes of a program."""
    found: list[tuple[str, list[str]]] = []
    for op in module_after(source, "infer,fuse").walk():
        if isinstance(op, FusedOp):
            names = [inner.name.removeprefix("ucutlass.") for inner in op.body.block.ops]
            found.append((op.kind.data, [n for n in names if n not in ("constant", "yield", "t")]))
    return found


ONE_KERNEL = {
    "both operands": ("kernel f(x: f16[M, N], y: f16[M, N]) -> f16[M, N] { return relu(x) + exp(y) }", "elementwise"),
    "siblings": ("kernel f(x: f16[M, N]) -> f16[M, N], f16[M, N] { return relu(x), exp(x) }", "elementwise"),
    "a sum that is returned": (
        "kernel f(x: f16[M, N], r: f16[M, N]) -> f16[M, N], f16[M, N] { y = x + r return layer_norm(y, [N]), y }",
        "rowwise",
    ),
    "before and after": (
        "kernel f(x: f16[M, N], m: bool[M, N]) -> f16[M, N] { return softmax(where(m, x * 0.5, -1), 1) * 2 }",
        "rowwise",
    ),
    "two reductions": (
        "kernel f(x: f32[M, N]) -> f32[M, N] { d = x - mean(x, dim=1, keepdim=true)"
        " return d * rsqrt(mean(square(d), dim=1, keepdim=true)) }",
        "reduction",
    ),
    "a view": ("kernel f(x: f16[M, N], y: f16[N, M]) -> f16[M, N] { return x + y.T }", "elementwise"),
    "movement between": (
        "kernel f(x: f16[M, N]) -> f16[P, M] where P == N + 2 { return relu(transpose(pad(exp(x), [1, 1]), 0, 1)) }",
        "elementwise",
    ),
    "around a scan": ("kernel f(x: f16[M, N]) -> f16[M, N] { return relu(cumsum(x * 2, 1)) }", "scan"),
}


@pytest.mark.parametrize("name", ONE_KERNEL)
def test_one_pass_over_memory_is_one_kernel(name: str) -> None:
    source, kind = ONE_KERNEL[name]
    assert [found for found, _ in groups(source)] == [kind]


APART = {
    "other rows": ("kernel f(x: f16[M, N]) -> f16[M, N] { return softmax(softmax(x, 1), 0) }", 2),
    "materialize": ("kernel f(x: f16[M, N]) -> f16[M, N] { return materialize(relu(x)) * 2 }", 2),
    "windows of computed values": (
        "kernel f(x: f16[2, 3, 8, 8]) -> f16[2, 3, 4, 4] { return max_pool2d(exp(x), 2) }",
        2,
    ),
    "two scans": ("kernel f(x: f16[M, N]) -> f16[M, N] { return cumsum(cumsum(x, 0), 1) }", 2),
    "gathering computed values": (
        "kernel f(x: f16[M, 8], i: s64[M, 3]) -> f16[M, 3] { return gather(exp(x), 1, i) }",
        2,
    ),
    "dear and repeated": (
        "kernel f(x: f16[M, N], s: f16[N]) -> f16[M, N] { return x * exp(sin(exp(sin(exp(sin(exp(s))))))) }",
        2,
    ),
}


@pytest.mark.parametrize("name", APART)
def test_what_cannot_or_should_not_be_one_pass_stays_apart(name: str) -> None:
    source, count = APART[name]
    assert len(groups(source)) == count


def test_a_cycle_is_not_fused() -> None:
    """What the gemm reads and what reads the gemm's result cannot be one kernel, however alike they are."""
    source = """
kernel f(x: f16[64, 64], w: f16[64, 64]) -> f16[64, 64] {
  y = exp(x)
  g = gemm(y, w)
  return softmax(g, 1) + softmax(y, 1)
}
"""
    found = groups(source)
    assert [kind for kind, _ in found] == ["rowwise", "gemm", "rowwise"]
    assert "exp" in found[0][1] and "add" in found[2][1]


# What is emitted ------------------------------------------------------------------------------------------------------


def test_parts_that_no_kernel_needs_are_not_printed() -> None:
    plain = emit_cuda(module_after("kernel f(x: f16[M]) -> f16[M] { return relu(x) }", "default"))
    assert "struct ElementwiseKernel" in plain
    for absent in ("struct RowKernel", "struct ScanKernel", "struct PooledLoad", "struct Nibble", "collective_builder"):
        assert absent not in plain
    both = emit_cuda(
        module_after(
            "kernel f(x: f16[M, N]) -> f16[M] { return sum(x, dim=1) }\n"
            "kernel g(x: f16[M, N]) -> f16[M] { return max(x, dim=1) }",
            "default",
        )
    )
    assert both.count("struct RowKernel {") == 1


def lowered(source: str) -> list[ElementwiseKernelOp | TiledKernelOp | RowKernelOp]:
    ops = module_after(source, "default").walk()
    return [op for op in ops if isinstance(op, ElementwiseKernelOp | TiledKernelOp | RowKernelOp)]


def test_a_row_is_kept_where_it_fits() -> None:
    wanted = {512: RowKernelOp.REGISTERS, 20000: RowKernelOp.SHARED, 4000000: RowKernelOp.STREAMED}
    for length, residence in wanted.items():
        (kernel,) = lowered(f"kernel f(x: f16[8, {length}]) -> f16[8, {length}] {{ return softmax(x, 1) }}")
        assert isinstance(kernel, RowKernelOp) and kernel.residences.value.data == residence
    (kernel,) = lowered("kernel f(x: f16[M, N]) -> f16[M, N] { return softmax(x, 1) }")
    assert isinstance(kernel, RowKernelOp)
    assert kernel.residences.value.data == RowKernelOp.REGISTERS | RowKernelOp.SHARED | RowKernelOp.STREAMED


def test_neighbours_in_memory_decide_about_columns_and_tiles() -> None:
    (rows,) = lowered("kernel f(x: f16[M, N]) -> f16[M] { return sum(x, dim=1) }")
    (columns,) = lowered("kernel f(x: f16[M, N]) -> f16[N] { return sum(x, dim=0) }")
    (last,) = lowered("kernel f(x: f16[2, C, H, W]@channels_last) -> f16[2, C] { return mean(x, dim=[2, 3]) }")
    for kernel, wanted in ((rows, False), (columns, True), (last, True)):
        assert isinstance(kernel, RowKernelOp) and bool(kernel.columns.value.data) == wanted
    (across,) = lowered("kernel f(x: f16[M, N]) -> f16[N, M] { return transpose(x, 0, 1) }")
    (along,) = lowered("kernel f(x: f16[M, N, K]) -> f16[N, M, K] { return transpose(x, 0, 1) }")
    assert isinstance(across, TiledKernelOp) and isinstance(along, ElementwiseKernelOp)


def test_text_of_the_dialect_reads_back() -> None:
    for programs in FAMILIES.values():
        text = str(module_after(programs.source, "default"))
        ctx = new_context()
        ctx.load_dialect(Builtin)
        assert str(Parser(ctx, text).parse_module()) == text


NVCC = {
    "elementwise": "kernel f(x: f16[M, 4096], y: f16[M, 4096]) -> f16[M, 4096] { return gelu(x + y) }",
    "tiles": "kernel f(x: f16[M, N], y: f16[N, M]) -> f16[M, N] { return x + y.T }",
    "rows": "kernel f(x: f16[M, N], r: f16[M, N]) -> f16[M, N], f16[M, N] { y = x + r return softmax(y, 1), y }",
    "scan": "kernel f(x: f32[M, N]) -> f32[M, N] { return cumsum(x, 1) }",
    "pool": "kernel f(x: f16[8, 64, 56, 56]) -> f16[8, 64, 28, 28] { return max_pool2d(x, 3, 2, 1) }",
}


@pytest.mark.compile
@pytest.mark.parametrize("name", NVCC)
def test_nvcc_takes_it_without_spills(name: str, tmp_path: Path) -> None:
    source = emit_cuda(module_after(NVCC[name], "default"))
    built = build_kernel(source, arch="sm_90a", name="f", cache=Cache(tmp_path))
    assert built.split, "the host side is compiled by the host compiler"
    assert [kernel.spills for kernel in built.report.kernels] == [False]
    assert built.diagnostics == ()
