"""`ucutlass-profile`, on a laboratory without a GPU: rows, tables, exit codes, what is said of wrong kernels."""

import argparse
import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from profiling_fakes import examine_here
from ucutlass_tools._build import Built
from ucutlass_tools._main import Exit
from ucutlass_tools._profile_rows import Row, text
from ucutlass_tools._profiling import Profiling
from ucutlass_tools._program import Program
from ucutlass_tools.profile import COMMAND_LINE, main
from validating import LINEAR

from ucutlass.diagnostics.core import DiagnosticEngine
from ucutlass.errors import MachineError, UsageError
from ucutlass.runtime.build import BuiltKernel
from ucutlass.runtime.failures import BuildMachineError
from ucutlass.runtime.machine import Machine
from ucutlass.runtime.ptxas import PtxasReport

PROGRAM = LINEAR.replace("f16[40, 96]", "f16[M, 96]").replace("f16[40, 56]", "f16[M, 56]")


def h200() -> Machine:
    return Machine(0, "NVIDIA H200", 50 << 20, {"torch": "2.11", "cuda": "13.0"})


def unknown_gpu() -> Machine:
    return Machine(0, "NVIDIA H20", 50 << 20, {})


def no_gpu() -> Machine:
    raise MachineError("there is no usable GPU", "UC0901")


def pretend(
    programs: Sequence[Program], sources: Sequence[str | None], args: argparse.Namespace, engine: DiagnosticEngine
) -> list[Built]:
    """Libraries whose names say how the kernels behave: the name of the file."""
    assert all(source is not None and "cutlass" in source for source in sources)
    libraries = [
        BuiltKernel(
            name="linear",
            arch=program.arch,
            path=Path(Path(program.given.source.name).stem),
            log=Path("log"),
            report=PtxasReport(),
            operations={},
            seconds=12.5,
            cached=False,
            split=True,
        )
        for program in programs
    ]
    return [Built(program, library) for program, library in zip(programs, libraries, strict=True)]


def fail_to_build(
    programs: Sequence[Program], sources: Sequence[str | None], args: argparse.Namespace, engine: DiagnosticEngine
) -> list[Built]:
    return [Built(program, BuildMachineError("UC0801", "there is no nvcc")) for program in programs]


