"""The grammar in other notations: for constrained decoding, and to read.

Imports the grammar's structure. Every notation is written from `ucu.lark`, so all accept the same programs, save that
Lark and EBNF leave to a lexer that a reserved word is no name: Lark's basic lexer knows it, its contextual one takes
such a word for a name where nothing else could stand.
"""

from ucutlass.frontend.gbnf import GbnfWriter, gbnf
from ucutlass.frontend.grammar_source import (
    Choice,
    Item,
    Literal,
    Pattern,
    Repeated,
    Rule,
    Sequence,
    read_grammar,
    without_left_recursion,
)
from ucutlass.frontend.table import grammar_text

__all__ = ["ebnf", "gbnf", "lark"]


def lark() -> str:
    """The grammar in Lark's notation: the file that the parser itself is made from."""
    return grammar_text()


def ebnf() -> str:
    """The grammar in the EBNF of the W3C, over tokens, with left recursion written as repetition."""
    grammar = read_grammar()
    words = " ".join(grammar.reserved_words)
    lines = [
        "/* The syntax of the μCUTLASS language, over tokens. Between tokens may stand white space and comments, which",
        "   are at the end of this grammar, and something of them must stand between two words. A name is none of the",
        f"   words {words}. */",
        "",
    ]
    lines += [f"{name} ::= {_right(without_left_recursion(name, item))}" for name, item in grammar.rules.items()]
    lines += ["", "/* Tokens */", ""]
    lines += [f"{name} ::= {_pattern(pattern)}" for name, pattern in grammar.patterns.items()]
    lines += ["", "/* Between tokens */", ""]
    lines += [f"Ignored ::= {' | '.join(_pattern(pattern) for pattern in grammar.ignored)}"]
    return "\n".join(lines) + "\n"


def _right(item: Item, nested: bool = False) -> str:
    match item:
        case Literal():
            return f'"{item.text}"'
        case Pattern() | Rule():
            return item.name
        case Sequence():
            text = " ".join(_right(member, nested=True) for member in item.items)
            return f"( {text} )" if nested else text
        case Choice():
            text = " | ".join(_right(member) for member in item.items)
            return f"( {text} )" if nested else text
        case Repeated():
            return f"{_right(item.item, nested=True)}{item.mark}"


def _pattern(pattern: str) -> str:
    """A regular expression, whose classes and repetitions EBNF has too."""
    return GbnfWriter.regex(pattern).replace("\\t", "#x9").replace("\\r", "#xD").replace("\\n", "#xA")
