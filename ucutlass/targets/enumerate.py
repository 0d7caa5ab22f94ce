"""Enumeration of legal configurations: every completion of what a program sets, lazily and with the rules as filter.

Imports only the standard library and `ucutlass.targets`. The stated space is: tile m 64 to 256, n multiples of 16 to
256, k of 32, 64 and 128 bytes (the sm_80 family: the tiles that CUTLASS builds), clusters of 1 to 8 thread blocks with
power-of-two extents, every schedule, epilogue and tile scheduler, stages as many as CUTLASS chooses. What the program
sets is kept, on or off that grid. Slices of the reduction, raster order and swizzle vary freely for any legal kernel,
so they are not multiplied in: they stay as set, else one slice and the default order.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from ucutlass.targets.arch import Architecture, architecture
from ucutlass.targets.conv import ConvProblem
from ucutlass.targets.families import Family, families
from ucutlass.targets.gpu import Gpu
from ucutlass.targets.problem import ANY, Config, EpilogueKind, EpilogueSpec, GemmProblem, RasterOrder, Schedule, Shape3
from ucutlass.targets.rules.core import LEVELS, WHOLE_SPACE, Candidate, Fix, Rule, Space, Violation

Problem = GemmProblem | ConvProblem

_OTHER_ORDER: Mapping[RasterOrder | None, RasterOrder | None] = MappingProxyType(
    {"along_m": "along_n", "along_n": "along_m", None: None}
)


def swap_choices(partial: Config, problem: Problem) -> tuple[bool, ...]:
    """Whether operands may be swapped: by the setter, or freely where no extent of the kernel is set."""
    if isinstance(problem, ConvProblem):
        return (False,)
    if partial.swap_ab:
        return (True,)
    if partial.swap_ab is False or partial.tile or partial.cluster or partial.alignment or partial.warps:
        return (False,)
    return (False, True)


def start(
    problem: Problem, epilogue: EpilogueSpec, partial: Config, arch: Architecture, family: Family, swap: bool
) -> Candidate:
    """A candidate of a family of which only the orientation is known."""
    conv = problem if isinstance(problem, ConvProblem) else None
    gemm = problem.as_gemm() if isinstance(problem, ConvProblem) else problem
    chosen_raster = partial.raster
    if swap:
        gemm, epilogue = gemm.swapped(), epilogue.swapped()
        if partial.swap_ab is None:
            # The order is in the program's own m and n, which trade places in the kernel that is chosen for it.
            chosen_raster = _OTHER_ORDER[partial.raster]
    return Candidate(
        gemm,
        epilogue,
        arch,
        family.name,
        conv,
        swap_ab=swap,
        pinned=replace(partial, raster=chosen_raster),
    )


def choices(family: Family, level: str, c: Candidate) -> tuple[object, ...]:
    """Values of one field: what is set, else what the family tries."""
    pinned = c.pinned
    if level == "alignment":
        return (family.alignment(c),)
    value: object = getattr(pinned, level)
    if value is not None:
        return (value,)
    return _FREE[level](family, c)


def _within(
    values: tuple[object, ...], allowed: frozenset[Schedule] | frozenset[EpilogueKind | None] | frozenset[Shape3] | None
) -> tuple[object, ...]:
    return values if allowed is None else tuple(v for v in values if v in allowed)


def _free_tiles(family: Family, c: Candidate) -> tuple[object, ...]:
    tiles, space = family.tiles(c), c.space
    if c.pinned.stages is not None:
        # Only to save time: a tile whose stages alone exceed the memory need not be looked at.
        a, b = c.problem.a.element.bits, c.problem.b.element.bits
        room = 8 * 2 * c.arch.shared_memory // c.pinned.stages
        tiles = tuple(t for t in tiles if (t[0] * a + t[1] * b) * t[2] <= room) or tiles[-1:]
    if space.widths is not None:
        tiles = tuple(t for t in tiles if t[1] in space.widths)
    if space.widest_k_only:
        widest = max((t[2] for t in tiles), default=0)
        tiles = tuple(t for t in tiles if t[2] == widest)
    return tiles


def _free_schedulers(family: Family, c: Candidate) -> tuple[object, ...]:
    found = family.schedulers(c)
    return found if c.pinned.split_k in (None, 1) else found[:1]


_FREE: Mapping[str, Callable[[Family, Candidate], tuple[object, ...]]] = MappingProxyType(
    {
        "schedule": lambda family, c: _within(family.schedules, c.space.schedules),
        "fast_accum": lambda _, __: (False,),
        "epilogue": lambda family, c: _within(family.epilogues(c), c.space.epilogues),
        "tile": _free_tiles,
        "warps": lambda family, c: family.warps(c),
        "instruction": lambda family, c: family.instructions(c),
        "stages": lambda family, c: (family.stages(c),),
        "cluster": lambda family, c: _within(family.clusters(c), c.space.clusters),
        "scheduler": _free_schedulers,
        "split_k": lambda _, __: (1,),
        "raster": lambda _, __: (None,),
        "swizzle": lambda _, __: (1,),
    }
)

_FIRST = LEVELS.index("schedule")


def passes(rules: tuple[Rule, ...], candidate: Candidate) -> bool:
    return all(r.check(candidate) is None for r in rules)


def _fill(family: Family, level: int, c: Candidate) -> Iterator[Config]:
    if level == len(LEVELS):
        config = c.config()
        settled = family.settled_alignment(c)
        yield config if settled == config.alignment else replace(config, alignment=settled)
        return
    name = LEVELS[level]
    rules = family.levels[level]
    kept: object = getattr(c, name)
    for value in choices(family, name, c):
        setattr(c, name, value)
        if passes(rules, c):
            yield from _fill(family, level + 1, c)
    setattr(c, name, kept)


def branches(
    problem: Problem, epilogue: EpilogueSpec, partial: Config, arch: Architecture
) -> Iterator[tuple[Family, Candidate]]:
    """A candidate for each family and orientation that may be tried; the schedule that is set selects the family."""
    for family in families(arch, isinstance(problem, ConvProblem)):
        if partial.schedule is not None and partial.schedule not in family.schedules:
            continue
        for swap in swap_choices(partial, problem):
            yield family, start(problem, epilogue, partial, arch, family, swap)


def complete_configs(
    problem: Problem,
    epilogue: EpilogueSpec,
    partial: Config = ANY,
    arch: Architecture | None = None,
    gpu: Gpu | None = None,
) -> Iterator[Config]:
    """Every legal completion of `partial`, lazily; families and schedules that the target was built for come first.

    Legality depends on the target alone; `gpu` only names the target where `arch` does not.
    """
    target = _target(arch, gpu)
    for family, candidate in branches(problem, epilogue, partial, target):
        yield from fill(family, candidate)


def fill(family: Family, candidate: Candidate, space: Space = WHOLE_SPACE) -> Iterator[Config]:
    """Every legal completion of a branch, of a part of the space."""
    candidate.explaining = False
    candidate.space = space
    if not (passes(family.levels[0], candidate) and passes(family.levels[1], candidate)):
        return
    if _is_hopeless(family, candidate):
        return
    yield from _fill(family, _FIRST, candidate)


def _is_hopeless(family: Family, candidate: Candidate) -> bool:
    """Whether what is set breaks a rule by itself, whatever the free fields become."""
    asked = with_fields(replace(candidate), candidate.pinned)
    return any(
        rule.check(asked) is not None
        for rules in family.levels[_FIRST:]
        for rule in rules
        if all(candidate.pinned.is_set(need) for need in rule.needs)
    )


def exists(problem: Problem, epilogue: EpilogueSpec, partial: Config, arch: Architecture) -> bool:
    """Whether a program is accepted: whether some choice of everything that is not set obeys what is."""
    return next(complete_configs(problem, epilogue, partial, arch), None) is not None


def _target(arch: Architecture | None, gpu: Gpu | None) -> Architecture:
    if arch is not None:
        return arch
    assert gpu is not None, "a target or a GPU must be given"
    return architecture(gpu.arch)


def violations_of(family: Family, candidate: Candidate) -> list[Violation]:
    """The rules that the fields known so far break. A rule about a field that is already at fault is not asked."""
    found: list[Violation] = []
    faulty: set[str] = set()
    for index, rules in enumerate(family.levels):
        for rule in rules:
            if any(_unknown(candidate, need) or need in faulty for need in rule.needs):
                continue
            violation = rule(candidate)
            if violation is not None:
                found.append(violation)
        if index == 0 and found:
            return found
        faulty |= {v.part.split(":")[1] for v in found if v.part.startswith("setter:")}
    return found


def _unknown(candidate: Candidate, need: str) -> bool:
    return (
        need not in ("family", "swap_ab", "alignment", "raster", "swizzle", "epilogue")
        and getattr(candidate, need) is None
    )


def with_fields(candidate: Candidate, config: Config) -> Candidate:
    """The candidate with every field of a configuration; alignments as set."""
    for name in LEVELS[_FIRST:]:
        if name != "alignment":
            setattr(candidate, name, getattr(config, name))
    candidate.alignment = config.alignment
    return candidate


def check(problem: Problem, epilogue: EpilogueSpec, config: Config, arch: Architecture) -> list[Violation]:
    """The rules that a configuration, complete or not, breaks by itself; empty where some family objects to nothing.

    A partial configuration that breaks no rule may still have no completion: `exists` knows.
    """
    best: list[Violation] | None = None
    for family, candidate in branches(problem, epilogue, config, arch):
        found = violations_of(family, with_fields(candidate, candidate.pinned))
        if not found:
            return []
        if best is None or len(found) < len(best):
            best = found
    return best if best is not None else [no_such_schedule(config, arch, isinstance(problem, ConvProblem))]


def warnings(problem: Problem, epilogue: EpilogueSpec, config: Config, arch: Architecture) -> list[Violation]:
    """What is legal in a complete configuration, but deserves a word: registers that may spill."""
    for family, candidate in branches(problem, epilogue, config, arch):
        full = with_fields(candidate, candidate.pinned)
        found = [rule(full) for rule in family.warnings if not any(_unknown(full, n) for n in rule.needs)]
        return [v for v in found if v is not None]
    return []


def no_such_schedule(config: Config, arch: Architecture, for_conv: bool = False) -> Violation:
    """The violation of a schedule that no family of the target has."""
    had = tuple(dict.fromkeys(s for f in families(arch, for_conv) for s in f.schedules))
    what = " for a convolution" if for_conv else ""
    best = had[0] if had else "auto"
    return Violation(
        "UC0508",
        f"{arch} has no schedule {config.schedule}{what}: it has {', '.join(had) or 'none'}",
        "setter:schedule:0",
        Fix("setter:schedule:0", best, f"use {best}"),
        rule="schedule_exists",
        source="gemm/dispatch_policy.hpp: schedules belong to a generation",
    )
