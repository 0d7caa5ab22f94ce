"""What the parser does at a syntax error: report it once, repair it if it is small, else go on at the next statement.

Imports the automaton, the repairs and the reports. A broken statement leaves the names that it would have assigned, a
broken header leaves a kernel marked as such, so that what follows gives no errors that are consequences.
"""

from ucutlass.diagnostics.core import FixIt
from ucutlass.frontend.ast import Kernel, Name, Program, Statement
from ucutlass.frontend.brackets import CLOSER, after_bracket, open_brackets
from ucutlass.frontend.characters import BadCharacters
from ucutlass.frontend.expected import alternatives, expected, found
from ucutlass.frontend.habits import Habits
from ucutlass.frontend.lexer import Token
from ucutlass.frontend.machine import Machine, members
from ucutlass.frontend.repair import Repairs
from ucutlass.frontend.report import Reporter
from ucutlass.frontend.table import END

_MOST = 60
"""Syntax errors after which the rest of the text is left alone."""
_NOTED = 4
"""Open brackets that a message names."""
_STUCK = 3
"""Repairs at one token before the statement is given up."""


class Recovery:
    """Recovery for one run of an automaton."""

    def __init__(self, machine: Machine, report: Reporter) -> None:
        self.machine = machine
        self.report = report
        self.habits = Habits(machine, report)
        self.repairs = Repairs(machine, report)
        self.kinds = self.repairs.kinds
        self._errors = 0
        self._stuck = 0
        self._place = -1

    def program(self) -> Program | None:
        """The tree of what can be understood; everything else is reported."""
        legible = BadCharacters(self.machine.tokens, self.report).remove()
        while legible and not self.machine.run():
            if not self.recover():
                break
        for value in self.machine.values:
            if isinstance(value, Program):
                return value
        return self._unfinished_program()

    def _unfinished_program(self) -> Program | None:
        """What was read where the end was not reached."""
        kernels: list[Kernel] = []
        target: Name | None = None
        for value in self.machine.values:
            kernels += [member for member in members(value) if isinstance(member, Kernel)]
            if isinstance(value, Name) and target is None and not kernels:
                target = value
        return Program(0, len(self.report.source.text), target, kernels) if kernels else None

    def recover(self) -> bool:
        """Handles the error at the next token; whether the automaton may run on."""
        self._errors += 1
        if self._errors > _MOST:
            return False
        at = self.machine.token.start
        self._stuck = self._stuck + 1 if at == self._place else 0
        self._place = at
        if self.machine.token.kind == END:
            return self._end_of_file()
        if self._stuck > 2 * _STUCK:
            return False
        if self._stuck < _STUCK and (self._top_level() or self.habits.attempt() or self.repairs.attempt()):
            return True
        if self._stuck < _STUCK and not self.habits.reported:
            self.repairs.generic_error()
        self.habits.reported = False
        return self._give_up_statement()

    # Between kernels --------------------------------------------------------------------------------------------------

    def _top_level(self) -> bool:
        """A `target` that comes too late, or another word for `kernel`."""
        token = self.machine.token
        if not self.machine.survives(("KERNEL",)) or self.machine.survives(("NAME",)):
            return False
        if token.kind == "TARGET":
            self._late_target(token)
            return True
        name, bracket = self.repairs.after(1), self.repairs.after(2)
        if token.kind == "NAME" and name.kind == "NAME" and bracket.text == "(":
            fix = self.report.replace(token, "kernel")
            self.report.error("UC0101", token, f"expected 'kernel' in place of {found(token)}", fixits=[fix])
            token.kind = "KERNEL"
            return True
        return False

    def _late_target(self, token: Token) -> None:
        name = self.repairs.after(1)
        place = (token.start, name.end if name.kind == "NAME" else token.end)
        first = self.machine.tokens[1]
        if self.machine.tokens[0].kind == "TARGET":
            notes = [self.report.note("the first target", first)]
            fix = self.report.delete(place)
            self.report.error("UC0107", place, "a file has one target, and this is another", notes, [fix])
        else:
            text = self.report.source.text[place[0] : place[1]]
            fixits = [self.report.insert(0, f"{text}\n", f"move '{text}' to the top"), self.report.delete(place)]
            self.report.error("UC0109", place, "the target stands before every kernel", fixits=fixits)
        self.machine.discard(2 if name.kind == "NAME" else 1)

    # The end of the file ----------------------------------------------------------------------------------------------

    def _end_of_file(self) -> bool:
        at = self.repairs.last_end
        if self.machine.survives(("KERNEL",)) and not self.machine.survives(("NAME",)):
            if not self.report.errors:
                message = "the file has no kernel: kernel NAME(ARG: TYPE, …) -> TYPE { return … }"
                self.report.error("UC0108", (at, at), message)
            return False
        if self._stuck:
            return False
        opened = open_brackets(self.machine.tokens, self.machine.position)
        closers = [CLOSER[bracket.text] for bracket in reversed(opened)]
        where = "in a kernel" if closers[-1:] == ["}"] else "in the middle of the program"
        wanted = alternatives(expected(self.machine))
        notes = [self.report.note(f"'{b.text}' is opened here", b) for b in opened[-_NOTED:] if not b.virtual]
        fixits: list[FixIt] = []
        if self._completes(closers):
            text = "".join("\n}" if closer == "}" else closer for closer in closers)
            fixits = [self.report.insert(at, text, f"close {'what is open' if len(closers) > 1 else 'it'}")]
            shown = " ".join(f"'{closer}'" for closer in closers[:_NOTED])
            wanted = f"{shown} and {len(closers) - _NOTED} more" if len(closers) > _NOTED else shown
        self.report.error("UC0103", (at, at), f"the file ends {where}, expected {wanted}", notes, fixits)
        if fixits:
            self.repairs.insert(*closers)
            return True
        unfinished = [*closers[:-1], "return", "0", *closers[-1:]]
        if self._completes(unfinished):
            self.repairs.insert(*unfinished)
            return True
        return self._give_up_statement()

    def _completes(self, texts: list[str]) -> bool:
        """Whether the program would end with these tokens."""
        kinds = [*(self.kinds.get(text, "INTEGER") for text in texts), END]
        return self.machine.survives(kinds) == len(kinds)

    # Going on at the next statement -----------------------------------------------------------------------------------

    def _give_up_statement(self) -> bool:
        """Drops what was begun and goes on at the next statement, or kernel where no statement was begun."""
        for kind in ("RETURN", "KERNEL"):
            # What is complete as it stands is kept.
            if self.machine.survives((kind,)) and not self.machine.survives(("NAME",)) == (kind == "KERNEL"):
                self.machine.settle(kind)
        depth = self.machine.depth_of("statement")
        if depth is None:
            return self._give_up_header()
        begun = self.machine.values[depth:]
        in_result = bool(begun) and isinstance(begun[0], Token) and begun[0].kind == "RETURN"
        first = self._first_token(begun)
        index = self._next_statement(first, in_result)
        targets = self._targets(begun, self.machine.position, index)
        count = index - self.machine.position
        self.machine.drop_to(depth)
        self.machine.discard(count)
        token = self.machine.token
        if not in_result:
            self.machine.push("statement", Statement(first.start, token.start, targets, None))
        if in_result or token.text == "}" or token.kind in ("KERNEL", END):
            self.repairs.insert("return", "0", *(() if token.text == "}" else ("}",)))
        return True

    def _first_token(self, begun: list[object]) -> Token:
        """The first token of the statement that fails."""
        for member in members(begun[0]) if begun else ():
            if isinstance(member, Name | Token):
                start = member.start
                return next(t for t in self.machine.tokens if t.start >= start and not t.virtual)
        return self.machine.token

    def _targets(self, begun: list[object], position: int, end: int) -> list[Name]:
        """The names that the dropped text would have assigned: those left of its first `=`, and of later ones."""
        tokens = self.machine.tokens
        names: list[Name] = []
        for value in begun:
            if isinstance(value, Token) and value.text == "=":
                break
            for member in members(value):
                if isinstance(member, Name):
                    names.append(member)
                elif isinstance(member, Token) and member.text.isidentifier():
                    names.append(Name(member.start, member.end, member.text, (member.start, member.end)))
        for token, following in zip(tokens[position:end], tokens[position + 1 : end + 1], strict=True):
            if token.text.isidentifier() and following.text == "=":
                names.append(Name(token.start, token.end, token.text, (token.start, token.end)))
        return list({name.text: name for name in names}.values())

    def _next_statement(self, first: Token, in_result: bool) -> int:
        """Where to go on: the next token that begins a statement or ends the kernel."""
        tokens = self.machine.tokens
        column = self._column(first)
        index = self.machine.position
        begun = index > 0 and tokens[index - 1].start >= first.start
        if not begun and not in_result:
            # Nothing was read of the statement, so its first token is what does not fit: go on after it.
            index = min(index + 1, len(tokens) - 1)
        while index < len(tokens) - 1:
            token = tokens[index]
            if token.text == "}" or self._begins_kernel(index):
                return index
            if not in_result and (token.kind == "RETURN" or self._begins_statement(index, column)):
                return index
            index = after_bracket(tokens, index) if token.text == "{" else index + 1
        return index

    def _begins_statement(self, index: int, column: int | None) -> bool:
        """Whether `a =` or `a, b =` stands at the start of a line, no further in than the statement that failed."""
        tokens = self.machine.tokens
        token = tokens[index]
        own_column = self._column(token)
        if not token.text.isidentifier() or own_column is None or (column is not None and own_column > column):
            return False
        while tokens[index].text.isidentifier() and tokens[index + 1].text == ",":
            index += 2
        return tokens[index].text.isidentifier() and tokens[index + 1].text == "="

    def _column(self, token: Token) -> int | None:
        """The column of a token that is the first of its line, else None."""
        text = self.report.source.text
        line = text.rfind("\n", 0, token.start) + 1
        return token.start - line if text[line : token.start].strip() == "" else None

    def _begins_kernel(self, index: int) -> bool:
        tokens = self.machine.tokens
        if tokens[index].kind != "KERNEL" or index + 2 >= len(tokens):
            return False
        return tokens[index + 1].text.isidentifier() and tokens[index + 2].text == "("

    def _give_up_header(self) -> bool:
        """Goes on at the body of a kernel whose header makes no sense, or at the next kernel."""
        depth = self.machine.depth_of("kernel")
        tokens = self.machine.tokens
        if depth is None:
            return False
        index = self.machine.position
        if tokens[index].kind == "KERNEL":
            index += 1
        started = len(self.machine.states) > depth
        while (
            index < len(tokens) - 1 and not self._begins_kernel(index) and not (started and tokens[index].text == "{")
        ):
            index = after_bracket(tokens, index) if tokens[index].text == "{" else index + 1
        count = index - self.machine.position
        self.machine.drop_to(depth)
        self.machine.discard(count)
        if self.machine.token.text == "{":
            self.repairs.insert("kernel", "_", "(", ")", "->", "_", "[", "]")
        return True
