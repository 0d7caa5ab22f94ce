"""From emitted C++ to a library: one source or many, through the cache.

Imports leaves and the modules beside it. A failure is a `DiagnosticError` where the compiler refused the source and a
`BuildMachineError` where the machine is at fault; either names the log, which is kept.
"""

import hashlib
import shutil
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from ucutlass.diagnostics.core import Diagnostic, DiagnosticError, Note, Severity
from ucutlass.runtime.cache import Cache, Entry, content_key
from ucutlass.runtime.commands import (
    OPTIMIZATION,
    Manifest,
    device_command,
    host_command,
    host_pass_header,
    image_assembly,
    leaner_steps,
    link_command,
    target_flag,
    whole_command,
)
from ucutlass.runtime.compiler_log import compiler_errors
from ucutlass.runtime.failures import BuildMachineError
from ucutlass.runtime.json_data import as_bool, as_float, as_object, as_str
from ucutlass.runtime.processes import DEVICE_MEMORY, GIB, HOST_MEMORY, Finished, Slots, free_memory, run, signal_name
from ucutlass.runtime.ptxas import PtxasReport, parse_ptxas
from ucutlass.runtime.toolchain import Toolchain, compiler_environment, find_toolchain

DEFAULT_TIMEOUT = 1800.0
"""Seconds for one compiler; a kernel takes about a minute of an idle core."""

SOURCE = "source.cu"
LOG = "build.log"
_HOST_HEADER = "host_pass.h"


@dataclass(frozen=True)
class BuildRequest:
    """One source to build."""

    source: str
    arch: str
    name: str
    """Of the library file."""
    flags: tuple[str, ...] = ()
    """Further flags of nvcc, `-DNAME=value` ones for the host side, too."""

    def key(self, toolchain: Toolchain) -> str:
        """What decides the library."""
        return content_key(
            {
                "source": hashlib.sha256(self.source.encode()).hexdigest(),
                "name": self.name,
                "flags": [*OPTIMIZATION, target_flag(self.arch), *self.flags],
                "toolchain": toolchain.identity(),
                "host_pass": hashlib.sha256(host_pass_header().encode()).hexdigest() if toolchain.splits else "",
            }
        )


