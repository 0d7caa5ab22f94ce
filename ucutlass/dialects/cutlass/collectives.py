"""The collectives and the kernel of a CUTLASS 3.x GEMM."""

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import I64, DenseArrayBase, IntegerAttr, StringAttr, UnitAttr
from xdsl.ir import Attribute
from xdsl.irdl import (
    AttrSizedOperandSegments,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
)

from ucutlass.dialects.cutlass.core import (
    TYPE,
    Braces,
    Carveout,
    CppTypeOp,
    Fragment,
    Pointer,
    cpp_element,
)
from ucutlass.dialects.cutlass.views import layout_tag, matrix_stride
from ucutlass.dialects.cutlass.visitors import node_arguments, tensor_type
from ucutlass.dialects.ucutlass.types import TensorType


@irdl_op_definition
class ShapeOp(CppTypeOp):
    """`cute::Shape`: static extents."""

    name = "cutlass.shape"
    CPP: ClassVar[str] = "cute::Shape"
    extents = prop_def(DenseArrayBase[I64])
    assembly_format = "$extents attr-dict"

    def template_arguments(self) -> Sequence[Fragment]:
        return tuple(f"cute::Int<{e}>" for e in self.extents.get_values())


@irdl_op_definition
class EpilogueBuilderOp(CppTypeOp):
    """`cutlass::epilogue::collective::CollectiveBuilder`: the epilogue, its D operand and, where one is read, its C
    operand."""

    name = "cutlass.epilogue_builder"
    CPP: ClassVar[str] = "typename cutlass::epilogue::collective::CollectiveBuilder"
    MEMBER: ClassVar[str] = "::CollectiveOp"

    tile = operand_def(TYPE)
    cluster = operand_def(TYPE)
    d = operand_def(TensorType)
    c = opt_operand_def(TensorType)
    visitor = opt_operand_def(TYPE)
    arch = prop_def(StringAttr)
    accumulator = prop_def(Attribute)
    compute = prop_def(Attribute)
    alignment_c = prop_def(IntegerAttr[I64])
    alignment_d = prop_def(IntegerAttr[I64])
    schedule = prop_def(StringAttr)
    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())
    assembly_format = (
        "`tile` `(` $tile `)` `cluster` `(` $cluster `)` `d` `(` $d `:` type($d) `)` "
        "(`c` `(` $c^ `:` type($c) `)`)? (`visitor` `(` $visitor^ `)`)? attr-dict"
    )

    def template_arguments(self) -> Sequence[Fragment]:
        element_c = "void" if self.c is None else cpp_element(tensor_type(self.c).element_type)
        return (
            f"cutlass::arch::{self.arch.data}",
            "cutlass::arch::OpClassTensorOp",
            self.tile,
            self.cluster,
            "cutlass::epilogue::collective::EpilogueTileAuto",
            cpp_element(self.accumulator),
            cpp_element(self.compute),
            element_c,
            f"cutlass::layout::{layout_tag(self.d if self.c is None else self.c)}",
            str(self.alignment_c.value.data),
            cpp_element(tensor_type(self.d).element_type),
            f"cutlass::layout::{layout_tag(self.d)}",
            str(self.alignment_d.value.data),
            f"cutlass::epilogue::{self.schedule.data}",
            *(() if self.visitor is None else (self.visitor,)),
        )

    def arguments(self) -> Fragment:
        thread = "{}" if self.visitor is None else node_arguments(self.visitor)
        source = ("nullptr", "{}") if self.c is None else (Pointer(self.c), matrix_stride(self.c))
        return Braces((thread, *source, Pointer(self.d, mutable=True), matrix_stride(self.d)))


@irdl_op_definition
class MainloopBuilderOp(CppTypeOp):
    """`cutlass::gemm::collective::CollectiveBuilder`: the main loop over A `[M, K]` and B `[K, N]`."""

    name = "cutlass.mainloop_builder"
    CPP: ClassVar[str] = "typename cutlass::gemm::collective::CollectiveBuilder"
    MEMBER: ClassVar[str] = "::CollectiveOp"

    a = operand_def(TensorType)
    b = operand_def(TensorType)
    tile = operand_def(TYPE)
    cluster = operand_def(TYPE)
    epilogue = operand_def(TYPE)
    arch = prop_def(StringAttr)
    element_a = prop_def(Attribute)
    element_b = prop_def(Attribute)
    """Element types as stored. For f32 data CUTLASS multiplies in tf32, to which the copy engine rounds on the way."""
    accumulator = prop_def(Attribute)
    alignment_a = prop_def(IntegerAttr[I64])
    alignment_b = prop_def(IntegerAttr[I64])
    stages = opt_prop_def(IntegerAttr[I64])
    """Pipeline depth; where absent, CUTLASS fills the shared memory that the epilogue leaves."""
    schedule = prop_def(StringAttr)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = (
        "`a` `(` $a `:` type($a) `)` `b` `(` $b `:` type($b) `)` `tile` `(` $tile `)` `cluster` `(` $cluster `)` "
        "`epilogue` `(` $epilogue `)` attr-dict"
    )

    def template_arguments(self) -> Sequence[Fragment]:
        stages: Fragment = (
            f"cutlass::gemm::collective::StageCount<{self.stages.value.data}>"
            if self.stages is not None
            else Carveout(self.epilogue)
        )
        return (
            f"cutlass::arch::{self.arch.data}",
            "cutlass::arch::OpClassTensorOp",
            cpp_element(self.element_a),
            f"cutlass::layout::{layout_tag(self.a)}",
            str(self.alignment_a.value.data),
            cpp_element(self.element_b),
            f"cutlass::layout::{layout_tag(self.b)}",
            str(self.alignment_b.value.data),
            cpp_element(self.accumulator),
            self.tile,
            self.cluster,
            stages,
            f"cutlass::gemm::{self.schedule.data}",
        )

    def arguments(self) -> Fragment:
        return Braces((Pointer(self.a), matrix_stride(self.a), Pointer(self.b), matrix_stride(self.b, transposed=True)))


@irdl_op_definition
class GemmUniversalOp(CppTypeOp):
    """`cutlass::gemm::kernel::GemmUniversal`: the device kernel, and how its tiles are scheduled."""

    name = "cutlass.gemm_universal"
    CPP: ClassVar[str] = "cutlass::gemm::kernel::GemmUniversal"

    mainloop = operand_def(TYPE)
    epilogue = operand_def(TYPE)
    scheduler = prop_def(StringAttr)
    batched = opt_prop_def(UnitAttr)
    swapped = opt_prop_def(UnitAttr)
    """Whether A and B are the program's factors transposed and exchanged, so that every result is a transposed view.
    The C++ is the same; who reads the dialect learns in which order the program forms its sums."""
    splits = opt_prop_def(IntegerAttr[I64])
    raster = opt_prop_def(StringAttr)
    swizzle = opt_prop_def(IntegerAttr[I64])
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$mainloop `,` $epilogue attr-dict"

    def template_arguments(self) -> Sequence[Fragment]:
        extents = "int, int, int, int" if self.batched is not None else "int, int, int"
        return (f"cute::Shape<{extents}>", self.mainloop, self.epilogue, f"cutlass::gemm::{self.scheduler.data}")


COLLECTIVES = (ShapeOp, EpilogueBuilderOp, MainloopBuilderOp, GemmUniversalOp)
