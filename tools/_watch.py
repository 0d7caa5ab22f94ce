"""Watching passes run: printed and dumped programs, times, statistics.

Imports xDSL. A watcher is told before and after every pass; it changes nothing.
"""

import sys
from collections import Counter
from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ucutlass.diagnostics.core import DiagnosticEngine, Severity

Printed = Callable[[ModuleOp], str]
"""The text of a module, as the flags want it printed."""


class Watcher:
    """Is told of every pass that runs."""

    def begin(self, module: ModuleOp, part: int) -> None:
        """A part of the input, counted from 0, was read; its passes follow."""

    def before(self, module_pass: ModulePass, module: ModuleOp) -> None: ...

    def after(self, module_pass: ModulePass, module: ModuleOp) -> None:
        """The pass is done and its result has been verified."""

    def failed(self, module_pass: ModulePass, module: ModuleOp) -> None:
        """The pass raised an error, or its result is not valid."""


# Printing ------------------------------------------------------------------------------------------------------------


@dataclass
class Printing:
    """When `IRPrinter` prints; names of passes, `everywhere` for all."""

    before: Collection[str] = ()
    after: Collection[str] = ()
    everywhere_before: bool = False
    everywhere_after: bool = False
    on_change: bool = False
    on_failure: bool = False

    @property
    def any(self) -> bool:
        return bool(
            self.before
            or self.after
            or self.everywhere_before
            or self.everywhere_after
            or self.on_change
            or self.on_failure
        )


class IRPrinter(Watcher):
    """Prints the program around passes, to stderr or into the files of a folder."""

    def __init__(self, when: Printing, printed: Printed, folder: Path | None) -> None:
        self._when = when
        self._printed = printed
        self._folder = folder
        self._count = 0
        self._before: str | None = None
        self._part = 0

    def begin(self, module: ModuleOp, part: int) -> None:
        self._count = 0
        self._part = part

    def before(self, module_pass: ModulePass, module: ModuleOp) -> None:
        self._count += 1
        name = module_pass.name
        wanted = self._when.everywhere_before or name in self._when.before
        if wanted or self._when.on_change:
            self._before = self._printed(module)
        if wanted and self._before is not None:
            self._show("Before", name, self._before)

    def after(self, module_pass: ModulePass, module: ModuleOp) -> None:
        name = module_pass.name
        wanted = self._when.everywhere_after or name in self._when.after
        if not wanted and not self._when.on_change:
            return
        text = self._printed(module)
        if wanted or text != self._before:
            self._show("After", name, text)

    def failed(self, module_pass: ModulePass, module: ModuleOp) -> None:
        if self._when.on_failure:
            self._show("After", module_pass.name, self._printed(module), " Failed")

    def _show(self, when: str, name: str, text: str, what: str = "") -> None:
        if self._folder is None:
            print(f"// -----// IR Dump {when} {name}{what} //----- //\n{text}", file=sys.stderr)
            return
        folder = self._folder / "builtin_module_no-symbol-name"
        if self._part:
            folder = self._folder / f"builtin_module_no-symbol-name_{self._part}"
        folder.mkdir(parents=True, exist_ok=True)
        suffix = f"_{when.lower()}" if when == "Before" else what.strip().lower()
        suffix = f"_{suffix.strip('_')}" if suffix else ""
        (folder / f"{self._count}_{name}{suffix}.mlir").write_text(text, encoding="utf-8")


class Dumper(Watcher):
    """Writes the program as it was read and as each pass left it into numbered files."""

    def __init__(self, folder: Path, printed: Printed, many: bool) -> None:
        self._folder = folder
        self._printed = printed
        self._many = many
        self._part = 0
        self._count = 0

    def begin(self, module: ModuleOp, part: int) -> None:
        self._part = part
        self._count = 0
        self._write("input", module)

    def after(self, module_pass: ModulePass, module: ModuleOp) -> None:
        self._count += 1
        self._write(module_pass.name, module)

    def failed(self, module_pass: ModulePass, module: ModuleOp) -> None:
        self._count += 1
        self._write(f"{module_pass.name}_failed", module)

    def _write(self, name: str, module: ModuleOp) -> None:
        folder = self._folder / f"{self._part:02}" if self._many else self._folder
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{self._count:02}_{name}.mlir").write_text(self._printed(module), encoding="utf-8")


