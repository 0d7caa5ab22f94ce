"""A text to what is known of it: diagnostics, syntax tree, and the types of its values as far as they can be told.

Imports the frontend, the passes and the diagnostics. Whatever the text, an analysis comes out: somebody is typing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ucutlass_tools._input import Input
from ucutlass_tools._program import Program, into, set_target
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Attribute, Operation, SSAValue

from ucutlass.diagnostics.core import Diagnostic, DiagnosticEngine
from ucutlass.diagnostics.locations import file_location, set_engine
from ucutlass.diagnostics.source import SourceFile
from ucutlass.dialects.ucutlass.kernel import KernelOp, kernels_of
from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.frontend import ast, language_of
from ucutlass.frontend.body import LIST_NAME
from ucutlass.frontend.build import build
from ucutlass.frontend.parse import parse
from ucutlass.passes.infer import InferPass
from ucutlass.passes.pipelines import run_passes
from ucutlass.registry import PASSES, PIPELINES

MOST_ERRORS = 100
"""How many errors an editor is sent; nobody reads more at a time."""

Types = tuple[TensorType, ...]
"""The types of one value, several where it is a list."""


@dataclass(frozen=True)
class KernelTypes:
    """What is known of the values of one kernel."""

    by_name: Mapping[str, Types]
    by_place: Mapping[tuple[int, int], Types]
    """The results of operations, by line and column of the operation's name or sign."""


@dataclass(frozen=True)
class Analysis:
    """What is known of one text."""

    source: SourceFile
    language: str
    """`ucu` or `mlir`."""
    diagnostics: tuple[Diagnostic, ...] = ()
    program: ast.Program | None = None
    """The syntax tree, without what the parser could not make sense of; None for MLIR."""
    types: Mapping[int, KernelTypes] = field(default_factory=dict[int, KernelTypes])
    """By the kernel's place among those of the tree."""

    def value_types(self, kernel: ast.Kernel, name: str) -> Types:
        """The types of a value of a kernel; empty where they are not known."""
        known = self._of(kernel).by_name
        seen = set[str]()
        while name not in known and name not in seen:
            seen.add(name)
            # `y = x` makes no operation: y is what x is.
            values = [s.value for s in kernel.statements if name in [target.text for target in s.targets]]
            if len(values) != 1 or not isinstance(values[0], ast.Name):
                return ()
            name = values[0].text
        return known.get(name, ())

    def result_types(self, kernel: ast.Kernel, offset: int) -> Types:
        """The types that the operation gives whose name or sign is at an offset; empty where they are not known."""
        return self._of(kernel).by_place.get(self.source.position(offset), ())

    def _of(self, kernel: ast.Kernel) -> KernelTypes:
        assert self.program is not None
        return self.types.get(self.program.kernels.index(kernel), KernelTypes({}, {}))


def analyse(name: str, text: str, arch: str | None = None, language: str | None = None) -> Analysis:
    """The analysis of a text; `name` is how its diagnostics call it, `arch` the target where it names none."""
    source = SourceFile(name, text)
    language = language or language_of(name, text)
    return _ucu(source, arch) if language == "ucu" else _mlir(source, language, arch)


def _mlir(source: SourceFile, language: str, arch: str | None) -> Analysis:
    program = Program(Input(source, language, source.name), MOST_ERRORS).read(arch).run(PIPELINES["verify"].passes)
    return Analysis(source, language, program.engine.diagnostics)


def _ucu(source: SourceFile, arch: str | None) -> Analysis:
    engine = DiagnosticEngine(MOST_ERRORS)
    engine.add_source(source)
    program = parse(source, engine)
    if program is None:
        return Analysis(source, "ucu", engine.diagnostics)
    module = build(source, program, engine)
    ctx = Context()
    if engine.has_errors:
        # The rest of the program has types all the same; what is wrong with them is said once it can be read.
        set_engine(ctx, DiagnosticEngine())
        with into(DiagnosticEngine(), source):
            InferPass().apply(ctx, module)
    else:
        set_engine(ctx, engine)
        set_target(engine, module, arch)
        with into(engine, source):
            run_passes(ctx, module, [PASSES[name].load()() for name in PIPELINES["verify"].passes])
    return Analysis(source, "ucu", engine.diagnostics, program, _types(program, module))


def _types(program: ast.Program, module: ModuleOp) -> dict[int, KernelTypes]:
    read = [index for index, kernel in enumerate(program.kernels) if not kernel.broken]
    return {index: _kernel_types(op) for index, op in zip(read, kernels_of(module), strict=True)}


def _kernel_types(kernel: KernelOp) -> KernelTypes:
    by_name: dict[str, Types] = {}
    by_place: dict[tuple[int, int], Types] = {}
    for value in kernel.body.block.args:
        _name(by_name, value)
    for op in kernel.body.block.ops:
        for value in op.results:
            _name(by_name, value)
        types = _tensors(op)
        place = file_location(op.location)
        if types and place is not None:
            by_place[place.line.data, place.column.data] = types
        list_name = op.attributes.get(LIST_NAME)
        if types and isinstance(list_name, StringAttr):
            by_name[list_name.data] = types
    return KernelTypes(by_name, by_place)


def _name(by_name: dict[str, Types], value: SSAValue) -> None:
    if value.name_hint is not None and isinstance(value.type, TensorType):
        by_name[value.name_hint] = (value.type,)


def _tensors(op: Operation) -> Types:
    """The types of an operation's results, if all are known."""
    types: list[Attribute] = [result.type for result in op.results]
    known = tuple(type_ for type_ in types if isinstance(type_, TensorType))
    return known if len(known) == len(types) else ()
