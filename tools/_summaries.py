"""What `ucutlass-run` says of a tensor and of a run: a few numbers, for a person or as JSON.

Imports the leaves and the interpreter's storage; torch is handed in.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.element_types import ElementType
from ucutlass.interpreter.machine import Machine

if TYPE_CHECKING:
    from torch import Tensor

NUMPY = {"f64": "float64", "f32": "float32", "f16": "float16", "s64": "int64", "s32": "int32", "s8": "int8",
          "u8": "uint8", "s4": "int8", "u4": "uint8", "bool": "bool"}  # fmt: skip
"""Types of saved arrays; a type that NumPy does not have is saved as the float32 that holds each of its values."""


@dataclass(frozen=True)
class Summary:
    """One tensor in a few numbers."""

    name: str
    element: str
    shape: tuple[int, ...]
    minimum: float | None
    """None where no element is a number."""
    maximum: float | None
    mean: float | None
    nan_count: int
    infinite_count: int
    sha256: str
    """Of the bytes as they lie in memory."""
    error: float | None = None
    """`‖result - reference‖ / ‖reference‖`, where compared."""
    max_error: float | None = None
    error_limit: float | None = None
    """What rounding explains: both are rounded to the type, and the result is computed in a narrower one."""

    @property
    def right(self) -> bool:
        """Whether the result is as near to the reference as rounding lets it be, as far as it was compared."""
        return self.error is None or self.error_limit is None or self.error <= self.error_limit

    def to_json(self) -> dict[str, object]:
        numbers = {"min": self.minimum, "max": self.maximum, "mean": self.mean}
        numbers |= {"error": self.error, "max_error": self.max_error, "error_limit": self.error_limit}
        return {
            "name": self.name,
            "element": self.element,
            "shape": list(self.shape),
            # JSON has no infinity.
            **{key: value if _is_json_number(value) else str(value) for key, value in numbers.items()},
            "nan_count": self.nan_count,
            "infinite_count": self.infinite_count,
            "sha256": self.sha256,
        }

    def line(self) -> str:
        numbers = [("min", self.minimum), ("max", self.maximum), ("mean", self.mean)]
        text = f"{self.name}: {self.element}[{', '.join(map(str, self.shape))}]"
        text += "".join(f"  {name} {value:.6g}" for name, value in numbers if value is not None)
        text += f"  {self.nan_count} NaN" if self.nan_count else ""
        text += f"  {self.infinite_count} infinite" if self.infinite_count else ""
        text += f"  sha256 {self.sha256[:16]}"
        if self.error is not None:
            text += f"  error {self.error:.3g} (limit {self.error_limit:.3g}, largest {self.max_error:.3g})"
        return text


def _is_json_number(value: float | None) -> bool:
    return value is None or abs(value) < float("inf")


@dataclass(frozen=True)
class Row:
    """One run of one kernel."""

    file: str
    kernel: str
    arch: str
    device: str
    """Name of the GPU, or `interpreter`."""
    sizes: Mapping[str, int]
    seed: int
    inputs: tuple[Summary, ...]
    results: tuple[Summary, ...]
    printed: tuple[str, ...] = ()
    saved: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        return {
            "file": self.file,
            "kernel": self.kernel,
            "arch": self.arch,
            "device": self.device,
            "sizes": dict(self.sizes),
            "seed": self.seed,
            "inputs": [one.to_json() for one in self.inputs],
            "results": [one.to_json() for one in self.results],
            "saved": list(self.saved),
        }

    def lines(self) -> list[str]:
        sizes = "".join(f", {name} = {size}" for name, size in self.sizes.items())
        where = "interpreted" if self.device == "interpreter" else f"on {self.device}"
        lines = [f"{self.kernel} {where}{sizes}"]
        lines += [f"  in   {one.line()}" for one in self.inputs]
        lines += [f"  out  {one.line()}" for one in self.results]
        lines += self.printed
        return lines + [f"  saved {path}" for path in self.saved]


def summarized(
    machine: Machine, name: str, type_: TensorType, stored: "Tensor", reference: "Tensor | None" = None
) -> Summary:
    """A stored tensor in numbers, compared with a stored reference where there is one."""
    torch = machine.torch
    values: Tensor = machine.load(stored, type_, name).to(torch.float64)
    numbers = values[values.isfinite()]
    some = numbers.numel() > 0
    error = largest = limit = None
    if reference is not None:
        error, largest = _errors(machine, values, machine.load(reference, type_, name).to(torch.float64))
        limit = _limit(type_.element)
    return Summary(
        name=name,
        element=type_.element.name,
        shape=tuple(values.shape),
        minimum=float(numbers.min()) if some else None,
        maximum=float(numbers.max()) if some else None,
        mean=float(numbers.mean()) if some else None,
        nan_count=int(values.isnan().sum()),
        infinite_count=int(values.isinf().sum()),
        sha256=_digest(machine, stored, type_),
        error=error,
        max_error=largest,
        error_limit=limit,
    )


def _errors(machine: Machine, values: "Tensor", wanted: "Tensor") -> tuple[float, float]:
    """The error relative to the reference's norm, and the largest of one element; NaN and infinities must agree."""
    torch = machine.torch
    same = (values == wanted) | (values.isnan() & wanted.isnan())
    difference: Tensor = torch.where(same, 0.0, (values - wanted).abs())
    if not bool(difference.isfinite().all()):
        return float("inf"), float("inf")
    finite: Tensor = torch.where(wanted.isfinite(), wanted, 0.0)
    norm = float(torch.linalg.vector_norm(finite))
    wrong = float(torch.linalg.vector_norm(difference))
    largest = float(difference.max()) if difference.numel() else 0.0
    return (wrong / norm if norm else float("inf") if wrong else 0.0), largest


def _limit(element: ElementType) -> float:
    return 2 * element.unit_roundoff + 2 * element.compute.unit_roundoff


def _digest(machine: Machine, stored: "Tensor", type_: TensorType) -> str:
    """The hash of a tensor's bytes in the order in which they lie in memory."""
    rows = stored.permute(*type_.order) if type_.order else stored
    flat = rows.contiguous().flatten().view(machine.torch.uint8)
    return hashlib.sha256(flat.numpy().data).hexdigest()
