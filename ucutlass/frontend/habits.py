"""Habits from other languages, and forms that look as if the language had them: what to write instead.

Imports the site of the error. Each function looks for one habit and answers whether it found it; it has then reported
it and seen to it that the rest of the program is read as it was meant.
"""

import re
from collections.abc import Callable, Sequence

from ucutlass.diagnostics.core import FixIt
from ucutlass.frontend.ast import Call, Name, View
from ucutlass.frontend.brackets import after_bracket, open_brackets
from ucutlass.frontend.lexer import Token
from ucutlass.frontend.site import Site
from ucutlass.frontend.table import END

_COMPARISONS = {"==": "eq", "!=": "ne", "<=": "le", ">=": "ge", "<": "lt", ">": "gt"}
_DECLARATIONS = frozenset(("let", "var", "const", "val", "tensor"))
_SIZE_OPERATORS = frozenset("+-*/%")
_SUFFIXES = frozenset(("f", "h", "u", "l", "ul", "ll"))


class Habits(Site):
    """The habits, on one automaton."""

    def attempt(self) -> bool:
        """Handles the error at the next token, if a habit is behind it."""
        attempts: Sequence[Callable[[], bool]] = (
            self._number_form,
            self._comment,
            self._power,
            self._arrow,
            self._conjunction,
            self._condition_in_brackets,
            self._pipe_sign,
            self._subscript,
            self._control,
            self._declaration,
            self._bare_call,
            self._missing_value,
            self._bracketed_results,
            self._tuple,
            self._size_expression,
            self._pipe_without_call,
            self._call_on_value,
            self._operator,
        )
        return any(attempt() for attempt in attempts)

    # Numbers ----------------------------------------------------------------------------------------------------------

    def _number_form(self) -> bool:
        before = self.before()
        if before is None or before.virtual:
            return False
        number = self.before(2)
        if number is not None and before.kind == "NAME" and self.accepts("=") and number.end == before.start:
            # The suffix was taken for the name of the next statement.
            if number.kind in ("INTEGER", "FLOAT"):
                self.machine.take_back()
                return self._suffixed_number(number)
        return self._point_at_the_end(before) or self._point_at_the_start() or self._suffixed_number(before)

    def _point_at_the_end(self, point: Token) -> bool:
        """`1.`; the point is the token before the next one."""
        number = self.before(2)
        if point.text != "." or number is None or number.kind != "INTEGER" or number.end != point.start:
            return False
        place = (number.start, point.end)
        fix = self.report.replace(place, f"{number.text}.0")
        self.report.error("UC0111", place, f"'{number.text}.' needs a digit after the point", fixits=[fix])
        self.machine.unshift()
        return True

    def _point_at_the_start(self) -> bool:
        point, number = self.machine.token, self.after()
        if point.text != "." or number.kind not in ("INTEGER", "FLOAT") or number.start != point.end:
            return False
        if not self.machine.survives(("FLOAT",)):
            return False
        place, text = (point.start, number.end), f"0.{number.text}"
        whole = number.kind == "INTEGER"
        fixits = [self.report.replace(place, text)] if whole else []
        self.report.error("UC0111", place, f"'.{number.text}' needs a digit before the point", fixits=fixits)
        index = self.machine.position
        self.machine.tokens[index : index + 2] = [Token("FLOAT", text if whole else number.text, *place)]
        return True

    def _suffixed_number(self, number: Token) -> bool:
        suffix = self.machine.token
        if number.kind not in ("INTEGER", "FLOAT") or suffix.kind != "NAME" or number.end != suffix.start:
            return False
        written = number.text + suffix.text
        place = (number.start, suffix.end)
        if re.fullmatch(r"[1-9]\d*(x[1-9]\d*)+", written) and self.accepts(",") and self._in_brackets():
            return self._shape_in_one_word(written, place)
        plain, why = None, "numbers have no suffixes"
        if written.startswith(("0x", "0X")):
            why = "numbers are decimal"
            digits = written[2:18]
            plain = str(int(digits, 16)) if digits and digits.strip("0123456789abcdefABCDEF") == "" else None
        elif suffix.text.startswith("_") and suffix.text.replace("_", "").isdigit():
            plain, why = written.replace("_", ""), "digits are not grouped"
        elif suffix.text.lower() in _SUFFIXES:
            plain = number.text
        fixits = [self.report.replace(place, plain)] if plain is not None else []
        self.report.error("UC0111", place, f"'{written}' is not a number: {why}", fixits=fixits)
        self.machine.discard()
        return True

    def _shape_in_one_word(self, written: str, place: tuple[int, int]) -> bool:
        """`128x256x64`."""
        numbers = written.split("x")
        fix = self.report.replace(place, ", ".join(numbers))
        self.report.error("UC0111", place, f"'{written}' is not a number: write {', '.join(numbers)}", fixits=[fix])
        self.machine.discard()
        tokens = [token for number in numbers[1:] for token in ((self.kinds[","], ","), ("INTEGER", number))]
        index = self.machine.position
        self.machine.tokens[index:index] = [Token(kind, text, place[1], place[1]) for kind, text in tokens]
        return True

    # Signs ------------------------------------------------------------------------------------------------------------

    def _comment(self) -> bool:
        token, slash = self.machine.token, self.before()
        text = self.report.source.text
        if token.text == "/" and slash is not None and slash.text == "/" and slash.end == token.start:
            self.machine.unshift()
            start = slash.start
        elif token.text == "/" and text.startswith(("//", "/*"), token.start):
            start = token.start
        else:
            return False
        end = text.find("\n", token.start)
        end = len(text) if end < 0 else end
        place = (start, start + 2)
        fixits = [self.report.replace(place, "#")] if text.startswith("//", start) else []
        self.report.error("UC0101", place, "a comment begins with '#' and ends with the line", fixits=fixits)
        while self.machine.token.start < end and self.machine.token.kind != END:
            self.machine.discard()
        return True

    def _power(self) -> bool:
        token, star = self.machine.token, self.before()
        if token.text != "*" or star is None or star.text != "*" or star.end != token.start:
            return False
        message = "there is no operator '**': a power is pow(x, n), a square is square(x)"
        self.report.error("UC0101", (star.start, token.end), message)
        self.machine.discard()
        return True

    def _arrow(self) -> bool:
        """`=>` for `->`, `:=` for `=`."""
        token, following = self.machine.token, self.after()
        written = token.text + following.text
        meant = {"=>": "->", ":=": "="}.get(written)
        if meant is None or following.start != token.end or not self.accepts(meant):
            return False
        place = (token.start, following.end)
        fix = self.report.replace(place, meant)
        self.report.error("UC0101", place, f"expected '{meant}', found '{written}'", fixits=[fix])
        token.kind, token.text = self.kinds[meant], meant
        del self.machine.tokens[self.machine.position + 1]
        return True

    def _conjunction(self) -> bool:
        """`and` between conditions, or between anything else that commas separate."""
        token = self.machine.token
        if token.text != "and" or self.in_expression() or not self.accepts(","):
            return False
        before = self.before()
        place = (before.end if before is not None else token.start, token.end)
        fix = self.report.replace(place, ",", "put a comma")
        self.report.error("UC0101", token, "expected ',' in place of 'and'", fixits=[fix])
        token.kind, token.text = self.kinds[","], ","
        return True

    def _pipe_sign(self) -> bool:
        """`v -> op(…)` and `v > op()`."""
        token, name, bracket, closer = self.machine.token, self.after(), self.after(2), self.after(3)
        if token.text not in ("->", ">") or not self.accepts(">>") or name.kind != "NAME" or bracket.text != "(":
            return False
        if token.text == ">" and closer.text != ")":
            return False
        fix = self.report.replace(token, ">>")
        self.report.error("UC0101", token, f"expected '>>' in place of '{token.text}'", fixits=[fix])
        token.kind, token.text = self.kinds[">>"], ">>"
        return True

    def _subscript(self) -> bool:
        token = self.machine.token
        if token.text != "[" or not self.in_expression():
            return False
        self.report.error("UC0101", token, "values are not indexed: slice(x, dim, start, end) takes a part of one")
        end = after_bracket(self.machine.tokens, self.machine.position)
        self.machine.discard(end - self.machine.position)
        return True

    def _control(self) -> bool:
        """`if` and `for`, which begin no statement."""
        word, token = self.before(), self.machine.token
        messages = {
            "if": "there is no 'if': where(cond, a, b) chooses for each element",
            "for": "there are no loops: operations work on whole tensors",
            "while": "there are no loops: operations work on whole tensors",
        }
        if word is None or word.text not in messages or not self.accepts("=") or token.text in ("=", ","):
            return False
        self.report.error("UC0101", word, messages[word.text])
        self.reported = True
        return False

    def _operator(self) -> bool:
        token = self.machine.token
        if not self.in_expression() or not self.machine.survives(("PLUS", self.after().kind)):
            return False
        if token.text == "==" and self.accepts("="):
            self.report.error("UC0101", token, "expected '=', found '=='", fixits=[self.report.replace(token, "=")])
            token.kind, token.text = self.kinds["="], "="
            return True
        if token.text in _COMPARISONS:
            message = f"there is no operator '{token.text}' on tensors: write {_COMPARISONS[token.text]}(a, b)"
        elif token.text == "@":
            message = "there is no operator '@': the product of matrices is gemm(a, b)"
        elif token.text == "%":
            message = "there is no operator '%' on tensors"
        else:
            return False
        self.report.error("UC0101", token, message)
        token.kind, token.text = "PLUS", "+"
        return True

    # Statements -------------------------------------------------------------------------------------------------------

    def _declaration(self) -> bool:
        word, token = self.before(), self.machine.token
        if word is None or word.text not in _DECLARATIONS or token.kind != "NAME" or not self.accepts("="):
            return False
        fix = self.report.delete((word.start, token.start), f"remove '{word.text}'")
        self.report.error("UC0101", word, f"a statement is NAME = EXPRESSION, without '{word.text}'", fixits=[fix])
        self.machine.unshift()
        return True

    def _bare_call(self) -> bool:
        """`relu(x)` or `x >> relu()` where a statement begins."""
        name, token = self.before(), self.machine.token
        if name is None or not name.text.isidentifier() or token.text not in ("(", ">>", ".") or name.virtual:
            return False
        if not self.accepts("=") or self.machine.survives((token.kind,)) or self._in_brackets():
            return False
        end = after_bracket(self.machine.tokens, self.machine.position) if token.text == "(" else 0
        if self.machine.tokens[end].text == "=":
            self.report.error("UC0101", name, "left of '=' stands the name of a new value, not a call")
            self.machine.discard(end - self.machine.position)
            return True
        self.report.error("UC0101", name, "the value of this expression has no name: write NAME = EXPRESSION")
        self.machine.take_back()
        self.insert("", "=")
        return True

    def _in_brackets(self) -> bool:
        opened = open_brackets(self.machine.tokens, self.machine.position)
        return bool(opened) and opened[-1].text != "{"

    def _missing_value(self) -> bool:
        """`y =`, `y = x +` or `y = 1.` at the end of a line, where the next statement was taken for what follows."""
        token, name, sign = self.machine.token, self.before(), self.before(2)
        if token.text != "=" or name is None or sign is None or not self.begins_line(name):
            return False
        number = self.before(3)
        if sign.text == "." and number is not None and number.kind == "INTEGER" and number.end == sign.start:
            self.machine.take_back()
            return self._point_at_the_end(sign)
        if sign.text not in ("=", "+", "-", "*", "/") or name.virtual:
            return False
        self.report.error("UC0101", name, f"expected an expression after '{sign.text}', found the next statement")
        self.machine.take_back()
        self.insert("0")
        return True

    def _tuple(self) -> bool:
        """`return (a, b)`."""
        tokens = self.machine.tokens
        opened = open_brackets(tokens, self.machine.position)
        if self.machine.token.text != "," or not opened or opened[-1].text != "(":
            return False
        first = tokens.index(opened[-1])
        if tokens[first - 1].kind != "RETURN" or tokens[first - 1].virtual:
            return False
        last = after_bracket(tokens, first) - 1
        if tokens[last].text != ")":
            return False
        fixits = [self.report.delete(tokens[first]), self.report.delete(tokens[last])]
        message = "several values are returned without parentheses: return a, b"
        self.report.error("UC0101", tokens[first], message, fixits=fixits)
        self._read_again("statement", first - 1, first, last)
        return True

    def _read_again(self, nonterminal: str, start: int, first: int, last: int) -> None:
        """Reads what began at `start` again, without the brackets at `first` and `last`."""
        tokens = self.machine.tokens
        depth = self.machine.depth_of(nonterminal)
        assert depth is not None
        del tokens[last], tokens[first]
        self.machine.position -= 1
        begun = tokens[start : self.machine.position]
        self.machine.drop_to(depth)
        tokens[self.machine.position : self.machine.position] = begun

    def _condition_in_brackets(self) -> bool:
        """`where (M % 8 == 0)`."""
        tokens = self.machine.tokens
        opened = open_brackets(tokens, self.machine.position)
        if self.machine.token.text not in _COMPARISONS or not opened or opened[-1].text != "(" or self.in_expression():
            return False
        first = tokens.index(opened[-1])
        last = after_bracket(tokens, first) - 1
        if tokens[first - 1].text not in ("where", ",") or tokens[last].text != ")":
            return False
        if self.machine.depth_of("condition") is None:
            return False
        fixits = [self.report.delete(tokens[first]), self.report.delete(tokens[last])]
        self.report.error("UC0101", tokens[first], "a condition stands without parentheses", fixits=fixits)
        self._read_again("condition", first, first, last)
        return True

    # Types ------------------------------------------------------------------------------------------------------------

    def _bracketed_results(self) -> bool:
        tokens, index = self.machine.tokens, self.machine.position
        arrow, token = self.before(), self.machine.token
        if token.text != "(" or arrow is None or arrow.text != "->":
            return False
        last = after_bracket(tokens, index) - 1
        if tokens[last].text != ")":
            return False
        fixits = [self.report.delete(token), self.report.delete(tokens[last])]
        self.report.error("UC0101", token, "result types stand without parentheses", fixits=fixits)
        del tokens[last], tokens[index]
        return True

    def _size_expression(self) -> bool:
        """`f16[2 * M]`: sizes of types are whole numbers or names."""
        token = self.machine.token
        first = self.before()
        if token.text not in _SIZE_OPERATORS or self.in_expression() or not self.accepts("]"):
            return False
        if first is None or not (first.kind == "INTEGER" or first.text.isidentifier()):
            return False
        tokens, index = self.machine.tokens, self.machine.position
        while tokens[index].text not in (",", "]") and tokens[index].kind != END:
            index += 1
        place = (first.start, tokens[index - 1].end)
        written = self.report.source.text[place[0] : place[1]]
        message = f"a size of a type is a whole number or a name: write P here, and 'where P == {written}'"
        self.report.error("UC0101", place, message)
        self.machine.discard(index - self.machine.position)
        return True

    # Calls and suffixes -----------------------------------------------------------------------------------------------

    def _pipe_without_call(self) -> bool:
        name, arrow = self.before(), self.before(2)
        if name is None or arrow is None or arrow.text != ">>" or name.kind != "NAME":
            return False
        if self.machine.survives((self.kinds["("], self.kinds[")"], self.machine.token.kind)) < 3:
            return False
        fix = self.report.insert(name.end, "()")
        message = f"the right side of '>>' must be a call: {name.text}()"
        self.report.error("UC0114", name, message, fixits=[fix])
        self.insert("(", ")")
        return True

    def _call_on_value(self) -> bool:
        """`x.T.with_tile(…)` and `x.relu()`: parentheses after what is not a call's own suffix."""
        token, name, point = self.machine.token, self.before(), self.before(2)
        if token.text != "(" or name is None or point is None or point.text != "." or not name.text.isidentifier():
            return False
        end = after_bracket(self.machine.tokens, self.machine.position)
        closer = self.machine.tokens[end - 1]
        place = (point.start, closer.end)
        base = self.machine.values[-3]
        if name.text.startswith("with_"):
            self._misplaced_setter(name, place, base)
        elif name.text == "T":
            fix = self.report.delete((token.start, closer.end))
            self.report.error("UC0215", (token.start, closer.end), "'.T' stands without parentheses", fixits=[fix])
            self.machine.discard(end - self.machine.position)
            return True
        else:
            call = f"{name.text}({'…' if closer.start > token.end else ''})"
            self.report.error("UC0215", name, f"a value has no '.{name.text}(…)': write v >> {call}")
        self.machine.discard(end - self.machine.position)
        self.machine.unshift()
        self.machine.unshift()
        return True

    def _misplaced_setter(self, name: Token, place: tuple[int, int], base: object) -> None:
        call = base
        while isinstance(call, View):
            call = call.base
        after = "'.T'" if isinstance(base, View) else "a name" if isinstance(base, Name | Token) else "an expression"
        message = f".{name.text} cannot follow {after}: a setter directly follows its contraction's call"
        fixits: list[FixIt] = []
        if isinstance(call, Call):
            text = self.report.source.text[place[0] : place[1]]
            fixits = [self.report.insert(call.end, text, f"move '.{name.text}' here"), self.report.delete(place)]
        self.report.error("UC0113", place, message, fixits=fixits)
