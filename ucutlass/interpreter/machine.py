"""In which types one interpretation computes, and where it rounds.

Imports the leaves, the dialect's types and this package's storage and rounding. A value between two rounding points is
a tensor of its compute type: `float32` for floats, `float64` for `f64`, `int32` for integers, `int64` for `s64`, and
`bool`.
"""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from ucutlass.diagnostics.core import Diagnostic, DiagnosticError, Severity
from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.element_types import F64, ElementType
from ucutlass.interpreter.rounding import round_to
from ucutlass.interpreter.storage import in_layout, is_packed, pack, storage_dtype, stored_shape, unpack

if TYPE_CHECKING:
    from types import ModuleType

    from torch import Tensor, dtype

Precision = Literal["compute", "f64"]

Value: TypeAlias = "Tensor | int | float | list[Tensor] | None"
"""What an operand is when an operation is run: a tensor in its compute type, a number, a list, or absent."""

PythonParam: TypeAlias = "int | float | bool | str | list[int] | ElementType | None"
"""What a parameter is when an operation is run: sizes are integers, lists of them Python lists."""


@dataclass(frozen=True)
class Options:
    """How to interpret. The default is the meaning of the language."""

    precision: Precision = "compute"
    """`f64` computes every float in double precision: the reference that a kernel is measured against."""
    rounding: bool = True
    """Whether floats are rounded at the rounding points. Without it nothing is rounded between the stored inputs and
    the results, which then are `float64` (or `float32`) tensors of the logical shape; types that saturate still do."""
    cuts: bool = True
    """Whether what lies in memory inside of a kernel is rounded: `materialize`, and what fused groups read and yield.
    Without it a module after `fuse` computes bitwise what it computed before, wherever `fuse` cuts."""


@dataclass
class Machine:
    """One interpretation: its options, and the sizes of the kernel that is being run."""

    torch: "ModuleType"
    options: Options = field(default_factory=Options)
    sizes: Mapping[str, int] = field(default_factory=dict[str, int])
    """What the dimension names of the current kernel stand for."""

    def compute_dtype(self, element: ElementType) -> "dtype":
        """The data type of values of this element type between rounding points."""
        if element.is_float and self.options.precision == "f64":
            element = F64
        return storage_dtype(self.torch, element.compute)

    def shape_of(self, type_: TensorType) -> tuple[int, ...]:
        """The sizes of a type under the current bindings."""
        return tuple(dim.evaluate(self.sizes) for dim in type_.dims)

    def computed(self, value: "Tensor", element: ElementType) -> "Tensor":
        """The value in the compute type, contiguous: no result depends on how an operand happens to lie in memory."""
        return value.to(self.compute_dtype(element)).contiguous()

    def rounded(self, value: "Tensor", element: ElementType) -> "Tensor":
        """A rounding point: the value rounded once to the element type, in its compute type."""
        if not self.options.rounding and element.is_float:
            value = self.computed(value, element)
            # Saturation is meaning; only the loss of digits is switched off.
            return value.clamp(-element.max_finite, element.max_finite) if element.is_fp8 else value
        return self.computed(round_to(self.torch, value, element), element)

    def in_memory(self, value: "Tensor", element: ElementType) -> "Tensor":
        """The value as it is read back from memory inside of a kernel."""
        return self.rounded(value, element) if self.options.cuts else self.computed(value, element)

    def load(self, stored: "Tensor", type_: TensorType, label: str) -> "Tensor":
        """The values of a stored tensor. Raises DiagnosticError UC1002 on another data type or shape."""
        expected = storage_dtype(self.torch, type_.element)
        if stored.dtype != expected:
            raise DiagnosticError(
                Diagnostic(
                    "UC1002",
                    Severity.ERROR,
                    f"{label} is {type_.spelling}, which is stored as {expected}, got {stored.dtype}",
                )
            )
        shape = self.shape_of(type_)
        wanted = stored_shape(shape, type_.element, type_.order)
        if tuple(stored.shape) != wanted:
            raise DiagnosticError(
                Diagnostic(
                    "UC1002",
                    Severity.ERROR,
                    f"{label} is {type_.spelling}, which is stored with shape {list(wanted)}, got {list(stored.shape)}",
                )
            )
        if is_packed(type_.element):
            size = shape[type_.order[-1]] if shape else 1
            stored = unpack(self.torch, stored, type_.element, type_.order, size)
        return self.computed(stored, type_.element)

    def store(self, value: "Tensor", type_: TensorType) -> "Tensor":
        """The stored tensor of a result: rounded to the type's element, in its layout."""
        value = self.rounded(value, type_.element)
        if not self.options.rounding and type_.element.is_float:
            return value
        if is_packed(type_.element):
            return pack(self.torch, value, type_.element, type_.order)
        return in_layout(value.to(storage_dtype(self.torch, type_.element)), type_.order)

    @contextmanager
    def arithmetic(self) -> Generator[None, None, None]:
        """PyTorch's global settings for the duration of an interpretation, put back afterwards."""
        torch = self.torch
        default, products = torch.get_default_dtype(), torch.get_float32_matmul_precision()
        # Integers meet floats in the default type: the quotient of two integers is one of these.
        torch.set_default_dtype(torch.float64 if self.options.precision == "f64" else torch.float32)
        torch.set_float32_matmul_precision("highest")
        try:
            with torch.no_grad():
                yield
        finally:
            torch.set_default_dtype(default)
            torch.set_float32_matmul_precision(products)
