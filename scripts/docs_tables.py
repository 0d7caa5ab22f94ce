"""The pages of the documentation that are made from the code: operations, setters, passes, diagnostics, tools.

Imports the compiler. Each function gives the Markdown of one page. Examples are in `docs/operations.ucu` and
`docs/setters.ucu`: a kernel with the name of what it shows.
"""

import ast
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from ucutlass_tools import _describe
from ucutlass_tools._flags import CommandLine, Flag
from ucutlass_tools._lists import options_of
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ucutlass.diagnostics.core import DiagnosticEngine
from ucutlass.diagnostics.explain import markdown_page
from ucutlass.diagnostics.locations import set_engine
from ucutlass.diagnostics.source import SourceFile
from ucutlass.dialects.ucutlass.attributes import SETTERS
from ucutlass.dialects.ucutlass.base import UcuOp
from ucutlass.dialects.ucutlass.kernel import KernelOp, kernels_of
from ucutlass.dialects.ucutlass.operations import SPECS
from ucutlass.dialects.ucutlass.spec import Call, OpSpec, TypingError
from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.dims import Dim
from ucutlass.element_types import ELEMENT_TYPES, F16, ElementType
from ucutlass.frontend.build import build
from ucutlass.frontend.parse import parse
from ucutlass.frontend.setters import usage
from ucutlass.passes.infer import InferPass
from ucutlass.registry import PASSES, PIPELINES

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "docs"

FAMILIES: Mapping[str, str] = {
    "gemm": "Matrix products",
    "conv": "Convolutions",
    "attention": "Attention",
    "unary": "Element-wise, of one tensor",
    "binary": "Element-wise, of two tensors",
    "ternary": "Element-wise, of three tensors",
    "epilogue": "Epilogue names",
    "reduction": "Reductions",
    "scan": "Scans",
    "rowwise": "Row-wise",
    "pool": "Pooling",
    "movement": "Data movement",
    "staging": "Staging",
}
"""The headings of the page of operations, by the family of the rows."""

_SEPARATOR = re.compile(r"^# -----.*\n", re.MULTILINE)


# Operations -----------------------------------------------------------------------------------------------------------


def operations() -> str:
    """Every operation: how it is written, what it computes and costs, for which types, and an example."""
    examples = dict(_operation_examples())
    lines = [
        "# Operations",
        "",
        f"The {len(SPECS)} operations of the language, from the tables that the compiler itself reads."
        " [The language](language.md) says how they are put together. An argument with `=…` may be left out, `[a…]` is"
        " a list, and `d…` takes the rest of the arguments.",
        "",
        "*Types* are the element types that the example takes in the place of `f16`, and what its result then is."
        " *FLOPs* are those of the example, counted as [Speed of Light](sol.md) says.",
    ]
    for family, title in FAMILIES.items():
        lines += ["", f"## {title}"]
        for spec in SPECS.values():
            if spec.family == family:
                lines += ["", *_operation(spec, *examples[spec.name])]
    return _page(lines)


def _operation_examples() -> Iterator[tuple[str, tuple[str, UcuOp, KernelOp]]]:
    """By name: the text of the example, the operation that it is about, and its kernel."""
    source = SourceFile("operations.ucu", (EXAMPLES / "operations.ucu").read_text(encoding="utf-8"))
    engine = DiagnosticEngine()
    engine.add_source(source)
    program = parse(source, engine)
    engine.raise_if_errors()
    assert program is not None
    module = build(source, program, engine)
    engine.raise_if_errors()
    _infer(module, engine)
    for node, kernel in zip(program.kernels, kernels_of(module), strict=True):
        name = node.name.text
        shown = next(op for op in kernel.body.block.ops if isinstance(op, UcuOp) and op.spec.name == name)
        yield name, (source.text[node.start : node.end], shown, kernel)


def _infer(module: ModuleOp, engine: DiagnosticEngine) -> None:
    ctx = Context()
    set_engine(ctx, engine)
    InferPass().apply(ctx, module)


def _operation(spec: OpSpec, text: str, op: UcuOp, kernel: KernelOp) -> Iterator[str]:
    title = _describe.signature(spec) if spec.spelling.startswith(".") else spec.spelling
    note = " with offsets" if spec.name == "grouped_gemm_offsets" else ""
    yield f"### {title}{note} {{#{spec.name}}}"
    yield ""
    yield f"**`{_describe.signature(spec)}`** {spec.doc}"
    yield ""
    arguments = _describe.argument_lines(spec)
    yield from arguments
    if arguments:
        yield ""
    call = op.call(kernel.facts)
    assert call is not None, f"the example of {spec.name} has no types"
    if spec.setters:
        yield f"*Setters*: {_setters(spec)}  "
    yield f"*Types*: {_types(call)}  "
    yield f"*FLOPs*: {_flops(call)}"
    yield ""
    yield from ("```ucu", text, "```")


