"""What a library says about its arguments, and the checks of shapes that need nothing but numbers.

Imports leaves only. The description is the JSON that `NAME_describe` returns.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from ucutlass.diagnostics.core import Diagnostic, DiagnosticError, Note, Severity
from ucutlass.dims import Condition, Dim, parse_condition
from ucutlass.element_types import ELEMENT_TYPES, ElementType
from ucutlass.runtime.json_data import Object, as_int, as_list, as_object, as_str


class LaunchError(DiagnosticError):
    """A call that a kernel refuses; `status` is what the C function returned, None where it was not called."""

    def __init__(self, code: str, message: str, notes: Sequence[str] = (), status: int | None = None) -> None:
        super().__init__(Diagnostic(code, Severity.ERROR, message, notes=tuple(Note(note) for note in notes)))
        self.code = code
        self.status = status

    def __str__(self) -> str:
        (diagnostic,) = self.diagnostics
        return "\n".join(
            [f"{diagnostic.message} [{diagnostic.code}]", *(f"note: {n.message}" for n in diagnostic.notes)]
        )


@dataclass(frozen=True)
class TensorInfo:
    """One argument or result."""

    name: str
    element: ElementType
    shape: tuple[Dim, ...]
    order: tuple[int, ...]
    """Dimensions from outermost to innermost in memory."""

    @property
    def pack(self) -> int:
        """Elements in one byte of storage where that is more than one, else 1."""
        return 8 // self.element.bits if self.element.bits < 8 else 1

    @staticmethod
    def from_json(data: Object) -> "TensorInfo":
        shape = tuple(Dim.of(d if isinstance(d, int) else as_str(d)) for d in as_list(data["shape"]))
        layout = data.get("layout", "row")
        order = tuple(range(len(shape))) if layout == "row" else tuple(as_int(d) for d in as_list(layout))
        if sorted(order) != list(range(len(shape))):
            raise ValueError(f"{layout!r} is no order of {len(shape)} dimensions")
        return TensorInfo(as_str(data["name"]), ELEMENT_TYPES[as_str(data["dtype"])], shape, order)

    def sizes(self, bindings: Mapping[str, int]) -> tuple[int, ...]:
        return tuple(dim.evaluate(bindings) for dim in self.shape)

    def packed_strides(self, sizes: Sequence[int]) -> tuple[int, ...]:
        """Strides without gaps in the declared layout, in elements."""
        strides = [1] * len(sizes)
        step = 1
        for dim in reversed(self.order):
            strides[dim] = step
            step *= max(sizes[dim], 1)
        return tuple(strides)

    def __str__(self) -> str:
        return f"{self.name}: {self.element}[{', '.join(map(str, self.shape))}]"


@dataclass(frozen=True)
class Description:
    """What a library says about one of its programs."""

    name: str
    arch: str
    content: str
    arguments: tuple[TensorInfo, ...]
    results: tuple[TensorInfo, ...]
    where: tuple[Condition, ...]
    kernels: tuple[str, ...]
    """Device functions, as a profiler shows them."""

    @staticmethod
    def parse(text: str) -> "Description":
        """Raises ValueError, KeyError or TypeError on text that no library of ours returns."""
        data = as_object(json.loads(text))
        return Description(
            name=as_str(data["name"]),
            arch=as_str(data["arch"]),
            content=as_str(data["content"]),
            arguments=tuple(TensorInfo.from_json(as_object(t)) for t in as_list(data["arguments"])),
            results=tuple(TensorInfo.from_json(as_object(t)) for t in as_list(data["results"])),
            where=tuple(parse_condition(as_str(c)) for c in as_list(data.get("where", []))),
            kernels=tuple(as_str(k) for k in as_list(data["kernels"])),
        )

    @property
    def signature(self) -> str:
        results = ", ".join(str(t).partition(": ")[2] for t in self.results)
        return f"{self.name}({', '.join(map(str, self.arguments))}) -> {results}"

    def bind(self, shapes: Sequence[Sequence[int]]) -> dict[str, int]:
        """The dynamic dimensions that these argument shapes mean. Raises LaunchError where they break the program."""
        bindings: dict[str, int] = {}
        origin: dict[str, str] = {}
        for tensor, shape in zip(self.arguments, shapes, strict=True):
            if len(shape) != len(tensor.shape):
                self._wrong_shape(tensor, shape, f"has {len(shape)} dimensions, expected {len(tensor.shape)}")
            for i, (dim, size) in enumerate(zip(tensor.shape, shape, strict=True)):
                name = dim.name
                if name is not None and name not in bindings:
                    bindings[name] = size
                    origin[name] = f"{name} = {size} is dimension {i} of {tensor.name}"
        self._define(bindings, origin)
        for tensor, shape in zip(self.arguments, shapes, strict=True):
            self.check_shape(tensor, shape, bindings, origin)
        for condition in self.where:
            if not condition.holds(bindings):
                names = sorted(condition.left.names | condition.right.names)
                sizes = ", ".join(f"{name} = {bindings[name]}" for name in names)
                raise LaunchError(
                    "UC0909", f"{self.name}: the program requires {condition}, but {sizes}", [self.signature]
                )
        return bindings

    def _define(self, bindings: dict[str, int], origin: dict[str, str]) -> None:
        """Binds the names that only an equation of the `where` clause defines; one may need another."""
        progress = True
        while progress:
            progress = False
            for condition in self.where:
                for name, value in condition.definitions:
                    if name not in bindings and value.names <= bindings.keys():
                        bindings[name] = value.evaluate(bindings)
                        origin[name] = f"{name} = {bindings[name]} follows from {condition}"
                        progress = True

    def check_shape(
        self, tensor: TensorInfo, shape: Sequence[int], bindings: Mapping[str, int], origin: Mapping[str, str]
    ) -> None:
        """Raises LaunchError where a shape is not the declared one under these bindings."""
        if len(shape) != len(tensor.shape):
            self._wrong_shape(tensor, shape, f"has {len(shape)} dimensions, expected {len(tensor.shape)}")
        for i, (dim, size) in enumerate(zip(tensor.shape, shape, strict=True)):
            expected = dim.evaluate(bindings)
            if size != expected:
                spelled = str(dim) if dim.is_static else f"{dim} = {expected}"
                reasons = [origin[name] for name in sorted(dim.names) if name in origin]
                self._wrong_shape(tensor, shape, f"has size {size} in dimension {i}, expected {spelled}", reasons)

    def _wrong_shape(
        self, tensor: TensorInfo, shape: Sequence[int], problem: str, notes: Sequence[str] = ()
    ) -> NoReturn:
        raise LaunchError(
            "UC0905", f"{self.name}: {tensor.name} of shape {list(shape)} {problem}", [*notes, self.signature]
        )
