"""`ucutlass-run`, interpreted: results are PyTorch's, inputs are what was given, and what cannot be run is refused."""

import json
import re
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
import torch
from tool_calls import Called, call
from ucutlass_tools import run as run_tool
from ucutlass_tools._main import Exit

from ucutlass.interpreter.inputs import Distribution
from ucutlass.runtime.json_data import Object, as_float, as_int, as_list, as_object, as_str

PROGRAM = """target sm_90a
kernel f(x: f16[M, 64], w: f32[32, 64]) -> f16[M, 32], f32[M] where M >= 1 {
  y = gemm(x >> cast(f32), w.T) >> relu()
  return y, sum(y, dim=1)
}
"""
TYPES = """kernel g(a: s8[3, 4], b: bf16[2, 2]@col, c: bool[2], d: u4[5], e: e4m3[4]) ->
  s8[3, 4], bf16[2, 2]@col, bool[2], u4[5], e4m3[4] { return neg(a), neg(b), flip(c, 0), flip(d, 0), neg(e) }
"""


def run(*arguments: str, stdin: str = PROGRAM) -> Called:
    return call(run_tool.main, *arguments, stdin=stdin)


def rows(called: Called) -> list[Object]:
    return [as_object(row) for row in as_list(json.loads(called.out))]


def results(row: Object) -> list[Object]:
    return [as_object(result) for result in as_list(row["results"])]


def test_distributions_are_those_of_the_interpreter() -> None:
    assert run_tool.DISTRIBUTIONS == get_args(Distribution)


def test_results_are_those_of_pytorch(tmp_path: Path) -> None:
    called = run("--interpret", "--dim=M=5", "--save", str(tmp_path), "--json")
    assert called.code == Exit.OK, called.err
    x, w = (torch.tensor(np.load(tmp_path / f"f.M5.{name}.npy")) for name in ("x", "w"))
    y, total = (torch.tensor(np.load(tmp_path / f"f.M5.{name}.npy")) for name in ("y", "result1"))
    wanted = torch.relu(x.float() @ w.T)
    # The types: x and y as declared, and a sum of 32 rounded numbers differs by a few units in the last place.
    assert (x.dtype, y.dtype, total.dtype) == (torch.float16, torch.float16, torch.float32)
    torch.testing.assert_close(y.float(), wanted, rtol=2**-10, atol=1e-4)
    torch.testing.assert_close(total, wanted.sum(1), rtol=1e-3, atol=1e-3)
    (row,) = rows(called)
    assert (row["kernel"], row["device"], row["sizes"]) == ("f", "interpreter", {"M": 5})
    summary = results(row)[0]
    assert as_float(summary["max"]) == y.max().item()
    assert as_float(summary["mean"]) == pytest.approx(y.double().mean().item(), rel=1e-12)
    assert len(as_list(row["saved"])) == 4


def test_each_combination_of_sizes_is_a_row() -> None:
    text = PROGRAM.replace("64]", "K]").replace("where M >= 1", "where K >= 1")
    called = run("--interpret", "--dim=M=1,2", "--dim=K=3,4", "--json", stdin=text)
    sizes = [row["sizes"] for row in rows(called)]
    assert sizes == [{"M": m, "K": k} for m in (1, 2) for k in (3, 4)]


def test_the_seed_decides_the_inputs() -> None:
    def hashes(*arguments: str) -> list[object]:
        return [
            r["sha256"] for row in rows(run("--interpret", "--dim=M=3", "--json", *arguments)) for r in results(row)
        ]

    assert hashes() == hashes("--seed=0")
    assert hashes() != hashes("--seed=1")
    assert hashes() != hashes("--distribution=uniform")


def test_given_inputs(tmp_path: Path) -> None:
    x = np.arange(2 * 64).reshape(2, 64) / 16
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "w.npy", np.eye(32, 64))
    given = [f"--input=x={tmp_path / 'x.npy'}", f"--input=w={tmp_path / 'w.npy'}"]
    called = run("--interpret", *given, "--json", "--save", str(tmp_path))
    assert called.code == Exit.OK, called.err
    assert rows(called)[0]["sizes"] == {"M": 2}, "the array says how large M is"
    np.testing.assert_array_equal(np.load(tmp_path / "f.y.npy"), x[:, :32])


def test_saved_arrays_can_be_given_again(tmp_path: Path) -> None:
    first = run("--interpret", "--save", str(tmp_path), "--json", stdin=TYPES)
    assert first.code == Exit.OK, first.err
    again = run(
        "--interpret", "--json", "--seed=7", *(f"--input={n}={tmp_path / f'g.{n}.npy'}" for n in "abcde"), stdin=TYPES
    )
    assert again.code == Exit.OK, again.err
    assert results(rows(again)[0]) == results(rows(first)[0])
    a, b, c, d, e = (np.load(tmp_path / f"g.{name}.npy") for name in "abcde")
    assert [array.dtype.name for array in (a, b, c, d, e)] == ["int8", "float32", "bool", "uint8", "float32"]
    negated = [np.load(tmp_path / f"g.result{i}.npy") for i in range(5)]
    np.testing.assert_array_equal(negated[1], -b)
    np.testing.assert_array_equal(negated[2], c[::-1])
    np.testing.assert_array_equal(negated[3], d[::-1])
    np.testing.assert_array_equal(negated[4], -e)


