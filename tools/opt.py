"""`ucutlass-opt`: parse, verify, run passes, print.

Starts in two phases: what touches no program (help, version, lists, explanations, a wrong call) is answered before xDSL
is imported, which alone takes five times as long.
"""

import argparse
import sys
from collections.abc import Sequence
from time import perf_counter

from ucutlass_tools._main import Exit, guard
from ucutlass_tools._opt_flags import COMMAND_LINE
from ucutlass_tools._quick import check_arch, quick_answer, without_collector

from ucutlass.errors import UsageError


def main(argv: Sequence[str] | None = None) -> int:
    return guard(COMMAND_LINE.tool, _run, argv)


def _run(arguments: list[str]) -> int:
    started = perf_counter()
    args = COMMAND_LINE.parse(arguments)
    answer = quick_answer(COMMAND_LINE, args)
    if answer is not None:
        sys.stdout.write(answer)
        return Exit.OK
    _check(args)
    with without_collector():
        from ucutlass_tools._opt_driver import run  # the second phase

        return run(COMMAND_LINE.spelled_out(arguments), started)


def _check(args: argparse.Namespace) -> None:
    """Refuse flags that contradict each other."""
    if args.passes is not None and args.pass_pipeline is not None:
        raise UsageError("-p and --pass-pipeline both name passes: give one of them")
    if args.run_reproducer and (args.passes is not None or args.pass_pipeline is not None):
        raise UsageError("--run-reproducer takes the passes from the file: leave -p out")
    if args.apply_fixits and args.verify_diagnostics:
        raise UsageError("--apply-fixits and --verify-diagnostics exclude each other: mended text has no more errors")
    if args.print_ir_tree_dir is not None and not any(
        value for name, value in vars(args).items() if name.startswith(("print_ir_before", "print_ir_after"))
    ):
        raise UsageError("--print-ir-tree-dir says where, but nothing says when: add --print-ir-after-all")
    check_arch(args.arch)


if __name__ == "__main__":
    sys.exit(main())
