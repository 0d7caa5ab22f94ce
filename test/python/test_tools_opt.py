"""`ucutlass-opt`: exit codes, what goes where, and what it does beyond `xdsl-opt`."""

import argparse
import json
import re
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from tool_calls import Called, call
from tool_passes import add_passes
from ucutlass_tools import _opt_flags, opt
from ucutlass_tools._main import Exit
from xdsl.ir import Attribute
from xdsl.xdsl_opt_main import xDSLOptMain

from ucutlass.errors import UsageError

GOOD = """kernel f(x: f16[8, 8]) -> f16[8, 8] {
  y = relu(x)
  return y
}
"""
BAD_NAME = GOOD.replace("relu", "rleu")
BAD_SHAPE = GOOD.replace("-> f16[8, 8]", "-> f16[8, 9]")


def run(*arguments: str, stdin: str | bytes = "") -> Called:
    return call(opt.main, *arguments, stdin=stdin)


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "f.ucu"
    path.write_text(GOOD, encoding="utf-8")
    return path


# Flags ---------------------------------------------------------------------------------------------------------------


def names(parser: argparse.ArgumentParser) -> set[str]:
    """The flags of a parser."""
    found = set(re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", parser.format_help()))
    return found - {"-h", "--help", "-v", "--version", "-opt"}


def meaning(parser: argparse.ArgumentParser, flag: str) -> tuple[str, object, bool]:
    """Destination, default and whether it takes a value."""
    defaults = vars(parser.parse_args([]))
    takes_value = False
    try:
        given = vars(parser.parse_args([flag]))
    except (SystemExit, UsageError):
        given = vars(parser.parse_args([flag, "value"]))
        takes_value = True
    (destination,) = [name for name, value in given.items() if value != defaults[name]]
    return destination, defaults[destination], takes_value


def test_every_flag_of_xdsl_opt_is_there_and_means_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    theirs, ours = argparse.ArgumentParser(prog="theirs"), _opt_flags.COMMAND_LINE.parser()
    main = xDSLOptMain.__new__(xDSLOptMain)
    main.available_frontends, main.available_passes, main.available_targets = {}, {}, {}
    main.register_all_arguments(theirs)
    wanted = {flag: meaning(theirs, flag) for flag in names(theirs)}
    assert len(wanted) > 15, "the measure sees the flags"
    # Unset, not empty: an empty pipeline is an error.
    wanted |= dict.fromkeys(("-p", "--passes"), ("passes", None, True))
    assert wanted.keys() <= names(ours)
    assert {flag: meaning(ours, flag) for flag in wanted} == wanted
    capsys.readouterr()


def test_the_two_meanings_of_target() -> None:
    parse = _opt_flags.COMMAND_LINE.parse
    assert (parse(["--target=sm_90a"]).arch, parse(["--target=sm_90a"]).target) == ("sm_90a", "mlir")
    assert (parse(["-t", "cuda"]).arch, parse(["-t", "cuda"]).target) == (None, "cuda")
    both = parse(["--target=ucu", "--target=sm_80"])
    assert (both.arch, both.target) == ("sm_80", "ucu")
    assert parse(["--emit=ucu"]).target == "ucu"


def test_a_bare_flag_does_not_swallow_the_file() -> None:
    args = _opt_flags.COMMAND_LINE.parse(["--remarks", "a.ucu"])
    assert (args.remarks, args.input_file) == ("text", "a.ucu")
    assert _opt_flags.COMMAND_LINE.parse(["--remarks=json", "a.ucu"]).remarks == "json"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["no/such.ucu"], "UC0004", "cannot read 'no/such.ucu': No such file"),
        (["."], "UC0004", "Is a directory"),
        (["README.md"], "UC0005", "-f ucu"),
        (["--tilee"], "UC0002", "unknown flag '--tilee'"),
        (["--remark"], "UC0002", "did you mean '--remarks'?"),
        (["--color=alway"], "UC0003", "did you mean 'always'"),
        (["--max-errors=-1"], "UC0003", "'-1' is no whole number from 0 on"),
        (["-t", "cdua"], "UC0016", "did you mean 'cuda'"),
        (["--emit=cuda"], "UC0003", "choose from ucu, mlir"),
        (["-f", "mlri"], "UC0003", "did you mean 'mlir'"),
        (["--target=sm_90"], "UC0106", "use sm_90a"),
        (["--arch=sm_91"], "UC0106", "sm_90a"),
        (["-p", "infer", "--pass-pipeline=infer"], "UC0023", "give one of them"),
        (["--apply-fixits", "--verify-diagnostics"], "UC0023", "exclude each other"),
        (["--print-ir-tree-dir=x"], "UC0023", "--print-ir-after-all"),
        (["--explain=UC9999"], "UC0017", "there is no diagnostic 'UC9999'"),
        (["a.ucu", "b.ucu"], "UC0023", "one argument too many: 'b.ucu'"),
    ],
)
def test_wrong_calls_are_refused(arguments: list[str], code: str, said: str) -> None:
    text = run(*arguments)
    assert (text.code, text.out) == (Exit.USAGE, "")
    assert said in text.err
    assert f"[{code}]" in text.err
    as_json = run("--json", *arguments)
    assert (as_json.code, as_json.out) == (Exit.USAGE, "")
    (diagnostic,) = json.loads(as_json.err)
    assert diagnostic["code"] == code
    assert said in diagnostic["message"]


