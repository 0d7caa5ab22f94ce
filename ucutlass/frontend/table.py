"""The LALR(1) table of the language, made from `ucu.lark` by Lark once and then read from a cache.

Imports the standard library; Lark only where the cache has no table. Loading Lark and building the table takes a fifth
of a second, reading the cached one a few milliseconds, so Lark stays out of every run but the first.

A cache file holds the grammar that it was made from, so a stale or foreign one is never used. It is written beside its
place and renamed, which is atomic: any number of processes may start at once. Where nothing can be written, or what
is read is damaged, the table is built in memory.
"""

import json
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast
from zlib import crc32

if TYPE_CHECKING:
    from lark import Lark

FORMAT = 1
"""Raised with every change of what a cache file holds."""
GRAMMAR = Path(__file__).with_name("ucu.lark")
END = "$END"
"""Terminal after the last token."""

Json = dict[str, object]


@dataclass(frozen=True, slots=True)
class Terminal:
    """A kind of token."""

    name: str
    literal: bool
    """Whether the pattern is the one text that it matches, rather than a regular expression."""
    pattern: str


@dataclass(frozen=True, slots=True)
class Rule:
    """A production of the table, `origin: symbols`."""

    origin: str
    symbols: tuple[str, ...]
    label: str
    """Name of the action that makes its value: the alias where the grammar gives one, else the origin."""

    @property
    def is_helper(self) -> bool:
        """Whether Lark made it for a repetition; its value is a list that its user takes apart."""
        return self.origin.startswith("__")


@dataclass(frozen=True, slots=True)
class Table:
    """The automaton. Tokens are the names of terminals."""

    terminals: Mapping[str, Terminal]
    ignored: tuple[str, ...]
    """Terminals that only separate tokens."""
    rules: tuple[Rule, ...]
    actions: tuple[Mapping[str, int], ...]
    """By state and terminal: the state to shift to, or `-1 - index` of the rule to reduce by; absent is an error."""
    gotos: tuple[Mapping[str, int], ...]
    """By state and nonterminal: the state after a reduction."""
    start: int

    @property
    def name_words(self) -> frozenset[str]:
        """Terminals of the words that are ordinary names outside of their own position."""
        return frozenset(rule.symbols[0] for rule in self.rules if rule.origin == "name" and rule.symbols[0] != "NAME")

    @property
    def reserved_words(self) -> tuple[str, ...]:
        """The words that are never names."""
        words = (t for t in self.terminals.values() if t.literal and t.pattern.isidentifier())
        return tuple(t.pattern for t in words if t.name not in self.name_words)


def grammar_text() -> str:
    """The grammar, as it stands in the package."""
    return GRAMMAR.read_text(encoding="utf-8")


def build_lark(strict: bool = False) -> "Lark":
    """Lark's own parser of the grammar. `strict` makes every conflict an error; it needs the package `interegular`."""
    from lark import Lark  # 40 ms, and only a run without a cached table needs it

    return Lark(grammar_text(), parser="lalr", lexer="basic", strict=strict)


class _Serializable(Protocol):
    """What of Lark's class is needed, with types."""

    def memo_serialize(self, types_to_memoize: list[type]) -> object: ...


def _serialized(lark: _Serializable) -> tuple[Json, dict[int, Json]]:
    from lark.grammar import Rule as LarkRule
    from lark.lexer import TerminalDef

    # What `lark.tools.standalone` writes: the documented way to carry a parser to where Lark is not.
    return cast(tuple[Json, dict[int, Json]], lark.memo_serialize([TerminalDef, LarkRule]))


_Transition = tuple[int, "int | dict[str, int]"]
"""What Lark says of a state and a symbol: kind of action, and the state to go to or a reference to a rule."""


def build_table() -> Json:
    """The table as plain data, from Lark."""
    data, memo = _serialized(build_lark())
    parser = cast(Json, data["parser"])
    automaton = cast(Json, parser["parser"])
    lexer = cast(Json, parser["lexer_conf"])
    tokens = cast(dict[int, str], automaton["tokens"])
    states = {
        state: {
            tokens[token]: transition for token, transition in sorted(row.items(), key=lambda item: tokens[item[0]])
        }
        for state, row in cast(dict[int, dict[int, _Transition]], automaton["states"]).items()
    }
    start = cast(dict[str, int], automaton["start_states"])["start"]
    end = cast(dict[str, int], automaton["end_states"])["start"]
    numbers = _numbered(start, states)
    rules = {index: number for number, index in enumerate(i for i, m in memo.items() if m["__type__"] == "Rule")}
    terminals = {cast(str, m["name"]) for m in memo.values() if m["__type__"] == "TerminalDef"} | {END}
    actions: list[dict[str, int]] = []
    gotos: list[dict[str, int]] = []
    for state in numbers:
        shifts: dict[str, int] = {}
        jumps: dict[str, int] = {}
        for name, (_, argument) in states[state].items():
            if isinstance(argument, dict):
                shifts[name] = -1 - rules[argument["@"]]
            else:
                (shifts if name in terminals else jumps)[name] = numbers[argument]
        actions.append(shifts)
        gotos.append(jumps)
    # Lark ends when it comes to this state; here it is the last shift.
    actions[numbers[end]][END] = numbers[end]
    return {
        "terminals": [_terminal(m) for m in memo.values() if m["__type__"] == "TerminalDef"],
        "ignored": lexer["ignore"],
        "rules": [_rule(m) for m in memo.values() if m["__type__"] == "Rule"],
        "actions": actions,
        "gotos": gotos,
        "start": numbers[start],
    }


