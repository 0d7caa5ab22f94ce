"""How rows of the operation tables become xDSL operations.

One class per row, all with the base `UcuOp`, which reads operands and parameters back as plain values, verifies the
result types by the row's rule and derives the declarative assembly format from the row. Formats are compiled on first
use: building 130 of them up front would double the start-up time of every tool.
"""

from abc import ABC
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import ClassVar, Self, cast

from xdsl.dialects.builtin import BoolAttr, IntegerAttr, StringAttr, i1
from xdsl.ir import Attribute, BlockArgument, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLAttrConstraint,
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.irdl.declarative_assembly_format import FormatProgram  # noqa: TID251  (no public name for it in xDSL 0.75)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ucutlass.dialects.ucutlass.attributes import ConfigAttr, NumberAttr
from ucutlass.dialects.ucutlass.kernel import ConstantOp, FusedOp, KernelOp
from ucutlass.dialects.ucutlass.spec import Call, OpSpec, Param, ParamKind, ParamValue, Required, TypingError
from ucutlass.dialects.ucutlass.types import (
    MLIR_ELEMENT,
    DimsAttr,
    LayoutAttr,
    NumberType,
    TensorType,
    UnresolvedType,
    ValueType,
    element_of,
)
from ucutlass.dims import Condition, Dim, Facts
from ucutlass.element_types import ElementType

_PARAM_CONSTRAINT: dict[ParamKind, IRDLAttrConstraint] = {
    "number": NumberAttr,
    "dim": DimsAttr,
    "dims": DimsAttr,
    "bool": BoolAttr,
    "word": StringAttr,
    "element": Attribute,
    "layout": LayoutAttr | StringAttr,
}


def param_to_attribute(param: Param, value: ParamValue) -> Attribute:
    """The attribute that holds a parameter's value."""
    match param.kind:
        case "number":
            assert isinstance(value, int | float)
            return NumberAttr(value)
        case "dim":
            assert isinstance(value, int | str | Dim)
            return DimsAttr((Dim.of(value),))
        case "dims":
            assert isinstance(value, tuple)
            return DimsAttr(tuple(Dim.of(d) for d in value))
        case "bool":
            return BoolAttr.from_bool(bool(value))
        case "word":
            return StringAttr(str(value))
        case "element":
            assert isinstance(value, ElementType)
            return MLIR_ELEMENT[value.name]
        case "layout":
            # A name has a meaning only at a rank, which is not known before inference.
            return StringAttr(value) if isinstance(value, str) else LayoutAttr(cast(tuple[int, ...], value))


def param_from_attribute(param: Param, attribute: Attribute) -> ParamValue:
    """The value that a parameter's attribute holds. Raises VerifyException on an attribute of another kind."""
    match attribute:
        case NumberAttr() if param.kind == "number":
            return attribute.data
        case DimsAttr() if param.kind == "dim" and len(attribute.data) == 1:
            return attribute.data[0]
        case DimsAttr() if param.kind == "dims":
            return attribute.data
        case IntegerAttr() if param.kind == "bool" and attribute.type == i1:
            return bool(attribute.value.data)
        case StringAttr() if param.kind == "word":
            if attribute.data not in param.words:
                raise VerifyException(
                    f"'{param.name}' is \"{attribute.data}\": expected one of {', '.join(param.words)}"
                )
            return attribute.data
        case LayoutAttr() | StringAttr() if param.kind == "layout":
            return attribute.data
        case _ if param.kind == "element":
            return element_of(attribute)
        case _:
            raise VerifyException(f"parameter '{param.name}' is {attribute}, expected a {param.kind}")


