"""Arguments that are constants: what a parameter of each kind takes.

Imports the syntax tree, the scope and the records of the dialect. Knows no operation by name.
"""

from collections.abc import Sequence
from enum import Enum
from typing import assert_never

from ucutlass.dialects.ucutlass.spec import OpSpec, Param, ParamValue
from ucutlass.dialects.ucutlass.types import LAYOUT_NAMES
from ucutlass.dims import Dim
from ucutlass.element_types import ELEMENT_TYPES, ElementType
from ucutlass.frontend.ast import Argument, Call, Infix, Layout, ListOf, Name, Negation, Node, Number, View, Word
from ucutlass.frontend.report import Reporter
from ucutlass.frontend.scope import Scope
from ucutlass.frontend.sizes import SizeReader
from ucutlass.frontend.vocabulary import CONSTANT_ALIASES, ELEMENT_ALIASES, LAYOUT_ALIASES


class Failed(Enum):
    """Marks a constant that is in error, which has been reported."""

    FAILED = 0


FAILED = Failed.FAILED


def described(node: Node) -> str:
    """What stands in a place where something else is wanted."""
    match node:
        case Number():
            return f"the number {node.value}"
        case Name() | Word():
            return f"'{node.text}'"
        case ListOf():
            return "a list"
        case Layout():
            return "a layout"
        case Call():
            return f"the value of {node.name.text}(…)"
        case _:
            return "an expression"


def element_of(report: Reporter, name: Name) -> ElementType | None:
    """The element type of a name."""
    found = ELEMENT_TYPES.get(name.text)
    if found is None:
        message = f"there is no element type '{name.text}'"
        report.unknown("UC0310", name, message, ELEMENT_TYPES, ELEMENT_ALIASES, listed=True)
    return found


def layout_of(report: Reporter, layout: Layout) -> str | tuple[int, ...] | None:
    """A layout as its name or its order."""
    if layout.name is not None:
        if layout.name.text in LAYOUT_NAMES:
            return layout.name.text
        message = f"there is no layout '{layout.name.text}'"
        report.unknown("UC0214", layout.name, message, LAYOUT_NAMES, LAYOUT_ALIASES, listed=True)
        return None
    order = tuple(int(number.value) for number in layout.order)
    if sorted(order) != list(range(len(order))):
        text = f"({','.join(map(str, order))})"
        message = f"layout {text} does not list each dimension from 0 to {len(order) - 1} once"
        report.error("UC0311", layout, message)
        return None
    return order


class ConstantReader:
    """Reads the constants of one kernel."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.report = scope.report
        self.sizes = SizeReader(scope.report, scope.dimension)

    def read(self, spec: OpSpec, param: Param, arguments: Sequence[Argument]) -> ParamValue | Failed:
        """The value that arguments give a parameter."""
        value = arguments[0].value
        match param.kind:
            case "number":
                return value.value if isinstance(value, Number) else self._wrong(spec, param, value, "a number")
            case "dim":
                return self._size(spec, param, value)
            case "dims":
                if param.varargs and len(arguments) > 1:
                    return self._sizes(spec, param, [argument.value for argument in arguments])
                return self._sizes(spec, param, value.items if isinstance(value, ListOf) else [value])
            case "bool":
                return self._bool(spec, param, value)
            case "word":
                return self._word(spec, param, value)
            case "element":
                if not isinstance(value, Name):
                    return self._wrong(spec, param, value, "an element type")
                return element_of(self.report, value) or FAILED
            case "layout":
                return self._layout(spec, param, value)
            case _:
                assert_never(param.kind)

    def _wrong(self, spec: OpSpec, param: Param, node: Node, wanted: str) -> Failed:
        what = f"'{param.name}' of {spec.spelling}"
        if isinstance(node, Call | View) or (isinstance(node, Name) and node.text in self.scope.values):
            message = f"{what} is {wanted} that is known before the kernel runs, not {described(node)}"
            self.report.error("UC0314", node, message)
        else:
            self.report.error("UC0319", node, f"{what} is {wanted}, found {described(node)}")
        return FAILED

    def _size(self, spec: OpSpec, param: Param, node: Node) -> Dim | Failed:
        whole = isinstance(node, Number) and isinstance(node.value, int)
        if not whole and not isinstance(node, Name | Infix | Negation):
            return self._wrong(spec, param, node, "a whole number or a dimension")
        size = self.sizes.read(node)
        return FAILED if size is None else size

    def _sizes(self, spec: OpSpec, param: Param, nodes: Sequence[Node]) -> tuple[Dim, ...] | Failed:
        sizes = [self._size(spec, param, node) for node in nodes]
        found = tuple(size for size in sizes if isinstance(size, Dim))
        return found if len(found) == len(sizes) else FAILED

    def _bool(self, spec: OpSpec, param: Param, node: Node) -> bool | Failed:
        if isinstance(node, Word) and node.text in ("true", "false"):
            return node.text == "true"
        alias = CONSTANT_ALIASES.get(node.text) if isinstance(node, Name) else None
        if isinstance(node, Number) and node.value in (0, 1):
            alias = "true" if node.value else "false"
        fixits = [self.report.replace(node, alias)] if alias in ("true", "false") else []
        message = f"'{param.name}' of {spec.spelling} is true or false, found {described(node)}"
        self.report.error("UC0319", node, message, fixits=fixits)
        return FAILED

    def _word(self, spec: OpSpec, param: Param, node: Node) -> str | Failed:
        wanted = f"one of {', '.join(param.words)}"
        if isinstance(node, Word) and node.text not in param.words:
            node = Name(node.start, node.end, node.text, (node.start, node.end))
        if isinstance(node, Name):
            if node.text in param.words:
                return node.text
            message = f"'{param.name}' of {spec.spelling} cannot be '{node.text}'"
            self.report.unknown("UC0206", node, message, param.words, listed=True)
            return FAILED
        return node.text if isinstance(node, Word) else self._wrong(spec, param, node, wanted)

    def _layout(self, spec: OpSpec, param: Param, node: Node) -> str | tuple[int, ...] | Failed:
        if isinstance(node, Layout):
            found = layout_of(self.report, node)
            return FAILED if found is None else found
        if isinstance(node, Name) and node.text in LAYOUT_NAMES:
            message = f"a layout is written with '@': @{node.text}"
            self.report.error("UC0319", node, message, fixits=[self.report.insert(node.inner[0], "@")])
            return FAILED
        return self._wrong(spec, param, node, "a layout, @row")


def is_default(param: Param, value: ParamValue) -> bool:
    """Whether a value says only what is so without it."""
    default = param.default
    if isinstance(value, bool) or isinstance(default, bool):
        return value is default
    if isinstance(value, int | float) and isinstance(default, int | float):
        return repr(float(value)) == repr(float(default))
    if param.kind == "dim" and isinstance(value, Dim) and isinstance(default, int | str | Dim):
        return value == Dim.of(default)
    return value is not None and value == default
