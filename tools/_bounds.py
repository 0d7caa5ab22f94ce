"""What `ucutlass-sol` does once it is understood: reads the program, fuses a copy of it, and bounds both.

Imports xDSL and the compiler.
"""

import argparse
import json
from dataclasses import dataclass, field

from ucutlass_tools._gpu import gpu_of_target, named_gpu
from ucutlass_tools._input import read_input, sizes
from ucutlass_tools._kernels import chosen_kernels, complete_sizes, own_sizes
from ucutlass_tools._program import Program, into

from ucutlass.diagnostics.core import DiagnosticEngine
from ucutlass.dialects.ucutlass.kernel import KernelOp, kernels_of
from ucutlass.errors import UsageError
from ucutlass.passes.fuse import FusePass
from ucutlass.passes.pipelines import run_passes
from ucutlass.sol.bound import Measured, at_clock
from ucutlass.sol.program import ProgramBound, analyze
from ucutlass.sol.report import report_json, report_text
from ucutlass.targets.gpu import Gpu


@dataclass
class Bounds:
    """All bounds of one call."""

    args: argparse.Namespace
    engine: DiagnosticEngine = field(init=False)

    def __post_init__(self) -> None:
        self._given = read_input(self.args.input_file, self.args.frontend)
        self._program = Program(self._given, self.args.max_errors)
        self.engine = self._program.engine

    def run(self) -> list[ProgramBound]:
        """Every chosen kernel at every combination of sizes; what is wrong with the program ends in the engine."""
        combinations = list(sizes(self.args.dim))
        program = self._program.read(self.args.target).run(["infer"])
        reports: list[ProgramBound] = []
        if not program.fine:
            return reports
        gpu = self._gpu()
        with into(self.engine, self._given.source):
            fused = fused_kernels(program)
            kernels = chosen_kernels(program, self.args.kernel)
            for kernel in kernels:
                for given in own_sizes(kernel, kernels, combinations):
                    complete = complete_sizes(kernel, given)
                    after = fused.get(kernel.sym_name.data)
                    reports.append(self._analyzed(kernel, after, gpu, complete))
        return reports

    def _analyzed(self, kernel: KernelOp, fused: KernelOp | None, gpu: Gpu, complete: dict[str, int]) -> ProgramBound:
        try:
            return analyze(kernel, fused, gpu, complete, self.args.tolerance)
        except ValueError as error:
            raise UsageError(f"argument --gpu: {error}", "UC0003") from error

    def _gpu(self) -> Gpu:
        gpu = gpu_of_target(self._program.arch) if self.args.gpu is None else named_gpu(self.args.gpu)
        return gpu if self.args.at_clock is None else at_clock(gpu, self.args.at_clock * 1e6)

    def shown(self, reports: list[ProgramBound]) -> str:
        """The results as the flags want them."""
        pairs = [(report, self._measured(report)) for report in reports]
        if not self.args.json:
            return "\n".join(report_text(report, measured) for report, measured in pairs)
        objects = [report_json(report, measured) for report, measured in pairs]
        return json.dumps(objects[0] if len(objects) == 1 else objects, indent=2) + "\n"

    def _measured(self, report: ProgramBound) -> Measured | None:
        if self.args.time_us is None:
            return None
        return Measured(self.args.time_us * 1e-6, report.program.time)


def fused_kernels(program: Program) -> dict[str, KernelOp]:
    """The kernels of an inferred program after `fuse`, by name; the program itself stays as it is."""
    assert program.module is not None
    copy = program.module.clone()
    run_passes(program.ctx, copy, [FusePass()])
    return {kernel.sym_name.data: kernel for kernel in kernels_of(copy)}
