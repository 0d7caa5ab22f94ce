"""What every operation of the `cutlass` dialect is: one C++ type, spelled by the operation itself.

A value of type `!cutlass.type` is one C++ `using`; a value of a tensor type is a tensor that the launcher is handed. An
operation says how its type is spelled (`template_arguments`) and which run-time arguments CUTLASS wants for it
(`arguments`), both as fragments. The printer renders fragments in block order and decides nothing.
"""

from abc import ABC
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import DenseArrayBase, StringAttr, i64
from xdsl.ir import Attribute, ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.irdl import IRDLOperation, eq, irdl_attr_definition, result_def, traits_def
from xdsl.traits import Pure

from ucutlass.dialects.ucutlass.types import element_of


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


@dataclass(frozen=True)
class Pointer:
    """The data pointer of a tensor, as `Element const*` or `Element*`."""

    tensor: SSAValue
    mutable: bool = False


@dataclass(frozen=True)
class Stride:
    """A CuTe stride of rank 3 (rows, columns, batch): per mode a dimension of the tensor, a static integer, or absent.

    A static 1 asserts contiguity, which the launcher checks; 0 repeats one value along the mode.
    """

    tensor: SSAValue
    modes: tuple["int | Dimension", ...]


@dataclass(frozen=True)
class Dimension:
    """The stride of one dimension of the tensor, read at run time."""

    index: int


@dataclass(frozen=True)
class Braces:
    """`{a, b}`: the arguments of a node with its children's inside."""

    members: "tuple[Fragment, ...]"


@dataclass(frozen=True)
class Member:
    """A member of a type, `Type::name`."""

    type: SSAValue
    name: str


@dataclass(frozen=True)
class Carveout:
    """`StageCountAutoCarveout` for what the shared storage of an epilogue takes."""

    epilogue: SSAValue


Fragment = str | SSAValue | Carveout | Member | Pointer | Stride | Braces
"""A piece of C++: text, the name of a type, or something read from a tensor."""


class CppTypeOp(IRDLOperation, ABC):
    """An operation whose result is one C++ type, `using NAME = CPP<template arguments>MEMBER;`."""

    CPP: ClassVar[str]
    MEMBER: ClassVar[str] = ""

    result = result_def(TYPE)
    traits = traits_def(Pure())

    def template_arguments(self) -> Sequence[Fragment]:
        """Template arguments in order."""
        return ()

    def arguments(self) -> Fragment:
        """What CUTLASS's `Arguments` of this type is initialized with."""
        return Braces(())


def cpp_element(attribute: Attribute | None) -> str:
    """The C++ spelling of an element type, `void` where there is none."""
    return "void" if attribute is None else element_of(attribute).cutlass


def cpp_layout(tag: StringAttr) -> str:
    """The C++ spelling of a layout tag."""
    return f"cutlass::layout::{tag.data}"


def int_array(values: Sequence[int]) -> DenseArrayBase:
    """`[128, 256, 64]`."""
    return DenseArrayBase.from_list(i64, list(values))
