"""What every command-line tool does around its work: exit codes, and no failure without a line that explains it.

Imports only leaves, so that `--help` costs nothing; what an exception is gets looked up once it is there.
A tool is a function from arguments to an exit code:

    def main(argv: Sequence[str] | None = None) -> int:
        return guard("ucutlass-opt", _run, argv)
"""

import argparse
import errno
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, Literal, NoReturn, TextIO

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

REPRODUCER = "crash reproducer: "
"""Begins the note on an exception that says where its reproducer is."""

Form = Literal["text", "json", "sarif"]
"""How diagnostics are shown."""

_CALL = "UC0023"
_FLAG = "UC0002"
_VALUE = "UC0003"
_FORM = "UC0016"
_FORM_FLAGS = ("argument --to:", "argument -t/--target:")
"""The flags that name an output form."""
_MACHINE = "UC0024"
_INTERNAL = "UC0001"
_TOO_DEEP = "UC0104"
_MLIR = "UC0121"
_PASS = "UC0022"


_ALLOCATION = re.compile("can't allocate memory|Storage size calculation overflowed|CUDA out of memory")
"""How PyTorch, whose exception is a RuntimeError like any other, says that there is not enough memory."""


class PointedUsageError(UsageError):
    """A wrong call of which the text of one argument can be shown, with a caret under each culprit."""

    def __init__(self, source: "SourceFile", diagnostics: "Sequence[Diagnostic]") -> None:
        super().__init__("\n".join(map(str, diagnostics)), diagnostics[0].code)
        self.source = source
        self.diagnostics = tuple(diagnostics)


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
    stderr = sys.stderr if sys.stderr is not None else open(os.devnull, "w")  # `2>&-`
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
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except BrokenPipeError:
        # The reader has what it wanted (`| head`). What is still buffered must not fail again at exit.
        if sys.stdout is not None:
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
        return explain(tool, error, form_of(arguments))


def form_of(arguments: Sequence[str]) -> Form:
    """How a call wants its diagnostics, as far as that can be told before the call is understood."""
    if "--json" in arguments:
        return "json"
    for index, argument in enumerate(arguments):
        flag, _, word = argument.partition("=")
        if flag == "--diagnostics":
            word = word or "".join(arguments[index + 1 : index + 2])
            return "json" if word == "json" else "sarif" if word == "sarif" else "text"
    return "text"


def _exit_code(tool: str, error: SystemExit) -> int:
    if error.code is None:
        return Exit.OK
    if isinstance(error.code, int):
        return error.code
    _say(tool, str(error.code))
    return Exit.INPUT


def _say(tool: str, message: str) -> None:
    print(f"{tool}: error: {message}", file=sys.stderr)


def _complain(tool: str, form: Form, code: str, message: str, hint: str = "") -> None:
    """Say what went wrong where there is no source to show."""
    if form == "text":
        first, *rest = message.split("\n")
        _say(tool, "\n".join([f"{first} [{code}]", *rest, *([hint] if hint else [])]))
        return
    from ucutlass.diagnostics.core import Diagnostic, Severity  # only a failure needs it

    print_diagnostics([Diagnostic(code, Severity.ERROR, message)], {}, form, tool=tool)


def explain(tool: str, error: BaseException, form: Form = "text") -> int:
    """Say what an exception means to whoever typed the command; the exit code that goes with it."""
    if isinstance(error, PointedUsageError):
        print_diagnostics(error.diagnostics, {error.source.name: error.source}, form, tool=tool)
        return Exit.USAGE
    if isinstance(error, UsageError):
        _complain(tool, form, error.code, str(error), f"{tool} --help lists what there is")
        return Exit.USAGE
    if isinstance(error, MachineError):
        _complain(tool, form, error.code, str(error))
        return Exit.MACHINE
    if isinstance(error, OSError):
        return _explain_os_error(tool, error, form)
    if isinstance(error, RecursionError):
        _complain(tool, form, _TOO_DEEP, "the input nests too deeply")
        return Exit.INPUT
    if isinstance(error, MemoryError) or _ALLOCATION.search(str(error)):
        _complain(tool, form, _MACHINE, "the machine has not enough memory for this")
        return Exit.MACHINE
    code = _explain_diagnostics(error, tool, form)
    if code is None:
        code = _explain_xdsl(tool, error, form)
    if code is None:
        code = _explain_click(tool, error, form)
    if code is None:
        notes = [note for note in getattr(error, "__notes__", []) if note.startswith(REPRODUCER)]
        message = "\n".join([f"bug in {tool}: {type(error).__name__}: {error}", *notes])
        _complain(tool, form, _INTERNAL, message, f"the same call with {TRACEBACK} shows where")
        code = Exit.BUG
    return code


def _explain_os_error(tool: str, error: OSError, form: Form) -> int:
    where = f" {error.filename!r}" if error.filename is not None else ""
    named_by_the_caller = error.filename is not None and error.errno not in NO_SPACE
    _complain(tool, form, _CALL if named_by_the_caller else _MACHINE, f"{error.strerror or error}{where}")
    return Exit.USAGE if named_by_the_caller else Exit.MACHINE


def _explain_diagnostics(error: BaseException, tool: str, form: Form) -> int | None:
    from ucutlass.diagnostics.core import DiagnosticError  # only a failure needs it

    if not isinstance(error, DiagnosticError):
        return None
    print_diagnostics(error.diagnostics, _sources(error), form, tool=tool)
    return Exit.INPUT


