"""The grammar as a structure: reads the part of Lark's notation that `ucu.lark` uses.

Imports the standard library and the table's file. Other notations of the grammar are written from here.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from ucutlass.frontend.table import grammar_text


@dataclass(frozen=True)
class Literal:
    """A sign or word as it stands in a program."""

    text: str


@dataclass(frozen=True)
class Pattern:
    """A terminal that a regular expression describes, by name."""

    name: str


@dataclass(frozen=True)
class Rule:
    """Another rule, by name."""

    name: str


@dataclass(frozen=True)
class Sequence:
    """One after the other."""

    items: "tuple[Item, ...]"


@dataclass(frozen=True)
class Choice:
    """One of several."""

    items: "tuple[Item, ...]"


@dataclass(frozen=True)
class Repeated:
    """`item?`, `item*` or `item+`."""

    item: "Item"
    mark: str


Item = Literal | Pattern | Rule | Sequence | Choice | Repeated


@dataclass(frozen=True)
class Grammar:
    """Rules and terminals in the order of the text."""

    rules: Mapping[str, Item]
    patterns: Mapping[str, str]
    """Regular expressions by the name of their terminal."""
    ignored: tuple[str, ...]
    """Regular expressions of what may stand between tokens."""
    name_words: frozenset[str]
    """Words that are names outside of their own position."""

    def literals(self) -> list[str]:
        """Every sign and word, in the order of the text."""
        found: dict[str, None] = {}
        work = list(self.rules.values())
        while work:
            item = work.pop(0)
            if isinstance(item, Literal):
                found[item.text] = None
            elif isinstance(item, Repeated):
                work.insert(0, item.item)
            elif isinstance(item, Sequence | Choice):
                work[:0] = item.items
        return list(found)

    @property
    def reserved_words(self) -> tuple[str, ...]:
        """The words that are never names."""
        return tuple(word for word in self.literals() if word.isidentifier() and word not in self.name_words)


_TOKEN = re.compile(r'\s*(?:"((?:[^"\\]|\\.)*)"|/((?:[^/\\]|\\.)*)/|(->)\s*\w+|(\w+)|([()|?*+]))')


class _Reader:
    """Reads the right side of a rule."""

    def __init__(self, text: str) -> None:
        self.tokens = [match for match in _TOKEN.finditer(text) if match[3] is None]
        self.position = 0

    def _peek(self) -> str | None:
        return self.tokens[self.position][5] if self.position < len(self.tokens) else ")"

    def choice(self) -> Item:
        items = [self._sequence()]
        while self._peek() == "|" and self.position < len(self.tokens):
            self.position += 1
            items.append(self._sequence())
        return items[0] if len(items) == 1 else Choice(tuple(items))

    def _sequence(self) -> Item:
        items: list[Item] = []
        while self._peek() not in ("|", ")"):
            items.append(self._marked())
        return items[0] if len(items) == 1 else Sequence(tuple(items))

    def _marked(self) -> Item:
        item = self._item()
        while (mark := self._peek()) in ("?", "*", "+"):
            self.position += 1
            item = Repeated(item, mark or "")
        return item

    def _item(self) -> Item:
        token = self.tokens[self.position]
        self.position += 1
        if token[5] == "(":
            inner = self.choice()
            self.position += 1
            return inner
        if token[1] is not None:
            return Literal(token[1])
        name = token[4]
        return Pattern(name) if name.isupper() else Rule(name)


def _definitions(text: str) -> Iterator[tuple[str, str]]:
    """Names and right sides of the rules; a rule goes on in lines that are indented."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("//")]
    name, parts = "", list[str]()
    for line in lines:
        begun = re.match(r"(%ignore|\??\w+\s*:)\s*(.*)", line)
        if begun is None:
            parts.append(line.strip())
            continue
        if name:
            yield name, " ".join(parts)
        name, parts = begun[1].strip(" ?:"), [begun[2]]
    yield name, " ".join(parts)


@cache
def read_grammar() -> Grammar:
    """The structure of the package's grammar."""
    rules: dict[str, Item] = {}
    patterns: dict[str, str] = {}
    ignored: list[str] = []
    for name, right in _definitions(grammar_text()):
        if name == "%ignore":
            ignored.append(right.strip("/"))
        elif name.isupper():
            patterns[name] = right.strip("/")
        else:
            rules[name] = _Reader(right).choice()
    names = rules["name"]
    assert isinstance(names, Choice)
    words = frozenset(item.text for item in names.items if isinstance(item, Literal))
    return Grammar(rules, patterns, tuple(ignored), words)


def alternatives(item: Item) -> tuple[Item, ...]:
    """The alternatives of the right side of a rule."""
    return item.items if isinstance(item, Choice) else (item,)


def members(item: Item) -> tuple[Item, ...]:
    """The items of one alternative."""
    return item.items if isinstance(item, Sequence) else (item,)


def without_left_recursion(name: str, item: Item) -> Item:
    """A rule that begins with itself, as a repetition: `sum: a | sum "+" a` is `a ("+" a)*`."""
    first: list[Item] = []
    further: list[Item] = []
    for alternative in alternatives(item):
        items = members(alternative)
        if items[0] == Rule(name):
            further.append(items[1] if len(items) == 2 else Sequence(items[1:]))
        else:
            first.append(alternative)
    if not further:
        return item
    head = first[0] if len(first) == 1 else Choice(tuple(first))
    tail = further[0] if len(further) == 1 else Choice(tuple(further))
    return Sequence((head, Repeated(tail, "*")))
