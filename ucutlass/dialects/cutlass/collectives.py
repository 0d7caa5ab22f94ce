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
    Check,
    CppTypeOp,
    Fragment,
    KernelTypeOp,
    Pointer,
    Render,
    SizeOf,
    cpp_element,
)
from ucutlass.dialects.cutlass.views import layout_tag, matrix_check, matrix_stride
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

    def checks(self) -> Sequence[Check]:
        source = () if self.c is None else (matrix_check(self.c, self.alignment_c.value.data),)
        return (*source, matrix_check(self.d, self.alignment_d.value.data, written=True))


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

    def checks(self) -> Sequence[Check]:
        return (
            matrix_check(self.a, self.alignment_a.value.data),
            matrix_check(self.b, self.alignment_b.value.data),
        )


@irdl_op_definition
class GemmUniversalOp(KernelTypeOp):
    """`cutlass::gemm::kernel::GemmUniversal`: the device kernel, and how its tiles are scheduled."""

    name = "cutlass.gemm_universal"
    CPP: ClassVar[str] = "cutlass::gemm::kernel::GemmUniversal"
    LAUNCHER: ClassVar[str] = "gemm"
    INCLUDES: ClassVar[tuple[str, ...]] = (
        "cutlass/epilogue/collective/collective_builder.hpp",
        "cutlass/gemm/collective/collective_builder.hpp",
        "cutlass/gemm/kernel/gemm_universal.hpp",
        "cutlass/gemm/kernel/tile_scheduler.hpp",
    )

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

    def host_lines(self, name: str, index: int, render: Render) -> list[str]:
        mainloop = self.mainloop.owner
        assert isinstance(mainloop, MainloopBuilderOp)
        a, b = tensor_type(mainloop.a), tensor_type(mainloop.b)
        m, n, k = a.dims[-2], b.dims[-1], a.dims[-1]
        batch = [a.dims[0]] if self.batched is not None else []
        extents = ", ".join(f"static_cast<int>({render(SizeOf(d))})" for d in (m, n, k, *batch))
        lines = [
            *(
                f'if (int status = call.extent("{d}", {render(SizeOf(d))})) return status;'
                for d in (m, n, k)
                if not d.is_static
            ),
            f"{name}.mode = cutlass::gemm::GemmUniversalMode::kGemm;",
            f"{name}.problem_shape = {{{extents}}};",
            f"{name}.mainloop = {render(node_arguments(self.mainloop))};",
            *(_empty_sum(mainloop, name, index, render) if not k.is_static or k.value == 0 else []),
            f"{name}.epilogue = {render(node_arguments(self.epilogue))};",
            f"{name}.hw_info = hardware;",
        ]
        if self.splits is not None:
            lines.append(f"{name}.scheduler.splits = {self.splits.value.data};")
        if self.swizzle is not None:
            lines.append(f"{name}.scheduler.max_swizzle_size = {self.swizzle.value.data};")
        if self.raster is not None:
            options = f"std::decay_t<decltype({name}.scheduler.raster_order)>"
            lines.append(f"{name}.scheduler.raster_order = {options}::{self.raster.data};")
        return lines


def _empty_sum(mainloop: MainloopBuilderOp, name: str, index: int, render: Render) -> list[str]:
    """A sum without terms has no tensor maps: one short slice of zeros in the workspace takes the operands' place."""
    a, b = tensor_type(mainloop.a), tensor_type(mainloop.b)
    extent = 128 // min(a.element.bits, b.element.bits)
    m, n, k = (render(SizeOf(d)) for d in (a.dims[-2], b.dims[-1], a.dims[-1]))

    def operand(type_: TensorType, rows: str) -> str:
        k_contiguous = type_.order[-1] == (type_.rank - 1 if type_ is a else type_.rank - 2)
        stride = f"{{{extent}, cute::_1{{}}, 0}}" if k_contiguous else f"{{cute::_1{{}}, {rows}, 0}}"
        return f"reinterpret_cast<{type_.element.cutlass} const*>(zeros_{index}), {stride}"

    row_bytes = extent * max(a.element.bits, b.element.bits) // 8
    return [
        f"if ({k} == 0) {{  // an empty sum: one short slice of zeros takes the operands' place",
        f"  zeros_{index} = workspace + workspace_bytes;",
        f"  zeros_bytes_{index} = static_cast<size_t>(({m} > {n} ? {m} : {n}) * {row_bytes});",
        f"  workspace_bytes += (zeros_bytes_{index} + 255) / 256 * 256;",
        f"  cute::get<2>({name}.problem_shape) = {extent};",
        f"  {name}.mainloop = {{{operand(a, m)}, {operand(b, n)}}};",
        "}",
    ]


COLLECTIVES = (ShapeOp, EpilogueBuilderOp, MainloopBuilderOp, GemmUniversalOp)
