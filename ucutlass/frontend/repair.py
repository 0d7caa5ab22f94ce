"""Small repairs of a syntax error: a token too much, too few or of the wrong kind.

Imports the site of the error. A repair is reported with a fix-it where parsing goes on well after it, and is made on
the tokens, so that the rest of the program is read as it was meant. Each function looks for one mistake at the token
that does not fit; it answers whether it found it.
"""

from collections.abc import Callable, Sequence

from ucutlass.diagnostics.core import FixIt, Note
from ucutlass.frontend.ast import Name, Statement
from ucutlass.frontend.brackets import CLOSER, OPENER, open_brackets
from ucutlass.frontend.expected import alternatives, expected, found
from ucutlass.frontend.lexer import Token
from ucutlass.frontend.machine import members
from ucutlass.frontend.site import CONVINCING, LOOK, PLAUSIBLE, Site
from ucutlass.frontend.table import END

_CONFUSED: dict[str, tuple[str, ...]] = {
    ":": ("=", "->"),
    "=": (":", "=="),
    "==": ("=",),
    "(": ("[",),
    "{": ("[",),
    "-": ("->",),
    ">": ("->",),
}
"""Signs that are written for another one."""


class Repairs(Site):
    """The repairs, on one automaton."""

    def attempt(self) -> bool:
        """Repairs the error at the next token, if it is one that is known."""
        attempts: Sequence[Callable[[], bool]] = (
            self._trailing_comma,
            self._reserved_word,
            self._target_without_name,
            self._statement_after_return,
            self._missing_return,
            self._unfinished_kernel,
            self._wrong_bracket,
            self._sign,
        )
        return any(attempt() for attempt in attempts)

    def _trailing_comma(self) -> bool:
        token, comma = self.machine.token, self.before()
        if comma is not None and comma.text == "," and not comma.virtual:
            if self.machine.survives((token.kind,), self.machine.states[:-1]):
                fix = self.report.delete(comma)
                self.report.error(
                    "UC0110", comma, f"a comma before {found(token)}, with nothing after it", fixits=[fix]
                )
                self.machine.unshift()
                return True
        if token.text == "," and self.machine.survives(self.machine.coming(1, skip=1)):
            fix = self.report.delete(token)
            what = " or ".join(expected(self.machine)[:2])
            self.report.error("UC0101", token, f"expected {what} before ','", fixits=[fix])
            self.machine.discard()
            return True
        return False

    def _reserved_word(self) -> bool:
        token = self.machine.token
        if token.text not in self.machine.table.reserved_words:
            return False
        if self.machine.survives(("NAME", *self.machine.coming(PLAUSIBLE, skip=1))) < PLAUSIBLE + 1:
            return False
        self.report.error("UC0112", token, f"'{token.text}' is a reserved word and cannot be a name")
        token.kind = "NAME"
        return True

    # Kernels ----------------------------------------------------------------------------------------------------------

    def _statement_after_return(self) -> bool:
        token = self.machine.token
        if not self.accepts("}") or token.kind not in ("NAME", "RETURN") or self.accepts("return"):
            return False
        # Nothing but a new statement begins like this; a missing operator or comma looks otherwise.
        if token.kind == "NAME" and not self._assigns():
            return False
        first = next((t for t in reversed(self.machine.tokens[: self.machine.position]) if t.kind == "RETURN"), None)
        tokens, index = self.machine.tokens, self.machine.position
        while tokens[index].text != "}" and tokens[index].kind != END and not self._begins_kernel(index):
            index += 1
        notes = [self.report.note("the kernel returns here", first)] if first is not None else []
        self.report.error("UC0116", token, f"{found(token)} follows 'return', which ends a kernel", notes)
        self.machine.discard(index - self.machine.position)
        return True

    def _assigns(self) -> bool:
        """Whether `a =` or `a, b =` comes next."""
        count = 1
        while self.after(count).text == "," and self.after(count + 1).kind == "NAME":
            count += 2
        return self.after(count).text == "="

    def _begins_kernel(self, index: int) -> bool:
        tokens = self.machine.tokens
        return tokens[index].kind == "KERNEL" and [t.text for t in tokens[index + 2 : index + 3]] == ["("]

    def _missing_return(self) -> bool:
        token = self.machine.token
        if token.text != "}" or self.machine.survives(("RETURN",)) == 0:
            return False
        names = self._last_targets()
        fixits: list[FixIt] = []
        if names:
            fixits = [self.report.insert(self.last_end, f"\n  return {', '.join(names)}", f"return {', '.join(names)}")]
        self.report.error("UC0115", token, "the kernel ends without 'return'", fixits=fixits)
        self.insert("return", "0")
        return True

    def _last_targets(self) -> list[str]:
        """The names that the last statement assigns."""
        values = self.machine.values
        for index in range(len(values) - 1, -1, -1):
            value, last = values[index], members(values[index])[-1]
            if isinstance(value, Token) and value.text == "=":
                return [name.text for name in members(values[index - 1]) if isinstance(name, Name | Token)]
            if isinstance(last, Statement):
                return [name.text for name in last.targets]
        return []

    def _unfinished_kernel(self) -> bool:
        """`kernel NAME (` inside of a kernel, where `kernel` was taken for the name of a value."""
        word, token = self.before(), self.machine.token
        if word is None or word.kind != "KERNEL" or token.kind != "NAME" or self.after().text != "(":
            return False
        if self.machine.depth_of("statement") is None:
            return False
        self.machine.take_back()
        self.report.error("UC0115", word, "the kernel before this one has no 'return' and no '}'")
        self.insert("return", "0", "}")
        return True

    def _target_without_name(self) -> bool:
        """`target` and at once `kernel k`, where `kernel` was taken for the name of the target."""
        word, token = self.before(), self.before(2)
        if word is None or token is None or word.kind != "KERNEL" or token.kind != "TARGET":
            return False
        self.report.error("UC0101", token, "expected a name after 'target', such as sm_90a")
        self.machine.take_back()
        self.insert("")
        return True

    # One sign ---------------------------------------------------------------------------------------------------------

    def _wrong_bracket(self) -> bool:
        token = self.machine.token
        if token.text not in OPENER:
            return False
        opened = open_brackets(self.machine.tokens, self.machine.position)
        rest = self.machine.coming(LOOK, skip=1)
        removed = self.machine.survives(rest)
        meant = self._score(CLOSER[opened[-1].text], rest) + 1 if opened else 0
        if OPENER[token.text] not in (bracket.text for bracket in opened) and meant <= removed:
            fix = self.report.delete(token)
            self.report.error("UC0117", token, f"{found(token)} closes nothing", fixits=[fix])
            self.machine.discard()
            return True
        right = CLOSER[opened[-1].text]
        if right == token.text:
            return False
        notes = [self.report.note(f"'{opened[-1].text}' is opened here", opened[-1])] if not opened[-1].virtual else []
        self._mend_bracket(token, right, notes)
        return True

    def _mend_bracket(self, token: Token, right: str, notes: Sequence[Note]) -> None:
        """Swaps two brackets, puts the right one before the wrong one, or in its place: what lets most follow."""
        kind, following = self.kinds[right], self.after()
        rest = self.machine.coming(LOOK, skip=1)
        swapped = self.machine.survives([kind, token.kind, *rest[1:]]) if following.text == right else 0
        inserted = self.machine.survives([kind, token.kind, *rest]) - 1
        replaced = self.machine.survives([kind, *rest])
        best = max(swapped, inserted, replaced)
        enough = best >= min(len(rest), CONVINCING)
        fixits: list[FixIt] = []
        if best <= 1:
            message = f"expected '{right}', found {found(token)}"
            self.machine.discard()
        elif best == swapped:
            message = f"'{right}' comes before {found(token)}"
            fixits = [self.report.replace(token, right), self.report.replace(following, token.text)]
            following.kind, following.text, token.kind, token.text = token.kind, token.text, kind, right
        elif best == inserted:
            message = f"expected '{right}' before {found(token)}"
            fixits = [self.report.insert(self.last_end, right)]
            self.insert(right)
        else:
            message = f"expected '{right}' in place of {found(token)}"
            fixits = [self.report.replace(token, right)]
            token.kind, token.text = kind, right
        self.report.error("UC0117", token, message, notes, fixits if enough else [])

    def _sign(self) -> bool:
        """The sign that, put in or in place of the token, lets most of what follows stand."""
        token, rest = self.machine.token, self.machine.coming(LOOK)
        if token.kind == END:
            return False
        # What begins a line rather begins a statement than goes on in a list whose comma was forgotten.
        signs = [")", "]", ","] if self.begins_line(token) else [",", ")", "]"]
        signs += [":", "=", "->", "[", "{", "}"]
        named = self.before(2)
        if named is not None and named.kind == "KERNEL":
            signs.append("(")
        candidates = [(self._score(text, rest), True, text) for text in signs]
        for text in _CONFUSED.get(token.text, ()):
            candidates.append((self._score(text, rest[1:]) + 1, False, text))
        if token.text in ("=", ":"):
            candidates.append((self.machine.survives(rest[1:]), False, ""))
        # The first of the best, so in the order of the signs.
        score, missing, text = max(candidates, key=lambda candidate: candidate[0])
        if score < (PLAUSIBLE if missing else 2):
            return False
        enough = score >= min(len(rest), CONVINCING)
        if missing:
            self._report_missing(text, enough)
            self.insert(text)
        elif not text:
            what = alternatives(expected(self.machine))
            fixits = [self.report.delete(token)] if enough else []
            self.report.error("UC0101", token, f"expected {what}, found {found(token)}", fixits=fixits)
            self.machine.discard()
        else:
            fixits = [self.report.replace(token, text)] if enough else []
            self.report.error("UC0101", token, f"expected '{text}' in place of {found(token)}", fixits=fixits)
            token.kind, token.text = self.kinds[text], text
        return True

    def _score(self, text: str, rest: Sequence[str]) -> int:
        """How many of the tokens could follow a sign here; less than 0 where the sign itself could not."""
        return self.machine.survives([self.kinds[text], *rest]) - 1

    def _report_missing(self, text: str, enough: bool) -> None:
        token = self.machine.token
        spaced = {"=": " =", "->": " ->", "==": " ==", "{": " {", "}": "\n}"}.get(text, text)
        fixits = [self.report.insert(self.last_end, spaced)] if enough else []
        notes: list[Note] = []
        code = "UC0101"
        message = f"expected '{text}' before {found(token)}"
        if text == ",":
            code, message = "UC0118", f"a comma is missing before {found(token)}"
        elif text in OPENER:
            code = "UC0117"
            opened = open_brackets(self.machine.tokens, self.machine.position)
            notes = [self.report.note(f"'{opened[-1].text}' is opened here", opened[-1])] if opened else []
        self.report.error(code, token, message, notes, fixits)
