"""Which argument of a call stands for which operand or parameter, by the rows of the operation tables.

Imports the syntax tree, the reports and the records of the dialect. Knows no operation by name.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ucutlass.diagnostics.core import Note
from ucutlass.dialects.ucutlass.attributes import SETTERS
from ucutlass.dialects.ucutlass.spec import Operand, OpSpec, Param, Required
from ucutlass.dims import Dim
from ucutlass.element_types import ElementType
from ucutlass.frontend.ast import Argument, Call, Name
from ucutlass.frontend.report import Place, Reporter
from ucutlass.frontend.vocabulary import PARAMETER_ALIASES


@dataclass
class Bound:
    """The arguments of one call by the names of its operands and parameters; several for a parameter that takes all."""

    arguments: dict[str, list[Argument]] = field(default_factory=dict[str, list[Argument]])

    def get(self, name: str) -> Argument | None:
        """The only argument of that name."""
        found = self.arguments.get(name)
        return found[0] if found else None


def default_text(param: Param) -> str:
    match param.default:
        case Required():
            return param.name
        case None:
            return f"{param.name}=…"
        case bool(value):
            return f"{param.name}={str(value).lower()}"
        case tuple(values):
            return f"{param.name}={values[0] if len(values) == 1 else list(map(str, values))}"
        case str() | int() | float() | Dim() | ElementType() as value:
            return f"{param.name}={value}"


def signature_text(spec: OpSpec) -> str:
    """A row as a call that shows its defaults: `gelu(x, approximate=none)`."""
    operands = {operand.name: operand for operand in spec.operands}
    params = {param.name: param for param in spec.params}
    parts: list[str] = []
    for name in spec.signature:
        if name in operands:
            operand = operands[name]
            parts.append(f"[{name}…]" if operand.variadic else f"{name}=…" if operand.optional else name)
        else:
            parts.append(f"{name}…" if params[name].varargs else default_text(params[name]))
    return f"{spec.spelling}({', '.join(parts)})"


class Binder:
    """Binds the arguments of one call; what does not fit is reported."""

    def __init__(self, report: Reporter, spec: OpSpec, call: Call) -> None:
        self.report = report
        self.spec = spec
        self.call = call
        self.bound = Bound()
        self.fits = True

    def bind(self) -> Bound | None:
        """The arguments by name; None where the call cannot be what the row says."""
        order = list(self.spec.signature)
        params = {param.name: param for param in self.spec.params}
        position = 0
        keyword: Argument | None = None
        for argument in self.call.arguments:
            if argument.keyword is not None:
                keyword = argument
                self._bind_keyword(argument.keyword, argument)
                continue
            if keyword is not None:
                self._positional_after_keyword(argument, keyword)
                continue
            if position == len(order):
                self._too_many(argument)
                break
            name = order[position]
            self.bound.arguments.setdefault(name, []).append(argument)
            if name not in params or not params[name].varargs:
                position += 1
        self._check_missing()
        return self.bound if self.fits else None

    def _bind_keyword(self, name: Name, argument: Argument) -> None:
        if name.text not in self.spec.signature:
            self._unknown_keyword(name)
        elif name.text in self.bound.arguments:
            first = self.bound.arguments[name.text][0]
            piped = self.call.piped and first is self.call.arguments[0]
            how = "by name" if first.keyword is not None else "by the pipe" if piped else "by position"
            notes = [self.report.note(f"it is given {how} here", first)]
            message = f"'{name.text}' of {self.spec.spelling} is given twice"
            self._fail("UC0210", name, message, notes)
        else:
            self.bound.arguments[name.text] = [argument]

    def _fail(self, code: str, place: Place, message: str, notes: Sequence[Note] = ()) -> None:
        self.fits = False
        self.report.error(code, place, message, notes)

    def _unknown_keyword(self, name: Name) -> None:
        self.fits = False
        message = f"{self.spec.spelling} has no parameter '{name.text}'"
        if name.text in SETTERS and name.text in self.spec.setters:
            message += f": it is a setter, {self.spec.spelling}(…).with_{name.text}(…)"
        notes = [self.report.note(f"it is {signature_text(self.spec)}", name)]
        self.report.unknown("UC0207", name, message, self.spec.signature, PARAMETER_ALIASES, notes)

    def _positional_after_keyword(self, argument: Argument, keyword: Argument) -> None:
        notes = [self.report.note("the argument with a name", keyword)]
        message = "an argument without a name follows one with a name"
        self._fail("UC0120", argument, message, notes)

    def _too_many(self, argument: Argument) -> None:
        count = len([a for a in self.call.arguments if a.keyword is None])
        piped = ", the piped value included" if self.call.piped else ""
        most = len(self.spec.signature)
        takes = f"takes at most {most} argument{'' if most == 1 else 's'}{piped}"
        message = f"{signature_text(self.spec)} {takes}, but is given {count}"
        self._fail("UC0212", argument, message)

    def _check_missing(self) -> None:
        required: list[Operand | Param] = [o for o in self.spec.operands if not o.optional]
        required += [p for p in self.spec.params if isinstance(p.default, Required)]
        missing = [r.name for r in required if r.name not in self.bound.arguments]
        if missing and self.fits:
            names = " and ".join(f"'{name}'" for name in missing)
            message = f"{self.spec.spelling} needs {names}: it is {signature_text(self.spec)}"
            self._fail("UC0211", (self.call.name.start, self.call.call_end), message)
