"""Characters that the language does not use: typographic signs, quotation marks, separators, binary data.

Imports the tokens and the reports. What a character was meant as takes its place, so that parsing can go on.
"""

import unicodedata

from ucutlass.diagnostics.core import FixIt
from ucutlass.frontend.lexer import BAD, Token
from ucutlass.frontend.report import Reporter
from ucutlass.frontend.table import load_table

_MEANT = {
    "−": "-",
    "–": "-",
    "—": "-",
    "×": "*",
    "·": "*",
    "∗": "*",
    "÷": "/",
    "→": "->",
    "≥": ">=",
    "≤": "<=",
    "≠": "!=",
    "≫": ">>",
    "»": ">>",
}
"""Signs that stand for one of the language's."""
_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "«": "»"}
_MOST = 20
"""After so many reports a text is no program, and more of them are no help."""


def _shown(text: str) -> str:
    """Characters with their code points where they have no shape of their own."""
    if len(text) == 1:
        name = unicodedata.name(text, "")
        point = f"U+{ord(text):04X}"
        return f"'{text}'" if text.isascii() and text.isprintable() else f"{point} ({name})" if name else point
    return f"'{text}'" if text.isprintable() and len(text) <= 20 else f"{len(text)} characters"


def _is_value(token: Token, brackets: str) -> bool:
    """Whether a value may begin, or end, with the token."""
    return token.kind in ("NAME", "INTEGER", "FLOAT") or (token.text in brackets and token.text != "")


class BadCharacters:
    """Goes once over the tokens of a text."""

    def __init__(self, tokens: list[Token], report: Reporter) -> None:
        self.tokens = tokens
        self.report = report
        self.kinds = {t.pattern: t.name for t in load_table().terminals.values() if t.literal}

    def remove(self) -> bool:
        """Reports bad characters and takes them out of the tokens, in place; whether the rest is worth parsing."""
        if not any(token.kind == BAD for token in self.tokens):
            return True
        kept: list[Token] = []
        position = 0
        reported = 0
        while position < len(self.tokens):
            token = self.tokens[position]
            if token.kind != BAD:
                kept.append(token)
                position += 1
                continue
            reported += 1
            if reported > _MOST:
                return False
            position = self._one(position, kept)
        self.tokens[:] = kept
        return True

    def _one(self, position: int, kept: list[Token]) -> int:
        """Handles the bad token at a position; the position after what it handled."""
        token = self.tokens[position]
        if token.text in _QUOTES and (end := self._closing_quote(position)) is not None:
            last = self.tokens[end]
            fixits = [self.report.delete(token), self.report.delete(last)]
            message = "the language has no strings: words stand without quotation marks"
            self.report.error("UC0102", (token.start, last.end), message, fixits=fixits)
            kept.extend(self.tokens[position + 1 : end])
            return end + 1
        meant = _MEANT.get(token.text)
        if meant is not None:
            fix = self.report.replace(token, meant)
            message = f"{_shown(token.text)} is not a sign of the language: write '{meant}'"
            self.report.error("UC0102", token, message, fixits=[fix])
            kept.append(Token(self.kinds[meant], meant, token.start, token.end))
            return position + 1
        end = position + 1
        if token.text == "|" and (name := self._piped_into(end)) is not None:
            place = (token.start, self.tokens[name - 1].end)
            message = "the pipe is written '>>'"
            self.report.error("UC0102", place, message, fixits=[self.report.replace(place, ">>")])
            kept.append(Token(self.kinds[">>"], ">>", *place))
            return name
        fixits: list[FixIt] = []
        if token.text == ";":
            message = "statements have no separator: remove ';'"
            fixits = [self.report.delete(token)]
        elif token.text.isspace():
            message = f"{_shown(token.text)} is not white space of the language"
            fixits = [self.report.replace(token, " ", "use a plain space")]
        elif unicodedata.category(token.text) == "Cf":
            message = f"{_shown(token.text)} is invisible and has no meaning here"
            fixits = [self.report.delete(token, "remove it")]
        else:
            while self.tokens[end].kind == BAD and self.tokens[end].start == self.tokens[end - 1].end:
                end += 1
            text = self.report.source.text[token.start : self.tokens[end - 1].end]
            letters = "names consist of ASCII letters, digits and '_'"
            what = letters if text.isalpha() else "the language does not use it"
            message = f"unexpected character {_shown(text)}: {what}"
            self._stand_in(text, position, end, kept)
        self.report.error("UC0102", (token.start, self.tokens[end - 1].end), message, fixits=fixits)
        return end

    def _stand_in(self, text: str, position: int, end: int, kept: list[Token]) -> None:
        """Puts a part of a name or an operator in place of unknown characters, so that they give one error."""
        first, following = self.tokens[position], self.tokens[end]
        before = kept[-1] if kept else None
        if text.isalpha():
            name = Token("NAME", text, first.start, self.tokens[end - 1].end)
            if before is not None and before.end == first.start and before.text.isidentifier():
                name = Token("NAME", before.text + text, before.start, name.end)
                kept.pop()
            if following.start == name.end and following.text.isidentifier():
                following.kind, following.text, following.start = "NAME", name.text + following.text, name.start
            else:
                kept.append(name)
        elif before is not None and _is_value(before, "])") and _is_value(following, "[("):
            kept.append(Token(self.kinds["+"], "+", first.start, self.tokens[end - 1].end))

    def _piped_into(self, position: int) -> int | None:
        """The call after `|` or `|>`."""
        tokens = self.tokens
        if tokens[position].text == ">" and tokens[position].start == tokens[position - 1].end:
            position += 1
        is_call = tokens[position].kind == "NAME" and tokens[position + 1].text == "("
        return position if is_call else None

    def _closing_quote(self, position: int) -> int | None:
        """The token that closes the quotation on the same line."""
        token = self.tokens[position]
        for index in range(position + 1, len(self.tokens)):
            other = self.tokens[index]
            if "\n" in self.report.source.text[self.tokens[index - 1].end : other.start]:
                return None
            if other.kind == BAD and other.text == _QUOTES[token.text]:
                return index
        return None
