"""From the text of a pipeline to passes, with errors that show the whole text and a caret under each culprit.

Imports xDSL, the registry and the leaves. What a pass with options may look like is up to xDSL; here the text is cut
into passes, names are looked up, and named pipelines are written out. Both spellings are read:

    infer,fuse{key=value}
    builtin.module(infer, fuse{key=value})
"""

import dataclasses
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from ucutlass_tools._main import PointedUsageError
from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec, parse_pipeline
from xdsl.utils.exceptions import ArgSpecParseError
from xdsl.utils.hints import type_repr

from ucutlass.diagnostics.core import Diagnostic, Severity
from ucutlass.diagnostics.source import SourceFile
from ucutlass.diagnostics.suggest import phrase, suggest
from ucutlass.errors import UsageError
from ucutlass.records import record
from ucutlass.registry import PASSES, PIPELINES, all_passes

_UNKNOWN_PASS = "UC0006"
_OPTION = "UC0007"
_SYNTAX = "UC0008"

_ANCHOR = re.compile(r"\s*builtin\.module\s*\(")
_NAME = re.compile(r"[A-Za-z0-9][\w-]*", re.ASCII)
_OPENING = {"{": "}", "[": "]", "(": ")"}
_EMPTY_VALUE = re.compile(r"([\w-]+)=(?=[\s,}])")


@record
class Step:
    """One pass to run, and the named pipeline that it comes from."""

    module_pass: ModulePass
    pipeline: str | None = None


@record
class _Element:
    """One pass of the text: its name and what follows, options in braces."""

    start: int
    name: str
    rest: str

    @property
    def options_start(self) -> int:
        return self.start + len(self.name)


class _Problems:
    """Collects what is wrong with a text."""

    def __init__(self, text: str, what: str) -> None:
        self.source = SourceFile(what, text)
        self.found: list[Diagnostic] = []

    def add(self, code: str, message: str, start: int, end: int) -> None:
        span = self.source.span(start, end)
        self.found.append(Diagnostic(code, Severity.ERROR, message, span))

    def stop(self) -> None:
        if self.found:
            raise PointedUsageError(self.source, self.found)


def read_pipeline(text: str, what: str = "<passes>") -> list[Step]:
    """The passes of a text, which diagnostics call `what`. Raises PointedUsageError with all that is wrong with it."""
    problems = _Problems(text, what)
    steps: list[Step] = []
    for element in _elements(text, problems):
        pipeline = PIPELINES.get(element.name)
        if pipeline is not None:
            if element.rest:
                written = ",".join(pipeline.passes)
                message = f"the pipeline '{pipeline.name}' takes no options: write its passes out, {written}"
                problems.add(_OPTION, message, element.options_start, element.options_start + len(element.rest))
            steps += [Step(PASSES[name].load()(), pipeline.name) for name in pipeline.passes]
            continue
        factory = _find(element.name)
        if factory is None:
            hint = phrase(suggest(element.name, _known()))
            message = f"unknown pass '{element.name}': {hint or 'there are ' + ', '.join([*PIPELINES, *PASSES])}"
            problems.add(_UNKNOWN_PASS, message, element.start, element.options_start)
            continue
        made = _made(factory(), element, problems)
        if made is not None:
            steps.append(Step(made))
    problems.stop()
    return steps


def read_names(text: str | None, flag: str) -> list[str]:
    """The names of passes, between commas, that a flag takes. Raises UsageError for one that no pass has."""
    names = [name.strip() for name in text.split(",")] if text is not None else []
    for name in names:
        if _find(name) is None:
            hint = phrase(suggest(name, _known()))
            message = f"argument {flag}: unknown pass '{name}': {hint or 'there are ' + ', '.join(PASSES)}"
            raise UsageError(message, _UNKNOWN_PASS)
    return names


# Names ---------------------------------------------------------------------------------------------------------------


def _find(name: str) -> Callable[[], type[ModulePass]] | None:
    """Our own table first: a look at other packages reads the metadata of all of them."""
    if name in PASSES:
        return PASSES[name].load
    xdsl = _of_xdsl()
    if name in xdsl:
        return xdsl[name]
    theirs = all_passes()
    return theirs[name].load if name in theirs else None


def _known() -> list[str]:
    return [*PIPELINES, *all_passes(), *_of_xdsl()]


def _of_xdsl() -> Mapping[str, Callable[[], type[ModulePass]]]:
    from xdsl.transforms import get_all_passes  # most calls name none of them

    return get_all_passes()


# Text ----------------------------------------------------------------------------------------------------------------


