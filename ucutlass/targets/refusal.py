"""Why no kernel obeys a program's setters, and what to change: the best violations with fixes that were tried.

Imports only the standard library and `ucutlass.targets`. A program is refused when no completion of what it sets
exists; the reason given is what the nearest kernels object to, and a fix is proposed only if the program passes with
it.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ucutlass.element_types import ELEMENT_TYPES
from ucutlass.targets.arch import Architecture
from ucutlass.targets.conv import ConvProblem
from ucutlass.targets.enumerate import (
    Problem,
    branches,
    choices,
    exists,
    no_such_schedule,
    violations_of,
    with_fields,
)
from ucutlass.targets.families import CLUSTERS, Family, families
from ucutlass.targets.problem import Config, EpilogueSpec, Shape3
from ucutlass.targets.rules.core import LEVELS, Candidate, Fix, Violation
from ucutlass.targets.rules.text import shape, shape_fix

NEAREST_TILES = 3
SAMPLED_TILES = 16
MAX_NOTES = 4
_FIRST = LEVELS.index("schedule")


@dataclass(frozen=True)
class Branch:
    """One schedule and epilogue of one family, and what it objects to."""

    family: Family
    candidate: Candidate
    violations: tuple[Violation, ...]

    @property
    def name(self) -> str:
        c = self.candidate
        parts = [f"schedule {c.schedule}", *([f"epilogue {c.epilogue}"] if c.epilogue is not None else [])]
        return ", ".join(parts)


def explain_refusal(problem: Problem, epilogue: EpilogueSpec, partial: Config, arch: Architecture) -> list[Violation]:
    """The violations of the kernels nearest to what is asked for; empty when a configuration exists."""
    if exists(problem, epilogue, partial, arch):
        return []
    found = _branches(problem, epilogue, partial, arch)
    if not found:
        return _without_schedule(problem, epilogue, partial, arch)
    return _with_fixes(_reasons(_relevant(found)), problem, epilogue, partial, arch)


def _without_schedule(problem: Problem, epilogue: EpilogueSpec, partial: Config, arch: Architecture) -> list[Violation]:
    """The refusal of a schedule that the target lacks, with what else is wrong once another one is taken."""
    for_conv = isinstance(problem, ConvProblem)
    violation = no_such_schedule(partial, arch, for_conv)
    options = [s for f in families(arch, for_conv) for s in f.schedules]
    for schedule in options:
        if exists(problem, epilogue, replace(partial, schedule=schedule), arch):
            fix = Fix("setter:schedule:0", schedule, f"use {schedule}")
            return [replace(violation, fix=fix)]
    rest = explain_refusal(problem, epilogue, replace(partial, schedule=None, fast_accum=None), arch)
    removal = Fix("setter:schedule", "", "remove .with_schedule")
    if not rest or any(v.fix is not None for v in rest):
        return [replace(violation, fix=removal), *rest]
    return [replace(violation, fix=None), *rest]


def _branches(problem: Problem, epilogue: EpilogueSpec, partial: Config, arch: Architecture) -> list[Branch]:
    found: list[Branch] = []
    for family, base in branches(problem, epilogue, partial, arch):
        for schedule in (partial.schedule,) if partial.schedule is not None else family.schedules:
            base.schedule = schedule
            for kind in (partial.epilogue,) if partial.epilogue is not None else family.epilogues(base):
                candidate = with_fields(replace(base), replace(base.pinned, schedule=schedule, epilogue=kind))
                candidate.swap_ab = base.swap_ab
                candidate.fast_accum = bool(candidate.fast_accum)
                violations = violations_of(family, candidate)
                found.append(Branch(family, candidate, tuple(violations)))
    return [
        b if b.violations else replace(b, violations=tuple(_deepest(b.family, b.candidate))) for b in _upright(found)
    ]


def _upright(found: list[Branch]) -> list[Branch]:
    """Without the branches that swap operands unasked, unless only those come close."""
    asked = [b for b in found if not b.candidate.swap_ab or b.candidate.pinned.swap_ab]
    least = min((len(b.violations) for b in found), default=0)
    return asked if any(len(b.violations) <= least for b in asked) else found


def _deepest(family: Family, candidate: Candidate) -> list[Violation]:
    """Where a search through the free fields gets stuck: the objection of the candidate that came furthest."""
    best: dict[str, tuple[int, float, Violation]] = {}

    def search(level: int) -> None:
        if level == len(LEVELS):
            return
        name = LEVELS[level]
        kept: object = getattr(candidate, name)
        for value in _values(family, name, candidate):
            setattr(candidate, name, value)
            violation = next((v for v in (r(candidate) for r in family.levels[level]) if v is not None), None)
            if violation is None:
                search(level + 1)
                continue
            key = (level, _fix_size(violation))
            known = best.get(violation.rule)
            if known is None or key > known[:2]:
                best[violation.rule] = (*key, violation)
        setattr(candidate, name, kept)

    search(_FIRST)
    if not best:
        return []
    deepest = max(level for level, _, _ in best.values())
    return [violation for level, _, violation in best.values() if level == deepest][:1]


def _fix_size(violation: Violation) -> float:
    return float(violation.fix.value) if violation.fix is not None and violation.fix.value.isdecimal() else 0.0


def _values(family: Family, name: str, candidate: Candidate) -> tuple[object, ...]:
    if name in ("schedule", "epilogue", "fast_accum"):
        return (getattr(candidate, name),)
    values = choices(family, name, candidate)
    if name != "tile" or len(values) <= 2 * SAMPLED_TILES:
        return values
    # Small tiles leave the most room for everything else; a few large ones stand for the rest.
    by_size = sorted(family.tiles(candidate), key=math.prod)
    return (*by_size[:SAMPLED_TILES], *by_size[-SAMPLED_TILES // 2 :])


_TYPE_RULES = frozenset({"operands_are_multiplied", "accumulator_exists", "result_is_stored"})


def _relevant(found: list[Branch]) -> list[Branch]:
    """The branches of one family: of those that multiply the operands at all, the one that objects least."""
    able = [b for b in found if not any(v.rule in _TYPE_RULES for v in b.violations)] or found
    pinned = able[0].candidate.pinned
    if pinned.warps is not None or pinned.instruction is not None:
        able = [b for b in able if b.family.name == "sm80_2x"] or able
    nearest = min(able, key=lambda b: len(b.violations))
    return [b for b in able if b.family.name == nearest.family.name]


def _blamed(branch: Branch) -> frozenset[str]:
    """The setters of the program that a branch objects to."""
    settings = branch.candidate.pinned.to_settings()
    named = {v.part.split(":")[1] for v in branch.violations if v.part.startswith("setter:")}
    return frozenset(named.intersection(settings)) - {"schedule"}


def _reasons(found: list[Branch]) -> list[Violation]:
    """What the nearest branches object to; where they blame different setters, that no kernel obeys all of them."""
    least = min(len(b.violations) for b in found)
    nearest = [b for b in found if len(b.violations) == least]
    settings = nearest[0].candidate.pinned
    if len({_blamed(b) for b in nearest}) == 1:
        best = max(nearest, key=lambda b: sum(map(_fix_size, b.violations)))
        return [_placed(v, settings) for v in best.violations]
    distinct: dict[tuple[str, str], str] = {}
    for branch in nearest:
        for violation in branch.violations:
            distinct.setdefault((violation.code, violation.part), f"{branch.name}: {violation.message}")
    return [
        Violation(
            "UC0518",
            f"no kernel obeys {settings.describe()} as a whole, though each setter is possible by itself",
            "call",
            notes=tuple(distinct.values())[:MAX_NOTES],
            rule="a_configuration_exists",
            source="every rule, over the whole space",
        )
    ]


def _placed(violation: Violation, settings: Config) -> Violation:
    """A violation that points at something the program has."""
    setter = violation.part.split(":")[1] if violation.part.startswith("setter:") else None
    if setter is None or setter in ("acc", "compute") or setter in settings.to_settings():
        return violation
    return replace(violation, part="setter:schedule:0" if settings.schedule is not None else "name")


# ---- fixes -----------------------------------------------------------------------------------------------------------


def apply_fix(problem: Problem, partial: Config, fix: Fix) -> tuple[Problem, Config] | None:
    """Problem and setters after an edit; None for an edit that these values cannot express."""
    if fix.part == "where" and not isinstance(problem, ConvProblem):
        name, _, rest = fix.value.partition(" % ")
        dims = [d for d in "mnk" if problem.dim_name(d) == name]
        multiple = rest.removesuffix(" == 0")
        if not dims or not multiple.isdecimal():
            return None
        return problem.assuming(**{dims[0]: int(multiple)}), partial
    if fix.part == "end":
        return problem, replace(partial, swap_ab=True)
    if not fix.part.startswith("setter:"):
        return None
    _, setter, *argument = fix.part.split(":")
    if setter == "acc" and not isinstance(problem, ConvProblem):
        return replace(problem, accumulator=ELEMENT_TYPES[fix.value]), partial
    if setter == "compute" and not isinstance(problem, ConvProblem):
        own = problem.b.element if problem.narrow == "a" else problem.a.element
        return replace(problem, compute=fix.value or own.name), partial
    if setter not in partial.to_settings():
        return None
    settings = dict(partial.to_settings())
    if not fix.value:
        del settings[setter]
    elif fix.value.startswith("."):
        settings[setter] = _arguments(setter, fix.value[fix.value.index("(") + 1 : -1])
    else:
        value: int | str = int(fix.value) if fix.value.isdecimal() else fix.value
        index = _ARGUMENTS.get(argument[0], None) if argument and not argument[0].isdecimal() else int(*argument or "0")
        values = list(settings[setter])
        if index is None or index >= len(values):
            return None
        values[index] = value
        settings[setter] = tuple(values)
    changed = Config.from_settings(settings)
    return problem, replace(changed, swap_ab=partial.swap_ab)


_ARGUMENTS = {"a": 0, "b": 1, "c": 2, "d": 3, "swizzle": 1}


def _arguments(setter: str, text: str) -> tuple[int | str | None, ...]:
    words = [w.strip() for w in text.split(",")]
    if setter != "alignment":
        return tuple(int(w) if w.isdecimal() else w for w in words)
    given = dict(w.split("=") for w in words)
    return tuple(int(given[o]) if o in given else None for o in "abcd")


def _proposals(violation: Violation, partial: Config) -> Iterator[Fix]:
    """Edits that might remove a violation, the rule's own first, the removal of its setter last."""
    if violation.fix is not None:
        yield violation.fix
    if not violation.part.startswith("setter:"):
        return
    setter = violation.part.split(":")[1]
    if setter == "cluster" and partial.cluster is not None:
        m, n, _ = partial.cluster
        for c in sorted(CLUSTERS, key=lambda c: abs(math.log2(c[0] / m)) + abs(math.log2(c[1] / n))):
            yield shape_fix("cluster", c)
    if setter == "stages" and partial.stages is not None:
        for n in range(partial.stages - 1, 1, -1):
            yield Fix("setter:stages:0", str(n), f"use {n}")
    if setter in partial.to_settings():
        yield Fix(f"setter:{setter}", "", f"remove .with_{setter}")


