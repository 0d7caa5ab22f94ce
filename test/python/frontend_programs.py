"""Random programs of the language, made from the operation tables, for tests of what reads and writes text.

The programs are right as far as names, arguments and parameters go, and use every form of the syntax; their types need
not fit. Operations that give lists are called so that they do: the frontend must know how long their lists are.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from hypothesis import strategies as st

from ucutlass.dialects.ucutlass.attributes import SETTERS, Setter
from ucutlass.dialects.ucutlass.operations import SPECS
from ucutlass.dialects.ucutlass.spec import Operand, OpSpec, Param, Required
from ucutlass.element_types import ELEMENT_TYPES

Draw = Callable[[st.SearchStrategy[str]], str]

DIMENSIONS = ("M", "N", "K", "where", "target")
"""Dimension names; words with a position of their own are names like others."""
PLAIN = tuple(s for s in SPECS.values() if not s.multiple_results and not s.spelling.startswith("."))
LISTS = ("split(p0, [2, 6], 0)", "split(p0, 3, dim=1)", "grouped_gemm([p0, p0], [p0, p0.T])", "split(p0, 4)")
"""Calls that give lists, on a parameter `p0: f32[8, 8]`."""

integers = st.integers(0, 2**63 - 1)
floats = st.floats(allow_nan=False, allow_infinity=False, width=64).map(abs)


def number_text(value: int | float) -> str:
    """A number as Python writes it, made fit for the language."""
    text = repr(value)
    return text if "e" not in text or "." in text.split("e")[0] else text.replace("e", ".0e")


numbers = st.one_of(
    integers.map(str), floats.map(number_text), st.sampled_from(["inf", "nan", "0.155728638", "1e-45", "3.4028235e38"])
)
signed = st.tuples(st.sampled_from(["", "-"]), numbers).map("".join)
names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,6}", fullmatch=True).filter(
    lambda n: n not in ("return", "true", "false", "auto", "inf", "nan", "p0", "p1", "p2", "p3")
)
sizes = st.one_of(st.integers(0, 4096).map(str), st.sampled_from(DIMENSIONS))
layouts = st.sampled_from(["", "@row", "@col", "@(1,0)", "@(0,1)"])


@st.composite
def conditions(draw: st.DrawFn) -> str:
    """One condition of a `where` clause."""

    def size(depth: int) -> str:
        if depth == 0 or draw(st.booleans()):
            return draw(st.one_of(st.integers(0, 99).map(str), st.sampled_from(DIMENSIONS)))
        operator = draw(st.sampled_from("+-*/%"))
        # Nothing is divided by what may be zero.
        right = draw(st.sampled_from(["2", "7", "M", "(N + 1)"])) if operator in "/%" else size(depth - 1)
        return f"({size(depth - 1)} {operator} {right})"

    relation = draw(st.sampled_from(["==", "!=", "<", "<=", ">", ">="]))
    return f"{size(2)} {relation} {size(2)}"


@st.composite
def setters(draw: st.DrawFn, row: Setter) -> str:
    """One setter."""
    arguments: list[str] = []
    for argument in row.arguments:
        if argument.optional and draw(st.booleans()):
            continue
        if argument.kind == "int":
            value = draw(st.sampled_from(argument.values)) if argument.values else draw(st.integers(1, 512))
        else:
            value = draw(st.sampled_from(argument.words))
        named = argument.keyword or draw(st.booleans())
        # An argument by position cannot follow one by name.
        named = named or any("=" in a for a in arguments)
        arguments.append(f"{argument.name}={value}" if named else str(value))
    if row.arguments and not arguments:
        arguments = [f"{row.arguments[0].name}=8"]
    return f".{row.spelling}({', '.join(arguments)})"


@dataclass
class Program:
    """A kernel body in the making."""

    draw: st.DrawFn
    values: list[str] = field(default_factory=lambda: ["p0", "p1", "p2", "p3"])
    lists: list[str] = field(default_factory=list[str])
    taken: set[str] = field(default_factory=lambda: {"p0", "p1", "p2", "p3"})

    def expression(self, depth: int) -> str:
        """An expression of one tensor."""
        kind = self.draw(st.sampled_from(["name", "call", "call", "infix", "sign", "view", "pipe", "group"]))
        if depth == 0 or kind == "name":
            return self.draw(st.sampled_from(self.values))
        match kind:
            case "call":
                return self.call(depth)
            case "infix":
                left, right = self.expression(depth - 1), self.operand(depth - 1)
                if self.draw(st.booleans()):
                    left, right = right, left
                sign = self.draw(st.sampled_from("+-*/"))
                return f"({left}) {sign} ({right})" if self.draw(st.booleans()) else self.plain_infix(left, sign, right)
            case "sign":
                return f"-({self.expression(depth - 1)})"
            case "view":
                return f"({self.expression(depth - 1)}).T"
            case "group":
                return f"(({self.expression(depth - 1)}))"
            case _:
                return f"({self.expression(depth - 1)} >> {self.call(depth, piped=True)})"

    def plain_infix(self, left: str, sign: str, right: str) -> str:
        """Without parentheses, whatever then binds to what."""
        return f"{left} {sign} {right}" if ">>" not in left + right else f"({left}) {sign} ({right})"

    def operand(self, depth: int) -> str:
        """An expression or a number; never two numbers side by side, which would be folded."""
        return self.draw(signed) if self.draw(st.integers(0, 3)) == 0 else self.expression(depth)

    def members(self) -> str:
        if self.lists and self.draw(st.booleans()):
            return self.draw(st.sampled_from(self.lists))
        if self.draw(st.integers(0, 5)) == 0:
            return self.draw(st.sampled_from(LISTS))
        return f"[{', '.join(self.expression(1) for _ in range(self.draw(st.integers(1, 3))))}]"

    def call(self, depth: int, piped: bool = False) -> str:
        """A call of a random row; `piped` leaves out its first argument."""
        rows = [s for s in PLAIN if not (piped and (s.takes_list or s.spelling == "grouped_gemm"))]
        spec = self.draw(st.sampled_from(rows))
        arguments = self.arguments(spec, depth)
        if piped:
            arguments = arguments[1:]
        text = f"{spec.spelling}({', '.join(arguments)})"
        for name in spec.setters:
            if self.draw(st.integers(0, 9)) == 0:
                text += self.draw(setters(SETTERS[name]))
        return text + (".T" if self.draw(st.integers(0, 7)) == 0 else "")

    def arguments(self, spec: OpSpec, depth: int) -> list[str]:
        operands = {operand.name: operand for operand in spec.operands}
        params = {param.name: param for param in spec.params}
        texts: list[str] = []
        by_name = False
        for position, name in enumerate(spec.signature):
            if name in operands:
                text = self.one_operand(operands[name], depth) if self.wanted(operands[name]) else None
            else:
                wanted = isinstance(params[name].default, Required) or self.draw(st.booleans())
                text = self.one_param(params[name]) if wanted else None
            if text is None:
                by_name = True
                continue
            by_name = by_name or (position > 0 and self.draw(st.integers(0, 3)) == 0)
            if by_name and name in params and params[name].varargs:
                text = f"[{text}]"
            texts.append(f"{name}={text}" if by_name else text)
        return texts

    def wanted(self, operand: Operand) -> bool:
        return not operand.optional or self.draw(st.booleans())

    def one_operand(self, operand: Operand, depth: int) -> str:
        if operand.variadic:
            return self.members()
        return self.operand(depth - 1) if operand.number else self.expression(depth - 1)

    def one_param(self, param: Param) -> str:
        match param.kind:
            case "number":
                return self.draw(signed)
            case "dim":
                return self.draw(st.one_of(st.integers(-4, 4096).map(str), st.sampled_from(DIMENSIONS)))
            case "dims":
                found = [self.draw(sizes) for _ in range(self.draw(st.integers(1, 4)))]
                if param.varargs:
                    return ", ".join(found)
                return found[0] if len(found) == 1 and self.draw(st.booleans()) else f"[{', '.join(found)}]"
            case "bool":
                return self.draw(st.sampled_from(["true", "false"]))
            case "word":
                return self.draw(st.sampled_from(param.words))
            case "element":
                return self.draw(st.sampled_from(list(ELEMENT_TYPES)))
            case "layout":
                return self.draw(st.sampled_from(["@row", "@col", "@channels_last", "@(0,2,3,1)", "@(1,0)"]))

    def new_name(self) -> str:
        name = self.draw(names)
        while name in self.taken:
            name += "_1"
        self.taken.add(name)
        return name

    def statement(self) -> str:
        name = self.new_name()
        match self.draw(st.sampled_from(["value", "value", "value", "list", "unpacked", "alias", "number"])):
            case "list":
                text = f"{name} = {self.draw(st.sampled_from(LISTS))}"
                self.lists.append(name)
                return text
            case "unpacked":
                other = self.new_name()
                self.values += [name, other]
                return f"{name}, {other} = split(p0, [3, 5], 1)"
            case "alias":
                text = f"{name} = {self.draw(st.sampled_from(self.values))}"
                self.values.append(name)
                return text
            case "number":
                # Nothing later uses it: a number stands only where numbers may.
                return f"{name} = {self.draw(signed)}"
            case _:
                text = f"{name} = {self.expression(3)}"
                self.values.append(name)
                return text


@st.composite
def programs(draw: st.DrawFn) -> str:
    """A file with one or two kernels."""
    kernels: list[str] = []
    for name in draw(st.sampled_from([("k",), ("k", "template_")])):
        body = Program(draw)
        statements = [body.statement() for _ in range(draw(st.integers(0, 5)))]
        results = [body.expression(2) for _ in range(draw(st.integers(1, 2)))]
        types = ", ".join(["f32[M, N]"] * len(results))
        where = [draw(conditions()) for _ in range(draw(st.integers(0, 2)))]
        clause = f" where {', '.join(where)}" if where else ""
        layout = draw(layouts)
        parameters = f"p0: f32[8, 8], p1: f16[M, N]{layout}, p2: f16[K, where], p3: bf16[target, {draw(sizes)}]"
        lines = "\n".join(f"  {line}" for line in [*statements, f"return {', '.join(results)}"])
        kernels.append(f"kernel {name}({parameters}) -> {types}{clause} {{\n{lines}\n}}\n")
    return draw(st.sampled_from(["", "target sm_90a\n", "# a comment\ntarget sm_80\n"])) + "\n".join(kernels)
