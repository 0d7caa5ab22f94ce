"""Attributes of the `ucutlass` dialect: exact numbers and the configuration of a contraction.

The configuration is the language's setters: `SETTERS` is the one table of their names, arguments and legal words, from
which the parser, the printer, the documentation and the language card are made.
"""

from collections.abc import Mapping
from typing import Literal

from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from ucutlass.element_types import COMPUTE_MODES
from ucutlass.records import record

SCHEDULES: tuple[str, ...] = (
    "auto",
    "cooperative",
    "pingpong",
    "warpspecialized",
    "tma",
    "cpasync",
    "cpasync_cooperative",
    "cpasync_pingpong",
    "multistage",
    "one_sm",
    "two_sm",
)
FAST_SUFFIX = "_fp8_fast"
ACCUMULATORS: tuple[str, ...] = ("f16", "f32", "f64", "s32")


@record
class SetterArgument:
    """One argument of a setter."""

    name: str
    kind: Literal["int", "word"]
    words: tuple[str, ...] = ()
    """Legal words of a `word` argument."""
    optional: bool = False
    keyword: bool = False
    """Whether it must be given by name, `swizzle=2`."""
    values: tuple[int, ...] = ()
    """Legal values of an `int` argument, empty when any positive integer is."""


@record
class Setter:
    """One setter, `.with_NAME(…)`. Its value in a configuration is a tuple with one entry per argument, None if
    absent."""

    name: str
    arguments: tuple[SetterArgument, ...]
    doc: str

    @property
    def spelling(self) -> str:
        return f"with_{self.name}"


def _ints(*names: str, optional: tuple[str, ...] = ()) -> tuple[SetterArgument, ...]:
    return tuple(SetterArgument(n, "int", optional=n in optional) for n in names)


def _words(name: str, *words: str) -> tuple[SetterArgument, ...]:
    return (SetterArgument(name, "word", words),)


SETTERS: dict[str, Setter] = {
    s.name: s
    for s in (
        Setter("compute", _words("type", *COMPUTE_MODES), "Type in which products are formed."),
        Setter("acc", _words("type", *ACCUMULATORS), "Accumulator type."),
        Setter("tile", _ints("m", "n", "k"), "Tile of one thread block, in elements."),
        Setter("cluster", _ints("m", "n", "k", optional=("k",)), "Thread-block cluster."),
        Setter(
            "schedule",
            _words("schedule", *SCHEDULES, *(s + FAST_SUFFIX for s in SCHEDULES if s != "auto")),
            "How loads and math are arranged over warps.",
        ),
        Setter("epilogue", _words("epilogue", "auto", "tma", "nosmem"), "How the result is stored."),
        Setter("stages", _ints("n"), "Depth of the shared-memory pipeline."),
        Setter("scheduler", _words("scheduler", "auto", "persistent", "stream_k"), "Tile scheduler."),
        Setter("split_k", _ints("n"), "Split the reduction in n slices, summed in f32."),
        Setter(
            "raster",
            (
                SetterArgument("order", "word", ("auto", "along_m", "along_n")),
                SetterArgument("swizzle", "int", optional=True, keyword=True, values=(1, 2, 4, 8)),
            ),
            "Order in which tiles are visited.",
        ),
        Setter(
            "alignment",
            tuple(SetterArgument(n, "int", optional=True, keyword=True) for n in ("a", "b", "c", "d")),
            "Elements per memory access of each operand.",
        ),
        Setter("warps", _ints("m", "n", "k"), "Warp tile (sm_80 family)."),
        Setter("instruction", _ints("m", "n", "k"), "MMA shape (sm_80 family)."),
        Setter("swap_ab", (), "Compute the transpose."),
    )
}

SetterValue = tuple[int | str | None, ...]


@irdl_attr_definition
class NumberAttr(Data[int | float]):
    """A number of the program, kept exactly: `#ucutlass.number<0.155728638>`."""

    name = "ucutlass.number"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> int | float:
        with parser.in_angle_brackets():
            negative = parser.parse_optional_punctuation("-") is not None
            if (word := parser.parse_optional_keyword("inf") or parser.parse_optional_keyword("nan")) is not None:
                value: int | float = float(word)
            else:
                value = parser.parse_number(allow_boolean=False)
            return -value if negative else value

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(number_text(self.data))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NumberAttr) and repr(self.data) == repr(other.data)

    def __hash__(self) -> int:
        return hash(repr(self.data))


def number_text(value: int | float) -> str:
    """Shortest text that reads back to the same number, in the language's and MLIR's common spelling."""
    text = repr(value)
    if isinstance(value, float) and "e" in text and "." not in text:
        mantissa, exponent = text.split("e")
        return f"{mantissa}.0e{exponent}"
    return text


@irdl_attr_definition
class ConfigAttr(Data[tuple[tuple[str, SetterValue], ...]]):
    """The setters of a contraction, in the order of `SETTERS`: `#ucutlass.config<tile = (128, 256, 64), swap_ab>`.

    An absent setter, or the word `auto`, leaves the choice to the compiler.
    """

    name = "ucutlass.config"

    @staticmethod
    def of(settings: Mapping[str, SetterValue]) -> "ConfigAttr":
        """A configuration from setter name to argument values."""
        return ConfigAttr(tuple((name, tuple(settings[name])) for name in SETTERS if name in settings))

    @property
    def settings(self) -> dict[str, SetterValue]:
        return dict(self.data)

    def setting(self, setter: str) -> SetterValue | None:
        """The arguments of a setter, None where it is absent."""
        return self.settings.get(setter)

    def word(self, setter: str) -> str | None:
        """The word of a one-word setter, None where it is absent or `auto`."""
        value = self.settings.get(setter)
        word = value[0] if value else None
        return word if isinstance(word, str) and word != "auto" else None

    def ints(self, setter: str) -> tuple[int, ...] | None:
        """The integers of a setter, None where it is absent."""
        value = self.settings.get(setter)
        return tuple(v for v in value if isinstance(v, int)) if value is not None else None

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[tuple[str, SetterValue], ...]:
        def argument() -> int | str | None:
            if parser.parse_optional_punctuation("?") is not None:
                return None
            number = parser.parse_optional_integer(allow_boolean=False)
            return number if number is not None else parser.parse_identifier()

        def setting() -> tuple[str, SetterValue]:
            position = parser.pos
            name = parser.parse_identifier()
            if name not in SETTERS:
                parser.raise_error(
                    f"unknown setter '{name}': expected one of {', '.join(SETTERS)}", position, parser.pos
                )
            if parser.parse_optional_punctuation("=") is None:
                return name, ()
            return name, tuple(parser.parse_comma_separated_list(parser.Delimiter.PAREN, argument))

        settings = dict(parser.parse_comma_separated_list(parser.Delimiter.ANGLE, setting))
        return cls.of(settings).data

    def print_parameter(self, printer: Printer) -> None:
        def setting(item: tuple[str, SetterValue]) -> None:
            name, values = item
            printer.print_string(name)
            if values:
                printer.print_string(f" = ({', '.join('?' if v is None else str(v) for v in values)})")

        with printer.in_angle_brackets():
            printer.print_list(self.data, setting)
