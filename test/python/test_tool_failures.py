"""However a tool ends, its exit code says whose fault it is, and stderr has a line that says why."""

import argparse
import errno
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from ucutlass_tools._main import ArgumentParser, Exit, guard, suggest_in_errors
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.parser import Parser
from xdsl.utils.arg_spec import parse_pipeline
from xdsl.utils.exceptions import VerifyException

from ucutlass.diagnostics.core import Diagnostic, DiagnosticError, Severity
from ucutlass.diagnostics.source import SourceFile
from ucutlass.errors import MachineError, UsageError


def raising(error: BaseException) -> Callable[[list[str]], int]:
    def work(arguments: list[str]) -> int:
        raise error

    return work


def bad_module(arguments: list[str]) -> int:
    context = Context()
    context.load_dialect(Builtin)
    Parser(context, "builtin.module {\n  %0 = nonsense\n}", "bad.mlir").parse_module()
    return 0


def succeeding(arguments: list[str]) -> int:
    return 0


def silent(arguments: list[str]) -> int:
    return 1


def bad_pipeline(arguments: list[str]) -> int:
    return len(list(parse_pipeline("a{b=,c")))


@pytest.mark.parametrize(
    ("work", "code", "said"),
    [
        (raising(UsageError("no such GPU 'h2oo'")), Exit.USAGE, "error: no such GPU 'h2oo'"),
        (raising(MachineError("no nvcc on the PATH")), Exit.MACHINE, "error: no nvcc on the PATH"),
        (raising(FileNotFoundError(errno.ENOENT, "No such file", "a.ucu")), Exit.USAGE, "No such file 'a.ucu'"),
        (raising(OSError(errno.ENOSPC, "No space left on device", "a.cu")), Exit.MACHINE, "No space left"),
        (raising(VerifyException("operand has no shape")), Exit.INPUT, "operand has no shape"),
        (bad_module, Exit.INPUT, "bad.mlir:3:1: error: Operation nonsense is not registered [UC0121]\n}\n^\n"),
        (bad_pipeline, Exit.USAGE, "a{b=,c"),
        (raising(RecursionError()), Exit.INPUT, "nests too deeply"),
        (raising(KeyboardInterrupt()), Exit.INTERRUPTED, "interrupted"),
        (raising(ZeroDivisionError("division by zero")), Exit.BUG, "ZeroDivisionError: division by zero"),
        (raising(SystemExit("nothing to do")), Exit.INPUT, "nothing to do"),
        (silent, 1, "exit code 1 and no message"),
        (raising(SystemExit(2)), 2, "exit code 2 and no message"),
    ],
)
def test_failures_are_explained(
    work: Callable[[list[str]], int], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert guard("ucutlass-test", work, []) == code
    captured = capsys.readouterr()
    assert said in captured.err
    assert "Traceback" not in captured.err
    assert not captured.out


def test_success_is_silent(capsys: pytest.CaptureFixture[str]) -> None:
    assert guard("ucutlass-test", succeeding, []) == 0
    assert capsys.readouterr() == ("", "")


def test_diagnostics_are_shown_with_their_source(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.ucu"
    path.write_text("kernel f() {\n  y = gem(x)\n}\n", encoding="utf-8")
    span = SourceFile(str(path), path.read_text(encoding="utf-8")).span(19, 22)
    error = DiagnosticError(Diagnostic("XX0001", Severity.ERROR, "unknown operation 'gem'", span))
    assert guard("ucutlass-test", raising(error), []) == Exit.INPUT
    captured = capsys.readouterr().err
    assert f"{path}:2:7: error: unknown operation 'gem' [XX0001]" in captured
    assert "2 |   y = gem(x)" in captured
    assert captured.rstrip().endswith("1 error")


def test_traceback_is_there_for_the_asking(capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[list[str]] = []

    def work(arguments: list[str]) -> int:
        seen.append(arguments)
        raise ZeroDivisionError("division by zero")

    assert guard("ucutlass-test", work, ["--traceback", "a.ucu"]) == Exit.BUG
    assert seen == [["a.ucu"]], "the flag is not for the tool"
    assert "Traceback" in capsys.readouterr().err


def parser_of(tool: str) -> argparse.ArgumentParser:
    parser = ArgumentParser(tool, "A test.")
    parser.add_argument("file")
    parser.add_argument("--tile", metavar="MxNxK")
    parser.add_argument("--stages", type=int)
    return parser


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["a.ucu", "--tilee", "128x128x64"], "unknown flag '--tilee': did you mean '--tile'?"),
        (["a.ucu", "--stagess=3"], "unknown flag '--stagess': did you mean '--stages'?"),
        (["a.ucu", "--sta=3"], "unknown flag '--sta': did you mean '--stages'?"),
        (["a.ucu", "--frobnicate"], "unknown flag '--frobnicate' [UC0002]\n"),
        (["a.ucu", "b.ucu"], "one argument too many: 'b.ucu'"),
        (["a.ucu", "--stages=three"], "invalid int value: 'three'"),
        ([], "required: file"),
    ],
)
@pytest.mark.parametrize("foreign", [False, True])
def test_wrong_flags_are_refused(
    arguments: list[str], said: str, foreign: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    def work(arguments: list[str]) -> int:
        parser = parser_of("ucutlass-test")
        if foreign:
            parser = argparse.ArgumentParser("ucutlass-test", parents=[parser], add_help=False)
            suggest_in_errors(parser)
        parser.parse_args(arguments)
        return 0

    assert guard("ucutlass-test", work, arguments) == Exit.USAGE
    assert said in capsys.readouterr().err


def test_click_errors_are_explained(capsys: pytest.CaptureFixture[str]) -> None:
    import click

    @click.command()
    @click.option("--tile")
    def command(tile: str) -> None: ...

    def work(arguments: list[str]) -> int:
        command.main(arguments, standalone_mode=False)
        return 0

    assert guard("ucutlass-test", work, ["--tilee", "1"]) == Exit.USAGE
    said = capsys.readouterr().err
    assert "--tilee" in said
    assert "Did you mean" in said or "did you mean" in said


def test_a_reader_that_goes_away_is_no_failure() -> None:
    program = """
from ucutlass_tools._main import guard
def work(arguments):
    for line in range(100_000):
        print(line)
    return 0
raise SystemExit(guard("ucutlass-test", work, []))
"""
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "0\n"
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait() == 0
