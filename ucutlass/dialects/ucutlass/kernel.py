"""The operations that hold a program together: kernel, return, constant, and the groups that `fuse` forms."""

from collections.abc import Sequence
from typing import Self, cast

from xdsl.dialects.builtin import ArrayAttr, StringAttr, SymbolNameConstraint
from xdsl.ir import Attribute, Block, Data, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    attr_def,
    irdl_attr_definition,
    irdl_op_definition,
    opt_attr_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import AttrParser, Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, IsTerminator, Pure, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from ucutlass.dialects.ucutlass.attributes import ConfigAttr, NumberAttr
from ucutlass.dialects.ucutlass.types import NumberType, TensorType, UnresolvedType, ValueType
from ucutlass.dims import Condition, Facts, parse_condition

TARGET_ATTRIBUTE = "ucutlass.target"
"""Module attribute that holds the target's name, `"sm_90a"`."""

DEFAULT_TARGET = "sm_90a"
"""The target of a module that names none."""


@irdl_attr_definition
class WhereAttr(Data[tuple[Condition, ...]]):
    """What the caller guarantees: `#ucutlass.where<"K % 8 == 0", "M >= 1">`."""

    name = "ucutlass.where"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[Condition, ...]:
        def one() -> Condition:
            position = parser.pos
            text = parser.parse_str_literal("a quoted condition")
            try:
                return parse_condition(text)
            except ValueError as error:
                parser.raise_error(str(error), position, parser.pos)

        return tuple(parser.parse_comma_separated_list(parser.Delimiter.ANGLE, one))

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_list(self.data, lambda c: printer.print_string(f'"{c}"'))


@irdl_op_definition
class ReturnOp(IRDLOperation):
    """Ends a kernel: its results in order."""

    name = "ucutlass.return"
    values = var_operand_def(ValueType)
    traits = traits_def(IsTerminator())
    assembly_format = "($values^ `:` type($values))? attr-dict"


@irdl_op_definition
class KernelOp(IRDLOperation):
    """A kernel: named tensors in, tensors out, a dataflow body and what the caller guarantees.

    `ucutlass.kernel @f(%x: T, …) -> (T, …) [where #ucutlass.where<…>] { … }`
    """

    name = "ucutlass.kernel"

    sym_name = prop_def(SymbolNameConstraint())
    declared = prop_def(ArrayAttr[Attribute])
    where = prop_def(WhereAttr)
    body = region_def("single_block")
    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface())

    @staticmethod
    def of(
        name: str,
        arguments: Sequence[tuple[str, TensorType]],
        results: Sequence[TensorType],
        where: Sequence[Condition] = (),
    ) -> "KernelOp":
        """A kernel with an empty body."""
        block = Block(arg_types=[t for _, t in arguments])
        for (argument, _), value in zip(arguments, block.args, strict=True):
            set_exact_name(value, argument)
        return KernelOp.build(
            properties={
                "sym_name": StringAttr(name),
                "declared": ArrayAttr(results),
                "where": WhereAttr(tuple(where)),
            },
            regions=[Region(block)],
        )

    @property
    def facts(self) -> Facts:
        """What the `where` clause guarantees."""
        return Facts(self.where.data)

    @property
    def declared_types(self) -> tuple[TensorType, ...]:
        """The declared result types."""
        return tuple(cast(TensorType, t) for t in self.declared)

    @property
    def return_op(self) -> ReturnOp:
        last = self.body.block.last_op
        assert isinstance(last, ReturnOp)
        return last

    def verify_(self) -> None:
        last = self.body.block.last_op
        if not isinstance(last, ReturnOp):
            raise VerifyException(f"kernel @{self.sym_name.data} does not end in ucutlass.return")
        if len(last.values) != len(self.declared):
            raise VerifyException(
                f"kernel @{self.sym_name.data} declares {len(self.declared)} results and returns {len(last.values)}"
            )
        for declared in self.declared:
            if not isinstance(declared, TensorType):
                raise VerifyException(
                    f"kernel @{self.sym_name.data} declares a result of type {declared}, expected a tensor"
                )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        name = parser.parse_symbol_name()
        arguments = parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: _parse_parameter(parser))
        parser.parse_punctuation("->")
        results = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
        where = WhereAttr(())
        if parser.parse_optional_keyword("where") is not None:
            where = WhereAttr(WhereAttr.parse_parameter(parser))
        body = parser.parse_region(arguments)
        return cls.build(properties={"sym_name": name, "declared": ArrayAttr(results), "where": where}, regions=[body])

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        with printer.in_parens():
            printer.print_list(self.body.block.args, printer.print_block_argument)
        printer.print_string(" -> ")
        with printer.in_parens():
            printer.print_list(self.declared, printer.print_attribute)
        if self.where.data:
            printer.print_string(" where ")
            self.where.print_parameter(printer)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)


