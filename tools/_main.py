"""What every command-line tool does around its work: exit codes, and no failure without a line that explains it.

Imports only leaves, so that `--help` costs nothing; what an exception is gets looked up once it is there.
A tool is a function from arguments to an exit code:

    def main(argv: Sequence[str] | None = None) -> int:
        return guard("ucutlass-opt", _run, argv)
"""

import argparse
import errno
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, NoReturn, TextIO

from ucutlass.errors import MachineError, UsageError

if TYPE_CHECKING:
    from ucutlass.diagnostics.core import Diagnostic, DiagnosticError
    from ucutlass.diagnostics.source import SourceFile


class Exit(IntEnum):
    """What a tool's exit code says."""

    OK = 0
    INPUT = 1
    """The input is at fault; there are diagnostics."""
    USAGE = 2
    """The call is at fault."""
    MACHINE = 3
    """The machine lacks something: a GPU, nvcc, memory, disk space."""
    BUG = 70
    """The tool is at fault (EX_SOFTWARE of sysexits.h)."""
    INTERRUPTED = 130
    """Somebody pressed Ctrl-C (128 + SIGINT, as shells have it)."""


TRACEBACK = "--traceback"
"""Accepted by every tool, wherever it stands."""

NO_SPACE = {errno.ENOSPC, errno.EDQUOT, errno.EROFS}


class _Heard:
    """Stands in for stderr and remembers whether anything was said."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.anything = False

    def write(self, text: str) -> int:
        self.anything = self.anything or bool(text.strip())
        return self._stream.write(text)

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)


def guard(tool: str, work: Callable[[list[str]], int], argv: Sequence[str] | None = None) -> int:
    """Do a tool's work and turn however it ends into an exit code, and into text on stderr unless that code is 0."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    with_traceback = TRACEBACK in arguments
    arguments = [argument for argument in arguments if argument != TRACEBACK]
    stderr = sys.stderr
    heard = _Heard(stderr)
    sys.stderr = heard
    try:
        code = _work(tool, work, arguments, with_traceback)
    finally:
        sys.stderr = stderr
    if code != Exit.OK and not heard.anything:
        print(f"{tool}: error: failed with exit code {code} and no message; {TRACEBACK} shows where", file=stderr)
    return code


def _work(tool: str, work: Callable[[list[str]], int], arguments: list[str], with_traceback: bool) -> int:
    try:
        code = work(arguments)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # The reader has what it wanted (`| head`). What is still buffered must not fail again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.OK
    except SystemExit as error:
        return _exit_code(tool, error)
    except KeyboardInterrupt:
        _say(tool, "interrupted")
        return Exit.INTERRUPTED
    except BaseException as error:  # Exception is not enough: xDSL's pipeline errors derive from BaseException
        if with_traceback:
            traceback.print_exc()
        return explain(tool, error)


def _exit_code(tool: str, error: SystemExit) -> int:
    if error.code is None:
        return Exit.OK
    if isinstance(error.code, int):
        return error.code
    _say(tool, str(error.code))
    return Exit.INPUT


def _say(tool: str, message: str) -> None:
    print(f"{tool}: error: {message}", file=sys.stderr)


def explain(tool: str, error: BaseException) -> int:
    """Say what an exception means to whoever typed the command; the exit code that goes with it."""
    if isinstance(error, UsageError):
        _say(tool, f"{error}\n{tool} --help lists what there is")
        return Exit.USAGE
    if isinstance(error, MachineError):
        _say(tool, str(error))
        return Exit.MACHINE
    if isinstance(error, OSError):
        return _explain_os_error(tool, error)
    if isinstance(error, RecursionError):
        _say(tool, "the input nests too deeply")
        return Exit.INPUT
    if isinstance(error, MemoryError):
        _say(tool, "the machine has not enough memory for this")
        return Exit.MACHINE
    code = _explain_diagnostics(error)
    if code is None:
        code = _explain_xdsl(tool, error)
    if code is None:
        code = _explain_click(tool, error)
    if code is None:
        _say(tool, f"bug in {tool}: {type(error).__name__}: {error}\nthe same call with {TRACEBACK} shows where")
        code = Exit.BUG
    return code


