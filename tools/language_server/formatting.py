"""The canonical text of a program, with its comments kept.

Imports the frontend. The printer works on the dialect, which has no comments; here each one goes back to what it stood
at: the target, a kernel's header, a statement, `return`, or the closing brace. One in the middle of those goes before.
"""

import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp

from ucutlass.diagnostics.core import DiagnosticEngine
from ucutlass.diagnostics.source import SourceFile
from ucutlass.frontend.ast import Program
from ucutlass.frontend.build import build
from ucutlass.frontend.lexer import tokens_of
from ucutlass.frontend.parse import parse
from ucutlass.frontend.print_ucu import print_ucu

_COMMENT = re.compile(r"#[^\n]*")

Anchor = tuple[int, str]
"""What a comment stands at: the kernel's index and a name in it. Found again in another text of the same program."""

_TARGET: Anchor = (-1, "target")
_END_OF_FILE: Anchor = (-1, "end")
_HEADER, _RETURN, _BRACE = "kernel", "return", "}"

Places = Mapping[Anchor, tuple[int, int]]
"""Where the anchors of a text begin and end, in its order."""


@dataclass
class Comments:
    """The comments of one anchor."""

    before: list[str] = field(default_factory=list[str])
    """Lines of their own above it; empty for a line that is left free."""
    behind: str = ""
    """At the end of its last line."""


def formatted(text: str) -> str | None:
    """The canonical text; None where the text is no program, or where a comment would get lost."""
    old = _read(text)
    if old is None:
        return None
    module, places = old
    plain = print_ucu(module)
    comments = _comments(text, places)
    if not comments:
        return plain
    new = _read(plain)
    assert new is not None, "the printer wrote what the parser does not read"
    result = _with_comments(plain, new[1], comments)
    return result if _texts(result) == _texts(text) else None


def _texts(text: str) -> list[str]:
    return sorted(comment.rstrip() for comment in _COMMENT.findall(text))


def _read(text: str) -> tuple[ModuleOp, Places] | None:
    engine = DiagnosticEngine()
    source = engine.add_source(SourceFile("text.ucu", text))
    program = parse(source, engine)
    module = build(source, program, engine) if program is not None else None
    if program is None or module is None or engine.has_errors:
        return None
    return module, _places(text, program)


def _places(text: str, program: Program) -> Places:
    places: dict[Anchor, tuple[int, int]] = {}
    if program.target is not None:
        places[_TARGET] = (program.target.start, program.target.end)
    braces = [token.start for token in tokens_of(text) if token.text == "{"]
    for index, kernel in enumerate(program.kernels):
        brace = next(brace for brace in braces if brace >= kernel.header_end)
        places[index, _HEADER] = (kernel.start, brace + 1)
        for statement in kernel.statements:
            places[index, f"{statement.targets[0].text} ="] = (statement.start, statement.end)
        places[index, _RETURN] = (kernel.result.start, kernel.result.end)
        places[index, _BRACE] = (kernel.end - 1, kernel.end)
    return places


def _comments(text: str, places: Places) -> dict[Anchor, Comments]:
    """The comments of a text by what they stand at."""
    anchors = list(places)
    starts = [start for start, _ in places.values()]
    found: dict[Anchor, Comments] = {}
    for match in _COMMENT.finditer(text):
        comment, begin = match[0].rstrip(), match.start()
        line_start = text.rfind("\n", 0, begin) + 1
        index = bisect_right(starts, begin) - 1
        inside = index >= 0 and begin < places[anchors[index]][1]
        if text[line_start:begin].strip() and index >= 0 and not inside:
            of = found.setdefault(anchors[index], Comments())
            if not of.behind:
                of.behind = comment
                continue
        if not inside:
            index += 1
        anchor = anchors[index] if index < len(anchors) else _END_OF_FILE
        before = found.setdefault(anchor, Comments()).before
        before.append(comment)
        if re.match(r"[ \t\r]*\n[ \t\r]*\n", text[match.end() :]):
            before.append("")
    return found


def _with_comments(plain: str, places: Places, comments: Mapping[Anchor, Comments]) -> str:
    lines = plain.split("\n")
    before: dict[int, list[str]] = {}
    for anchor, of in comments.items():
        place = places.get(anchor) or places.get((anchor[0], _RETURN))
        first, last = (_line(plain, place[0]), _line(plain, place[1])) if place is not None else (len(lines) - 1,) * 2
        # What stands above a brace is part of the body.
        line = lines[first]
        indent = "  " if anchor[1] == _BRACE else line[: len(line) - len(line.lstrip())]
        before.setdefault(first, []).extend(f"{indent}{comment}" if comment else "" for comment in of.before)
        if of.behind:
            lines[last] += f"  {of.behind}"
    result: list[str] = []
    for number, line in enumerate(lines):
        result += [*before.get(number, ()), line]
    return "\n".join(result)


def _line(text: str, offset: int) -> int:
    return text.count("\n", 0, offset)
