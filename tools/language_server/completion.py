"""What could be typed at the cursor.

Imports the context, the analysis and the tables of the language.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ucutlass_tools import _describe
from ucutlass_tools.language_server.analysis import Analysis
from ucutlass_tools.language_server.context import Context, Frame, context_at

from ucutlass.dialects.ucutlass.attributes import SETTERS, Setter
from ucutlass.dialects.ucutlass.operations import SPECS, rows_called
from ucutlass.dialects.ucutlass.spec import Operand, OpSpec, Param, Required
from ucutlass.element_types import ELEMENT_TYPES
from ucutlass.frontend.setters import PREFIX, usage
from ucutlass.targets.arch import ARCHITECTURES

Kind = Literal["operation", "setter", "value", "dimension", "type", "word", "parameter", "keyword", "target"]


@dataclass(frozen=True)
class Candidate:
    """One thing that could be typed."""

    label: str
    kind: Kind
    detail: str = ""
    documentation: str = ""
    """Markdown."""
    insert: str = ""
    """What to insert instead of the label; `$0` is where the cursor goes."""


def complete(analysis: Analysis, offset: int) -> list[Candidate]:
    """The candidates at an offset, likely ones first, whatever of the word has been typed."""
    if analysis.language != "ucu":
        return []
    context = context_at(analysis.source.text, offset)
    match context.place:
        case "nothing":
            return []
        case "top":
            return list(_top(context))
        case "target":
            return [Candidate(a.name, "target", documentation=_describe.target(a)) for a in ARCHITECTURES.values()]
        case "type":
            return list(_elements())
        case "size":
            return list(_dimensions(context))
        case "layout":
            return list(_layouts())
        case "operation":
            return list(_operations())
        case "suffix":
            return list(_suffixes(context))
        case "statement":
            return [Candidate("return", "keyword", insert="return ")]
        case "expression":
            return [*_values(analysis, context), *_operations()]
        case "argument":
            assert context.frame is not None
            return list(_arguments(analysis, context, context.frame))


def _top(context: Context) -> Iterator[Candidate]:
    if not context.has_target:
        yield Candidate("target", "keyword", "the GPU's architecture", insert="target $0")
    insert = "kernel ${1:name}(${2:x}: ${3:f16[M, N]}) -> ${4:f16[M, N]} {\n  return $0\n}"
    yield Candidate("kernel", "keyword", "a kernel", insert=insert)


def _elements() -> Iterator[Candidate]:
    for element in ELEMENT_TYPES.values():
        yield Candidate(element.name, "type", documentation=_describe.element(element))


def _dimensions(context: Context) -> Iterator[Candidate]:
    for name in context.dimensions:
        yield Candidate(name, "dimension", f"dimension of {context.kernel}")


def _layouts() -> Iterator[Candidate]:
    for name in _describe.LAYOUTS:
        yield Candidate(name, "word", "layout", _describe.layout(name))


def _operations() -> Iterator[Candidate]:
    for spelling in dict.fromkeys(spec.spelling for spec in SPECS.values()):
        if not spelling.startswith("."):
            rows = rows_called(spelling)
            documentation = "\n\n---\n\n".join(map(_describe.operation, rows))
            yield Candidate(spelling, "operation", _describe.signature(rows[0]), documentation, f"{spelling}($0)")


def _suffixes(context: Context) -> Iterator[Candidate]:
    rows = rows_called(context.operation)
    for name in rows[0].setters if rows else ():
        if name not in context.setters:
            row = SETTERS[name]
            insert = f"{row.spelling}($0)" if row.arguments else f"{row.spelling}()"
            yield Candidate(row.spelling, "setter", usage(row), _describe.setter(row), insert)
    for row in SPECS.values():
        if row.spelling.startswith("."):
            yield Candidate(row.spelling[1:], "operation", _describe.signature(row), _describe.operation(row))


def _values(analysis: Analysis, context: Context) -> Iterator[Candidate]:
    """The values in scope, the latest first."""
    kernels = analysis.program.kernels if analysis.program is not None else []
    kernel = next((k for k in kernels if k.name.text == context.kernel), None)
    for name in reversed(context.values):
        types = analysis.value_types(kernel, name) if kernel is not None else ()
        yield Candidate(name, "value", ", ".join(type_.spelling for type_ in types))


def _arguments(analysis: Analysis, context: Context, frame: Frame) -> Iterator[Candidate]:
    setter = SETTERS.get(frame.callee.removeprefix(PREFIX)) if frame.callee.startswith(PREFIX) else None
    if setter is not None:
        yield from _setter_arguments(setter, frame)
        return
    rows = rows_called(frame.callee)
    if not rows:
        yield from _values(analysis, context)
        yield from _operations()
        return
    seen: set[str] = set()
    for spec in rows:
        for candidate in _call_arguments(analysis, context, frame, spec):
            if candidate.label not in seen:
                seen.add(candidate.label)
                yield candidate


def _setter_arguments(row: Setter, frame: Frame) -> Iterator[Candidate]:
    in_order = [argument for argument in row.arguments if not argument.keyword]
    wanted = next((a for a in row.arguments if a.name == frame.keyword), None)
    if not frame.keyword:
        wanted = in_order[frame.position] if frame.position < len(in_order) else None
    if wanted is not None:
        words = wanted.words or tuple(map(str, wanted.values))
        yield from (Candidate(word, "word", f"{wanted.name} of .{row.spelling}") for word in words)
    if not frame.keyword:
        for argument in row.arguments:
            if argument.keyword and argument.name not in frame.keywords:
                yield Candidate(f"{argument.name}=", "parameter", usage(row))


def _call_arguments(analysis: Analysis, context: Context, frame: Frame, spec: OpSpec) -> Iterator[Candidate]:
    members: dict[str, Operand | Param] = {m.name: m for m in (*spec.operands, *spec.params)}
    member = members.get(frame.keyword)
    if not frame.keyword:
        order = spec.signature
        last = members[order[-1]]
        if frame.position < len(order):
            member = members[order[frame.position]]
        elif isinstance(last, Param) and last.varargs:
            member = last
    if isinstance(member, Operand):
        yield from _values(analysis, context)
    elif member is not None:
        yield from _constants(context, member)
    if not frame.keyword:
        yield from _keywords(spec, frame)
    if isinstance(member, Operand):
        yield from _operations()


def _constants(context: Context, param: Param) -> Iterator[Candidate]:
    match param.kind:
        case "word":
            yield from (Candidate(word, "word", param.doc) for word in param.words)
        case "bool":
            yield from (Candidate(word, "word", param.doc) for word in ("true", "false"))
        case "element":
            yield from _elements()
        case "dim" | "dims":
            yield from _dimensions(context)
        case "layout":
            yield from (Candidate(f"@{c.label}", c.kind, c.detail, c.documentation) for c in _layouts())
        case "number":
            pass


def _keywords(spec: OpSpec, frame: Frame) -> Iterator[Candidate]:
    """The parameters that can be given by name."""
    by_position = set(spec.signature[: frame.position])
    for name in spec.signature:
        member = next((p for p in spec.params if p.name == name), None)
        optional = next((o for o in spec.operands if o.name == name and o.optional), None)
        if name in by_position or name in frame.keywords or (member is None and optional is None):
            continue
        doc = member.doc if member is not None else "may be absent"
        default = _describe.default_text(member) if member is not None else ""
        required = member is not None and isinstance(member.default, Required)
        detail = "required" if required else f"default {default}" if default else "may be absent"
        yield Candidate(f"{name}=", "parameter", detail, doc)
