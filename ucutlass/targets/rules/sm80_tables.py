"""What CUTLASS builds for the sm_80 family: tiles, warps, instructions, alignments, stages.

Imports only the standard library and the values of `ucutlass.targets`.
"""

from collections.abc import Mapping
from types import MappingProxyType

from ucutlass.records import record
from ucutlass.targets.problem import Shape3
from ucutlass.targets.rules.core import Candidate
from ucutlass.targets.rules.types import Kind, kind_of
from ucutlass.targets.stage_arithmetic import sm80_stage_bytes, sm80_total

Grid = tuple[int, int]
"""Warps along m and n."""

_TENSOR: Mapping[Grid, Grid] = {
    (256, 128): (4, 2),
    (128, 256): (2, 4),
    (256, 64): (4, 1),
    (64, 256): (1, 4),
    (128, 128): (2, 2),
    (128, 64): (2, 2),
    (64, 128): (2, 2),
    (64, 64): (2, 2),
}
_NARROW: Mapping[Grid, Grid] = {(256, 32): (4, 1), (32, 256): (1, 4), (128, 32): (4, 1), (32, 128): (1, 4)}
_SPLIT_F32: Mapping[Grid, Grid] = {
    (128, 128): (4, 2),
    (256, 64): (4, 2),
    (64, 256): (2, 4),
    (128, 64): (2, 2),
    (64, 128): (2, 2),
    (64, 64): (2, 2),
}
_F64: Mapping[Grid, Grid] = {
    (128, 128): (4, 2),
    (256, 64): (4, 2),
    (64, 256): (2, 4),
    (256, 32): (4, 1),
    (32, 256): (1, 4),
    (128, 64): (2, 2),
    (64, 128): (2, 2),
    (64, 64): (2, 2),
    (64, 32): (2, 2),
    (32, 64): (2, 2),
    (32, 32): (2, 2),
    (16, 32): (1, 2),
    (32, 16): (2, 1),
}
_SIMT: Mapping[Grid, Grid] = {
    (256, 128): (4, 2),
    (128, 256): (2, 4),
    (128, 128): (4, 2),
    (128, 64): (2, 2),
    (64, 128): (2, 2),
    (64, 64): (2, 1),
    (128, 32): (2, 1),
    (32, 128): (1, 2),
}


@record
class KindTable:
    """What CUTLASS's generator builds for one kind of product."""

    tiles: Mapping[Grid, Grid]
    """Tile m and n with the warps that share them."""
    k: tuple[int, ...]
    instructions: tuple[Shape3, ...]
    alignments: tuple[int, ...]
    """Elements per access of A and B, widest first."""
    transposed: bool
    """Whether operands without k contiguous are taken."""
    is_simt: bool = False


TABLES: Mapping[Kind, KindTable] = MappingProxyType(
    {
        "f16": KindTable(_TENSOR, (32, 64), ((16, 8, 16),), (8, 4, 2, 1), True),
        "bf16": KindTable(_TENSOR, (32, 64), ((16, 8, 16),), (8, 4, 2, 1), True),
        "tf32": KindTable(_TENSOR, (16, 32), ((16, 8, 8),), (4, 2, 1), True),
        "tf32x3": KindTable(_SPLIT_F32, (16, 32), ((16, 8, 8),), (4, 2, 1), True),
        "int8": KindTable({**_TENSOR, **_NARROW}, (64, 128), ((16, 8, 32),), (16,), False),
        "fp8": KindTable({**_TENSOR, **_NARROW}, (64, 128), ((16, 8, 32),), (16,), False),
        "int4": KindTable(_TENSOR, (128, 256), ((16, 8, 64),), (32,), False),
        "f64": KindTable(_F64, (16,), ((8, 8, 4),), (1,), True),
        "f32": KindTable(_SIMT, (8,), ((1, 1, 1),), (1,), True, is_simt=True),
    }
)
F64_INSTRUCTIONS_SM90: tuple[Shape3, ...] = ((16, 8, 4), (16, 8, 8))
WARP_COUNTS = (4, 8)
MAX_REGISTERS = 255
CP_ASYNC_BITS = 32
MAX_AUTO_STAGES = 4


def table(candidate: Candidate) -> KindTable:
    kind = kind_of(candidate.problem)
    assert kind is not None and kind in TABLES
    return TABLES[kind]


def has_table(candidate: Candidate) -> bool:
    return kind_of(candidate.problem) in TABLES


def instructions(candidate: Candidate) -> tuple[Shape3, ...]:
    """MMA shapes that may be set."""
    rows = table(candidate).instructions
    if kind_of(candidate.problem) == "f64" and candidate.arch.capability == 90:
        return rows + F64_INSTRUCTIONS_SM90
    return rows


def warp_tile(candidate: Candidate) -> Shape3 | None:
    """The warp tile that CUTLASS builds the tile with."""
    assert candidate.tile is not None
    m, n, k = candidate.tile
    grid = table(candidate).tiles.get((m, n))
    return None if grid is None else (m // grid[0], n // grid[1], k)


def best_alignment(candidate: Candidate, which: str) -> int | None:
    """The widest alignment of A or B that the family and the operand share; None where there is none."""
    operand = candidate.operand(which)
    assert operand is not None
    return next((v for v in table(candidate).alignments if operand.alignment % v == 0), None)


def output_alignment(candidate: Candidate) -> int:
    """Elements per access of C and D that the epilogue uses when none is set."""
    if table(candidate).is_simt or kind_of(candidate.problem) == "f64":
        return 1
    most = min(o.alignment for o in (candidate.problem.d, *candidate.epilogue_spec.matrices))
    if kind_of(candidate.problem) in ("int8", "int4", "fp8"):
        most = min(most, 8)
    return most


def is_pipelined(candidate: Candidate) -> bool:
    """Whether an operand is too misaligned for cp.async, so that two stages go through registers."""
    for which in "ab":
        elements, operand = candidate.alignment_of(which), candidate.operand(which)
        assert elements is not None and operand is not None
        if elements * operand.element.bits < CP_ASYNC_BITS:
            return True
    return False


def one_stage(candidate: Candidate) -> int:
    assert candidate.tile is not None
    problem = candidate.problem
    return sm80_stage_bytes(candidate.tile, problem.a.element.bits, problem.b.element.bits, table(candidate).is_simt)


def total_bytes(candidate: Candidate, stages: int) -> int:
    assert candidate.tile is not None
    problem = candidate.problem
    warps = candidate.warps or warp_tile(candidate) or candidate.tile
    return sm80_total(
        candidate.tile,
        warps,
        stages,
        problem.a.element.bits,
        problem.b.element.bits,
        problem.accumulator.bits,
        table(candidate).is_simt,
    )


def most_stages(candidate: Candidate) -> int:
    """The largest number of stages that fits."""
    return candidate.arch.shared_memory // one_stage(candidate)


def auto_stages(candidate: Candidate) -> int:
    """Stages when the program sets none: enough to hide the latency, few enough for two blocks on a multiprocessor."""
    if is_pipelined(candidate):
        return 2
    return min(MAX_AUTO_STAGES, most_stages(candidate))
