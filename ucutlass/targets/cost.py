"""Analytic cost of one configuration on one GPU.

Imports only the standard library and `ucutlass.targets`. The model walks one thread block through its life: waiting for
the first data, one step of the main loop after another at the pace of whatever is slowest (tensor cores, the
multiprocessor's port, L2, latency over stages), the epilogue, the next tile. Waves and ragged tiles come from counting
whole tiles; memory traffic from what the tiles of a wave share. The constants are in the GPU's data file.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

from ucutlass.targets.conv import ConvProblem
from ucutlass.targets.gpu import Gpu
from ucutlass.targets.problem import Config, EpilogueSpec, GemmProblem, Operand, RasterOrder
from ucutlass.targets.rules.sm90_facts import ATOM_N, CLEAN_REGISTERS, uses_registers_for_a
from ucutlass.targets.rules.types import Kind, kind_of
from ucutlass.targets.stage_arithmetic import (
    COOPERATIVE_SCHEDULES,
    CPASYNC_SCHEDULES,
    PINGPONG_SCHEDULES,
    ceil_div,
    round_up,
    sm80_total,
)

ASSUMED_SIZE = 2048
"""What a dynamic size is taken for."""
L2_SHARE = 0.7
"""Part of L2 that holds operands long enough to be used again."""
NOSMEM_SLOWDOWN = 3.0
"""Stores from registers are narrow and scattered."""
CPASYNC_SLOWDOWN = 1.5
CONVERSION_SLOWDOWN = 1.3
"""Converting a narrow operand in registers."""
STREAM_K_MIN_TILES = 8
"""At most so many k tiles make stream-k fall back to whole tiles."""
NON_PERSISTENT_GAP = 600
"""Clocks between two thread blocks on a multiprocessor."""
COPIES_PER_CLOCK = 32
"""cp.async instructions that a multiprocessor retires."""
STREAM_K_MAX_GROUPS = 8
"""Groups of workers that share a set of tiles."""
STREAM_K_MIN_STEPS = 8
"""K steps that a stream-k unit has at least."""
CROWDED_REGISTERS = 128
CROWDED_SLOWDOWN = 1.03
"""Accumulators above this leave little room to overlap."""
OVERLAP_SHARPNESS = 8
MAX_BLOCKS = 2
"""Multistage thread blocks that share a multiprocessor."""
SWIZZLES = (1, 2, 4, 8)


@dataclass(frozen=True, slots=True)
class CostBreakdown:
    """Predicted time of a kernel and where it goes; microseconds."""

    us: float
    tiles: int
    """Output tiles of the grid."""
    waves: float
    """Tiles that the busiest thread block computes, in units of what is scheduled at once."""
    mainloop_us: float
    epilogue_us: float
    prologue_us: float
    reduction_us: float
    """Summing the slices of a divided reduction."""
    memory_us: float
    """Time that the traffic to memory takes by itself; the kernel is never faster."""
    launch_us: float
    tensor_efficiency: float
    """Share of the tensor peak that one multiprocessor reaches within the main loop."""
    memory_bytes: float


@dataclass(frozen=True, slots=True)
class _Shape:
    """The kernel's problem in tiles."""

    m: int
    n: int
    k: int
    batch: int
    tile_m: int
    tile_n: int
    tile_k: int
    tiles_m: int
    tiles_n: int
    k_tiles: int

    @property
    def tiles(self) -> int:
        return self.tiles_m * self.tiles_n * self.batch


def _sizes(problem: GemmProblem) -> tuple[int, int, int, int]:
    m, n, k, batch = (
        ASSUMED_SIZE if size is None else max(size, 1) for size in (problem.m, problem.n, problem.k, problem.batch)
    )
    return m, n, k, batch if problem.batch is not None else 1


