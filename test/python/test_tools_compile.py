"""`ucutlass-compile`: what becomes of each program, whatever becomes of the others. The compilers are fakes."""

import json
from pathlib import Path

import pytest
from runtime_fakes import Fakes
from tool_calls import Called, call
from ucutlass_tools import compile as compile_tool
from ucutlass_tools._main import Exit

from ucutlass.runtime.json_data import Object, as_list, as_object, as_str

GOOD = "target sm_90a\nkernel NAME(x: f16[128, 64], w: f16[64, 128]) -> f16[128, 128] { return gemm(x, w) >> relu() }\n"


def write(folder: Path, name: str, text: str = GOOD) -> str:
    path = folder / f"{name}.ucu"
    path.write_text(text.replace("NAME", name), encoding="utf-8")
    return str(path)


class Machine:
    """A machine of fakes, and a cache."""

    def __init__(self, root: Path) -> None:
        self.fakes = Fakes.make(root)
        self.cache = root / "cache"

    def run(self, *arguments: str, stdin: str = "") -> Called:
        fakes = self.fakes
        flags = [f"--nvcc={fakes.nvcc}", f"--host-compiler={fakes.host_compiler}", f"--cutlass={fakes.cutlass}"]
        return call(compile_tool.main, *flags, f"--cache-dir={self.cache}", *arguments, stdin=stdin)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "machine")


def rows(called: Called) -> list[Object]:
    return [as_object(row) for row in as_list(json.loads(called.out))]


def test_one_program(machine: Machine, tmp_path: Path) -> None:
    file = write(tmp_path, "first")
    called = machine.run(file)
    assert called.code == Exit.OK, called.err
    assert f"{file}: first for sm_90a, built in " in called.out
    library = Path(called.out.split("library")[1].split()[0])
    assert library.name == "first.so"
    assert library.is_relative_to(machine.cache)
    assert library.is_file()
    again = machine.run(file)
    assert "first for sm_90a, from the cache" in again.out
    assert str(library) in again.out


def test_json(machine: Machine, tmp_path: Path) -> None:
    called = machine.run("--json", write(tmp_path, "first"))
    assert json.loads(called.err) == []
    (row,) = rows(called)
    assert (row["ok"], row["kernels"], row["arch"], row["cached"]) == (True, ["first"], "sm_90a", False)
    source = Path(as_str(row["source"])).read_text(encoding="utf-8")
    assert source.startswith("// first for sm_90a")
    assert as_object(row["ptxas"])["warnings"] == []


def test_a_wrong_program_does_not_stop_the_others(machine: Machine, tmp_path: Path) -> None:
    files = [write(tmp_path, "first"), write(tmp_path, "wrong", GOOD.replace("relu", "rleu")), write(tmp_path, "third")]
    called = machine.run("--json", *files)
    assert called.code == Exit.INPUT
    assert [(row["file"], row["ok"]) for row in rows(called)] == [(files[0], True), (files[1], False), (files[2], True)]
    (diagnostic,) = json.loads(called.err)
    assert (diagnostic["code"], diagnostic["file"]) == ("UC0202", files[1])
    assert f"{files[1]}: failed" in machine.run(*files).out


def test_a_refused_source_is_the_programs_fault(machine: Machine, tmp_path: Path) -> None:
    machine.fakes.write_nvcc('print("source.cu(7): error: no such thing", file=sys.stderr); sys.exit(2)')
    called = machine.run("--json", write(tmp_path, "first"))
    assert called.code == Exit.INPUT
    (diagnostic,) = json.loads(called.err)
    assert diagnostic["code"] == "UC0805"
    assert "no such thing" in json.dumps(diagnostic["notes"])
    assert rows(called)[0]["library"] is None


def test_what_the_machine_lacks(machine: Machine, tmp_path: Path) -> None:
    file = write(tmp_path, "first")
    called = call(compile_tool.main, "--nvcc=/no/nvcc", "--json", file)
    assert called.code == Exit.MACHINE
    assert [d["code"] for d in json.loads(called.err)] == ["UC0801"]
    assert rows(called)[0]["ok"] is False
    as_text = call(compile_tool.main, "--nvcc=/no/nvcc", file)
    assert as_text.code == Exit.MACHINE
    assert "[UC0801]" in as_text.err
    # A wrong program is wrong on every machine.
    wrong = write(tmp_path, "wrong", "kernel")
    assert call(compile_tool.main, "--nvcc=/no/nvcc", file, wrong).code == Exit.INPUT


def test_copies(machine: Machine, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    assert machine.run("-o", str(folder), write(tmp_path, "first"), write(tmp_path, "second")).code == Exit.OK
    assert sorted(path.name for path in folder.iterdir()) == ["first.cu", "first.so", "second.cu", "second.so"]
    (tmp_path / "other").mkdir()
    same = machine.run("-o", str(folder), write(tmp_path, "first"), write(tmp_path / "other", "first"))
    assert same.code == Exit.USAGE
    assert "two programs would be first.so" in same.err


def test_names_of_libraries(machine: Machine, tmp_path: Path) -> None:
    two = GOOD.replace("NAME", "one") + GOOD.partition("\n")[2].replace("NAME", "two")
    (row,) = rows(machine.run("--json", write(tmp_path, "my-file", two)))
    assert row["kernels"] == ["one", "two"]
    assert Path(as_str(row["library"])).name == "my_file.so"
    assert rows(machine.run("--json", "-", stdin=two))[0]["file"] == "<stdin>"


def test_symbol_suffix_is_part_of_the_cache_key(machine: Machine, tmp_path: Path) -> None:
    file = write(tmp_path, "first")
    (plain,) = rows(machine.run("--json", file))
    (suffixed,) = rows(machine.run("--json", "--symbol-suffix=hash", file))
    assert plain["library"] != suffixed["library"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [([], "UC0023"), (["--jobs=0", "a.ucu"], "UC0003"), (["no.ucu"], "UC0004"), (["--arch=sm_90", "a.ucu"], "UC0106")],
)
def test_wrong_calls_are_refused(arguments: list[str], code: str) -> None:
    called = call(compile_tool.main, *arguments)
    assert (called.code, called.out) == (Exit.USAGE, "")
    assert f"[{code}]" in called.err
