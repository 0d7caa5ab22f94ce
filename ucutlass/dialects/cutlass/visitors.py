"""The visitor tree of an sm_90a epilogue: one operation a node, named as in `cutlass/epilogue/fusion`."""

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import I64, DenseArrayBase, StringAttr, UnitAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import IsolatedFromAbove, IsTerminator, Pure

from ucutlass.dialects.cutlass.core import (
    TEMPLATE,
    TYPE,
    Braces,
    Check,
    CppTypeOp,
    Fragment,
    Member,
    Pointer,
    cpp_element,
    cpp_layout,
)
from ucutlass.dialects.cutlass.views import matrix_check, matrix_stride, vector_check
from ucutlass.dialects.ucutlass.types import TensorType

FUSION = "cutlass::epilogue::fusion::"
ROUND = "cutlass::FloatRoundStyle::round_to_nearest"


@irdl_op_definition
class FunctorOp(IRDLOperation):
    """A generated functor over fragments: the element-wise DAG in its region, one element at a time.

    The region holds element-wise operations of the `ucutlass` dialect; its arguments are the functor's inputs.
    """

    name = "cutlass.functor"
    compute = prop_def(Attribute)
    fast = opt_prop_def(UnitAttr)
    """Whether the fast forms of the operations may be used: every result is stored in 16 bits or fewer."""
    body = region_def("single_block")
    result = result_def(TEMPLATE)
    traits = traits_def(Pure(), IsolatedFromAbove())
    assembly_format = "(`fast` $fast^)? `compute` `(` $compute `)` $body attr-dict"


@irdl_op_definition
class FunctorYieldOp(IRDLOperation):
    """Ends a functor: the element it computes."""

    name = "cutlass.functor_yield"
    value = operand_def(TensorType)
    traits = traits_def(IsTerminator())
    assembly_format = "$value `:` type($value) attr-dict"


@irdl_op_definition
class Sm90AccFetchOp(CppTypeOp):
    """`cutlass::epilogue::fusion::Sm90AccFetch`: the accumulator."""

    name = "cutlass.sm90_acc_fetch"
    CPP: ClassVar[str] = FUSION + "Sm90AccFetch"
    assembly_format = "attr-dict"


@irdl_op_definition
class Sm90SrcFetchOp(CppTypeOp):
    """`cutlass::epilogue::fusion::Sm90SrcFetch`: the C operand of the kernel, loaded by the epilogue's own pipeline."""

    name = "cutlass.sm90_src_fetch"
    CPP: ClassVar[str] = FUSION + "Sm90SrcFetch"
    element = prop_def(Attribute)
    assembly_format = "`<` $element `>` attr-dict"

    def template_arguments(self) -> Sequence[Fragment]:
        return (cpp_element(self.element),)


@irdl_op_definition
class Sm90ScalarBroadcastOp(CppTypeOp):
    """`cutlass::epilogue::fusion::Sm90ScalarBroadcast`: one value in device memory."""

    name = "cutlass.sm90_scalar_broadcast"
    CPP: ClassVar[str] = FUSION + "Sm90ScalarBroadcast"
    tensor = operand_def(TensorType)
    assembly_format = "$tensor attr-dict `:` type($tensor)"

    def template_arguments(self) -> Sequence[Fragment]:
        return (cpp_element(tensor_type(self.tensor).element_type),)

    def arguments(self) -> Fragment:
        return Braces(("{}", Braces((Pointer(self.tensor),)), "{}"))

    def checks(self) -> Sequence[Check]:
        return (vector_check(self.tensor),)


@irdl_op_definition
class Sm90RowBroadcastOp(CppTypeOp):
    """`cutlass::epilogue::fusion::Sm90RowBroadcast`: a vector along N, the same for every row."""

    name = "cutlass.sm90_row_broadcast"
    CPP: ClassVar[str] = FUSION + "Sm90RowBroadcast"
    tensor = operand_def(TensorType)
    tile = operand_def(TYPE)
    compute = prop_def(Attribute)
    assembly_format = "$tensor `tile` `(` $tile `)` `compute` `(` $compute `)` attr-dict `:` type($tensor)"

    def template_arguments(self) -> Sequence[Fragment]:
        return ("0", self.tile, cpp_element(tensor_type(self.tensor).element_type), cpp_element(self.compute))

    def arguments(self) -> Fragment:
        return Braces((Pointer(self.tensor),))

    def checks(self) -> Sequence[Check]:
        return (vector_check(self.tensor),)


