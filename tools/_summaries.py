"""What `ucutlass-run` says of a tensor and of a run: a few numbers, for a person or as JSON.

Imports the leaves, the interpreter's storage and what the runtime says of a comparison; torch is handed in.
"""

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.interpreter.machine import Machine
from ucutlass.records import record

if TYPE_CHECKING:
    from torch import Tensor

    from ucutlass.runtime.validation.compare import Comparison


@record
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
    comparison: "Comparison | None" = None
    """With the reference, where that was asked for."""

    def to_json(self) -> dict[str, object]:
        """As a JSON object; what was not measured is null, and JSON has no infinity: it is a string."""
        compared = self.comparison
        numbers = {
            "min": self.minimum,
            "max": self.maximum,
            "mean": self.mean,
            "max_error": compared.max_error if compared is not None else None,
            "error_over_bound": compared.error_over_bound if compared is not None else None,
            "frobenius": compared.frobenius if compared is not None else None,
            "frobenius_limit": compared.frobenius_limit if compared is not None else None,
        }
        return {
            "name": self.name,
            "element": self.element,
            "shape": list(self.shape),
            **{name: _json_number(value) for name, value in numbers.items()},
            "nan_count": self.nan_count,
            "infinite_count": self.infinite_count,
            "sha256": self.sha256,
            "matches": compared.passed if compared is not None else None,
        }

    def line(self) -> str:
        numbers = [("min", self.minimum), ("max", self.maximum), ("mean", self.mean)]
        text = f"{self.name}: {self.element}[{', '.join(map(str, self.shape))}]"
        text += "".join(f"  {name} {value:.6g}" for name, value in numbers if value is not None)
        text += f"  {self.nan_count} NaN" if self.nan_count else ""
        text += f"  {self.infinite_count} infinite" if self.infinite_count else ""
        return text + f"  sha256 {self.sha256[:16]}"

    def comparison_line(self) -> str | None:
        """How it compares with the reference."""
        compared = self.comparison
        if compared is None:
            return None
        verdict = "matches the reference" if compared.passed else "differs from the reference"
        limit = f" of at most {compared.frobenius_limit:.3g}" if compared.frobenius_limit is not None else ""
        return (
            f"{self.name} {verdict}: largest error {compared.max_error:.3g}, {compared.error_over_bound:.3g} of its"
            f" bound; ‖err‖/‖ref‖ {compared.frobenius:.3g}{limit}"
        )


@record
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
        for one in self.results:
            lines.append(f"  out  {one.line()}")
            if (compared := one.comparison_line()) is not None:
                lines.append(f"       {compared}")
        return [*lines, *self.printed, *(f"  saved {path}" for path in self.saved)]


def _json_number(value: float | None) -> float | str | None:
    return value if value is None or abs(value) < float("inf") else str(value)


def summarized(
    machine: Machine, name: str, type_: TensorType, stored: "Tensor", comparison: "Comparison | None" = None
) -> Summary:
    """A stored tensor in numbers."""
    torch = machine.torch
    values: Tensor = machine.load(stored, type_, name).to(torch.float64)
    numbers = values[values.isfinite()]
    some = numbers.numel() > 0
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
        comparison=comparison,
    )


def _digest(machine: Machine, stored: "Tensor", type_: TensorType) -> str:
    """The hash of a tensor's bytes in the order in which they lie in memory."""
    rows = stored.permute(*type_.order) if type_.order else stored
    flat = rows.contiguous().flatten().view(machine.torch.uint8)
    return hashlib.sha256(flat.numpy().data).hexdigest()
