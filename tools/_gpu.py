"""Which GPU a call means: one that there is data for, or one whose data the caller brings.

Imports the targets' data only.
"""

import json

from ucutlass_tools._flags import Flag

from ucutlass.errors import UsageError
from ucutlass.targets.arch import ARCHITECTURES
from ucutlass.targets.gpu import Gpu, UnknownGpuError, gpu_from_data, load_gpu

GPU = Flag(
    ("--gpu",),
    "the GPU whose peaks bound the time: its name, or a .json file with its data",
    "NAME|FILE",
)


def named_gpu(name: str) -> Gpu:
    """The GPU of a name, or that of a data file. Raises UsageError."""
    if name.endswith(".json"):
        return _from_file(name)
    try:
        return load_gpu(name)
    except UnknownGpuError as error:
        raise UsageError(
            f"argument --gpu: {error}. A GPU that is not there can be given as --gpu FILE.json with its own peaks",
            "UC0003",
        ) from error


def gpu_of_target(arch: str) -> Gpu:
    """The GPU that a target's costs are estimated for when none is named."""
    return load_gpu(ARCHITECTURES[arch].default_gpu)


def _from_file(path: str) -> Gpu:
    try:
        with open(path, encoding="utf-8") as file:
            return gpu_from_data(json.load(file))
    except OSError as error:
        raise UsageError(f"argument --gpu: cannot read {path!r}: {error.strerror or error}", "UC0004") from error
    except KeyError as error:
        raise UsageError(f"argument --gpu: {path} lacks the field {error}", "UC0003") from error
    except ValueError as error:
        raise UsageError(f"argument --gpu: {path} is no data of a GPU: {error}", "UC0003") from error
