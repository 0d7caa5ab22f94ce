"""Shared memory, stages and registers against what CUTLASS computes.

The expected numbers come from compiled kernels: a table of totals printed by `sizeof`, and a data file of 56 sampled
kernels. None was produced by the functions under test.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Literal, TypedDict

import pytest

from ucutlass.element_types import ELEMENT_TYPES
from ucutlass.targets import stage_arithmetic as sa
from ucutlass.targets.arch import architecture
from ucutlass.targets.enumerate import start
from ucutlass.targets.families import SM90
from ucutlass.targets.problem import Alignments, Config, EpilogueKind, EpilogueSpec, Operand, Schedule, gemm_problem
from ucutlass.targets.rules import sm90_memory

LIMIT = 232448
F16 = ELEMENT_TYPES["f16"]


def _result(element: str, major: str = "n") -> Operand:
    kind = ELEMENT_TYPES[element]
    return Operand(kind, "n" if major == "n" else "m", 128 // kind.bits)


def _measure(
    schedule: str, tile: tuple[int, int, int], factor: str, c: str | None, d: str, spec: EpilogueSpec, nosmem: bool
) -> tuple[int, int, int]:
    full = replace(spec, c=None if c is None else _result(c))
    epilogue = sa.NO_STORAGE if nosmem else sa.sm90_epilogue_storage(schedule, tile, full, _result(d))
    bits = ELEMENT_TYPES[factor].bits
    operands = sa.operand_stage_bytes(tile, bits, bits)
    stages = sa.sm90_auto_stages(LIMIT, epilogue.storage_bytes, 0, operands)
    return epilogue.storage_bytes, stages, sa.sm90_total(schedule, epilogue, stages, operands)


PLAIN = EpilogueSpec()
BIAS = EpilogueSpec(row_broadcasts=(F16,), has_functor=True)
BIAS_AUX = EpilogueSpec(col_broadcasts=(F16,), aux_stores=(_result("f16"),), has_functor=True)


@pytest.mark.parametrize(
    ("schedule", "tile", "factor", "c", "d", "spec", "nosmem", "measured"),
    [
        ("cooperative", (128, 128, 64), "f16", "f16", "f16", PLAIN, False, (33792, 6, 230400)),
        ("cooperative", (128, 128, 64), "f16", None, "f16", PLAIN, False, (17408, 6, 214016)),
        ("cooperative", (128, 128, 64), "f16", "f32", "f32", PLAIN, False, (67584, 5, 231424)),
        ("cooperative", (128, 256, 64), "f16", "f16", "f16", PLAIN, False, (33792, 4, 230400)),
        ("cooperative", (256, 128, 64), "f16", "f16", "f16", PLAIN, False, (33792, 4, 230400)),
        ("cooperative", (256, 256, 64), "f16", None, "f16", PLAIN, False, (17408, 3, 214016)),
        ("pingpong", (64, 128, 64), "f16", "f16", "f16", PLAIN, False, (17408, 8, 214016)),
        ("pingpong", (64, 128, 64), "f16", None, "f16", PLAIN, False, (9216, 9, 230400)),
        ("pingpong", (128, 128, 64), "f16", "f16", "f16", PLAIN, False, (17408, 6, 214016)),
        ("pingpong", (128, 128, 64), "f16", "f32", "f16", PLAIN, False, (43008, 5, 206848)),
        ("warpspecialized", (64, 128, 64), "f16", "f16", "f16", PLAIN, False, (17408, 8, 197120)),
        ("cooperative", (128, 128, 64), "f16", None, "f16", PLAIN, True, (1, 7, 229760)),
        ("warpspecialized", (128, 128, 64), "f16", None, "f16", PLAIN, True, (1, 7, 229504)),
        ("cooperative", (128, 128, 128), "e4m3", "f16", "f16", PLAIN, False, (33792, 6, 230400)),
        ("pingpong", (128, 128, 128), "e4m3", "e4m3", "e4m3", PLAIN, False, (25600, 6, 222208)),
        ("cooperative", (128, 128, 32), "tf32", "f32", "f32", PLAIN, False, (67584, 5, 231424)),
        ("cooperative", (128, 128, 128), "s8", "s8", "s8", PLAIN, False, (25088, 6, 221696)),
        ("cooperative", (128, 128, 64), "f16", "f16", "f16", BIAS, False, (33792, 6, 230400)),
        ("cooperative", (128, 128, 64), "f16", "f16", "f16", BIAS_AUX, False, (49664, 5, 213504)),
        ("cooperative", (128, 192, 64), "f16", "f16", "f16", PLAIN, False, (33792, 4, 197632)),
        ("cooperative", (128, 16, 64), "f16", "f16", "f16", PLAIN, False, (8704, 12, 229888)),
    ],
)
def test_measured_totals(
    schedule: str,
    tile: tuple[int, int, int],
    factor: str,
    c: str | None,
    d: str,
    spec: EpilogueSpec,
    nosmem: bool,
    measured: tuple[int, int, int],
):
    assert _measure(schedule, tile, factor, c, d, spec, nosmem) == measured


class Row(TypedDict):
    """One compiled kernel; the problem is the program's, and a swapped kernel sees the transposed one."""

    a: str
    b: str
    d: str
    layout: str
    d_major: Literal["n", "m"]
    compute: str
    accumulator: str
    n: int
    k: int
    grouping: Literal["array", "grouped"] | None
    c: str | None
    bias: str | None
    schedule: Schedule
    epilogue: EpilogueKind
    tile: list[int]
    swap_ab: bool
    alignment: list[int | None]
    stages: int
    epilogue_bytes: int
    total_bytes: int


