"""From the text of a program to kernels that can be called: what `ucutlass.kernel` and `ucutlass.compile` do.

Imports the compiler, so it is itself imported when a program is compiled.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp, StringAttr

from ucutlass.backend.cuda.emit import emit_cuda
from ucutlass.diagnostics.core import Diagnostic, DiagnosticEngine
from ucutlass.diagnostics.locations import set_engine
from ucutlass.dialects.ucutlass.kernel import TARGET_ATTRIBUTE, kernels_of, target_of
from ucutlass.errors import UsageError
from ucutlass.frontend.sources import record_sources
from ucutlass.registry import DIALECTS, FRONTENDS, PASSES, PIPELINES, find
from ucutlass.runtime.build import BuiltKernel, build_kernel
from ucutlass.runtime.cache import Cache
from ucutlass.runtime.library import CompiledKernel
from ucutlass.runtime.toolchain import Toolchain

_START = re.compile(r"\s*(?:#[^\n]*\n\s*)*(?:target|kernel)\b")


@dataclass(frozen=True)
class CompiledProgram:
    """The kernels of one program by name, and how they were built."""

    kernels: Mapping[str, CompiledKernel]
    built: BuiltKernel
    diagnostics: tuple[Diagnostic, ...] = field(default=())
    """Warnings and remarks of the compiler and of ptxas."""

    def __getitem__(self, name: str) -> CompiledKernel:
        if name not in self.kernels:
            raise UsageError(f"the program has no kernel {name!r}; it has {', '.join(self.kernels)}")
        return self.kernels[name]


def compile(
    source: str | os.PathLike[str],
    *,
    target: str | None = None,
    toolchain: Toolchain | None = None,
    cache: Cache | None = None,
    jobs: int | None = None,
) -> CompiledProgram:
    """Compiles a program: its text, or the path of a `.ucu` or `.mlir` file. No GPU is needed.

    `target` is for a program without a `target` line. Raises DiagnosticError where the program is wrong and
    MachineError where the machine lacks something.
    """
    name, text, language = _read(source)
    engine = DiagnosticEngine(max_errors=0)
    module, ctx = _parsed(name, text, language, engine)
    if target is not None and TARGET_ATTRIBUTE not in module.attributes:
        module.attributes[TARGET_ATTRIBUTE] = StringAttr(target)
    arch, names = target_of(module), [kernel.sym_name.data for kernel in kernels_of(module)]
    record_sources(module)
    for step in PIPELINES["default"].passes:
        PASSES[step].load()().apply(ctx, module)
        engine.raise_if_errors()
    built = build_kernel(
        emit_cuda(module),
        arch=arch,
        name=names[0] if len(names) == 1 else "program",
        toolchain=toolchain,
        cache=cache,
        jobs=jobs,
    )
    kernels = {kernel: CompiledKernel(built.path, kernel) for kernel in names}
    return CompiledProgram(kernels, built, (*engine.diagnostics, *built.diagnostics))


def kernel(
    source: str | os.PathLike[str],
    name: str | None = None,
    *,
    target: str | None = None,
    toolchain: Toolchain | None = None,
    cache: Cache | None = None,
    jobs: int | None = None,
) -> CompiledKernel:
    """One kernel of a program, compiled: `ucutlass.kernel(source)(x, w, b)`. A program with several needs a name."""
    program = compile(source, target=target, toolchain=toolchain, cache=cache, jobs=jobs)
    if name is not None:
        return program[name]
    if len(program.kernels) != 1:
        raise UsageError(f"the program has {len(program.kernels)} kernels: name one of {', '.join(program.kernels)}")
    (only,) = program.kernels.values()
    return only


def _read(source: str | os.PathLike[str]) -> tuple[str, bytes, str]:
    """Name, text and language of a source."""
    if isinstance(source, str) and ("\n" in source or "{" in source):
        return "<program>", source.encode("utf-8"), "ucu" if _START.match(source) else "mlir"
    path = Path(source)
    if path.suffix not in (".ucu", ".mlir"):
        raise UsageError(f"{str(path)!r} is neither the text of a program nor the name of a .ucu or .mlir file")
    try:
        return str(path), path.read_bytes(), path.suffix.removeprefix(".")
    except OSError as error:
        raise UsageError(f"cannot read {str(path)!r}: {error.strerror}", "UC0004") from error


def _parsed(name: str, text: bytes, language: str, engine: DiagnosticEngine) -> tuple[ModuleOp, Context]:
    ctx = Context()
    ctx.load_dialect(Builtin)
    for dialect, entry in DIALECTS.items():
        ctx.register_dialect(dialect, entry.load)
    set_engine(ctx, engine)
    frontend = find(FRONTENDS, "language", language).load()()
    module = frontend.parse(ctx, BytesIO(text), name)
    engine.raise_if_errors()
    return module, ctx
