"""What `ucutlass-profile` does once it is understood: builds, has everything examined, and gathers rows.

Imports xDSL, the compiler and the runtime.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from ucutlass_tools._bounds import fused_kernels
from ucutlass_tools._build import Built, build_programs, exit_code
from ucutlass_tools._gpu import named_gpu
from ucutlass_tools._input import Input, read_inputs, sizes
from ucutlass_tools._kernels import chosen_kernels, complete_sizes, own_sizes
from ucutlass_tools._main import Exit
from ucutlass_tools._profile_rows import Row
from ucutlass_tools._program import Program, into

from ucutlass.diagnostics.core import Diagnostic, DiagnosticEngine, Note, Severity
from ucutlass.dialects.ucutlass.kernel import KernelOp
from ucutlass.errors import MachineError, UsageError
from ucutlass.records import record
from ucutlass.runtime.build import BuiltKernel
from ucutlass.runtime.campaign import Finding, examine_all
from ucutlass.runtime.machine import Machine, find_machine, gpu_data
from ucutlass.runtime.profile import Began, Event, Plan, Subject, program_key
from ucutlass.runtime.timing import Rounds
from ucutlass.runtime.validation.cases import secret_seed
from ucutlass.sol.program import analyze
from ucutlass.targets.gpu import Gpu, UnknownGpuError

Builder = Callable[[Sequence[Program], Sequence[str | None], argparse.Namespace, DiagnosticEngine], list[Built]]


class Examiner(Protocol):
    """Gives the findings on all subjects: `examine_all`, or what stands in for it where there is no GPU."""

    def __call__(
        self, subjects: Sequence[Subject], plan: Plan, *, silence: float, listen: Callable[[Event], None]
    ) -> list[Finding]: ...


@record
class _Task:
    """One kernel at one set of sizes."""

    kernel: KernelOp
    fused: KernelOp
    sizes: dict[str, int]


@record
class _File:
    """One program that is fine: what there is to examine in it, and its C++."""

    given: Input
    program: Program
    """Lowered."""
    source: str
    tasks: tuple[_Task, ...]


@dataclass
class Profiling:
    """All rows of one call."""

    args: argparse.Namespace
    machine: Callable[[], Machine] = find_machine
    """Finds the GPU; another one where there is none, in tests."""
    examine: Examiner = examine_all
    build: Builder = build_programs
    engine: DiagnosticEngine = field(init=False)
    exit_code: int = Exit.OK

    def __post_init__(self) -> None:
        self.engine = DiagnosticEngine(self.args.max_errors)
        self.seed: int = secret_seed() if self.args.seed is None else self.args.seed

    def run(self) -> list[Row]:
        """A row for each kernel that was built; what went wrong with the others ends in the engine."""
        combinations = list(sizes(self.args.dim))
        given = read_inputs(self.args.input_files, self.args.frontend)
        files = [file for one in given if (file := self._file(one, combinations)) is not None]
        if self.engine.has_errors:
            self.exit_code = Exit.INPUT
        if not files:
            return []
        try:
            machine = self.machine()
        except MachineError as error:
            if not self.engine.has_errors:
                raise
            # What is wrong with the programs must not be hidden behind what is wrong with the machine.
            self.engine.error(error.code, str(error))
            return []
        gpu = self._gpu(machine)
        built = [(file, one.library) for file, one in zip(files, self._built(files), strict=True)]
        ready = [(file, task, library) for file, library in built if library is not None for task in file.tasks]
        subjects = [self._subject(file, task, library) for file, task, library in ready]
        rows = [
            Row(
                file=subject.file,
                kernel=subject.kernel,
                arch=file.program.arch,
                machine=machine,
                seed=self.seed,
                sizes=task.sizes,
                bound=analyze(task.kernel, task.fused, gpu, task.sizes),
                build_seconds=library.seconds,
                cached=library.cached,
                finding=finding,
            )
            for (file, task, library), subject, finding in zip(ready, subjects, self._examined(subjects), strict=True)
        ]
        return _ranked(rows, [program_key(task.kernel) for _, task, _ in ready])

    def _subject(self, file: _File, task: _Task, library: BuiltKernel) -> Subject:
        given = file.given
        name = task.kernel.sym_name.data
        text, path = given.source.text, str(library.path)
        return Subject(given.source.name, text, given.language, self.args.target, name, task.sizes, path)

    def _gpu(self, machine: Machine) -> Gpu:
        if self.args.gpu is not None:
            return named_gpu(self.args.gpu)
        try:
            return gpu_data(machine)
        except UnknownGpuError as error:
            raise UsageError(f"{error}. Say with --gpu whose peaks are to be used", "UC0003") from error

    def _file(self, given: Input, combinations: Sequence[dict[str, int]]) -> _File | None:
        """What there is to examine in a file; None where something is wrong with it, which is reported."""
        program = Program(given, 0).read(self.args.target).run(["infer"])
        tasks: list[_Task] = []
        with into(program.engine, given.source):
            if program.fine:
                fused = fused_kernels(program)
                kernels = chosen_kernels(program, self.args.kernel)
                for kernel in kernels:
                    after = fused[kernel.sym_name.data]
                    own = own_sizes(kernel, kernels, combinations)
                    tasks += [_Task(kernel, after, complete_sizes(kernel, sizes_)) for sizes_ in own]
        lowered = Program(given, 0).read(self.args.target).lower() if program.fine else program
        source = lowered.cuda()
        self.engine.sources.update(lowered.engine.sources)
        self.engine.extend((program if program.engine.has_errors else lowered).engine.diagnostics)
        return None if source is None or not program.fine else _File(given, lowered, source, tuple(tasks))

    def _built(self, files: Sequence[_File]) -> list[Built]:
        """What became of each file."""
        programs, sources = [file.program for file in files], [file.source for file in files]
        built = self.build(programs, sources, self.args, self.engine)
        for one in built:
            self.engine.extend(one.diagnostics)
        if self.exit_code == Exit.OK:
            self.exit_code = exit_code(built)
        return built

    def _examined(self, subjects: Sequence[Subject]) -> list[Finding]:
        if not subjects:
            return []
        findings = self.examine(subjects, self._plan(), silence=self.args.timeout, listen=self._progress)
        for subject, finding in zip(subjects, findings, strict=True):
            if not finding.passed:
                self.exit_code = Exit.INPUT
                self.engine.emit(self._diagnostic(subject, finding))
        return findings

    def _plan(self) -> Plan:
        args = self.args
        timing = Rounds(args.warmup, min(30, args.runs), args.runs, args.seconds)
        plan = Plan(
            self.seed,
            args.rounds,
            timing=timing,
            time=not args.no_time,
            warm=not args.no_warm,
            compiled=not args.no_torch_compile,
        )
        return replace(plan, rounds=1, distributions=("normal",), neighbours=False) if args.quick else plan

    def _progress(self, event: Event) -> None:
        """Tell a person who waits; nobody waits for JSON."""
        if isinstance(event, Began) and not self.args.json and sys.stderr.isatty():
            print(f"{event.stage} of {len(event.subjects)} kernel(s)…", file=sys.stderr)

    def _diagnostic(self, subject: Subject, finding: Finding) -> Diagnostic:
        sizes_ = "".join(f", {name} = {size}" for name, size in subject.sizes.items())
        again = f"the same inputs again: --seed {self.seed}"
        return Diagnostic(
            finding.code or "UC1011",
            Severity.ERROR,
            f"{subject.file}: kernel {subject.kernel}{sizes_}: {finding.message}",
            notes=(Note(again),),
        )


def _ranked(rows: Sequence[Row], keys: Sequence[object]) -> list[Row]:
    """The rows, of which those that are surely the fastest of several that compute the same say so."""
    groups: dict[object, list[int]] = {}
    for index, (row, key) in enumerate(zip(rows, keys, strict=True)):
        if row.finding.times is not None:
            groups.setdefault((key, tuple(row.sizes.items())), []).append(index)
    fastest: dict[int, bool | None] = {}
    for group in groups.values():
        fastest |= _fastest([rows[index] for index in group], group)
    return [replace(row, fastest=fastest.get(index)) for index, row in enumerate(rows)]


def _fastest(rows: Sequence[Row], indices: Sequence[int]) -> dict[int, bool | None]:
    """True for the one that beats all others, False for those that some other one beats, else None."""
    timings = [row.finding.times.cold for row in rows if row.finding.times is not None]
    if len(timings) < 2:
        return {}
    found: dict[int, bool | None] = {}
    for index, own in zip(indices, timings, strict=True):
        winners = [own.against(other).winner for other in timings if other is not own]
        found[index] = True if all(w == 0 for w in winners) else False if 1 in winners else None
    return found
