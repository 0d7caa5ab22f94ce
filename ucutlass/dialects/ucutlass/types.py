"""Types of the `ucutlass` dialect: tensors with symbolic sizes and a layout, numbers, and the not yet inferred."""

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatTF32Type,
    IntegerType,
    Signedness,
)
from xdsl.ir import Attribute, Data, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ucutlass.dims import Dim
from ucutlass.element_types import BOOL, ELEMENT_TYPES, ElementType

_FLOATS: dict[str, type[Attribute]] = {
    "f64": Float64Type,
    "f32": Float32Type,
    "tf32": FloatTF32Type,
    "f16": Float16Type,
    "bf16": BFloat16Type,
    "e4m3": Float8E4M3FNType,
    "e5m2": Float8E5M2Type,
}


def _mlir_type(element: ElementType) -> Attribute:
    if element.is_float:
        return _FLOATS[element.name]()
    if element is BOOL:
        return IntegerType(1)
    return IntegerType(element.bits, Signedness.SIGNED if element.kind == "sint" else Signedness.UNSIGNED)


MLIR_ELEMENT: dict[str, Attribute] = {name: _mlir_type(element) for name, element in ELEMENT_TYPES.items()}
"""The builtin MLIR type of each element type, by the language's name."""

_BY_MLIR: dict[Attribute, ElementType] = {attr: ELEMENT_TYPES[name] for name, attr in MLIR_ELEMENT.items()}


def element_of(attribute: Attribute) -> ElementType:
    """The element type that a builtin MLIR type stands for. Raises VerifyException on any other type."""
    if attribute not in _BY_MLIR:
        raise VerifyException(f"{attribute} is not an element type: expected one of {', '.join(ELEMENT_TYPES)}")
    return _BY_MLIR[attribute]


def parse_dims(parser: AttrParser) -> tuple[Dim, ...]:
    """`[128, "M", "2 * M + 1"]`."""

    def one() -> Dim:
        number = parser.parse_optional_integer(allow_boolean=False)
        if number is not None:
            return Dim.of(number)
        position = parser.pos
        text = parser.parse_str_literal("a size: an integer or a quoted expression")
        try:
            return Dim.of(text)
        except ValueError as error:
            parser.raise_error(str(error), position, parser.pos)

    return tuple(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, one))


def print_dims(printer: Printer, dims: Sequence[Dim]) -> None:
    """The text form that `parse_dims` reads."""
    with printer.in_square_brackets():
        printer.print_list(dims, lambda d: printer.print_string(str(d) if d.is_static else f'"{d}"'))


@irdl_attr_definition
class DimsAttr(Data[tuple[Dim, ...]]):
    """A list of sizes, each an integer or an expression over dimension names."""

    name = "ucutlass.dims"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[Dim, ...]:
        with parser.in_angle_brackets():
            return parse_dims(parser)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            print_dims(printer, self.data)


def named_layout(name: str, rank: int) -> tuple[int, ...] | None:
    """The order, outermost to innermost, that a layout's name means at this rank; None where it has no meaning."""
    match name:
        case "row":
            return tuple(range(rank))
        case "col" if rank == 2:
            return (1, 0)
        case "channels_last" if rank >= 3:
            return (0, *range(2, rank), 1)
        case _:
            return None


LAYOUT_NAMES: tuple[str, ...] = ("row", "col", "channels_last")


@irdl_attr_definition
class LayoutAttr(Data[tuple[int, ...]]):
    """The logical dimensions from outermost to innermost in memory."""

    name = "ucutlass.layout"

    @property
    def is_row(self) -> bool:
        return self.data == tuple(range(len(self.data)))

    @property
    def spelling(self) -> str:
        """How `.ucu` spells it: a name where one exists, else the list."""
        for name in LAYOUT_NAMES:
            if named_layout(name, len(self.data)) == self.data:
                return name
        return f"({','.join(map(str, self.data))})"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[int, ...]:
        with parser.in_angle_brackets():
            return tuple(parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_integer))

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(f"({', '.join(map(str, self.data))})")


@irdl_attr_definition
class TensorType(ParametrizedAttribute, TypeAttribute):
    """A tensor: sizes, element type and layout. `!ucutlass.tensor<["M", 4096], f16, (1, 0)>`; row-major is not
    printed."""

    name = "ucutlass.tensor"

    sizes: DimsAttr = param_def()
    element_type: Attribute = param_def()
    layout: LayoutAttr = param_def()

    @staticmethod
    def of(dims: Sequence[Dim | int | str], element: ElementType, order: Sequence[int] | None = None) -> "TensorType":
        """The tensor type of these sizes; row-major unless `order` lists the dimensions outermost first."""
        sizes = tuple(Dim.of(d) for d in dims)
        layout = tuple(range(len(sizes))) if order is None else tuple(order)
        return TensorType(DimsAttr(sizes), MLIR_ELEMENT[element.name], LayoutAttr(layout))

    def verify(self) -> None:
        element_of(self.element_type)
        if sorted(self.layout.data) != list(range(len(self.sizes.data))):
            raise VerifyException(
                f"layout {self.layout.spelling} does not list each of the {len(self.sizes.data)} dimensions once"
            )
        for dim in self.sizes.data:
            if dim.is_static and dim.value < 0:
                raise VerifyException(f"a size is negative: {dim}")

    @property
    def dims(self) -> tuple[Dim, ...]:
        return self.sizes.data

    @property
    def rank(self) -> int:
        return len(self.sizes.data)

    @property
    def element(self) -> ElementType:
        return element_of(self.element_type)

    @property
    def order(self) -> tuple[int, ...]:
        """The logical dimensions from outermost to innermost in memory."""
        return self.layout.data

    def with_dims(self, dims: Sequence[Dim | int | str]) -> "TensorType":
        """Other sizes, row-major, the same element type."""
        return TensorType.of(dims, self.element)

    def with_element(self, element: ElementType) -> "TensorType":
        """Another element type, the same sizes and layout."""
        return TensorType.of(self.dims, element, self.order)

    @property
    def spelling(self) -> str:
        """How `.ucu` spells the type."""
        text = f"{self.element}[{', '.join(map(str, self.dims))}]"
        return text if self.layout.is_row else f"{text}@{self.layout.spelling}"

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            dims = parse_dims(parser)
            parser.parse_punctuation(",")
            element = parser.parse_type()
            order = tuple(range(len(dims)))
            if parser.parse_optional_punctuation(",") is not None:
                order = tuple(parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_integer))
        return (DimsAttr(dims), element, LayoutAttr(order))

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            print_dims(printer, self.dims)
            printer.print_string(", ")
            printer.print_attribute(self.element_type)
            if not self.layout.is_row:
                printer.print_string(f", ({', '.join(map(str, self.order))})")


@irdl_attr_definition
class NumberType(ParametrizedAttribute, TypeAttribute):
    """A number written in the program. Like a Python number in PyTorch it does not widen the tensor it meets."""

    name = "ucutlass.number_type"


@irdl_attr_definition
class UnresolvedType(ParametrizedAttribute, TypeAttribute):
    """The type of a value that `infer` has not reached, or whose operation is in error."""

    name = "ucutlass.unresolved"


ValueType = TensorType | NumberType | UnresolvedType
"""Every type that a value of the dialect may have."""
