"""What is being typed at the cursor, told from the tokens before it: a text that somebody is typing has no syntax tree.

Imports the lexer of the language. Knows no operation by name.
"""

from dataclasses import dataclass, field
from typing import Literal

from ucutlass.frontend.lexer import BAD, Token, tokens_of
from ucutlass.frontend.setters import PREFIX
from ucutlass.frontend.table import END

Place = Literal[
    "nothing",
    "top",
    "target",
    "type",
    "size",
    "layout",
    "statement",
    "operation",
    "expression",
    "argument",
    "suffix",
]
"""`statement` is where a statement may begin or an expression go on, `operation` is behind `>>`, `argument` inside the
parentheses of a call or setter, `suffix` behind a point."""

_OPENING = {"(": ")", "[": "]"}
_BEFORE_EXPRESSION = frozenset(("=", "return", "+", "-", "*", "/", "(", "[", ","))


Chain = tuple[str, frozenset[str]]
"""An operation, empty for none, and the setters that its call has already."""


@dataclass
class Frame:
    """An open bracket."""

    bracket: str
    callee: str = ""
    """The operation, or the setter with its prefix, whose arguments these are; empty for other brackets."""
    position: int = 0
    """How many arguments stand before the cursor."""
    keyword: str = ""
    """The name of the argument that the cursor is in."""
    keywords: set[str] = field(default_factory=set[str])
    """The names given so far."""
    chain: "Chain" = ("", frozenset())
    """What follows the closing bracket may be a setter of."""


@dataclass
class Context:
    """What surrounds the cursor."""

    place: Place = "top"
    kernel: str = ""
    """The kernel's name."""
    values: list[str] = field(default_factory=list[str])
    """Values that may be used here, parameters first."""
    dimensions: list[str] = field(default_factory=list[str])
    frame: Frame | None = None
    """The innermost call or setter around the cursor."""
    operation: str = ""
    """At a suffix: the operation that it is for; empty where that is none."""
    setters: frozenset[str] = frozenset()
    """At a suffix: the setters that the operation has."""
    has_target: bool = False


def context_at(text: str, offset: int) -> Context:
    """The context of an offset; the word that ends there is what is being typed, and not looked at."""
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    if "#" in line:
        return Context("nothing")
    tokens = [t for t in tokens_of(text[:offset]) if t.kind not in (END, BAD)]
    if tokens and tokens[-1].end == offset and (tokens[-1].text[0].isalpha() or tokens[-1].text[0] == "_"):
        tokens.pop()
    elif tokens and tokens[-1].text[0].isdigit() and tokens[-1].end == offset:
        return Context("nothing")
    return _Scan(text, tokens).run()


