"""What an operation of the language is: the record that one row of the operation tables fills in.

Imports no xDSL class. A row holds everything that the layers ask of an operation: its operands and parameters (parser,
printer, documentation), its result types (`infer`, verifiers), its meaning in PyTorch (interpreter), its scalar CUDA
expression (epilogues and memory-bound kernels) and its cost (Speed of Light). Generic code asks the row; it never
switches on names.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from ucutlass.dialects.ucutlass.cuda_text import number_cast
from ucutlass.dims import Condition, Dim, Facts, Relation
from ucutlass.element_types import ElementType
from ucutlass.records import record

if TYPE_CHECKING:
    from ucutlass.dialects.ucutlass.types import NumberType, TensorType

ParamKind = Literal["number", "dim", "dims", "bool", "word", "element", "layout"]
"""`number` int or float; `dim` one integer or dimension name (may be negative: an index); `dims` one or a list of them;
`word` one of `Param.words`; `element` an element type; `layout` an `@LAYOUT`, a name or an order."""

ParamValue = int | float | bool | str | Dim | tuple[Dim, ...] | ElementType | tuple[int, ...] | None

FAST_ERROR = 2.0**-17
"""Largest error of a fast form relative to the larger of its value and 2^-7 of its argument, where the formulas that
PyTorch uses in f32 lose digits, too. It is 1.6 % of the unit roundoff of f16."""

Family = Literal[
    "gemm",
    "conv",
    "attention",
    "unary",
    "binary",
    "ternary",
    "epilogue",
    "reduction",
    "scan",
    "rowwise",
    "pool",
    "movement",
    "staging",
]


@record
class Operand:
    """One operand: a tensor, or a list of tensors when `variadic`."""

    name: str
    doc: str = ""
    optional: bool = False
    variadic: bool = False
    number: bool = False
    """Whether a number may stand here."""


@record
class Required:
    """Marks a parameter without a default."""


REQUIRED = Required()


@record
class Param:
    """One parameter: a constant known at compile time."""

    name: str
    kind: ParamKind
    default: ParamValue | Required = REQUIRED
    doc: str = ""
    words: tuple[str, ...] = ()
    varargs: bool = False
    """Whether the rest of the positional arguments form this `dims` parameter, as in `permute(x, 0, 2, 1)`."""


class TypingError(Exception):
    """A type rule's refusal: code, message with the numbers, and the part of the call at fault.

    Parts are `operand:NAME`, `operand:NAME:INDEX` for a member of a list, and `param:NAME`.
    """

    def __init__(
        self, code: str, message: str, part: str | None = None, notes: Sequence[str] = (), transpose: bool = False
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.part = part
        self.notes = tuple(notes)
        self.transpose = transpose
        """Whether the operand at fault fits once its last two dimensions are swapped."""


@record
class Call:
    """What a type rule or a cost sees of one operation."""

    spec: "OpSpec"
    operands: Mapping[str, "TensorType | NumberType | tuple[TensorType, ...] | None"]
    """By operand name; None for an absent optional operand, a tuple for a variadic one."""
    params: Mapping[str, ParamValue]
    """By parameter name, defaults filled in."""
    facts: Facts = field(default_factory=Facts)
    numbers: Mapping[str, int | float] = field(default_factory=dict[str, int | float])
    """The values of operands that are numbers, where they are known."""
    needs: list[Condition] = field(default_factory=list[Condition], compare=False)
    """What the rule could not decide because sizes are dynamic: the launcher checks it before it computes anything."""

    @property
    def constants(self) -> Mapping[str, ParamValue]:
        """Everything known at compile time: parameters and number operands by name."""
        return {**self.params, **self.numbers}

    def require(
        self, left: Dim, relation: Relation, right: Dim | int, code: str, message: str, part: str | None = None
    ) -> None:
        """Demand a relation between sizes: raise where it is known to be broken, leave the unknown to the launcher."""
        difference = self.facts.simplify(left - Dim.of(right))
        if difference.is_static:
            if not Condition(difference, relation, Dim.of(0)).holds({}):
                raise self.fail(code, message, part)
            return
        condition = Condition(left, relation, Dim.of(right))
        if condition not in self.facts.conditions and condition not in self.needs:
            self.needs.append(condition)

    def require_multiple(self, dim: Dim, of: Dim, code: str, message: str, part: str | None = None) -> None:
        """Demand that `of`, which is not zero, divides `dim`: as `require`, with what `where` says of divisors."""
        if not (of.is_static and self.facts.is_multiple(dim, of.value)):
            self.require(self.facts.simplify(dim) % self.facts.simplify(of), "==", 0, code, message, part)

    def tensor(self, name: str) -> "TensorType":
        """The type of a tensor operand. Raises TypingError UC0308 on a list and UC0315 on a number."""
        from ucutlass.dialects.ucutlass.types import TensorType

        found = self.operands[name]
        if isinstance(found, TensorType):
            return found
        code, what = ("UC0308", "a list") if isinstance(found, tuple) else ("UC0315", "a number")
        raise self.fail(
            code, f"operand '{name}' of {self.spec.spelling} is {what}, expected a tensor", f"operand:{name}"
        )

    def tensors(self, name: str) -> "tuple[TensorType, ...]":
        """The types of a list operand. Raises TypingError UC0308 on anything else and on an empty list."""
        found = self.operands[name]
        if isinstance(found, tuple) and found:
            return found
        what = "an empty list" if isinstance(found, tuple) else "not a list"
        raise self.fail(
            "UC0308",
            f"operand '{name}' of {self.spec.spelling} is {what}, expected a list of tensors, [x, y]",
            f"operand:{name}",
        )

    def optional_tensor(self, name: str) -> "TensorType | None":
        """The type of an optional tensor operand, None where it is absent."""
        return None if self.operands.get(name) is None else self.tensor(name)

    def fail(
        self, code: str, message: str, part: str | None = None, notes: Sequence[str] = (), transpose: bool = False
    ) -> TypingError:
        """The error to raise."""
        return TypingError(code, message, part, notes, transpose)


class TypeRule(Protocol):
    """Result types of a call. Raises TypingError where there are none."""

    def __call__(self, call: Call, /) -> "Sequence[TensorType]": ...


CostRule = Callable[[Call, "Sequence[TensorType]"], float | Dim]
"""FLOPs of a call with these result types, counted as the documentation's cost table says."""