# Input and output ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("# comment\n\n  target sm_90a kernel f(x: f16[8]) -> f16[8] { return relu(x) }", "target line"),
        (GOOD, "kernel"),
        ("builtin.module {\n}\n", "mlir"),
    ],
)
def test_stdin_is_told_by_its_first_word(text: str, name: str) -> None:
    for arguments in ([], ["-"]):
        called = run(*arguments, stdin=text)
        assert called.code == Exit.OK, (name, called.err)
        assert called.out.startswith("builtin.module")


def test_what_was_printed_can_be_read_and_printed_again() -> None:
    printed = run("-p", "infer", stdin=GOOD).out
    assert run(stdin=printed).out == printed
    generic = run("--print-op-generic", "-p", "infer", stdin=GOOD).out
    assert generic != printed
    assert run(stdin=generic).out == printed
    assert run("--emit=ucu", stdin=printed).out == GOOD


def test_an_architecture_is_for_programs_that_name_none() -> None:
    assert 'ucutlass.target = "sm_80"' in run("--target=sm_80", stdin=GOOD).out
    kept = run("--target=sm_80", stdin="target sm_90a\n" + GOOD)
    assert 'ucutlass.target = "sm_90a"' in kept.out
    assert kept.code == Exit.OK
    assert "<stdin>:1:8: warning: the program is for sm_90a, the command for sm_80" in kept.err


def test_output_is_whole_or_absent(tmp_path: Path, program: Path) -> None:
    output = tmp_path / "out.mlir"
    assert run(str(program), "-o", str(output)).code == Exit.OK
    good = output.read_text(encoding="utf-8")
    assert good == run(str(program)).out
    program.write_text(BAD_NAME, encoding="utf-8")
    failed = run(str(program), "-o", str(output))
    assert (failed.code, failed.out) == (Exit.INPUT, "")
    assert output.read_text(encoding="utf-8") == good, "the earlier result is still there"
    output.unlink()
    assert run(str(program), "-o", str(output)).code == Exit.INPUT
    assert [path.name for path in tmp_path.iterdir()] == ["f.ucu"], "nothing is left lying about"
    nowhere = run(str(program), "-o", str(tmp_path / "no" / "out.mlir"), stdin=GOOD)
    assert nowhere.code == Exit.INPUT, "the program comes first"


def test_an_output_that_cannot_be_written_is_a_wrong_call(tmp_path: Path, program: Path) -> None:
    called = run(str(program), "-o", str(tmp_path / "no" / "out.mlir"))
    assert called.code == Exit.USAGE
    assert "No such file or directory [UC0011]" in called.err


def test_output_keeps_permissions_and_links(tmp_path: Path, program: Path) -> None:
    real = tmp_path / "real.mlir"
    real.write_text("old", encoding="utf-8")
    real.chmod(0o640)
    link = tmp_path / "link.mlir"
    link.symlink_to(real)
    assert run(str(program), "-o", str(link)).code == Exit.OK
    assert link.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    assert real.read_text(encoding="utf-8").startswith("builtin.module")


def test_bytes_that_are_no_text() -> None:
    called = run("-f", "ucu", stdin=b"kernel f\xff")
    assert called.code == Exit.INPUT
    assert "<stdin>:1:9: error: the text is not UTF-8" in called.err


