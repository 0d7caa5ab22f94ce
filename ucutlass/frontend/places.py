"""Where the parts of operations stand in a `.ucu` text: the part resolver of the diagnostics.

Imports the syntax tree and the diagnostics. IR carries only the place of an operation's name; this keeps the tree of
the text, so that a later pass can point at the third argument of a setter.
"""

from dataclasses import dataclass

from xdsl.dialects.builtin import FileLineColLoc, IntAttr, StringAttr

from ucutlass.diagnostics.source import SourceFile, Span
from ucutlass.dialects.ucutlass.attributes import SETTERS
from ucutlass.dialects.ucutlass.spec import OpSpec
from ucutlass.frontend.arguments import Bound
from ucutlass.frontend.ast import (
    Argument,
    Call,
    Infix,
    Kernel,
    ListOf,
    Name,
    Negation,
    Node,
    Program,
    Result,
    Setter,
    View,
)
from ucutlass.frontend.setters import PREFIX

_Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Entry:
    """What is known of one operation."""

    node: Node
    kernel: Kernel
    spec: OpSpec | None
    bound: Bound | None


def _range(node: Node | None) -> _Range | None:
    """The place of a node; a name without parentheses, nothing for what the parser made up."""
    if node is None:
        return None
    return node.inner if isinstance(node, Name) else (node.start, node.end)