def _tile_space(problem: Problem, epilogue: EpilogueSpec, partial: Config, arch: Architecture) -> list[Shape3]:
    space: dict[Shape3, None] = {}
    for family, base in branches(problem, epilogue, partial, arch):
        for schedule in (partial.schedule,) if partial.schedule is not None else family.schedules:
            base.schedule = schedule
            if not any(v.rule in _TYPE_RULES for v in violations_of(family, base)):
                space |= dict.fromkeys(family.tiles(base))
    return list(space)


def nearest_tiles(
    problem: Problem, epilogue: EpilogueSpec, partial: Config, arch: Architecture, count: int = NEAREST_TILES
) -> list[Shape3]:
    """Legal tiles closest to the one that is set, everything else as set; closeness is the ratio of the extents."""
    wanted = partial.tile
    assert wanted is not None

    def distance(tile: Shape3) -> float:
        return sum(abs(math.log2(t / max(w, 1))) for t, w in zip(tile, wanted, strict=True))

    found: list[Shape3] = []
    for tile in sorted(_tile_space(problem, epilogue, partial, arch), key=distance):
        if exists(problem, epilogue, replace(partial, tile=tile), arch):
            found.append(tile)
            if len(found) == count:
                break
    return found


def _score(problem: Problem, epilogue: EpilogueSpec, partial: Config, arch: Architecture) -> int:
    """How far from a legal program: 0 when it is one."""
    if exists(problem, epilogue, partial, arch):
        return 0
    found = _branches(problem, epilogue, partial, arch)
    return min((len(b.violations) for b in _relevant(found)), default=1) if found else 1


