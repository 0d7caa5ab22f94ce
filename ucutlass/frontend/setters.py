"""The setters of a call to its configuration attribute, by the table of setters.

Imports the syntax tree, the reports and the dialect's attributes. Knows no setter by name.
"""

from ucutlass.diagnostics.core import FixIt
from ucutlass.dialects.ucutlass.attributes import SETTERS, ConfigAttr, SetterArgument, SetterValue
from ucutlass.dialects.ucutlass.attributes import Setter as SetterRow
from ucutlass.dialects.ucutlass.operations import rows_called
from ucutlass.dialects.ucutlass.spec import OpSpec
from ucutlass.element_types import ELEMENT_TYPES
from ucutlass.frontend.ast import Argument, Call, Name, Number, Setter, View, Word
from ucutlass.frontend.constants import described
from ucutlass.frontend.report import Reporter
from ucutlass.frontend.vocabulary import ELEMENT_ALIASES, SETTER_ALIASES

PREFIX = "with_"


def usage(row: SetterRow) -> str:
    """A setter as it is written: `.with_raster(order, swizzle=…)`."""
    parts: list[str] = []
    for argument in row.arguments:
        text = f"{argument.name}=…" if argument.keyword else argument.name
        parts.append(f"[{text}]" if argument.optional else text)
    return f".{row.spelling}({', '.join(parts)})"


