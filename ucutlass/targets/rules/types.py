"""Which operand types are multiplied by which instructions, and with which accumulators.

Imports only the standard library and the values of `ucutlass.targets`. One table row a kind of product; the families
say which kinds they have.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from ucutlass.element_types import COMPUTE_MODES, ElementType
from ucutlass.records import record
from ucutlass.targets.arch import FamilyName
from ucutlass.targets.problem import GemmProblem
from ucutlass.targets.rules.core import Candidate, Finding, Fix, rule
from ucutlass.targets.rules.text import operand_part

Kind = Literal["f16", "bf16", "tf32", "tf32x3", "f32", "f64", "fp8", "int8", "int4", "mixed"]

FP8 = frozenset({"e4m3", "e5m2"})
INT8 = frozenset({"s8", "u8"})
INT4 = frozenset({"s4", "u4"})
F32_STORED = frozenset({"f32", "tf32"})
WIDE = frozenset({"f16", "bf16"})
NARROW = FP8 | INT8 | INT4


@record
class KindRow:
    """One kind of product."""

    elements: frozenset[str]
    same: bool
    """Whether A and B must have one type."""
    computes: frozenset[str]
    accumulators: tuple[str, ...]


KINDS: Mapping[Kind, KindRow] = MappingProxyType(
    {
        "f16": KindRow(frozenset({"f16"}), True, frozenset({"f16"}), ("f32", "f16")),
        "bf16": KindRow(frozenset({"bf16"}), True, frozenset({"bf16"}), ("f32",)),
        "tf32": KindRow(F32_STORED, False, frozenset({"tf32"}), ("f32",)),
        "tf32x3": KindRow(frozenset({"f32"}), True, frozenset({"tf32x3"}), ("f32",)),
        "f32": KindRow(frozenset({"f32"}), True, frozenset({"f32"}), ("f32",)),
        "f64": KindRow(frozenset({"f64"}), True, frozenset({"f64"}), ("f64",)),
        "fp8": KindRow(FP8, False, FP8, ("f32", "f16")),
        "int8": KindRow(INT8, False, INT8, ("s32",)),
        "int4": KindRow(INT4, True, INT4, ("s32",)),
    }
)

FAMILY_KINDS: Mapping[FamilyName, tuple[Kind, ...]] = MappingProxyType(
    {
        "sm90_3x": ("f16", "bf16", "tf32", "fp8", "int8", "mixed"),
        "sm80_2x": ("f16", "bf16", "tf32", "tf32x3", "f32", "f64", "fp8", "int8", "int4"),
        "sm100_3x": ("f16", "bf16", "tf32", "fp8", "int8"),
        "sm120_3x": ("fp8",),
    }
)

MMA_K: Mapping[Kind | None, int] = MappingProxyType(
    {"f16": 16, "bf16": 16, "tf32": 8, "fp8": 32, "int8": 32, "mixed": 16}
)
"""Elements along k of one warpgroup or tensor-memory instruction: 32 bytes."""

RESULTS = frozenset({"f64", "f32", "tf32", "f16", "bf16", "e4m3", "e5m2", "s32", "s8", "u8"})
"""Types that an epilogue can store."""

FP8_CAPABILITY = 89


def kind_of(problem: GemmProblem) -> Kind | None:
    """The kind of product, None when no instruction forms it from operands that are stored so."""
    a, b = problem.a.element.name, problem.b.element.name
    for kind, row in KINDS.items():
        if a in row.elements and b in row.elements and (a == b or not row.same) and problem.compute in row.computes:
            return kind
    for narrow, wide in ((a, b), (b, a)):
        if narrow in NARROW and wide in WIDE and problem.compute == wide:
            return "mixed"
    return None


def family_has(family: FamilyName, kind: Kind, problem: GemmProblem, capability: int) -> bool:
    """Whether a family of kernels forms this kind of product on a chip."""
    if kind not in FAMILY_KINDS[family] or (kind == "fp8" and capability < FP8_CAPABILITY):
        return False
    return not (family == "sm100_3x" and kind == "int8" and problem.a.element != problem.b.element)


def multiplied_types(candidate: Candidate) -> str:
    """What a target multiplies, for messages."""
    arch = candidate.arch
    kinds = {k for f in arch.families for k in FAMILY_KINDS[f] if k != "fp8" or arch.capability >= FP8_CAPABILITY}
    elements = [e for k, row in KINDS.items() if k in kinds for e in sorted(row.elements)]
    return ", ".join(dict.fromkeys(elements))


def accumulators(kind: Kind, wide: ElementType) -> tuple[str, ...]:
    if kind == "mixed":
        return ("f32", "f16") if wide.name == "f16" else ("f32",)
    return KINDS[kind].accumulators


@rule("UC0501", source="gemm/collective/builders/*.inl: operand types of the MMA selectors; PTX ISA, mma and wgmma")
def operands_are_multiplied(candidate: Candidate) -> Finding | None:
    """The family has an instruction for the operand types and the type of the products."""
    problem, arch = candidate.problem, candidate.arch
    a, b = problem.a.element, problem.b.element
    kind = kind_of(problem)
    if kind is None:
        return _no_kind(candidate)
    if family_has(candidate.family, kind, problem, arch.capability):
        return None
    elsewhere = [f for f in arch.families if family_has(f, kind, problem, arch.capability)]
    if elsewhere and candidate.pinned.schedule is not None:
        other = "multistage" if elsewhere[0] == "sm80_2x" else "auto"
        return Finding(
            f"schedule {candidate.pinned.schedule} has no instruction for {a} products formed in {problem.compute}:"
            f" on {arch} they run on {other} kernels",
            "setter:schedule:0",
            Fix("setter:schedule:0", other, f"use {other}"),
            code="UC0508",
        )
    which = "a" if kind == "mixed" and problem.narrow == "a" else "b" if kind == "mixed" else "a"
    return Finding(
        f"{arch} has no instruction that multiplies {a} by {b} in {problem.compute}: it multiplies"
        f" {multiplied_types(candidate)}",
        operand_part(candidate, which),
    )


def _no_kind(candidate: Candidate) -> Finding:
    problem = candidate.problem
    a, b, compute = problem.a.element, problem.b.element, problem.compute
    own: set[Kind] = {k for k, row in KINDS.items() if a.name in row.elements and b.name in row.elements}
    if not own or (a != b and all(KINDS[k].same for k in own)):
        return Finding(
            f"no instruction multiplies {a} by {b}: both operands have one type, or one of them is narrow"
            f" ({', '.join(sorted(NARROW))}) and the other f16 or bf16",
            operand_part(candidate, "b"),
        )
    computes = sorted({c for k in own for c in KINDS[k].computes})
    word = next((c for c in computes if c in COMPUTE_MODES), None)
    return Finding(
        f"operands stored as {a} are not multiplied in {compute} by any instruction: kernels read them as"
        f" {', '.join(computes)}",
        "setter:compute:0",
        # What is stored in a type that the setter has no word for is read as it is by leaving the setter out.
        Fix("setter:compute", "", "remove .with_compute")
        if word is None
        else Fix("setter:compute:0", word, f"use {word}"),
        code="UC0515",
    )


@rule("UC0502", source="cute/arch/mma_sm90_gmma.hpp, mma_sm80.h, mma_sm100_umma.hpp: accumulator types of the atoms")
def accumulator_exists(candidate: Candidate) -> Finding | None:
    """The instruction sums in the accumulator's type."""
    problem = candidate.problem
    kind = kind_of(problem)
    if kind is None:
        return None
    wide = problem.b.element if problem.narrow == "a" and problem.is_mixed else problem.a.element
    legal = accumulators(kind, wide)
    if problem.accumulator.name in legal:
        return None
    return Finding(
        f"products of {problem.a.element} by {problem.b.element} are not summed in {problem.accumulator}: the"
        f" instructions sum them in {' or '.join(legal)}",
        "setter:acc:0",
        Fix("setter:acc:0", legal[0], f"use {legal[0]}"),
    )


@rule("UC0501", source="cutlass/numeric_conversion.h: conversions from the accumulator that an epilogue has")
def result_is_stored(candidate: Candidate) -> Finding | None:
    """An epilogue can convert to the result's type and store it."""
    element = candidate.problem.d.element
    if element.name in RESULTS and (element.name == "f64") <= (candidate.problem.accumulator.name == "f64"):
        return None
    return Finding(
        f"no epilogue stores {element} from {candidate.problem.accumulator} sums: a contraction's result is stored as"
        f" {', '.join(sorted(RESULTS - {'f64'}))}, or as f64 from f64 sums",
        "result:0",
    )


TYPE_RULES = (operands_are_multiplied, accumulator_exists, result_is_stored)
