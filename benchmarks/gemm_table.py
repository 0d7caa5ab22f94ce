"""The table of gemm kernels: every program of `gemm_table/` is built, validated and timed beside PyTorch.

    python benchmarks/gemm_table.py --out docs/results/gemm_h200
    python benchmarks/gemm_table.py --build-only libraries         # needs nvcc, no GPU
    python benchmarks/gemm_table.py --libraries libraries --out …  # needs a GPU; builds only what is missing

Needs the package `ucutlass` on the path (installed, or PYTHONPATH on the repository and its dependencies), PyTorch with
CUDA and nvcc. Writes OUT.md and OUT.json. Exits with 1 where a kernel is wrong or a target is missed.
"""

import argparse
import json
import re
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ucutlass import __version__
from ucutlass.backend.cuda.emit import emit_cuda
from ucutlass.diagnostics.core import DiagnosticEngine
from ucutlass.diagnostics.locations import set_engine
from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.frontend import read_program
from ucutlass.frontend.sources import record_sources
from ucutlass.passes.pipelines import passes_of, run_passes
from ucutlass.registry import DIALECTS
from ucutlass.runtime.build import BuildRequest, BuiltKernel, build_many
from ucutlass.runtime.cache import Cache
from ucutlass.runtime.campaign import DEFAULT_SILENCE, Finding, examine_all
from ucutlass.runtime.machine import Machine, find_machine, gpu_data, gpu_state
from ucutlass.runtime.profile import BaselineTime, Event, Plan, Subject, Timed, Validated, read_subject
from ucutlass.runtime.timing import Rounds
from ucutlass.runtime.toolchain import Toolchain, find_toolchain
from ucutlass.runtime.validation.cases import secret_seed
from ucutlass.sol.program import ProgramBound, analyze, contractions
from ucutlass.sol.report import format_table

PROGRAMS = Path(__file__).resolve().parent / "gemm_table"

TARGETS: Mapping[str, float] = {"f16_4096_bias_gelu": 0.95, "linear_gelu": 1.05, "f16_8192_bias_gelu": 1.05}
"""Programs whose time over that of the library's product alone must not exceed a limit."""

ARCH = "sm_90a"


class Examiner(Protocol):
    """Gives the findings on all subjects."""

    def __call__(
        self, subjects: Sequence[Subject], plan: Plan, *, silence: float, listen: Callable[[Event], None]
    ) -> list[Finding]: ...


@dataclass(frozen=True)
class Program:
    """One row of the table before it is measured."""

    name: str
    text: str
    source: str
    """The emitted C++."""

    @property
    def comment(self) -> str:
        """The first line of the program says what it is there for."""
        return self.text.partition("\n")[0].removeprefix("# ")


@dataclass(frozen=True)
class Result:
    """One row of the table."""

    program: Program
    bound: ProgramBound
    shape: tuple[int, int, int]
    types: str
    operations: tuple[str, ...]
    finding: Finding

    @property
    def flops_per_second(self) -> float:
        times = self.finding.times
        return 0.0 if times is None else self.bound.program.work.matrix_flops / times.cold.median

    def best(self, name: str, computes_all: bool) -> BaselineTime | None:
        """The fastest variant of a kind of baseline."""
        times = self.finding.times
        found = [b for b in (times.baselines if times else ()) if b.computes_all == computes_all and name in b.name]
        return min(found, key=lambda b: b.timing.median, default=None)

    @property
    def product(self) -> BaselineTime | None:
        """The library's product alone, in the precision of the program."""
        return self.best("", computes_all=False)

    @property
    def eager(self) -> BaselineTime | None:
        """The program in PyTorch, epilogue included."""
        return self.best("eager", computes_all=True)