class SetterReader:
    """Reads the setters of one call."""

    def __init__(self, report: Reporter, spec: OpSpec, call: Call) -> None:
        self.report = report
        self.spec = spec
        self.call = call

    def read(self) -> ConfigAttr | None:
        """The configuration that the call asks for; None where it asks for nothing."""
        settings: dict[str, SetterValue] = {}
        places: dict[str, Setter] = {}
        for setter in self.call.setters:
            row = self._row(setter)
            if row is None:
                continue
            if row.name in places:
                notes = [self.report.note("the first", places[row.name])]
                fixits = [self.report.delete(setter)] if self._same(places[row.name], setter) else []
                self.report.error("UC0401", setter, f".{row.spelling} is given twice", notes, fixits)
                continue
            places[row.name] = setter
            if row.name not in self.spec.setters:
                self._not_taken(setter)
                continue
            value = self._value(row, setter)
            if value is not None and (value or not row.arguments):
                settings[row.name] = value
        return ConfigAttr.of(settings) if settings else None

    def _same(self, one: Setter, other: Setter) -> bool:
        """Whether two setters say the same, so that one of them may go."""
        text = self.report.source.text
        return "".join(text[one.start : one.end].split()) == "".join(text[other.start : other.end].split())

    def _row(self, setter: Setter) -> SetterRow | None:
        name = setter.name
        if name.text.startswith(PREFIX) and name.text.removeprefix(PREFIX) in SETTERS:
            return SETTERS[name.text.removeprefix(PREFIX)]
        if rows_called(name.text):
            message = f"there is no setter '.{name.text}': an operation is piped into, '>> {name.text}(…)'"
            self.report.error("UC0203", name, message)
        elif rows_called(f".{name.text}"):
            brackets = (name.end, setter.end)
            fix = self.report.delete(brackets)
            self.report.error("UC0215", brackets, f"'.{name.text}' stands without parentheses", fixits=[fix])
        else:
            known = {row.name: row.spelling for row in SETTERS.values()}
            message = f"there is no setter '.{name.text}'"
            # Compared without what all of them begin with, else all are alike.
            word = name.text.removeprefix(PREFIX)
            self.report.unknown("UC0203", name, message, known, SETTER_ALIASES, word=word, spelled=known, listed=True)
        return None

    def _not_taken(self, setter: Setter) -> None:
        spelling = self.spec.spelling
        if self.spec.setters:
            taken = ", ".join(f".{SETTERS[name].spelling}" for name in self.spec.setters)
            message = f"{spelling} takes only {taken}"
        else:
            message = f"{spelling} takes no setters: they stand on contractions"
        contraction = self._contraction_before(setter)
        fixits: list[FixIt] = []
        if contraction is not None:
            text = self.report.source.text[setter.start : setter.end]
            to = f"move it to {contraction.name.text}"
            fixits = [self.report.insert(contraction.end, text, to), self.report.delete(setter)]
        self.report.error("UC0402", setter, message, fixits=fixits)

    def _contraction_before(self, setter: Setter) -> Call | None:
        """The contraction that the call's first argument comes from, within the expression, if it lacks the setter."""
        node = self.call
        while node.arguments:
            value = node.arguments[0].value
            while isinstance(value, View):
                value = value.base
            if not isinstance(value, Call):
                return None
            node = value
            rows = rows_called(node.name.text)
            taken = setter.name.text.removeprefix(PREFIX)
            if rows and taken in rows[0].setters:
                return node if all(s.name.text != setter.name.text for s in node.setters) else None
        return None

    # Arguments --------------------------------------------------------------------------------------------------------

    def _value(self, row: SetterRow, setter: Setter) -> SetterValue | None:
        """The values of a setter's arguments; empty where all are left to the compiler, None where one is in error."""
        given = self._bind(row, setter)
        if given is None:
            return None
        values: list[int | str | None] = []
        for wanted in row.arguments:
            argument = given.get(wanted.name)
            automatic = argument is not None and isinstance(argument.value, Word) and argument.value.text == "auto"
            if argument is None or (automatic and "auto" not in wanted.words):
                values.append(None)
                continue
            value = self._argument(row, wanted, argument)
            if value is None:
                return None
            values.append(value)
        missing = [w.name for w, v in zip(row.arguments, values, strict=True) if v is None and not w.optional]
        if missing and any(value is not None for value in values):
            message = f".{row.spelling} leaves all of its arguments to the compiler or none: {missing[0]} is auto"
            self.report.error("UC0403", setter, message)
            return None
        return () if all(value is None for value in values) else tuple(values)

    def _bind(self, row: SetterRow, setter: Setter) -> dict[str, Argument] | None:
        by_name = {argument.name: argument for argument in row.arguments}
        order = [argument.name for argument in row.arguments if not argument.keyword]
        given: dict[str, Argument] = {}
        for position, argument in enumerate(setter.arguments):
            name = argument.keyword
            if name is None:
                if position >= len(order):
                    self._misused(row, argument, f"takes {len(order)} arguments by position, not {position + 1}")
                    return None
                given[order[position]] = argument
            elif name.text not in by_name:
                message = f".{row.spelling} has no argument '{name.text}'"
                self.report.unknown("UC0207", name, message, by_name, listed=True)
                return None
            elif name.text in given:
                notes = [self.report.note("it is given here", given[name.text])]
                self.report.error("UC0210", name, f"'{name.text}' of .{row.spelling} is given twice", notes)
                return None
            else:
                given[name.text] = argument
        missing = [a.name for a in row.arguments if not a.optional and a.name not in given]
        if missing:
            names = ", ".join(missing)
            self._misused(row, setter, f"lacks {names}")
            return None
        if row.arguments and not given:
            self._misused(row, setter, "says nothing")
            return None
        return given

    def _misused(self, row: SetterRow, place: Setter | Argument, what: str) -> None:
        self.report.error("UC0403", place, f".{row.spelling} {what}: it is {usage(row)}")

    def _argument(self, row: SetterRow, wanted: SetterArgument, argument: Argument) -> int | str | None:
        node = argument.value
        if wanted.kind == "int":
            if not isinstance(node, Number) or not isinstance(node.value, int):
                message = f"'{wanted.name}' of .{row.spelling} is a whole number, found {described(node)}"
                self.report.error("UC0403", node, message)
                return None
            if node.value < 1 or (wanted.values and node.value not in wanted.values):
                allowed = f"one of {', '.join(map(str, wanted.values))}" if wanted.values else "at least 1"
                message = f"'{wanted.name}' of .{row.spelling} is {allowed}, found {node.value}"
                self.report.error("UC0404", node, message)
                return None
            return node.value
        if isinstance(node, Name | Word) and node.text in wanted.words:
            return node.text
        if isinstance(node, Name):
            message = f".{row.spelling} cannot be '{node.text}'"
            # A type that exists is no misspelling of another one.
            if node.text in ELEMENT_TYPES:
                self.report.error("UC0206", node, f"{message}; expected one of {', '.join(wanted.words)}")
            else:
                self.report.unknown("UC0206", node, message, wanted.words, ELEMENT_ALIASES, listed=True)
        else:
            words = ", ".join(wanted.words)
            message = f"'{wanted.name}' of .{row.spelling} is one of {words}, found {described(node)}"
            self.report.error("UC0403", node, message)
        return None
