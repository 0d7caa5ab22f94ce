"""`ucutlass-translate`: forms of a program, and texts about the language."""

import json
import re
from pathlib import Path

import pytest
from tool_calls import Called, call
from ucutlass_tools import opt, translate
from ucutlass_tools._main import Exit

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "linear_gelu.ucu"
PROGRAM = EXAMPLE.read_text(encoding="utf-8")


def run(*arguments: str, stdin: str = "") -> Called:
    return call(translate.main, *arguments, stdin=stdin)


def test_formatting_is_idempotent_and_keeps_the_program() -> None:
    squeezed = re.sub(r"\s+", " ", re.sub(r"#.*", "", PROGRAM))
    formatted = run("--to=ucu", stdin=squeezed).out
    assert formatted != squeezed
    assert run("--to=ucu", stdin=formatted).out == formatted
    assert run("--to=mlir", stdin=formatted).out == run("--to=mlir", stdin=PROGRAM).out


def test_round_trip_through_mlir() -> None:
    mlir = run("--to=mlir", str(EXAMPLE)).out
    assert mlir == call(opt.main, str(EXAMPLE)).out
    assert run("--to=ucu", "--from=mlir", stdin=mlir).out == run("--to=ucu", str(EXAMPLE)).out


def test_the_same_cuda_whatever_the_program_was_written_in() -> None:
    cuda = run("--to=cuda", str(EXAMPLE))
    assert cuda.code == Exit.OK, cuda.err
    assert run("--to=cuda", stdin=run("--to=mlir", str(EXAMPLE)).out).out == cuda.out
    assert run("--to=cuda", stdin=PROGRAM.replace("\n", "\n\n")).out == cuda.out
    assert call(opt.main, "-p", "default", "-t", "cuda", str(EXAMPLE)).out == cuda.out


def test_the_header_shows_the_program() -> None:
    cuda = run("--to=cuda", str(EXAMPLE)).out
    header = [line.removeprefix("//   ") for line in cuda.split("\n\n")[0].splitlines() if line.startswith("//   ")]
    kernel = run("--to=ucu", str(EXAMPLE)).out.partition("\n\n")[2]
    assert "\n".join(header) + "\n" == kernel


def test_symbol_suffix() -> None:
    plain = run("--to=cuda", str(EXAMPLE)).out
    suffixed = run("--to=cuda", "--symbol-suffix=hash", str(EXAMPLE)).out
    assert re.search(r"\bint linear_gelu\(", plain, re.MULTILINE)
    match = re.search(r"\bint linear_gelu_([0-9a-f]{16})\(", suffixed, re.MULTILINE)
    assert match is not None
    assert f"// content: {match[1]}" in suffixed


def test_the_target_of_a_program_that_names_none() -> None:
    bare = PROGRAM.partition("target sm_90a")[2]
    assert run("--to=ucu", "--target=sm_80", stdin=bare).out.startswith("target sm_80\n")
    assert run("--to=ucu", stdin=bare).out.startswith("kernel")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ([], "UC0016", "say what to translate to: --to=mlir|ucu|cuda|"),
        (["--to=cubin"], "UC0016", "invalid choice: 'cubin'"),
        (["--to=mlri"], "UC0016", "did you mean 'mlir'"),
        (["--to=ucu", "--symbol-suffix=hash"], "UC0023", "--symbol-suffix is about C++"),
        (["--to=grammar-lark", "a.ucu"], "UC0023", "is about the language, not about 'a.ucu'"),
        (["--to=ucu", "--arch=sm_9"], "UC0106", "unknown target sm_9"),
        (["--to=ucu", "no.ucu"], "UC0004", "cannot read 'no.ucu'"),
        (["--to=ucu", "--symbol-sufix=hash"], "UC0002", "did you mean '--symbol-suffix'"),
    ],
)
def test_wrong_calls_are_refused(arguments: list[str], code: str, said: str) -> None:
    called = run(*arguments)
    assert (called.code, called.out) == (Exit.USAGE, "")
    assert said in called.err
    assert f"[{code}]" in called.err
    (diagnostic,) = json.loads(run("--json", *arguments).err)
    assert diagnostic["code"] == code


@pytest.mark.parametrize("form", ["mlir", "ucu", "cuda"])
def test_a_wrong_program_writes_nothing(form: str, tmp_path: Path) -> None:
    output = tmp_path / "out"
    called = run(f"--to={form}", "-o", str(output), "--json", stdin=PROGRAM.replace("gelu()", "geluu()"))
    assert (called.code, called.out) == (Exit.INPUT, "")
    assert [d["code"] for d in json.loads(called.err)] == ["UC0202"]
    assert not output.exists()


def test_what_the_language_cannot_say_is_refused() -> None:
    lowered = call(opt.main, "-p", "default", str(EXAMPLE)).out
    called = run("--to=ucu", stdin=lowered)
    assert (called.code, called.out) == (Exit.INPUT, "")
    assert "[UC0122]" in called.err
    assert run("--to=cuda", stdin="builtin.module {}").code == Exit.INPUT
