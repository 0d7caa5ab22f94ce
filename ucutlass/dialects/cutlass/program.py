"""A program as the emitted file has it: device kernels, and the host function that launches them in order."""

from collections.abc import Sequence
from typing import Self

from xdsl.dialects.builtin import I64, ArrayAttr, IntegerAttr, StringAttr, SymbolNameConstraint, SymbolRefAttr, i64
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, IsTerminator, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from ucutlass.dialects.cutlass.core import TYPE, KernelTypeOp
from ucutlass.dialects.ucutlass.kernel import WhereAttr, set_exact_name
from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.dims import Condition, Facts


@irdl_op_definition
class EndOp(IRDLOperation):
    """Ends a device kernel: the C++ type that is launched."""

    name = "cutlass.end"
    kernel = operand_def(TYPE)
    traits = traits_def(IsTerminator())
    assembly_format = "$kernel attr-dict"


@irdl_op_definition
class DeviceKernelOp(IRDLOperation):
    """One device kernel: the C++ types that it is made of. Its arguments are the tensors it reads, then those it
    writes.

    `cutlass.device_kernel @k "comment" ins(%x: T) outs(%y: T) { … }`
    """

    name = "cutlass.device_kernel"
    sym_name = prop_def(SymbolNameConstraint())
    comment = prop_def(StringAttr)
    """What it computes, in the source language, for the reader of the emitted file."""
    input_count = prop_def(IntegerAttr[I64])
    body = region_def("single_block")
    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface())

    @staticmethod
    def of(
        name: str, comment: str, inputs: Sequence[tuple[str, TensorType]], outputs: Sequence[tuple[str, TensorType]]
    ) -> "DeviceKernelOp":
        """A device kernel with an empty body."""
        block = Block(arg_types=[t for _, t in (*inputs, *outputs)])
        for (argument, _), value in zip((*inputs, *outputs), block.args, strict=True):
            set_exact_name(value, argument)
        return DeviceKernelOp.build(
            properties={
                "sym_name": StringAttr(name),
                "comment": StringAttr(comment),
                "input_count": IntegerAttr(len(inputs), i64),
            },
            regions=[Region(block)],
        )

    @property
    def inputs(self) -> tuple[BlockArgument, ...]:
        """The tensors it reads."""
        return self.body.block.args[: self.input_count.value.data]

    @property
    def outputs(self) -> tuple[BlockArgument, ...]:
        """The tensors it writes."""
        return self.body.block.args[self.input_count.value.data :]

    @property
    def launched(self) -> KernelTypeOp:
        """The type that is launched."""
        end = self.body.block.last_op
        assert isinstance(end, EndOp) and isinstance(end.kernel.owner, KernelTypeOp)
        return end.kernel.owner

    def verify_(self) -> None:
        if not isinstance(self.body.block.last_op, EndOp):
            raise VerifyException(f"device kernel @{self.sym_name.data} does not end in cutlass.end")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        name = parser.parse_symbol_name()
        comment = parser.parse_str_literal("what the kernel computes")
        parser.parse_characters("ins")
        inputs = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_argument)
        parser.parse_characters("outs")
        outputs = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_argument)
        body = parser.parse_region([*inputs, *outputs])
        properties: dict[str, Attribute] = {
            "sym_name": name,
            "comment": StringAttr(comment),
            "input_count": IntegerAttr(len(inputs), i64),
        }
        return cls.build(properties=properties, regions=[body])

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(" ")
        printer.print_string_literal(self.comment.data)
        for keyword, arguments in (("ins", self.inputs), ("outs", self.outputs)):
            printer.print_string(f" {keyword}")
            with printer.in_parens():
                printer.print_list(arguments, printer.print_block_argument)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)


@irdl_op_definition
class LaunchOp(IRDLOperation):
    """One launch: which device kernel, on which tensors; its results are the tensors that the kernel writes."""

    name = "cutlass.launch"
    callee = prop_def(SymbolRefAttr)
    inputs = var_operand_def(TensorType)
    outputs = var_result_def(TensorType)
    assembly_format = "$callee `(` $inputs `)` attr-dict `:` functional-type($inputs, $outputs)"

    def kernel(self) -> DeviceKernelOp:
        """The device kernel that is launched. Raises VerifyException where the module has none of that name."""
        module: Operation = self
        while (parent := module.parent_op()) is not None:
            module = parent
        for op in module.walk():
            if isinstance(op, DeviceKernelOp) and op.sym_name.data == self.callee.string_value():
                return op
        raise VerifyException(f"launch of @{self.callee.string_value()}, which the module does not define")


