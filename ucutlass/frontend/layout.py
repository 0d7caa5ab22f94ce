"""Expressions as text: which parentheses they need, and where their lines break.

A leaf: imports only the standard library. An expression is kept in segments, the places where a long one is broken:

    y = gemm(x, w.T)
          .with_tile(128, 256, 64)
        >> bias(b)
"""

import enum
from dataclasses import dataclass, field
from typing import Literal

WIDTH = 100
"""Columns of a line that is not broken."""
_PIPE_INDENT = 4
_SETTER_INDENT = 6


class Level(enum.IntEnum):
    """How tightly an expression holds together."""

    PIPE = 0
    SUM = 1
    PRODUCT = 2
    SIGN = 3
    SUFFIX = 4


SegmentKind = Literal["head", "setter", "pipe"]


@dataclass
class Text:
    """An expression. It is used up by the expression that it becomes a part of."""

    segments: list[tuple[SegmentKind, str]]
    level: Level
    is_call: bool = False
    """Whether it is a call, which the next call may be piped behind."""
    is_number: bool = False
    nested: str | None = field(default=None)
    """The same with the one pipe that it has written as a call inside of a call."""

    @staticmethod
    def atom(text: str, is_number: bool = False) -> "Text":
        """A name or a number."""
        level = Level.SIGN if text.startswith("-") else Level.SUFFIX
        return Text([("head", text)], level, is_number=is_number)

    @property
    def flat(self) -> str:
        """On one line."""
        return "".join(f" >> {text}" if kind == "pipe" else text for kind, text in self.segments)

    def within(self, level: Level) -> str:
        """As an operand that must hold together at least so tightly."""
        if self.level >= level:
            return self.flat
        return self.nested if self.nested is not None else f"({self.flat})"

    def suffixed(self, suffix: str) -> "Text":
        """With `.T` behind; a pipe's last call takes it."""
        if self.level not in (Level.PIPE, Level.SUFFIX):
            return Text([("head", f"({self.flat}){suffix}")], Level.SUFFIX, is_call=self.is_call)
        kind, text = self.segments[-1]
        self.segments[-1] = (kind, text + suffix)
        self.nested = self.nested + suffix if self.nested is not None else None
        return self

    def piped(self, name: str, arguments: list[str], setters: list[str]) -> "Text":
        """`self >> name(arguments)`."""
        rest = "".join(setters)
        nested = f"{name}({', '.join([self.flat, *arguments])}){rest}" if self.level == Level.SUFFIX else None
        self.segments.append(("pipe", f"{name}({', '.join(arguments)})"))
        self.segments.extend(("setter", setter) for setter in setters)
        self.level, self.is_call, self.nested = Level.PIPE, True, nested
        return self

    def lines(self, start: str, indent: int) -> list[str]:
        """As a statement that begins with `start`: on one line if that is short, else one line for each segment."""
        whole = " " * indent + start + self.flat
        if len(whole) <= WIDTH or len(self.segments) == 1:
            return filled(whole, indent + 4)
        lines: list[str] = []
        for kind, text in self.segments:
            if kind == "head":
                lines += filled(" " * indent + start + text, indent + 4)
            elif kind == "setter":
                lines += filled(" " * (indent + _SETTER_INDENT) + text, indent + _SETTER_INDENT + 4)
            else:
                lines += filled(" " * (indent + _PIPE_INDENT) + ">> " + text, indent + _PIPE_INDENT + 4)
        return lines


def filled(line: str, indent: int) -> list[str]:
    """A line broken at spaces, where it is too long; further lines begin with `indent` spaces."""
    lines: list[str] = []
    position, room = 0, WIDTH
    margin = ""
    while len(line) - position > room:
        least = len(line) - len(line.lstrip()) if not lines else position
        cut = line.rfind(" ", least + 1, position + room + 1)
        if cut <= least:
            cut = line.find(" ", position + room)
            if cut < 0:
                break
        lines.append(margin + line[position:cut])
        position, room = cut + 1, WIDTH - indent
        margin = " " * indent
    lines.append(margin + line[position:])
    return lines
