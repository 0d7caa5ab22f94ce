"""Completion: what bash offers, asked of bash itself; that the other scripts say the same."""

import re
import shutil
import subprocess

import pytest
from tool_calls import Main, call
from ucutlass_tools import compile as compile_tool
from ucutlass_tools import opt, run, translate
from ucutlass_tools._completion import Shell, script
from ucutlass_tools._flags import CommandLine, Flag, Group, Positional

from ucutlass.diagnostics.catalogue import CATALOGUE
from ucutlass.registry import PASSES, PIPELINES, TARGETS

LINES = [opt.COMMAND_LINE, translate.COMMAND_LINE, compile_tool.COMMAND_LINE, run.COMMAND_LINE]

needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")


def offered(line: CommandLine, *words: str) -> list[str]:
    """What bash offers for the last of the words. Words are given as bash splits them: `=` is one of its own."""
    function = "_" + line.tool.replace("-", "_")
    program = script(line, "bash").replace("compopt -o filenames; ", "") + (
        f'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); {function}; printf "%s\\n" "${{COMPREPLY[@]}}"'
    )
    done = subprocess.run(
        ["bash", "-c", program, "bash", line.tool, *words], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return done.stdout.split()


@needs_bash
def test_flags() -> None:
    assert offered(opt.COMMAND_LINE, "--print-ir-after-") == [
        "--print-ir-after-all",
        "--print-ir-after-change",
        "--print-ir-after-failure",
    ]
    names = {name for flag in opt.COMMAND_LINE.flags for name in flag.names}
    assert set(offered(opt.COMMAND_LINE, "-")) == names | {"--help"}


@needs_bash
def test_values() -> None:
    line = opt.COMMAND_LINE
    assert offered(line, "--color", "") == ["auto", "always", "never"]
    assert offered(line, "--color", "=") == ["auto", "always", "never"]
    assert offered(line, "--color", "=", "al") == ["always"]
    assert offered(line, "--arch", "sm_9") == ["sm_90a"]
    assert set(offered(line, "--explain", "")) == set(CATALOGUE)
    assert set(offered(line, "-p", "")) == {*PASSES, *PIPELINES}
    assert offered(line, "-p", "infer,fu") == ["infer,fuse"]
    assert set(TARGETS) <= set(offered(translate.COMMAND_LINE, "--to", ""))


@needs_bash
def test_a_flag_that_may_stand_alone_takes_a_value_only_after_an_equals_sign() -> None:
    assert offered(opt.COMMAND_LINE, "--remarks", "=", "") == ["text", "json"]
    assert "json" not in offered(opt.COMMAND_LINE, "--remarks", "")


@needs_bash
def test_files(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("files")
    (folder / "a.ucu").touch()
    (folder / "sub").mkdir()
    both = {str(folder / "a.ucu"), str(folder / "sub")}
    assert set(offered(opt.COMMAND_LINE, f"{folder}/")) == both
    assert set(offered(opt.COMMAND_LINE, "-o", f"{folder}/")) == both
    assert offered(opt.COMMAND_LINE, "--dump-ir", f"{folder}/") == [str(folder / "sub")]


def spelled(shell: Shell, name: str) -> str:
    """How a script writes a flag."""
    match shell:
        case "bash":
            return rf"(?<![\w-]){re.escape(name)}(?![\w-])"
        case "zsh":
            return rf"'\*?{re.escape(name)}(=-?)?\["
        case "fish":
            return rf" -l {name[2:]} " if name.startswith("--") else rf" -s {name[1:]} "


@pytest.mark.parametrize("line", LINES, ids=[line.tool for line in LINES])
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_flag_is_in_every_script(line: CommandLine, shell: Shell) -> None:
    text = script(line, shell)
    for flag in line.flags:
        for name in flag.names:
            assert re.search(spelled(shell, name), text), f"{name} is missing"
        for choice in flag.choices:
            assert choice in text
    assert text.replace("\\'", "").count("'") % 2 == 0, "quotes are balanced"


def test_help_texts_with_special_characters() -> None:
    flag = Flag(("--odd",), "it's [odd]: \\ very", "A[B]:C", bare="x", choices=("x", "y"))
    line = CommandLine("tool", "", Positional("file", ""), (Group("g", (flag,)),))
    assert "'--odd=-[its (odd)\\: \\ very]::A(B)\\:C:(x y)'" in script(line, "zsh")
    assert "-d 'it\\'s [odd]: \\\\ very'" in script(line, "fish")


@pytest.mark.parametrize("main", [opt.main, translate.main, compile_tool.main, run.main])
def test_every_tool_prints_it(main: Main) -> None:
    called = call(main, "--completion=bash")
    assert called.code == 0
    assert called.out.startswith("# Completion of ucutlass-")
