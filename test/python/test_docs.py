"""The documentation: every code block does what its page says, and the pages made from the code are complete."""

import argparse
import ast
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import cast

import pytest
from docs_blocks import DOCS, ROOT, Block, blocks, fits, written_pages
from ucutlass_tools._input import Input
from ucutlass_tools._program import Program

from ucutlass.diagnostics import json_output
from ucutlass.diagnostics.catalogue import CATALOGUE
from ucutlass.diagnostics.core import Diagnostic, DiagnosticEngine, Severity
from ucutlass.diagnostics.source import SourceFile
from ucutlass.dialects.ucutlass.attributes import SETTERS
from ucutlass.dialects.ucutlass.operations import SPECS
from ucutlass.element_types import ELEMENT_TYPES
from ucutlass.errors import UsageError
from ucutlass.registry import PASSES, PIPELINES
from ucutlass.targets.arch import ARCHITECTURES

BIN = Path(sys.executable).parent
PAGES = dict(written_pages())
GRAMMAR = ROOT / "ucutlass" / "frontend" / "ucu.lark"
SECONDS = 300


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """The pages that are made from the code."""
    folder = tmp_path_factory.mktemp("pages")
    command = [sys.executable, "scripts/make_docs.py", "--pages", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, timeout=SECONDS)
    return {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}


# Blocks ---------------------------------------------------------------------------------------------------------------


def checked(text: str, passes: tuple[str, ...] = PIPELINES["verify"].passes) -> DiagnosticEngine:
    """What the compiler says of a program."""
    program = Program(Input(SourceFile("block.ucu", text), "ucu", "block.ucu"), max_errors=0)
    program.read().run(passes)
    return program.engine


def errors(engine: DiagnosticEngine) -> list[str]:
    return sorted(diagnostic.code for diagnostic in engine.errors)


@cache
def parsers() -> dict[str, argparse.ArgumentParser]:
    """The argument parser of each tool."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    modules = {name: import_module(entry.partition(":")[0]) for name, entry in project["project"]["scripts"].items()}
    return {name: module.COMMAND_LINE.parser() for name, module in modules.items()}


def run_shell(block: Block, folder: Path) -> None:
    environment = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "100"}
    done = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", block.text],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == block.exit_code, f"{block}: exit code {done.returncode}\n{done.stdout}"
    if block.output is not None:
        assert fits(block.output, done.stdout), f"{block} shows\n{block.output}\nbut prints\n{done.stdout}"


def look_at_shell(block: Block) -> None:
    """Whether each command exists and takes what it is given."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for line in block.text.replace("\\\n", " ").splitlines():
        command = re.split(r"\s[|>]", line)[0]
        name, *arguments = shlex.split(command, comments=True) or [""]
        if name in parsers():
            try:
                parsers()[name].parse_args(arguments)
            except UsageError as error:
                pytest.fail(f"{block}: {line}: {error}")
        elif name == "make":
            for target in (argument for argument in arguments if "=" not in argument):
                assert re.search(rf"^{target}:", makefile, re.MULTILINE), f"{block}: there is no make {target}"
        else:
            assert name in ("", "pip", "python"), f"{block}: {name}?"


def run_python(block: Block, folder: Path) -> None:
    name = block.title or "block.py"
    (folder / name).write_text(block.text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, name],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, f"{block}:\n{done.stdout}"
    if block.output is not None:
        assert fits(block.output, done.stdout), f"{block} shows\n{block.output}\nbut prints\n{done.stdout}"


def look_at_python(block: Block) -> None:
    """Whether it is Python whose imports, and what it takes from our package, exist."""
    import ucutlass

    tree = ast.parse(block.text)
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    exec(compile(ast.Module([*imports], []), str(block), "exec"), {})
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "ucutlass":
            assert hasattr(ucutlass, node.attr), f"{block}: ucutlass has no {node.attr}"


