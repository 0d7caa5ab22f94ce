"""Calls and inputs that make no sense: each tool ends with 1, 2 or 3 and a line that helps, never with a traceback."""

import subprocess
import sys
from pathlib import Path

import pytest
from tool_calls import Called, Main, call
from ucutlass_tools import compile as compile_tool
from ucutlass_tools import opt, profile, run, sol, translate

TOOLS: dict[str, Main] = {
    "opt": opt.main,
    "translate": translate.main,
    "run": run.main,
    "compile": compile_tool.main,
    "profile": profile.main,
    "sol": sol.main,
}

SMALL = """kernel f(x: f16[8, 8]) -> f16[8, 8] {
  return relu(x)
}
"""
DYNAMIC = "kernel f(x: f16[M, 64]) -> f16[M, 64] { return relu(x) }\n"
TWO = DYNAMIC + "kernel g(x: f16[N, 8]) -> f16[N, 8] { return exp(x) }\n"
LINEAR = "kernel f(x: f16[128, 64], w: f16[128, 64]) -> f16[128, 128] { return gemm(x, w.T) }\n"
MISSPELT = SMALL.replace("relu", "rleu")

FILES: dict[str, str | bytes] = {
    "small.ucu": SMALL,
    "dynamic.ucu": DYNAMIC,
    "two.ucu": TWO,
    "linear.ucu": LINEAR,
    "huge.ucu": "kernel f(x: f32[4000000000, 4000000000, 4000000000]) -> f32[] { return sum(x) }",
    "empty.ucu": "",
    "empty.mlir": "",
    "comment.ucu": "# nothing else",
    "binary.ucu": bytes(range(256)),
    "binary.mlir": bytes(range(255, -1, -1)),
    "utf16.ucu": SMALL.encode("utf-16"),
    "nul.ucu": SMALL.replace("relu", "re\0lu"),
    "half.mlir": "builtin.module {\n  ucutlass.kernel @f(%x: !ucutlass.tensor<[8, 8],",
    "deep.mlir": "builtin.module {" * 2000 + "}" * 2000,
    "unclosed.ucu": SMALL.replace("relu(x)", "(" * 10_000 + "x"),
    "longest.ucu": SMALL.replace("relu", "a" * 100_000),
    "number.ucu": SMALL.replace("8, 8", "9" * 5000),
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with all the files, which relative names are looked up in."""
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    (tmp_path / "folder.ucu").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def failed(called: Called, code: int, said: str) -> None:
    """The tool failed as expected, and says why in lines that a person can read."""
    assert called.code == code, called.err
    assert said in called.err
    assert max(map(len, called.err.splitlines())) < 1000


INPUT, USAGE, MACHINE = 1, 2, 3


# Inputs --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", ["opt -p verify", "translate --to=mlir", "run --interpret", "sol"])
@pytest.mark.parametrize(
    ("file", "code", "said"),
    [
        ("missing.ucu", USAGE, "cannot read 'missing.ucu': No such file or directory [UC0004]"),
        ("no/such/folder.ucu", USAGE, "No such file or directory [UC0004]"),
        ("small.ucu/f.ucu", USAGE, "Not a directory [UC0004]"),
        ("folder.ucu", USAGE, "cannot read 'folder.ucu': Is a directory [UC0004]"),
        ("a\0b.ucu", USAGE, "[UC0004]"),
        ("small.txt", USAGE, "[UC0004]"),
        ("/dev/null", USAGE, "say the language with -f ucu or -f mlir [UC0005]"),
        ("empty.ucu", INPUT, "empty.ucu:1:1: error: the file has no kernel"),
        ("comment.ucu", INPUT, "comment.ucu:1:1: error: the file has no kernel"),
        ("empty.mlir", INPUT, "empty.mlir:1:1: error:"),
        ("binary.ucu", INPUT, "the text is not UTF-8"),
        ("binary.mlir", INPUT, "the text is not UTF-8"),
        ("utf16.ucu", INPUT, "the text is not UTF-8"),
        ("nul.ucu", INPUT, "nul.ucu:2:12: error: unexpected character U+0000"),
        ("half.mlir", INPUT, "half.mlir:2:"),
        ("deep.mlir", INPUT, "[UC0104]"),
        ("unclosed.ucu", INPUT, "expected ')'"),
        ("longest.ucu", INPUT, "longest.ucu:2:10: error: there is no operation 'aaaa"),
        ("number.ucu", INPUT, "(5000 digits) is too large"),
    ],
)
def test_files(here: Path, tool: str, file: str, code: int, said: str) -> None:
    name, *flags = tool.split()
    failed(call(TOOLS[name], *flags, file), code, said)


@pytest.mark.parametrize("tool", ["opt", "translate --to=ucu", "run --interpret", "compile", "profile", "sol"])
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "<stdin>:1:1: error: the file has no kernel"),
        ("  \n# only a comment\n", "error: the file has no kernel"),
        (b"\xff\xfe\x00", "the text is not UTF-8"),
        ("kernal f(x: f16[8]) -> f16[8] { return x }", "a μCUTLASS program begins with 'target' or 'kernel'"),
    ],
)
def test_stdin(tool: str, text: str | bytes, said: str) -> None:
    name, *flags = tool.split()
    failed(call(TOOLS[name], *flags, "-", stdin=text), INPUT, said)


@pytest.mark.parametrize("tool", ["compile", "profile"])
def test_stdin_is_read_once(tool: str) -> None:
    failed(call(TOOLS[tool], "-", "-", stdin=SMALL), USAGE, "- names stdin more than once")


@pytest.mark.parametrize(
    ("old", "new", "line", "column"),
    [
        ("\n", "\r\n", 2, 10),
        ("  return", " " * 1_000_000 + "return", 2, 1_000_008),
        ("kernel", "#" + "c" * 1_000_000 + "\nkernel", 3, 10),
    ],
    ids=["crlf", "long line", "long comment"],
)
def test_odd_lines_keep_their_places(here: Path, old: str, new: str, line: int, column: int) -> None:
    path = here / "odd.ucu"
    path.write_bytes(MISSPELT.replace(old, new).encode())
    failed(call(opt.main, "-p", "verify", "odd.ucu"), INPUT, f"odd.ucu:{line}:{column}: error: there is no operation")
    assert call(opt.main, "-p", "verify", "--apply-fixits", "odd.ucu").code == 0
    assert path.read_bytes() == SMALL.replace(old, new).encode()


def test_a_byte_order_mark_can_be_mended(here: Path) -> None:
    path = here / "marked.ucu"
    path.write_bytes(b"\xef\xbb\xbf" + SMALL.encode())
    failed(call(opt.main, "-p", "verify", "marked.ucu"), INPUT, "marked.ucu:1:1: error: U+FEFF")
    assert call(opt.main, "-p", "verify", "--apply-fixits", "marked.ucu").code == 0
    assert path.read_text(encoding="utf-8") == SMALL


def test_parts_without_a_program_are_passed_over(here: Path) -> None:
    (here / "parts.ucu").write_text(f"# what this is\n# -----\n{MISSPELT}# -----\n\n# -----\n{SMALL}# -----\n")
    failed(call(opt.main, "--split-input-file", "parts.ucu"), INPUT, "parts.ucu:4:10: error: there is no operation")
    called = call(opt.main, "--split-input-file", "--emit=ucu", "-", stdin=f"{SMALL}# -----\n{SMALL}# -----\n")
    assert (called.code, called.out.count("kernel"), called.out.count("-----")) == (0, 2, 1)
    failed(call(opt.main, "--split-input-file", "-", stdin="# -----\n"), INPUT, "the file has no kernel")


# Flags ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--bogus"], "unknown flag '--bogus' [UC0002]"),
        (["--targt=sm_90a"], "did you mean '--target'? [UC0002]"),
        (["--tilee", "128x128x64"], "unknown flag '--tilee'"),
        (["--arch", "sm_90"], "use sm_90a [UC0106]"),
        (["--arch=sm_91"], "unknown target sm_91"),
        (["--max-errors=-1"], "--max-errors: '-1'"),
        (["--max-errors=some"], "--max-errors: 'some'"),
        (["--color=maybe"], "invalid choice: 'maybe'"),
        (["--completion=powershell"], "invalid choice: 'powershell'"),
        (["-f", "perl"], "perl"),
    ],
)
def test_flags_of_all_tools(here: Path, tool: str, flags: list[str], said: str) -> None:
    extra = ["--to=mlir"] if tool == "translate" else ["--interpret"] if tool == "run" else []
    failed(call(TOOLS[tool], *extra, *flags, "small.ucu"), USAGE, said)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ("opt -p verfy small.ucu", USAGE, "unknown pass 'verfy': did you mean 'verify'? [UC0006]"),
        ("opt -p infer,nosuch,fuse small.ucu", USAGE, "<passes>:1:7: error: unknown pass 'nosuch'"),
        ("opt -p infer,,fuse small.ucu", USAGE, "<passes>:1:7: error: expected the name of a pass between the commas"),
        ("opt -p infer{x=1} small.ucu", USAGE, "pass 'infer' has no option 'x'; it has none [UC0007]"),
        ("opt -p select-config{gpu=} small.ucu", USAGE, "has no value after '=' [UC0008]"),
        ("opt -p select-config{gpu=h2oo} small.ucu", USAGE, "<passes>:1:15: error: pass 'select-config': there is no"),
        ("opt -p verify{x=1} small.ucu", USAGE, "the pipeline 'verify' takes no options"),
        ("opt --pass-pipeline builtin.module(infer small.ucu", USAGE, "is not closed"),
        ("opt --print-ir-before=nosuch -p verify small.ucu", USAGE, "--print-ir-before: unknown pass 'nosuch'"),
        ("opt --print-ir-after=infer,fuze -p verify small.ucu", USAGE, "unknown pass 'fuze': did you mean 'fuse'?"),
        ("opt -p fuse linear.ucu", INPUT, "values have no types in kernel f: run infer first"),
        (
            "opt -p infer,lower-to-cutlass linear.ucu",
            INPUT,
            "run fuse first, or the whole pipeline, -p default [UC0704]",
        ),
        ("opt -p infer,fuse,lower-to-cutlass linear.ucu", INPUT, "run select-config first"),
        ("opt -p infer,fuse,select-config,lower-to-cutlass linear.ucu", INPUT, "run stage-pipeline first"),
        ("opt -t riscv-asm small.ucu", USAGE, "riscv-asm, an output form of xDSL, has no text for this program"),
        ("opt -t mps small.ucu", USAGE, "mps, an output form of xDSL"),
        ("opt -t mlir{x=1} small.ucu", USAGE, 'argument -t: output form mlir: Provided arguments ["x"] not found'),
        ("opt -f ucu{x=1} small.ucu", USAGE, 'argument -f: language ucu: Provided arguments ["x"] not found'),
        ("translate --to=mlir -f mlir{x=1} half.mlir", USAGE, "argument -f: language mlir"),
        ("opt --explain UC9999", USAGE, "there is no diagnostic 'UC9999'"),
        ("opt small.ucu small.ucu", USAGE, "one argument too many: 'small.ucu'"),
        ("opt --emit=xml small.ucu", USAGE, "invalid choice: 'xml'"),
        ("opt --diagnostics=yaml small.ucu", USAGE, "invalid choice: 'yaml'"),
        ("opt --run-reproducer small.ucu", USAGE, "small.ucu is no crash reproducer"),
        ("opt -o no/such/file small.ucu", USAGE, "cannot write 'no/such/file': No such file or directory [UC0011]"),
        ("opt -o folder.ucu small.ucu", USAGE, "cannot write 'folder.ucu': Is a directory [UC0011]"),
        ("opt -o /dev/full small.ucu", MACHINE, "cannot write '/dev/full': No space left on device [UC0011]"),
        ("translate small.ucu", USAGE, "say what to translate to"),
        ("translate --to=mliir small.ucu", USAGE, "did you mean 'mlir'"),
        ("translate --to=grammar-lark small.ucu", USAGE, "leave the file out"),
        ("translate --to=mlir -o small.ucu/x small.ucu", USAGE, "Not a directory [UC0011]"),
        ("run --interpret --dim M dynamic.ucu", USAGE, "cannot read 'M': write NAME=SIZE"),
        ("run --interpret --dim M=4,,8 dynamic.ucu", USAGE, "'' is no size"),
        ("run --interpret --dim M=-4 dynamic.ucu", USAGE, "'-4' is no size"),
        ("run --interpret --dim M=1e3 dynamic.ucu", USAGE, "'1e3' is no size"),
        ("run --interpret --dim M=99999999999999999999 dynamic.ucu", USAGE, "is no size"),
        ("run --interpret --dim M=4 --dim M=8 dynamic.ucu", USAGE, "M is given twice"),
        ("run --interpret --dim M=4000000000000 dynamic.ucu", MACHINE, "not enough memory"),
        ("run --interpret huge.ucu", MACHINE, "not enough memory"),
        ("run --interpret --seed 99999999999999999999999 small.ucu", USAGE, "--seed: '99999999999999999999999' is too"),
        ("run --interpret --distribution gauss small.ucu", USAGE, "invalid choice: 'gauss'"),
        ("run --interpret --input x small.ucu", USAGE, "write NAME=FILE.npy"),
        ("run --interpret --input x=missing.npy small.ucu", USAGE, "cannot read 'missing.npy'"),
        ("run --interpret --input x=binary.ucu small.ucu", USAGE, "'binary.ucu' is no array of numbers"),
        ("run --interpret --save small.ucu small.ucu", USAGE, "cannot write 'small.ucu': File exists [UC0011]"),
        ("sol --gpu h2oo small.ucu", USAGE, "there is no data for GPU 'h2oo'"),
        ("sol --gpu missing.json small.ucu", USAGE, "cannot read 'missing.json'"),
        ("sol --at-clock nan small.ucu", USAGE, "--at-clock: 'nan'"),
        ("sol --time-us 0 small.ucu", USAGE, "--time-us: '0'"),
        ("compile", USAGE, "name a program to compile, or - for stdin"),
        ("compile -o small.ucu linear.ucu", USAGE, "cannot write 'small.ucu': File exists [UC0011]"),
        ("compile -o out linear.ucu linear.ucu", USAGE, "two programs would be f.so in out"),
        ("compile -j 0 linear.ucu", USAGE, "--jobs: '0' is no whole number from 1 on"),
        ("compile --nvcc missing linear.ucu", MACHINE, "missing, given by --nvcc, does not exist [UC0801]"),
        ("compile --cutlass folder.ucu linear.ucu", MACHINE, "has no CUTLASS headers [UC0803]"),
        ("compile missing.ucu linear.ucu --nvcc missing", USAGE, "cannot read 'missing.ucu'"),
        ("profile", USAGE, "name a program to profile, or - for stdin"),
        ("profile --runs 0 linear.ucu", USAGE, "--runs: '0'"),
    ],
)
def test_calls(here: Path, arguments: str, code: int, said: str) -> None:
    name, *rest = arguments.split()
    failed(call(TOOLS[name], *rest), code, said)


# Sizes of several kernels --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", ["run --interpret", "sol"])
def test_each_kernel_takes_the_sizes_that_it_has(here: Path, tool: str) -> None:
    name, *flags = tool.split()
    called = call(TOOLS[name], *flags, "--dim=M=2,3", "--dim=N=5", "two.ucu")
    assert (called.code, called.err) == (0, "")
    headings = [line for line in called.out.splitlines() if line.startswith(("f ", "g "))]
    assert [heading.split()[0] for heading in headings] == ["f", "f", "g"]
    assert ["M = 2" in h for h in headings] == [True, False, False]
    failed(call(TOOLS[name], *flags, "--dim=M=2", "--dim=N=5", "--dim=Q=1", "two.ucu"), INPUT, "no dimension Q")
    failed(call(TOOLS[name], *flags, "--dim=M=2", "two.ucu"), INPUT, "kernel g leaves N open: add --dim N=SIZE")


# Streams -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("redirection", "code", "said"),
    [
        (">&-", USAGE, "cannot write to stdout: it is closed [UC0011]"),
        ("<&-", USAGE, "cannot read stdin: it is closed [UC0004]"),
        (">/dev/full", MACHINE, "No space left on device"),
        ("--bogus 2>&-", USAGE, ""),
    ],
)
def test_streams_that_cannot_be_used(redirection: str, code: int, said: str) -> None:
    shell = f'"$0" -m ucutlass_tools.opt {redirection}'
    done = subprocess.run(
        ["sh", "-c", shell, sys.executable], input=SMALL, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == code
    assert said in done.stderr and "Traceback" not in done.stderr
