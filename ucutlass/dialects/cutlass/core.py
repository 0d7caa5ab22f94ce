"""What every operation of the `cutlass` dialect is: one C++ type, spelled by the operation itself.

A value of type `!cutlass.type` is one C++ `using`; a value of a tensor type is a tensor that the launcher is handed. An
operation says how its type is spelled (`template_arguments`) and which run-time arguments CUTLASS wants for it
(`arguments`), both as fragments. The printer renders fragments in block order and decides nothing.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import DenseArrayBase, StringAttr, i64
from xdsl.ir import Attribute, ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.irdl import IRDLOperation, eq, irdl_attr_definition, result_def, traits_def
from xdsl.traits import Pure

from ucutlass.dialects.ucutlass.types import element_of
from ucutlass.dims import Dim
from ucutlass.records import record


@irdl_attr_definition
class CppType(ParametrizedAttribute, TypeAttribute):
    """A C++ type of the emitted file."""

    name = "cutlass.type"


@irdl_attr_definition
class CppTemplate(ParametrizedAttribute, TypeAttribute):
    """A C++ class template of the emitted file: a functor over fragments."""

    name = "cutlass.template"


TYPE = eq(CppType())
"""Constraint of a value that is a C++ type; equality lets the assembly formats leave the type out."""
TEMPLATE = eq(CppTemplate())


@record
class Pointer:
    """The data pointer of a tensor, as `Element const*` or `Element*`."""

    tensor: SSAValue
    mutable: bool = False


@record
class Stride:
    """A CuTe stride of rank 3 (rows, columns, batch): per mode a dimension of the tensor, a static integer, or absent.

    A static 1 asserts contiguity, which the launcher checks; 0 repeats one value along the mode.
    """

    tensor: SSAValue
    modes: tuple["int | Dimension", ...]


@record
class Dimension:
    """The stride of one dimension of the tensor, read at run time."""

    index: int


@record
class Braces:
    """`{a, b}`: the arguments of a node with its children's inside."""

    members: "tuple[Fragment, ...]"


@record
class Member:
    """A member of a type, `Type::name`."""

    type: SSAValue
    name: str


@record
class Carveout:
    """`StageCountAutoCarveout` for what the shared storage of an epilogue takes."""

    epilogue: SSAValue


@record
class Data:
    """The data pointer of a tensor, untyped."""

    tensor: SSAValue


@record
class SizeOf:
    """A size, or any expression over the dimension names, as `int64_t`."""

    dim: Dim


@record
class Steps:
    """How many elements lie between two places of a tensor that are so many steps apart along each dimension."""

    tensor: SSAValue
    counts: tuple[Dim, ...]


@record
class Spelled:
    """A template with its arguments, `name<a, b>`."""

    name: str
    members: "tuple[Fragment, ...]"


Fragment = str | SSAValue | Carveout | Member | Pointer | Stride | Braces | Data | SizeOf | Steps | Spelled
"""A piece of C++: text, the name of a type, or something read from a tensor."""

Render = Callable[[Fragment], str]
"""The C++ of a fragment where the host prepares a launch."""


@record
class Check:
    """What an access needs of a tensor that the caller gives: a method of `Call` and its arguments after the tensor and
    the width of its elements."""

    tensor: SSAValue
    method: str
    extra: tuple[str, ...] = ()


class CppTypeOp(IRDLOperation, ABC):
    """An operation whose result is one C++ type, `using NAME = CPP<template arguments>MEMBER;`."""

    CPP: ClassVar[str]
    MEMBER: ClassVar[str] = ""

    result = result_def(TYPE)
    traits = traits_def(Pure())

    @property
    def template(self) -> str:
        """The C++ name of the template."""
        return self.CPP

    def template_arguments(self) -> Sequence[Fragment]:
        """Template arguments in order."""
        return ()

    def arguments(self) -> Fragment:
        """What `Arguments` of this type is initialized with."""
        return Braces(())

    def checks(self) -> Sequence[Check]:
        """What it needs of the tensors that it reads and writes."""
        return ()


class KernelTypeOp(CppTypeOp, ABC):
    """A type that is launched."""

    LAUNCHER: ClassVar[str]
    """Which functions of the launch support prepare and launch it: `prepare_NAME`, `launch_NAME`."""
    INCLUDES: ClassVar[tuple[str, ...]] = ()
    """Headers that it needs."""

    @property
    def support_files(self) -> tuple[str, ...]:
        """Texts of `backend/support` that define it, in order; texts that several kernels need are printed once."""
        return ()

    @abstractmethod
    def host_lines(self, name: str, index: int, render: Render) -> list[str]:
        """Statements that fill the `Arguments` called `name` of launch `index`."""


def cpp_element(attribute: Attribute | None) -> str:
    """The C++ spelling of an element type, `void` where there is none."""
    return "void" if attribute is None else element_of(attribute).cutlass


def cpp_layout(tag: StringAttr) -> str:
    """The C++ spelling of a layout tag."""
    return f"cutlass::layout::{tag.data}"


def int_array(values: Sequence[int]) -> DenseArrayBase:
    """`[128, 256, 64]`."""
    return DenseArrayBase.from_list(i64, list(values))