@dataclass
class Table:
    """All rows, and where they come from."""

    machine: Machine
    toolchain: Toolchain
    seed: int
    seconds: float
    results: list[Result] = field(default_factory=list[Result])
    driver: str | None = None

    @property
    def command(self) -> str:
        return f"python benchmarks/gemm_table.py --seed {self.seed} --seconds {self.seconds:g} --out OUT"

    @property
    def versions(self) -> dict[str, str]:
        cuda = ".".join(map(str, self.toolchain.cuda_version))
        versions = {**self.machine.versions, "nvcc": cuda, "cutlass": self.toolchain.cutlass_version}
        return {"ucutlass": __version__, **versions, "driver": self.driver or "unknown"}

    def missed(self) -> list[str]:
        """What is not as it must be, in words."""
        lines = [
            f"{r.program.name}: {r.finding.outcome}: {r.finding.message}" for r in self.results if not r.finding.passed
        ]
        for result in self.results:
            limit, product = TARGETS.get(result.program.name), result.product
            if limit is not None and product is not None and product.ratio.median > limit:
                lines.append(
                    f"{result.program.name}: {product.ratio.median:.3f} of the time of {product.name}, at most {limit}"
                )
        return lines

    def to_json(self) -> dict[str, object]:
        return {
            "command": self.command,
            "gpu": self.machine.device_name,
            "versions": self.versions,
            "seed": self.seed,
            "missed": self.missed(),
            "rows": [row_json(result) for result in self.results],
        }

    def markdown(self) -> str:
        rows = [_HEAD, tuple("---" for _ in _HEAD), *(_cells(result) for result in self.results)]
        versions = ", ".join(f"{name} {version}" for name, version in self.versions.items())
        missed = self.missed()
        verdict = "All kernels are right and all targets are met." if not missed else "Not as it should be:"
        lines = [
            f"# Gemm kernels on the {self.machine.device_name}",
            "",
            f"{versions}. Made by",
            "",
            "```",
            self.command,
            "```",
            "",
            *_EXPLANATION,
            "",
            *(f"| {' | '.join(row)} |" for row in rows),
            "",
            verdict,
            *(["", *(f"* {line}" for line in missed)] if missed else []),
            "",
            "Programs, and what each is there for:",
            "",
            *(f"* `{result.program.name}`: {result.program.comment}" for result in self.results),
            "",
        ]
        return "\n".join(lines)


_HEAD = (
    "program",
    "M x N x K",
    "types",
    "epilogue",
    "error / bound",
    "‖err‖/‖ref‖",
    "limit",
    "time µs",
    "TFLOP/s",
    "of SOL",
    "/ product alone",
    "/ eager with epilogue",
)

_EXPLANATION = (
    "Each kernel ran on fresh random inputs of every distribution of the validator, outputs poisoned first, and was",
    "held against double precision on the same inputs: the largest error of any element over its bound, and the",
    "relative norm of the error on normal and uniform inputs beside its limit, u(output) + 2·u(compute). Times are",
    "medians by CUDA events with the L2 cache displaced before each run, all columns of a row in the same rounds; the",
    "interval is that of the median at 95 %. TFLOP/s count the product only. Ratios are ours over theirs, below 1",
    "where ours is faster; `≈` where the two cannot be told apart. The product alone is PyTorch's without the epilogue",
    "(`torch._scaled_mm` for fp8, TF32 allowed for tf32); eager is the program in PyTorch's own functions, with TF32",
    "allowed where that is faster.",
)


def _cells(result: Result) -> tuple[str, ...]:
    validation, times = result.finding.validation, result.finding.times
    errors = ("", "", "")
    if validation is not None:
        limit = validation.frobenius_limit
        errors = (
            f"{validation.error_over_bound:.2f}",
            f"{validation.frobenius:.1e}",
            "" if limit is None else f"{limit:.1e}",
        )
    timed = (result.finding.outcome or "", "", "")
    if times is not None:
        interval = times.cold.interval
        timed = (
            f"{interval.median * 1e6:.1f} ± {(interval.high - interval.low) / 2e-6:.1f}",
            f"{result.flops_per_second / 1e12:.1f}",
            f"{result.bound.program.time / times.cold.median:.0%}",
        )
    return (
        f"`{result.program.name}`",
        " x ".join(map(str, result.shape)),
        result.types,
        " ".join(result.operations),
        *errors,
        *timed,
        _ratio(result.product),
        _ratio(result.eager),
    )


def _ratio(baseline: BaselineTime | None) -> str:
    if baseline is None:
        return ""
    return f"{'' if baseline.is_resolved else '≈ '}{baseline.ratio.median:.2f}"


