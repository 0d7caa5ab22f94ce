"""The cost model against the kept measurements of an H200, and the script that fits it."""

import importlib.util
import math
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from ucutlass.targets.cost import predict
from ucutlass.targets.gpu import load_gpu
from ucutlass.targets.problem import gemm_problem

ROOT = Path(__file__).resolve().parents[2]
H200 = load_gpu("h200")


def load_script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("fit_cost_model", ROOT / "scripts" / "fit_cost_model.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


fitting = load_script()
ROWS = fitting.load_rows()


def test_choosing_by_the_model_costs_little():
    """Fitted: 1.011 in the mean, 1.072 at worst, 0.13 in log time. Before the fit: 1.082, 1.685 and 0.24."""
    quality = fitting.quality(ROWS, H200)
    assert quality.regret < 1.02 and quality.worst < 1.10
    assert quality.rms < 0.15 and 0.9 < quality.factor < 1.1


def test_the_regret_is_that_of_a_bad_choice_when_the_model_is_wrong():
    """A chip whose reductions are free: stream-k looks best where it is measured to be slow."""
    wrong = replace(H200.model, reduction_bytes_per_clock=1e6, turnstile_clocks=1, clear_us=0.1)
    assert fitting.quality(ROWS, replace(H200, model=wrong)).worst > 1.3


@pytest.mark.parametrize(
    "kernel, tile, cluster, schedule, scheduler, swapped, fused",
    [
        ("coop128x256c21", (128, 256, 64), (2, 1, 1), "cooperative", "persistent", False, False),
        ("pp64x256c12", (64, 256, 64), (1, 2, 1), "pingpong", "persistent", False, False),
        ("pp64x64", (64, 64, 64), (1, 1, 1), "pingpong", "persistent", False, False),
        ("coop128x256sk", (128, 256, 64), (2, 1, 1), "cooperative", "stream_k", False, False),
        ("sw_coop128x16sk", (128, 16, 64), (1, 1, 1), "cooperative", "stream_k", True, False),
        ("sw_pp64x32k128", (64, 32, 128), (1, 1, 1), "pingpong", "persistent", True, False),
        ("pp128x192c21_gelu", (128, 192, 64), (2, 1, 1), "pingpong", "persistent", False, True),
    ],
)
def test_names_of_measured_kernels(
    kernel: str,
    tile: tuple[int, int, int],
    cluster: tuple[int, int, int],
    schedule: str,
    scheduler: str,
    swapped: bool,
    fused: bool,
):
    config, epilogue = fitting.config_of(kernel, gemm_problem(512, 512, 4096))
    assert (config.tile, config.cluster, config.schedule) == (tile, cluster, schedule)
    assert (config.scheduler, config.swap_ab, epilogue.has_functor) == (scheduler, swapped, fused)


def test_an_unknown_name_is_refused():
    with pytest.raises(ValueError, match="no kernel name"):
        fitting.config_of("coop128", gemm_problem(512, 512, 4096))


def test_the_fit_finds_constants_that_made_the_times():
    """Times made by a chip that starts kernels slowly and clocks lower; the fit is led back to both.

    Not all the way: launch and prologue add up, and constants are pulled towards where they were.
    """
    made = replace(H200, model=replace(H200.model, launch_us=9.0, clock_hz=1.5e9))
    rows = [replace(r, us=predict(r.problem, r.epilogue, r.config, made).us) for r in ROWS[::17]]
    fitted = fitting.fit(rows, H200)
    assert abs(fitted.model.launch_us / 9.0 - 1) < 0.2
    assert abs(fitted.model.clock_hz / 1.5e9 - 1) < 0.1
    assert fitting.quality(rows, fitted).rms < 0.02
    assert math.isclose(fitting.quality(rows, fitted).factor, 1.0, abs_tol=0.01)
