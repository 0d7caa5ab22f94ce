"""Colours for `.ucu` text in the documentation: a lexer for Pygments.

Imports Pygments and the table of element types. A help for the eye: the grammar is in `ucutlass/frontend/ucu.lark`.
"""

from collections.abc import Sequence
from typing import ClassVar

from pygments import lexers
from pygments.lexer import RegexLexer, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, Text

from ucutlass.element_types import ELEMENT_TYPES

__all__ = ["UcuLexer"]  # where Pygments looks for lexers


class UcuLexer(RegexLexer):
    """The μCUTLASS language."""

    name = "ucu"
    aliases: ClassVar[Sequence[str]] = ["ucu"]
    filenames: ClassVar[Sequence[str]] = ["*.ucu"]
    tokens: ClassVar[dict[str, list[object]]] = {
        "root": [
            (r"\s+", Text.Whitespace),
            (r"#.*", Comment.Single),
            (r"\bkernel(?=\s+\w+\s*\()|\btarget(?=\s+sm_)|\b(where|return)\b", Keyword),
            (words(tuple(ELEMENT_TYPES), r"\b", r"\b"), Keyword.Type),
            (r"\b(true|false|auto|inf|nan)\b", Keyword.Constant),
            (r"\.with_\w+|\.T\b", Name.Attribute),
            (r"@\w*", Name.Decorator),
            (r"[A-Za-z_]\w*(?=\s*\()", Name.Function),
            (r"[A-Za-z_]\w*", Name),
            (r"\d+(\.\d+)?([eE][+-]?\d+)?", Number),
            (r">>|->|==|!=|<=|>=|[-+*/%=<>]", Operator),
            (r"[()\[\]{},:.]", Punctuation),
        ]
    }


def register() -> None:
    """Makes the lexer known to Pygments under its name."""
    # Pygments has no other way in than an entry point of an installed package.
    known: dict[str, tuple[str, str, Sequence[str], Sequence[str], Sequence[str]]] = vars(lexers)["LEXERS"]
    known["UcuLexer"] = (__name__, "ucu", ("ucu",), ("*.ucu",), ())