FLAGS = ("--dim=M=40", "--rounds=1", "--seed=3", "--runs=10", "--seconds=0.1", "--no-torch-compile", "--quick")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Programs whose names say how their kernels behave."""
    for name in ("ok:1e-3", "ok:2e-3", "wrong"):
        (tmp_path / f"{name}.ucu").write_text(PROGRAM, encoding="utf-8")
    (tmp_path / "bad.ucu").write_text(PROGRAM.replace("gelu", "gelo"), encoding="utf-8")
    return tmp_path


def profiled(*arguments: str) -> tuple[Profiling, list[Row]]:
    profiling = Profiling(COMMAND_LINE.parse([*arguments, *FLAGS]), h200, examine_here, pretend)
    return profiling, profiling.run()


def test_a_row_holds_verdict_time_and_bound(files: Path) -> None:
    profiling, (row,) = profiled(str(files / "ok:1e-3.ucu"))
    assert profiling.exit_code == Exit.OK and not profiling.engine.has_errors
    data = json.loads(json.dumps(row.to_json()))
    assert data["ok"] and data["outcome"] == "passed" and data["gpu"] == "h200" and data["dims"] == {"M": 40}
    assert data["time_us"] == pytest.approx(1000, rel=1e-3) and data["time_warm_us"] == pytest.approx(500, rel=1e-3)
    assert data["call_time_us"] == pytest.approx(1010, rel=1e-3) and data["timer"] == "fake" and data["cold"] is True
    moved = 2 * (40 * 96 + 56 * 96 + 56 + 40 * 56)
    assert data["bytes"] == moved
    assert data["t_sol_us"] == pytest.approx(moved / 4.8e12 * 1e6)
    assert data["sol_fraction"] == pytest.approx(data["t_sol_us"] / data["time_us"]) and data["impossible"] is False
    assert data["flops_per_s"] == pytest.approx(2 * 40 * 56 * 96 / data["time_us"] * 1e6)
    assert data["validation"]["seed"] == 3 and 0 < data["validation"]["error_over_bound"] <= 1
    ratios = {baseline["name"]: baseline["ratio"] for baseline in data["baselines"]}
    assert ratios == pytest.approx({"torch.matmul": 0.5, "eager": 0.5}, rel=1e-3)
    assert all("settings" in baseline and baseline["timer"] == "fake" for baseline in data["baselines"])
    assert data["gpu_state_before"]["sm_clock_mhz"] == 1980 and data["build_s"] == 12.5


def test_candidates_are_compared(files: Path) -> None:
    _, rows = profiled(str(files / "ok:1e-3.ucu"), str(files / "ok:2e-3.ucu"))
    assert [row.fastest for row in rows] == [True, False]
    table = text(rows)
    assert "on NVIDIA H200, peaks of h200, seed 3" in table
    (first, second) = (line for line in table.splitlines() if " passed " in line)
    assert ":linear [M=40] *" in first and "1000.2 ±" in first and first.count("0.50x") == 2
    assert "*" not in second and second.count("1.00x") == 2
    assert re.search(r"10 runs by fake, 500\.\d µs with a warm cache", table) and "the product alone" in table


def test_a_wrong_kernel_is_an_error_and_has_no_time(files: Path) -> None:
    profiling, rows = profiled(str(files / "wrong.ucu"), str(files / "ok:1e-3.ucu"))
    assert profiling.exit_code == Exit.INPUT
    (error,) = profiling.engine.errors
    assert error.code == "UC1011" and "kernel linear, M = 40" in error.message
    assert error.notes[0].message == "the same inputs again: --seed 3"
    wrong = rows[0].to_json()
    assert wrong["ok"] is False and wrong["outcome"] == "wrong_result" and wrong["time_us"] is None
    assert rows[1].finding.passed
    assert "wrong_result" in text(rows) and "[UC1011]" in text(rows)


def test_a_program_that_does_not_compile_does_not_stop_the_others(files: Path) -> None:
    profiling, rows = profiled(str(files / "bad.ucu"), str(files / "ok:1e-3.ucu"))
    assert profiling.exit_code == Exit.INPUT and len(rows) == 1 and rows[0].finding.passed
    assert any("gelo" in error.message for error in profiling.engine.errors)


def test_each_combination_of_sizes_has_a_row(files: Path) -> None:
    arguments = [str(files / "ok:1e-3.ucu"), "--dim=M=40,56", *FLAGS[1:]]
    rows = Profiling(COMMAND_LINE.parse(arguments), h200, examine_here, pretend).run()
    assert [dict(row.sizes) for row in rows] == [{"M": 40}, {"M": 56}]


def test_a_time_under_the_bound_is_flagged(files: Path) -> None:
    """0.9 nanoseconds, in which not even the inputs can be read."""
    path = files / "ok:9e-10.ucu"
    path.write_text(PROGRAM, encoding="utf-8")
    _, rows = profiled(str(path))
    assert rows[0].to_json()["impossible"] is True
    assert "faster than the Speed of Light, which is impossible" in text(rows)


def test_what_the_machine_lacks_is_exit_code_3(files: Path) -> None:
    good, bad = str(files / "ok:1e-3.ucu"), str(files / "bad.ucu")
    with pytest.raises(MachineError):
        Profiling(COMMAND_LINE.parse([good, *FLAGS]), no_gpu, examine_here, pretend).run()
    both = Profiling(COMMAND_LINE.parse([good, bad, *FLAGS]), no_gpu, examine_here, pretend)
    assert both.run() == [] and both.exit_code == Exit.INPUT
    assert [error.code for error in both.engine.errors][-1] == "UC0901"
    without_nvcc = Profiling(COMMAND_LINE.parse([good, *FLAGS]), h200, examine_here, fail_to_build)
    assert without_nvcc.run() == [] and without_nvcc.exit_code == Exit.MACHINE
    assert [error.code for error in without_nvcc.engine.errors] == ["UC0801"]


def test_an_unknown_gpu_asks_whose_peaks_count(files: Path) -> None:
    arguments = [str(files / "ok:1e-3.ucu"), *FLAGS]
    with pytest.raises(UsageError, match="--gpu"):
        Profiling(COMMAND_LINE.parse(arguments), unknown_gpu, examine_here, pretend).run()
    (row,) = Profiling(COMMAND_LINE.parse([*arguments, "--gpu=h100-sxm"]), unknown_gpu, examine_here, pretend).run()
    assert row.bound.gpu.name == "h100-sxm"


def test_the_tool_itself(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == Exit.USAGE and "name a program to profile" in capsys.readouterr().err
    assert main([str(files / "bad.ucu"), "--dim", "M=8"]) == Exit.INPUT
    assert "gelo" in capsys.readouterr().err