def _explain_os_error(tool: str, error: OSError) -> int:
    where = f" {error.filename!r}" if error.filename is not None else ""
    _say(tool, f"{error.strerror or error}{where}")
    named_by_the_caller = error.filename is not None and error.errno not in NO_SPACE
    return Exit.USAGE if named_by_the_caller else Exit.MACHINE


def _explain_diagnostics(error: BaseException) -> int | None:
    from ucutlass.diagnostics.core import DiagnosticError  # only a failure needs it

    if not isinstance(error, DiagnosticError):
        return None
    print_diagnostics(error.diagnostics, _sources(error))
    return Exit.INPUT


def print_diagnostics(diagnostics: Iterable["Diagnostic"], sources: "dict[str, SourceFile]") -> None:
    """Show diagnostics to a person, and count them."""
    from ucutlass.diagnostics.render import render, summary, wants_colour

    shown = list(diagnostics)
    sys.stderr.write(render(shown, sources, colour=wants_colour(sys.stderr)))
    if counts := summary(shown):
        print(counts, file=sys.stderr)


def _sources(error: "DiagnosticError") -> "dict[str, SourceFile]":
    """The texts that the diagnostics point into, as far as they are files that can still be read."""
    from ucutlass.diagnostics.source import decode_utf8

    sources: dict[str, SourceFile] = {}
    for diagnostic in error.diagnostics:
        span = diagnostic.span
        if span is not None and span.file not in sources and os.path.isfile(span.file):
            with open(span.file, "rb") as file:
                sources[span.file], _ = decode_utf8(span.file, file.read())
    return sources


def _explain_xdsl(tool: str, error: BaseException) -> int | None:
    """Exceptions of xDSL itself and of code that knows only xDSL."""
    if "xdsl" not in sys.modules:
        return None
    from xdsl.utils.exceptions import ArgSpecParseError, DiagnosticException, InvalidIRException, ParseError

    if isinstance(error, ArgSpecParseError):
        _say(tool, str(error))
        return Exit.USAGE
    if isinstance(error, ParseError):
        place = error.span.get_location()
        _, *excerpt = error.span.print_with_context().rstrip().split("\n")
        print("\n".join([f"{place}: error: {error.msg}", *excerpt]), file=sys.stderr)
        return Exit.INPUT
    if isinstance(error, DiagnosticException | InvalidIRException):
        _say(tool, str(error).rstrip())
        return Exit.INPUT
    return None


def _explain_click(tool: str, error: BaseException) -> int | None:
    """Exceptions of click, where a tool uses it with `standalone_mode=False`."""
    if "click" not in sys.modules:
        return None
    import click

    if isinstance(error, click.Abort):
        _say(tool, "interrupted")
        return Exit.INTERRUPTED
    if isinstance(error, click.ClickException):
        _say(tool, f"{error.format_message()}\n{tool} --help lists what there is")
        return error.exit_code
    return None


class ArgumentParser(argparse.ArgumentParser):
    """argparse without abbreviations, whose errors name the nearest thing that exists."""

    def __init__(self, tool: str, description: str, epilog: str | None = None) -> None:
        super().__init__(
            prog=tool,
            description=description,
            epilog=epilog,
            allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )

    def error(self, message: str) -> NoReturn:
        raise UsageError(with_suggestion(self, message))


def suggest_in_errors(parser: argparse.ArgumentParser) -> None:
    """Give a parser that somebody else made the errors of `ArgumentParser`."""

    def error(message: str) -> NoReturn:
        raise UsageError(with_suggestion(parser, message))

    parser.allow_abbrev = False
    parser.error = error


def with_suggestion(parser: argparse.ArgumentParser, message: str) -> str:
    """argparse's complaint, with "did you mean" for a flag that does not exist."""
    from ucutlass.diagnostics.suggest import phrase, suggest  # only a mistake needs it

    prefix = "unrecognized arguments: "
    if not message.startswith(prefix):
        return message
    first = message.removeprefix(prefix).split()[0]
    if not first.startswith("-"):
        return f"one argument too many: {first!r}"
    flag = first.split("=")[0]
    hint = phrase(suggest(flag, _flags(parser)))
    return f"unknown flag {flag!r}{f': {hint}' if hint else ''}"


def _flags(parser: argparse.ArgumentParser) -> list[str]:
    """The flags of a parser, read off its usage: argparse has no public list of them."""
    import re

    return sorted(set(re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", parser.format_help())) | {TRACEBACK})