class _Scan:
    """Goes through the tokens once, from the start of the file."""

    def __init__(self, text: str, tokens: list[Token]) -> None:
        self.text = text
        self.tokens = tokens
        self.context = Context()
        self.region: Literal["top", "header", "results", "where", "body"] = "top"
        self.frames: list[Frame] = []
        self.pending: list[str] = []
        """Targets of the statement at the cursor: not values yet."""
        self.chain: Chain = ("", frozenset())
        """The call before the cursor that may take setters."""

    def run(self) -> Context:
        for index, token in enumerate(self.tokens):
            self._token(index, token)
        self._finish()
        return self.context

    def _text(self, index: int) -> str:
        return self.tokens[index].text if 0 <= index < len(self.tokens) else ""

    def _is_name(self, index: int) -> bool:
        return self._text(index).isidentifier()

    # Tokens -----------------------------------------------------------------------------------------------------------

    def _token(self, index: int, token: Token) -> None:
        text = token.text
        if text == "kernel" and self._is_kernel(index, token):
            self._begin_kernel(self._text(index + 1))
        elif self.region == "top":
            self.context.has_target = self.context.has_target or text == "target"
        elif text in _OPENING:
            self._open(index, text)
        elif text in _OPENING.values():
            self._close()
        elif text == "," and self.frames:
            self.frames[-1].position += 1
            self.frames[-1].keyword = ""
        elif self.region == "body":
            self._in_body(index, text)
        else:
            self._in_header(index, text)

    def _is_kernel(self, index: int, token: Token) -> bool:
        """Whether a kernel begins, even where the one before has not ended."""
        if not (self._is_name(index + 1) and self._text(index + 2) == "("):
            return False
        return self.region == "top" or not self.frames or self.text[: token.start].endswith("\n")

    def _begin_kernel(self, name: str) -> None:
        self.context = Context(kernel=name, has_target=self.context.has_target)
        self.region, self.frames, self.pending = "header", [], []

    def _in_header(self, index: int, text: str) -> None:
        if text == "{":
            self.region, self.frames = "body", []
        elif text == "->":
            self.region = "results"
        elif text == "where" and not self.frames:
            self.region = "where"
        elif text == ":" and self._is_name(index - 1):
            self.context.values.append(self._text(index - 1))
        elif self._is_name(index) and (self.region == "where" or (self.frames and self.frames[-1].bracket == "[")):
            if text not in self.context.dimensions:
                self.context.dimensions.append(text)

    def _in_body(self, index: int, text: str) -> None:
        if text == "}":
            self.context = Context(has_target=self.context.has_target)
            self.region, self.frames = "top", []
        elif text == "=" and self.frames:
            self.frames[-1].keyword = self._text(index - 1)
            self.frames[-1].keywords.add(self._text(index - 1))
        elif text == "=":
            self.context.values += self.pending
            self.pending = self._targets(index)
        elif text == "return":
            self.context.values += self.pending
            self.pending = []
        if text != "." and not text.startswith(PREFIX):
            self.chain = ("", frozenset())

    def _targets(self, index: int) -> list[str]:
        """The names left of `=`."""
        names: list[str] = []
        index -= 1
        while self._is_name(index):
            names.append(self._text(index))
            if self._text(index - 1) != ",":
                break
            index -= 2
        return names[::-1]

    def _open(self, index: int, text: str) -> None:
        callee = self._text(index - 1) if text == "(" and self.region == "body" and self._is_name(index - 1) else ""
        if callee == "return":
            callee = ""
        is_setter = self._text(index - 2) == "." and callee.startswith(PREFIX)
        chain: Chain = (callee, frozenset())
        if is_setter:
            chain = (self.chain[0], self.chain[1] | {callee.removeprefix(PREFIX)})
        piped = bool(callee) and self._text(index - 2) == ">>"
        self.frames.append(Frame(text, callee, 1 if piped else 0, chain=chain))

    def _close(self) -> None:
        if self.frames:
            self.chain = self.frames.pop().chain

    # The cursor -------------------------------------------------------------------------------------------------------

    def _finish(self) -> None:
        self.context.place = self._place()
        if self.context.place == "suffix":
            self.context.operation, self.context.setters = self.chain
        self.context.frame = self._call()

    def _call(self) -> Frame | None:
        """The call whose argument is being typed, perhaps in a list."""
        frame = next((frame for frame in reversed(self.frames) if frame.bracket == "("), None)
        return frame if frame is not None and frame.callee else None

    def _place(self) -> Place:
        before = self._text(len(self.tokens) - 1)
        if before == "@":
            return "layout"
        match self.region:
            case "top":
                return "target" if before == "target" else "top"
            case "where":
                return "size"
            case "header" | "results":
                return self._place_in_header(before)
            case "body":
                return self._place_in_body(before)

    def _place_in_header(self, before: str) -> Place:
        if self.frames and self.frames[-1].bracket == "[":
            return "size"
        if before in (":", "->") or (before == "," and self.region == "results"):
            return "type"
        return "nothing"

    def _place_in_body(self, before: str) -> Place:
        if before == ".":
            return "suffix"
        if before == ">>":
            return "operation"
        if before in _BEFORE_EXPRESSION:
            return "argument" if self._call() is not None else "expression"
        return "statement" if not self.frames else "nothing"
