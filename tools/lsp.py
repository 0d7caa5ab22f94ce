"""`ucutlass-lsp`: the language server, which an editor starts and talks to through stdin and stdout.

Starts in two phases like `ucutlass-opt`.
"""

import os
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from importlib.util import find_spec

from ucutlass_tools._flags import CommandLine, Flag, Group
from ucutlass_tools._main import Exit, guard
from ucutlass_tools._opt_flags import ARCH, COMPLETION, VERSION
from ucutlass_tools._quick import check_arch, quick_answer

from ucutlass.errors import MachineError

COMMAND_LINE = CommandLine(
    "ucutlass-lsp",
    "Serve an editor: diagnostics and their fixes, hover, completion, definitions, outline, formatting.",
    None,
    (
        Group(
            "serving",
            (
                Flag(("--stdio",), "talk through stdin and stdout, as it does in any case; some editors insist on it"),
                Flag(("--target", *ARCH.names), ARCH.help, ARCH.value, completes="arch"),
            ),
        ),
        Group("about the tool", (COMPLETION, VERSION)),
    ),
    "It speaks the Language Server Protocol: start it from an editor, not from a shell. Exit codes: 0 fine, 2 the call"
    " is at fault, 3 the machine lacks something.",
)


def main(argv: Sequence[str] | None = None) -> int:
    return guard(COMMAND_LINE.tool, _run, argv)


def _run(arguments: list[str]) -> int:
    args = COMMAND_LINE.parse(arguments)
    answer = quick_answer(COMMAND_LINE, args)
    if answer is not None:
        sys.stdout.write(answer)
        return Exit.OK
    check_arch(args.target)
    if find_spec("pygls") is None:
        raise MachineError("pygls, which speaks the protocol, is not installed: pip install 'ucutlass[lsp]'")
    from ucutlass_tools.language_server.server import make_server  # the second phase: xDSL and pygls

    # The protocol gets a stream of its own, which it closes; what anything prints goes where the editor keeps its log.
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as protocol, redirect_stdout(sys.stderr):
        make_server(args.target).start_io(stdout=protocol)
    return Exit.OK


if __name__ == "__main__":
    sys.exit(main())