def _elements(text: str, problems: _Problems) -> list[_Element]:
    """The passes that the text names, in order."""
    start, end = 0, len(text)
    if (anchor := _ANCHOR.match(text)) is not None:
        start = anchor.end()
        end = len(text.rstrip()) - 1
        if end < start or text[end] != ")":
            problems.add(_SYNTAX, "'builtin.module(' is not closed: ')' must end the pipeline", 0, anchor.end())
            return []
    if not text[start:end].strip():
        problems.add(_SYNTAX, "the pipeline is empty: name a pass, or leave the flag out to run none", start, end)
        return []
    pieces = list(_pieces(text, start, end, problems))
    problems.stop()  # what is not closed makes nonsense of the rest
    elements: list[_Element] = []
    for piece_start, piece_end in pieces:
        piece = text[piece_start:piece_end]
        name = _NAME.match(piece)
        if name is None:
            message = "expected the name of a pass" + (f" instead of '{piece}'" if piece else " between the commas")
            problems.add(_SYNTAX, message, piece_start, max(piece_end, piece_start + 1))
            continue
        rest = piece[name.end() :]
        if rest and rest[0] not in "{[":
            message = f"expected ',' or '{{' after '{name[0]}', not '{rest.strip()}'"
            problems.add(_SYNTAX, message, piece_start + name.end(), piece_end)
            continue
        elements.append(_Element(piece_start, name[0], rest))
    return elements


def _pieces(text: str, start: int, end: int, problems: _Problems) -> Iterator[tuple[int, int]]:
    """The bounds of what stands between commas, without the white space around it."""
    closing: list[tuple[str, int]] = []
    begin = position = start
    while position < end:
        character = text[position]
        if character == '"':
            position = _string_end(text, position, end, problems)
            continue
        if character in _OPENING:
            closing.append((_OPENING[character], position))
        elif closing and character == closing[-1][0]:
            closing.pop()
        elif character in _OPENING.values():
            problems.add(_SYNTAX, f"'{character}' closes nothing", position, position + 1)
        elif character == "," and not closing:
            yield _trimmed(text, begin, position)
            begin = position + 1
        position += 1
    for character, opened in closing:
        problems.add(_SYNTAX, f"'{text[opened]}' is not closed: '{character}' is missing", opened, opened + 1)
    yield _trimmed(text, begin, end)


def _string_end(text: str, start: int, end: int, problems: _Problems) -> int:
    match = re.compile(r'"(?:\\.|[^"\\])*"').match(text, start, end)
    if match is None:
        problems.add(_SYNTAX, "the string is not closed: '\"' is missing", start, start + 1)
        problems.stop()
        return end
    return match.end()


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


# Options -------------------------------------------------------------------------------------------------------------


def _made(loaded: type[ModulePass], element: _Element, problems: _Problems) -> ModulePass | None:
    """The pass with its options; None where these are wrong, which has been reported."""
    spec = _spec(element, problems)
    if spec is None:
        return None
    legal = {field.name: field for field in dataclasses.fields(loaded) if field.init and field.name != "name"}
    options = _legal_options(loaded, list(legal.values()))
    known = True
    for given in spec.parameters:
        if given.replace("-", "_") not in legal:
            hint = phrase(suggest(given, [name.replace("_", "-") for name in legal]))
            message = f"pass '{element.name}' has no option '{given}'{': ' + hint if hint else ''}; {options}"
            problems.add(_OPTION, message, *_option_bounds(element, given))
            known = False
    if not known:
        return None
    try:
        return loaded.from_spec(spec)
    except ValueError as error:
        only = next(iter(spec.parameters)) if len(spec.parameters) == 1 else None
        bounds = _option_bounds(element, only) if only else (element.start, element.options_start + len(element.rest))
        problems.add(_OPTION, f"pass '{element.name}': {error}; {options}", *bounds)
        return None


def _spec(element: _Element, problems: _Problems) -> ArgSpec | None:
    offset = element.options_start
    if (empty := _EMPTY_VALUE.search(element.rest)) is not None:
        message = f"option '{empty[1]}' of pass '{element.name}' has no value after '='"
        problems.add(_SYNTAX, message, offset + empty.start(), offset + empty.end())
        return None
    try:
        # xDSL takes no white space just inside of the braces, and one space between options.
        (spec,) = parse_pipeline(element.name + re.sub(r"^\{\s+|(?<=\s)\s+|\s+(?=\}$)", _brace, element.rest))
        return spec
    except ArgSpecParseError as error:
        reason = str(error).rstrip().split("\n")[-1].strip()
        message = f"cannot read the options of pass '{element.name}': {reason[:1].lower() + reason[1:]}"
        problems.add(_SYNTAX, message, offset, offset + len(element.rest))
        return None


def _brace(match: "re.Match[str]") -> str:
    return "{" if match[0].startswith("{") else ""


def _option_bounds(element: _Element, option: str) -> tuple[int, int]:
    match = re.search(rf"(?<=[{{\s]){re.escape(option)}(?=[=\s}}])", element.rest)
    start, end = match.span() if match is not None else (0, len(element.rest))
    return element.options_start + start, element.options_start + end


def _legal_options(loaded: type[ModulePass], fields: "Sequence[dataclasses.Field[object]]") -> str:
    if not fields:
        return "it has none"
    listed = [f"{field.name.replace('_', '-')} ({type_repr(field.type)})" for field in fields]
    return f"it has {', '.join(listed)}"
