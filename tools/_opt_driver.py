"""The second phase of `ucutlass-opt`: xDSL's driver with our input, our diagnostics and our view of the passes.

Imports xDSL. `xDSLOptMain` reads the flags, knows dialects, frontends and output forms, and prints programs; reading
parts of a file, collecting what is wrong with each and writing only what is right happens here.
"""

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from io import BytesIO, StringIO
from pathlib import Path
from time import perf_counter
from typing import cast

from ucutlass_tools import _watch as watch
from ucutlass_tools._input import Input, read_input, split
from ucutlass_tools._main import REPRODUCER, Exit
from ucutlass_tools._opt_flags import COMMAND_LINE
from ucutlass_tools._output import write_output
from ucutlass_tools._pipeline import read_names, read_pipeline
from ucutlass_tools._program import (
    frontend_of,
    into,
    register_dialects,
    register_foreign_dialects,
    set_target,
    verify,
)
from ucutlass_tools._report import Reporter, fixed_lines
from ucutlass_tools._reproducer import read_call, write_reproducer
from xdsl.dialects.builtin import ModuleOp
from xdsl.frontend import get_all_frontends
from xdsl.ir import Attribute
from xdsl.passes import ModulePass, PassPipeline
from xdsl.printer import Printer
from xdsl.targets import get_all_targets
from xdsl.utils.arg_spec import parse_spec
from xdsl.utils.exceptions import ShrinkException
from xdsl.utils.target import Target
from xdsl.xdsl_opt_main import xDSLOptMain

from ucutlass.diagnostics.core import Diagnostic, DiagnosticEngine, Severity
from ucutlass.diagnostics.expected import check_expectations, parse_expectations
from ucutlass.diagnostics.fixits import apply_fixits
from ucutlass.diagnostics.locations import set_engine
from ucutlass.diagnostics.source import SourceFile
from ucutlass.errors import MachineError, UsageError
from ucutlass.frontend.sources import record_sources
from ucutlass.registry import FRONTENDS, PASSES, TARGETS

_EMPTY = re.compile(r"(?:\s|(?://|#)[^\n]*)*")
"""A part of the input with comments only."""

_MAX_FIX_ROUNDS = 10
"""Mending one error uncovers the next, as past a syntax error; each round mends all that are known."""


def run(arguments: Sequence[str], started: float) -> int:
    """Do what the flags say; the exit code."""
    post_init: Callable[[Attribute], None] = Attribute.__post_init__
    try:
        return Driver(arguments, started).execute()
    finally:
        Attribute.__post_init__ = post_init  # --disable-verify replaces it for the whole process


