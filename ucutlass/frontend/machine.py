"""The automaton that runs the table: shifts, reductions, and what recovery from an error asks of it.

Imports the table and the tokens. Nothing here recurses, so the depth of a program costs memory only. Reductions that a
token causes take effect when the token is shifted: at an error the stack is as it was after the token before, so that
everything that could have stood there is known, and a repair goes on from there.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import cast

from ucutlass.frontend.ast import Node
from ucutlass.frontend.lexer import Token
from ucutlass.frontend.table import END, Table

Action = Callable[[list[object]], object]
"""Makes the value of a reduction from the values of its symbols."""


def members(value: object) -> list[object]:
    """The members of a repetition's value; of another value itself."""
    return cast(list[object], value) if isinstance(value, list) else [value]


def collect(values: list[object]) -> object:
    """The value of a repetition: its members in one list, without punctuation."""
    collected = members(values[0])
    if collected is values[0]:
        collected.extend(v for v in values[1:] if not isinstance(v, Token))
        return collected
    return [v for v in values if not isinstance(v, Token)]


class Machine:
    """One run over the tokens of a text."""

    def __init__(
        self, table: Table, tokens: list[Token], actions: Mapping[str, Action], collected: frozenset[str]
    ) -> None:
        """`actions` by label; `collected` are the labels whose value is a list that the user's rule takes apart."""
        self.table = table
        self.tokens = tokens
        self.position = 0
        """Index of the next token. What stands before it has been shifted; what is passed over is taken out."""
        self.barrier = 0
        """Index of the first token that may still be on the stack by itself."""
        self.states = [table.start]
        self.values: list[object] = [None]
        """Beside `states`: the value that led into each."""
        lists = {rule.label for rule in table.rules if rule.is_helper} | collected
        self._reductions: list[tuple[str, int, Action | None, bool]] = []
        for rule in table.rules:
            action = collect if rule.label in lists else actions.get(rule.label)
            assert action is not None or len(rule.symbols) == 1, f"no action for {rule.label}"
            # A list inside of a list is taken apart by `collect` itself, in place.
            flatten = any(s in lists for s in rule.symbols[1:] if rule.is_helper) or (
                not rule.is_helper and any(s in lists or s.startswith("__") for s in rule.symbols)
            )
            self._reductions.append((rule.origin, len(rule.symbols), action, flatten))

    def run(self) -> bool:
        """Goes on to the end of the text, which is True, or to the first token that cannot stand where it does."""
        actions, gotos, tokens = self.table.actions, self.table.gotos, self.tokens
        states, reductions = self.states, self._reductions
        pending: list[int] = []
        popped: list[list[int]] = []
        while True:
            token = tokens[self.position]
            action = actions[states[-1]].get(token.kind)
            if action is None:
                for segment in reversed(popped):
                    states.pop()
                    states.extend(segment)
                return False
            if action < 0:
                origin, length, _, _ = reductions[-1 - action]
                popped.append(states[-length:])
                del states[-length:]
                states.append(gotos[states[-1]][origin])
                pending.append(-1 - action)
                continue
            for index in pending:
                self._reduce_values(index)
            pending.clear()
            popped.clear()
            if token.kind == END:
                return True
            states.append(action)
            self.values.append(token)
            self.position += 1

    def _reduce_values(self, index: int) -> None:
        _, length, action, flatten = self._reductions[index]
        if action is None:
            return
        values = self.values
        children = values[-length:]
        del values[-length:]
        if flatten:
            children = [member for child in children for member in members(child)]
        values.append(action(children))

    @property
    def token(self) -> Token:
        """The token that is next."""
        return self.tokens[self.position]

    # What could stand here --------------------------------------------------------------------------------------------

    def survives(self, kinds: Iterable[str], states: Sequence[int] | None = None) -> int:
        """How many of these tokens could follow here, or in other states, one after the other."""
        stack = list(self.states if states is None else states)
        count = 0
        for kind in kinds:
            while (action := self.table.actions[stack[-1]].get(kind)) is not None and action < 0:
                rule = self.table.rules[-1 - action]
                del stack[-len(rule.symbols) :]
                stack.append(self.table.gotos[stack[-1]][rule.origin])
            if action is None:
                return count
            stack.append(action)
            count += 1
        return count

    def acceptable(self) -> set[str]:
        """Every terminal that could be next."""
        return {kind for kind in (*self.table.terminals, END) if self.survives((kind,))}

    def coming(self, count: int, skip: int = 0) -> list[str]:
        """The kinds of the next tokens."""
        first = self.position + skip
        return [t.kind for t in self.tokens[first : first + count]]

    # Repairs ----------------------------------------------------------------------------------------------------------

    def discard(self, count: int = 1) -> None:
        """Passes over the next tokens, but not over the end."""
        count = min(count, len(self.tokens) - 1 - self.position)
        del self.tokens[self.position : self.position + count]

    def unshift(self) -> Token:
        """Takes the last token back from the stack and drops it; only what was just shifted may be taken back."""
        token = self.take_back()
        self.discard()
        if not isinstance(self.values[-1], Token):
            self.barrier = self.position
        return token

    def take_back(self) -> Token:
        """Makes the token that was just shifted the next one again."""
        token = self.values.pop()
        assert isinstance(token, Token)
        self.states.pop()
        self.position -= 1
        return token

    def depth_of(self, nonterminal: str) -> int | None:
        """How many of the states are left when everything is dropped back to where such a thing may begin."""
        for depth in range(len(self.states), 0, -1):
            if nonterminal in self.table.gotos[self.states[depth - 1]]:
                return depth
        return None

    def settle(self, kind: str) -> None:
        """Makes the reductions that a token of this kind would cause, as if it came next."""
        while (action := self.table.actions[self.states[-1]].get(kind)) is not None and action < 0:
            origin, length, _, _ = self._reductions[-1 - action]
            del self.states[-length:]
            self.states.append(self.table.gotos[self.states[-1]][origin])
            self._reduce_values(-1 - action)

    def drop_to(self, depth: int) -> list[object]:
        """Drops the stack to a depth, and the tokens that led there; what was on it."""
        dropped = self.values[depth:]
        del self.states[depth:]
        del self.values[depth:]
        start = next((_start(member) for value in dropped for member in members(value)), None)
        if start is not None:
            first = next(i for i, token in enumerate(self.tokens) if token.start >= start)
            del self.tokens[first : self.position]
            self.position = first
        return dropped

    def push(self, nonterminal: str, value: object) -> None:
        """Acts as if the text held a nonterminal of this value here."""
        self.states.append(self.table.gotos[self.states[-1]][nonterminal])
        self.values.append(value)
        self.barrier = self.position


def _start(value: object) -> int:
    """Where a value of the stack begins."""
    assert isinstance(value, Token | Node)
    return value.start