class UcuOp(IRDLOperation, ABC):
    """An operation of the language."""

    SPEC: ClassVar[OpSpec]

    @property
    def spec(self) -> OpSpec:
        """The operation's row in the tables."""
        return self.SPEC

    def operand_values(self) -> dict[str, SSAValue | tuple[SSAValue, ...] | None]:
        """The operands by name: a value, None for an absent optional one, a tuple for a variadic one."""
        return {operand.name: getattr(self, operand.name + "_") for operand in self.spec.operands}

    def params(self) -> dict[str, ParamValue]:
        """The parameters by name as plain values, defaults filled in."""
        values: dict[str, ParamValue] = {}
        for param in self.spec.params:
            attribute = self.properties.get(param.name)
            if attribute is not None:
                values[param.name] = param_from_attribute(param, attribute)
            else:
                assert not isinstance(param.default, Required)
                values[param.name] = param.default
        return values

    @property
    def setters(self) -> ConfigAttr:
        """The configuration that the program asks for; empty where it says nothing."""
        found = self.properties.get("config")
        return found if isinstance(found, ConfigAttr) else ConfigAttr(())

    def call(self, facts: Facts | None = None) -> Call | None:
        """What type rules and costs see; None while an operand's type is unresolved."""
        types: dict[str, TensorType | NumberType | tuple[TensorType, ...] | None] = {}
        numbers: dict[str, int | float] = {}
        params = self.params()
        for name, value in self.operand_values().items():
            if value is None:
                types[name] = None
            elif isinstance(value, SSAValue):
                if not isinstance(value.type, TensorType | NumberType):
                    return None
                types[name] = value.type
                if isinstance(value.type, NumberType):
                    if (number := number_value(value)) is not None:
                        numbers[name] = number
                elif name == self.spec.channels_of:
                    params["axis"] = channel_axis(value)
            else:
                members = tuple(v.type for v in value)
                if not all(isinstance(t, TensorType) for t in members):
                    return None
                types[name] = cast(tuple[TensorType, ...], members)
        call = Call(self.spec, types, params, facts or Facts(), numbers)
        resolve = self.spec.resolve
        return call if resolve is None else replace(call, params={**params, **resolve(call)})

    @property
    def is_number(self) -> bool:
        """Whether it computes a number from numbers, when the program is compiled."""
        return self.spec.number is not None and all(isinstance(o.type, NumberType) for o in self.operands)

    def infer_types(self, facts: Facts) -> Sequence[TensorType | NumberType] | None:
        """Result types by the row's rule; None while an operand is unresolved. Raises TypingError."""
        if self.is_number:
            return (NumberType(),)
        call = self.call(facts)
        return None if call is None else self.spec.infer(call)

    def needs(self, facts: Facts) -> tuple[Condition, ...]:
        """What must hold of dynamic sizes for the operation to have a value, beyond `facts`. Raises TypingError."""
        call = None if self.is_number else self.call(facts)
        if call is not None:
            self.spec.infer(call)
        return () if call is None else tuple(call.needs)

    def verify_(self) -> None:
        """Operands and parameters are of their kinds; resolved results have the types that the rule gives."""
        if any(isinstance(r.type, UnresolvedType) for r in self.results):
            self.params()
            return
        try:
            expected = self.infer_types(facts_at(self))
        except TypingError as error:
            raise VerifyException(f"{error.message} [{error.code}]") from error
        if expected is None:
            return
        if len(expected) != len(self.results):
            raise VerifyException(f"{self.spec.name} has {len(self.results)} results, its rule gives {len(expected)}")
        facts = facts_at(self)
        for result, wanted in zip(self.results, expected, strict=True):
            found = result.type
            if found != wanted and not (
                isinstance(found, TensorType) and isinstance(wanted, TensorType) and same_type(facts, found, wanted)
            ):
                gives = wanted.spelling if isinstance(wanted, TensorType) else "a number"
                raise VerifyException(f"{self.spec.name} gives {gives}, but its result has type {found}")

    @classmethod
    @cache
    def _format(cls) -> FormatProgram:
        return FormatProgram.from_str(assembly_format(cls.SPEC), cls.get_irdl_definition())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        return cls._format().parse(parser, cls)

    def print(self, printer: Printer) -> None:
        self._format().print(printer, self)


def same_type(facts: Facts, left: TensorType, right: TensorType) -> bool:
    """Whether two tensor types are equal up to what `facts` prove about their sizes."""
    return (
        left.element_type == right.element_type
        and left.layout == right.layout
        and left.rank == right.rank
        and all(facts.equal(a, b) for a, b in zip(left.dims, right.dims, strict=True))
    )


def facts_at(op: IRDLOperation) -> Facts:
    """What the `where` clause of the enclosing kernel guarantees."""
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, KernelOp):
        parent = parent.parent_op()
    return parent.facts if parent is not None else Facts()


def _outside_groups(value: SSAValue) -> SSAValue:
    """The value that one crossing the border of a fused group stands for."""
    while True:
        owner = value.owner
        if isinstance(value, BlockArgument) and isinstance(group := value.block.parent_op(), FusedOp):
            value = group.inputs[value.index]
        elif isinstance(owner, FusedOp):
            value = owner.yielded[owner.results.index(value)]
        else:
            return value


