"""Fits the constants of the cost model to kept measurements, and says how good its choices are before and after.

    python scripts/fit_cost_model.py            # fits, writes the GPU's data file
    python scripts/fit_cost_model.py --dry-run  # only prints

The measurements are those of `benchmarks/data/gemm_sweep_h200.json`; another GPU's have the same form.
"""

import argparse
import json
import math
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ucutlass.element_types import F16
from ucutlass.targets.arch import architecture
from ucutlass.targets.cost import predict
from ucutlass.targets.enumerate import complete_configs
from ucutlass.targets.gpu import Gpu, load_gpu
from ucutlass.targets.problem import PLAIN, Config, EpilogueSpec, GemmProblem, Scheduler, gemm_problem

if TYPE_CHECKING:
    import numpy as np

    Vector = np.ndarray[tuple[int, ...], np.dtype[np.float64]]

ROOT = Path(__file__).resolve().parent.parent
SWEEP = ROOT / "benchmarks" / "data" / "gemm_sweep_h200.json"
GPUS = ROOT / "ucutlass" / "targets" / "gpus"
FUSED = EpilogueSpec(row_broadcasts=(F16,), has_functor=True)
NAME = re.compile(
    r"(?P<swap>sw_)?(?P<schedule>coop|pp)(?P<m>\d+)x(?P<n>\d+)(?:c(?P<cm>\d)(?P<cn>\d))?(?P<stream>sk)?(?:k(?P<k>\d+))?"
    r"(?:_(?P<fused>gelu|relu))?"
)
BOUNDS: Mapping[str, tuple[float, float]] = {
    "clock_hz": (1.3e9, 1.98e9),
    "launch_us": (1.0, 12.0),
    "clear_us": (0.2, 8.0),
    "dram_efficiency": (0.6, 1.0),
    "l2_bytes_per_clock": (2500.0, 9000.0),
    "sm_bytes_per_clock": (32.0, 128.0),
    "memory_latency_clocks": (500.0, 3000.0),
    "prologue_clocks": (500.0, 5000.0),
    "epilogue_clocks": (100.0, 4000.0),
    "epilogue_elements_per_clock": (4.0, 80.0),
    "store_bytes_per_clock": (8.0, 128.0),
    "reduction_bytes_per_clock": (4.0, 128.0),
    "turnstile_clocks": (50.0, 5000.0),
    "step_clocks": (1.0, 300.0),
    "cluster_slowdown": (0.001, 0.1),
    "functor_slowdown": (1.0, 4.0),
    "memory_sharpness": (1.1, 10.0),
    "sustained_tflops": (500.0, 1000.0),
    "sustained_l2_bytes_per_us": (3e6, 1e9),
    "power_delay_us": (2.0, 300.0),
}
"""Constants that f16 measurements can tell, with the range that an H200 allows."""
CLOSENESS = 0.35
"""A kernel counts less by a factor e for each such step, in log time, behind the best of its shape."""
LEAST_WEIGHT = 0.1
LEVEL_WEIGHT = 0.4
"""Of a shape's mean error, beside the errors that tell its kernels apart: a common level changes no choice."""
PULL = 0.3
"""Of a constant's way, in logs, from its present value."""
OUTLIER = 0.15
DIFFERENCE = 0.02
ITERATIONS = 12
MAX_DAMPINGS = 6
TOLERANCE = 1e-3


@dataclass(frozen=True)
class Row:
    """One measured kernel."""

    shape: tuple[int, int, int]
    kernel: str
    problem: GemmProblem
    epilogue: EpilogueSpec
    config: Config
    us: float


@dataclass(frozen=True)
class Quality:
    """How well a GPU's constants predict measurements."""

    rms: float
    """Of the error of log time, but for a common factor."""
    factor: float
    """Predicted over measured time, in the geometric mean."""
    regret: float
    """Time of the plain kernel ranked first over that of the best one measured, geometric mean over the shapes."""
    worst: float
    worst_shape: tuple[int, int, int]


