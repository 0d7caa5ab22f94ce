"""`.npy` files as inputs and results of kernels.

Imports the interpreter's storage; NumPy when a file is read or written.
"""

from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from ucutlass_tools._output import make_folder, write_bytes

from ucutlass.diagnostics.core import Diagnostic, DiagnosticError, Severity
from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.errors import UsageError
from ucutlass.interpreter.machine import Machine

if TYPE_CHECKING:
    from types import ModuleType

    from torch import Tensor

NUMPY: Mapping[str, str] = {
    "f64": "float64",
    "f32": "float32",
    "f16": "float16",
    "s64": "int64",
    "s32": "int32",
    "s8": "int8",
    "u8": "uint8",
    "s4": "int8",
    "u4": "uint8",
    "bool": "bool",
}
"""Types of saved arrays; a type that NumPy does not have is saved as the float32 that holds each of its values."""

_SHAPE = "UC1002"
_TYPE = "UC1005"


def load_array(torch: "ModuleType", path: str) -> "Tensor":
    """The values of a file. Raises UsageError."""
    import numpy  # a tenth of a second, and most calls have no files

    try:
        array = numpy.load(path, allow_pickle=False)
        tensor: Tensor = torch.from_numpy(numpy.array(array))
    except OSError as error:
        raise UsageError(f"argument --input: cannot read {path!r}: {error.strerror or error}", "UC0004") from error
    except (ValueError, TypeError, EOFError) as error:
        raise UsageError(f"argument --input: {path!r} is no array of numbers: {error}", _TYPE) from error
    return tensor


def bind_array(path: str, label: str, type_: TensorType, values: "Tensor", sizes: dict[str, int]) -> None:
    """Lets a given array say what the dimension names of its argument stand for. Raises DiagnosticError."""
    shape = tuple(values.shape)
    if len(shape) != type_.rank:
        _refuse(_SHAPE, f"argument {label} is {type_.spelling}, but {path} has shape {shape}")
    for dim, size in zip(type_.dims, shape, strict=True):
        if dim.name is not None:
            sizes.setdefault(dim.name, size)


def stored_array(machine: Machine, path: str, label: str, type_: TensorType, values: "Tensor") -> "Tensor":
    """The tensor that a kernel takes, from the values of a file: floats are rounded. Raises DiagnosticError."""
    torch, element = machine.torch, type_.element
    shape = machine.shape_of(type_)
    if tuple(values.shape) != shape:
        _refuse(_SHAPE, f"argument {label} has shape {shape}, but {path} has {tuple(values.shape)}")
    found = "float" if values.is_floating_point() else "bool" if values.dtype == torch.bool else "integer"
    wanted = "float" if element.is_float else "integer" if element.is_integer else "bool"
    if found != wanted:
        _refuse(_TYPE, f"argument {label} is {element}, but {path} holds {values.dtype}: save an array of {wanted}s")
    stored = machine.store(values, type_)
    if element.is_integer and not machine.load(stored, type_, label).to(torch.int64).equal(values.to(torch.int64)):
        _refuse(_TYPE, f"{path} holds integers that {element}, the type of {label}, has not")
    return stored


def save_arrays(
    machine: Machine, folder: str, prefix: str, types: Mapping[str, TensorType], tensors: "list[Tensor]"
) -> Iterator[str]:
    """Writes tensors as `PREFIX.NAME.npy`; their paths."""
    import numpy  # a tenth of a second, and most calls save nothing

    make_folder(folder)
    for (name, type_), tensor in zip(types.items(), tensors, strict=True):
        values = machine.load(tensor, type_, name).numpy()
        data = BytesIO()
        numpy.save(data, values.astype(NUMPY.get(type_.element.name, "float32")))
        path = str(Path(folder) / f"{prefix}.{name}.npy")
        write_bytes(path, data.getvalue())
        yield path


def _refuse(code: str, message: str) -> NoReturn:
    raise DiagnosticError(Diagnostic(code, Severity.ERROR, message))