def check(block: Block, folder: Path) -> None:
    """Checks a block, after those before it on its page."""
    if block.title is not None:
        (folder / block.title).write_text(block.text, encoding="utf-8")
    match block.language:
        case "ucu":
            engine = checked(block.text)
            assert errors(engine) == block.codes, f"{block}: {[str(d) for d in engine.diagnostics]}"
        case "mlir":
            program = Program(Input(SourceFile("block.mlir", block.text), "mlir", None), max_errors=0).read()
            assert errors(program.engine) == block.codes, str(block)
        case "sh":
            look_at_shell(block) if not block.is_run else run_shell(block, folder)
        case "python":
            look_at_python(block) if not block.is_run else run_python(block, folder)
        case "json":
            json.loads(block.text)
        case "toml":
            tomllib.loads(block.text)
        case "lark":
            assert block.text.strip() == GRAMMAR.read_text(encoding="utf-8").strip()
        case language:
            assert language in ("", "text", "lua", "vim", "elisp"), f"{block}: nothing checks {language}"


@pytest.mark.parametrize("page", sorted(PAGES))
def test_the_blocks_of_a_page_do_what_it_says(page: str, tmp_path: Path) -> None:
    for block in blocks(page, PAGES[page]):
        check(block, tmp_path)


def test_a_block_that_is_wrong_is_noticed(tmp_path: Path) -> None:
    wrong = [
        Block("page", 1, "ucu", "kernel f(x: f16[8]) -> f16[8] { return y }\n"),
        Block("page", 1, "ucu", "kernel f(x: f16[8]) -> f16[8] { return x }\n", mark="error UC0201"),
        Block("page", 1, "sh", "ucutlass-opt --explain UC9999\n"),
        Block("page", 1, "sh", "ucutlass-opt --no-such-flag f.ucu\n", mark="not run"),
        Block("page", 1, "sh", "echo one\n", output="two\n"),
        Block("page", 1, "python", "import ucutlass.nothing\n"),
        Block("page", 1, "python", "import ucutlass\nucutlass.nothing()\n", mark="needs gpu"),
        Block("page", 1, "json", "{'a': 1}\n"),
        Block("page", 1, "fortran", "what is this?\n"),
    ]
    for block in wrong:
        with pytest.raises((AssertionError, pytest.fail.Exception, ImportError, ValueError)):
            check(block, tmp_path)


@pytest.mark.parametrize(
    ("shown", "printed", "expected"),
    [
        ("a\nb\n", "a\nb\n", True),
        ("a\n", "a\nb\n", False),
        ("a …c\n", "a b c\n", True),
        ("a …c\n", "a b\nc\n", False),
        ("a\n…\nd\n", "a\nb\nc\nd\n", True),
        ("a\n…\nd\n", "a\nd\n", True),
        ("a\n…\nd\n", "a\nb\nc\n", False),
        ("a.c\n", "abc\n", False),
    ],
)
def test_what_a_page_shows_is_compared_with_what_is_printed(shown: str, printed: str, expected: bool) -> None:
    assert fits(shown, printed) is expected


def test_marks_and_outputs_are_read() -> None:
    page = '<!-- exit 1 -->\n```sh\na\n```\n\n```text\nout\n```\n\n```text\nmore\n```\n\n```ucu title="f.ucu"\nk\n```\n'
    shell, more, program = blocks("p", page)
    assert (shell.exit_code, shell.output, shell.line) == (1, "out\n", 2)
    assert (more.language, more.output) == ("text", None)
    assert (program.title, program.codes, program.is_run) == ("f.ucu", [], True)
    with pytest.raises(AssertionError, match="what does <!-- maybe --> mean"):
        blocks("p", "<!-- maybe -->\n```sh\na\n```\n")


# Pages made from the code ---------------------------------------------------------------------------------------------


def sections(page: str, level: int) -> dict[str, str]:
    """The text below each heading of a level, by its anchor."""
    pattern = re.compile(rf"^{'#' * level} [^\n]*{{#([\w-]+)}}\n", re.MULTILINE)
    _, *parts = pattern.split(page)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def test_every_operation_has_a_section_with_all_it_takes(made: Mapping[str, str]) -> None:
    found = sections(made["operations.md"], 3)
    assert list(found) == list(SPECS) or set(found) == set(SPECS)
    for spec in SPECS.values():
        text = found[spec.name]
        assert spec.doc in text
        for argument in spec.signature:
            assert re.search(rf"\b{argument}\b", text), (spec.name, argument)
        assert "*Types*: " in text and "*FLOPs*: `" in text
        (example,) = [block for block in blocks("operations.md", text) if block.language == "ucu"]
        assert example.text.startswith(f"kernel {spec.name}(")


