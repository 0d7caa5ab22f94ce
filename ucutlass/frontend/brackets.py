"""Which brackets are open at a token, and where one ends.

Imports the tokens.
"""

from collections.abc import Sequence

from ucutlass.frontend.lexer import Token
from ucutlass.frontend.table import END

CLOSER = {"(": ")", "[": "]", "{": "}"}
OPENER = {closer: opener for opener, closer in CLOSER.items()}


def open_brackets(tokens: Sequence[Token], position: int) -> list[Token]:
    """The brackets that are open before a token, the innermost last. A closer of another kind closes nothing."""
    stack: list[Token] = []
    for token in tokens[:position]:
        if token.text in CLOSER:
            stack.append(token)
        elif token.text in OPENER and stack and stack[-1].text == OPENER[token.text]:
            stack.pop()
    return stack


def after_bracket(tokens: Sequence[Token], position: int) -> int:
    """The token after the bracket that the token at `position` opens; the end of the tokens where it stays open."""
    depth = 0
    for index in range(position, len(tokens)):
        text = tokens[index].text
        depth += (text in CLOSER) - (text in OPENER)
        if depth == 0 or tokens[index].kind == END:
            return min(index + 1, len(tokens) - 1)
    return len(tokens) - 1