# Diagnostics ---------------------------------------------------------------------------------------------------------


def test_json_is_one_array_on_stderr() -> None:
    fine = run("--json", "-p", "infer", stdin=GOOD)
    assert (fine.code, json.loads(fine.err)) == (Exit.OK, [])
    assert fine.out.startswith("builtin.module")
    wrong = run("--diagnostics=json", stdin=BAD_NAME)
    assert (wrong.code, wrong.out) == (Exit.INPUT, "")
    (diagnostic,) = json.loads(wrong.err)
    assert (diagnostic["code"], diagnostic["file"], diagnostic["line"], diagnostic["column"]) == (
        "UC0202",
        "<stdin>",
        2,
        7,
    )
    assert BAD_NAME[diagnostic["start"] : diagnostic["end"]] == "rleu"
    assert [fix["replacement"] for fix in diagnostic["fixits"]] == ["relu"]


def test_sarif() -> None:
    log = json.loads(run("--diagnostics=sarif", stdin=BAD_NAME).err)
    assert [result["ruleId"] for result in log["runs"][0]["results"]] == ["UC0202"]


def test_all_errors_of_a_program_in_one_run() -> None:
    text = GOOD + BAD_SHAPE.replace("f(", "g(") + BAD_SHAPE.replace("f(", "h(")
    called = run("--json", "-p", "infer", stdin=text)
    assert [(d["code"], d["line"]) for d in json.loads(called.err)] == [("UC0307", 7), ("UC0307", 11)]


def test_max_errors() -> None:
    text = "".join(BAD_SHAPE.replace("f(", f"f{i}(") for i in range(5))
    few = run("-p", "infer", "--max-errors=2", stdin=text).err
    assert few.count("[UC0307]") == 2
    assert "not shown: 3 more of 5 errors [UC0010]" in few
    assert run("-p", "infer", "--max-errors=0", stdin=text).err.count("[UC0307]") == 5


def test_colour() -> None:
    assert "\x1b[" in run("--color=always", stdin=BAD_NAME).err
    assert "\x1b[" not in run(stdin=BAD_NAME).err


def test_remarks_are_shown_when_asked_for() -> None:
    text = "kernel f(x: f16[8, 64], w: f16[64, 8]) -> f16[8, 8] { return gemm(x, w) >> relu() }"
    assert run("-p", "infer,fuse", stdin=text).err == ""
    shown = run("-p", "infer,fuse", "--remarks", stdin=text).err
    assert "<stdin>:1:76: remark: relu is fused into the kernel of gemm [UC0601]" in shown
    remarks = json.loads(run("-p", "infer,fuse", "--remarks=json", stdin=text).err)
    assert {d["severity"] for d in remarks} == {"remark"}
    assert "UC0601" in [d["code"] for d in remarks]
    # With --json they join the one array.
    assert json.loads(run("-p", "infer,fuse", "--json", "--remarks", stdin=text).err) == remarks


def test_parsing_diagnostics_go_to_stdout_and_do_not_fail() -> None:
    called = run("--parsing-diagnostics", "--split-input-file", stdin=f"{BAD_NAME}# -----\n{GOOD}")
    assert called.code == Exit.OK
    assert "<stdin>:2:7: error: there is no operation 'rleu'" in called.out
    assert "@f" in called.out


# Split input and expectations ----------------------------------------------------------------------------------------


def test_places_in_a_split_file_are_places_of_the_file() -> None:
    text = f"# ä\n{GOOD}// -----\n{BAD_SHAPE}# -----\n{BAD_NAME}"
    called = run("--json", "--split-input-file", "-p", "infer", stdin=text)
    found = json.loads(called.err)
    assert called.out == ""
    assert [(d["code"], d["line"]) for d in found] == [("UC0307", 9), ("UC0202", 13)]
    assert text[found[1]["start"] : found[1]["end"]] == "rleu"


def test_a_split_file_of_good_parts_prints_them_apart() -> None:
    text = f"{GOOD}# -----\n{GOOD.replace('f(', 'g(')}"
    called = run("--split-input-file", "--emit=ucu", stdin=text)
    assert called.out == text
    assert run("--split-input-file", stdin=text).out.count("// -----\n") == 1


