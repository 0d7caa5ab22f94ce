"""Crash reproducers: a file that holds an input and the call that failed on it, and can be run.

Imports only the standard library and the leaves. The file is the input with a header of comments; its `RUN` line is one
for lit, and `ucutlass-opt --run-reproducer FILE` reads the `call` line.
"""

import argparse
import platform
import re
import shlex
from collections.abc import Sequence
from importlib.metadata import version

from ucutlass_tools._output import write_output

from ucutlass import __version__
from ucutlass.errors import UsageError

_CALL = re.compile(r"^(?:#|//) call: (.*)$", re.MULTILINE)
_COMMENTS = {"ucu": "#", "mlir": "//"}
_FLAGS = {"arch": "--arch"}
_SWITCHES = ("disable_verify", "allow_unregistered_dialect", "no_implicit_module")


def write_reproducer(path: str, text: str, language: str, args: argparse.Namespace, reason: str) -> None:
    """Writes what makes the failure happen again."""
    comment = _COMMENTS.get(language.partition("{")[0], "//")
    call = shlex.join(_call(language, args))
    header = [
        f"ucutlass {__version__}, xDSL {version('xdsl')}, Python {platform.python_version()}",
        *(f"failed: {line}" for line in reason.splitlines()[:5]),
        f"RUN: ucutlass-opt {call} %s",
        f"call: {call}",
    ]
    write_output(path, "".join(f"{comment} {line}\n" for line in header) + "\n" + text.strip("\r\n ") + "\n")


def _call(language: str, args: argparse.Namespace) -> list[str]:
    values = vars(args)
    call = ["-f", language]
    if pipeline := args.passes or args.pass_pipeline:
        call += ["-p", pipeline]
    for name, flag in _FLAGS.items():
        if values[name] is not None:
            call += [flag, values[name]]
    return [*call, *(f"--{name.replace('_', '-')}" for name in _SWITCHES if values[name])]


def read_call(text: str, name: str) -> Sequence[str]:
    """The flags that a reproducer was made with. Raises UsageError where the text is none."""
    match = _CALL.search(text)
    if match is None:
        raise UsageError(f"{name} is no crash reproducer: it has no line '# call: …'")
    try:
        return shlex.split(match[1])
    except ValueError as error:
        raise UsageError(f"cannot read the call in {name}: {error}: {match[1]}") from error
