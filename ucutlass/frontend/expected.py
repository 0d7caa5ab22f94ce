"""What could stand at a place, in words that people know rather than in terminals.

Imports the automaton. Only a run that has found an error imports this.
"""

from collections.abc import Sequence
from functools import cache

from ucutlass.frontend.lexer import Token
from ucutlass.frontend.machine import Machine
from ucutlass.frontend.table import END, load_table

_PHRASES: tuple[tuple[str, str], ...] = (
    ("statement", "a statement"),
    ("parameter", "a parameter"),
    ("type", "a type"),
    ("condition", "a condition"),
    ("argument", "an argument"),
    ("value", "a value"),
    ("expression", "an expression"),
    ("sum", "an expression"),
    ("product", "an expression"),
    ("signed", "an expression"),
    ("chain", "a call"),
    ("layout", "a layout"),
    ("dimension", "a size"),
    ("size_sum", "a size"),
    ("size_product", "a size"),
    ("size_atom", "a size"),
    ("relation", "a comparison"),
    ("name", "a name"),
    ("integer", "a whole number"),
)
"""Nonterminals and what to call them, the widest first: what one covers the later ones need not say again."""

_OPERATORS = frozenset("+-*/")


@cache
def first_sets() -> dict[str, frozenset[str]]:
    """The terminals that each nonterminal may begin with."""
    table = load_table()
    firsts: dict[str, set[str]] = {rule.origin: set() for rule in table.rules}
    changed = True
    while changed:
        changed = False
        for rule in table.rules:
            symbol = rule.symbols[0]
            found = {symbol} if symbol in table.terminals else firsts[symbol]
            if not found <= firsts[rule.origin]:
                firsts[rule.origin] |= found
                changed = True
    return {origin: frozenset(found) for origin, found in firsts.items()}


def spelled(kind: str) -> str:
    """A terminal as a person would write it."""
    if kind == END:
        return "the end of the file"
    if kind == "NAME":
        return "a name"
    if kind == "INTEGER":
        return "a whole number"
    if kind == "FLOAT":
        return "a number"
    return f"'{load_table().terminals[kind].pattern}'"


def found(token: Token) -> str:
    """A token as the message names it."""
    if token.kind == END:
        return "the end of the file"
    return f"'{token.text}'" if len(token.text) <= 40 else f"'{token.text[:37]}…'"


def expected(machine: Machine) -> list[str]:
    """What could stand before the next token, the most specific description of each first."""
    table = machine.table
    left = machine.acceptable()
    beginning = table.gotos[machine.states[-1]]
    said: list[str] = []
    for nonterminal, phrase in _PHRASES:
        first = first_sets()[nonterminal]
        if nonterminal in beginning and first & left:
            left -= first
            if phrase not in said:
                said.append(phrase)
    if "RETURN" in left and "NAME" in left:
        left -= first_sets()["statement"]
        said.append("a statement")
    if "NAME" in left:
        left -= table.name_words
    literals = {kind: table.terminals[kind].pattern for kind in left if kind in table.terminals}
    operators = {kind for kind, text in literals.items() if text in _OPERATORS or text in (".", ">>")}
    if {literals[kind] for kind in operators} >= _OPERATORS:
        left -= operators
        said.append("an operator")
    return [*(spelled(kind) for kind in sorted(left, key=_order)), *said]


def _order(kind: str) -> tuple[bool, str]:
    return kind == END, spelled(kind)


def alternatives(words: Sequence[str]) -> str:
    """`a, b or c`."""
    return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else "".join(words)
