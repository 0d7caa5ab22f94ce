"""`ucutlass-compile`: programs to shared libraries, through a cache, many beside each other.

Starts in two phases like `ucutlass-opt`.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ucutlass_tools._flags import CommandLine, Flag, Group, Positional, positive
from ucutlass_tools._input import FRONTEND
from ucutlass_tools._main import Exit, guard
from ucutlass_tools._opt_flags import ARCH, COLOUR, COMPLETION, MAX_ERRORS, VERSION
from ucutlass_tools._quick import check_arch, quick_answer, without_collector

from ucutlass.errors import UsageError

if TYPE_CHECKING:
    from ucutlass_tools._build import Built

JOBS = Flag(
    ("-j", "--jobs"), "compilers at a time; by default as many as cores and free memory allow", "N", kind=positive
)
TOOLCHAIN = (
    Flag(("--nvcc",), "the CUDA compiler, instead of the one that is found", "PATH", completes="file"),
    Flag(
        ("--cutlass",),
        "a CUTLASS checkout or include folder, instead of the installed one",
        "FOLDER",
        completes="folder",
    ),
    Flag(("--host-compiler",), "the C++ compiler, instead of the one that is found", "PATH", completes="file"),
    Flag(("--cache-dir",), "where what was built is kept", "FOLDER", completes="folder"),
    Flag(("--build-timeout",), "seconds for one compiler", "SECONDS", default=1800, kind=positive),
)
BUILDING = Group("building", (JOBS, *TOOLCHAIN))

COMMAND_LINE = CommandLine(
    "ucutlass-compile",
    "Compile programs to shared libraries.",
    Positional("input_files", "`.ucu` or `.mlir` files; - is stdin", many=True, required=False),
    (
        Group(
            "input and output",
            (
                FRONTEND,
                Flag(("--target", *ARCH.names), ARCH.help, ARCH.value, completes="arch"),
                Flag(("-o", "--output-dir"), "copy each library and its C++ there", "FOLDER", completes="folder"),
                Flag(
                    ("--symbol-suffix",),
                    "what exported C functions end in: with `hash`, kernels of one name can be linked together",
                    "SUFFIX",
                    default="none",
                    choices=("none", "hash"),
                ),
                Flag(("--json",), "results as JSON on stdout, diagnostics as JSON on stderr"),
            ),
        ),
        BUILDING,
        Group("diagnostics", (COLOUR, MAX_ERRORS)),
        Group("about the tool", (COMPLETION, VERSION)),
    ),
    "Exit codes: 0 fine, 1 a program is at fault, 2 the call is, 3 the machine lacks something, say nvcc. One program\n"
    "that fails does not stop the others.",
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
        raise UsageError("name a program to compile, or - for stdin")
    check_arch(args.target)
    with without_collector():
        return _compile(args)


def _compile(args: argparse.Namespace) -> int:
    # The second phase: these load xDSL.
    from ucutlass_tools._build import build_programs, copy_to, exit_code, prepare_folder
    from ucutlass_tools._input import read_inputs
    from ucutlass_tools._program import Program
    from ucutlass_tools._report import Reporter

    from ucutlass.diagnostics.core import DiagnosticEngine

    given = read_inputs(args.input_files, args.frontend)
    programs = [Program(one, max_errors=0).read(args.target) for one in given]
    sources = [program.lower().cuda(args.symbol_suffix) for program in programs]
    everything = DiagnosticEngine(args.max_errors)
    for program in programs:
        everything.sources.update(program.engine.sources)
        everything.extend(program.engine.diagnostics)
    if args.output_dir is not None:
        prepare_folder(args.output_dir, [p for p, source in zip(programs, sources, strict=True) if source is not None])
    built = build_programs(programs, sources, args, everything)
    for one in built:
        everything.extend(one.diagnostics)
    Reporter.of(COMMAND_LINE.tool, args).show(everything)
    if args.output_dir is not None:
        copy_to(args.output_dir, built)
    _show(built, args.json)
    return exit_code(built)


def _show(built: "Sequence[Built]", as_json: bool) -> None:
    if as_json:
        print(json.dumps([one.to_json() for one in built], indent=2))
        return
    for one in built:
        for line in one.lines():
            print(line)


if __name__ == "__main__":
    sys.exit(main())