@dataclass(frozen=True)
class BuiltKernel:
    """A library, and how it came to be."""

    name: str
    arch: str
    path: Path
    """The shared library."""
    log: Path
    report: PtxasReport
    operations: dict[str, str]
    """What each device kernel computes, by symbol."""
    seconds: float
    """What building took when it was built."""
    cached: bool
    """Whether it was there already."""
    split: bool
    """Whether host and device sides were built beside each other."""

    @property
    def source(self) -> Path:
        return self.path.with_name(SOURCE)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Warnings of ptxas."""
        return self.report.diagnostics(self.name, self.operations)

    @staticmethod
    def of(request: BuildRequest, entry: Entry, cached: bool) -> "BuiltKernel":
        data = entry.metadata
        operations = {symbol: as_str(text) for symbol, text in as_object(data["operations"]).items()}
        return BuiltKernel(
            name=request.name,
            arch=request.arch,
            path=entry.file(f"{request.name}.so"),
            log=entry.file(LOG),
            report=PtxasReport.from_json(as_object(data["ptxas"])),
            operations=operations,
            seconds=as_float(data["seconds"]),
            cached=cached,
            split=as_bool(data["split"]),
        )


def build_kernel(
    source: str,
    *,
    arch: str,
    name: str,
    flags: Sequence[str] = (),
    toolchain: Toolchain | None = None,
    cache: Cache | None = None,
    jobs: int | None = None,
    timeout: float = DEFAULT_TIMEOUT,
) -> BuiltKernel:
    """The library of one source. Raises DiagnosticError or BuildMachineError."""
    request = BuildRequest(source, arch, name, tuple(flags))
    (outcome,) = build_many([request], toolchain=toolchain, cache=cache, jobs=jobs, timeout=timeout)
    if isinstance(outcome, BuiltKernel):
        return outcome
    raise outcome


BuildOutcome = BuiltKernel | DiagnosticError | BuildMachineError


def build_many(
    requests: Sequence[BuildRequest],
    *,
    toolchain: Toolchain | None = None,
    cache: Cache | None = None,
    jobs: int | None = None,
    timeout: float = DEFAULT_TIMEOUT,
) -> list[BuildOutcome]:
    """Builds many at once, `jobs` compilers at a time (by default what cores and free memory allow).

    The outcomes are in the order of the requests; one that fails does not stop the others.
    """
    tools = find_toolchain() if toolchain is None else toolchain
    store = Cache.default() if cache is None else cache
    slots = Slots(jobs)

    def one(request: BuildRequest) -> BuildOutcome:
        try:
            key = request.key(tools)
            entry = store.find(key)
            if entry is not None:
                return BuiltKernel.of(request, entry, cached=True)
            tools.check_target(request.arch)
            entry, cached = store.get_or_build(
                key, lambda folder: _Build(request, tools, slots, timeout, folder, store.folder / "failed", key).run()
            )
            return BuiltKernel.of(request, entry, cached)
        except (DiagnosticError, BuildMachineError) as error:
            return error

    # Requests wait for room in `slots`, so more threads than compilers cost nothing; a few fill the gaps of linking.
    with ThreadPoolExecutor(max_workers=min(len(requests), slots.jobs + 2) or 1) as pool:
        return list(pool.map(one, requests))


@dataclass
class _Build:
    """One build in its scratch folder."""

    request: BuildRequest
    toolchain: Toolchain
    slots: Slots
    timeout: float
    folder: Path
    failures: Path
    key: str
    log: list[str] = field(default_factory=list[str])

    def run(self) -> dict[str, object]:
        """Fills the folder; the metadata of the entry."""
        start = time.monotonic()
        (self.folder / SOURCE).write_text(self.request.source, encoding="utf-8")
        manifest = Manifest.of(self.request.source)
        try:
            report = self._split(manifest) if self.toolchain.splits and manifest.symbols else None
            split = report is not None
            if report is None:
                report = self._whole()
        except (DiagnosticError, BuildMachineError):
            self._keep_failure()
            raise
        finally:
            shutil.rmtree(self.folder / "tmp", ignore_errors=True)
        (self.folder / LOG).write_text("\n".join(self.log), encoding="utf-8")
        return {
            "name": self.request.name,
            "arch": self.request.arch,
            "seconds": round(time.monotonic() - start, 3),
            "split": split,
            "ptxas": report.to_json(),
            "operations": manifest.operations,
            "toolchain": self.toolchain.identity(),
        }

    # The two ways ----------------------------------------------------------------------------------------------------

    def _whole(self) -> PtxasReport:
        command = whole_command(
            self.toolchain, self.request.arch, SOURCE, f"{self.request.name}.so", self.request.flags
        )
        finished = self._compile(command, DEVICE_MEMORY)
        self._require(finished)
        return parse_ptxas(finished.output)

    def _split(self, manifest: Manifest) -> PtxasReport | None:
        """None where the host compiler does not take the host side: nvcc then has to."""
        (self.folder / _HOST_HEADER).write_text(host_pass_header(), encoding="utf-8")
        with ThreadPoolExecutor(max_workers=len(manifest.symbols) + 1) as pool:
            # The device sides first: they take the longest.
            devices = [pool.submit(self._device, part) for part in range(len(manifest.symbols))]
            host = pool.submit(
                self._compile,
                host_command(self.toolchain, SOURCE, _HOST_HEADER, "host.o", self.request.flags),
                HOST_MEMORY,
            )
            finished = [future.result() for future in _all(devices)]
            host_finished = host.result()
        for one in finished:
            self._require(one)
        self._require_not_killed(host_finished)
        if host_finished.returncode != 0:
            return None
        cubins = [_cubin(part) for part in range(len(manifest.symbols))]
        (self.folder / "images.S").write_text(image_assembly(manifest.symbols, cubins), encoding="utf-8")
        library = f"{self.request.name}.so"
        linked = self._compile(link_command(self.toolchain, ["host.o", "images.S"], library), 0)
        self._require_not_killed(linked)
        for name in ("host.o", "images.S", _HOST_HEADER):
            (self.folder / name).unlink(missing_ok=True)
        if linked.returncode != 0:
            return None
        report = PtxasReport()
        for one in finished:
            report += parse_ptxas(one.output)
        return report

    def _device(self, part: int) -> Finished:
        command = device_command(self.toolchain, self.request.arch, SOURCE, part, _cubin(part), self.request.flags)
        with self.slots.reserve(DEVICE_MEMORY):
            dry = self._run([command[0], "--dryrun", *command[1:]], quiet=True)
            steps = leaner_steps(dry.output) if dry.returncode == 0 else None
            if steps is None:
                return self._run(command)
            output, seconds = "", 0.0
            for line in steps.lines:
                # `exec`, so that a signal is seen as one.
                one = self._run(["/bin/sh", "-c", f"exec {line}"], variables=steps.variables)
                output, seconds = output + one.output, seconds + one.seconds
                if one.returncode != 0:
                    return Finished(one.command, one.returncode, output, seconds, one.timed_out)
            return Finished(tuple(command), 0, output, seconds)

    # Running ---------------------------------------------------------------------------------------------------------

    def _compile(self, command: Sequence[str], memory: int) -> Finished:
        with self.slots.reserve(memory):
            return self._run(command)

    def _run(self, command: Sequence[str], *, variables: dict[str, str] | None = None, quiet: bool = False) -> Finished:
        temporary = self.folder / "tmp"
        temporary.mkdir(exist_ok=True)
        environment = {**compiler_environment(temporary), **(variables or {})}
        try:
            finished = run(command, folder=self.folder, environment=environment, timeout=self.timeout)
        except OSError as error:
            raise BuildMachineError("UC0801", f"{command[0]} cannot be started: {error.strerror}") from error
        if not quiet:
            spelled = " ".join(command)
            self.log.append(
                f"$ {spelled}\n{finished.output}# exit code {finished.returncode}, {finished.seconds:.1f} s\n"
            )
        return finished

    # Failing ---------------------------------------------------------------------------------------------------------

    def _require(self, finished: Finished) -> None:
        self._require_not_killed(finished)
        if finished.returncode == 0:
            return
        errors = compiler_errors(finished.output, self.request.source, SOURCE)
        notes = [Note(str(error)) for error in errors] or [Note(line) for line in finished.output.splitlines()[-3:]]
        notes.append(Note(f"the whole output is in {self._failure_log}"))
        what = f"{_compiler_name(finished.command)} refused the code of {self.request.name} for {self.request.arch}"
        raise DiagnosticError(Diagnostic("UC0805", Severity.ERROR, what, notes=tuple(notes)))

    def _require_not_killed(self, finished: Finished) -> None:
        if finished.timed_out:
            raise BuildMachineError(
                "UC0809",
                f"compiling {self.request.name} was stopped after {self.timeout:.0f} s",
                ["raise the limit with --build-timeout", f"what it said until then is in {self._failure_log}"],
            )
        if finished.signal is None:
            return
        fewer = max(1, self.slots.device_jobs // 2)
        raise BuildMachineError(
            "UC0811",
            f"the compiler of {self.request.name} was killed by {signal_name(finished.signal)}; the likely cause is"
            f" that memory ran out",
            [
                f"{free_memory() / GIB:.1f} GiB are free now; one kernel needs up to {DEVICE_MEMORY / GIB:.0f} GiB, and"
                f" up to {self.slots.device_jobs} were built at once",
                f"build fewer at once: --jobs {fewer}",
            ],
        )

    @property
    def _failure_log(self) -> Path:
        return self.failures / f"{self.request.name}-{self.key[:12]}.log"

    def _keep_failure(self) -> None:
        try:
            self.failures.mkdir(parents=True, exist_ok=True)
            self._failure_log.write_text("\n".join(self.log), encoding="utf-8")
            self._failure_log.with_suffix(".cu").write_text(self.request.source, encoding="utf-8")
        except OSError as error:
            # The failure itself is what the caller must hear of.
            self.log.append(f"the log was not kept: {error}")


def _compiler_name(command: Sequence[str]) -> str:
    """The program that a command runs; a shell runs the steps of nvcc."""
    name = Path(command[0]).name
    return "nvcc" if name == "sh" else name


def _cubin(part: int) -> str:
    return f"kernel_{part}.cubin"


def _all(futures: Sequence[Future[Finished]]) -> Sequence[Future[Finished]]:
    """The futures, once all are done: the first failure must not leave compilers behind in a folder that goes away."""
    for future in futures:
        future.exception()
    return futures