def number_value(value: SSAValue) -> int | float | None:
    """The number that a value stands for, None where it is not a number known at compile time."""
    known: dict[SSAValue, int | float | None] = {}
    pending = [value]
    while pending:
        current = pending[-1]
        owner = _outside_groups(current).owner
        missing: list[SSAValue] = []
        if isinstance(owner, ConstantOp):
            known[current] = owner.value.data
        elif isinstance(owner, UcuOp) and owner.is_number:
            missing = [operand for operand in owner.operands if operand not in known]
            arguments = [number for operand in owner.operands if (number := known.get(operand)) is not None]
            assert owner.spec.number is not None
            if not missing:
                complete = len(arguments) == len(owner.operands)
                known[current] = owner.spec.number(*arguments) if complete else None
        else:
            known[current] = None
        if missing:
            pending.extend(missing)
        else:
            pending.pop()
    return known[value]


def channel_axis(value: SSAValue) -> int:
    """The dimension of a tensor that holds its channels, to which a bias belongs.

    It is dimension 1 of the convolution that made the value, the last one otherwise. Producers are looked up through
    element-wise operations, casts and `materialize`, first operand first, until a contraction is found. A broadcast may
    have put dimensions before the convolution's, so its dimensions are counted from the right.
    """
    type_ = value.type
    assert isinstance(type_, TensorType)
    pending, seen = [value] if type_.rank > 2 else [], set[SSAValue]()
    while pending:
        current = _outside_groups(pending.pop())
        owner = current.owner
        if current in seen or not isinstance(owner, UcuOp):
            continue
        seen.add(current)
        if owner.spec.family == "conv" and isinstance(current.type, TensorType):
            return type_.rank - current.type.rank + 1
        if owner.spec.is_contraction:
            break
        if owner.spec.is_elementwise or owner.spec.family == "staging":
            pending.extend(reversed(owner.operands))
    return type_.rank - 1


def assembly_format(spec: OpSpec) -> str:
    """The declarative assembly format of a row: operands, attribute dictionary, types.

    The types are a function type at the end. Where several operands may be absent or are lists, it would not say which
    type belongs to which operand: their types stand beside them.
    """
    beside = _is_segmented(spec)
    parts: list[str] = []
    plain: list[str] = []
    for operand in spec.operands:
        name = f"${operand.name}_"
        shown = f"{name}^ `:` type({name})" if beside else f"{name}^"
        if operand.variadic:
            parts.append(f"`[` {shown.replace('^', '')} `]`")
        elif operand.optional:
            parts.append(f"(`{operand.name}` `(` {shown} `)`)?")
        else:
            parts.append(f"`,` {name}" if plain else name)
            plain.append(f"type({name})")
    if not beside:
        return " ".join([*parts, "attr-dict", "`:`", "functional-type(operands, results)"])
    inputs = ["`:` `(`", " `,` ".join(plain), "`)`"] if plain else []
    return " ".join([*parts, "attr-dict", *inputs, "`->`", f"type(${_result_field(spec)})"])


def _is_segmented(spec: OpSpec) -> bool:
    """Whether the number of operands alone does not say which are there."""
    return sum(o.optional or o.variadic for o in spec.operands) > 1


def _result_field(spec: OpSpec) -> str:
    return "outputs" if spec.multiple_results else "result"


def operation_class(spec: OpSpec) -> type[UcuOp]:
    """The xDSL operation of a row."""
    body: dict[str, object] = {
        "__module__": UcuOp.__module__,
        "__doc__": spec.doc,
        "__annotations__": {"SPEC": ClassVar[OpSpec]},
        "name": f"ucutlass.{spec.name}",
        "SPEC": spec,
        "traits": traits_def(Pure()),
    }
    for operand in spec.operands:
        define = var_operand_def if operand.variadic else opt_operand_def if operand.optional else operand_def
        body[operand.name + "_"] = define(ValueType)
    for param in spec.params:
        constraint = _PARAM_CONSTRAINT[param.kind]
        required = isinstance(param.default, Required)
        body[param.name] = prop_def(constraint) if required else opt_prop_def(constraint)
    if spec.setters:
        body["config"] = opt_prop_def(ConfigAttr)
    body[_result_field(spec)] = var_result_def(ValueType) if spec.multiple_results else result_def(ValueType)
    segments = (AttrSizedOperandSegments(as_property=True),) if _is_segmented(spec) else ()
    options = (*segments, ParsePropInAttrDict())
    body["irdl_options"] = options
    return irdl_op_definition(cast(type[UcuOp], type(spec.class_name, (UcuOp,), body)))
