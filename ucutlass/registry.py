"""The one table of what the compiler has: name, place and one line of help of every dialect, pass, frontend and target.

A leaf: imports only leaves. The tools answer `--help` and the `--list-…` flags from it; a class is
imported when its entry is loaded. Other packages add dialects and passes through the entry-point groups
`ucutlass.dialects` and `ucutlass.passes` (value `module:Class`).
"""

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Generic, TypeVar

from ucutlass.errors import UsageError
from ucutlass.records import record

if TYPE_CHECKING:
    from xdsl.ir import Dialect
    from xdsl.passes import ModulePass
    from xdsl.utils.frontend import Frontend
    from xdsl.utils.target import Target

T = TypeVar("T")


class RegistryError(UsageError):
    """A name that is not in the table, or a package that adds one that already is."""


@record
class Entry(Generic[T]):
    """Where one thing lives; `T` is what loading gives."""

    name: str
    path: str
    """`module:Class`."""
    help: str
    """One line, as shown by `--list-…`."""

    def load(self) -> T:
        module, _, attribute = self.path.partition(":")
        loaded: T = getattr(import_module(module), attribute)
        return loaded


@record
class Pipeline:
    """A name that stands for several passes wherever a pass name may stand."""

    name: str
    passes: tuple[str, ...]
    help: str


def _table(*entries: Entry[T]) -> Mapping[str, Entry[T]]:
    return {entry.name: entry for entry in entries}


DIALECTS: "Mapping[str, Entry[Dialect]]" = _table(
    Entry(
        "ucutlass", "ucutlass.dialects.ucutlass:Ucutlass", "kernels as dataflow over tensors, with their configuration"
    ),
    Entry("cutlass", "ucutlass.dialects.cutlass:Cutlass", "one operation for each C++ template of an emitted kernel"),
)

PASSES: "Mapping[str, Entry[type[ModulePass]]]" = _table(
    Entry("infer", "ucutlass.passes.infer:InferPass", "give every value its shape, layout and element type"),
    Entry(
        "verify-target",
        "ucutlass.passes.verify_target:VerifyTargetPass",
        "refuse what the target or CUTLASS cannot build or launch",
    ),
    Entry("fuse", "ucutlass.passes.fuse:FusePass", "cut the dataflow into kernels, epilogues fused into contractions"),
    Entry(
        "select-config",
        "ucutlass.passes.select_config:SelectConfigPass",
        "choose whatever the program leaves to the compiler",
    ),
    Entry(
        "stage-pipeline",
        "ucutlass.passes.stage_pipeline:StagePipelinePass",
        "order the kernels and place intermediates in one workspace",
    ),
    Entry(
        "lower-to-cutlass",
        "ucutlass.passes.lower_to_cutlass:LowerToCutlassPass",
        "spell the kernels in the cutlass dialect",
    ),
    Entry(
        "check-locations",
        "ucutlass.passes.check_locations:CheckLocationsPass",
        "refuse a module that has lost a place in the source",
    ),
    Entry(
        "check-locations",
        "ucutlass.passes.check_locations:CheckLocationsPass",
        "refuse operations that have lost their place in the source",
    ),
)

PIPELINES: Mapping[str, Pipeline] = {
    pipeline.name: pipeline
    for pipeline in (
        Pipeline("verify", ("infer", "verify-target"), "the cheap check: is the program legal on its target"),
        Pipeline(
            "default",
            ("infer", "verify-target", "fuse", "select-config", "stage-pipeline", "lower-to-cutlass"),
            "everything from the program to the cutlass dialect",
        ),
    )
}

FRONTENDS: "Mapping[str, Entry[type[Frontend]]]" = _table(
    Entry("ucu", "ucutlass.frontend.ucu:UcuFrontend", "the μCUTLASS language"),
    Entry("mlir", "ucutlass.frontend.mlir:MlirFrontend", "MLIR text, with the place of every operation"),
)

TARGETS: "Mapping[str, Entry[type[Target]]]" = _table(
    Entry("mlir", "ucutlass.backend.mlir:MlirTarget", "the program as MLIR text"),
    Entry("ucu", "ucutlass.frontend.ucu_target:UcuTarget", "the program in the μCUTLASS language"),
    Entry("cuda", "ucutlass.backend.cuda.target:CudaTarget", "one CUDA C++ file that stands alone"),
    Entry("dot", "ucutlass.backend.dot:DotTarget", "the dataflow as a graph for Graphviz, kernels as boxes"),
)


def all_dialects() -> "Mapping[str, Entry[Dialect]]":
    """The table and what other packages add to it; reads the metadata of every installed package."""
    return _with_third_party(DIALECTS, "ucutlass.dialects")


def all_passes() -> "Mapping[str, Entry[type[ModulePass]]]":
    """The table and what other packages add to it; reads the metadata of every installed package."""
    return _with_third_party(PASSES, "ucutlass.passes")


def find_pass(name: str) -> "Entry[type[ModulePass]]":
    """The pass of that name, without a look at other packages where the table has it."""
    return PASSES.get(name) or find(all_passes(), "pass", name)


def find(table: Mapping[str, Entry[T]], kind: str, name: str) -> Entry[T]:
    """The entry of that name; the error of an unknown one names the nearest and lists the rest."""
    entry = table.get(name)
    if entry is None:
        from ucutlass.diagnostics.suggest import phrase, suggest  # only a mistake needs it

        hint = phrase(suggest(name, table))
        raise RegistryError(f"unknown {kind} {name!r}{f': {hint}' if hint else ''}; there are {', '.join(table)}")
    return entry


def _with_third_party(table: Mapping[str, Entry[T]], group: str) -> Mapping[str, Entry[T]]:
    from importlib.metadata import entry_points  # 15 ms, and most calls need only the table

    merged = dict(table)
    for point in entry_points(group=group):
        origin = point.dist.name if point.dist is not None else "an unnamed package"
        known = merged.get(point.name)
        if known is not None:
            raise RegistryError(
                f"package {origin} adds {point.name!r} to {group} as {point.value}, "
                f"but {known.path} has that name already; uninstall one of the two"
            )
        merged[point.name] = Entry(point.name, point.value, f"from package {origin}")
    return merged