@pytest.mark.parametrize(
    ("operation", "types", "flops"),
    [
        # From PyTorch's promotion, and by hand: 2 M N K; 5 an element; a pair costs 2 (128 + 128) + 5.
        ("gemm", "`f64 f32 f16 bf16 s32` stay; `tf32 e4m3 e5m2` → `f32`; `s64 s8 u8 s4 u4` → `s32`", "2 * K * M * N"),
        ("exp", "→ `f32`", "M * N"),
        ("softmax", "stay", "5 * M * N"),
        ("gt", "`bool` stay", "M * N"),
        ("reshape", "`f64 f32 tf32 f16 bf16 e4m3 e5m2 s64 s32 s8 u8 s4 u4 bool` stay", "0"),
        ("cast", "any; gives the type that is asked for", "0"),
        ("conv2d", "stay", str(2 * 64 * 3 * 3 * 128 * 56 * 56) + " * N"),
        ("max_pool2d", "stay", str(9 * 56 * 56) + " * C * N"),
    ],
)
def test_types_and_costs_of_an_operation_are_right(
    made: Mapping[str, str], operation: str, types: str, flops: str
) -> None:
    text = sections(made["operations.md"], 3)[operation]
    (line,) = re.findall(r"\*Types\*: (.*)", text)
    (cost,) = re.findall(r"\*FLOPs\*: `(.*)`", text)
    assert types in line
    assert cost == flops


@pytest.mark.parametrize("name", list(SPECS))
def test_the_example_of_an_operation_passes_verify(name: str) -> None:
    text = (DOCS / "operations.ucu").read_text(encoding="utf-8")
    (example,) = re.findall(rf"^kernel {name}\(.*?^}}$", text, re.MULTILINE | re.DOTALL)
    assert errors(checked(example)) == []


def test_every_setter_has_a_section_with_an_example(made: Mapping[str, str]) -> None:
    found = sections(made["setters.md"], 2)
    assert list(found) == list(SETTERS)
    for name, row in SETTERS.items():
        for argument in row.arguments:
            assert f"- `{argument.name}`: " in found[name]
            assert all(f"`{word}`" in found[name] for word in (*argument.words, *argument.values))
        (example,) = blocks("setters.md", found[name])
        assert f".{row.spelling}(" in example.text
        assert errors(checked(example.text)) == [], name


def test_every_pass_has_a_section_that_says_what_it_does(made: Mapping[str, str]) -> None:
    found = sections(made["passes.md"], 2)
    assert list(found) == list(PASSES)
    for name, text in found.items():
        assert len(text.split()) > 20, name
        for block in blocks("passes.md", text):
            if block.language == "ucu":
                before = PIPELINES["default"].passes
                steps = (*before[: before.index(name)], name) if name in before else (name,)
                assert errors(checked(block.text, steps)) == [], name
            elif block.language == "sh":
                look_at_shell(block)
    for pipeline in PIPELINES.values():
        assert f"| `{pipeline.name}` |" in made["passes.md"]


def test_every_code_has_a_section(made: Mapping[str, str]) -> None:
    assert list(sections(made["diagnostics.md"], 3)) == [code.lower() for code in CATALOGUE]


def raised_codes() -> set[str]:
    """The codes that something outside of the catalogue names."""
    sources = [p.read_text(encoding="utf-8") for p in (ROOT / "ucutlass").rglob("*.py") if "catalogue" not in p.parts]
    return {code for text in sources for code in re.findall(r"\bUC\d{4}\b", text)}


_UNASKED = pytest.mark.xfail(strict=False, reason="verify-target does not ask the rules of convolutions")
SHOWN = [
    pytest.param(info.code, marks=_UNASKED if info.code == "UC0521" else ())
    for info in CATALOGUE.values()
    if info.language == "ucu" and info.bad_example and info.code in raised_codes()
]


@pytest.mark.parametrize("code", SHOWN)
def test_the_examples_of_a_code_have_it_and_have_it_not(code: str) -> None:
    info = CATALOGUE[code]
    passes = PIPELINES["verify"].passes
    if code not in codes(checked(info.bad_example, passes)):
        passes = PIPELINES["default"].passes
    assert code in codes(checked(info.bad_example, passes))
    assert code not in codes(checked(info.good_example, passes))


def codes(engine: DiagnosticEngine) -> set[str]:
    return {diagnostic.code for diagnostic in engine.diagnostics}


