"""The grammar in GBNF, the notation of llama.cpp, for decoding one character at a time.

Imports the grammar's structure. GBNF has no lexer and no left recursion. So white space is written out: it may stand
between any two tokens and must stand between two words. A rule is split by whether it begins or ends in a word where
that decides about the white space at its side. Names are the names of the language less the reserved words.
"""

import re
from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Literal as OneOf

from ucutlass.frontend.grammar_source import (
    Choice,
    Grammar,
    Item,
    Literal,
    Pattern,
    Repeated,
    Rule,
    Sequence,
    alternatives,
    members,
    read_grammar,
    without_left_recursion,
)

Class = OneOf["w", "p"]
"""Word or punctuation, the kind of a token as white space sees it."""
Want = Class | None
"""A kind that is demanded, or either."""

Symbol = Literal | Pattern | Rule
Production = tuple[Symbol, ...]
"""Never empty."""

Shapes = frozenset[tuple[Class, Class]]
"""Kinds of first and last token that the texts of a symbol may have."""

_SPACE, _GAP = "space", "gap"
_NAME = "NAME"


def _class(symbol: Literal | Pattern) -> Class:
    return "w" if isinstance(symbol, Pattern) or symbol.text.isidentifier() else "p"


class _Productions:
    """The rules as plain productions, without left recursion and without empty ones."""

    def __init__(self, grammar: Grammar) -> None:
        self.rules: dict[str, list[Production]] = {}
        for name, item in grammar.rules.items():
            self._add(name, without_left_recursion(name, item))

    def _add(self, name: str, item: Item) -> None:
        self.rules[name] = []
        for index, alternative in enumerate(alternatives(item)):
            self.rules[name] += self._expanded(f"{name}-{index}", alternative)

    def _expanded(self, name: str, item: Item) -> list[Production]:
        """The productions of an alternative; repetitions become rules of their own."""
        parts: list[list[Production]] = []
        for index, member in enumerate(members(item)):
            parts.append(self._productions(f"{name}-{index}", member))
        return [tuple(symbol for part in combination for symbol in part) for combination in product(*parts)]

    def _productions(self, name: str, item: Item) -> list[Production]:
        match item:
            case Literal() | Pattern() | Rule():
                return [(item,)]
            case Sequence():
                return self._expanded(name, item)
            case Choice():
                return [p for i, option in enumerate(item.items) for p in self._productions(f"{name}-{i}", option)]
            case Repeated():
                once = self._productions(name, item.item)
                if item.mark == "?":
                    return [(), *once]
                self.rules[name] = [p for body in once for p in (body, (*body, Rule(name)))]
                return [(Rule(name),)] if item.mark == "+" else [(), (Rule(name),)]


