"""Random programs of gemms, element-wise DAGs, `materialize` and transposes, for the check that passes keep the
meaning.

A program is drawn statement by statement over matrices whose sides are three sizes, so that shapes meet often and some
matrices are square. Most gemms can be built on sm_90a; what cannot be is refused with a diagnostic, which the check
that uses a program expects. Draws come from `random.Random`: hypothesis, left to choose statement by statement, mostly
repeats small programs with slight changes.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from random import Random

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

    arguments: tuple[str, ...]
    lines: tuple[str, ...]
    returned: tuple[str, ...]
    declared: tuple[str, ...]
    sizes: dict[str, int]
    """The sizes of sides that are dynamic."""

    @property
    def bindings(self) -> dict[str, int]:
        """The sizes of the names that arguments have."""
        named = {name for argument in self.arguments for name in re.findall(r"[A-Z]", argument)}
        return {side: size for side, size in self.sizes.items() if side in named}

    @property
    def has_setters(self) -> bool:
        """Whether a setter asks for what the target may not have."""
        return any(setter in line for line in self.lines for setter in CONFIGURATIONS)

    @property
    def source(self) -> str:
        """The text of the program."""
        where = ", ".join(f"{side} % 16 == 0" for side in self.bindings)
        head = f"kernel k({', '.join(self.arguments)}) -> {', '.join(self.declared)}{where and ' where '}{where} {{"
        body = [*self.lines, f"return {', '.join(self.returned)}"]
        return "\n".join([head, *(f"  {line}" for line in body), "}"])

    def smaller(self) -> Iterator["Program"]:
        """The program without one of its results, statements or arguments, where nothing needs it."""
        if len(self.returned) > 1:
            for i in range(len(self.returned)):
                rest = (*self.returned[:i], *self.returned[i + 1 :]), (*self.declared[:i], *self.declared[i + 1 :])
                yield replace(self, returned=rest[0], declared=rest[1])
        for part, names in (("lines", self.lines), ("arguments", self.arguments)):
            for i, definition in enumerate(names):
                name = re.split(r"\W", definition)[0]
                used = re.findall(rf"\b{name}\b", " ".join((*self.lines, *self.returned)))
                if len(used) == (part == "lines"):
                    yield replace(self, **{part: (*names[:i], *names[i + 1 :])})


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

    random: Random
    sizes: dict[str, int]
    dynamic: frozenset[str]
    arguments: list[str] = field(default_factory=list[str])
    lines: list[str] = field(default_factory=list[str])
    values: list[_Matrix] = field(default_factory=list[_Matrix])

    def size(self, side: str) -> str:
        """A side as a type spells it."""
        return side if side in self.dynamic or side == "1" else str(self.sizes[side])

    def one_of(self, *choices: str) -> str:
        return self.random.choice(choices)

    def sometimes(self, share: int) -> bool:
        """True in one of so many cases."""
        return self.random.randrange(share) == 0

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
            return self.random.choice(found)
        return self.argument(rows, columns, self.one_of(*elements))

    def some_value(self) -> _Matrix:
        """A value to work on, rather a late one."""
        wide = [v for v in self.values if v.is_wide]
        if not wide:
            return self.argument("M", "N", self.one_of(*FLOATS))
        value = self.random.choice(wide[-4:])
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
            text += self.one_of(*CONFIGURATIONS)
        result = {"e4m3": "f32", "s8": "s32"}.get(element, element)
        self.define(text, rows, columns, result)
        if result == "s32":
            self.integers()

    def integers(self) -> None:
        """What may follow a sum of integers: arithmetic that f32 has not the digits for, and a cast."""
        for text in ("{v} * {v}", "relu({v} + 3)", "{v} * {s}", "cast({v}, f32)"):
            value = self.values[-1]
            if value.element == "s32" and self.sometimes(2):
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
        operands = [value, other] if self.sometimes(2) else [other, value]
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
        for _ in range(self.random.randrange(9)):
            self.random.choice(statements)()
        returned: list[str] = []
        declared: list[str] = []
        for _ in range(self.random.choice((1, 1, 2, 3))):
            computed = [v for v in self.values if v.name.startswith("v")]
            value = computed[-1]
            if self.sometimes(2):
                value = self.random.choice(self.values if self.sometimes(6) else computed)
            if self.sometimes(6):
                value = value.transposed
            element = self.one_of(value.element, *STORED) if value.is_float else value.element
            layout = "@col" if self.sometimes(5) else ""
            returned.append(value.name)
            declared.append(f"{element}[{self.size(value.rows)}, {self.size(value.columns)}]{layout}")
        sizes = {side: size for side, size in self.sizes.items() if side in self.dynamic}
        return Program(tuple(self.arguments), tuple(self.lines), tuple(returned), tuple(declared), sizes)


def random_program(random: Random) -> Program:
    """A random program that `infer` accepts."""
    sizes = {side: random.choice((16, 32, 48, 64)) for side in SIDES}
    dynamic = frozenset(side for side in SIDES if random.randrange(3) == 0)
    return _Builder(random, sizes, dynamic).program()


def programs() -> st.SearchStrategy[Program]:
    """Random programs, each from a seed of its own."""
    return st.randoms(use_true_random=True).map(random_program)


def shrunk(program: Program, fails: Callable[[Program], bool]) -> Program:
    """A program that still fails and of which nothing more can be left out."""
    while smaller := next((candidate for candidate in program.smaller() if fails(candidate)), None):
        program = smaller
    return program


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
