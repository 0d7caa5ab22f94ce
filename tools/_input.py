"""Reading what the tools are given: files and stdin, the language that they are in, the parts of a split file, sizes.

Imports only the standard library and the leaves.
"""

import itertools
import os
import re
import sys
from collections.abc import Iterator, Sequence
from typing import NoReturn

from ucutlass_tools._flags import Flag

from ucutlass.diagnostics.core import Diagnostic, DiagnosticError, Severity
from ucutlass.diagnostics.source import SourceFile, decode_utf8
from ucutlass.errors import UsageError
from ucutlass.records import record

STDIN = "<stdin>"
"""How diagnostics name the standard input."""

DIM = Flag(
    ("--dim",),
    "size of a dynamic dimension; several sizes, or the flag several times, give one result for each combination",
    "NAME=SIZE,…",
    repeatable=True,
)
FRONTEND = Flag(
    ("-f", "--frontend"), "language of the input, by default as the file's name or stdin's first word says", "LANGUAGE"
)

_LANGUAGES = {".ucu": "ucu", ".mlir": "mlir"}
_NOT_UTF8 = "UC0105"
_UCU_START = re.compile(r"\ufeff?(?:\s|#[^\n]*(?:\n|\Z))*(?:(?:target|kernel)\b|\Z)")
_SPLIT = re.compile(r"^[ \t]*(?://|#) -----[^\n]*$", re.MULTILINE)


@record
class Input:
    """One text to work on."""

    source: SourceFile
    language: str
    """Name of a frontend, maybe with options."""
    path: str | None
    """The file that it is in, None for stdin."""


def read_input(file: str | None, language: str | None = None) -> Input:
    """Reads a file, stdin for None and `-`. Raises UsageError, and DiagnosticError where it is no UTF-8."""
    path = None if file in (None, "-") else file
    name = path or STDIN
    if path is None and sys.stdin is None:  # `<&-`
        raise UsageError("cannot read stdin: it is closed", "UC0004")
    source, bad = decode_utf8(name, sys.stdin.buffer.read() if path is None else _bytes_of(path))
    if bad is not None:
        message = "the text is not UTF-8: save it in that encoding"
        raise DiagnosticError(Diagnostic(_NOT_UTF8, Severity.ERROR, message, bad))
    return Input(source, language or _language_of(path, source.text), path)


def read_inputs(files: Sequence[str], language: str | None = None) -> list[Input]:
    """Reads several files. Raises what `read_input` raises, and UsageError where stdin is to be read twice."""
    if list(files).count("-") > 1:
        raise UsageError("- names stdin more than once, but it can be read only once")
    return [read_input(file, language) for file in files]


def _bytes_of(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise UsageError(f"cannot read {path!r}: {error.strerror or error}", "UC0004") from error
    except ValueError as error:  # a NUL in the name
        raise UsageError(f"cannot read {path!r}: {error}", "UC0004") from error


def _language_of(path: str | None, text: str) -> str:
    if path is None:
        return "ucu" if _UCU_START.match(text) else "mlir"
    ending = os.path.splitext(path)[1]
    if ending in _LANGUAGES:
        return _LANGUAGES[ending]
    raise UsageError(f"{path!r} ends in neither .ucu nor .mlir: say the language with -f ucu or -f mlir", "UC0005")


def split(source: SourceFile) -> list[SourceFile]:
    """The parts between lines `// -----` or `# -----`.

    Each part is the whole text with everything else blanked out, so that its places are places of the file.
    """
    text = source.text
    bounds = [0, *itertools.chain.from_iterable(match.span() for match in _SPLIT.finditer(text)), len(text)]
    parts = zip(bounds[::2], bounds[1::2], strict=True)
    return [
        SourceFile(source.name, _blank(text[:start]) + text[start:end] + _blank(text[end:])) for start, end in parts
    ]


def _blank(text: str) -> str:
    return re.sub(r"[^\r\n]", " ", text)


def sizes(given: Sequence[str]) -> Iterator[dict[str, int]]:
    """The combinations that `--dim` asks for; one that is empty where it was not given. Raises UsageError."""
    choices: dict[str, list[int]] = {}
    for text in given:
        name, equals, values = text.partition("=")
        if not equals or not name.isidentifier() or not name.isascii():
            _refuse(text, "write NAME=SIZE, as in --dim M=4096")
        if name in choices:
            _refuse(text, f"{name} is given twice; several sizes stand in one list, --dim {name}=1024,4096")
        choices[name] = [_size(text, value) for value in values.split(",")]
    for combination in itertools.product(*choices.values()):
        yield dict(zip(choices, combination, strict=True))


def _size(text: str, value: str) -> int:
    if not value.isascii() or not value.isdigit() or int(value) >= 2**63:
        _refuse(text, f"{value!r} is no size: a whole number from 0 on, without a unit")
    return int(value)


def _refuse(text: str, why: str) -> NoReturn:
    raise UsageError(f"argument --dim: cannot read {text!r}: {why}", "UC0003")
