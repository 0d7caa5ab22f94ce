"""Kernel families: the rules of each, and the values that are tried where the program leaves a choice.

Imports only the standard library and `ucutlass.targets`. A family is one row; the enumerator walks its choices in the
order of `LEVELS` and asks its rules, so that what can be listed, what is accepted and what is refused are one thing.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache, lru_cache
from types import MappingProxyType

from ucutlass.records import record
from ucutlass.targets.arch import Architecture, FamilyName
from ucutlass.targets.problem import Alignments, EpilogueKind, Schedule, Scheduler, Shape3
from ucutlass.targets.rules import (
    common,
    conv,
    sm80,
    sm80_tables,
    sm90,
    sm90_facts,
    sm90_memory,
    sm90_operands,
    sm90_tile,
    sm100,
    sm120,
    types,
)
from ucutlass.targets.rules.core import Candidate, Rule, by_level
from ucutlass.targets.stage_arithmetic import CPASYNC_SCHEDULES

Choices = Callable[[Candidate], Iterable[object]]


def _clusters() -> tuple[Shape3, ...]:
    sizes = (1, 2, 4, 8)
    found = [(m, n, 1) for m in sizes for n in sizes if m * n <= common.MAX_CLUSTER]
    return tuple(sorted(found, key=lambda c: (c[0] * c[1], -c[0])))


CLUSTERS = _clusters()
ONE: tuple[Shape3, ...] = ((1, 1, 1),)
SPACE_M = (128, 64, 256, 192)
SPACE_N = tuple(range(16, 257, 16))
SPACE_K_BYTES = (128, 64, 32)
"""The stated space of tiles; a program may set others."""


@record
class Family:
    """One family of kernels."""

    name: FamilyName
    schedules: tuple[Schedule, ...]
    rules: tuple[Rule, ...]
    epilogues: Callable[[Candidate], tuple[EpilogueKind | None, ...]]
    alignment: Callable[[Candidate], Alignments]
    settled_alignment: Callable[[Candidate], Alignments]
    """The alignment once the tile is known."""
    tiles: Callable[[Candidate], tuple[Shape3, ...]]
    warps: Callable[[Candidate], tuple[Shape3 | None, ...]]
    instructions: Callable[[Candidate], tuple[Shape3 | None, ...]]
    stages: Callable[[Candidate], int]
    most_stages: Callable[[Candidate], int]
    clusters: Callable[[Candidate], tuple[Shape3, ...]]
    schedulers: Callable[[Candidate], tuple[Scheduler | None, ...]]

    @property
    def levels(self) -> tuple[tuple[Rule, ...], ...]:
        """The rules by the level at which they are asked."""
        return _levels(self)

    @property
    def warnings(self) -> tuple[Rule, ...]:
        return tuple(r for r in self.rules if r.severity == "warning")


@cache
def _levels_of(name: FamilyName, for_conv: bool) -> tuple[tuple[Rule, ...], ...]:
    family = CONV_FAMILIES[name] if for_conv else FAMILIES[name]
    return by_level(family.rules)


def _levels(family: Family) -> tuple[tuple[Rule, ...], ...]:
    return _levels_of(family.name, CONV_FAMILIES.get(family.name) is family)


@lru_cache(64)
def _grid(bits: int) -> tuple[Shape3, ...]:
    """The stated space, large tiles of whole 128-byte lines first."""
    return tuple(
        (m, n, 8 * k_bytes // bits)
        for k_bytes in SPACE_K_BYTES
        for m in SPACE_M
        for n in sorted(SPACE_N, key=lambda n: (n not in (128, 256, 64, 32, 16, 192), -n))
    )


def _wgmma_tiles(candidate: Candidate) -> tuple[Shape3, ...]:
    problem = candidate.problem
    return _grid(max(problem.a.element.bits, problem.b.element.bits))


def _nothing(_: Candidate) -> tuple[None, ...]:
    return (None,)


def _provable(candidate: Candidate) -> Alignments:
    spec, pinned, problem = candidate.epilogue_spec, candidate.pinned.alignment, candidate.problem
    return Alignments(
        pinned.a or problem.a.alignment,
        pinned.b or problem.b.alignment,
        None if spec.c is None else pinned.c or spec.c.alignment,
        pinned.d or problem.d.alignment,
    )


def _as_chosen(candidate: Candidate) -> Alignments:
    return candidate.alignment


def _sm90_settled(candidate: Candidate) -> Alignments:
    """cp.async kernels copy as widely as their threads can be laid over the tile."""
    if candidate.schedule not in CPASYNC_SCHEDULES:
        return candidate.alignment
    return replace(
        candidate.alignment,
        a=sm90_tile.cpasync_alignment(candidate, "a"),
        b=sm90_tile.cpasync_alignment(candidate, "b"),
    )


def _sm90_epilogues(candidate: Candidate) -> tuple[EpilogueKind | None, ...]:
    return ("tma", "nosmem") if candidate.schedule in sm90_facts.BASE_SCHEDULES else ("nosmem",)


def _sm90_clusters(candidate: Candidate) -> tuple[Shape3, ...]:
    return ONE if candidate.schedule in CPASYNC_SCHEDULES else CLUSTERS


def _sm90_schedulers(candidate: Candidate) -> tuple[Scheduler | None, ...]:
    if (
        candidate.schedule in sm90_facts.STREAM_K_SCHEDULES
        and candidate.problem.grouping is None
        and candidate.conv is None
    ):
        return ("persistent", "stream_k")
    return ("persistent",)


SM90 = Family(
    "sm90_3x",
    (*sm90_facts.TMA_SCHEDULES, "cpasync_cooperative", "cpasync", "cpasync_pingpong"),
    (*types.TYPE_RULES, *sm90.SM90_RULES, *sm90_memory.MEMORY_RULES, common.cluster_is_portable, *common.COMMON_RULES),
    _sm90_epilogues,
    _provable,
    _sm90_settled,
    _wgmma_tiles,
    _nothing,
    _nothing,
    sm90_memory.auto_stages,
    sm90_memory.most_stages,
    _sm90_clusters,
    _sm90_schedulers,
)


def _sm80_alignment(candidate: Candidate) -> Alignments:
    pinned, spec = candidate.pinned.alignment, candidate.epilogue_spec
    out = sm80_tables.output_alignment(candidate)
    return Alignments(
        pinned.a or sm80_tables.best_alignment(candidate, "a"),
        pinned.b or sm80_tables.best_alignment(candidate, "b"),
        None if spec.c is None else pinned.c or out,
        pinned.d or out,
    )


def _sm80_tiles(candidate: Candidate) -> tuple[Shape3, ...]:
    rows = sm80_tables.table(candidate)
    return tuple((m, n, k) for k in reversed(rows.k) for m, n in rows.tiles)


def _sm80_warps(candidate: Candidate) -> tuple[Shape3 | None, ...]:
    return (sm80_tables.warp_tile(candidate),)


def _sm80_instructions(candidate: Candidate) -> tuple[Shape3 | None, ...]:
    return sm80_tables.instructions(candidate)[:1]


def _one_cluster(_: Candidate) -> tuple[Shape3, ...]:
    return ONE


def _sm80_schedulers(candidate: Candidate) -> tuple[Scheduler | None, ...]:
    if candidate.problem.grouping is None and candidate.conv is None:
        return (None, "stream_k")
    return (None,)


SM80 = Family(
    "sm80_2x",
    ("multistage",),
    (*types.TYPE_RULES, *sm80.SM80_RULES, *common.COMMON_RULES),
    _nothing,
    _sm80_alignment,
    _as_chosen,
    _sm80_tiles,
    _sm80_warps,
    _sm80_instructions,
    sm80_tables.auto_stages,
    sm80_tables.most_stages,
    _one_cluster,
    _sm80_schedulers,
)


def _sm100_tiles(candidate: Candidate) -> tuple[Shape3, ...]:
    rows = (256, 128) if candidate.schedule == "two_sm" else (128, 64)
    return tuple(t for t in _grid(candidate.problem.a.element.bits) if t[0] in rows)


def _sm100_clusters(candidate: Candidate) -> tuple[Shape3, ...]:
    return tuple(c for c in CLUSTERS if candidate.schedule != "two_sm" or c[0] % 2 == 0)


def _both_epilogues(_: Candidate) -> tuple[EpilogueKind | None, ...]:
    return ("tma", "nosmem")


def _tma_epilogue(_: Candidate) -> tuple[EpilogueKind | None, ...]:
    return ("tma",)


def _both_schedulers(_: Candidate) -> tuple[Scheduler | None, ...]:
    return ("persistent", "stream_k")


def _persistent(_: Candidate) -> tuple[Scheduler | None, ...]:
    return ("persistent",)


SM100 = Family(
    "sm100_3x",
    ("two_sm", "one_sm"),
    (
        *types.TYPE_RULES,
        *sm100.SM100_RULES,
        sm90.stages_are_at_least_two,
        sm90.warps_are_not_set,
        sm90_operands.fast_accumulation_is_for_fp8,
        common.cluster_is_portable,
        *common.COMMON_RULES,
    ),
    _both_epilogues,
    _provable,
    _as_chosen,
    _sm100_tiles,
    _nothing,
    _nothing,
    sm100.auto_stages,
    sm100.most_stages,
    _sm100_clusters,
    _both_schedulers,
)


def _sm120_tiles(candidate: Candidate) -> tuple[Shape3, ...]:
    return tuple(
        t for t in _grid(candidate.problem.a.element.bits) if t[0] in sm120.TILE_M and t[1] % sm120.STEP_N == 0
    )


SM120 = Family(
    "sm120_3x",
    ("cooperative", "pingpong"),
    (
        *types.TYPE_RULES,
        *sm120.SM120_RULES,
        sm100.operands_suit_tma,
        sm100.alignment_suits_tma,
        sm100.results_suit_tma_stores,
        sm90.stages_are_at_least_two,
        sm90.warps_are_not_set,
        sm90.stream_k_needs_cooperation,
        sm90.slices_need_cooperation,
        *common.COMMON_RULES,
    ),
    _tma_epilogue,
    _provable,
    _as_chosen,
    _sm120_tiles,
    _nothing,
    _nothing,
    sm120.auto_stages,
    sm120.most_stages,
    _one_cluster,
    _sm90_schedulers,
)

FAMILIES: Mapping[FamilyName, Family] = MappingProxyType(
    {"sm90_3x": SM90, "sm80_2x": SM80, "sm100_3x": SM100, "sm120_3x": SM120}
)


# ---- convolutions ----------------------------------------------------------------------------------------------------


def _conv_tiles(candidate: Candidate) -> tuple[Shape3, ...]:
    return tuple(t for t in _grid(candidate.problem.a.element.bits) if t[0] in (64, 128))


_EXCLUDED_FROM_CONV = frozenset(
    {"operands_suit_the_loads", "schedule_takes_the_operands", "operands_are_laid_out_for_wgmma"}
)

SM90_CONV = Family(
    "sm90_3x",
    ("warpspecialized",),
    (
        *types.TYPE_RULES,
        *conv.SM90_CONV_RULES,
        *(r for r in sm90.SM90_RULES if r.name not in _EXCLUDED_FROM_CONV),
        *sm90_memory.MEMORY_RULES,
        common.cluster_is_portable,
        *common.COMMON_RULES,
    ),
    _sm90_epilogues,
    _provable,
    _as_chosen,
    _conv_tiles,
    _nothing,
    _nothing,
    sm90_memory.auto_stages,
    sm90_memory.most_stages,
    _sm90_clusters,
    _persistent,
)
SM80_CONV = Family(
    "sm80_2x",
    ("multistage",),
    (*types.TYPE_RULES, *conv.SM80_CONV_RULES, *sm80.SM80_RULES, *common.COMMON_RULES),
    _nothing,
    _sm80_alignment,
    _as_chosen,
    _sm80_tiles,
    _sm80_warps,
    _sm80_instructions,
    sm80_tables.auto_stages,
    sm80_tables.most_stages,
    _one_cluster,
    _sm80_schedulers,
)
CONV_FAMILIES: Mapping[FamilyName, Family] = MappingProxyType({"sm90_3x": SM90_CONV, "sm80_2x": SM80_CONV})


def families(arch: Architecture, for_conv: bool = False) -> tuple[Family, ...]:
    """The families of a target, the one it was built for first."""
    table = CONV_FAMILIES if for_conv else FAMILIES
    return tuple(table[name] for name in arch.families if name in table)


def all_rules() -> tuple[Rule, ...]:
    """Every rule once, for documentation."""
    rows = [*FAMILIES.values(), *CONV_FAMILIES.values()]
    return tuple(dict.fromkeys(r for family in rows for r in family.rules))


def schedules_of(arch: Architecture) -> tuple[Schedule, ...]:
    """Every schedule that a target has."""
    return tuple(dict.fromkeys(s for f in families(arch) for s in f.schedules))


def family_of(schedule: Schedule, arch: Architecture, for_conv: bool = False) -> Family | None:
    """The family that a schedule belongs to on a target; None where the target lacks it."""
    return next((f for f in families(arch, for_conv) if schedule in f.schedules), None)
