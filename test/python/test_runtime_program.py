"""Programs from text to libraries: what `ucutlass.compile` and `ucutlass.kernel` take, refuse and make."""

from pathlib import Path

import pytest
from runtime_fakes import Fakes

import ucutlass
from ucutlass.diagnostics.core import DiagnosticError, Severity
from ucutlass.errors import UsageError
from ucutlass.runtime.cache import Cache
from ucutlass.runtime.commands import host_command, host_pass_header
from ucutlass.runtime.compiler_log import compiler_errors
from ucutlass.runtime.library import CompiledKernel
from ucutlass.runtime.processes import run
from ucutlass.runtime.tensors import LaunchError
from ucutlass.runtime.toolchain import compiler_environment, find_toolchain

COOPERATIVE = """target sm_90a
kernel linear_gelu(x: f16[M, K], w: f16[1024, K], b: f16[1024]) -> f16[M, 1024] where K % 8 == 0 {
  return gemm(x, w.T).with_tile(128, 256, 64).with_cluster(2, 1).with_schedule(cooperative) >> bias(b) >> gelu()
}"""

PINGPONG = """target sm_90a
kernel two_outputs(x: bf16[M, 512], w: bf16[512, 768], s: f32[M, 1], c: bf16[M, 768]) -> bf16[M, 768], bf16[M, 768] {
  h = gemm(x, w).with_tile(64, 128, 64).with_schedule(pingpong) >> scale(s)
  return silu(h) >> residual(c, beta=0.5), h
}"""

EIGHT_BIT = """target sm_90a
kernel small(x: e4m3[256, 512], w: e4m3[384, 512], s: f32[]) -> f16[256, 384] {
  return gemm(x, w.T).with_tile(128, 128, 128).with_schedule(cooperative_fp8_fast) >> scale(s) >> relu()
}"""


def refused(library: Path, name: str) -> str:
    """That a library loads and describes itself, and what it says to no tensors at all."""
    with pytest.raises(LaunchError) as caught:
        CompiledKernel(library, name)()
    return str(caught.value)


@pytest.mark.compile
@pytest.mark.parametrize(
    ("name", "source", "most_registers"),
    [("linear_gelu", COOPERATIVE, 168), ("two_outputs", PINGPONG, 168), ("small", EIGHT_BIT, 168)],
)
def test_representative_kernels(tmp_path: Path, name: str, source: str, most_registers: int) -> None:
    """Nothing spills, no matrix instruction is serialized, and the library says what the program says.

    168 registers are all that a block of 384 threads can start with: 65536 / 384, in steps of 8.
    """
    program = ucutlass.compile(source, cache=Cache(tmp_path))
    assert program.built.split, program.built.log.read_text()
    (kernel,) = program.built.report.kernels
    assert not kernel.spills and kernel.registers <= most_registers
    assert program.built.report.warnings == ()
    assert not [d for d in program.diagnostics if d.severity is Severity.WARNING]
    described = program[name].description
    assert described.name == name and described.arch == "sm_90a"
    assert described.kernels == (kernel.symbol,)
    assert [str(c) for c in described.where] == (["K % 8 == 0"] if "where" in source else [])
    assert "takes" in refused(program.built.path, name)
    with pytest.raises(UsageError, match=f"no kernel 'other'; it has {name}"):
        program["other"]


OTHERS = {
    "stream_k": "x: f16[M, 512], w: f16[512, 256]) -> f16[M, 256] {\n"
    "  return gemm(x, w).with_schedule(cooperative).with_scheduler(stream_k) >> relu()",
    "cpasync": "x: f16[M, 512], w: f16[256, 512]) -> f16[M, 256] {\n"
    "  return gemm(x, w.T).with_tile(128, 128, 64).with_schedule(cpasync)",
    "tf32": "x: f32[M, 512], w: f32[256, 512]) -> f32[M, 256] {\n"
    "  return gemm(x, w.T).with_compute(tf32).with_schedule(pingpong) >> gelu(approximate=tanh)",
    "batched": "x: bf16[8, M, 512], w: bf16[8, 512, 256]) -> bf16[8, M, 256] {\n  return batched_gemm(x, w) >> silu()",
}
"""Programs that use other parts of CUTLASS's headers than the kernels above."""


@pytest.mark.compile
@pytest.mark.parametrize("name", OTHERS)
def test_a_plain_host_compiler_takes_the_host_side(tmp_path: Path, name: str) -> None:
    """Only read, not compiled: what fails here makes a build fall back to nvcc for both sides."""
    fakes = Fakes.make(tmp_path / "fake")
    real = find_toolchain()
    # Fakes build the program, so that its C++ lies in the cache; the real compiler then reads it.
    built = ucutlass_source(f"kernel k({OTHERS[name]}\n}}", fakes, tmp_path)
    (tmp_path / "source.cu").write_text(built)
    (tmp_path / "host_pass.h").write_text(host_pass_header())
    command = [*host_command(real, "source.cu", "host_pass.h", "host.o"), "-fsyntax-only"]
    done = run(command, folder=tmp_path, environment=compiler_environment(tmp_path), timeout=600)
    assert done.returncode == 0, compiler_errors(done.output, built, "source.cu")


def ucutlass_source(program: str, fakes: Fakes, folder: Path) -> str:
    """The C++ of a program; the fakes' library cannot be loaded, which is as far as compiling it gets."""
    cache = Cache(folder / "cache")
    with pytest.raises(LaunchError, match="cannot be used as k"):
        ucutlass.compile(program, toolchain=fakes.toolchain(), cache=cache)
    (source,) = cache.folder.rglob("source.cu")
    return source.read_text()


def test_what_is_wrong_with_a_program_is_all_said(tmp_path: Path) -> None:
    with pytest.raises(DiagnosticError) as caught:
        ucutlass.kernel("kernel f(x: f16[4, 4]) -> f16[4, 4] {\n  a = relux(x)\n  return gely(a)\n}")
    assert {d.span.line for d in caught.value.diagnostics if d.span is not None} == {2, 3}


def test_a_path(tmp_path: Path) -> None:
    file = tmp_path / "wrong.ucu"
    file.write_text("kernel f(x: f16[4, 4]) -> f16[4, 4] { return relux(x) }")
    with pytest.raises(DiagnosticError) as caught:
        ucutlass.compile(file)
    assert str(caught.value).startswith(f"{file}:1:46: error: there is no operation 'relux'")


@pytest.mark.parametrize("source", ["linear.txt", "linear", Path("no/such.ucu")])
def test_what_is_no_program(source: str | Path) -> None:
    with pytest.raises(UsageError, match=r"neither the text of a program|cannot read"):
        ucutlass.compile(source)


def test_nothing_is_built_for_a_wrong_program(tmp_path: Path) -> None:
    fakes = Fakes.make(tmp_path)
    with pytest.raises(DiagnosticError):
        ucutlass.compile(
            COOPERATIVE.replace("128, 256, 64", "128, 250, 64"),
            toolchain=fakes.toolchain(),
            cache=Cache(tmp_path / "c"),
        )
    assert fakes.calls("nvcc") == []