@irdl_op_definition
class ProgramReturnOp(IRDLOperation):
    """Ends a program: the tensors that the caller gets."""

    name = "cutlass.program_return"
    values = var_operand_def(TensorType)
    traits = traits_def(IsTerminator())
    assembly_format = "$values attr-dict `:` type($values)"


@irdl_op_definition
class ProgramOp(IRDLOperation):
    """The exported C functions of one kernel of the language: bind sizes, check tensors, launch.

    `cutlass.program @f(%x: T, …) results("y", …) where <…> { … }`
    """

    name = "cutlass.program"
    sym_name = prop_def(SymbolNameConstraint())
    result_names = prop_def(ArrayAttr[StringAttr])
    source = prop_def(StringAttr)
    """The program in the source language."""
    target = prop_def(StringAttr)
    where = prop_def(WhereAttr)
    body = region_def("single_block")
    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface())

    @staticmethod
    def of(
        name: str,
        arguments: Sequence[tuple[str, TensorType]],
        results: Sequence[str],
        source: str,
        target: str,
        where: Sequence[Condition],
    ) -> "ProgramOp":
        """A program with an empty body."""
        block = Block(arg_types=[t for _, t in arguments])
        for (argument, _), value in zip(arguments, block.args, strict=True):
            set_exact_name(value, argument)
        return ProgramOp.build(
            properties={
                "sym_name": StringAttr(name),
                "result_names": ArrayAttr([StringAttr(r) for r in results]),
                "source": StringAttr(source),
                "target": StringAttr(target),
                "where": WhereAttr(tuple(where)),
            },
            regions=[Region(block)],
        )

    @property
    def facts(self) -> Facts:
        """What the `where` clause guarantees."""
        return Facts(self.where.data)

    @property
    def launches(self) -> tuple[LaunchOp, ...]:
        """The launches in order."""
        return tuple(op for op in self.body.block.ops if isinstance(op, LaunchOp))

    @property
    def return_op(self) -> ProgramReturnOp:
        last = self.body.block.last_op
        assert isinstance(last, ProgramReturnOp)
        return last

    def verify_(self) -> None:
        last = self.body.block.last_op
        if not isinstance(last, ProgramReturnOp) or len(last.values) != len(self.result_names):
            raise VerifyException(f"program @{self.sym_name.data} must end in cutlass.program_return with its results")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        name = parser.parse_symbol_name()
        arguments = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_argument)
        parser.parse_characters("results")
        names = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: StringAttr(parser.parse_str_literal())
        )
        parser.parse_characters("target")
        target = parser.parse_str_literal()
        parser.parse_characters("source")
        source = parser.parse_str_literal()
        where = WhereAttr(())
        if parser.parse_optional_keyword("where") is not None:
            where = WhereAttr(WhereAttr.parse_parameter(parser))
        properties: dict[str, Attribute] = {
            "sym_name": name,
            "result_names": ArrayAttr(names),
            "source": StringAttr(source),
            "target": StringAttr(target),
            "where": where,
        }
        return cls.build(properties=properties, regions=[parser.parse_region(arguments)])

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        with printer.in_parens():
            printer.print_list(self.body.block.args, printer.print_block_argument)
        printer.print_string(" results")
        with printer.in_parens():
            printer.print_list(self.result_names, lambda n: printer.print_string_literal(n.data))
        printer.print_string(" target ")
        printer.print_string_literal(self.target.data)
        printer.print_string(" source ")
        printer.print_string_literal(self.source.data)
        if self.where.data:
            printer.print_string(" where ")
            self.where.print_parameter(printer)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)


def device_kernels(module: Operation) -> list[DeviceKernelOp]:
    """The device kernels of a module in order."""
    return [op for op in module.walk() if isinstance(op, DeviceKernelOp)]


def programs(module: Operation) -> list[ProgramOp]:
    """The programs of a module in order."""
    return [op for op in module.walk() if isinstance(op, ProgramOp)]


PROGRAM = (EndOp, DeviceKernelOp, LaunchOp, ProgramReturnOp, ProgramOp)
