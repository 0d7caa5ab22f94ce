"""Random programs of gemms, element-wise DAGs, `materialize` and transposes, for the check that passes keep the
meaning.

A program is drawn statement by statement over matrices whose sides are three sizes, so that shapes meet often and some
matrices are square. Most gemms can be built on sm_90a; what cannot be is refused with a diagnostic, which the check
that uses a program expects.
"""

from dataclasses import dataclass, field

from hypothesis import strategies as st
from keeps_meaning import assert_keeps_meaning

from ucutlass.diagnostics.core import DiagnosticError

NOT_LOWERED = frozenset({"UC0701", "UC0702"})
"""What the compiler has no kernels for, yet or as a group stands; every pass before is checked all the same."""
SETTER_REFUSED = "UC05"
"""Begins the codes that a program without setters never gets."""

FLOATS = ("f16", "bf16", "f32")
STORED = (*FLOATS, "e4m3", "e5m2")
"""Types that a result may be declared with."""
SIDES = ("M", "N", "K")
UNARY = (
    *("relu", "gelu", "silu", "sigmoid", "tanh", "exp", "abs", "neg", "square", "erf", "sqrt", "hardswish", "softplus"),
    *("leaky_relu", "elu", "sin", "mish", "log"),
)
BINARY = ("add", "sub", "mul", "div", "maximum", "minimum")
NUMBERS = ("0.5", "2", "1.25", "3", "0", "-2", "0.1")
CONFIGURATIONS = (
    ".with_tile(64, 64, 64).with_cluster(1, 1)",
    ".with_tile(128, 64, 32).with_schedule(cooperative)",
    ".with_tile(64, 32, 64).with_schedule(pingpong).with_stages(3)",
    ".with_tile(64, 64, 64).with_schedule(warpspecialized)",
    ".with_scheduler(stream_k)",
    ".with_split_k(2)",
    ".with_swap_ab()",
    ".with_tile(64, 64, 64).with_swap_ab()",
    ".with_acc(f16)",
)


@dataclass(frozen=True)
class Program:
    """One random program."""

    source: str
    bindings: dict[str, int]
    has_setters: bool
    """Whether a setter asks for what the target may not have."""


@dataclass(frozen=True)
class _Matrix:
    """A value of the program."""

    name: str
    rows: str
    columns: str
    element: str

    @property
    def is_float(self) -> bool:
        return self.element in STORED

    @property
    def is_wide(self) -> bool:
        """Whether it takes part in arithmetic: 8-bit floats promote with nothing."""
        return self.element in FLOATS

    @property
    def transposed(self) -> "_Matrix":
        name = self.name.removesuffix(".T") if self.name.endswith(".T") else f"{self.name}.T"
        return _Matrix(name, self.columns, self.rows, self.element)