def _with_fixes(
    violations: list[Violation], problem: Problem, epilogue: EpilogueSpec, partial: Config, arch: Architecture
) -> list[Violation]:
    """The violations with fixes that together make the program pass; without fixes where none were found."""
    fixed: list[Violation] = []
    current, settings = problem, partial
    distance = len(violations)
    for violation in violations:
        chosen: Fix | None = None
        notes = violation.notes
        if violation.part.startswith("setter:tile") and settings.tile is not None:
            tiles = nearest_tiles(current, epilogue, settings, arch)
            if tiles:
                notes += (f"nearest legal tile{'s' if len(tiles) > 1 else ''}: {', '.join(map(shape, tiles))}",)
                arguments = ", ".join(map(str, tiles[0]))
                whole = Fix("setter:tile", f".with_tile({arguments})", f"use ({arguments})")
                violation = replace(violation, fix=_narrowed(violation.fix, whole, settings.tile, tiles[0]))
        for proposal in _proposals(violation, settings):
            applied = apply_fix(current, settings, proposal)
            if applied is None:
                continue
            score = _score(applied[0], epilogue, applied[1], arch)
            if score < distance:
                chosen, distance = proposal, score
                current, settings = applied
                break
        fixed.append(replace(violation, fix=chosen, notes=notes))
        if distance == 0:
            fixed += [replace(v, fix=None) for v in violations[len(fixed) :]]
            break
    return fixed if distance == 0 else [replace(v, fix=None) for v in fixed]


def _narrowed(own: Fix | None, whole: Fix, old: Shape3, new: Shape3) -> Fix:
    """The edit of one argument where only one differs."""
    changed = [i for i in range(3) if old[i] != new[i]]
    if len(changed) == 1:
        index = changed[0]
        return Fix(f"setter:tile:{index}", str(new[index]), f"use {'mnk'[index]} = {new[index]}")
    return own if own is not None and own.part.count(":") == 2 and not changed else whole