def _numbered(start: int, states: Mapping[int, Mapping[str, _Transition]]) -> dict[int, int]:
    """The states in the order in which they are come to; Lark's own numbers differ from run to run."""
    numbers = {start: 0}
    queue = [start]
    for state in queue:
        for _, argument in states[state].values():
            if isinstance(argument, int) and argument not in numbers:
                numbers[argument] = len(numbers)
                queue.append(argument)
    return numbers


def _terminal(entry: Json) -> tuple[str, bool, str]:
    pattern = cast(Json, entry["pattern"])
    return cast(str, entry["name"]), pattern["__type__"] == "PatternStr", cast(str, pattern["value"])


def _rule(entry: Json) -> tuple[str, list[str], str]:
    origin = cast(str, cast(Json, entry["origin"])["name"])
    symbols = [cast(str, symbol["name"]) for symbol in cast(list[Json], entry["expansion"])]
    return origin, symbols, cast(str | None, entry["alias"]) or origin


def table_from(data: Json) -> Table:
    """The table of plain data. Raises KeyError, TypeError or ValueError where that is damaged."""
    terminals = [Terminal(*entry) for entry in cast(Sequence[tuple[str, bool, str]], data["terminals"])]
    return Table(
        terminals={terminal.name: terminal for terminal in terminals},
        ignored=tuple(cast(Sequence[str], data["ignored"])),
        rules=tuple(
            Rule(origin, tuple(symbols), label)
            for origin, symbols, label in cast(Sequence[tuple[str, Sequence[str], str]], data["rules"])
        ),
        actions=tuple(cast(Sequence[Mapping[str, int]], data["actions"])),
        gotos=tuple(cast(Sequence[Mapping[str, int]], data["gotos"])),
        start=cast(int, data["start"]),
    )


# The cache -----------------------------------------------------------------------------------------------------------


def cache_folder() -> Path | None:
    """The user's folder for what can be made again; None where there is no home."""
    base = os.environ.get("XDG_CACHE_HOME")
    if base and os.path.isabs(base):
        return Path(base) / "ucutlass"
    try:
        return Path.home() / ".cache" / "ucutlass"
    except RuntimeError:
        return None


def _cache_file(grammar: str) -> Path | None:
    folder = cache_folder()
    return folder / f"grammar-{FORMAT}-{crc32(grammar.encode()):08x}.json" if folder is not None else None


def _read_cache(file: Path, grammar: str) -> Table | None:
    try:
        data = json.loads(file.read_bytes())
        if data["grammar"] != grammar or data["format"] != FORMAT:
            return None
        return table_from(data)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _write_cache(file: Path, data: Json) -> None:
    beside = file.with_name(f"{file.name}.{os.getpid()}")
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            beside.write_text(json.dumps(data), encoding="utf-8")
            os.replace(beside, file)
        finally:
            beside.unlink(missing_ok=True)


@cache
def load_table() -> Table:
    """The table of the package's grammar; from the cache where that has it."""
    grammar = grammar_text()
    file = _cache_file(grammar)
    table = _read_cache(file, grammar) if file is not None else None
    if table is None:
        data = build_table()
        if file is not None:
            _write_cache(file, {"format": FORMAT, "grammar": grammar, **data})
        table = table_from(data)
    return table


def scanner(table: Table) -> "re.Pattern[str]":
    """One expression that matches any token as a named group, what separates tokens as no group, else one character."""
    regexes = [t for t in table.terminals.values() if not t.literal and t.name not in table.ignored]
    # Longer patterns first, as in Lark: `1.5` is one number.
    regexes.sort(key=lambda t: -len(t.pattern))
    words = [t for t in table.terminals.values() if t.literal and not t.pattern.isidentifier()]
    words.sort(key=lambda t: -len(t.pattern))
    separators = "|".join(table.terminals[name].pattern for name in table.ignored)
    tokens = "|".join(
        [f"(?P<{t.name}>{t.pattern})" for t in regexes] + [f"(?P<{t.name}>{re.escape(t.pattern)})" for t in words]
    )
    return re.compile(f"(?:{separators})|{tokens}|(?P<BAD>.)", re.DOTALL)
