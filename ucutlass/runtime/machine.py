"""What the GPU at hand is and in what state: its name, driver, clocks, power, and whether it was slowed down.

Imports leaves; torch inside functions. Clocks are read, never set.
"""

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Protocol

from ucutlass.errors import MachineError

if TYPE_CHECKING:
    from ucutlass.targets.gpu import Gpu

_QUERY = ("driver_version", "clocks_event_reasons.active", "clocks.sm", "clocks.mem", "power.draw", "temperature.gpu")
"""What nvidia-smi is asked."""

IDLE = 0x1
"""The one reason for a low clock that says nothing about a measurement."""


@dataclass(frozen=True)
class GpuState:
    """The GPU's state at one moment; None for what nvidia-smi does not tell."""

    driver: str | None = None
    sm_clock_mhz: float | None = None
    memory_clock_mhz: float | None = None
    power_w: float | None = None
    temperature_c: float | None = None
    throttle_reasons: str | None = None
    """Bits in hexadecimal, as the driver gives them; 0 and idle are none."""

    @property
    def is_throttled(self) -> bool | None:
        """Whether the driver held the clock down for another reason than that there was nothing to do."""
        if self.throttle_reasons is None:
            return None
        return int(self.throttle_reasons, 16) & ~IDLE != 0

    def to_json(self) -> dict[str, object]:
        return {**vars(self), "is_throttled": self.is_throttled}


def gpu_state(device: int = 0) -> GpuState:
    """The state of a CUDA device, as far as nvidia-smi tells it."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return GpuState()
    command = [tool, f"--query-gpu={','.join(_QUERY)}", "--format=csv,noheader,nounits", f"--id={_identifier(device)}"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return GpuState()
    return parse_state(answer.stdout) if answer.returncode == 0 else GpuState()


def _identifier(device: int) -> str:
    """How nvidia-smi, which knows nothing of CUDA_VISIBLE_DEVICES, finds the device."""
    return f"GPU-{_properties(device).uuid}"


class _Properties(Protocol):
    """What PyTorch tells of a device."""

    name: str
    uuid: object
    L2_cache_size: int


def _properties(device: int) -> _Properties:
    import torch  # half a second, and most of the compiler needs none of it

    # PyTorch's own annotation of this function is incomplete.
    get: Callable[[int], _Properties] = getattr(torch.cuda, "get_device_properties")  # noqa: B009
    return get(device)


def parse_state(text: str) -> GpuState:
    """The state from a line of nvidia-smi's answer, values in the order of the question."""
    values = [value.strip() for value in text.strip().partition("\n")[0].split(",")]
    if len(values) != len(_QUERY):
        return GpuState()
    driver, reasons, *numbers = values
    sm_clock, memory_clock, power, temperature = (_number(value) for value in numbers)
    throttle = reasons if reasons.lower().startswith("0x") else None
    return GpuState(driver, sm_clock, memory_clock, power, temperature, throttle)


def _number(text: str) -> float | None:
    """A number, None for what the tool writes where it has none, `[N/A]`."""
    try:
        return float(text)
    except ValueError:
        return None


@dataclass(frozen=True)
class Machine:
    """The GPU that measurements are made on."""

    index: int
    device_name: str
    l2_bytes: int
    versions: Mapping[str, str]
    """PyTorch's and CUDA's, as PyTorch was built with."""

    def to_json(self) -> dict[str, object]:
        return {"device": self.device_name, "l2_bytes": self.l2_bytes, **self.versions}


def find_machine(index: int | None = None) -> Machine:
    """The current CUDA device. Raises MachineError where there is none."""
    try:
        import torch  # half a second, and most of the compiler needs none of it
    except ImportError as error:
        raise MachineError("PyTorch is not installed: pip install 'ucutlass[torch]'", "UC0012") from error
    if not torch.cuda.is_available():
        raise MachineError(
            "there is no usable GPU: PyTorch sees no CUDA device. `ucutlass-run --interpret` computes the same values"
            " on the CPU, `ucutlass-sol` bounds the time on a named GPU",
            "UC0901",
        )
    device = torch.cuda.current_device() if index is None else index
    properties = _properties(device)
    versions = {"torch": torch.__version__, "cuda": str(torch.version.cuda)}
    return Machine(device, properties.name, properties.L2_cache_size, versions)


def lock_gpu(machine: Machine) -> IO[str]:
    """Wait until nobody else measures on the GPU; it is ours until the file is closed or the process ends."""
    path = Path(tempfile.gettempdir()) / f"ucutlass-gpu-{_properties(machine.index).uuid}.lock"
    file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o666), "w", encoding="ascii")
    fcntl.flock(file, fcntl.LOCK_EX)
    return file


def gpu_data(machine: Machine) -> "Gpu":
    """The data of the GPU at hand. Raises UnknownGpuError."""
    from ucutlass.targets.gpu import gpu_for_device_name

    return gpu_for_device_name(machine.device_name)