class Driver(xDSLOptMain):
    """`ucutlass-opt` on one input."""

    def __init__(self, arguments: Sequence[str], started: float) -> None:
        super().__init__(args=arguments)
        self.total = watch.Timer("Total")
        self.started = started
        self.total.child("Start").seconds = perf_counter() - started
        self.engine = DiagnosticEngine()
        self.pass_timer = self.total
        self.reporter = Reporter.of(COMMAND_LINE.tool, self.args)
        self.watchers = self._make_watchers()
        self.current: ModulePass | None = None
        """The pass that runs."""
        self.reproduced = False

    # What there is ---------------------------------------------------------------------------------------------------

    def register_all_dialects(self) -> None:
        register_dialects(self.ctx)

    def register_all_frontends(self) -> None:
        self.available_frontends = {**get_all_frontends(), **{name: e.load for name, e in FRONTENDS.items()}}

    def register_all_passes(self) -> None:
        self.available_passes = {name: entry.load for name, entry in PASSES.items()}

    def register_all_targets(self) -> None:
        self.available_targets = {**get_all_targets(), **{name: e.load for name, e in TARGETS.items()}}

    def register_all_arguments(self, arg_parser: argparse.ArgumentParser) -> None:
        COMMAND_LINE.declare(arg_parser)

    # Passes ----------------------------------------------------------------------------------------------------------

    def setup_pipeline(self) -> None:
        text, what = self.args.passes, "<passes>"
        if text is None:
            text, what = self.args.pass_pipeline, "<pass-pipeline>"
        self.steps = read_pipeline(text, what) if text is not None else []
        self.pipeline = PassPipeline(tuple(step.module_pass for step in self.steps), self._between)

    def _make_watchers(self) -> list[watch.Watcher]:
        args = self.args
        watchers: list[watch.Watcher] = []
        when = watch.Printing(
            read_names(args.print_ir_before, "--print-ir-before"),
            read_names(args.print_ir_after, "--print-ir-after"),
            args.print_ir_before_all,
            args.print_ir_after_all,
            args.print_ir_after_change,
            args.print_ir_after_failure,
        )
        if when.any:
            folder = Path(args.print_ir_tree_dir) if args.print_ir_tree_dir is not None else None
            watchers.append(watch.IRPrinter(when, self._printed, folder))
        if args.dump_ir is not None:
            watchers.append(watch.Dumper(Path(args.dump_ir), self._printed, args.split_input_file))
        self.statistics = watch.Statistics(lambda: self.engine, self._printed)
        if args.pass_statistics:
            watchers.append(self.statistics)
        return watchers

    def _printed(self, module: ModuleOp) -> str:
        stream = StringIO()
        printer = Printer(
            stream,
            print_generic_format=self.args.print_op_generic,
            print_properties_as_attributes=self.args.print_no_properties,
            print_debuginfo=self.args.print_debuginfo,
        )
        printer.print_op(module)
        return stream.getvalue() + "\n"

    def _between(self, previous: ModulePass | None, module: ModuleOp, following: ModulePass | None) -> None:
        """Called by xDSL before the first pass, between passes and after the last."""
        if previous is not None:
            self._took(previous, perf_counter() - self.pass_started)
        # What our own frontend built is verified once a pass has run; in a large program that is a tenth of the time.
        is_built = previous is None and following is not None and self.input.language == "ucu"
        if not self.args.disable_verify and not is_built:
            with self.pass_timer.child("(verify)").measuring():
                verify(module)
        if previous is not None:
            for watcher in self.watchers:
                watcher.after(previous, module)
            if following is not None and self.args.print_between_passes:
                print(f"IR after {previous.name}:\n{self._printed(module)}\n\n")
        self.current = following
        if following is not None:
            for watcher in self.watchers:
                watcher.before(following, module)
        self.pass_started = perf_counter()

    def _took(self, module_pass: ModulePass, seconds: float) -> None:
        if self.args.time_passes:
            print(f"Pass {module_pass.name} took {seconds} seconds")
        step = next((step for step in self.steps if step.module_pass is module_pass), None)
        timer = self.pass_timer
        if step is not None and step.pipeline is not None:
            timer = timer.child(f"'{step.pipeline}'")
            timer.seconds += seconds
        timer.child(module_pass.name).seconds += seconds

    # One part of the input -------------------------------------------------------------------------------------------

    def _process(self, part: SourceFile, index: int, language: str) -> str | None:
        """What one part comes out as; None where it is at fault, which the engine then says."""
        engine = self.engine
        module: ModuleOp | None = None
        with into(engine, part), self.total.child("Parse").measuring():
            module = self.parse_chunk(BytesIO(part.text.encode("utf-8")), language)
        if module is None or engine.has_errors:
            return self._unparsed(engine)
        set_target(engine, module, self.args.arch)
        for watcher in self.watchers:
            watcher.begin(module, index)
        self.pass_timer = self.total.child("Passes")
        done = False
        with into(engine, part), self.pass_timer.measuring():
            if self.args.target.partition("{")[0] == "cuda":
                record_sources(module)
            self.apply_passes(module)
            done = True
        if not done or engine.has_errors:
            self._failed(module)
            return None
        with into(engine, part), self.total.child("Print").measuring():
            return self.output_resulting_program(module)
        return None

    def output_resulting_program(self, prog: ModuleOp) -> str:
        """As xDSL does it; its own output forms end in assertions where they have no text for an operation."""
        spec = parse_spec(self.args.target)
        form = spec.name
        factory = cast(Callable[[], type[Target]], self.available_targets[form])
        try:
            factory().from_spec(spec)
        except ValueError as error:
            raise UsageError(f"argument -t: output form {form}: {error}", "UC0003") from error
        except ModuleNotFoundError as error:
            raise MachineError(f"the output form {form} needs the Python package {error.name}", "UC0012") from error
        try:
            return super().output_resulting_program(prog)
        except (AssertionError, NotImplementedError) as error:
            if form in TARGETS:
                raise
            message = f"{form}, an output form of xDSL, has no text for this program; ours are {', '.join(TARGETS)}"
            raise UsageError(message, "UC0016") from error

    def _unparsed(self, engine: DiagnosticEngine) -> str | None:
        if not self.args.parsing_diagnostics:
            return None
        for diagnostic in engine.diagnostics:
            print(diagnostic)
        self.engine = DiagnosticEngine(max_errors=0)
        return ""

    def _failed(self, module: ModuleOp) -> None:
        if self.current is not None:
            for watcher in self.watchers:
                watcher.failed(self.current, module)

    def _process_all(self, given: Input) -> tuple[DiagnosticEngine, list[str | None]]:
        """The diagnostics of all parts, and what each part comes out as."""
        everything = DiagnosticEngine(self.args.max_errors)
        everything.add_source(given.source)
        outputs: list[str | None] = []
        parts = split(given.source) if self.args.split_input_file else [given.source]
        # What stands before the first separator and after the last is often a comment, or nothing.
        parts = [part for part in parts if not _EMPTY.fullmatch(part.text)] or parts[:1]
        for index, part in enumerate(parts):
            self.engine = DiagnosticEngine(max_errors=0)
            self.engine.add_source(part)
            set_engine(self.ctx, self.engine)
            self.current = None
            try:
                outputs.append(self._process(part, index, given.language))
            except BaseException as error:
                self._reproduce(part, given.language, f"{type(error).__name__}: {error}", error)
                raise
            if outputs[-1] is None:
                self._reproduce(part, given.language, "\n".join(map(str, self.engine.errors)), None)
            everything.extend(self.engine.diagnostics)
        return everything, outputs

    def _reproduce(self, part: SourceFile, language: str, reason: str, error: BaseException | None) -> None:
        path = self.args.crash_reproducer
        if path is None:
            if error is not None:
                error.add_note(f"{REPRODUCER}--crash-reproducer=FILE writes one")
            return
        if self.reproduced or (error is None and self.current is None):
            return  # there is one of an earlier part, or the text itself is at fault
        self.reproduced = True
        where = f"in pass {self.current.name}: " if self.current is not None else ""
        write_reproducer(path, part.text, language, self.args, where + reason)
        if error is not None:
            error.add_note(f"{REPRODUCER}{path}")
        else:
            self.reporter.say([f"{COMMAND_LINE.tool}: {REPRODUCER}{path}"])

    # The whole input -------------------------------------------------------------------------------------------------

    def get_input_name(self) -> str:
        return self.input.source.name

    def execute(self) -> int:
        """Read, process, report, write."""
        with self.total.child("Read").measuring():
            self.input = read_input(self.args.input_file, self.args.frontend)
        frontend_of(self.input.language)  # its options are checked before anything runs
        if self.args.run_reproducer:
            call = read_call(self.input.source.text, self.input.source.name)
            return run([*call, *self._output_flags(), *([self.input.path] if self.input.path else [])], self.started)
        if self.input.language.startswith("mlir"):
            register_foreign_dialects(self.ctx, self.input.source.text)
        try:
            code = self._mend() if self.args.apply_fixits else self._transform()
        except ShrinkException:
            if not self.args.shrink:
                raise
            print("Success, can shrink")
            return Exit.OK
        self._report_watching()
        if self.args.shrink:
            print("Failure, can't shrink")
            return Exit.INPUT
        return code

    def _transform(self) -> int:
        everything, outputs = self._process_all(self.input)
        if self.args.verify_diagnostics:
            everything = self._compared(everything)
        self.reporter.show(everything)
        if everything.has_errors:
            return Exit.INPUT
        separator = "# -----\n" if self.args.target == "ucu" else "// -----\n"
        write_output(self.args.output_file, separator.join(text for text in outputs if text is not None))
        return Exit.OK

    def _compared(self, everything: DiagnosticEngine) -> DiagnosticEngine:
        """What differs from the `expected-…` comments.

        Remarks and notes count where a comment expects one, and remarks where the flags ask for them.
        """
        source = self.input.source
        expected = {expectation.severity for expectation in parse_expectations(source)[0]}
        if self.args.remarks:
            expected.add(Severity.REMARK)
        everything.max_errors = 0
        problems = check_expectations(source, everything.diagnostics, {Severity.REMARK, Severity.NOTE} - expected)
        compared = DiagnosticEngine(self.args.max_errors, everything.sources)
        compared.extend(problems)
        return compared

    def _mend(self) -> int:
        """Apply fix-its until there are none, and check the result."""
        given = self.input
        everything, _ = self._process_all(given)
        mended: list[Diagnostic] = []
        for _ in range(_MAX_FIX_ROUNDS):
            everything.max_errors = 0
            fixable = [d for d in everything.diagnostics if d.severity in (Severity.ERROR, Severity.WARNING)]
            result = apply_fixits(given.source, fixable)
            if not result.changed or result.text == given.source.text:
                break
            mended += result.applied
            given = Input(SourceFile(given.source.name, result.text), given.language, given.path)
            self.input = given
            everything, _ = self._process_all(given)
        everything.max_errors = self.args.max_errors
        if mended or self.args.output_file is not None or given.path is None:
            write_output(self.args.output_file or given.path, given.source.text)
        self.reporter.say(fixed_lines(mended))
        self.reporter.show(everything)
        return Exit.INPUT if everything.has_errors else Exit.OK

    def _report_watching(self) -> None:
        if self.args.pass_statistics:
            sys.stderr.write(self.statistics.report())
        if self.args.timing:
            self.total.seconds = perf_counter() - self.started
            sys.stderr.write(watch.time_report(self.total))

    def _output_flags(self) -> list[str]:
        """The flags of this call that concern the output, for a reproducer's call."""
        flags = [f"--max-errors={self.args.max_errors}", f"--color={self.args.color}", "-t", self.args.target]
        flags += ["-o", self.args.output_file] if self.args.output_file is not None else []
        return [*flags, f"--diagnostics={'json' if self.args.json else self.args.diagnostics}"]