def test_a_result_that_matches() -> None:
    called = run("--interpret", "--dim=M=4", "--compare", "--json")
    assert called.code == Exit.OK, called.err
    for result in results(rows(called)[0]):
        assert result["matches"] is True
        assert 0 < as_float(result["error_over_bound"]) <= 1
    assert "y matches the reference: largest error" in run("--interpret", "--dim=M=4", "--compare").out


def test_a_result_that_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    from ucutlass_tools import _execution

    interpret = _execution.interpret

    def wrong(*arguments: object) -> list[torch.Tensor]:
        first, second = interpret(*arguments)  # pyright: ignore[reportArgumentType]
        first[0, 0] += 1
        return [first, second]

    monkeypatch.setattr(_execution, "interpret", wrong)
    called = run("--interpret", "--dim=M=4", "--compare", "--json")
    assert called.code == Exit.INPUT
    assert [d["code"] for d in json.loads(called.err)] == ["UC1011"]
    assert [result["matches"] for result in results(rows(called)[0])] == [False, True]


def test_numbers_that_json_has_not() -> None:
    text = "kernel f(x: f32[4]) -> f32[4] { return x / (x - x) }"
    (result,) = results(rows(run("--interpret", "--json", stdin=text))[0])
    assert (result["min"], result["max"]) == (None, None)
    assert as_int(result["nan_count"]) + as_int(result["infinite_count"]) == 4


def test_text_for_a_person() -> None:
    out = run("--interpret", "--dim=M=2", "--print-values").out
    assert out.startswith("f interpreted, M = 2\n  in   x: f16[2, 64]  min ")
    assert re.search(r"^  out  result1: f32\[2\]  min [\d.]+  max [\d.]+  mean [\d.]+  sha256 [0-9a-f]{16}$", out, re.M)
    assert "  result1 =\n    tensor([" in out


def test_one_kernel_of_several() -> None:
    text = PROGRAM + TYPES
    assert [row["kernel"] for row in rows(run("--interpret", "--kernel=g", "--json", stdin=text))] == ["g"]


@pytest.mark.parametrize(
    ("arguments", "exit_code", "code", "said"),
    [
        ([], Exit.INPUT, "UC0009", "kernel f leaves M open: add --dim M=SIZE"),
        (["--dim=M=2", "--dim=N=2"], Exit.INPUT, "UC0213", "kernel f has no dimension N"),
        (["--dim=M=0"], Exit.INPUT, "UC0909", "'where M >= 1' does not hold"),
        (["--dim=M=2", "--kernel=g"], Exit.INPUT, "UC0020", "there is no kernel 'g'; there are f"),
        (["--dim=M=2", "--input=q=a.npy"], Exit.INPUT, "UC0201", "--input names 'q', but the arguments are w, x"),
        (["--dim=M=2", "--input=x=no.npy"], Exit.USAGE, "UC0004", "cannot read 'no.npy'"),
        (["--dim=M=2", "--input=x"], Exit.USAGE, "UC0003", "write NAME=FILE.npy"),
        (["--dim=M=2", "--input=x=a", "--input=x=b"], Exit.USAGE, "UC0003", "x is given twice"),
        (["--dim=M=k"], Exit.USAGE, "UC0003", "'k' is no size"),
        (["--distribution=gauss"], Exit.USAGE, "UC0003", "invalid choice: 'gauss'"),
    ],
)
def test_what_cannot_be_run_is_refused(arguments: list[str], exit_code: Exit, code: str, said: str) -> None:
    called = run("--interpret", "--json", *arguments)
    assert called.code == exit_code
    (diagnostic,) = json.loads(called.err)
    assert diagnostic["code"] == code
    assert said in as_str(diagnostic["message"])


@pytest.mark.parametrize(
    ("array", "code", "said"),
    [
        (np.zeros((2, 3, 4)), "UC1002", "has shape (2, 3, 4)"),
        (np.zeros((2, 65)), "UC1002", "argument x has shape (2, 64), but"),
        (np.zeros((2, 64), np.int32), "UC1005", "holds torch.int32: save an array of floats"),
        (np.array(["a"]), "UC1005", "is no array of numbers"),
    ],
)
def test_arrays_that_do_not_fit(
    array: "np.ndarray[tuple[int, ...], np.dtype[np.generic]]", code: str, said: str, tmp_path: Path
) -> None:
    np.save(tmp_path / "x.npy", array)
    called = run("--interpret", f"--input=x={tmp_path / 'x.npy'}")
    assert f"[{code}]" in called.err
    assert said in called.err
    assert called.code in (Exit.INPUT, Exit.USAGE)


def test_integers_out_of_range(tmp_path: Path) -> None:
    np.save(tmp_path / "d.npy", np.array([0, 1, 2, 3, 16]))
    called = run("--interpret", f"--input=d={tmp_path / 'd.npy'}", stdin=TYPES)
    assert called.code == Exit.INPUT
    assert "holds integers that u4, the type of d, has not [UC1005]" in called.err


def test_no_gpu_is_what_the_machine_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    called = run("--dim=M=2", "--json")
    assert called.code == Exit.MACHINE
    (diagnostic,) = json.loads(called.err)
    assert diagnostic["code"] == "UC0901"
    assert "--interpret" in diagnostic["message"]
    # A wrong program is wrong on every machine.
    assert run("--dim=M=2", stdin=PROGRAM.replace("relu", "rleu")).code == Exit.INPUT