def _setters(spec: OpSpec) -> str:
    if spec.setters == tuple(SETTERS):
        return "[all](setters.md)"
    return " ".join(f"[`.{SETTERS[name].spelling}`](setters.md#{name})" for name in spec.setters)


def _types(call: Call) -> str:
    """The element types that may stand for the example's `f16`, grouped by what they give."""
    if any(param.kind == "element" for param in call.spec.params):
        return "any; gives the type that is asked for"
    groups: dict[str, list[str]] = {}
    for element in ELEMENT_TYPES.values():
        given = _result_element(call, element)
        if given is not None:
            key = "" if given is element else str(given)
            groups.setdefault(key, []).append(str(element))
    texts = [_code(names) + (f" → `{result}`" if result else " stay") for result, names in groups.items()]
    return "; ".join(texts)


def _result_element(call: Call, element: ElementType) -> ElementType | None:
    """The element type of the result with another type in the place of `f16`; None where the rule refuses it."""

    def swapped(type_: TensorType) -> TensorType:
        return type_.with_element(element) if type_.element is F16 else type_

    operands = {
        name: tuple(map(swapped, found))
        if isinstance(found, tuple)
        else swapped(found)
        if isinstance(found, TensorType)
        else found
        for name, found in call.operands.items()
    }
    try:
        return call.spec.infer(replace(call, operands=operands, needs=[]))[0].element
    except TypingError:
        return None


def _flops(call: Call) -> str:
    results = call.spec.infer(call)
    cost = call.spec.flops
    if callable(cost):
        found = cost(call, results)
        return f"`{found}`" if isinstance(found, Dim) else f"`{found:g}`"
    total = Dim.of(0)
    for result in results:
        elements = Dim.of(int(cost))
        for dim in result.dims:
            elements = elements * dim
        total = total + elements
    return f"`{total}`"


def _code(words: Iterable[str]) -> str:
    return f"`{' '.join(words)}`"


# Setters --------------------------------------------------------------------------------------------------------------


def setters() -> str:
    """Every setter: its arguments, what they may be, and an example."""
    lines = [
        "# Setters",
        "",
        "How a contraction is to be configured. Every setter is optional, stands once right after the call or another"
        " setter, and is obeyed or refused. `auto`, or leaving it out, lets the compiler choose."
        " [The language](language.md#setters) says what each means; what a target can build is checked by"
        " [`verify-target`](passes.md#verify-target), and the refusals are codes"
        " [UC05xx](diagnostics.md#what-the-target-can-build).",
        "",
        "| setter | taken by |",
        "|---|---|",
    ]
    for name, row in SETTERS.items():
        takers = [spec.spelling for spec in SPECS.values() if name in spec.setters]
        contractions = [spec.spelling for spec in SPECS.values() if spec.is_contraction]
        others = [f"`{taker}`" for taker in dict.fromkeys(takers) if taker not in contractions]
        lines.append(f"| [`{usage(row)}`](#{name}) | {', '.join(['contractions', *others])} |")
    examples = dict(_setter_examples())
    for name, row in SETTERS.items():
        lines += ["", f"## .{row.spelling} {{#{name}}}", "", f"**`{usage(row)}`** {row.doc}", ""]
        lines += [f"- `{argument.name}`: {_describe.words_of(argument)}" for argument in row.arguments]
        lines += [""] if row.arguments else []
        lines += ["```ucu", examples[name].strip("\n"), "```"]
    return _page(lines)


def _setter_examples() -> Iterator[tuple[str, str]]:
    """By setter: the text of the program that shows it."""
    text = (EXAMPLES / "setters.ucu").read_text(encoding="utf-8")
    for part in _SEPARATOR.split(text):
        program = re.sub(r"^#.*\n", "", part, flags=re.MULTILINE)
        match = re.search(r"^kernel (\w+)", program, re.MULTILINE)
        assert match is not None, part
        yield match[1], program


# Passes ---------------------------------------------------------------------------------------------------------------