class GbnfWriter:
    """Writes the variants of rules that are asked for."""

    def __init__(self, grammar: Grammar) -> None:
        self.grammar = grammar
        self.productions = _Productions(grammar).rules
        self.shapes = self._shapes()
        """By rule: the kinds of first and last token that it may have."""
        self.written: dict[str, str] = {}

    def _shapes(self) -> dict[str, Shapes]:
        shapes: dict[str, Shapes] = {name: frozenset() for name in self.productions}
        changed = True
        while changed:
            changed = False
            for name, productions in self.productions.items():
                for production in productions:
                    found = self._shape_of(production, shapes)
                    if not found <= shapes[name]:
                        shapes[name] |= found
                        changed = True
        return shapes

    def _shape_of(self, production: Production, shapes: dict[str, Shapes]) -> Shapes:
        first, last = self._of(production[0], shapes), self._of(production[-1], shapes)
        if len(production) == 1:
            return first
        return frozenset((one[0], other[1]) for one in first for other in last)

    @staticmethod
    def _of(symbol: Symbol, shapes: dict[str, frozenset[tuple[Class, Class]]]) -> frozenset[tuple[Class, Class]]:
        if isinstance(symbol, Rule):
            return shapes[symbol.name]
        kind = _class(symbol)
        return frozenset(((kind, kind),))

    def _allowed(self, symbol: Symbol, first: Want, last: Want) -> set[tuple[Class, Class]]:
        return {s for s in self._of(symbol, self.shapes) if first in (None, s[0]) and last in (None, s[1])}

    def text(self) -> str:
        """The whole grammar."""
        start = self._reference(Rule("start"), None, None)
        spaces = [self._spaces(pattern) for pattern in self.grammar.ignored]
        ends = [self.regex(p) for p in self.grammar.ignored if p.endswith("[^\\n]*")]
        lines = [
            f"root ::= {_SPACE} {start} rest",
            *(f"{name} ::= {right}" for name, right in self.written.items()),
            # A comment in the last line need not end in a line break.
            f"rest ::= ({' | '.join(spaces)})* ({' | '.join(ends)})?",
            f"{_SPACE} ::= ({' | '.join(spaces)})*",
            f"{_GAP} ::= ({' | '.join(spaces)}) {_SPACE}",
        ]
        for name, pattern in self.grammar.patterns.items():
            right = _names_without(self.grammar.reserved_words) if name == _NAME else self.regex(pattern)
            lines.append(f"{_token_name(name)} ::= {right}")
        return "\n".join(lines) + "\n"

    def _reference(self, symbol: Symbol, first: Want, last: Want) -> str:
        """A symbol in a right side, of the kinds that are demanded; its rule is written if it is not yet."""
        if isinstance(symbol, Literal):
            return _quoted(symbol.text)
        if isinstance(symbol, Pattern):
            return _token_name(symbol.name)
        shapes = self.shapes[symbol.name]
        # What holds of every text of the rule is not a demand.
        first = None if first is not None and all(s[0] == first for s in shapes) else first
        last = None if last is not None and all(s[1] == last for s in shapes) else last
        name = _rule_name(symbol.name, first, last)
        if name not in self.written:
            self.written[name] = ""
            rights = [right for p in self.productions[symbol.name] for right in self._rights(p, first, last)]
            self.written[name] = " | ".join(dict.fromkeys(rights))
        return name

    def _rights(self, production: Production, first: Want, last: Want) -> Iterator[str]:
        """The right sides of a production whose first and last tokens are of the kinds that are demanded."""
        symbol, rest = production[0], production[1:]
        if not rest:
            if self._allowed(symbol, first, last):
                yield self._reference(symbol, first, last)
            return
        ends = {s[1] for s in self._allowed(symbol, first, None)}
        starts = {s[0] for s in self._of(rest[0], self.shapes)}
        cases: list[tuple[Want, str, Want]]
        if "w" not in ends or "w" not in starts:
            cases = [(None, _SPACE, None)]
        else:
            cases = [("w", _GAP, "w"), ("p", _SPACE, None), ("w", _SPACE, "p")]
        for end, between, start in cases:
            if self._allowed(symbol, first, end):
                for right in self._rights(rest, start, last):
                    yield f"{self._reference(symbol, first, end)} {between} {right}"

    # Regular expressions ----------------------------------------------------------------------------------------------

    def _spaces(self, pattern: str) -> str:
        """What may stand between tokens; a comment goes on to the end of its line, which is written out."""
        text = self.regex(pattern.removesuffix("+"))
        return f'{text} "\\n"' if pattern.endswith("[^\\n]*") else text

    @staticmethod
    def regex(pattern: str) -> str:
        """A regular expression of classes, groups and repetitions in GBNF."""
        parts: list[str] = []
        for token in re.findall(r"\[(?:[^\]\\]|\\.)*\]|\\.|[()|?*+]|[^()|?*+\[\]\\]+", pattern):
            if token in ("?", "*", "+"):
                parts[-1] += token
            elif token[0] == "[" or token in ("(", ")", "|"):
                parts.append(token)
            else:
                parts.append(_quoted(token[1:] if token[0] == "\\" else token))
        return re.sub(r"\( | \)(?=[ )?*+]|$)", lambda m: m[0].strip(" "), " ".join(parts)) if parts else '""'


def _token_name(name: str) -> str:
    return f"{name.lower()}-token"


def _rule_name(name: str, first: Want, last: Want) -> str:
    """GBNF's names have no underscore; `-b` says how a variant begins, `-e` how it ends."""
    kinds = {"w": "word", "p": "sign"}
    begin = f"-begins-{kinds[first]}" if first is not None else ""
    end = f"-ends-{kinds[last]}" if last is not None else ""
    # `root` is where readers begin; some call that `start`.
    return ("program" if name == "start" else name.replace("_", "-")) + begin + end


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


_FIRST = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
_NEXT = "0123456789" + _FIRST


def _characters(characters: str) -> str:
    """A class of characters, with ranges."""
    ranges: list[str] = []
    for character in characters:
        if ranges and ord(character) == ord(ranges[-1][-1]) + 1:
            ranges[-1] = ranges[-1][0] + character
        else:
            ranges.append(character)
    return f"[{''.join(r if len(r) == 1 else f'{r[0]}-{r[1]}' for r in ranges)}]"


def _names_without(words: tuple[str, ...]) -> str:
    """Names that are none of these words, letter by letter: each departs from every word, or ends before its end."""

    def after(prefix: str) -> str:
        letters = sorted({word[len(prefix)] for word in words if word.startswith(prefix) and word != prefix})
        characters = _FIRST if not prefix else _NEXT
        others = "".join(c for c in characters if c not in letters)
        options = [f"{_characters(others)} {_characters(_NEXT)}*"]
        options += [f'"{letter}" {after(prefix + letter)}'.rstrip() for letter in letters]
        if not letters:
            # The end of a word: it goes on, or it is no name.
            return f"{_characters(_NEXT)}+" if prefix in words else f"{_characters(_NEXT)}*"
        group = f"({' | '.join(options)})"
        return group if prefix in words or not prefix else f"{group}?"

    return after("")


@cache
def gbnf() -> str:
    """The grammar in GBNF."""
    return GbnfWriter(read_grammar()).text()
