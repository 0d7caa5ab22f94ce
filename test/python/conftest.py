"""What all Python tests share: which of them this machine can run, and how the random ones draw.

A test marked `compile` or `gpu` is skipped where nvcc or a GPU is missing, unless `--require=compile,gpu` makes that a
failure; one marked `llm` runs only with `--llm`.
"""

import os
import shutil
from functools import cache
from importlib import metadata
from importlib.util import find_spec

import pytest
from hypothesis import settings

# Processes beside each other must not each take all cores; set before anything imports torch.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")

settings.register_profile("thorough", max_examples=1000, deadline=None)
settings.register_profile("default", max_examples=50, deadline=None, derandomize=True)
settings.load_profile("default")  # `--hypothesis-profile=thorough` overrides it


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--require", default="", help="comma-separated markers (compile, gpu) whose tests may not be skipped"
    )
    parser.addoption("--llm", action="store_true", help="run the tests that talk to a language model")


@cache
def has_nvcc() -> bool:
    """Whether there is a CUDA compiler, of a toolkit or of the wheel."""
    if shutil.which("nvcc") is not None:
        return True
    try:
        metadata.version("nvidia-cuda-nvcc")
    except metadata.PackageNotFoundError:
        return False
    return True


@cache
def has_gpu() -> bool:
    """Whether PyTorch sees a CUDA device."""
    if find_spec("torch") is None:
        return False
    import torch  # 2 s, and only tests with the marker need it

    return torch.cuda.is_available()


def pytest_runtest_setup(item: pytest.Item) -> None:
    required = str(item.config.getoption("--require")).split(",")
    for marker, present, what in (("compile", has_nvcc, "nvcc"), ("gpu", has_gpu, "a CUDA device")):
        if item.get_closest_marker(marker) is not None and not present():
            if marker in required:
                pytest.fail(f"this machine has not {what}, but --require={marker} was given")
            pytest.skip(f"needs {what}")
    if item.get_closest_marker("llm") is not None and not item.config.getoption("--llm"):
        pytest.skip("talks to a language model: run with --llm")
