"""What `ucutlass-run` does once it is understood: inputs, the run, and a summary of what came out.

Imports the compiler, the interpreter and the runtime; PyTorch and NumPy when something is run.
"""

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, cast

from ucutlass_tools._input import read_input, sizes
from ucutlass_tools._main import Exit
from ucutlass_tools._output import make_folder
from ucutlass_tools._program import Program, into
from ucutlass_tools._summaries import NUMPY, Row, Summary, summarized

from ucutlass.diagnostics.core import Diagnostic, DiagnosticEngine, DiagnosticError, Severity
from ucutlass.dialects.ucutlass.kernel import KernelOp, kernels_of
from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.errors import MachineError, UsageError
from ucutlass.interpreter import Signature, complete_bindings, interpret, random_inputs
from ucutlass.interpreter.inputs import Distribution
from ucutlass.interpreter.machine import Machine

if TYPE_CHECKING:
    from types import ModuleType

    from torch import Tensor

    from ucutlass.runtime.library import CompiledKernel


@dataclass
class Execution:
    """All runs of one call."""

    args: argparse.Namespace
    files: Mapping[str, str]
    """The `.npy` file of each argument that has one."""
    engine: DiagnosticEngine = field(init=False)
    exit_code: int = Exit.OK

    def __post_init__(self) -> None:
        self.torch = _torch()
        self.given = read_input(self.args.input_file, self.args.frontend)
        self.program = Program(self.given, self.args.max_errors)
        self.engine = self.program.engine
        self.used: set[str] = set()
        """The files that some kernel has taken."""

    def run(self) -> list[Row]:
        """Every chosen kernel at every combination of sizes; what goes wrong ends in the engine."""
        rows: list[Row] = []
        combinations = list(sizes(self.args.dim))
        if not self.args.interpret:
            self._require_gpu()
        self.program.read(self.args.target).run(["infer"])
        if self.program.fine:
            with into(self.engine, self.given.source):
                kernels = self._chosen()
                compiled = {} if self.args.interpret else self._compiled(kernels)
                for kernel in kernels:
                    for combination in combinations:
                        rows.append(self._run(kernel, combination, compiled.get(kernel.sym_name.data)))
                self._require_all_used()
        if self.engine.has_errors and self.exit_code == Exit.OK:
            self.exit_code = Exit.INPUT
        return rows

    def _require_gpu(self) -> None:
        if not self.torch.cuda.is_available():
            raise MachineError(
                "there is no GPU that PyTorch can use; --interpret computes the same on the CPU", "UC0901"
            )

    def _chosen(self) -> list[KernelOp]:
        assert self.program.module is not None
        kernels = kernels_of(self.program.module)
        if self.args.kernel is None:
            return kernels
        chosen = [kernel for kernel in kernels if kernel.sym_name.data == self.args.kernel]
        if not chosen:
            names = ", ".join(self.program.kernel_names)
            self._refuse("UC0020", f"there is no kernel '{self.args.kernel}'; there are {names}")
        return chosen

    def _refuse(self, code: str, message: str) -> None:
        raise DiagnosticError(Diagnostic(code, Severity.ERROR, message))

    def _require_all_used(self) -> None:
        for name in sorted(self.files.keys() - self.used):
            self._refuse("UC1001", f"--input names '{name}', but no kernel that is run has such an argument")

    # Building --------------------------------------------------------------------------------------------------------

    def _compiled(self, kernels: list[KernelOp]) -> "dict[str, CompiledKernel]":
        """The built kernels by name; none where building failed, which has been reported."""
        from ucutlass_tools._build import build_programs, exit_code

        from ucutlass.runtime.library import CompiledKernel  # only the GPU needs it

        program = Program(self.given, self.args.max_errors).read(self.args.target).lower()
        source = program.cuda()
        self.engine.extend(program.engine.diagnostics)
        built = build_programs([program], [source], self.args, self.engine)
        self.engine.extend(built[0].diagnostics)
        library = built[0].library
        if library is None:
            self.exit_code = exit_code(built)
            kernels.clear()
            self.used |= self.files.keys()
            return {}
        names = [kernel.sym_name.data for kernel in kernels]
        return {name: CompiledKernel(library.path, name) for name in names}

    # One run ---------------------------------------------------------------------------------------------------------

    def _run(self, kernel: KernelOp, dims: Mapping[str, int], compiled: "CompiledKernel | None") -> Row:
        signature = Signature.of(kernel)
        arrays = self._arrays(signature)
        bound = self._bound(signature, dims, arrays)
        inputs = self._inputs(kernel, signature, bound, arrays)
        results = self._interpreted(kernel, inputs) if compiled is None else self._launched(compiled, inputs)
        machine = Machine(self.torch, sizes=bound)
        types = dict(zip(_result_names(kernel), kernel.declared_types, strict=True))
        references = self._references(kernel, inputs)
        summaries = [
            self._summary(machine, name, type_, result, reference)
            for (name, type_), result, reference in zip(types.items(), results, references, strict=True)
        ]
        tensors = [(dict(signature.arguments), inputs), (types, results)]
        return Row(
            file=self.given.source.name,
            kernel=signature.name,
            arch=self.program.arch,
            device="interpreter" if compiled is None else self.torch.cuda.get_device_name(),
            sizes={name: bound[name] for name in signature.dimension_names},
            seed=self.args.seed,
            inputs=tuple(
                self._summary(machine, name, type_, value)
                for (name, type_), value in zip(signature.arguments, inputs, strict=True)
            ),
            results=tuple(summaries),
            printed=tuple(self._printed(machine, types, results)) if self.args.print_values else (),
            saved=tuple(
                path
                for named, values in (tensors if self.args.save is not None else [])
                for path in self._saved(machine, signature.name, dims, named, values)
            ),
        )

    def _interpreted(self, kernel: KernelOp, inputs: "list[Tensor]") -> "list[Tensor]":
        assert self.program.module is not None
        return interpret(self.program.module, kernel.sym_name.data, inputs)

    def _launched(self, compiled: "CompiledKernel", inputs: "list[Tensor]") -> "list[Tensor]":
        results = compiled(*(tensor.cuda() for tensor in inputs))
        self.torch.cuda.synchronize()
        return [result.cpu() for result in (results if isinstance(results, tuple) else (results,))]

    def _references(self, kernel: KernelOp, inputs: "list[Tensor]") -> "list[Tensor | None]":
        if not self.args.compare:
            return [None for _ in kernel.declared_types]
        assert self.program.module is not None
        return [*interpret(self.program.module, kernel.sym_name.data, inputs, precision="f64")]

    # Inputs ----------------------------------------------------------------------------------------------------------

    def _arrays(self, signature: Signature) -> "dict[str, Tensor]":
        """The given arrays of this kernel's arguments."""
        names = [name for name, _ in signature.arguments if name in self.files]
        self.used |= set(names)
        return {name: _loaded(self.torch, self.files[name]) for name in names}

    def _bound(self, signature: Signature, dims: Mapping[str, int], arrays: "Mapping[str, Tensor]") -> dict[str, int]:
        """The size of every dimension name: as given, and as the given arrays have it."""
        for name in dims:
            if name not in signature.dimension_names:
                known = ", ".join(signature.dimension_names) or "none"
                self._refuse("UC0213", f"kernel {signature.name} has no dimension {name}, there are: {known}")
        found = dict(dims)
        for label, type_ in signature.arguments:
            if label not in arrays:
                continue
            shape = tuple(arrays[label].shape)
            if len(shape) != type_.rank:
                self._refuse(
                    "UC1002", f"argument {label} is {type_.spelling}, but {self.files[label]} has shape {shape}"
                )
            for dim, size in zip(type_.dims, shape, strict=True):
                if dim.name is not None:
                    found.setdefault(dim.name, size)
        missing = [name for name in signature.dimension_names if name not in found]
        defined = {name for condition in signature.where for name, _ in condition.definitions}
        if open_names := [name for name in missing if name not in defined]:
            flags = " ".join(f"--dim {name}=SIZE" for name in open_names)
            self._refuse("UC0009", f"kernel {signature.name} leaves {', '.join(open_names)} open: add {flags}")
        return complete_bindings(signature, found)

    def _inputs(
        self, kernel: KernelOp, signature: Signature, bound: Mapping[str, int], arrays: "Mapping[str, Tensor]"
    ) -> "list[Tensor]":
        machine = Machine(self.torch, sizes=bound)
        drawn = random_inputs(kernel, bound, self.args.seed, cast(Distribution, self.args.distribution))
        return [
            self._stored(machine, label, type_, arrays[label]) if label in arrays else random
            for (label, type_), random in zip(signature.arguments, drawn, strict=True)
        ]

    def _stored(self, machine: Machine, label: str, type_: TensorType, values: "Tensor") -> "Tensor":
        path = self.files[label]
        shape = machine.shape_of(type_)
        if tuple(values.shape) != shape:
            self._refuse("UC1002", f"argument {label} has shape {shape}, but {path} has {tuple(values.shape)}")
        element = type_.element
        kind = "float" if values.is_floating_point() else "bool" if values.dtype == self.torch.bool else "integer"
        wanted = "float" if element.is_float else "integer" if element.is_integer else "bool"
        if kind != wanted:
            self._refuse(
                "UC1005", f"argument {label} is {element}, but {path} holds {values.dtype}: save a {wanted} array"
            )
        stored = machine.store(values, type_)
        if element.is_integer and not machine.load(stored, type_, label).equal(machine.computed(values, element)):
            self._refuse("UC1005", f"{path} holds integers outside of the range of {element}, the type of {label}")
        return stored

    # Results ---------------------------------------------------------------------------------------------------------

    def _summary(
        self, machine: Machine, name: str, type_: TensorType, stored: "Tensor", reference: "Tensor | None" = None
    ) -> Summary:
        summary = summarized(machine, name, type_, stored, reference)
        if not summary.right:
            self.engine.error(
                "UC1011",
                f"result {name} differs from the reference by {summary.error:.3g} of its norm, more than the "
                f"{summary.error_limit:.3g} that rounding to {type_.element} explains",
            )
        return summary

    def _printed(self, machine: Machine, types: Mapping[str, TensorType], results: "list[Tensor]") -> Iterator[str]:
        for (name, type_), result in zip(types.items(), results, strict=True):
            text = str(machine.load(result, type_, name))
            yield f"  {name} =\n    " + text.replace("\n", "\n    ")

    def _saved(
        self,
        machine: Machine,
        kernel: str,
        dims: Mapping[str, int],
        types: Mapping[str, TensorType],
        tensors: "list[Tensor]",
    ) -> Iterator[str]:
        import numpy  # a tenth of a second, and most calls save nothing

        make_folder(self.args.save)
        at = "".join(f".{name}{size}" for name, size in dims.items())
        for (name, type_), tensor in zip(types.items(), tensors, strict=True):
            path = Path(self.args.save) / f"{kernel}{at}.{name}.npy"
            values = machine.load(tensor, type_, name).numpy()
            numpy.save(path, values.astype(NUMPY.get(type_.element.name, "float32")))
            yield str(path)


def _torch() -> "ModuleType":
    try:
        import torch
    except ImportError as error:
        raise MachineError(f"PyTorch is not installed ({error}): pip install 'ucutlass[torch]'", "UC0012") from error
    return torch


def _loaded(torch: "ModuleType", path: str) -> "Tensor":
    import numpy  # a tenth of a second, and most calls have no files

    try:
        array = numpy.load(path, allow_pickle=False)
        tensor: Tensor = torch.from_numpy(numpy.ascontiguousarray(array).reshape(array.shape))
    except OSError as error:
        raise UsageError(f"argument --input: cannot read {path!r}: {error.strerror or error}", "UC0004") from error
    except (ValueError, TypeError, AttributeError) as error:
        raise UsageError(f"argument --input: {path!r} is no array of numbers: {error}", "UC1005") from error
    return tensor


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
