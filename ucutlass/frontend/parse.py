"""Text of a `.ucu` file to its syntax tree.

Imports the automaton, the recovery from errors, and the diagnostics. Whatever the text, parsing ends with a tree of
what could be understood; what could not has been reported.
"""

import math
from collections.abc import Mapping
from typing import TypeVar

from ucutlass.diagnostics.core import DiagnosticEngine
from ucutlass.diagnostics.source import SourceFile
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
    Number,
    Parameter,
    Program,
    Result,
    Setter,
    SizeOperation,
    Statement,
    TypeNode,
    View,
    Word,
)
from ucutlass.frontend.lexer import BAD, Token, tokens_of
from ucutlass.frontend.machine import Action, Machine
from ucutlass.frontend.report import Reporter
from ucutlass.frontend.table import load_table

T = TypeVar("T")

LARGEST = 2**63 - 1
"""Largest whole number of the language."""

COLLECTED = frozenset(("arguments", "parameters", "types", "dimensions", "names", "where"))
"""Rules whose value is the list of their members."""


def only(values: list[object], kind: type[T]) -> T:
    """The first of the values that is of a kind."""
    for value in values:
        if isinstance(value, kind):
            return value
    raise AssertionError(f"the grammar's rule has no {kind.__name__}")


def optional(values: list[object], kind: type[T]) -> T | None:
    """The first of the values that is of a kind, if any is."""
    for value in values:
        if isinstance(value, kind):
            return value
    return None


def every(values: list[object], kind: type[T]) -> list[T]:
    """Those of the values that are of a kind."""
    return [value for value in values if isinstance(value, kind)]


def _places(values: list[object]) -> tuple[int, int]:
    """From the start of the first value to the end of the last."""
    first, last = values[0], values[-1]
    assert isinstance(first, Node | Token) and isinstance(last, Node | Token)
    return first.start, last.end


_EXPRESSION = (Name, Number, Word, Call, View, Infix, Negation)
_SIZE = (Name, Number, SizeOperation)
_VALUE = (*_EXPRESSION, ListOf, Layout)


def name(values: list[object]) -> object:
    token = only(values, Token)
    return Name(token.start, token.end, token.text, (token.start, token.end))


def float_(values: list[object]) -> object:
    token = only(values, Token)
    return Number(token.start, token.end, float(token.text))


def constant(values: list[object]) -> object:
    token = only(values, Token)
    if token.text in ("inf", "nan"):
        return Number(token.start, token.end, float(token.text))
    return Word(token.start, token.end, token.text)


def group(values: list[object]) -> object:
    inner = values[1]
    assert isinstance(inner, Node)
    inner.start, inner.end = _places(values)
    return inner


def type_(values: list[object]) -> object:
    sizes = [v for v in values[1:] if isinstance(v, Name | Number)]
    return TypeNode(*_places(values), only(values, Name), sizes, optional(values, Layout))


def layout(values: list[object]) -> object:
    return Layout(*_places(values), optional(values, Name), tuple(every(values, Number)))


def layout_value(values: list[object]) -> object:
    found = only(values, Layout)
    return Layout(*_places(values), found.name, found.order)


def condition(values: list[object]) -> object:
    left, relation, right = values
    assert isinstance(left, _SIZE) and isinstance(relation, Token) and isinstance(right, _SIZE)
    return Condition(left.start, right.end, left, relation.text, right)


def size_operation(values: list[object]) -> object:
    left, operator, right = values
    assert isinstance(left, _SIZE) and isinstance(operator, Token) and isinstance(right, _SIZE)
    return SizeOperation(left.start, right.end, operator.text, left, right)


def parameter(values: list[object]) -> object:
    return Parameter(*_places(values), only(values, Name), only(values, TypeNode))


def statement(values: list[object]) -> object:
    value = values[-1]
    assert isinstance(value, _EXPRESSION)
    return Statement(*_places(values), every(values[:-2], Name), value)


def result(values: list[object]) -> object:
    made_up = only(values, Token).virtual
    return Result(*_places(values), None if made_up else [v for v in values[1:] if isinstance(v, _EXPRESSION)])


def kernel(values: list[object]) -> object:
    return Kernel(
        *_places(values),
        only(values, Name),
        every(values, Parameter),
        every(values, TypeNode),
        every(values, Condition),
        every(values, Statement),
        only(values, Result),
        broken=only(values, Token).virtual,
    )


def target(values: list[object]) -> object:
    return only(values, Name)


def start(values: list[object]) -> object:
    return Program(*_places(values), optional(values, Name), every(values, Kernel))


def keyword_argument(values: list[object]) -> object:
    value = values[-1]
    assert isinstance(value, _VALUE)
    return Argument(*_places(values), only(values, Name), value)


