"""Every name of a `.ucu` text: where it stands, what kind of thing it names, and where that thing comes from.

Imports the syntax tree and the tables of operations and setters. The tree is walked with a stack of its own, so that
its depth is no limit.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from ucutlass.dialects.ucutlass.operations import rows_called
from ucutlass.dialects.ucutlass.spec import OpSpec
from ucutlass.frontend.ast import (
    Argument,
    Call,
    Condition,
    Infix,
    Kernel,
    Layout,
    ListOf,
    Name,
    Negation,
    Node,
    Program,
    Setter,
    SizeOperation,
    TypeNode,
    View,
    Word,
)

Kind = Literal[
    "target",
    "kernel",
    "value",
    "dimension",
    "element",
    "layout",
    "operation",
    "parameter",
    "setter",
    "word",
    "sign",
]
"""`parameter` is the keyword of an argument, `word` one of a closed set that an argument takes, `sign` an infix or
prefix operator."""


@dataclass(frozen=True, eq=False)
class Occurrence:
    """A name in one place."""

    start: int
    end: int
    kind: Kind
    text: str
    kernel: Kernel | None = None
    """The kernel that it stands in."""
    node: Node | None = None
    """What it belongs to: the call of an operation or a keyword, the setter of a word."""
    defines: bool = False
    """Whether it introduces the name."""


def row_of(call: Call) -> OpSpec | None:
    """The row that a call means; None where there is no such operation."""
    rows = rows_called(call.name.text)
    if len(rows) < 2:
        return rows[0] if rows else None
    is_list = bool(call.arguments) and isinstance(call.arguments[0].value, ListOf)
    return next((row for row in rows if row.takes_list == is_list), rows[0])


def given_names(spec: OpSpec, arguments: Sequence[Argument]) -> list[str | None]:
    """What each argument stands for, by the operand's or parameter's name."""
    order = list(spec.signature)
    rest = {param.name for param in spec.params if param.varargs}
    names: list[str | None] = []
    position = 0
    for argument in arguments:
        if argument.keyword is not None:
            names.append(argument.keyword.text)
            continue
        names.append(order[position] if position < len(order) else None)
        if position < len(order) and order[position] not in rest:
            position += 1
    return names


def occurrences(program: Program) -> list[Occurrence]:
    """Every name of a program, in the order of the text."""
    found = list(_in_program(program))
    return sorted((name for name in found if name.end > name.start), key=lambda name: name.start)


def at(names: Sequence[Occurrence], offset: int) -> Occurrence | None:
    """The name that the cursor is on or right behind."""
    touching = [name for name in names if name.start <= offset <= name.end]
    return next((name for name in touching if offset < name.end), touching[0] if touching else None)


def definition(names: Sequence[Occurrence], name: Occurrence) -> Occurrence | None:
    """Where the thing comes from that a name names; None where the text does not say."""
    if name.kind not in ("value", "dimension", "kernel"):
        return None
    same = [n for n in names if (n.kind, n.text, n.kernel) == (name.kind, name.text, name.kernel)]
    # A value that is assigned twice is an error; the first time is as good as any.
    return next((n for n in same if n.defines), None)


def _in_program(program: Program) -> Iterator[Occurrence]:
    if program.target is not None:
        yield _named("target", program.target, None)
    for kernel in program.kernels:
        yield from _in_kernel(kernel)


def _in_kernel(kernel: Kernel) -> Iterator[Occurrence]:
    yield _named("kernel", kernel.name, kernel, defines=True)
    bound: set[str] = set()
    for parameter in kernel.parameters:
        yield _named("value", parameter.name, kernel, parameter, defines=True)
        yield from _in_type(parameter.type, kernel, bound)
    for condition in kernel.conditions:
        yield from _in_condition(condition, kernel, bound)
    for type_ in kernel.results:
        yield from _in_type(type_, kernel, None)
    for statement in kernel.statements:
        for target in statement.targets:
            yield _named("value", target, kernel, statement, defines=True)
        if statement.value is not None:
            yield from _in_expression(statement.value, kernel)
    for value in kernel.result.values or ():
        yield from _in_expression(value, kernel)


def _named(
    kind: Kind, name: Name, kernel: Kernel | None, node: Node | None = None, defines: bool = False
) -> Occurrence:
    return Occurrence(*name.inner, kind, name.text, kernel, node, defines)


def _in_type(type_: TypeNode, kernel: Kernel, bound: set[str] | None) -> Iterator[Occurrence]:
    """The names of a type; a dimension that is not bound yet is bound here, if this type binds any."""
    yield _named("element", type_.element, kernel, type_)
    for size in type_.sizes:
        if isinstance(size, Name):
            new = bound is not None and size.text not in bound
            if bound is not None:
                bound.add(size.text)
            yield _named("dimension", size, kernel, type_, defines=new)
    if type_.layout is not None:
        yield from _in_layout(type_.layout, kernel)


def _in_layout(layout: Layout, kernel: Kernel) -> Iterator[Occurrence]:
    if layout.name is not None:
        yield _named("layout", layout.name, kernel, layout)


def _in_condition(condition: Condition, kernel: Kernel, bound: set[str]) -> Iterator[Occurrence]:
    for side in (condition.left, condition.right):
        work = [side]
        while work:
            size = work.pop()
            if isinstance(size, SizeOperation):
                work += [size.right, size.left]
            elif isinstance(size, Name):
                new = condition.relation == "==" and size is side and size.text not in bound
                if new:
                    bound.add(size.text)
                yield _named("dimension", size, kernel, condition, defines=new)


def _in_expression(root: Node, kernel: Kernel) -> Iterator[Occurrence]:
    work: list[tuple[Node, str | None, Call | None]] = [(root, None, None)]
    """Nodes, each with the kind of the parameter of the call that it is the value of."""
    while work:
        node, kind, call = work.pop()
        match node:
            case Name():
                yield _named(_kind_of_value(kind), node, kernel, call)
            case Word() if kind == "word":
                yield Occurrence(node.start, node.end, "word", node.text, kernel, call)
            case ListOf():
                work += [(item, kind, call) for item in node.items]
            case Layout():
                yield from _in_layout(node, kernel)
            case Infix():
                yield Occurrence(node.operator_start, node.operator_start + 1, "sign", node.operator, kernel, node)
                work += [(node.left, None, None), (node.right, None, None)]
            case Negation():
                yield Occurrence(node.operator_start, node.operator_start + 1, "sign", "-", kernel, node)
                work.append((node.operand, None, None))
            case View():
                yield _named("operation", node.name, kernel, node)
                work.append((node.base, None, None))
            case Call():
                yield _named("operation", node.name, kernel, node)
                spec = row_of(node)
                kinds = {param.name: param.kind for param in spec.params} if spec is not None else {}
                given = given_names(spec, node.arguments) if spec is not None else [None] * len(node.arguments)
                for argument, name in zip(node.arguments, given, strict=True):
                    if argument.keyword is not None:
                        yield _named("parameter", argument.keyword, kernel, node)
                    work.append((argument.value, kinds.get(name or ""), node))
                for setter in node.setters:
                    yield from _in_setter(setter, kernel)
            case _:
                pass


def _kind_of_value(kind: str | None) -> Kind:
    """What a name is that stands where a parameter of that kind is wanted; None means a tensor."""
    match kind:
        case "dim" | "dims":
            return "dimension"
        case "element":
            return "element"
        case "layout":
            return "layout"
        case "word":
            return "word"
        case _:
            return "value"


def _in_setter(setter: Setter, kernel: Kernel) -> Iterator[Occurrence]:
    yield _named("setter", setter.name, kernel, setter)
    for argument in setter.arguments:
        if argument.keyword is not None:
            yield _named("parameter", argument.keyword, kernel, setter)
        if isinstance(argument.value, Name | Word):
            yield Occurrence(argument.value.start, argument.value.end, "word", argument.value.text, kernel, setter)