CudaRule = Callable[[Mapping[str, ParamValue]], str]
"""The scalar expression for these constants: parameters and number operands by name, as `Call.constants` gives them."""

Conversion = Literal["result", "operands", "none"]
"""To which type `T` the operands of a scalar expression are converted first: the compute type of the result, that of
the operands' common type (comparisons), or each its own (casts)."""


@record
class OpSpec:
    """One operation of the language."""

    name: str
    family: Family
    operands: tuple[Operand, ...]
    params: tuple[Param, ...]
    infer: TypeRule
    doc: str
    """First line: what it computes. Markdown."""
    torch: Callable[..., Any]
    """Its meaning: `torch(t, *operands, **params)` with `t` the torch module, operands as tensors in the compute type
    (numbers as Python numbers, absent ones None, lists as lists) and parameters as plain Python values. Returns a
    tensor or a list."""
    cuda: str | CudaRule | None = None
    """Scalar C++ expression over the operands by name, or the rule that gives it; None where the operation is not
    element-wise. `T` is the type that `converts` says. A text may name number parameters: `cuda_expression` replaces
    them."""
    converts: Conversion = "result"
    flops: float | CostRule = 0.0
    """FLOPs per result element, or a rule."""
    setters: tuple[str, ...] = ()
    """Setters it takes."""
    multiple_results: bool = False
    """Whether its value is a list."""
    surface: str | None = None
    """Its name in `.ucu` where that is not `name`. Rows that share one are told apart by whether the first argument is
    a list; a name that begins with a dot is written after a value, `x.T`, and cannot be called."""
    positional: tuple[str, ...] = ()
    """Operands and parameters in the order of a call, where that is not all operands and then all parameters."""
    number: Callable[..., int | float] | None = None
    """Its value where all operands are numbers, as `2 * 3`; None where it needs a tensor."""
    channels_of: str | None = None
    """An operand whose producers decide the derived parameter `axis`, the dimension of its channels. Rules and meanings
    get it beside the parameters; it is not written in programs."""
    cuda_fast: CudaRule | None = None
    """A cheaper scalar expression in f32, off by at most `FAST_ERROR`: for results that are stored in 16 bits or
    fewer."""
    resolve: Callable[[Call], Mapping[str, ParamValue]] | None = None
    """Values of absent parameters whose default depends on the operands' types; refuses nothing."""

    @property
    def spelling(self) -> str:
        """Its name in `.ucu`."""
        return self.surface or self.name

    @property
    def takes_list(self) -> bool:
        """Whether its first argument is a list of tensors."""
        return bool(self.operands) and self.operands[0].variadic

    @property
    def signature(self) -> tuple[str, ...]:
        """The names of operands and parameters in the order of a call's positional arguments."""
        return self.positional or (*(o.name for o in self.operands), *(p.name for p in self.params))

    def cuda_expression(self, constants: Mapping[str, ParamValue], fast: bool = False) -> str:
        """The scalar expression, in which a number stands as `T(0.01)`. Not for operations without one.

        `fast` takes the row's fast form where it has one.
        """
        assert self.cuda is not None, f"{self.name} is not element-wise"
        if fast and self.cuda_fast is not None:
            return self.cuda_fast(constants)
        if not isinstance(self.cuda, str):
            return self.cuda(constants)
        numbers = {p.name: constants[p.name] for p in self.params if p.kind == "number"}
        words = "|".join(map(re.escape, numbers)) or "(?!)"
        return re.sub(rf"\b({words})\b", lambda m: number_cast(numbers[m[1]]), self.cuda)

    @property
    def is_contraction(self) -> bool:
        return self.family in ("gemm", "conv")

    @property
    def is_elementwise(self) -> bool:
        return self.family in ("unary", "binary", "ternary", "epilogue")

    def operand(self, name: str) -> Operand:
        """The operand of this name. Raises KeyError."""
        return {o.name: o for o in self.operands}[name]

    def param(self, name: str) -> Param:
        """The parameter of this name. Raises KeyError."""
        return {p.name: p for p in self.params}[name]

    @property
    def class_name(self) -> str:
        """`layer_norm` is the class `LayerNormOp`."""
        return "".join(part.capitalize() for part in self.name.split("_")) + "Op"