def config_of(kernel: str, problem: GemmProblem) -> tuple[Config, EpilogueSpec]:
    """The configuration that a kernel's short name stands for."""
    found = NAME.fullmatch(kernel)
    if found is None:
        raise ValueError(f"{kernel!r} is no kernel name: expected the like of coop128x256c21 or sw_pp64x32k128")
    tile = (int(found["m"]), int(found["n"]), int(found["k"] or 64))
    stream_pair = found["stream"] and tile[:2] == (128, 256)
    cluster = (int(found["cm"] or (2 if stream_pair else 1)), int(found["cn"] or 1), 1)
    scheduler: Scheduler = "stream_k" if found["stream"] else "persistent"
    partial = Config(
        tile=tile,
        cluster=cluster,
        schedule="cooperative" if found["schedule"] == "coop" else "pingpong",
        epilogue="tma",
        scheduler=scheduler,
        swap_ab=True if found["swap"] else False,
    )
    epilogue = FUSED if found["fused"] else PLAIN
    return next(complete_configs(problem, epilogue, partial, architecture("sm_90a"))), epilogue


def load_rows(path: Path = SWEEP) -> list[Row]:
    """The measured kernels of a kept file; the library's own kernel, `matmul`, has no configuration."""
    rows: list[Row] = []
    for entry in json.loads(path.read_text("utf-8"))["rows"]:
        if entry["kernel"] == "matmul":
            continue
        problem = gemm_problem(entry["m"], entry["n"], entry["k"])
        config, epilogue = config_of(entry["kernel"], problem)
        shape = (entry["m"], entry["n"], entry["k"])
        rows.append(Row(shape, entry["kernel"], problem, epilogue, config, entry["time_us"]))
    return rows


def _log_errors(rows: Sequence[Row], gpu: Gpu) -> list[float]:
    return [math.log(predict(r.problem, r.epilogue, r.config, gpu).us / r.us) for r in rows]


def quality(rows: Sequence[Row], gpu: Gpu) -> Quality:
    """Error of the predicted times, and what choosing by them costs."""
    errors = _log_errors(rows, gpu)
    mean = sum(errors) / len(errors)
    by_shape: dict[tuple[int, int, int], list[tuple[float, float]]] = defaultdict(list)
    for row, error in zip(rows, errors, strict=True):
        if row.epilogue is PLAIN:
            by_shape[row.shape].append((row.us * math.exp(error), row.us))
    regrets = {shape: min(found)[1] / min(us for _, us in found) for shape, found in by_shape.items()}
    worst = max(regrets, key=lambda shape: regrets[shape])
    return Quality(
        rms=math.sqrt(sum((e - mean) ** 2 for e in errors) / len(errors)),
        factor=math.exp(mean),
        regret=math.exp(sum(math.log(r) for r in regrets.values()) / len(regrets)),
        worst=regrets[worst],
        worst_shape=worst,
    )


def with_constants(gpu: Gpu, logs: Mapping[str, float]) -> Gpu:
    """The GPU with some constants replaced, given by their logarithms and kept to four digits."""
    return replace(gpu, model=replace(gpu.model, **{n: float(f"{math.exp(v):.4g}") for n, v in logs.items()}))


def _minimum(residuals: "Callable[[Vector], Vector]", start: "Vector", low: "Vector", high: "Vector") -> "Vector":
    """Damped Gauss-Newton steps within bounds; a residual far beyond `OUTLIER` pulls no harder than one at it."""
    import numpy as np

    def cost(found: "Vector") -> float:
        return float(np.sum(np.sqrt(1 + (found / OUTLIER) ** 2) - 1))

    at, damping = start, 0.01
    here = residuals(at)
    for _ in range(ITERATIONS):
        columns = [(residuals(at + DIFFERENCE * unit) - here) / DIFFERENCE for unit in np.eye(len(at))]
        slopes = np.stack(columns, axis=1)
        pull = 1 / np.sqrt(1 + (here / OUTLIER) ** 2)
        gradient = slopes.T @ (pull * here)
        normal = slopes.T @ (pull[:, None] * slopes)
        free = ~(((at <= low) & (gradient > 0)) | ((at >= high) & (gradient < 0)))
        before = cost(here)
        for _ in range(MAX_DAMPINGS):
            step = np.zeros_like(at)
            damped = normal + damping * np.diag(np.diag(normal))
            step[free] = np.linalg.solve(damped[np.ix_(free, free)], -gradient[free])
            there = np.clip(at + step, low, high)
            found = residuals(there)
            if cost(found) < before:
                at, here, damping = there, found, damping / 4
                break
            damping *= 4
        if before - cost(here) < TOLERANCE * before:
            break
    return at


