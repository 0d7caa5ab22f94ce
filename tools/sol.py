"""`ucutlass-sol`: the shortest possible time of a program on a named GPU, and what limits it.

Starts in two phases like `ucutlass-opt`. Needs neither a GPU nor PyTorch.
"""

import argparse
import json
import sys
from collections.abc import Sequence

from ucutlass_tools._flags import CommandLine, Flag, Group, Positional, positive_number
from ucutlass_tools._gpu import GPU, named_gpu
from ucutlass_tools._input import DIM, FRONTEND
from ucutlass_tools._main import Exit, guard
from ucutlass_tools._opt_flags import ARCH, COLOUR, COMPLETION, MAX_ERRORS, VERSION
from ucutlass_tools._quick import check_arch, quick_answer, without_collector

COMMAND_LINE = CommandLine(
    "ucutlass-sol",
    "Bound the time of a program from below: of each operation, of each kernel after fusion, of the whole.",
    Positional("input_file", "`.ucu` or `.mlir`; stdin when absent or -", required=False),
    (
        Group(
            "what to bound",
            (
                FRONTEND,
                Flag(("--target", *ARCH.names), ARCH.help, ARCH.value, completes="arch"),
                Flag(("--kernel",), "only the kernel of this name", "NAME"),
                DIM,
            ),
        ),
        Group(
            "the machine",
            (
                GPU,
                Flag(
                    ("--at-clock",),
                    "scale the arithmetic peaks to a clock of the multiprocessors",
                    "MHZ",
                    kind=positive_number,
                ),
                Flag(
                    ("--calibrate",),
                    "measure the ceilings of the GPU at hand and print its data, for --gpu FILE.json; reads no program",
                ),
            ),
        ),
        Group(
            "what to say",
            (
                Flag(
                    ("--tolerance",),
                    "relative error that the caller allows: shows only the faster types within it",
                    "X",
                    kind=positive_number,
                ),
                Flag(
                    ("--time-us",),
                    "a measured time, to be held against the bound",
                    "MICROSECONDS",
                    kind=positive_number,
                ),
                Flag(("--json",), "results as JSON on stdout, diagnostics as JSON on stderr"),
            ),
        ),
        Group("diagnostics", (COLOUR, MAX_ERRORS)),
        Group("about the tool", (COMPLETION, VERSION)),
    ),
    "Several kernels or sizes give a JSON array of results, one of each an object.\n"
    "Exit codes: 0 fine, 1 the program is at fault, 2 the call is.",
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
    if args.gpu is not None:
        named_gpu(args.gpu)
    if args.calibrate:
        return _calibrate(args)
    with without_collector():
        return _bound(args)


def _calibrate(args: argparse.Namespace) -> int:
    """Needs a GPU and PyTorch; a GPU that there is no data for takes what is not measured from --gpu."""
    from ucutlass.errors import UsageError
    from ucutlass.runtime.calibrate import calibrated, gpu_to_data
    from ucutlass.runtime.machine import find_machine, gpu_data, lock_gpu
    from ucutlass.runtime.timing import CudaEventTimer
    from ucutlass.targets.gpu import UnknownGpuError

    machine = find_machine()
    try:
        gpu = gpu_data(machine) if args.gpu is None else named_gpu(args.gpu)
    except UnknownGpuError as error:
        raise UsageError(f"{error}. Say with --gpu which one is most like it", "UC0003") from error
    with lock_gpu(machine):
        measured = calibrated(gpu, CudaEventTimer(machine.l2_bytes, machine.index))
    print(json.dumps(gpu_to_data(measured), indent=2))
    return Exit.OK


def _bound(args: argparse.Namespace) -> int:
    # The second phase: these load xDSL.
    from ucutlass_tools._bounds import Bounds
    from ucutlass_tools._report import Reporter

    bounds = Bounds(args)
    reports = bounds.run()
    Reporter.of(COMMAND_LINE.tool, args).show(bounds.engine)
    if bounds.engine.has_errors:
        return Exit.INPUT
    sys.stdout.write(bounds.shown(reports))
    return Exit.OK


if __name__ == "__main__":
    sys.exit(main())