def _shape(problem: GemmProblem, config: Config) -> _Shape:
    assert config.tile is not None and config.cluster is not None
    m, n, k, batch = _sizes(problem)
    tile_m, tile_n, tile_k = config.tile
    if config.schedule == "two_sm":
        tile_m //= 2
    tiles_m = round_up(ceil_div(m, tile_m), config.cluster[0])
    tiles_n = round_up(ceil_div(n, tile_n), config.cluster[1])
    return _Shape(m, n, k, batch, tile_m, tile_n, tile_k, tiles_m, tiles_n, ceil_div(k, tile_k))


def compute_of(kind: Kind | None, problem: GemmProblem) -> str:
    """The type whose peak the kernel is measured by."""
    if kind == "tf32x3":
        return "tf32"
    if kind in ("fp8", "int8", "int4"):
        return problem.a.element.name
    return problem.compute


@lru_cache(256)
def _shared_memory_efficiency(
    tile_n: int, flops_per_clock: float, k_bytes_flops: float, bytes_per_clock: float
) -> float:
    """Share of the peak of a 64-row instruction, which reads its 64 rows and its columns from shared memory.

    `k_bytes_flops` is the work of one row and column over the 32 bytes of k that an instruction takes.
    """
    atom = next((n for n in ATOM_N if tile_n % n == 0), 8)
    math_clocks = 64 * atom * k_bytes_flops / flops_per_clock
    read_clocks = (64 + atom) * 32 / bytes_per_clock
    return math_clocks / max(math_clocks, read_clocks)


def _math_clocks(problem: GemmProblem, config: Config, gpu: Gpu, shape: _Shape) -> tuple[float, float]:
    """Clocks of the arithmetic of one k step, and the share of the peak that they mean."""
    kind = kind_of(problem)
    compute = compute_of(kind, problem)
    constants = gpu.model
    peak = gpu.flops_per_clock(compute) if compute in gpu.peak_flops else gpu.flops_per_clock("f16") / 64
    flops = 2.0 * shape.tile_m * shape.tile_n * shape.tile_k * (3 if kind == "tf32x3" else 1)
    if config.schedule == "multistage":
        efficiency = constants.simt_efficiency if kind == "f32" else constants.multistage_efficiency
    elif config.schedule in ("one_sm", "two_sm"):
        efficiency = min(1.0, shape.tile_n / 128) if config.schedule == "one_sm" else min(1.0, shape.tile_n / 64)
        efficiency *= min(1.0, shape.tile_m / 128)
    else:
        bits = max(problem.a.element.bits, problem.b.element.bits)
        efficiency = _shared_memory_efficiency(shape.tile_n, peak, 2.0 * 256 / bits, constants.shared_bytes_per_clock)
        if problem.is_mixed:
            efficiency /= CONVERSION_SLOWDOWN
        elif uses_registers_for_a(problem):
            efficiency /= 1.1
    efficiency /= _register_slowdown(problem, config, kind, gpu)
    return flops / (peak * efficiency), efficiency


def _register_slowdown(problem: GemmProblem, config: Config, kind: Kind | None, gpu: Gpu) -> float:
    if config.schedule in ("multistage", "one_sm", "two_sm") or config.tile is None:
        return 1.0
    threads = 256 if config.schedule in COOPERATIVE_SCHEDULES and config.tile[0] >= 128 else 128
    registers = config.tile[0] * config.tile[1] * problem.accumulator.bits // 32 / threads
    if kind == "fp8" and not config.fast_accum and config.schedule not in CPASYNC_SCHEDULES:
        registers *= 2
    if registers > CLEAN_REGISTERS:
        return gpu.model.spill_slowdown
    return CROWDED_SLOWDOWN if registers > CROWDED_REGISTERS else 1.0


def _bytes(operand: Operand, elements: float) -> float:
    return elements * operand.element.bits / 8


def _overlapped(*times: float, sharpness: float = OVERLAP_SHARPNESS) -> float:
    """Time of things that go on at once: the longest, and a little more where others take nearly as long."""
    longest = max(times)
    return longest * sum((t / longest) ** sharpness for t in times) ** (1 / sharpness)