def _rows() -> list[Row]:
    return json.loads((Path(__file__).parent / "test_targets_sm90_storage.json").read_text())["kernels"]


def _row_id(row: Row) -> str:
    return f"{row['schedule']}-{row['a']}-{'x'.join(map(str, row['tile']))}"


@pytest.mark.parametrize("row", _rows(), ids=_row_id)
def test_sampled_kernels(row: Row):
    """Sampled over types, layouts, schedules, groups and clusters; compiled by nvcc and printed."""
    problem = gemm_problem(
        4096,
        row["n"],
        row["k"],
        row["a"],
        row["b"],
        row["d"],
        layout=row["layout"],
        d_major=row["d_major"],
        compute=row["compute"],
        accumulator=row["accumulator"],
        grouping=row["grouping"],
    )
    bias = (ELEMENT_TYPES[row["bias"]],) if row["bias"] else ()
    c = _result(row["c"], row["d_major"]) if row["c"] else None
    spec = EpilogueSpec(c=c, row_broadcasts=bias, has_functor=bool(bias))
    m, n, k = row["tile"]
    swap = row["swap_ab"]
    candidate = start(problem, spec, Config(), architecture("sm_90a"), SM90, swap)
    candidate.schedule, candidate.epilogue, candidate.tile = row["schedule"], row["epilogue"], (m, n, k)
    candidate.alignment = Alignments(*row["alignment"])
    stages = row["stages"]
    assert sm90_memory.epilogue_storage(candidate).storage_bytes == row["epilogue_bytes"]
    assert sm90_memory.total_bytes(candidate, stages) == row["total_bytes"]
    # A B tile of 8 rows needs an even number of stages, which CUTLASS's own count does not see to.
    assert sm90_memory.auto_stages(candidate) == (stages if n != 8 else stages // 2 * 2)


def test_the_limit_is_an_argument():
    """A sibling with less memory gets fewer stages, down to one KiB over."""
    tile = (64, 256, 32)
    one = sa.sm80_stage_bytes(tile, 16, 16, simt=False)
    assert one == 20480 and 5 * one == 102400 == 101376 + 1024
    assert sa.sm80_total(tile, (64, 64, 32), 5, 16, 16, 32, simt=False) == 102400
    operands = sa.operand_stage_bytes((128, 128, 64), 16, 16)
    assert [sa.sm90_auto_stages(limit, 17408, 0, operands) for limit in (101376, 166912, 232448)] == [2, 4, 6]


def test_sm80_stages_by_hand():
    assert sa.sm80_total((128, 128, 32), (64, 64, 32), 4, 16, 16, 32, simt=False) == 65536
    assert 166912 // sa.sm80_stage_bytes((128, 128, 64), 16, 16, simt=False) == 5
    assert 101376 // sa.sm80_stage_bytes((128, 128, 64), 16, 16, simt=False) == 3
    assert 166912 // sa.sm80_stage_bytes((256, 128, 64), 16, 16, simt=False) == 3
    assert 101376 // sa.sm80_stage_bytes((256, 128, 64), 16, 16, simt=False) == 2


def test_blackwell_measured():
    """A 256x128x64 f16 pair with a bias: 8 stages; 128x128x128 e4m3 to f16 on sm_120a: 2 stages, 79872 bytes."""
    pair = sa.sm100_epilogue_storage((128, 128), True, 256, BIAS, _result("f16"))
    operands = sa.operand_stage_bytes((128, 64, 64), 16, 16)
    stages = sa.sm100_auto_stages(LIMIT, pair.storage_bytes, operands)
    assert stages == 8
    assert sa.sm100_total(pair, stages, operands) <= LIMIT
    small = sa.sm120_epilogue_storage((128, 128), EpilogueSpec(c=_result("f16")), _result("f16"))
    assert sa.sm100_auto_stages(101376, small.storage_bytes, sa.operand_stage_bytes((128, 128, 128), 8, 8)) == 2
    assert sa.sm120_total(small, 2, sa.operand_stage_bytes((128, 128, 128), 8, 8)) == 79872


@pytest.mark.parametrize(
    ("m", "n", "threads", "bits", "registers"),
    [
        (256, 128, 256, 32, 128),
        (64, 256, 128, 32, 128),
        (256, 192, 256, 32, 192),
        (256, 256, 256, 32, 256),
        (128, 256, 128, 32, 256),
        (256, 256, 256, 16, 128),
    ],
)
def test_accumulator_registers(m: int, n: int, threads: int, bits: int, registers: int):
    assert sa.accumulator_registers(m, n, threads, bits) == registers


@pytest.mark.parametrize(("tile_k", "interval"), [(32, 4), (64, 4), (128, 4), (96, 6), (256, 8)])
def test_promotion_interval_is_a_multiple_of_the_steps_of_a_tile(tile_k: int, interval: int):
    assert sa.promotion_interval(tile_k) == interval
    assert interval % (tile_k // 32) == 0


@pytest.mark.parametrize(
    ("schedule", "m", "n", "bits", "tile"),
    [
        ("cooperative", 128, 128, 16, (128, 32)),
        ("cooperative", 256, 112, 16, (128, 16)),
        ("pingpong", 128, 128, 8, (64, 64)),
        ("pingpong", 64, 96, 8, (64, 32)),
        ("warpspecialized", 192, 24, 16, (64, 24)),
    ],
)
def test_epilogue_tile(schedule: str, m: int, n: int, bits: int, tile: tuple[int, int]):
    assert sa.epilogue_tile(schedule, m, n, bits) == tile
