"""Facts about the sm_90a kernels that rules, stage arithmetic and cost model share.

Imports only the standard library and the values of `ucutlass.targets`.
"""

import math
from functools import lru_cache

from ucutlass.targets.problem import GemmProblem, Schedule
from ucutlass.targets.stage_arithmetic import swizzle_unit

TMA_SCHEDULES: tuple[Schedule, ...] = ("cooperative", "pingpong", "warpspecialized", "tma")
BASE_SCHEDULES: tuple[Schedule, ...] = ("cooperative", "pingpong", "warpspecialized")
GROUPED_SCHEDULES: tuple[Schedule, ...] = ("cooperative", "pingpong")
STREAM_K_SCHEDULES: tuple[Schedule, ...] = ("cooperative", "cpasync_cooperative")
NON_PERSISTENT: tuple[Schedule, ...] = ("warpspecialized", "tma", "cpasync")

ATOM_N = (256, 192, 128, 96, 64, 32, 16, 8)
"""Widths of the instructions that CUTLASS selects by default, widest first."""
TILE_M: dict[Schedule, tuple[int, ...]] = {
    "cooperative": (128, 256),
    "pingpong": (64, 128, 192, 256),
    "warpspecialized": (64, 128, 192, 256),
    "tma": (64, 128, 192, 256),
    "cpasync": (64, 128, 192, 256),
    "cpasync_cooperative": (64, 128, 256),
    "cpasync_pingpong": (64, 128, 192, 256),
}
MAX_EXTENT = 256
MAX_REGISTERS = 255
MAX_PROMOTED_REGISTERS = 128
CLEAN_REGISTERS = 192
MIXED_MIN_K = 64


def uses_registers_for_a(problem: GemmProblem) -> bool:
    """Whether A goes through registers: mixed widths, or k not contiguous in operands that are not 16-bit."""
    if problem.is_mixed:
        return True
    return problem.a.element.bits != 16 and (problem.a.major, problem.b.major) != ("k", "k")


def math_threads(schedule: Schedule, tile_m: int) -> int:
    """Threads that hold one tile's accumulators."""
    if schedule == "cooperative" or (schedule == "cpasync_cooperative" and tile_m >= 128):
        return 256
    return 128


@lru_cache(64)
def atom_n(tile_n: int) -> int:
    """Width of the instruction that a tile is made of; 0 where none divides it."""
    return next((n for n in ATOM_N if tile_n % n == 0), 0)


def swizzle_row(tile_k: int, bits: int) -> tuple[int, int]:
    """Elements of one row of the swizzle that tile k selects, and of the pattern that repeats."""
    pattern = swizzle_unit(tile_k * bits / 8)
    return pattern // bits, pattern


def swizzle_parity(rows: int, tile_k: int, bits: int) -> int | None:
    """What the stages must be a multiple of so that each starts on a whole pattern; None where nothing helps."""
    width, pattern = swizzle_row(tile_k, bits)
    block = rows * width
    if block % pattern == 0:
        return 1
    if pattern % block:
        return None
    blocks = pattern // block
    per_stage = tile_k // width
    return blocks // math.gcd(blocks, per_stage)


def copy_layout(tile_k: int, rows: int, alignment: int, threads: int, k_major: bool) -> tuple[int, int, bool]:
    """How cp.async threads are laid over a tile: how many along the contiguous side, across, and whether they fit."""
    contiguous_extent, across_extent = (tile_k, rows) if k_major else (rows, tile_k)
    along = min(threads, contiguous_extent // alignment)
    if along == 0:
        return 0, 0, False
    across = threads // along
    return along, across, threads % along == 0 and across_extent % across == 0 and contiguous_extent % alignment == 0
