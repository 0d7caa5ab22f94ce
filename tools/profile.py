"""`ucutlass-profile`: compile programs, validate them, time them, and hold the times against PyTorch and the bound.

Starts in two phases like `ucutlass-opt`.
"""

import argparse
import json
import sys
from collections.abc import Sequence

from ucutlass_tools._flags import CommandLine, Flag, Group, Positional, non_negative, positive, positive_number
from ucutlass_tools._gpu import GPU, named_gpu
from ucutlass_tools._input import DIM, FRONTEND
from ucutlass_tools._main import Exit, guard
from ucutlass_tools._opt_flags import ARCH, COLOUR, COMPLETION, MAX_ERRORS, VERSION
from ucutlass_tools._quick import check_arch, quick_answer, without_collector
from ucutlass_tools.compile import BUILDING

COMMAND_LINE = CommandLine(
    "ucutlass-profile",
    "Compile programs, validate them against their meaning, time them beside PyTorch, and say what share of the\n"
    "Speed of Light they reach.",
    Positional("input_files", "`.ucu` or `.mlir` files; - is stdin", many=True, required=False),
    (
        Group(
            "what to profile",
            (
                FRONTEND,
                Flag(("--target", *ARCH.names), ARCH.help, ARCH.value, completes="arch"),
                Flag(("--kernel",), "only the kernel of this name in each file", "NAME"),
                DIM,
                GPU,
            ),
        ),
        Group(
            "validation",
            (
                Flag(
                    ("--seed",),
                    "seed of the inputs, to repeat a run; secret and new by default",
                    "N",
                    kind=non_negative,
                ),
                Flag(("--rounds",), "sets of normal inputs (default: 3)", "N", default=3, kind=positive),
                Flag(("--quick",), "one set of normal inputs, no special ones, no other sizes"),
                Flag(("--no-time",), "only validate"),
            ),
        ),
        Group(
            "timing",
            (
                Flag(("--warmup",), "runs before anything counts (default: 10)", "N", default=10, kind=positive),
                Flag(("--runs",), "rounds at most (default: 200)", "N", default=200, kind=positive),
                Flag(
                    ("--seconds",),
                    "about what the counted rounds of kernels and baselines take together (default: 1)",
                    "S",
                    default=1.0,
                    kind=positive_number,
                ),
                Flag(("--no-warm",), "no times with the data in the L2 cache"),
                Flag(("--no-torch-compile",), "leave torch.compile out of the baselines, which takes long to start"),
                Flag(
                    ("--timeout",),
                    "seconds after which a kernel that says nothing is taken to hang (default: 600)",
                    "S",
                    default=600,
                    kind=positive,
                ),
            ),
        ),
        Group("results", (Flag(("--json",), "results as JSON on stdout, diagnostics as JSON on stderr"),)),
        BUILDING,
        Group("diagnostics", (COLOUR, MAX_ERRORS)),
        Group("about the tool", (COMPLETION, VERSION)),
    ),
    "Programs that compute the same are timed in the same rounds, so that they can be compared.\n"
    "Exit codes: 0 fine, 1 a program is at fault or its kernel is wrong, 2 the call is, 3 the machine lacks\n"
    "something: a GPU, nvcc.",
)


def main(argv: Sequence[str] | None = None) -> int:
    return guard(COMMAND_LINE.tool, _run, argv)


def _run(arguments: list[str]) -> int:
    args = COMMAND_LINE.parse(arguments)
    answer = quick_answer(COMMAND_LINE, args)
    if answer is not None:
        sys.stdout.write(answer)
        return Exit.OK
    if not args.input_files:
        from ucutlass.errors import UsageError

        raise UsageError("name a program to profile, or - for stdin")
    check_arch(args.target)
    if args.gpu is not None:
        named_gpu(args.gpu)
    with without_collector():
        return _profile(args)


def _profile(args: argparse.Namespace) -> int:
    # The second phase: these load xDSL, and PyTorch.
    from ucutlass_tools._profile_rows import text
    from ucutlass_tools._profiling import Profiling
    from ucutlass_tools._report import Reporter

    profiling = Profiling(args)
    rows = profiling.run()
    Reporter.of(COMMAND_LINE.tool, args).show(profiling.engine)
    if args.json:
        print(json.dumps([row.to_json() for row in rows], indent=2))
    elif rows:
        sys.stdout.write(text(rows))
    return profiling.exit_code


if __name__ == "__main__":
    sys.exit(main())
