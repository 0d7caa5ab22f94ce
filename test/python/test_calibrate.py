"""Calibration: measured times become peaks and a bandwidth, in data that bounds can be taken from."""

import json
from dataclasses import dataclass, field

import pytest

from ucutlass.runtime.calibrate import calibrated, gpu_to_data
from ucutlass.runtime.timing import Contestant, Resolve
from ucutlass.targets.gpu import gpu_from_data, gpu_names, load_gpu


@dataclass
class KnownTimer:
    """Every contestant takes what a table says."""

    seconds: dict[str, float]
    name: str = "known"
    seen: list[str] = field(default_factory=list[str])

    def start(self, contestant: Contestant, run: int, cold: bool) -> Resolve:
        assert not cold, "ceilings are measured warm"
        self.seen.append(contestant.name)
        return lambda: self.seconds[contestant.name]

    def finish(self) -> None:
        self.seen = list(dict.fromkeys(self.seen))

    def call_time(self, contestant: Contestant, run: int) -> float:
        raise AssertionError("no call times are asked for")


def test_times_become_ceilings() -> None:
    seconds = {
        "f64": 1e-3,
        "f32": 2e-3,
        "tf32": 3e-3,
        "f16": 4e-3,
        "bf16": 5e-3,
        "e4m3": 6e-3,
        "s8": 7e-3,
        "copy": 8e-3,
    }
    timer = KnownTimer(seconds)
    gpu = calibrated(load_gpu("h200"), timer, device="cpu", size=32, copied_bytes=1 << 20)
    assert {"f64", "f32", "tf32", "f16", "bf16", "copy"} <= set(timer.seen)
    for name in set(timer.seen) - {"copy"}:
        assert gpu.peak(name) == round(2 * 32**3 / seconds[name])
    assert gpu.memory_bytes_per_s == round(2 * 2**20 / 8e-3), "a copy reads and writes"
    assert gpu.peak("e5m2") == gpu.peak("e4m3") and gpu.peak("u8") == gpu.peak("s8")
    assert gpu.name == "h200-measured" and "measured with known" in gpu.sources[-1]


@pytest.mark.parametrize("name", gpu_names())
def test_data_survive_being_written(name: str) -> None:
    gpu = load_gpu(name)
    assert gpu_from_data(json.loads(json.dumps(gpu_to_data(gpu)))) == gpu
