"""The place of a syntax error: the tokens around it, and what may be done to them.

Imports the automaton and the reports.
"""

from ucutlass.frontend.expected import alternatives, expected, found
from ucutlass.frontend.lexer import Token
from ucutlass.frontend.machine import Machine
from ucutlass.frontend.report import Reporter

LOOK = 30
"""Tokens that a repair is tried on."""
CONVINCING = 8
"""Tokens that must follow for a fix-it to be offered, unless the text ends before."""
PLAUSIBLE = 3
"""Tokens that must follow for parsing to go on from a repair."""


class Site:
    """Where the automaton stands: at the first token that does not fit."""

    def __init__(self, machine: Machine, report: Reporter) -> None:
        self.machine = machine
        self.report = report
        self.kinds = {t.pattern: t.name for t in machine.table.terminals.values() if t.literal}
        """Terminal of each sign and word."""
        self.reported = False
        """Whether the error has been reported, though nothing could be done about it."""

    def before(self, count: int = 1) -> Token | None:
        """The token that stands `count` places before the next one."""
        index = self.machine.position - count
        return self.machine.tokens[index] if index >= self.machine.barrier else None

    def after(self, count: int = 1) -> Token:
        """The token that stands `count` places after the next one."""
        tokens = self.machine.tokens
        return tokens[min(self.machine.position + count, len(tokens) - 1)]

    @property
    def last_end(self) -> int:
        """Where the last token ends that was read."""
        return self.machine.tokens[self.machine.position - 1].end if self.machine.position else 0

    def accepts(self, *texts: str) -> bool:
        """Whether these signs or words could follow."""
        return self.machine.survives([self.kinds[t] for t in texts]) == len(texts)

    def begins_line(self, token: Token) -> bool:
        """Whether only white space stands before a token on its line."""
        text = self.report.source.text
        return not text[text.rfind("\n", 0, token.start) + 1 : token.start].strip()

    def in_expression(self) -> bool:
        """Whether an operator could follow."""
        return self.accepts("+", "(") and self.accepts(">>")

    def insert(self, *texts: str) -> None:
        """Puts made-up tokens before the next one: signs, words, or a whole number where it says `0`."""
        at = self.last_end
        kinds = [self.kinds.get(text, "INTEGER" if text == "0" else "NAME") for text in texts]
        made_up = [Token(kind, text, at, at) for kind, text in zip(kinds, texts, strict=True)]
        self.machine.tokens[self.machine.position : self.machine.position] = made_up

    def generic_error(self) -> None:
        """What stands here, and everything that could."""
        token = self.machine.token
        before = self.before()
        code = "UC0114" if before is not None and before.text == ">>" else "UC0101"
        self.report.error(code, token, f"expected {alternatives(expected(self.machine))}, found {found(token)}")