def fit(rows: Sequence[Row], gpu: Gpu) -> Gpu:
    """Least squares on log time, within bounds and pulled towards the present constants."""
    import numpy as np

    names = tuple(BOUNDS)
    low, high = (np.log([BOUNDS[n][side] for n in names]) for side in (0, 1))
    start = np.clip(np.log([float(getattr(gpu.model, n)) for n in names]), low, high)
    shapes = {shape: i for i, shape in enumerate(sorted({r.shape for r in rows}))}
    which = np.array([shapes[r.shape] for r in rows])
    # A fused kernel is compared with those that compute the same.
    works = [(r.shape, r.kernel.rpartition("_")[2] if r.epilogue is FUSED else "") for r in rows]
    best: dict[tuple[tuple[int, int, int], str], float] = {}
    for work, row in zip(works, rows, strict=True):
        best[work] = min(row.us, best.get(work, row.us))
    behind = np.array([math.log(r.us / best[work]) for work, r in zip(works, rows, strict=True)])
    weights = np.exp(-behind / CLOSENESS) + LEAST_WEIGHT
    of_shape = np.bincount(which, weights)

    def residuals(logs: "Vector") -> "Vector":
        tried = replace(gpu, model=replace(gpu.model, **{n: math.exp(v) for n, v in zip(names, logs, strict=True)}))
        errors = np.array(_log_errors(rows, tried))
        levels = np.bincount(which, errors * weights) / of_shape
        apart = (errors - levels[which]) * np.sqrt(weights)
        return np.concatenate([apart, LEVEL_WEIGHT * levels * np.sqrt(of_shape), PULL * (logs - start)])

    found = _minimum(residuals, start, low, high)
    return with_constants(gpu, dict(zip(names, (float(v) for v in found), strict=True)))


def write(gpu: Gpu, fitted_on: str) -> None:
    """Puts the fitted constants into the GPU's data file."""
    path = GPUS / f"{gpu.name}.json"
    data = json.loads(path.read_text("utf-8"))
    for name in BOUNDS:
        value: float = getattr(gpu.model, name)
        data["model"][name] = int(value) if value == int(value) else value
    data["model"]["fitted_on"] = fitted_on
    path.write_text(json.dumps(data, indent=2, ensure_ascii=False) + "\n", "utf-8")


def main(arguments: Sequence[str]) -> int:
    """Fits, reports and writes."""
    parser = argparse.ArgumentParser(description="fit the cost model's constants to kept measurements")
    parser.add_argument("--data", type=Path, default=SWEEP, help="kept measurements")
    parser.add_argument("--dry-run", action="store_true", help="leave the GPU's data file as it is")
    options = parser.parse_args(arguments)
    header = json.loads(options.data.read_text("utf-8"))
    rows, gpu = load_rows(options.data), load_gpu(header["gpu"])
    fitted = fit(rows, gpu)
    for name, which in (("before", gpu), ("after", fitted)):
        q = quality(rows, which)
        print(
            f"{name:6}  rms log error {q.rms:.3f} (common factor {q.factor:.2f})  regret {q.regret:.3f},"
            f" worst {q.worst:.3f} at {'x'.join(map(str, q.worst_shape))}"
        )
    for name in BOUNDS:
        print(f"  {name:28}{getattr(gpu.model, name):>14g}{getattr(fitted.model, name):>14g}")
    if not options.dry_run:
        shapes = len({r.shape for r in rows})
        write(fitted, f"{options.data.name}: {len(rows)} f16 kernels of {shapes} shapes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