def passes() -> str:
    """Every pass, from the docstring of its file, and the named pipelines."""
    lines = [
        "# Passes",
        "",
        "`ucutlass-opt -p PASS,PASS{option=value},…` runs passes, each of which can be used alone. The name of a"
        " pipeline stands wherever that of a pass may. [The tutorial](tutorial-compiler.md) writes a new one.",
        "",
        "| pipeline | passes | for |",
        "|---|---|---|",
    ]
    for pipeline in PIPELINES.values():
        inner = " ".join(f"[`{name}`](#{name})" for name in pipeline.passes)
        lines.append(f"| `{pipeline.name}` | {inner} | {pipeline.help} |")
    for entry in PASSES.values():
        lines += ["", f"## {entry.name} {{#{entry.name}}}", "", *_pass(entry.path)]
    return _page(lines)


def _pass(path: str) -> Iterator[str]:
    yield pass_docstring(path)
    options = options_of(path)
    if options:
        yield from ("", "| option | type | default |", "|---|---|---|")
        for option in options:
            default = f"`{option.default}`" if option.default is not None else ""
            yield f"| `{option.name}` | `{option.type}` | {default} |"


def pass_docstring(path: str) -> str:
    """What the file of a pass says of itself, without loading it; `path` is `module:Class`."""
    # The heading has the name already.
    return fenced(re.sub(r"^`[\w-]+`: (\w)", lambda match: match[1].upper(), _docstring(path.partition(":")[0])))


def docstring_table(module: str) -> str:
    """The table in the docstring of a module."""
    return "\n".join(line for line in _docstring(module).split("\n") if line.startswith("|"))


def _docstring(module: str) -> str:
    spec = find_spec(module)
    assert spec is not None and spec.origin is not None, module
    found = ast.get_docstring(ast.parse(Path(spec.origin).read_text(encoding="utf-8")))
    assert found is not None, f"{module} says nothing of itself"
    return found


def fenced(text: str) -> str:
    """Markdown with its indented code in fences, so that it says in which language it is."""
    lines: list[str] = []
    for block in re.split(r"\n\n", text):
        if all(line.startswith("    ") for line in block.split("\n")):
            code = "\n".join(line[4:] for line in block.split("\n"))
            lines.append(f"```{_language(code)}\n{code}\n```")
        else:
            lines.append(block)
    return "\n\n".join(lines)


def _language(code: str) -> str:
    """The language of an example; `text` where it is only a sketch."""
    if code.startswith("ucutlass-"):
        return "sh"
    is_program = re.match(r"(target|kernel)\b", code) and "…" not in code
    return "ucu" if is_program else "text"


# Diagnostics ----------------------------------------------------------------------------------------------------------


def diagnostics() -> str:
    """Every code of the catalogue."""
    return markdown_page()


# Tools ----------------------------------------------------------------------------------------------------------------


def tools() -> str:
    """Every command-line tool with its flags."""
    lines = [
        "# Tools",
        "",
        "What `--help` says of each tool. All of them take `--traceback`, which shows where inside of the tool"
        " something went wrong. Results are on stdout, diagnostics on stderr; [JSON](json.md) has the fields of both.",
    ]
    for name, line in command_lines().items():
        lines += ["", f"## {name} {{#{name}}}", "", *_tool(line)]
    return _page(lines)


def command_lines() -> dict[str, CommandLine]:
    """What each installed tool is called with."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    found: dict[str, CommandLine] = {}
    for name, entry in project["project"]["scripts"].items():
        module = import_module(entry.partition(":")[0])
        line = module.COMMAND_LINE
        assert isinstance(line, CommandLine) and line.tool == name
        found[name] = line
    return found


def _tool(line: CommandLine) -> Iterator[str]:
    yield line.description
    yield ""
    yield f"`{line.usage}`"
    yield ""
    if line.positional is not None:
        yield f"`{line.positional.name.removeprefix('input_')}`: {line.positional.help}"
        yield ""
    yield "| flag | meaning |"
    yield "|---|---|"
    for group in line.groups:
        yield f"| **{group.title}** | |"
        yield from (f"| {_flag(flag)} | {_cell(flag.help)} |" for flag in group.flags)
    if line.epilog is not None:
        yield ""
        yield line.epilog


def _flag(flag: Flag) -> str:
    names = " ".join(f"`{name}`" for name in flag.names)
    if not flag.takes_value:
        return names
    value = " ".join(flag.choices) if flag.choices else flag.value or ""
    return f"{names} {_cell(value)}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _page(lines: Iterable[str]) -> str:
    return "\n".join(lines).rstrip("\n") + "\n"