class Places:
    """The places of one text."""

    def __init__(self, source: SourceFile, program: Program) -> None:
        self.source = source
        self.program = program
        self._file = StringAttr(source.name)
        self._entries: dict[_Range, _Entry] = {}
        """By line and column."""

    def add(
        self, offset: int, node: Node, kernel: Kernel, spec: OpSpec | None = None, bound: Bound | None = None
    ) -> FileLineColLoc:
        """The location of an operation whose name begins at an offset; its parts can be found from then on."""
        place = self.source.position(offset)
        self._entries[place] = _Entry(node, kernel, spec, bound)
        return self._location(place)

    def location(self, offset: int) -> FileLineColLoc:
        """The location of an offset."""
        return self._location(self.source.position(offset))

    def _location(self, place: _Range) -> FileLineColLoc:
        return FileLineColLoc(self._file, IntAttr(place[0]), IntAttr(place[1]))

    def __call__(self, line: int, column: int, part: str) -> Span | None:
        """The span of a part, see `PartResolver`."""
        found = self.part(line, column, part)
        return self.source.span(*found) if found is not None else None

    def part(self, line: int, column: int, part: str) -> _Range | None:
        kind, _, rest = part.partition(":")
        if kind == "target":
            return _range(self.program.target)
        entry = self._entries.get((line, column))
        if entry is None:
            return None
        match kind:
            case "operand":
                return _range(self._operand(entry, rest))
            case "suffix":
                return self._suffix(entry, rest)
            case "param" | "keyword":
                return self._param(entry, rest, whole=kind == "keyword")
            case "setter":
                return self._setter(entry.node, rest)
            case "name" | "call" | "end":
                return self._call(entry, kind)
            case "result":
                return self._result(entry, rest)
            case "argument":
                return self._argument(entry.kernel, rest)
            case "return":
                return self._declared(entry.kernel, rest)
            case "where":
                return self._where(entry.kernel, rest)
            case _:
                return None

    # Calls ------------------------------------------------------------------------------------------------------------

    def _call(self, entry: _Entry, kind: str) -> _Range | None:
        node = entry.node
        if isinstance(node, Kernel):
            return _range(node.name) if kind == "name" else None
        if kind == "end":
            return node.end, node.end
        if isinstance(node, Call):
            return _range(node.name) if kind == "name" else (node.name.start, node.call_end)
        if isinstance(node, View):
            return _range(node.name) if kind == "name" else (node.start, node.end)
        if isinstance(node, Infix | Negation):
            sign = node.operator_start
            return (sign, sign + 1) if kind == "name" else (node.start, node.end)
        return node.start, node.end

    def _suffix(self, entry: _Entry, rest: str) -> _Range | None:
        """Behind an operand to which a suffix can be added as it stands; with `:T`, the `.T` that is there."""
        if rest.endswith(":T"):
            node = self._operand(entry, rest.removesuffix(":T"))
            if isinstance(node, View) and node.name.text == "T" and node.name.end == node.end:
                return node.base.end, node.end
            return None
        node = self._operand(entry, rest)
        if isinstance(node, Name | View) or (isinstance(node, Call) and not node.piped):
            return node.end, node.end
        return None

    def _operand(self, entry: _Entry, rest: str) -> Node | None:
        which, _, member = rest.partition(":")
        node = entry.node
        if isinstance(node, Result):
            index = _index(which, len(node.values or ()))
            return (node.values or [])[index] if index is not None else None
        found: Node | None = None
        if isinstance(node, Call) and entry.spec is not None and entry.bound is not None:
            names = [operand.name for operand in entry.spec.operands]
            index = names.index(which) if which in names else _index(which, len(names))
            argument = entry.bound.get(names[index]) if index is not None else None
            found = argument.value if argument is not None else None
        elif isinstance(node, View):
            found = node.base if which in ("0", "x") else None
        elif isinstance(node, Infix):
            found = {"0": node.left, "a": node.left, "1": node.right, "b": node.right}.get(which)
        elif isinstance(node, Negation):
            found = node.operand if which in ("0", "x") else None
        if member:
            items = found.items if isinstance(found, ListOf) else []
            index = _index(member, len(items))
            found = items[index] if index is not None else None
        return found

    def _param(self, entry: _Entry, rest: str, whole: bool) -> _Range | None:
        if entry.bound is None:
            return None
        name, _, member = rest.partition(":")
        arguments = entry.bound.arguments.get(name, [])
        if not arguments:
            return None
        if member:
            values = [argument.value for argument in arguments]
            items = values[0].items if len(values) == 1 and isinstance(values[0], ListOf) else values
            index = _index(member, len(items))
            return _range(items[index]) if index is not None else None
        if whole and arguments[0].keyword is None:
            return None
        return (arguments[0].start if whole else arguments[0].value.start), arguments[-1].end

    def _setter(self, node: Node, rest: str) -> _Range | None:
        name, _, rest = rest.partition(":")
        which, _, value = rest.partition(":")
        setters: list[Setter] = node.setters if isinstance(node, Call) else []
        setter = next((s for s in setters if s.name.text == PREFIX + name), None)
        if setter is None or not which:
            return _range(setter)
        argument = _setter_argument(setter, name, which)
        return _range(argument.value if argument is not None and value else argument)

    # Around calls -----------------------------------------------------------------------------------------------------

    def _where(self, kernel: Kernel, which: str) -> _Range | None:
        """A condition, by position; without one, the place where another condition goes."""
        if which:
            index = _index(which, len(kernel.conditions))
            return _range(kernel.conditions[index]) if index is not None else None
        return kernel.header_end, kernel.header_end

    def _result(self, entry: _Entry, which: str) -> _Range | None:
        for statement in entry.kernel.statements:
            if statement.start <= entry.node.start and entry.node.end <= statement.end:
                if statement.value is not entry.node:
                    return None
                index = _index(which, len(statement.targets))
                return _range(statement.targets[index]) if index is not None else None
        return None

    def _argument(self, kernel: Kernel, rest: str) -> _Range | None:
        which, _, what = rest.partition(":")
        index = _index(which, len(kernel.parameters))
        if index is None:
            names = [parameter.name.text for parameter in kernel.parameters]
            index = names.index(which) if which in names else None
        if index is None:
            return None
        parameter = kernel.parameters[index]
        return _range(parameter.type) if what == "type" else _range(parameter.name)

    def _declared(self, kernel: Kernel, which: str) -> _Range | None:
        index = _index(which, len(kernel.results))
        return _range(kernel.results[index]) if index is not None else None


def _index(text: str, count: int) -> int | None:
    """A position in something of that length."""
    return int(text) if text.isdecimal() and int(text) < count else None


def _setter_argument(setter: Setter, name: str, which: str) -> Argument | None:
    """An argument of a setter, by position or name."""
    rows = SETTERS[name].arguments if name in SETTERS else ()
    names = [row.name for row in rows]
    index = names.index(which) if which in names else _index(which, len(names))
    if index is None:
        return None
    by_position = [row.name for row in rows if not row.keyword]
    for position, argument in enumerate(setter.arguments):
        given = argument.keyword.text if argument.keyword is not None else None
        if given is None and position < len(by_position):
            given = by_position[position]
        if given == names[index]:
            return argument
    return None
