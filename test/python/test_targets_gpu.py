"""GPU data files: right numbers for the right variant, and an error for every other name."""

import subprocess
import sys

import pytest

from ucutlass.targets.arch import ARCHITECTURES, UnknownTargetError, architecture
from ucutlass.targets.gpu import UnknownGpuError, gpu_for_device_name, gpu_names, load_gpu

ALL = gpu_names()


def _near(value: float, expected: float, tolerance: float) -> bool:
    return abs(value - expected) <= tolerance * expected


def test_the_named_gpus_have_data():
    assert {
        *("h200", "h100-sxm", "h100-pcie", "h100-nvl", "a100-40gb", "a100-80gb"),
        *("l40s", "rtx4090", "b200", "gb200", "rtx5090"),
    } <= set(ALL)


@pytest.mark.parametrize("name", ALL)
def test_a_data_file_agrees_with_itself_and_its_architecture(name: str):
    gpu = load_gpu(name)
    arch = architecture(gpu.arch)
    assert gpu.name == name
    assert gpu.shared_memory_per_block == arch.shared_memory
    assert gpu.shared_memory_per_block + 1024 == gpu.shared_memory_per_sm, "a block leaves 1 KiB to the system"
    assert all(peak > 0 for peak in gpu.peak_flops.values())
    assert {"f32", "f64", "tf32", "f16", "bf16", "s8"} <= set(gpu.peak_flops)
    assert ("e4m3" in gpu.peak_flops) == (arch.capability >= 89)
    # CUDA cores: 128 multiply-adds a clock on most chips, 64 on A100; the boost clock may be that of another binning.
    per_clock = gpu.peak_flops["f32"] / (gpu.sm_count * gpu.boost_clock_hz)
    assert _near(per_clock, 128 if arch.capability == 80 else 256, 0.03)
    # Tensor cores: what the model calls the rate of one multiprocessor is the peak at some clock up to boost.
    implied_clock = gpu.peak_flops["f16"] / (gpu.sm_count * gpu.model.f16_flops_per_clock)
    assert 0.85 * gpu.boost_clock_hz < implied_clock < 1.02 * gpu.boost_clock_hz
    assert gpu.model.clock_hz <= gpu.boost_clock_hz
    assert all(size * 0 < capacity <= gpu.sm_count for size, capacity in gpu.cluster_capacity.items())
    assert all(capacity % size == 0 for size, capacity in gpu.cluster_capacity.items())
    assert gpu.sources


def test_peaks_are_dense():
    # 2 * 8192^3 / 989.5e12 = 1.111 ms; with the sparse peak of the same data sheet it would be half of that.
    h200 = load_gpu("h200")
    assert _near(2 * 8192**3 / h200.peak("bf16"), 1.111e-3, 0.01)
    assert _near(h200.peak("e4m3"), 1979e12, 1e-3)
    assert _near(h200.peak("tf32"), 494.7e12, 1e-3)


@pytest.mark.parametrize(
    ("device", "name", "gigabytes"),
    [
        ("NVIDIA A100-SXM4-40GB", "a100-40gb", 1555),
        ("NVIDIA A100-PCIE-40GB", "a100-40gb", 1555),
        ("NVIDIA A100-SXM4-80GB", "a100-80gb", 2039),
        ("NVIDIA A100 80GB PCIe", "a100-80gb-pcie", 1935),
        ("NVIDIA H100 PCIe", "h100-pcie", 2039),
        ("NVIDIA H100 80GB HBM3", "h100-sxm", 3350),
        ("NVIDIA H100 NVL", "h100-nvl", 3938),
        ("NVIDIA H200", "h200", 4800),
    ],
)
def test_variants_have_their_own_bandwidth_by_exact_name(device: str, name: str, gigabytes: int):
    gpu = gpu_for_device_name(device)
    assert gpu.name == name
    assert gpu.memory_bytes_per_s == gigabytes * 10**9


def test_an_unknown_gpu_is_an_error_that_lists_the_known_ones():
    with pytest.raises(UnknownGpuError) as error:
        load_gpu("Some New GPU")
    assert "'Some New GPU'" in str(error.value) and all(name in str(error.value) for name in ALL)
    with pytest.raises(UnknownGpuError, match="did you mean h200"):
        load_gpu("h20")


@pytest.mark.parametrize("device", ["NVIDIA H200 NVL", "H100", "NVIDIA A100"])
def test_a_device_name_is_not_guessed(device: str):
    with pytest.raises(UnknownGpuError, match="NVIDIA H200"):
        gpu_for_device_name(device)


def test_a_missing_peak_says_which_there_are():
    with pytest.raises(ValueError, match=r"a100-80gb has no peak for e4m3; it has f64, f32"):
        load_gpu("a100-80gb").peak("e4m3")


def test_targets_map_to_families_and_nvcc_names():
    assert {name: a.families for name, a in ARCHITECTURES.items()} == {
        "sm_80": ("sm80_2x",),
        "sm_86": ("sm80_2x",),
        "sm_89": ("sm80_2x",),
        "sm_90a": ("sm90_3x", "sm80_2x"),
        "sm_100a": ("sm100_3x", "sm80_2x"),
        "sm_120a": ("sm120_3x", "sm80_2x"),
    }
    assert all(a.nvcc_target == name for name, a in ARCHITECTURES.items())
    assert all(load_gpu(a.default_gpu).arch == name for name, a in ARCHITECTURES.items())


@pytest.mark.parametrize(
    ("name", "fix"),
    [
        ("sm_90", "sm_90a"),
        ("sm_100", "sm_100a"),
        ("sm_120", "sm_120a"),
        ("sm_87", "sm_86"),
        ("sm_103a", "sm_100a"),
        ("sm90a", "sm_90a"),
    ],
)
def test_an_unknown_target_names_the_nearest(name: str, fix: str):
    with pytest.raises(UnknownTargetError) as error:
        architecture(name)
    assert error.value.fix == fix and fix in str(error.value)


def test_a_target_nothing_like_any_has_no_fix():
    with pytest.raises(UnknownTargetError, match="known are sm_80") as error:
        architecture("gfx942")
    assert error.value.fix is None


def test_asking_for_a_peak_loads_no_rules_and_no_ir():
    code = (
        "import sys; from ucutlass.targets.gpu import load_gpu; load_gpu('h200');"
        "print([m for m in sys.modules if m.startswith(('xdsl', 'torch', 'ucutlass.targets.rules'))])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"