def test_places_in_split_mlir() -> None:
    text = "builtin.module {\n}\n// -----\nbuiltin.module {\n  %0 = nonsense\n}\n"
    (diagnostic,) = json.loads(run("--json", "--split-input-file", stdin=text).err)
    assert (diagnostic["code"], diagnostic["line"]) == ("UC0121", 6)


def test_expected_diagnostics() -> None:
    text = f"""{GOOD}# -----
{BAD_NAME.replace("rleu(x)", "rleu(x) # expected-error {{did you mean 'relu'?}}")}# -----
# expected-error@+3 {{{{UC0307}}}}
{BAD_SHAPE}"""
    fine = run("--verify-diagnostics", "--split-input-file", "-p", "infer", stdin=text)
    assert (fine.code, fine.err) == (Exit.OK, "")
    assert "@f" in fine.out, "what is right is printed"
    missing = run("--verify-diagnostics", stdin=f"# expected-error {{{{anything}}}}\n{GOOD}")
    assert (missing.code, missing.out) == (Exit.INPUT, "")
    assert "<stdin>:1:3: error: expected error on line 1 was not produced: anything [UC0013]" in missing.err
    unexpected = run("--verify-diagnostics", "-p", "infer", stdin=BAD_SHAPE)
    assert unexpected.code == Exit.INPUT
    assert "unexpected error: returned 'y' is f16[8, 8]" in unexpected.err
    malformed = run("--verify-diagnostics", stdin=f"{GOOD}# expected-error@x {{{{a}}}}\n")
    assert "[UC0015]" in malformed.err


def test_remarks_count_where_one_is_expected() -> None:
    text = "kernel f(x: f16[8, 64], w: f16[64, 8]) -> f16[8, 8] {\n  return gemm(x, w)\n}\n"
    assert run("--verify-diagnostics", "-p", "infer,fuse", stdin=text).code == Exit.OK
    asked = run("--verify-diagnostics", "--remarks", "-p", "infer,fuse", stdin=text)
    assert (asked.code, "UC0014" in asked.err) == (Exit.INPUT, True)
    expected = text.replace("w)\n", "w) # expected-remark {{begins a kernel}}\n")
    assert run("--verify-diagnostics", "-p", "infer,fuse", stdin=expected).err == ""


# Fix-its -------------------------------------------------------------------------------------------------------------


def test_fixits_rewrite_the_file(program: Path) -> None:
    program.write_text(BAD_NAME, encoding="utf-8")
    called = run("--apply-fixits", str(program))
    assert (called.code, called.out) == (Exit.OK, "")
    assert f"{program}:2:7: fixed: " in called.err
    assert "[UC0202]" in called.err
    assert program.read_text(encoding="utf-8") == GOOD


def test_fixits_go_to_the_output_where_there_is_one(program: Path, tmp_path: Path) -> None:
    program.write_text(BAD_NAME, encoding="utf-8")
    assert run("--apply-fixits", str(program), "-o", str(tmp_path / "g.ucu")).code == Exit.OK
    assert (tmp_path / "g.ucu").read_text(encoding="utf-8") == GOOD
    assert program.read_text(encoding="utf-8") == BAD_NAME
    assert run("--apply-fixits", "-", stdin=BAD_NAME).out == GOOD


def test_fixits_uncover_further_ones() -> None:
    # The wrong name hides that the result needs a cast.
    text = "kernel f(x: f32[8, 8]) -> s32[8, 8] {\n  y = rleu(x)\n  return y\n}\n"
    called = run("--apply-fixits", "-p", "infer", "--json", stdin=text)
    assert (called.code, json.loads(called.err)) == (Exit.OK, [])
    assert called.out == "kernel f(x: f32[8, 8]) -> s32[8, 8] {\n  y = relu(x)\n  return y >> cast(s32)\n}\n"


def test_what_cannot_be_fixed_is_reported(program: Path) -> None:
    program.write_text(BAD_NAME.replace("-> f16[8, 8]", "-> f16[8, 9]"), encoding="utf-8")
    called = run("--apply-fixits", "-p", "infer", "--json", str(program))
    assert called.code == Exit.INPUT
    assert [d["code"] for d in json.loads(called.err)] == ["UC0307"]
    assert program.read_text(encoding="utf-8") == BAD_SHAPE
    before = program.stat().st_mtime_ns
    assert run("--apply-fixits", "-p", "infer", str(program)).code == Exit.INPUT
    assert program.stat().st_mtime_ns == before, "a file without fixes is not touched"


