"""The syntax tree of a `.ucu` file to a module of the `ucutlass` dialect.

Imports the readers of a kernel's parts and the dialect. Every result is `!ucutlass.unresolved`; `infer` types it. Every
operation has the place of its name as location.
"""

from xdsl.dialects.builtin import ModuleOp, StringAttr

from ucutlass.diagnostics.core import DiagnosticEngine
from ucutlass.diagnostics.source import SourceFile
from ucutlass.dialects.ucutlass.kernel import TARGET_ATTRIBUTE, KernelOp
from ucutlass.frontend.ast import Kernel, Name, Program
from ucutlass.frontend.body import BodyBuilder
from ucutlass.frontend.header import HeaderReader
from ucutlass.frontend.places import Places
from ucutlass.frontend.report import Reporter


def build(source: SourceFile, program: Program, engine: DiagnosticEngine) -> ModuleOp:
    """The module of a program; only good where the engine has no errors afterwards."""
    report = Reporter(source, engine, len(engine.errors))
    places = Places(source, program)
    engine.register_parts(source.name, places)
    module = ModuleOp([])
    module.location = places.location(program.start)
    if program.target is not None and program.target.text:
        _check_target(report, program.target)
        module.attributes[TARGET_ATTRIBUTE] = StringAttr(program.target.text)
    first: dict[str, Name] = {}
    for kernel in program.kernels:
        if kernel.broken:
            continue
        name = kernel.name
        if name.text in first:
            notes = [report.note("the first", first[name.text])]
            report.error("UC0209", name, f"two kernels are called '{name.text}'", notes)
        first.setdefault(name.text, name)
        module.body.block.add_op(_kernel(report, places, kernel))
    return module


def _check_target(report: Reporter, name: Name) -> None:
    # Most programs leave the target to the tool.
    from ucutlass.targets.arch import UnknownTargetError, architecture

    try:
        architecture(name.text)
    except UnknownTargetError as error:
        fixits = [report.replace(name, error.fix)] if error.fix is not None else []
        report.error("UC0106", name, str(error), fixits=fixits)


def _kernel(report: Reporter, places: Places, kernel: Kernel) -> KernelOp:
    header = HeaderReader(report, kernel).read()
    op = KernelOp.of(kernel.name.text, header.parameters, header.results, header.conditions)
    op.location = places.add(kernel.name.start, kernel, kernel)
    for parameter, argument in zip(kernel.parameters, op.body.block.args, strict=True):
        argument.location = places.location(parameter.name.start)
    BodyBuilder(report, places, kernel, op.body.block, header.dimensions, op.facts).build()
    return op
