"""What a legality rule is, what it looks at, and what it answers.

Imports only the standard library and the values of `ucutlass.targets`.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from ucutlass.records import record
from ucutlass.targets.arch import Architecture, FamilyName
from ucutlass.targets.conv import ConvProblem
from ucutlass.targets.problem import (
    Alignments,
    Config,
    EpilogueKind,
    EpilogueSpec,
    GemmProblem,
    Operand,
    RasterOrder,
    Schedule,
    Scheduler,
    Shape3,
)

LEVELS: tuple[str, ...] = (
    "family",
    "swap_ab",
    "schedule",
    "fast_accum",
    "epilogue",
    "alignment",
    "tile",
    "warps",
    "instruction",
    "stages",
    "cluster",
    "scheduler",
    "split_k",
    "raster",
    "swizzle",
)
"""The order in which a candidate is filled; a rule is asked as soon as the last field that it needs is there."""

Level = Literal[
    "family",
    "swap_ab",
    "schedule",
    "fast_accum",
    "epilogue",
    "alignment",
    "tile",
    "warps",
    "instruction",
    "stages",
    "cluster",
    "scheduler",
    "split_k",
    "raster",
    "swizzle",
]


@record
class Fix:
    """One edit of the program that removes a violation."""

    part: str
    """What to edit, in the words of the diagnostics: `setter:tile:1`, `setter:cluster`, `end`, `where`, `target`."""
    value: str
    """Its new text; empty to remove the part."""
    text: str
    """The edit as an order: "use n = 128"."""


@record
class Finding:
    """What a rule objects to."""

    message: str
    part: str
    """The argument that is concerned: `setter:tile:0`, `operand:0`, `target`."""
    fix: Fix | None = None
    notes: tuple[str, ...] = ()
    code: str | None = None
    """Overrides the rule's code."""


REFUSED = Finding("", "name")
"""For a candidate whose refusal nobody reads."""


@record
class Violation:
    """A rule that a configuration breaks."""

    code: str
    message: str
    part: str
    fix: Fix | None = None
    notes: tuple[str, ...] = ()
    rule: str = ""
    """Name of the rule, `tile_m_is_a_multiple_of_64`."""
    source: str = ""
    """Where CUTLASS or the hardware states it: header and condition."""
    severity: Literal["error", "warning"] = "error"


@record
class Space:
    """A part of the space of configurations: the values that free fields may take; None is all."""

    schedules: frozenset[Schedule] | None = None
    epilogues: frozenset[EpilogueKind | None] | None = None
    widths: frozenset[int] | None = None
    """Tile n."""
    widest_k_only: bool = False
    """Only the largest tile k that the family lists."""
    clusters: frozenset[Shape3] | None = None


WHOLE_SPACE = Space()


@dataclass(slots=True)
class Candidate:
    """A kernel on its way to being chosen: problem and epilogue as the kernel sees them, and the fields known so far.

    After operands are swapped, `problem` and `epilogue_spec` are the transposed ones.
    """

    problem: GemmProblem
    epilogue_spec: EpilogueSpec
    arch: Architecture
    family: FamilyName
    conv: ConvProblem | None = None
    swap_ab: bool | None = None
    schedule: Schedule | None = None
    fast_accum: bool | None = None
    epilogue: EpilogueKind | None = None
    alignment: Alignments = Alignments()
    tile: Shape3 | None = None
    warps: Shape3 | None = None
    instruction: Shape3 | None = None
    stages: int | None = None
    cluster: Shape3 | None = None
    scheduler: Scheduler | None = None
    split_k: int | None = None
    raster: RasterOrder | None = None
    swizzle: int | None = None
    pinned: Config = Config()
    """What the program itself sets."""
    space: Space = WHOLE_SPACE
    explaining: bool = True
    """Whether findings are read; where not, costly rules answer `REFUSED`."""

    def operand(self, which: str) -> Operand | None:
        """Operand `a`, `b`, `c` or `d`; None for an absent C."""
        if which == "c":
            return self.epilogue_spec.c
        chosen: Operand = getattr(self.problem, which)
        return chosen

    def alignment_of(self, which: str) -> int | None:
        """Elements per access that the kernel uses for an operand: what is set, else the most that is possible."""
        pinned: int | None = getattr(self.alignment, which)
        if pinned is not None:
            return pinned
        operand = self.operand(which)
        return None if operand is None else operand.alignment

    def config(self) -> Config:
        """The fields as a configuration."""
        return Config(
            self.tile,
            self.cluster,
            self.schedule,
            self.fast_accum,
            self.epilogue,
            self.stages,
            self.scheduler,
            self.split_k,
            self.raster,
            self.swizzle,
            self.alignment,
            self.warps,
            self.instruction,
            self.swap_ab,
        )


Check = Callable[[Candidate], Finding | None]


@record
class Rule:
    """One constraint."""

    name: str
    code: str
    needs: tuple[Level, ...]
    """Fields that must be known before the rule can be asked."""
    source: str
    check: Check
    severity: Literal["error", "warning"] = "error"

    @property
    def doc(self) -> str:
        return (self.check.__doc__ or "").strip()

    def __call__(self, candidate: Candidate) -> Violation | None:
        finding = self.check(candidate)
        if finding is None:
            return None
        return Violation(
            code=finding.code or self.code,
            message=finding.message,
            part=finding.part,
            fix=finding.fix,
            notes=finding.notes,
            rule=self.name,
            source=self.source,
            severity=self.severity,
        )


def rule(
    code: str, *needs: Level, source: str, severity: Literal["error", "warning"] = "error"
) -> Callable[[Check], Rule]:
    """Makes a rule of a function; its docstring is the rule's meaning in one sentence."""

    def make(check: Check) -> Rule:
        return Rule(check.__name__, code, needs or ("family",), source, check, severity)

    return make


def level_of(needs: Iterable[Level]) -> int:
    return max(LEVELS.index(n) for n in needs)


def by_level(rules: Sequence[Rule]) -> tuple[tuple[Rule, ...], ...]:
    """Rules grouped by the level at which they can first be asked; warnings are left out."""
    return tuple(
        tuple(r for r in rules if r.severity == "error" and level_of(r.needs) == i) for i in range(len(LEVELS))
    )
