"""What the names of one kernel mean: values and dimensions.

Imports the syntax tree, the reports and the dialect.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from xdsl.ir import SSAValue

from ucutlass.diagnostics.suggest import phrase, suggest
from ucutlass.dialects.ucutlass.operations import rows_called
from ucutlass.dims import Dim
from ucutlass.element_types import ELEMENT_TYPES
from ucutlass.frontend.ast import Name, Word
from ucutlass.frontend.report import Reporter
from ucutlass.records import record


@record
class ListValue:
    """A list of values, such as `split` gives."""

    values: tuple[SSAValue, ...]


Value = SSAValue | ListValue | None
"""What an expression gives; None where it is in error, which has then been reported."""


@dataclass
class Scope:
    """The names of one kernel."""

    report: Reporter
    dimensions: frozenset[str]
    """Every dimension name of the kernel's header."""
    assigned: dict[str, Name]
    """Every name that a statement assigns, with its first place there."""
    values: dict[str, Value] = field(default_factory=dict[str, Value])
    """Parameters and what was assigned so far."""
    places: dict[str, Name] = field(default_factory=dict[str, Name])
    """Where each value got its name."""

    def value(self, name: Name | Word) -> Value:
        """The value of a name."""
        if name.text in self.values:
            return self.values[name.text]
        if isinstance(name, Word):
            self.report.error("UC0315", name, f"'{name.text}' is a word, expected a tensor")
        else:
            self._unknown_value(name)
        return None

    def _unknown_value(self, name: Name) -> None:
        later = self.assigned.get(name.text)
        if later is not None:
            notes = [self.report.note("it is assigned here", later)]
            self.report.error("UC0216", name, f"'{name.text}' is used before its assignment", notes)
            return
        message = f"there is no value '{name.text}'"
        if name.text in self.dimensions:
            message += ": it is a dimension, and dimensions stand only where sizes do"
        elif name.text in ("None", "none", "null"):
            message += ": an argument that is not given is left out"
        elif rows_called(name.text):
            message += f": it is an operation, {name.text}(…)"
        elif name.text in ELEMENT_TYPES:
            message += ": it is an element type"
        self.report.unknown("UC0201", name, message, self.values)

    def dimension(self, name: Name) -> Dim | None:
        """The size of a name, in the body."""
        if name.text in self.dimensions:
            return Dim.of(name.text)
        if name.text in self.values:
            message = f"'{name.text}' is a value, known only on the device; expected a whole number or a dimension"
            self.report.error("UC0314", name, message)
            return None
        message = f"there is no dimension '{name.text}'"
        if not self.dimensions:
            message += ": the kernel has no dynamic dimensions"
        self.report.unknown("UC0213", name, message, sorted(self.dimensions), listed=True)
        return None

    def define(self, name: Name, value: Value) -> bool:
        """Gives a value a name; whether the name was free."""
        first = self.places.get(name.text)
        if first is not None:
            notes = [self.report.note("it is first given here", first)]
            self.report.error("UC0204", name, f"'{name.text}' is assigned a second time", notes)
            return False
        self.places[name.text] = name
        self.values[name.text] = value
        return True


def near(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'x'?` where there is one."""
    found = phrase(suggest(word, known))
    return f"; {found}" if found else ""