@irdl_op_definition
class Sm90ColBroadcastOp(CppTypeOp):
    """`cutlass::epilogue::fusion::Sm90ColBroadcast`: a vector along M, the same for every column."""

    name = "cutlass.sm90_col_broadcast"
    CPP: ClassVar[str] = FUSION + "Sm90ColBroadcast"
    tensor = operand_def(TensorType)
    tile = operand_def(TYPE)
    compute = prop_def(Attribute)
    assembly_format = "$tensor `tile` `(` $tile `)` `compute` `(` $compute `)` attr-dict `:` type($tensor)"

    def template_arguments(self) -> Sequence[Fragment]:
        return ("0", self.tile, cpp_element(tensor_type(self.tensor).element_type), cpp_element(self.compute))

    def arguments(self) -> Fragment:
        return Braces((Pointer(self.tensor),))

    def checks(self) -> Sequence[Check]:
        return (vector_check(self.tensor),)


@irdl_op_definition
class EpilogueDescriptorOp(CppTypeOp):
    """`cutlass::epilogue::collective::detail::EpilogueDescriptor`: tile and stage counts that auxiliary nodes share."""

    name = "cutlass.epilogue_descriptor"
    CPP: ClassVar[str] = "cutlass::epilogue::collective::detail::EpilogueDescriptor"
    tile = operand_def(TYPE)
    element_c = prop_def(Attribute)
    element_d = prop_def(Attribute)
    schedule = prop_def(StringAttr)
    assembly_format = "$tile `c` `(` $element_c `)` `d` `(` $element_d `)` `schedule` `(` $schedule `)` attr-dict"

    def template_arguments(self) -> Sequence[Fragment]:
        return (
            self.tile,
            "cutlass::epilogue::collective::EpilogueTileAuto",
            cpp_element(self.element_c),
            cpp_element(self.element_d),
            f"cutlass::epilogue::{self.schedule.data}",
        )


class _AuxDescriptorOp(CppTypeOp):
    descriptor = operand_def(TYPE)
    element = prop_def(Attribute)
    layout = prop_def(StringAttr)
    assembly_format = "$descriptor `layout` `(` $layout `)` `element` `(` $element `)` attr-dict"

    def template_arguments(self) -> Sequence[Fragment]:
        return (self.descriptor, cpp_layout(self.layout), cpp_element(self.element))


@irdl_op_definition
class AuxLoadDescriptorOp(_AuxDescriptorOp):
    """`cutlass::epilogue::collective::detail::AuxLoadDescriptor`: how an auxiliary tensor is staged in."""

    name = "cutlass.aux_load_descriptor"
    CPP: ClassVar[str] = "cutlass::epilogue::collective::detail::AuxLoadDescriptor"


@irdl_op_definition
class AuxStoreDescriptorOp(_AuxDescriptorOp):
    """`cutlass::epilogue::collective::detail::AuxStoreDescriptor`: how an auxiliary result is staged out."""

    name = "cutlass.aux_store_descriptor"
    CPP: ClassVar[str] = "cutlass::epilogue::collective::detail::AuxStoreDescriptor"


