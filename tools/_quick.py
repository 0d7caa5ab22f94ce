"""What the tools do before they load anything heavy.

Imports only the standard library and the leaves.
"""

import argparse
import gc
from collections.abc import Generator
from contextlib import contextmanager

from ucutlass_tools._flags import CommandLine

from ucutlass.errors import UsageError


def quick_answer(line: CommandLine, args: argparse.Namespace) -> str | None:
    """The answer to a question about the tool itself; None where the call is about a program."""
    values = vars(args)
    if values.get("version"):
        return _version(line.tool)
    if values.get("completion"):
        from ucutlass_tools._completion import script  # once in the life of a shell

        return script(line, args.completion)
    if values.get("explain") is not None:
        return _explanation(args)
    return _list(args)


def _version(tool: str) -> str:
    from importlib.metadata import version  # 10 ms

    from ucutlass import __version__

    return f"{tool} {__version__}, xDSL {version('xdsl')}\n"


def _explanation(args: argparse.Namespace) -> str:
    from ucutlass_tools._lists import explanation

    from ucutlass.diagnostics.core import DiagnosticError

    try:
        return explanation(args.explain, args.json)
    except DiagnosticError as error:
        raise UsageError(error.diagnostics[0].message, error.diagnostics[0].code) from error


def _list(args: argparse.Namespace) -> str | None:
    wanted = [name for name, value in vars(args).items() if name.startswith("list_") and value]
    if not wanted:
        return None
    from ucutlass_tools._lists import LISTS

    return "\n".join(LISTS[name](args.json) for name in wanted)


def check_arch(name: str | None) -> None:
    """Refuse an architecture that there is no compiler for."""
    if name is None:
        return
    from ucutlass.targets.arch import UnknownTargetError, architecture

    try:
        architecture(name)
    except UnknownTargetError as error:
        raise UsageError(str(error), "UC0106") from error


@contextmanager
def without_collector() -> Generator[None]:
    """Without the cyclic garbage collector: it finds nothing in a short run, and costs a tenth of the imports."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