# Times ---------------------------------------------------------------------------------------------------------------


@dataclass
class Timer:
    """One node of the tree of times."""

    name: str
    seconds: float = 0.0
    inner: dict[str, "Timer"] = field(default_factory=dict[str, "Timer"])

    def child(self, name: str) -> "Timer":
        return self.inner.setdefault(name, Timer(name))

    @contextmanager
    def measuring(self) -> Generator[None]:
        start = perf_counter()
        try:
            yield
        finally:
            self.seconds += perf_counter() - start


RULE = "===" + "-" * 73 + "==="


def time_report(total: Timer) -> str:
    """The tree of times in the manner of MLIR; what no child accounts for is its `Rest`."""
    lines = [RULE, f"{'... Execution time report ...':^79}".rstrip(), RULE]
    lines += [f"  Total Execution Time: {total.seconds:.4f} seconds", "", "  ----Wall Time----  ----Name----"]

    def line(seconds: float, name: str, depth: int) -> str:
        share = 100 * seconds / total.seconds if total.seconds else 0.0
        return f"  {seconds:9.4f} ({share:5.1f}%)  {'  ' * depth}{name}"

    def add(timer: Timer, depth: int) -> None:
        for inner in timer.inner.values():
            lines.append(line(inner.seconds, inner.name, depth))
            add(inner, depth + 1)
        rest = timer.seconds - sum(inner.seconds for inner in timer.inner.values())
        if timer.inner and rest > 0:
            lines.append(line(rest, "Rest", depth))

    add(total, 0)
    lines.append(line(total.seconds, "Total", 0))
    return "\n".join(lines) + "\n"


# Statistics ----------------------------------------------------------------------------------------------------------


Reports = Counter[tuple[Severity, str]]
"""How many diagnostics there are of each severity and code."""


@dataclass
class _Counts:
    """What one pass found and left, summed over the parts of a split input."""

    runs: int = 0
    changed: int = 0
    before: int = 0
    after: int = 0
    reports: Reports = field(default_factory=Reports)


class Statistics(Watcher):
    """Counts operations and diagnostics around every pass."""

    def __init__(self, engine: Callable[[], DiagnosticEngine], printed: Printed) -> None:
        self._engine = engine
        self._printed = printed
        self._counts: dict[str, _Counts] = {}
        self._text = ""
        self._reported = Reports()

    def before(self, module_pass: ModulePass, module: ModuleOp) -> None:
        counts = self._counts.setdefault(module_pass.name, _Counts())
        counts.runs += 1
        counts.before += _operations(module)
        self._text = self._printed(module)
        self._reported = self._reports()

    def after(self, module_pass: ModulePass, module: ModuleOp) -> None:
        counts = self._counts[module_pass.name]
        counts.after += _operations(module)
        counts.changed += self._printed(module) != self._text
        counts.reports += self._reports() - self._reported

    failed = after

    def _reports(self) -> Reports:
        return Reports((d.severity, d.code) for d in self._engine().diagnostics)

    def report(self) -> str:
        lines = [RULE, f"{'... Pass statistics report ...':^79}".rstrip(), RULE]
        for name, counts in self._counts.items():
            lines.append(name)
            lines.append(f"  {counts.runs:6} runs, {counts.changed} of them changed the program")
            lines.append(f"  {counts.before:6} operations before, {counts.after} after")
            lines += [
                f"  {number:6} {severity}{'s' if number > 1 else ''} {code}"
                for (severity, code), number in counts.reports.items()
            ]
        return "\n".join(lines) + "\n"


def _operations(module: ModuleOp) -> int:
    return sum(1 for _ in module.walk()) - 1