def test_every_tool_has_a_section_with_all_its_flags(made: Mapping[str, str]) -> None:
    found = sections(made["tools.md"], 2)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert set(found) == set(project["project"]["scripts"])
    for name, text in found.items():
        shown = subprocess.run(
            [str(BIN / name), "--help"], capture_output=True, text=True, check=True, timeout=SECONDS
        ).stdout
        flags = set(re.findall(r"(?<![\w-])--[a-z][\w-]*", shown)) - {"--help"}
        assert flags and {flag for flag in flags if f"`{flag}`" not in text} == set()


# Written pages --------------------------------------------------------------------------------------------------------


def test_the_language_page_leaves_nothing_out() -> None:
    page = PAGES["language.md"]
    words = set(re.findall(r"[\w.]+", page))
    assert {s.spelling for s in SPECS.values()} - words - {".T"} == set() and "`.T`" in page
    assert {f".{row.spelling}(" for row in SETTERS.values() if f".{row.spelling}(" not in page} == set()
    assert {name for name in ELEMENT_TYPES if f"`{name}`" not in page} == set()
    assert {name for name in ARCHITECTURES if f"| `{name}` |" not in page} == set()
    schedules = next(a for a in SETTERS["schedule"].arguments).words
    assert {word for word in schedules if not word.endswith("_fp8_fast") and word not in words} == set()
    assert "<!-- grammar -->" in page


def documented(page: str, heading: str, table: int = 0) -> set[str]:
    """The fields in the first column of a table below a heading."""
    section = re.split(r"^## ", page.split(f"\n## {heading}\n")[1], flags=re.MULTILINE)[0]
    tables = re.findall(r"(?:^\|.*\n)+", section, re.MULTILINE)
    return {name for row in tables[table].splitlines()[2:] for name in re.findall(r"`(\w+)`", row.split("|")[1])}


def results(arguments: list[str], folder: Path, code: int = 0) -> list[dict[str, object]]:
    """The JSON that a tool prints."""
    done = subprocess.run(
        [str(BIN / arguments[0]), *arguments[1:]],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


def test_the_fields_of_json_are_those_that_the_tools_print(tmp_path: Path) -> None:
    page = PAGES["json.md"]
    good, bad = tmp_path / "good.ucu", tmp_path / "bad.ucu"
    good.write_text("kernel f(x: f16[8]) -> f16[8] { return relu(x) }", encoding="utf-8")
    bad.write_text("kernel f(x: f16[8]) -> f16[8] { return rellu(x) }", encoding="utf-8")
    (run,) = results(["ucutlass-run", "--interpret", "--compare", "--json", "good.ucu"], tmp_path)
    assert set(run) == documented(page, "ucutlass-run", 0)
    (tensor,) = as_rows(run["results"])
    assert set(tensor) == documented(page, "ucutlass-run", 1)
    (built,) = results(["ucutlass-compile", "--json", "bad.ucu"], tmp_path, code=1)
    assert set(built) == documented(page, "ucutlass-compile")
    listed = results(["ucutlass-opt", "--list-ops", "--json"], tmp_path)
    assert len(listed) == len(SPECS) and all({"name", "help"} <= set(row) for row in listed)


def as_rows(value: object) -> list[dict[str, object]]:
    assert isinstance(value, list)
    return cast("list[dict[str, object]]", value)  # isinstance cannot say what is inside


def test_the_fields_of_a_diagnostic_are_those_that_are_printed() -> None:
    table = json_output.__doc__ or ""
    fields = {
        name
        for row in table.splitlines()
        if row.startswith("| `")
        for name in re.findall(r"`(\w+)`", row.split("|")[1])
    }
    assert fields == set(json_output.diagnostic_to_json(Diagnostic("UC0301", Severity.ERROR, "")))
    assert "<!-- diagnostic fields -->" in PAGES["json.md"]


def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    site = tmp_path / "site"
    command = [sys.executable, "scripts/make_docs.py", "--site", str(site)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    language = (site / "language" / "index.html").read_text(encoding="utf-8")
    assert "<!-- grammar -->" not in language and "signed" in language
    for name in ("operations", "setters", "passes", "diagnostics", "tools"):
        assert (site / name / "index.html").exists()
    # Programs are coloured: a kernel's keyword is one.
    assert '<span class="k">kernel</span>' in (site / "index.html").read_text(encoding="utf-8")
