"""What to say about the name under the cursor.

Imports the analysis, the names and the tables of the language.
"""

import re
from dataclasses import dataclass

from ucutlass_tools import _describe
from ucutlass_tools.language_server.analysis import Analysis, Types
from ucutlass_tools.language_server.names import Occurrence, at, given_names, occurrences, row_of

from ucutlass.diagnostics.catalogue import CATALOGUE
from ucutlass.dialects.ucutlass.attributes import SETTERS
from ucutlass.dialects.ucutlass.operations import SPECS, rows_called
from ucutlass.dialects.ucutlass.spec import OpSpec
from ucutlass.element_types import ELEMENT_TYPES
from ucutlass.frontend.ast import Argument, Call, Infix, Kernel, Name, Negation, Setter, View
from ucutlass.frontend.body import INFIX, NEGATION
from ucutlass.frontend.setters import PREFIX
from ucutlass.targets.arch import ARCHITECTURES

_CODE = re.compile(r"\bUC\d{4}\b")
_MLIR_OPERATION = re.compile(r"\bucutlass\.(\w+)")


@dataclass(frozen=True)
class Hover:
    """Markdown about a stretch of the text."""

    start: int
    end: int
    markdown: str


def hover(analysis: Analysis, offset: int) -> Hover | None:
    """What there is to say about a place; None where there is nothing."""
    found = _code_at(analysis, offset) or _name_at(analysis, offset)
    reported = [d for d in analysis.diagnostics if d.span is not None and d.span.start <= offset <= d.span.end]
    codes = [CATALOGUE[d.code] for d in reported if d.code in CATALOGUE]
    if not codes:
        return found
    texts = [*([found.markdown] if found is not None else []), *map(_describe.code, dict.fromkeys(codes))]
    span = reported[0].span
    assert span is not None
    start, end = (found.start, found.end) if found is not None else (span.start, span.end)
    return Hover(start, end, "\n\n---\n\n".join(texts))


def _code_at(analysis: Analysis, offset: int) -> Hover | None:
    """The code of a diagnostic that the text names, in a comment."""
    for match in _CODE.finditer(analysis.source.text):
        if match.start() <= offset <= match.end() and match[0] in CATALOGUE:
            return Hover(match.start(), match.end(), _describe.code(CATALOGUE[match[0]]))
    return None


def _name_at(analysis: Analysis, offset: int) -> Hover | None:
    if analysis.program is None:
        return _mlir_name_at(analysis, offset)
    name = at(occurrences(analysis.program), offset)
    markdown = _about(analysis, name) if name is not None else ""
    return Hover(name.start, name.end, markdown) if name is not None and markdown else None


def _mlir_name_at(analysis: Analysis, offset: int) -> Hover | None:
    for match in _MLIR_OPERATION.finditer(analysis.source.text):
        if match.start() <= offset <= match.end() and match[1] in SPECS:
            return Hover(match.start(), match.end(), _describe.operation(SPECS[match[1]]))
    return None


def _about(analysis: Analysis, name: Occurrence) -> str:
    """Markdown about a name; empty where nothing is known."""
    match name.kind:
        case "operation" | "sign":
            return _operation(analysis, name)
        case "value":
            return _value(analysis, name)
        case "dimension":
            return _dimension(analysis, name)
        case "setter":
            row = SETTERS.get(name.text.removeprefix(PREFIX))
            return _describe.setter(row) if row is not None else ""
        case "word" | "parameter":
            return _argument(name)
        case "kernel":
            return _kernel(analysis, name.kernel) if name.kernel is not None else ""
        case "element":
            return _describe.element(ELEMENT_TYPES[name.text]) if name.text in ELEMENT_TYPES else ""
        case "layout":
            return _describe.layout(name.text) if name.text in _describe.LAYOUTS else ""
        case "target":
            return _describe.target(ARCHITECTURES[name.text]) if name.text in ARCHITECTURES else ""


def _operation(analysis: Analysis, name: Occurrence) -> str:
    spec = _spec_of(name)
    if spec is None or name.kernel is None:
        return ""
    types = analysis.result_types(name.kernel, name.start)
    result = f"```ucu\n-> {_types_text(types)}\n```\n\n" if types else ""
    return result + _describe.operation(spec)


def _spec_of(name: Occurrence) -> OpSpec | None:
    match name.node:
        case Call() as call:
            return row_of(call)
        case View():
            rows = rows_called(f".{name.text}")
            return rows[0] if rows else None
        case Infix(operator=sign):
            return SPECS[INFIX[sign]]
        case Negation():
            return SPECS[NEGATION]
        case _:
            return None


def _value(analysis: Analysis, name: Occurrence) -> str:
    if name.kernel is None:
        return ""
    types = analysis.value_types(name.kernel, name.text)
    shown = f"```ucu\n{name.text}: {_types_text(types) if types else '?'}\n```"
    if any(parameter.name.text == name.text for parameter in name.kernel.parameters):
        return f"{shown}\n\nAn argument of `{name.kernel.name.text}`."
    if len(types) == 1 and types[0].element.compute is not types[0].element:
        element = types[0].element
        shown += f"\n\nComputed in `{element.compute}`, rounded to `{element}` where it is stored or multiplied."
    return shown


def _types_text(types: Types) -> str:
    texts = [type_.spelling for type_ in types]
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def _dimension(analysis: Analysis, name: Occurrence) -> str:
    kernel = name.kernel
    if kernel is None:
        return ""
    facts = [
        f"dimension {axis} of `{parameter.name.text}`"
        for parameter in kernel.parameters
        for axis, size in enumerate(parameter.type.sizes)
        if isinstance(size, Name) and size.text == name.text
    ]
    text = analysis.source.text
    conditions = [" ".join(text[c.start : c.end].split()) for c in kernel.conditions]
    facts += [f"`where {c}`" for c in conditions if re.search(rf"\b{re.escape(name.text)}\b", c)]
    lines = "".join(f"\n- {fact}" for fact in facts)
    return f"`{name.text}`: a dynamic dimension of `{kernel.name.text}`." + (f"\n{lines}" if lines else "")


def _argument(name: Occurrence) -> str:
    """What a keyword or a word of a call or setter is about."""
    match name.node:
        case Setter() as setter:
            row = SETTERS.get(setter.name.text.removeprefix(PREFIX))
            return _describe.setter(row) if row is not None else ""
        case Call() as call:
            spec = row_of(call)
            if spec is None:
                return ""
            wanted = name.text if name.kind == "parameter" else _stands_for(spec, call.arguments, name)
            lines = [line for line in _describe.argument_lines(spec) if line.startswith(f"- `{wanted}`")]
            return f"```ucu\n{_describe.signature(spec)}\n```\n\n" + "\n".join(lines)
        case _:
            return ""


def _stands_for(spec: OpSpec, arguments: list[Argument], name: Occurrence) -> str | None:
    """The parameter of which a word is the value."""
    for argument, parameter in zip(arguments, given_names(spec, arguments), strict=True):
        if argument.start <= name.start and name.end <= argument.end:
            return parameter
    return None


def _kernel(analysis: Analysis, kernel: Kernel) -> str:
    return f"```ucu\n{' '.join(analysis.source.text[kernel.start : kernel.header_end].split())}\n```"
