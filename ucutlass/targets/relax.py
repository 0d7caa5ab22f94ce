"""What it takes to run a contraction for which no kernel exists as it stands: conversions, copies, paddings, cuts.

Imports only the standard library and `ucutlass.targets`. A program without setters is accepted wherever its types are;
here is how, cheapest first. Each repair is a stage of its own before or after the kernel and is reported as a remark.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import Literal

from ucutlass.element_types import ELEMENT_TYPES, F16, F32, TF32, ElementType
from ucutlass.records import record
from ucutlass.targets.arch import Architecture
from ucutlass.targets.enumerate import exists
from ucutlass.targets.problem import ANY, PLAIN, Config, EpilogueSpec, GemmProblem, Operand, largest_alignment
from ucutlass.targets.rules.types import kind_of
from ucutlass.targets.stage_arithmetic import round_up

RepairKind = Literal["transpose", "pad", "convert", "cut"]
PAD_BYTES = 16
SPLIT_PARTS = 3
"""Products of the parts of an operand that a split mode sums."""
MAX_REPAIRS = 4


@record
class Repair:
    """One extra stage."""

    kind: RepairKind
    operand: str
    """`a`, `b`, `d`, or `epilogue` for a cut."""
    text: str
    """What is done, for a remark."""
    bytes: int | None
    """Memory traffic that it adds, None where a size is dynamic."""


@record
class Relaxed:
    """A contraction that has a kernel, and the stages that make it of the one that had none."""

    problem: GemmProblem
    epilogue: EpilogueSpec
    repairs: tuple[Repair, ...]

    @property
    def bytes(self) -> int:
        return sum(r.bytes or 0 for r in self.repairs)


def _elements(problem: GemmProblem, which: str) -> int | None:
    sizes = {"a": (problem.m, problem.k), "b": (problem.k, problem.n), "d": (problem.m, problem.n)}[which]
    known = [s for s in (*sizes, problem.batch) if s is not None]
    return math.prod(known) if len(known) == 3 else None


def _traffic(problem: GemmProblem, which: str, read: ElementType, written: ElementType) -> int | None:
    elements = _elements(problem, which)
    return None if elements is None else elements * (read.bits + written.bits) // 8


def _packed(element: ElementType, major: Literal["k", "mn"], problem: GemmProblem, dim: str) -> Operand:
    return Operand(element, major, largest_alignment(element, problem.multiple(dim)))


def staged_problem(problem: GemmProblem) -> GemmProblem | None:
    """The problem that a kernel sees after its operands were converted to the type of the products.

    None where the kernel reads the operands as they are, or no conversion helps. The split modes sum three products of
    parts: k is three times as long, and `f16x3` reads f16, `tf32x3` tf32.
    """
    compute = problem.compute
    if compute in ("f16x3", "tf32x3"):
        if problem.a.element != F32 or problem.b.element != F32:
            return None
        element = F16 if compute == "f16x3" else TF32
        long = replace(
            problem,
            k=None if problem.k is None else SPLIT_PARTS * problem.k,
            compute=element.name,
        )
        # The parts are laid side by side in lines that the stage pads as it likes.
        operand = Operand(element, "k", PAD_BYTES * 8 // element.bits)
        return replace(long, a=operand, b=operand)
    if kind_of(problem) is not None or compute not in ELEMENT_TYPES:
        return None
    element = ELEMENT_TYPES[compute]
    converted = replace(
        problem,
        a=_packed(element, "k", problem, "k"),
        b=_packed(element, "k", problem, "k"),
    )
    return converted if kind_of(converted) is not None else None


Change = tuple[GemmProblem, EpilogueSpec, Repair]


def _transposed(problem: GemmProblem, epilogue: EpilogueSpec, which: Literal["a", "b"]) -> Change | None:
    operand = problem.a if which == "a" else problem.b
    if operand.major == "k":
        return None
    moved = _traffic(problem, which, operand.element, operand.element)
    changed = _packed(operand.element, "k", problem, "k")
    text = f"copy {which} so that {problem.dim_name('k')} is contiguous"
    return (
        replace(problem, a=changed) if which == "a" else replace(problem, b=changed),
        epilogue,
        Repair("transpose", which, text, moved),
    )


def _padded(problem: GemmProblem, epilogue: EpilogueSpec, which: Literal["a", "b", "d"]) -> Change | None:
    operand = {"a": problem.a, "b": problem.b, "d": problem.d}[which]
    wanted = PAD_BYTES * 8 // operand.element.bits
    if operand.alignment >= wanted:
        return None
    dim = problem.contiguous_dim(which)
    size = problem.size(dim)
    to = f" from {size} to {round_up(size, wanted)}" if size is not None else f" to a multiple of {wanted}"
    text = f"pad {problem.dim_name(dim)} of {which}{to}"
    repair = Repair("pad", which, text, _traffic(problem, which, operand.element, operand.element))
    return problem.with_alignment(**{which: wanted}), epilogue, repair


def _widened(problem: GemmProblem, epilogue: EpilogueSpec) -> Change | None:
    if not problem.is_mixed:
        return None
    which = problem.narrow
    narrow, wide = (problem.a, problem.b.element) if which == "a" else (problem.b, problem.a.element)
    changed = _packed(wide, "k", problem, "k")
    repair = Repair("convert", which, f"convert {which} to {wide}", _traffic(problem, which, narrow.element, wide))
    return (
        replace(problem, a=changed) if which == "a" else replace(problem, b=changed),
        epilogue,
        repair,
    )


def _cut(problem: GemmProblem, epilogue: EpilogueSpec) -> Change | None:
    if epilogue.is_plain:
        return None
    repair = Repair(
        "cut",
        "epilogue",
        "store the contraction's result and do what follows in another kernel",
        _traffic(problem, "d", problem.d.element, problem.d.element),
    )
    return problem, PLAIN, repair


def _apply(name: str, problem: GemmProblem, epilogue: EpilogueSpec) -> Change | None:
    kind, _, which = name.partition(":")
    if kind == "transpose":
        return _transposed(problem, epilogue, "a" if which == "a" else "b")
    if kind == "pad":
        return _padded(problem, epilogue, "a" if which == "a" else "b" if which == "b" else "d")
    return _widened(problem, epilogue) if kind == "convert" else _cut(problem, epilogue)


# Order matters within one attempt: a transposing copy pads as it goes.
_REPAIRS = ("convert", "transpose:a", "transpose:b", "pad:a", "pad:b", "cut", "pad:d")


def relaxations(
    problem: GemmProblem, epilogue: EpilogueSpec, arch: Architecture, partial: Config = ANY
) -> Iterator[Relaxed]:
    """Ways to make a contraction that has no kernel into one that has, fewest stages first."""
    for count in range(MAX_REPAIRS + 1):
        for names in combinations(_REPAIRS, count):
            current: tuple[GemmProblem, EpilogueSpec] = (problem, epilogue)
            repairs: list[Repair] = []
            for name in names:
                change = _apply(name, *current)
                if change is None:
                    break
                current = change[:2]
                repairs.append(change[2])
            if len(repairs) == count and exists(*current, partial, arch):
                yield Relaxed(*current, tuple(repairs))


def relax(problem: GemmProblem, epilogue: EpilogueSpec, arch: Architecture, partial: Config = ANY) -> Relaxed | None:
    """The way with the fewest stages, of those the one that moves the fewest bytes; None where nothing helps."""
    best: Relaxed | None = None
    for found in relaxations(problem, epilogue, arch, partial):
        if best is not None and len(found.repairs) > len(best.repairs):
            break
        if best is None or found.bytes < best.bytes:
            best = found
    return best
