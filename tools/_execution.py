"""What `ucutlass-run` does once it is understood: inputs, the run, and a comparison with the reference.

Imports the compiler, the interpreter and the runtime; PyTorch when something is run.
"""

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from ucutlass_tools._arrays import bind_array, load_array, save_arrays, stored_array
from ucutlass_tools._input import read_input, sizes
from ucutlass_tools._kernels import chosen_kernels, complete_sizes, own_sizes
from ucutlass_tools._main import Exit
from ucutlass_tools._program import Program, into
from ucutlass_tools._summaries import Row, summarized

from ucutlass.diagnostics.core import Diagnostic, DiagnosticEngine, DiagnosticError, Severity
from ucutlass.dialects.ucutlass.kernel import KernelOp, kernels_of
from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.errors import MachineError
from ucutlass.interpreter import Signature, interpret, random_inputs
from ucutlass.interpreter.inputs import Distribution
from ucutlass.interpreter.machine import Machine

if TYPE_CHECKING:
    from types import ModuleType

    from torch import Tensor

    from ucutlass.runtime.validation.compare import Comparison


@dataclass
class Execution:
    """All runs of one call."""

    args: argparse.Namespace
    files: Mapping[str, str]
    """The `.npy` file of each argument that has one."""
    engine: DiagnosticEngine = field(init=False)
    exit_code: int = Exit.OK

    def __post_init__(self) -> None:
        self.given = read_input(self.args.input_file, self.args.frontend)
        self.program = Program(self.given, self.args.max_errors)
        self.engine = self.program.engine

    def run(self) -> list[Row]:
        """Every chosen kernel at every combination of sizes; what goes wrong ends in the engine."""
        rows: list[Row] = []
        combinations = list(sizes(self.args.dim))
        self.program.read(self.args.target).run(["infer"])
        if self.program.fine:
            with into(self.engine, self.given.source):
                kernels = chosen_kernels(self.program, self.args.kernel)
                self._require_arguments(kernels)
                self.torch = _torch()
                if self.args.interpret or self._compile():
                    rows += (
                        self._run(kernel, dims)
                        for kernel in kernels
                        for dims in own_sizes(kernel, kernels, combinations)
                    )
        if self.engine.has_errors and self.exit_code == Exit.OK:
            self.exit_code = Exit.INPUT
        return rows

    def _require_arguments(self, kernels: list[KernelOp]) -> None:
        """Every given file must be for some argument: one that is not would silently do nothing."""
        labels = {label for kernel in kernels for label, _ in Signature.of(kernel).arguments}
        for name in self.files:
            if name not in labels:
                message = f"--input names '{name}', but the arguments are {', '.join(sorted(labels))}"
                raise DiagnosticError(Diagnostic("UC0201", Severity.ERROR, message))

    # Building --------------------------------------------------------------------------------------------------------

    def _compile(self) -> bool:
        """Builds the program for the GPU; whether that worked. What did not has been reported."""
        from ucutlass_tools._build import build_programs, exit_code  # only the GPU needs it

        if not self.torch.cuda.is_available():
            message = "there is no GPU that PyTorch can use; --interpret computes the same on the CPU"
            raise MachineError(message, "UC0901")
        program = Program(self.given, max_errors=0).read(self.args.target).lower()
        source = program.cuda()
        self.engine.extend(program.engine.diagnostics)
        (built,) = build_programs([program], [source], self.args, self.engine)
        self.engine.extend(built.diagnostics)
        self.exit_code = exit_code([built])
        self.library = built.library
        return built.library is not None

    def _fused(self, kernel: KernelOp) -> KernelOp:
        """The kernel as the compiler cuts it, whose roundings the reference allows for."""
        program = Program(self.given, max_errors=0).read(self.args.target).run(["infer", "fuse"])
        assert program.module is not None
        return next(found for found in kernels_of(program.module) if found.sym_name == kernel.sym_name)

    # One run ---------------------------------------------------------------------------------------------------------

    def _run(self, kernel: KernelOp, dims: Mapping[str, int]) -> Row:
        signature = Signature.of(kernel)
        files = {label: self.files[label] for label, _ in signature.arguments if label in self.files}
        arrays = {label: load_array(self.torch, path) for label, path in files.items()}
        given = dict(dims)
        for label, type_ in signature.arguments:
            if label in arrays:
                bind_array(self.files[label], label, type_, arrays[label], given)
        bound = complete_sizes(kernel, given)
        machine = Machine(self.torch, sizes=bound)
        inputs = self._inputs(kernel, machine, arrays)
        results = self._interpreted(kernel, inputs) if self.args.interpret else self._launched(kernel, inputs)
        types = dict(zip(_result_names(kernel), kernel.declared_types, strict=True))
        compared = self._compared(kernel, list(types), inputs, results)
        prefix = ".".join([signature.name, *(f"{name}{size}" for name, size in dims.items())])
        saved: list[str] = []
        if self.args.save is not None:
            saved += save_arrays(machine, self.args.save, prefix, dict(signature.arguments), inputs)
            saved += save_arrays(machine, self.args.save, prefix, types, results)
        return Row(
            file=self.given.source.name,
            kernel=signature.name,
            arch=self.program.arch,
            device="interpreter" if self.args.interpret else self.torch.cuda.get_device_name(),
            sizes=bound,
            seed=self.args.seed,
            inputs=tuple(
                summarized(machine, name, type_, value)
                for (name, type_), value in zip(signature.arguments, inputs, strict=True)
            ),
            results=tuple(
                summarized(machine, name, type_, result, comparison)
                for (name, type_), result, comparison in zip(types.items(), results, compared, strict=True)
            ),
            printed=tuple(_printed(machine, types, results)) if self.args.print_values else (),
            saved=tuple(saved),
        )

    def _inputs(self, kernel: KernelOp, machine: Machine, arrays: "Mapping[str, Tensor]") -> "list[Tensor]":
        distribution = cast(Distribution, self.args.distribution)
        drawn = random_inputs(kernel, machine.sizes, self.args.seed, distribution)
        return [
            stored_array(machine, self.files[label], label, type_, arrays[label]) if label in arrays else random
            for (label, type_), random in zip(Signature.of(kernel).arguments, drawn, strict=True)
        ]

    def _interpreted(self, kernel: KernelOp, inputs: "list[Tensor]") -> "list[Tensor]":
        assert self.program.module is not None
        return interpret(self.program.module, kernel.sym_name.data, inputs)

    def _launched(self, kernel: KernelOp, inputs: "list[Tensor]") -> "list[Tensor]":
        from ucutlass.runtime.library import CompiledKernel  # only the GPU needs it

        assert self.library is not None
        compiled = CompiledKernel(self.library.path, kernel.sym_name.data)
        results = compiled(*(tensor.cuda() for tensor in inputs))
        self.torch.cuda.synchronize()
        return [result.cpu() for result in (results if isinstance(results, tuple) else (results,))]

    def _compared(
        self, kernel: KernelOp, names: list[str], inputs: "list[Tensor]", results: "list[Tensor]"
    ) -> "list[Comparison | None]":
        """Holds results against the program's meaning in double precision; what differs is reported."""
        if not self.args.compare:
            return [None for _ in results]
        from ucutlass.runtime.validate import CODES, frobenius_limits  # only a comparison needs it
        from ucutlass.runtime.validation.compare import compare
        from ucutlass.runtime.validation.expected import expected_results

        expected = expected_results(kernel if self.args.interpret else self._fused(kernel), inputs)
        limits = frobenius_limits(kernel)
        found: list[Comparison | None] = []
        for name, result, wanted, limit in zip(names, results, expected, limits, strict=True):
            comparison = compare(result, wanted, non_finite="match", frobenius_limit=limit)
            if comparison.fault is not None:
                self.engine.error(CODES[comparison.fault], f"result {name}: {comparison.message}")
            found.append(comparison)
        return found


def _torch() -> "ModuleType":
    try:
        import torch  # two seconds
    except ImportError as error:
        raise MachineError(f"PyTorch is not installed ({error}): pip install 'ucutlass[torch]'", "UC0012") from error
    return torch


def _printed(machine: Machine, types: Mapping[str, TensorType], results: "list[Tensor]") -> Iterator[str]:
    for (name, type_), result in zip(types.items(), results, strict=True):
        text = str(machine.load(result, type_, name))
        yield f"  {name} =\n    " + text.replace("\n", "\n    ")


def _result_names(kernel: KernelOp) -> list[str]:
    """What results are called: as in the program, else by number; never as an argument is."""
    taken = {argument.name_hint for argument in kernel.body.block.args}
    names: list[str] = []
    values = kernel.return_op.values
    for index, value in enumerate(values):
        name = value.name_hint or ("result" if len(values) == 1 else f"result{index}")
        while name in taken:
            name += "_"
        taken.add(name)
        names.append(name)
    return names