def _step_clocks(
    problem: GemmProblem, config: Config, gpu: Gpu, shape: _Shape, running: int, per_sm: int
) -> tuple[float, float]:
    """Clocks of one k step of a thread block while `running` others run beside it, and the tensor efficiency."""
    assert config.cluster is not None and config.stages is not None
    constants = gpu.model
    math_clocks, efficiency = _math_clocks(problem, config, gpu, shape)
    a_bytes = _bytes(problem.a, shape.tile_m * shape.tile_k)
    b_bytes = _bytes(problem.b, shape.tile_n * shape.tile_k)
    if config.schedule == "two_sm":
        b_bytes /= 2
    port = (a_bytes + b_bytes) / constants.sm_bytes_per_clock
    shared = a_bytes / config.cluster[1] + b_bytes / config.cluster[0]
    l2 = shared * running / constants.l2_bytes_per_clock
    latency = constants.memory_latency_clocks / max(1, config.stages - 1)
    clocks = _overlapped(math_clocks * per_sm, port * per_sm, l2, latency)
    doublings = (config.cluster[0] * config.cluster[1]).bit_length() - 1
    clocks += constants.step_clocks
    clocks *= 1 + constants.cluster_slowdown * doublings
    if config.schedule == "multistage" or config.schedule in CPASYNC_SCHEDULES:
        copies = sum(
            elements / max(1, alignment or operand.alignment)
            for operand, alignment, elements in (
                (problem.a, config.alignment.a, shape.tile_m * shape.tile_k),
                (problem.b, config.alignment.b, shape.tile_n * shape.tile_k),
            )
        )
        clocks = max(clocks, copies / COPIES_PER_CLOCK * per_sm)
        if config.schedule in CPASYNC_SCHEDULES:
            clocks *= CPASYNC_SLOWDOWN
    return clocks, efficiency


def _epilogue_clocks(problem: GemmProblem, epilogue: EpilogueSpec, config: Config, gpu: Gpu, shape: _Shape) -> float:
    constants = gpu.model
    elements = shape.tile_m * shape.tile_n
    groups = 1 if config.schedule in (*PINGPONG_SCHEDULES, "warpspecialized", "tma", "cpasync") else 2
    element_clocks = elements / (constants.epilogue_elements_per_clock * groups)
    if not epilogue.is_plain:
        element_clocks *= constants.functor_slowdown
    if config.epilogue == "nosmem":
        element_clocks *= NOSMEM_SLOWDOWN
    moved = sum(_bytes(o, elements) for o in (problem.d, *epilogue.matrices))
    return constants.epilogue_clocks + max(element_clocks, moved / constants.store_bytes_per_clock)


def _raster(config: Config, shape: _Shape) -> RasterOrder:
    """The order that CUTLASS takes when none is set: along the shorter side first."""
    if config.raster is not None:
        return config.raster
    return "along_m" if shape.tiles_n > shape.tiles_m else "along_n"


def operand_traffic(problem: GemmProblem, config: Config, gpu: Gpu, shape: _Shape, running: int) -> float:
    """Bytes of A and B that come from memory, the tiles of a wave sharing what they have in common."""
    a_bytes = _bytes(problem.a, shape.m * shape.k) * shape.batch
    b_bytes = _bytes(problem.b, shape.n * shape.k) * shape.batch
    cache = L2_SHARE * gpu.l2_bytes
    if shape.batch > 1 or a_bytes + b_bytes <= cache:
        return a_bytes + b_bytes
    swizzle = config.swizzle or 1
    along_m = _raster(config, shape) == "along_m"
    first, second = (shape.tiles_m, shape.tiles_n) if along_m else (shape.tiles_n, shape.tiles_m)
    # A band of `width` tiles is walked to its end before the next one begins.
    width = min(second, max(swizzle, ceil_div(running, first)))
    bands = ceil_div(second, width)
    walked, kept = (a_bytes, b_bytes) if along_m else (b_bytes, a_bytes)
    band_bytes = kept / bands
    rows_at_once = min(1.0, running / width / first)
    revisited = walked * (1 if walked + band_bytes <= cache else bands)
    # The band itself stays only if it fits beside what streams past it.
    held = kept if band_bytes + walked * rows_at_once <= cache else kept * max(1.0, 1 / max(rows_at_once, 1e-9))
    return revisited + min(held, kept * math.ceil(first))


