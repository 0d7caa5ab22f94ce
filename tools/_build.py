"""Programs to libraries for `ucutlass-compile` and `ucutlass-run`, and what there is to say about each.

Imports the runtime and the compiler.
"""

import argparse
import re
from collections.abc import Sequence
from pathlib import Path

from ucutlass_tools._main import Exit
from ucutlass_tools._output import make_folder, write_bytes
from ucutlass_tools._program import Program

from ucutlass.diagnostics.core import Diagnostic, DiagnosticEngine, DiagnosticError
from ucutlass.errors import UsageError
from ucutlass.records import record
from ucutlass.runtime.build import BuildOutcome, BuildRequest, BuiltKernel, build_many
from ucutlass.runtime.cache import Cache
from ucutlass.runtime.failures import BuildMachineError
from ucutlass.runtime.ptxas import KernelReport
from ucutlass.runtime.toolchain import find_toolchain


@record
class Built:
    """What became of one program."""

    program: Program
    outcome: BuildOutcome | None
    """None where the program is at fault and nothing was built."""

    @property
    def file(self) -> str:
        return self.program.given.source.name

    @property
    def library(self) -> BuiltKernel | None:
        return self.outcome if isinstance(self.outcome, BuiltKernel) else None

    @property
    def machine_failed(self) -> bool:
        return isinstance(self.outcome, BuildMachineError)

    @property
    def program_failed(self) -> bool:
        return self.outcome is None or isinstance(self.outcome, DiagnosticError)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What building had to say."""
        match self.outcome:
            case None:
                return ()
            case BuildMachineError():
                return (self.outcome.diagnostic,)
            case DiagnosticError():
                return self.outcome.diagnostics
            case BuiltKernel():
                return self.outcome.diagnostics

    def to_json(self) -> dict[str, object]:
        """The result as a JSON object; what failed has null for what is not there."""
        built = self.library
        return {
            "file": self.file,
            "ok": built is not None,
            "kernels": self.program.kernel_names,
            "arch": built.arch if built is not None else None,
            "library": str(built.path) if built is not None else None,
            "source": str(built.source) if built is not None else None,
            "log": str(built.log) if built is not None else None,
            "cached": built.cached if built is not None else None,
            "build_s": built.seconds if built is not None else None,
            "ptxas": built.report.to_json() if built is not None else None,
        }

    def lines(self) -> list[str]:
        """The result for a person."""
        built = self.library
        if built is None:
            return [f"{self.file}: failed"]
        how = "from the cache" if built.cached else f"built in {built.seconds:.1f} s"
        lines = [
            f"{self.file}: {', '.join(self.program.kernel_names)} for {built.arch}, {how}",
            f"  library  {built.path}",
            f"  source   {built.source}",
        ]
        return lines + [f"  ptxas    {_report(kernel)}" for kernel in built.report.kernels]


def _report(kernel: KernelReport) -> str:
    spills = (
        f"spills {kernel.spill_store_bytes} + {kernel.spill_load_bytes} bytes a thread"
        if kernel.spills
        else "no spills"
    )
    return f"{kernel.symbol}: {kernel.registers} registers, {spills}, {kernel.barriers} barriers"


def build_programs(
    programs: Sequence[Program], sources: Sequence[str | None], args: argparse.Namespace, engine: DiagnosticEngine
) -> list[Built]:
    """Builds the emitted C++ of programs as the flags say; the result for each, in their order.

    Warnings about the toolchain go to the engine.
    """
    requests = {
        index: BuildRequest(source, program.arch, library_name(program))
        for index, (program, source) in enumerate(zip(programs, sources, strict=True))
        if source is not None
    }
    found = dict(zip(requests, _outcomes(list(requests.values()), args, engine), strict=True))
    return [Built(program, found.get(index)) for index, program in enumerate(programs)]


def _outcomes(requests: list[BuildRequest], args: argparse.Namespace, engine: DiagnosticEngine) -> list[BuildOutcome]:
    if not requests:
        return []
    try:
        toolchain = find_toolchain(nvcc=args.nvcc, cutlass=args.cutlass, host_compiler=args.host_compiler)
    except BuildMachineError as error:
        return [error for _ in requests]
    engine.extend(toolchain.warnings)
    cache = Cache(Path(args.cache_dir)) if args.cache_dir is not None else None
    return build_many(requests, toolchain=toolchain, cache=cache, jobs=args.jobs, timeout=args.build_timeout)


def exit_code(built: Sequence[Built]) -> Exit:
    """Whose fault it is, if anyone's: a wrong program comes before what the machine lacks."""
    if any(one.program_failed for one in built):
        return Exit.INPUT
    return Exit.MACHINE if any(one.machine_failed for one in built) else Exit.OK


def library_name(program: Program) -> str:
    """That of its kernel; of several kernels, that of the file."""
    names = program.kernel_names
    if len(names) == 1:
        return names[0]
    stem = Path(program.given.path).stem if program.given.path is not None else "program"
    return re.sub(r"\W", "_", stem, flags=re.ASCII) or "program"


def prepare_folder(folder: str, programs: Sequence[Program]) -> None:
    """Makes the folder for the libraries of programs, before a minute is spent on building them.

    Raises UsageError where two would have one name, and what `make_folder` raises.
    """
    names = [library_name(program) for program in programs]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"two programs would be {name}.so in {folder}: compile them into folders of their own")
    make_folder(folder)


def copy_to(folder: str, built: Sequence[Built]) -> None:
    """Copies libraries and sources out of the cache."""
    for library in (one.library for one in built if one.library is not None):
        write_bytes(str(Path(folder) / f"{library.name}.so"), library.path.read_bytes())
        write_bytes(str(Path(folder) / f"{library.name}.cu"), library.source.read_bytes())
