"""Text to the `ucutlass` dialect and back: the `.ucu` language and MLIR.

This module imports the standard library only; what it does loads xDSL when it is called.

| module | what it does |
|---|---|
| `ucu.lark` | the grammar, the only definition of the syntax |
| `table` | its LALR table, cached |
| `lexer`, `machine`, `parse`, `ast` | text to the syntax tree |
| `recovery`, `habits`, `repair`, `site`, `characters`, `expected`, `brackets` | what to do about syntax errors |
| `build`, `header`, `body`, `scope` | the tree to the dialect |
| `arguments`, `constants`, `setters`, `sizes`, `counting`, `vocabulary` | the parts of calls and types |
| `places` | where the parts of operations stand |
| `print_ucu` | the dialect to canonical text |
| `mlir`, `ucu`, `text` | the two frontends of xDSL |
| `grammar_export`, `language_card` | the grammar for constrained decoding, the language for a prompt |
"""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp

_UCU_START = re.compile(r"(?:\s|#[^\n]*(?:\n|\Z))*(?:(?:target|kernel)\b|\Z)")
_ENDINGS = {".ucu": "ucu", ".mlir": "mlir"}


def language_of(name: str, text: str) -> str:
    """The language of a text: by the ending of its file's name, else by its first word."""
    for ending, language in _ENDINGS.items():
        if name.endswith(ending):
            return language
    return "ucu" if _UCU_START.match(text) else "mlir"


def read_program(ctx: "Context", text: str | bytes, name: str, language: str | None = None) -> "ModuleOp":
    """The module of a program, as every tool reads it.

    `language` is the name of a frontend, maybe with options (`mlir{no-implicit-module=true}`); without it the name and
    the text decide. Everything that is wrong is reported to the engine of the context; then a `SourceError` is raised.
    """
    from io import BytesIO

    from xdsl.utils.arg_spec import parse_spec

    from ucutlass.frontend.text import read_text
    from ucutlass.registry import FRONTENDS, find

    source = read_text(ctx, text, name)
    spec = parse_spec(language or language_of(name, source.text))
    frontend = find(FRONTENDS, "frontend", spec.name).load().from_spec(spec)
    return frontend.parse(ctx, BytesIO(source.text.encode()), name)