@dataclass
class _Builder:
    """The statements so far."""

    draw: st.DrawFn
    sizes: dict[str, int]
    dynamic: frozenset[str]
    arguments: list[str] = field(default_factory=list[str])
    lines: list[str] = field(default_factory=list[str])
    values: list[_Matrix] = field(default_factory=list[_Matrix])
    has_setters: bool = False

    def size(self, side: str) -> str:
        """A side as a type spells it."""
        return side if side in self.dynamic or side == "1" else str(self.sizes[side])

    def one_of(self, *choices: str) -> str:
        return self.draw(st.sampled_from(choices))

    def sometimes(self, share: int) -> bool:
        """True in one of so many cases."""
        return self.draw(st.integers(1, share)) == share

    def argument(self, rows: str, columns: str, element: str) -> _Matrix:
        """A new argument of this shape, perhaps stored the other way around."""
        is_transposed = self.sometimes(4)
        if is_transposed:
            rows, columns = columns, rows
        matrix = _Matrix(f"x{len(self.arguments)}", rows, columns, element)
        self.arguments.append(f"{matrix.name}: {element}[{self.size(rows)}, {self.size(columns)}]")
        self.values.append(matrix)
        return matrix.transposed if is_transposed else matrix

    def vector(self, dims: str, *elements: str) -> str:
        """A new argument of other dimensions."""
        name = f"x{len(self.arguments)}"
        self.arguments.append(f"{name}: {self.one_of(*(elements or FLOATS))}[{dims}]")
        return name

    def matrix(self, rows: str, columns: str, elements: tuple[str, ...]) -> _Matrix:
        """A value of this shape and one of these types: an old one, the transpose of one, or a new argument."""
        found = [m for v in self.values for m in (v, v.transposed) if (m.rows, m.columns) == (rows, columns)]
        found = [m for m in found if m.element in elements]
        if found and not self.sometimes(4):
            return self.draw(st.sampled_from(found))
        return self.argument(rows, columns, self.one_of(*elements))

    def some_value(self) -> _Matrix:
        """A value to work on, rather a late one."""
        wide = [v for v in self.values if v.is_wide]
        if not wide:
            return self.argument("M", "N", self.one_of(*FLOATS))
        value = self.draw(st.sampled_from(wide[-4:]))
        return value.transposed if self.sometimes(8) else value

    def define(self, text: str, rows: str, columns: str, element: str) -> None:
        """A statement."""
        value = _Matrix(f"v{len(self.lines)}", rows, columns, element)
        self.lines.append(f"{value.name} = {text}")
        self.values.append(value)

    # Statements ------------------------------------------------------------------------------------------------------

    def gemm(self) -> None:
        rows, inner, columns = (self.one_of(*SIDES) for _ in range(3))
        element = self.one_of("f16", "f16", "f16", "bf16", "f32", "e4m3", "s8")
        a = self.matrix(rows, inner, (element,))
        b = self.matrix(columns, inner, (element,)).transposed
        text = f"gemm({a.name}, {b.name})"
        if element == "f32":
            text += ".with_compute(tf32)"
        if self.sometimes(3):
            setters = self.one_of(*CONFIGURATIONS)
            self.has_setters = True
            text += setters
        result = {"e4m3": "f32", "s8": "s32"}.get(element, element)
        self.define(text, rows, columns, result)
        if result == "s32":
            self.integers()

    def integers(self) -> None:
        """What may follow a sum of integers: arithmetic that f32 has not the digits for, and a cast."""
        for text in ("{v} * {v}", "relu({v} + 3)", "{v} * {s}", "cast({v}, f32)"):
            value = self.values[-1]
            if value.element == "s32" and self.draw(st.booleans()):
                scale = self.vector(self.size(value.columns), "f32") if "{s}" in text else ""
                element = "f32" if "f32" in text or scale else "s32"
                self.define(text.format(v=value.name, s=scale), value.rows, value.columns, element)

    def unary(self) -> None:
        value = self.some_value()
        self.define(f"{self.one_of(*UNARY)}({value.name})", value.rows, value.columns, value.element)

    def promoted(self, *elements: str) -> str:
        found = set(elements)
        return found.pop() if len(found) == 1 else "f32"

    def binary(self) -> None:
        value = self.some_value()
        other = self.matrix(value.rows, value.columns, FLOATS)
        operands = [value, other] if self.draw(st.booleans()) else [other, value]
        element = self.promoted(value.element, other.element)
        text = f"{self.one_of(*BINARY)}({operands[0].name}, {operands[1].name})"
        if self.sometimes(5):
            third = self.matrix(value.rows, value.columns, FLOATS)
            element = self.promoted(element, third.element)
            a, b = (o.name for o in operands)
            text = self.one_of(f"fma({a}, {b}, {third.name})", f"where(gt({a}, {third.name}), {b}, {a})")
            if text.startswith("where"):
                element = self.promoted(value.element, other.element)
        self.define(text, value.rows, value.columns, element)

    def number(self) -> None:
        value, number = self.some_value(), self.one_of(*NUMBERS)
        text = self.one_of("{v} * {n}", "{v} + {n}", "{n} - {v}", "{v} / (2 + {n})", "maximum({v}, {n})")
        self.define(text.format(v=value.name, n=number), value.rows, value.columns, value.element)

    def broadcast(self) -> None:
        value = self.some_value()
        kind = self.one_of("bias", "row", "column", "scalar", "bias of", "row of")
        rows, columns = self.size(value.rows), self.size(value.columns)
        shapes = {"row": f"1, {columns}", "column": f"{rows}, 1", "scalar": self.one_of("1", "1, 1")}
        operand = self.vector(shapes.get(kind.split()[0], columns))
        element = self.promoted(value.element, self.arguments[-1].split(": ")[1].split("[")[0])
        if "of" in kind:
            operand = f"{self.one_of('gelu', 'relu', 'exp')}({operand})"
        if kind.startswith("bias"):
            text = f"bias({value.name}, {operand})"
        else:
            text = self.one_of(
                f"scale({value.name}, {operand})", f"{value.name} + {operand}", f"{operand} - {value.name}"
            )
        self.define(text, value.rows, value.columns, element)

    def residual(self) -> None:
        value = self.some_value()
        other = self.matrix(value.rows, value.columns, FLOATS)
        text = f"residual({value.name}, {other.name}, beta={self.one_of(*NUMBERS)})"
        self.define(text, value.rows, value.columns, self.promoted(value.element, other.element))

    def cast(self) -> None:
        value, element = self.some_value(), self.one_of(*STORED)
        self.define(f"cast({value.name}, {element})", value.rows, value.columns, element)

    def materialize(self) -> None:
        value = self.some_value()
        self.define(f"materialize({value.name})", value.rows, value.columns, value.element)

    # The whole -------------------------------------------------------------------------------------------------------

    def program(self) -> Program:
        statements = (
            *(self.gemm, self.unary, self.binary, self.broadcast) * 3,
            *(self.number, self.residual, self.cast, self.materialize),
        )
        self.gemm()
        for _ in range(self.draw(st.integers(0, 7))):
            self.draw(st.sampled_from(statements))()
        returned: list[str] = []
        declared: list[str] = []
        for _ in range(self.draw(st.integers(1, 3))):
            computed = [v for v in self.values if v.name.startswith("v")]
            value = computed[-1]
            if self.sometimes(2):
                value = self.draw(st.sampled_from(self.values if self.sometimes(6) else computed))
            if self.sometimes(6):
                value = value.transposed
            element = self.one_of(value.element, *STORED) if value.is_float else value.element
            layout = "@col" if self.sometimes(5) else ""
            returned.append(value.name)
            declared.append(f"{element}[{self.size(value.rows)}, {self.size(value.columns)}]{layout}")
        named = sorted(
            side for side in self.dynamic if any(f"[{side}," in a or f" {side}]" in a for a in self.arguments)
        )
        where = f" where {', '.join(f'{side} % 16 == 0' for side in named)}" if named else ""
        head = f"kernel k({', '.join(self.arguments)}) -> {', '.join(declared)}{where} {{"
        source = "\n".join([head, *(f"  {line}" for line in self.lines), f"  return {', '.join(returned)}", "}"])
        return Program(source, {side: self.sizes[side] for side in named}, self.has_setters)


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """Random programs that `infer` accepts."""
    sizes = {side: draw(st.sampled_from((16, 32, 48, 64))) for side in SIDES}
    dynamic = frozenset(draw(st.sets(st.sampled_from(SIDES), max_size=2)))
    return _Builder(draw, sizes, dynamic).program()


def check_program(program: Program, seed: int = 0) -> str:
    """Checks that the default pipeline keeps what a program means: `lowered`, or the codes with which it was refused.

    Raises AssertionError where it does not, and where a program is refused that should not be.
    """
    try:
        assert_keeps_meaning(program.source, bindings=program.bindings, seeds=[seed])
    except DiagnosticError as error:
        codes = {diagnostic.code for diagnostic in error.diagnostics}
        allowed = {code for code in codes if program.has_setters and code.startswith(SETTER_REFUSED)}
        assert codes <= NOT_LOWERED | allowed, f"{program.source}\n{error}"
        return " ".join(sorted(codes))
    return "lowered"