@irdl_op_definition
class Sm90AuxLoadOp(CppTypeOp):
    """`cutlass::epilogue::fusion::Sm90AuxLoad`: another full tensor, staged through shared memory like C."""

    name = "cutlass.sm90_aux_load"
    CPP: ClassVar[str] = FUSION + "Sm90AuxLoad"
    tensor = operand_def(TensorType)
    descriptor = operand_def(TYPE)
    assembly_format = "$tensor `via` $descriptor attr-dict `:` type($tensor)"

    MEMBERS: ClassVar[tuple[str, ...]] = ("Stages", "EpilogueTile", "Element", "Stride", "SmemLayoutAtom", "CopyOpS2R")

    def template_arguments(self) -> Sequence[Fragment]:
        return tuple(Member(self.descriptor, name) for name in self.MEMBERS)

    def arguments(self) -> Fragment:
        return Braces((Pointer(self.tensor), "{}", matrix_stride(self.tensor)))

    def checks(self) -> Sequence[Check]:
        return (matrix_check(self.tensor, 128 // tensor_type(self.tensor).element.bits),)


@irdl_op_definition
class Sm90AuxStoreOp(CppTypeOp):
    """`cutlass::epilogue::fusion::Sm90AuxStore`: stores its input as a further result and passes it on."""

    name = "cutlass.sm90_aux_store"
    CPP: ClassVar[str] = FUSION + "Sm90AuxStore"
    tensor = operand_def(TensorType)
    descriptor = operand_def(TYPE)
    assembly_format = "$tensor `via` $descriptor attr-dict `:` type($tensor)"

    MEMBERS: ClassVar[tuple[str, ...]] = ("Stages", "EpilogueTile", "Element", "Stride", "SmemLayoutAtom", "CopyOpR2S")

    def template_arguments(self) -> Sequence[Fragment]:
        members: list[Fragment] = [Member(self.descriptor, name) for name in self.MEMBERS]
        return (*members[:3], ROUND, *members[3:])

    def arguments(self) -> Fragment:
        return Braces((Pointer(self.tensor, mutable=True), matrix_stride(self.tensor)))

    def checks(self) -> Sequence[Check]:
        return (matrix_check(self.tensor, 128 // tensor_type(self.tensor).element.bits, written=True),)


@irdl_op_definition
class Sm90ComputeOp(CppTypeOp):
    """`cutlass::epilogue::fusion::Sm90Compute`: a functor over the fragments of its children."""

    name = "cutlass.sm90_compute"
    CPP: ClassVar[str] = FUSION + "Sm90Compute"
    functor = operand_def(TEMPLATE)
    element_output = prop_def(Attribute)
    element_compute = prop_def(Attribute)
    assembly_format = "$functor `output` `(` $element_output `)` `compute` `(` $element_compute `)` attr-dict"

    def template_arguments(self) -> Sequence[Fragment]:
        return (self.functor, cpp_element(self.element_output), cpp_element(self.element_compute), ROUND)


@irdl_op_definition
class Sm90EvtOp(CppTypeOp):
    """`cutlass::epilogue::fusion::Sm90EVT`: a node over its children."""

    name = "cutlass.sm90_evt"
    CPP: ClassVar[str] = FUSION + "Sm90EVT"
    node = operand_def(TYPE)
    children = var_operand_def(TYPE)
    assembly_format = "$node `(` $children `)` attr-dict"

    def template_arguments(self) -> Sequence[Fragment]:
        return (self.node, *self.children)

    def arguments(self) -> Fragment:
        return Braces((*(node_arguments(child) for child in self.children), node_arguments(self.node)))


@irdl_op_definition
class Sm90TopologicalVisitorOp(CppTypeOp):
    """`cutlass::epilogue::fusion::Sm90TopologicalVisitor`: a DAG of nodes in topological order, the last one the
    output.

    `edges` lists, node by node, how many inputs it has and their indices: `[0, 0, 2, 0, 1]` is two leaves and a node
    over both.
    """

    name = "cutlass.sm90_topological_visitor"
    CPP: ClassVar[str] = FUSION + "Sm90TopologicalVisitor"
    nodes = var_operand_def(TYPE)
    edges = prop_def(DenseArrayBase[I64])
    element_compute = prop_def(Attribute)
    assembly_format = "`(` $nodes `)` `edges` $edges `compute` `(` $element_compute `)` attr-dict"

    @property
    def inputs(self) -> tuple[tuple[int, ...], ...]:
        """The indices of each node's inputs."""
        flat = list(self.edges.get_values())
        found: list[tuple[int, ...]] = []
        while flat:
            count = flat.pop(0)
            found.append(tuple(flat[:count]))
            del flat[:count]
        return tuple(found)

    def template_arguments(self) -> Sequence[Fragment]:
        sequences = ", ".join(f"cute::seq<{', '.join(map(str, i))}>" for i in self.inputs)
        return (cpp_element(self.element_compute), f"cute::tuple<{sequences}>", *self.nodes)

    def arguments(self) -> Fragment:
        return Braces(tuple(node_arguments(node) for node in self.nodes))


def node_arguments(value: SSAValue) -> Fragment:
    """The run-time arguments of the node that defines a type."""
    owner = value.owner
    assert isinstance(owner, CppTypeOp)
    return owner.arguments()


def tensor_type(value: SSAValue) -> TensorType:
    """The type of a tensor value."""
    assert isinstance(value.type, TensorType)
    return value.type


VISITORS = (
    FunctorOp,
    FunctorYieldOp,
    Sm90AccFetchOp,
    Sm90SrcFetchOp,
    Sm90ScalarBroadcastOp,
    Sm90RowBroadcastOp,
    Sm90ColBroadcastOp,
    EpilogueDescriptorOp,
    AuxLoadDescriptorOp,
    AuxStoreDescriptorOp,
    Sm90AuxLoadOp,
    Sm90AuxStoreOp,
    Sm90ComputeOp,
    Sm90EvtOp,
    Sm90TopologicalVisitorOp,
)