def argument(values: list[object]) -> object:
    value = values[0]
    assert isinstance(value, _VALUE)
    return Argument(value.start, value.end, None, value)


def list_(values: list[object]) -> object:
    return ListOf(*_places(values), [v for v in values if isinstance(v, _VALUE)])


def call(values: list[object]) -> object:
    first, last = _places(values)
    return Call(first, last, only(values, Name), every(values, Argument), last)


def setter(values: list[object]) -> object:
    configured, point, last = values[0], only(values, Token), values[-1]
    assert isinstance(configured, Call) and isinstance(last, Token)
    name = only(values[1:], Name)
    configured.setters.append(Setter(point.start, last.end, name, every(values[1:], Argument)))
    configured.end = last.end
    return configured


def view(values: list[object]) -> object:
    base = values[0]
    assert isinstance(base, _EXPRESSION)
    return View(*_places(values), base, only(values[1:], Name))


def pipe(values: list[object]) -> object:
    """The chain, with the left side as first argument of its call."""
    left, _, chain = values
    assert isinstance(left, _EXPRESSION)
    node = chain
    while isinstance(node, View):
        node.start = left.start
        node = node.base
    assert isinstance(node, Call)
    node.start = left.start
    node.piped = True
    node.arguments.insert(0, Argument(left.start, left.end, None, left))
    return chain


def negation(values: list[object]) -> object:
    operand, minus = values[1], only(values, Token)
    assert isinstance(operand, _EXPRESSION)
    if isinstance(operand, Number):
        return Number(minus.start, operand.end, -operand.value)
    return Negation(minus.start, operand.end, minus.start, operand)


def _folded(left: int | float, operator: str, right: int | float) -> int | float | None:
    """Arithmetic on numbers, as in Python; None where it has no value in the language."""
    match operator:
        case "+":
            value = left + right
        case "-":
            value = left - right
        case "*":
            value = left * right
        case _:
            if not right:
                return None
            exact = isinstance(left, int) and isinstance(right, int) and left % right == 0
            value = left // right if exact else left / right
    return value if isinstance(value, float) or abs(value) <= LARGEST else None


def infix(values: list[object]) -> object:
    left, operator, right = values
    assert isinstance(left, _EXPRESSION) and isinstance(operator, Token) and isinstance(right, _EXPRESSION)
    if isinstance(left, Number) and isinstance(right, Number):
        folded = _folded(left.value, operator.text, right.value)
        if folded is not None:
            return Number(left.start, right.end, folded)
    return Infix(left.start, right.end, operator.text, operator.start, left, right)


_ACTIONS: Mapping[str, Action] = {
    "name": name,
    "constant": constant,
    "group": group,
    "type": type_,
    "layout": layout,
    "layout_value": layout_value,
    "condition": condition,
    "size_operation": size_operation,
    "parameter": parameter,
    "statement": statement,
    "result": result,
    "kernel": kernel,
    "target": target,
    "start": start,
    "keyword_argument": keyword_argument,
    "argument": argument,
    "list": list_,
    "call": call,
    "setter": setter,
    "call_view": view,
    "view": view,
    "pipe": pipe,
    "negation": negation,
    "infix": infix,
}


def _integer(report: Reporter) -> Action:
    def integer(values: list[object]) -> object:
        token = only(values, Token)
        digits = token.text.lstrip("0")
        if len(digits) > len(str(LARGEST)) or (digits and int(digits) > LARGEST):
            shown = token.text if len(token.text) <= 40 else f"{token.text[:30]}… ({len(token.text)} digits)"
            report.error("UC0119", token, f"{shown} is too large: whole numbers are at most {LARGEST}")
            return Number(token.start, token.end, 1)
        return Number(token.start, token.end, int(digits or "0"))

    return integer


def _float(report: Reporter) -> Action:
    def checked(values: list[object]) -> object:
        number = float_(values)
        assert isinstance(number, Number)
        if math.isinf(number.value):
            token = only(values, Token)
            fix = report.replace(token, "inf")
            report.error("UC0119", token, f"{token.text} is larger than every f64; infinity is 'inf'", fixits=[fix])
        return number

    return checked


def parse(source: SourceFile, engine: DiagnosticEngine) -> Program | None:
    """The tree of a text; None where there is nothing to make one of. What is wrong has been reported to the engine."""
    report = Reporter(source, engine)
    actions = {**_ACTIONS, "integer": _integer(report), "float": _float(report)}
    machine = Machine(load_table(), tokens_of(source.text), actions, COLLECTED)
    if all(token.kind != BAD for token in machine.tokens) and machine.run():
        return only(machine.values, Program)
    # Only a text with an error needs to know what to do about one.
    from ucutlass.frontend.recovery import Recovery

    return Recovery(machine, report).program()
