"""The script that makes the table of gemm kernels, on a laboratory without a GPU."""

import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from profiling_fakes import examine_here

from ucutlass.runtime.machine import Machine
from ucutlass.runtime.toolchain import Toolchain

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "gemm_table.py"

SMALL = """# small, with an epilogue
target sm_90a
kernel small(x: f16[24, 64], w: f16[32, 64], b: f16[32]) -> f16[24, 32] { return gemm(x, w.T) >> bias(b) >> relu() }
"""


@pytest.fixture(scope="module")
def script() -> Iterator[Any]:
    spec = importlib.util.spec_from_file_location("gemm_table_script", SCRIPT)
    assert spec is not None and spec.loader is not None
    module: ModuleType = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def table(script: Any) -> Any:
    toolchain = Toolchain(Path("nvcc"), (13, 0, 88), Path("cuda"), Path("g++"), "g++ 13", (), "4.2.0", True)
    machine = Machine(0, "NVIDIA H200", 50 << 20, {"torch": "2.11", "cuda": "13.0"})
    return script.Table(machine, toolchain, 7, 0.01, driver="580.1")


def measured(script: Any, **libraries: str) -> Any:
    """The table of small programs; libraries say how their kernels behave."""
    programs = [script.Program(name, SMALL.replace("small(", f"{name}("), "") for name in libraries]
    found = table(script)
    script.measure(programs, {name: Path(library) for name, library in libraries.items()}, found, examine_here)
    return found


def test_the_programs_cover_what_the_table_promises(script: Any) -> None:
    texts = {path.stem: path.read_text(encoding="utf-8") for path in script.PROGRAMS.glob("*.ucu")}
    assert len(texts) >= 14
    everything = "\n".join(texts.values())
    for what in ("f16", "bf16", "tf32", "e4m3", "bias", "gelu", "silu", "residual", "scale", "[1, 4096]", "@col"):
        assert what in everything
    for schedule in ("cooperative", "pingpong"):
        for element in ("f16", "bf16", "tf32", "e4m3"):
            assert any(f"({schedule}" in text and f"x: {element}[" in text for text in texts.values())
    two = [name for name, text in texts.items() if "], " in text.split("->")[1].partition("{")[0]]
    assert sorted(two) == ["bf16_residual_two_outputs_cooperative", "f16_two_outputs_cooperative"]
    assert set(script.TARGETS) <= set(texts)
    assert all(text.startswith("# ") and f"kernel {name}(" in text for name, text in texts.items())


def test_a_program_becomes_its_source(script: Any) -> None:
    (program,) = script.read_programs("^linear_gelu$")
    assert "namespace" in program.source and "linear_gelu" in program.source
    assert program.source == script.read_programs("^linear_gelu$")[0].source
    assert program.comment.startswith("linear + bias + GELU")


def test_a_row_for_each_program(script: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(script, "TARGETS", {"fast": 0.95, "slow": 0.95})
    found = measured(script, fast="ok:1e-3", slow="ok:1.98e-3", broken="wrong")
    assert found.missed() == [
        f"broken: wrong_result: {found.results[2].finding.message}",
        "slow: 0.990 of the time of torch.matmul, at most 0.95",
    ]
    text = found.markdown()
    lines = {line.split("`")[1]: line for line in text.splitlines() if line.startswith("| `")}
    assert list(lines) == ["fast", "slow", "broken"]
    cells = [cell.strip() for cell in lines["fast"].strip("|").split("|")]
    assert cells[1:4] == ["24 x 32 x 64", "f16 to f16", "bias relu"]
    assert cells[6] == "1.5e-03" and float(cells[4]) <= 1 and float(cells[5]) < 1.5e-3
    assert cells[7].startswith("1000.") and cells[10:] == ["0.50", "0.50"]
    assert "wrong_result" in lines["broken"]
    assert "driver 580.1" in text and "--seed 7" in text and "Not as it should be:" in text
    data = json.loads(json.dumps(found.to_json()))
    assert [row["outcome"] for row in data["rows"]] == ["passed", "passed", "wrong_result"]
    assert data["rows"][0]["time_us"] == pytest.approx(1000, rel=1e-3)
    assert data["versions"]["nvcc"] == "13.0.88" and data["gpu"] == "NVIDIA H200"


def test_all_being_well_is_said(script: Any) -> None:
    assert "All kernels are right and all targets are met." in measured(script, fine="ok:1e-3").markdown()


def test_a_library_is_taken_only_beside_its_source(script: Any, tmp_path: Path) -> None:
    program = script.Program("small", SMALL, "// the source")
    (tmp_path / "small.so").write_bytes(b"")
    (tmp_path / "small.cu").write_text("// another source", encoding="utf-8")
    assert not script._is_built(program, tmp_path)
    (tmp_path / "small.cu").write_text("// the source", encoding="utf-8")
    assert script.build([program], table(script).toolchain, tmp_path, 1) == {"small": tmp_path / "small.so"}
