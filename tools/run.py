"""`ucutlass-run`: run programs on random or given inputs, on the GPU or interpreted on the CPU.

Starts in two phases like `ucutlass-opt`.
"""

import argparse
import json
import sys
from collections.abc import Sequence

from ucutlass_tools._flags import CommandLine, Flag, Group, Positional, non_negative
from ucutlass_tools._input import DIM, FRONTEND
from ucutlass_tools._main import Exit, guard
from ucutlass_tools._opt_flags import ARCH, COLOUR, COMPLETION, MAX_ERRORS, VERSION
from ucutlass_tools._quick import check_arch, quick_answer, without_collector
from ucutlass_tools.compile import BUILDING

from ucutlass.errors import UsageError

DISTRIBUTIONS = ("normal", "uniform", "large", "cancellation", "one_hot", "ties", "denormal")
"""Those of `ucutlass.interpreter.inputs`, which loads xDSL; that they are the same is tested."""

COMMAND_LINE = CommandLine(
    "ucutlass-run",
    "Run a program on random inputs or on those of .npy files, and say what comes out.",
    Positional("input_file", "`.ucu` or `.mlir`; stdin when absent or -", required=False),
    (
        Group(
            "what to run",
            (
                FRONTEND,
                Flag(("--target", *ARCH.names), ARCH.help, ARCH.value, completes="arch"),
                Flag(("--kernel",), "only the kernel of this name", "NAME"),
                Flag(("--interpret",), "compute on the CPU instead of the GPU, by the meaning of the language"),
            ),
        ),
        Group(
            "inputs",
            (
                DIM,
                Flag(("--seed",), "seed of random inputs (default: 0)", "N", default=0, kind=non_negative),
                Flag(("--distribution",), "how random values are drawn", default="normal", choices=DISTRIBUTIONS),
                Flag(
                    ("--input",),
                    "the values of an argument; floats are rounded to its type",
                    "NAME=FILE.npy",
                    repeatable=True,
                ),
            ),
        ),
        Group(
            "results",
            (
                Flag(
                    ("--compare",),
                    "compare with the interpreter in double precision; a difference beyond rounding is an error",
                ),
                Flag(("--save",), "write inputs and results as .npy files there", "FOLDER", completes="folder"),
                Flag(("--print-values",), "print the results, large ones in part"),
                Flag(("--json",), "results as JSON on stdout, diagnostics as JSON on stderr"),
            ),
        ),
        BUILDING,
        Group("diagnostics", (COLOUR, MAX_ERRORS)),
        Group("about the tool", (COMPLETION, VERSION)),
    ),
    "Exit codes: 0 fine, 1 the program or its inputs are at fault, 2 the call is, 3 the machine lacks\n"
    "something: a GPU, nvcc. --interpret needs neither.",
)


def main(argv: Sequence[str] | None = None) -> int:
    return guard(COMMAND_LINE.tool, _run, argv)


def _run(arguments: list[str]) -> int:
    args = COMMAND_LINE.parse(arguments)
    answer = quick_answer(COMMAND_LINE, args)
    if answer is not None:
        sys.stdout.write(answer)
        return Exit.OK
    files = _files(args.input)
    check_arch(args.target)
    with without_collector():
        return _execute(args, files)


def _files(given: Sequence[str]) -> dict[str, str]:
    """The file of each argument that has one."""
    files: dict[str, str] = {}
    for text in given:
        name, equals, path = text.partition("=")
        if not equals or not name or not path:
            raise UsageError(f"argument --input: cannot read {text!r}: write NAME=FILE.npy", "UC0003")
        if name in files:
            raise UsageError(f"argument --input: {name} is given twice", "UC0003")
        files[name] = path
    return files


def _execute(args: argparse.Namespace, files: dict[str, str]) -> int:
    # The second phase: these load xDSL, and PyTorch.
    from ucutlass_tools._execution import Execution
    from ucutlass_tools._report import Reporter

    execution = Execution(args, files)
    rows = execution.run()
    Reporter.of(COMMAND_LINE.tool, args).show(execution.engine)
    if args.json:
        print(json.dumps([row.to_json() for row in rows], indent=2))
    else:
        for row in rows:
            print("\n".join(row.lines()))
    return execution.exit_code


if __name__ == "__main__":
    sys.exit(main())