def test_fixits_in_a_split_file() -> None:
    text = f"{BAD_NAME}# -----\n{BAD_NAME}"
    assert run("--apply-fixits", "--split-input-file", stdin=text).out == f"{GOOD}# -----\n{GOOD}"


# Pipelines -----------------------------------------------------------------------------------------------------------


def test_named_pipelines_and_both_spellings() -> None:
    called = run("-p", "verify", "--dump-ir=/dev/null/x", stdin=BAD_NAME)
    assert called.code == Exit.INPUT
    plain = run("-p", "infer,canonicalize", stdin=GOOD)
    assert plain.code == Exit.OK, plain.err
    assert run("--pass-pipeline=builtin.module(infer, canonicalize)", stdin=GOOD).out == plain.out


# Watching ------------------------------------------------------------------------------------------------------------


def test_printing_around_passes() -> None:
    before = run("-p", "infer,cse", "--print-ir-before=cse", stdin=GOOD).err
    assert before.startswith("// -----// IR Dump Before cse //----- //\nbuiltin.module")
    assert before.count("IR Dump") == 1
    after = run("-p", "infer,cse", "--print-ir-after=infer,cse", stdin=GOOD).err
    assert re.findall("IR Dump (.*) //-", after) == ["After infer", "After cse"]
    everything = run("-p", "infer,cse", "--print-ir-before-all", "--print-ir-after-all", stdin=GOOD).err
    assert re.findall("IR Dump (.*) //-", everything) == ["Before infer", "After infer", "Before cse", "After cse"]
    changed = run("-p", "infer,cse", "--print-ir-after-change", stdin=GOOD).err
    assert re.findall("IR Dump (.*) //-", changed) == ["After infer"]
    failed = run("-p", "infer,cse", "--print-ir-after-failure", stdin=BAD_SHAPE).err
    assert re.findall("IR Dump (.*) //-", failed) == ["After infer Failed"]


def test_printing_into_a_tree(tmp_path: Path) -> None:
    text = f"{GOOD}# -----\n{GOOD}"
    flags = ["--print-ir-after-all", "--print-ir-before=cse", f"--print-ir-tree-dir={tmp_path}", "--split-input-file"]
    called = run("-p", "infer,cse", *flags, stdin=text)
    assert (called.code, called.err) == (Exit.OK, "")
    found = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.mlir"))
    names = ["1_infer.mlir", "2_cse.mlir", "2_cse_before.mlir"]
    folders = ["builtin_module_no-symbol-name", "builtin_module_no-symbol-name_1"]
    assert found == [f"{folder}/{name}" for folder in folders for name in names]
    assert (tmp_path / found[0]).read_text(encoding="utf-8") == run("-p", "infer", stdin=GOOD).out


def test_dumping(tmp_path: Path) -> None:
    run("-p", "infer,cse", f"--dump-ir={tmp_path}", stdin=GOOD)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["00_input.mlir", "01_infer.mlir", "02_cse.mlir"]
    assert (tmp_path / "00_input.mlir").read_text(encoding="utf-8") == run(stdin=GOOD).out


def test_timing_adds_up() -> None:
    report = run("-p", "verify", "--timing", stdin=GOOD).err
    rows = [(float(m[1]), m[2]) for m in re.finditer(r"^ +([\d.]+) \( *[\d.]+%\)( +\S.*)$", report, re.MULTILINE)]
    names = [name.strip() for _, name in rows]
    assert names[:4] == ["Start", "Read", "Parse", "Passes"]
    assert names.index("'verify'") < names.index("infer") < names.index("verify-target") < names.index("Print")
    top = sum(seconds for seconds, name in rows if not name.startswith("   ") and name.strip() != "Total")
    assert rows[-1][1].strip() == "Total"
    assert top == pytest.approx(rows[-1][0], abs=0.001)


def test_statistics() -> None:
    report = run("-p", "infer,cse", "--pass-statistics", stdin=GOOD).err
    assert re.search(r"^infer\n +1 runs, 1 of them changed the program\n +3 operations before, 3 after$", report, re.M)
    assert re.search(r"^cse\n +1 runs, 0 of them changed the program$", report, re.M)