@irdl_op_definition
class ConstantOp(IRDLOperation):
    """A number written in the program."""

    name = "ucutlass.constant"
    value = prop_def(NumberAttr)
    result = result_def(NumberType)
    traits = traits_def(Pure())
    assembly_format = "$value attr-dict"

    @staticmethod
    def of(value: int | float) -> "ConstantOp":
        return ConstantOp.build(properties={"value": NumberAttr(value)}, result_types=[NumberType()])


@irdl_op_definition
class YieldOp(IRDLOperation):
    """Ends a fused group: what it stores."""

    name = "ucutlass.yield"
    values = var_operand_def(TensorType)
    traits = traits_def(IsTerminator())
    assembly_format = "$values `:` type($values) attr-dict"


@irdl_op_definition
class FusedOp(IRDLOperation):
    """What one device kernel computes: formed by `fuse`, configured by `select-config`, lowered by `lower-to-cutlass`.

    `kind` names the kernel family (`gemm`, `conv`, `elementwise`, …). `selection` is the complete configuration of its
    contraction, once chosen. Every result is stored at its element type.
    """

    name = "ucutlass.fused"

    inputs = var_operand_def(TensorType | NumberType)
    outputs = var_result_def(TensorType)
    kind = attr_def(StringAttr)
    selection = opt_attr_def(ConfigAttr)
    body = region_def("single_block")
    traits = traits_def(IsolatedFromAbove(), Pure())

    @staticmethod
    def of(kind: str, inputs: Sequence[SSAValue], outputs: Sequence[Attribute], body: Block) -> "FusedOp":
        """A group around a body whose block arguments stand for `inputs`."""
        return FusedOp.build(
            operands=[list(inputs)],
            attributes={"kind": StringAttr(kind)},
            result_types=[list(outputs)],
            regions=[Region(body)],
        )

    @property
    def yielded(self) -> tuple[SSAValue, ...]:
        """The values that the body stores, one per result."""
        last = self.body.block.last_op
        assert isinstance(last, YieldOp)
        return tuple(last.values)

    def verify_(self) -> None:
        block = self.body.block
        if [a.type for a in block.args] != [i.type for i in self.inputs]:
            raise VerifyException("a fused group's block arguments differ from its inputs")
        if not isinstance(block.last_op, YieldOp) or len(block.last_op.values) != len(self.outputs):
            raise VerifyException("a fused group must end in ucutlass.yield with one value per result")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        kind = parser.parse_str_literal("the kernel family")
        pairs = parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: _parse_binding(parser))
        parser.parse_punctuation("->")
        outputs = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
        attributes: dict[str, Attribute] = {"kind": StringAttr(kind)}
        if parser.parse_optional_keyword("selection") is not None:
            attributes["selection"] = ConfigAttr(ConfigAttr.parse_parameter(parser))
        body = parser.parse_region([argument for argument, _ in pairs])
        inputs = [parser.resolve_operand(operand, argument.type) for argument, operand in pairs]
        return cls.build(operands=[inputs], attributes=attributes, result_types=[outputs], regions=[body])

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.kind.data)
        printer.print_string(" ")

        def binding(pair: tuple[SSAValue, SSAValue]) -> None:
            argument, value = pair
            printer.print_ssa_value(argument)
            printer.print_string(" = ")
            printer.print_ssa_value(value)
            printer.print_string(" : ")
            printer.print_attribute(argument.type)

        outer = list(self.inputs)
        with printer.in_parens():
            printer.print_list(list(zip(self.body.block.args, outer, strict=True)), binding)
        printer.print_string(" -> ")
        with printer.in_parens():
            printer.print_list(self.outputs.types, printer.print_attribute)
        if self.selection is not None:
            printer.print_string(" selection ")
            self.selection.print_parameter(printer)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)


def _parse_parameter(parser: Parser) -> Parser.Argument:
    """`%x: T` and maybe its location, as `--print-debuginfo` writes it."""
    argument = parser.parse_argument()
    argument.location = parser.parse_optional_location()
    return argument


def _parse_binding(parser: Parser) -> tuple[Parser.Argument, UnresolvedOperand]:
    argument = parser.parse_argument(expect_type=False)
    parser.parse_punctuation("=")
    operand = parser.parse_unresolved_operand()
    parser.parse_punctuation(":")
    return argument.resolve(parser.parse_type()), operand


def set_exact_name(value: SSAValue, name: str) -> None:
    """Name a value as the program does. The public setter of xDSL drops a trailing `_1`, which is part of a name
    here."""
    value._name = name  # pyright: ignore[reportPrivateUsage]


def target_of(module: Operation) -> str:
    """The name of the module's target; the default where it names none."""
    found = module.attributes.get(TARGET_ATTRIBUTE)
    return found.data if isinstance(found, StringAttr) else DEFAULT_TARGET


def kernels_of(module: Operation) -> list[KernelOp]:
    """The kernels of a module in order."""
    return [op for op in module.walk() if isinstance(op, KernelOp)]


def is_unresolved(value: SSAValue) -> bool:
    """Whether the value's type has not been inferred."""
    return isinstance(value.type, UnresolvedType)