def _running(config: Config, gpu: Gpu, problem: GemmProblem, epilogue: EpilogueSpec) -> tuple[int, int]:
    """Thread blocks that run at once, and how many of them share a multiprocessor."""
    assert config.cluster is not None and config.tile is not None
    if config.schedule != "multistage":
        size = config.cluster[0] * config.cluster[1]
        return gpu.cluster_capacity.get(size, gpu.sm_count // size * size), 1
    assert config.stages is not None
    warps = config.warps or config.tile
    kind = kind_of(problem)
    used = sm80_total(
        config.tile,
        warps,
        config.stages,
        problem.a.element.bits,
        problem.b.element.bits,
        problem.accumulator.bits,
        kind == "f32",
    )
    by_memory = gpu.shared_memory_per_sm // (used + 1024)
    count = (config.tile[0] // warps[0]) * (config.tile[1] // warps[1])
    registers = warps[0] * warps[1] * problem.accumulator.bits // 1024 + 80
    by_registers = 65536 // (count * 32 * min(255, registers))
    blocks = max(1, min(by_memory, by_registers, MAX_BLOCKS))
    return gpu.sm_count * blocks, blocks


def _is_divided(shape: _Shape, slots: int) -> bool:
    """Whether stream-k divides tiles at all: CUTLASS keeps them whole where the last wave is at least half full."""
    return shape.k_tiles > STREAM_K_MIN_TILES and 0 < 2 * (shape.tiles % slots) < slots


def _divided(shape: _Shape, slots: int) -> tuple[int, int, int]:
    """K steps of a stream-k worker, tiles whose workers wait for one another, and parts of a tile."""
    whole_waves = max(0, shape.tiles // slots - 1)
    tiles = shape.tiles - whole_waves * slots
    workers = max(1, min(slots, tiles * shape.k_tiles // STREAM_K_MIN_STEPS))
    steps = whole_waves * shape.k_tiles + ceil_div(tiles * shape.k_tiles, workers)
    parts = max(2, ceil_div(workers, tiles))
    # Where parts do not end with their tile, a worker's second tile waits for its first: a chain through the group.
    groups = next(g for g in range(STREAM_K_MAX_GROUPS, 0, -1) if workers % g == 0 and tiles % g == 0)
    waits = 0 if workers % tiles == 0 else min(parts, tiles // groups - 1)
    return steps, waits, parts


def _throttle(
    mainloop_us: float, block_steps: float, problem: GemmProblem, config: Config, gpu: Gpu, shape: _Shape
) -> float:
    """Factor on all times by which the chip lowers its clock to stay within its power.

    `block_steps` are the k steps of all thread blocks, as if none were idle in the last wave: the clock follows full
    waves, and is not raised again for the last.
    """
    assert config.cluster is not None
    constants = gpu.model
    compute = compute_of(kind_of(problem), problem)
    rate = constants.sustained_tflops * 1e6 * gpu.peak_flops.get(compute, gpu.peak("f16")) / gpu.peak("f16")
    a_bytes = _bytes(problem.a, shape.tile_m * shape.tile_k)
    b_bytes = _bytes(problem.b, shape.tile_n * shape.tile_k)
    # What more than two blocks save by sharing a read is not known.
    saved = max(a_bytes / 2 if config.cluster[1] > 1 else 0.0, b_bytes / 2 if config.cluster[0] > 1 else 0.0)
    flops = 2.0 * shape.tile_m * shape.tile_n * shape.tile_k
    power_us = block_steps * (flops / rate + (a_bytes + b_bytes - saved) / constants.sustained_l2_bytes_per_us)
    # A short kernel is over before the clock answers.
    answered = mainloop_us / (mainloop_us + constants.power_delay_us)
    return _overlapped(mainloop_us, power_us * answered) / mainloop_us


def predict(problem: GemmProblem | ConvProblem, epilogue: EpilogueSpec, config: Config, gpu: Gpu) -> CostBreakdown:
    """Predicted time of a complete configuration."""
    gemm = problem.as_gemm() if isinstance(problem, ConvProblem) else problem
    if config.swap_ab:
        gemm, epilogue = gemm.swapped(), epilogue.swapped()
    constants = gpu.model
    shape = _shape(gemm, config)
    slots, per_sm = _running(config, gpu, gemm, epilogue)
    slices = min(config.split_k or 1, shape.k_tiles)
    stream = config.scheduler == "stream_k" and _is_divided(shape, slots)
    units = shape.tiles * slices
    running = min(slots, units if not stream else slots)
    busy_per_sm = max(1, min(per_sm, ceil_div(running, gpu.sm_count)))
    step, efficiency = _step_clocks(gemm, config, gpu, shape, running, busy_per_sm)
    epilogue_clocks = _epilogue_clocks(gemm, epilogue, config, gpu, shape)
    prologue = constants.prologue_clocks

    sums = shape.tile_m * shape.tile_n * 4.0
    reduction = 0.0
    each = sums / constants.reduction_bytes_per_clock + constants.turnstile_clocks
    if stream:
        waves = shape.tiles / slots
        outputs = max(1, ceil_div(shape.tiles, slots))
        steps, waits, parts = _divided(shape, slots)
        reduction = parts * each + waits * constants.turnstile_clocks
    else:
        outputs = ceil_div(units, slots)
        waves = float(outputs)
        steps = outputs * ceil_div(shape.k_tiles, slices)
        if slices > 1:
            reduction = slices * each
    mainloop = steps * step
    if config.schedule in PINGPONG_SCHEDULES:
        # One group of warps stores while the other computes.
        exposed = epilogue_clocks + max(0.0, epilogue_clocks - mainloop / outputs) * (outputs - 1)
    elif busy_per_sm > 1:
        exposed = epilogue_clocks * max(1, outputs - 1)
    else:
        exposed = epilogue_clocks * outputs
    if config.schedule in ("warpspecialized", "tma", "cpasync", "multistage"):
        prologue = (prologue + NON_PERSISTENT_GAP) * outputs / busy_per_sm

    bytes_moved = operand_traffic(gemm, config, gpu, shape, running) + shape.batch * sum(
        _bytes(o, shape.m * shape.n) for o in (gemm.d, *epilogue.matrices)
    )
    memory_us = bytes_moved / (gpu.memory_bytes_per_s * constants.dram_efficiency) * 1e6
    to_us = 1e6 / constants.clock_hz
    needs_workspace = slices > 1 or config.scheduler == "stream_k"
    launch = constants.launch_us + (constants.clear_us if needs_workspace else 0.0)
    to_us *= _throttle(mainloop * to_us, steps * running, gemm, config, gpu, shape)
    # Nothing hides the first data and the last results. Blocks of a first wave wait for the same data; later ones have
    # it fetched while their neighbours compute.
    alone = prologue + exposed / outputs + reduction
    inside = (mainloop + exposed * (1 - 1 / outputs)) * to_us
    us = launch + alone * to_us + _overlapped(inside, memory_us, sharpness=constants.memory_sharpness + outputs - 1)
    return CostBreakdown(
        us=us,
        tiles=shape.tiles,
        waves=waves,
        mainloop_us=mainloop * to_us,
        epilogue_us=exposed * to_us,
        prologue_us=prologue * to_us,
        reduction_us=reduction * to_us,
        memory_us=memory_us,
        launch_us=launch,
        tensor_efficiency=efficiency,
        memory_bytes=bytes_moved,
    )