def test_the_prints_of_xdsl_opt() -> None:
    out = run("-p", "infer,cse", "--time-passes", "--print-between-passes", stdin=GOOD).out
    assert re.search(r"^Pass infer took [\d.e-]+ seconds\nIR after infer:\nbuiltin.module", out)
    assert "Pass cse took" in out


def test_disable_verify_does_not_outlive_the_call() -> None:
    before: object = Attribute.__post_init__
    assert run("--disable-verify", stdin=GOOD).code == Exit.OK
    after: object = Attribute.__post_init__
    assert after is before


# Bugs ----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def broken_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    add_passes(monkeypatch)


@pytest.mark.usefixtures("broken_pass")
def test_a_bug_is_called_one(tmp_path: Path) -> None:
    called = run("-p", "infer,broken", stdin=GOOD)
    assert (called.code, called.out) == (Exit.BUG, "")
    assert "bug in ucutlass-opt: AssertionError: two is not three [UC0001]" in called.err
    assert "crash reproducer: --crash-reproducer=FILE writes one" in called.err
    (diagnostic,) = json.loads(run("-p", "infer,broken", "--json", stdin=GOOD).err)
    assert diagnostic["code"] == "UC0001"
    file = tmp_path / "crash.ucu"
    written = run("-p", "infer,broken", f"--crash-reproducer={file}", "--arch=sm_80", stdin=GOOD)
    assert f"crash reproducer: {file}" in written.err
    text = file.read_text(encoding="utf-8")
    assert "# failed: in pass broken: AssertionError: two is not three\n" in text
    assert text.endswith(GOOD)
    again = run("--run-reproducer", str(file))
    assert again.code == Exit.BUG
    assert "two is not three" in again.err


def test_a_reproducer_of_a_failed_pass_runs(tmp_path: Path) -> None:
    file = tmp_path / "crash.ucu"
    text = f"{GOOD}# -----\n{BAD_SHAPE}# -----\n{BAD_NAME}"
    run("--split-input-file", "-p", "infer", f"--crash-reproducer={file}", stdin=text)
    reproducer = file.read_text(encoding="utf-8")
    assert "rleu" not in reproducer, "what cannot be parsed needs none, and only the part at fault is kept"
    (diagnostic,) = json.loads(run("--run-reproducer", "--json", str(file)).err)
    assert diagnostic["code"] == "UC0307"
    assert reproducer.splitlines()[int(diagnostic["line"]) - 1] == "  return y"
    assert re.search(r"^# RUN: ucutlass-opt -f ucu -p infer %s$", reproducer, re.M)


def test_a_file_that_is_no_reproducer() -> None:
    called = run("--run-reproducer", stdin=GOOD)
    assert called.code == Exit.USAGE
    assert "is no crash reproducer" in called.err


# Other packages ------------------------------------------------------------------------------------------------------


@pytest.fixture
def foreign(monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that adds a dialect and a pass."""
    points = [
        EntryPoint("theirs", "tool_passes:Theirs", "ucutlass.dialects"),
        EntryPoint("their-pass", "tool_passes:TheirPass", "ucutlass.passes"),
    ]

    def entry_points(group: str) -> list[EntryPoint]:
        return [point for point in points if point.group == group]

    monkeypatch.setattr("importlib.metadata.entry_points", entry_points)


@pytest.mark.usefixtures("foreign")
def test_dialects_and_passes_of_other_packages() -> None:
    text = "builtin.module {\n  theirs.mark\n}\n"
    assert run(stdin=text).out == text
    assert run("-p", "cse,their-pass", stdin=text).out == "builtin.module attributes {seen} {\n  theirs.mark\n}\n"
    assert "did you mean 'their-pass'" in run("-p", "ther-pass", stdin=text).err
    assert "their-pass" in run("--list-passes").out
    assert "theirs" in run("--list-dialects").out


def test_without_the_package_there_is_no_such_dialect() -> None:
    called = run(stdin="builtin.module {\n  theirs.mark\n}\n")
    assert called.code == Exit.INPUT
    assert "theirs.mark" in called.err


def test_our_own_dialects_need_no_look_at_other_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("importlib.metadata.entry_points")
    assert run("-p", "infer", stdin=run(stdin=GOOD).out).code == Exit.OK