def row_json(result: Result) -> dict[str, object]:
    """A row in numbers; units are in the names."""
    validation, times, bound = result.finding.validation, result.finding.times, result.bound.program
    row: dict[str, object] = {
        "program": result.program.name,
        "m": result.shape[0],
        "n": result.shape[1],
        "k": result.shape[2],
        "types": result.types,
        "operations": list(result.operations),
        "outcome": result.finding.outcome,
        "message": result.finding.message,
        "t_sol_us": bound.time * 1e6,
        "flops": bound.work.matrix_flops,
        "bytes": bound.work.bytes,
    }
    if validation is not None:
        row |= {
            "cases": len(validation.results),
            "max_error": validation.max_error,
            "error_over_bound": validation.error_over_bound,
            "frobenius": validation.frobenius,
            "frobenius_limit": validation.frobenius_limit,
            "checked_ratio": validation.checked_ratio,
        }
    if times is not None:
        interval = times.cold.interval
        row |= {
            "timer": times.cold.timer,
            "runs": len(times.cold.times),
            "time_us": interval.median * 1e6,
            "time_low_us": interval.low * 1e6,
            "time_high_us": interval.high * 1e6,
            "time_warm_us": None if times.warm is None else times.warm.median * 1e6,
            "call_time_us": None if times.cold.call_median is None else times.cold.call_median * 1e6,
            "tflops_per_s": result.flops_per_second / 1e12,
            "sol_fraction": bound.time / times.cold.median,
            "gpu_state_before": times.before.to_json(),
            "gpu_state_after": times.after.to_json(),
            "baselines": [
                {
                    "name": b.name,
                    "settings": b.settings,
                    "computes_all": b.computes_all,
                    "time_us": b.timing.median * 1e6,
                    "ratio": b.ratio.median,
                    "ratio_low": b.ratio.low,
                    "ratio_high": b.ratio.high,
                    "resolved": b.is_resolved,
                }
                for b in times.baselines
            ],
            "failed_baselines": [{"name": name, "reason": reason} for name, reason in times.failed_baselines],
        }
    return row


# Building ------------------------------------------------------------------------------------------------------------


def read_programs(only: str) -> list[Program]:
    """The programs whose names match, with their C++. Raises DiagnosticError on one that the compiler refuses."""
    programs: list[Program] = []
    for path in sorted(PROGRAMS.glob("*.ucu")):
        if re.search(only, path.stem):
            text = path.read_text(encoding="utf-8")
            programs.append(Program(path.stem, text, emitted(text, path.name)))
    return programs


def emitted(text: str, name: str) -> str:
    """The C++ of a program."""
    ctx = Context()
    for dialect, entry in DIALECTS.items():
        ctx.register_dialect(dialect, entry.load)
    engine = DiagnosticEngine()
    set_engine(ctx, engine)
    module: ModuleOp = read_program(ctx, text, name)
    record_sources(module)
    for step in passes_of("default"):
        run_passes(ctx, module, [step])
        engine.raise_if_errors()
    return emit_cuda(module)


def build(programs: Sequence[Program], toolchain: Toolchain, folder: Path, jobs: int) -> dict[str, Path]:
    """The libraries by program. One that is in the folder beside the same C++ is taken; the rest is built into it."""
    found = {p.name: folder / f"{p.name}.so" for p in programs if _is_built(p, folder)}
    missing = [program for program in programs if program.name not in found]
    print(f"{len(found)} of {len(programs)} libraries are there, {len(missing)} to build", flush=True)
    requests = [BuildRequest(program.source, ARCH, program.name) for program in missing]
    outcomes = build_many(requests, toolchain=toolchain, cache=Cache(folder / "cache"), jobs=jobs) if requests else []
    for program, outcome in zip(missing, outcomes, strict=True):
        if not isinstance(outcome, BuiltKernel):
            print(f"{program.name}: {outcome}", flush=True)
            continue
        for kernel in outcome.report.kernels:
            spills = " SPILLS" if kernel.spills else ""
            print(f"{program.name}: {outcome.seconds:.0f} s, {kernel.registers} registers{spills}", flush=True)
        for diagnostic in outcome.diagnostics:
            print(f"{program.name}: {diagnostic}", flush=True)
        found[program.name] = folder / f"{program.name}.so"
        shutil.copyfile(outcome.path, found[program.name])
        (folder / f"{program.name}.cu").write_text(program.source, encoding="utf-8")
    return found


def _is_built(program: Program, folder: Path) -> bool:
    source = folder / f"{program.name}.cu"
    return (
        (folder / f"{program.name}.so").is_file()
        and source.is_file()
        and source.read_text(encoding="utf-8") == program.source
    )


