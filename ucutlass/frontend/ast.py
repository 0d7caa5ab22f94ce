"""The syntax tree of a `.ucu` file: what stands where, before any name is looked up.

A leaf. Every node knows its first character and the one after its last, as offsets into the text. Sugar is kept only
as far as places need it: `v >> op(a)` is the call `op(v, a)` whose first argument is marked as piped, parentheses widen
the node that they enclose.
"""

from dataclasses import dataclass, field


@dataclass(eq=False, repr=False, slots=True)
class Node:
    """Something that stands in the text from `start` to `end`."""

    start: int
    end: int


@dataclass(eq=False, repr=False, slots=True)
class Name(Node):
    """A name, of whatever kind its place says. `inner` is its place without parentheses."""

    text: str
    inner: tuple[int, int]


@dataclass(eq=False, repr=False, slots=True)
class Number(Node):
    """A number, its sign included."""

    value: int | float


@dataclass(eq=False, repr=False, slots=True)
class Word(Node):
    """`true`, `false` or `auto`."""

    text: str


@dataclass(eq=False, repr=False, slots=True)
class Layout(Node):
    """What follows `@`: a name, or the dimensions from outermost to innermost."""

    name: Name | None
    order: tuple[Number, ...] = ()


@dataclass(eq=False, repr=False, slots=True)
class ListOf(Node):
    """`[a, b]`."""

    items: "list[Value]"


@dataclass(eq=False, repr=False, slots=True)
class Argument(Node):
    """One argument of a call or setter; `start` is that of the keyword where there is one."""

    keyword: Name | None
    value: "Value"


@dataclass(eq=False, repr=False, slots=True)
class Setter(Node):
    """`.with_x(…)`, from its point to its closing parenthesis."""

    name: Name
    arguments: list[Argument]


@dataclass(eq=False, repr=False, slots=True)
class Call(Node):
    """A call with its setters. `start` is that of a piped value where there is one."""

    name: Name
    arguments: list[Argument]
    call_end: int
    """After the closing parenthesis."""
    setters: list[Setter] = field(default_factory=list[Setter])
    piped: bool = False
    """Whether the first argument stands left of `>>`."""


@dataclass(eq=False, repr=False, slots=True)
class View(Node):
    """`v.T`, or another name after the point."""

    base: "Expression"
    name: Name


@dataclass(eq=False, repr=False, slots=True)
class Infix(Node):
    """`left + right`."""

    operator: str
    operator_start: int
    left: "Expression"
    right: "Expression"


@dataclass(eq=False, repr=False, slots=True)
class Negation(Node):
    """`-v`."""

    operator_start: int
    operand: "Expression"


Expression = Name | Number | Word | Call | View | Infix | Negation
Value = Expression | ListOf | Layout


@dataclass(eq=False, repr=False, slots=True)
class SizeOperation(Node):
    """`left % right` in a condition."""

    operator: str
    left: "Size"
    right: "Size"


Size = Name | Number | SizeOperation


@dataclass(eq=False, repr=False, slots=True)
class Condition(Node):
    """One condition of a `where` clause."""

    left: Size
    relation: str
    right: Size


@dataclass(eq=False, repr=False, slots=True)
class TypeNode(Node):
    """`f16[M, 64]@col`."""

    element: Name
    sizes: list[Name | Number]
    layout: Layout | None


@dataclass(eq=False, repr=False, slots=True)
class Parameter(Node):
    """`x: f16[8]`."""

    name: Name
    type: TypeNode


@dataclass(eq=False, repr=False, slots=True)
class Statement(Node):
    """`a, b = value`; the value is None where the parser could not make sense of it."""

    targets: list[Name]
    value: Expression | None


@dataclass(eq=False, repr=False, slots=True)
class Result(Node):
    """`return a, b`; the values are None where the parser could not make sense of them."""

    values: list[Expression] | None


@dataclass(eq=False, repr=False, slots=True)
class Kernel(Node):
    """A kernel."""

    name: Name
    parameters: list[Parameter]
    results: list[TypeNode]
    conditions: list[Condition]
    statements: list[Statement]
    result: Result
    broken: bool = False
    """Whether the parser could not make sense of what precedes the body."""

    @property
    def header_end(self) -> int:
        """After the last condition or result type: where another condition goes."""
        return (self.conditions or self.results)[-1].end if self.results else self.name.end


@dataclass(eq=False, repr=False, slots=True)
class Program(Node):
    """A file."""

    target: Name | None
    kernels: list[Kernel]