def print_diagnostics(
    diagnostics: "Iterable[Diagnostic]",
    sources: "dict[str, SourceFile]",
    form: Form = "text",
    colour: str = "auto",
    tool: str = "ucutlass",
) -> None:
    """Show diagnostics: to a person, and count them, or to a program."""
    shown = list(diagnostics)
    if form == "json":
        from ucutlass.diagnostics.json_output import to_json  # only a program's call needs it

        print(to_json(shown), file=sys.stderr)
        return
    if form == "sarif":
        from ucutlass import __version__
        from ucutlass.diagnostics.sarif import to_sarif  # only a program's call needs it

        print(to_sarif(shown, __version__, tool), file=sys.stderr)
        return
    if not shown:
        return
    from ucutlass.diagnostics.render import render, summary, wants_colour

    sys.stderr.write(render(shown, sources, colour=wants_colour(sys.stderr, colour)))
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


def _explain_xdsl(tool: str, error: BaseException, form: Form) -> int | None:
    """Exceptions of xDSL itself and of code that knows only xDSL."""
    if "xdsl" not in sys.modules:
        return None
    from xdsl.utils.exceptions import ArgSpecParseError, DiagnosticException, InvalidIRException, ParseError

    if isinstance(error, ArgSpecParseError):
        _complain(tool, form, "UC0008", str(error))
        return Exit.USAGE
    if isinstance(error, ParseError) and form != "text":
        from ucutlass.diagnostics.core import Diagnostic, Severity
        from ucutlass.diagnostics.source import unresolved_span

        span = unresolved_span(*error.span.get_location())
        print_diagnostics([Diagnostic(_MLIR, Severity.ERROR, error.msg, span)], {}, form, tool=tool)
        return Exit.INPUT
    if isinstance(error, ParseError):
        place = error.span.get_location()
        _, *excerpt = error.span.print_with_context().rstrip().split("\n")
        print("\n".join([f"{place}: error: {error.msg} [{_MLIR}]", *excerpt]), file=sys.stderr)
        return Exit.INPUT
    if isinstance(error, DiagnosticException | InvalidIRException):
        _complain(tool, form, _PASS, str(error).rstrip())
        return Exit.INPUT
    return None


def _explain_click(tool: str, error: BaseException, form: Form) -> int | None:
    """Exceptions of click, where a tool uses it with `standalone_mode=False`."""
    if "click" not in sys.modules:
        return None
    import click

    if isinstance(error, click.Abort):
        _say(tool, "interrupted")
        return Exit.INTERRUPTED
    if isinstance(error, click.ClickException):
        code = _FLAG if isinstance(error, click.NoSuchOption) else _CALL
        _complain(tool, form, code, error.format_message(), f"{tool} --help lists what there is")
        return error.exit_code
    return None


def _formatter(prog: str) -> argparse.HelpFormatter:
    """A formatter of a known width: argparse makes one a flag, and would load the archive modules to find it."""
    return argparse.RawDescriptionHelpFormatter(prog, width=_columns() - 2)


def _columns() -> int:
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return int(columns)
    try:
        return os.get_terminal_size().columns or 80
    except (OSError, ValueError):
        return 80


class ArgumentParser(argparse.ArgumentParser):
    """argparse without abbreviations, whose errors name the nearest thing that exists."""

    def __init__(self, tool: str, description: str, epilog: str | None = None) -> None:
        super().__init__(
            prog=tool,
            description=description,
            epilog=epilog,
            allow_abbrev=False,
            formatter_class=_formatter,
        )

    def error(self, message: str) -> NoReturn:
        raise _argument_error(self, message)


def suggest_in_errors(parser: argparse.ArgumentParser) -> None:
    """Give a parser that somebody else made the errors of `ArgumentParser`."""

    def error(message: str) -> NoReturn:
        raise _argument_error(parser, message)

    parser.allow_abbrev = False
    parser.error = error


def _argument_error(parser: argparse.ArgumentParser, message: str) -> UsageError:
    """argparse's complaint, with "did you mean" for a flag or a value that does not exist."""
    from ucutlass.diagnostics.suggest import phrase, suggest  # only a mistake needs it

    prefix = "unrecognized arguments: "
    if not message.startswith(prefix):
        choice = re.search(r"invalid choice: '(.*)' \(choose from (.*)\)", message)
        hint = phrase(suggest(choice[1], re.findall(r"[\w-]+", choice[2]))) if choice else ""
        code = _FORM if choice and message.startswith(_FORM_FLAGS) else _VALUE if "argument " in message else _CALL
        return UsageError(message + (f": {hint}" if hint else ""), code)
    first = message.removeprefix(prefix).split()[0]
    if not first.startswith("-"):
        return UsageError(f"one argument too many: {first!r}")
    flag = first.split("=")[0]
    hint = phrase(suggest(flag, _flags(parser)))
    return UsageError(f"unknown flag {flag!r}{f': {hint}' if hint else ''}", _FLAG)


def _flags(parser: argparse.ArgumentParser) -> list[str]:
    """The flags of a parser, read off its usage: argparse has no public list of them."""
    return sorted(set(re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", parser.format_help())) | {TRACEBACK})