# Measuring -----------------------------------------------------------------------------------------------------------


def measure(
    programs: Sequence[Program], libraries: Mapping[str, Path], table: Table, examine: Examiner = examine_all
) -> None:
    """Examine every program that has a library, and add its row."""
    gpu = gpu_data(table.machine)
    chosen = [program for program in programs if program.name in libraries]
    subjects = [
        Subject(f"{p.name}.ucu", p.text, "ucu", None, p.name, {}, str(libraries[p.name].resolve())) for p in chosen
    ]
    plan = Plan(table.seed, rounds=2, timing=Rounds(seconds=table.seconds), compiled=False)
    findings = examine(subjects, plan, silence=DEFAULT_SILENCE, listen=lambda event: progress(chosen, event))
    for program, subject, finding in zip(chosen, subjects, findings, strict=True):
        read = read_subject(subject)
        (product,) = contractions(read.kernel)
        left, right, result = (value.type for value in (*product.operands, product.results[0]))
        assert isinstance(left, TensorType) and isinstance(right, TensorType) and isinstance(result, TensorType)
        outputs = ", ".join(str(type_.element) for type_ in read.kernel.declared_types)
        bound = analyze(read.kernel, read.fused, gpu, {})
        table.results.append(
            Result(
                program,
                bound,
                (result.dims[0].value, result.dims[1].value, left.dims[1].value),
                f"{left.element} to {outputs}",
                tuple(entry.kind for entry in bound.operations if entry.kind != "gemm"),
                finding,
            )
        )


def progress(programs: Sequence[Program], event: Event) -> None:
    """A line for each thing that is found."""
    match event:
        case Validated():
            verdict = event.validation.failure
            words = "right" if verdict is None else f"{verdict.outcome}: {verdict.message}"
            ratio, norm = event.validation.error_over_bound, event.validation.frobenius
            print(f"{programs[event.subject].name}: {words}, error/bound {ratio:.2f}, norm {norm:.1e}", flush=True)
        case Timed():
            times = event.times
            ratios = ", ".join(f"{b.ratio.median:.3f} of {b.name}" for b in times.baselines)
            print(f"{programs[event.subject].name}: {times.cold.median * 1e6:.1f} µs, {ratios}", flush=True)
        case _:
            pass


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build-only", metavar="DIR", type=Path, help="build every library into a folder, then stop")
    parser.add_argument(
        "--libraries", metavar="DIR", type=Path, help="the folder of libraries (default: build/gemm_table)"
    )
    parser.add_argument("--out", metavar="PATH", type=Path, help="write PATH.md and PATH.json")
    parser.add_argument("--only", metavar="REGEX", default="", help="only the programs whose names match")
    parser.add_argument("--jobs", metavar="N", type=int, default=16, help="compilers at a time (default: 16)")
    parser.add_argument("--seed", metavar="N", type=int, help="of the inputs; by default a new one")
    parser.add_argument("--seconds", metavar="S", type=float, default=0.5, help="of counted rounds for each program")
    args = parser.parse_args(argv)
    folder: Path = args.build_only or args.libraries or PROGRAMS.parents[1] / "build" / "gemm_table"
    folder.mkdir(parents=True, exist_ok=True)
    machine = None if args.build_only else find_machine()
    toolchain = find_toolchain()
    programs = read_programs(args.only)
    libraries = build(programs, toolchain, folder, args.jobs)
    if machine is None:
        return 0 if len(libraries) == len(programs) else 1
    seed = secret_seed() if args.seed is None else args.seed
    table = Table(machine, toolchain, seed, args.seconds, driver=gpu_state(machine.index).driver)
    measure(programs, libraries, table)
    if args.out is not None:
        args.out.parent.mkdir(parents=True, exist_ok=True)
        args.out.with_suffix(".md").write_text(table.markdown(), encoding="utf-8")
        args.out.with_suffix(".json").write_text(json.dumps(table.to_json(), indent=1) + "\n", encoding="utf-8")
    print("\n".join(format_table([_HEAD, *(_cells(result) for result in table.results)])))
    print("\n".join(table.missed()) or "all kernels are right and all targets are met")
    return 1 if table.missed() or len(libraries) < len(programs) else 0


if __name__ == "__main__":
    sys.exit(main())
