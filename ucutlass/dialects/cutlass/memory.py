"""Our own memory-bound kernels: one operation a C++ template of `backend/support`, in namespace `support`.

An iteration space is a list of sizes. An access says where an operand is read or written in it: for each dimension of
the tensor an affine function of the coordinates, as the sizes `[constant, coefficient of coordinate 0, …]`.
"""

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import I64, ArrayAttr, BoolAttr, DenseArrayBase, IntegerAttr, StringAttr, UnitAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import IsolatedFromAbove, IsTerminator, Pure

from ucutlass.dialects.cutlass.core import (
    TYPE,
    Braces,
    Check,
    CppTypeOp,
    Data,
    Fragment,
    KernelTypeOp,
    Render,
    SizeOf,
    Spelled,
    Steps,
)
from ucutlass.dialects.cutlass.views import element_check
from ucutlass.dialects.ucutlass.types import DimsAttr, TensorType, element_of
from ucutlass.dims import Dim
from ucutlass.element_types import BOOL, TF32

SUPPORT = "support::"
FILES_IN_ORDER = ("device", "access", "nibbles", "reductions", "pool", "elementwise", "tiled", "rows", "scan")
"""Texts of `backend/support`, each after the ones that it needs."""
AccessAttr = ArrayAttr[DimsAttr]


def stored_spelling(attribute: Attribute) -> str:
    """The C++ type of an element in memory; any byte but 0 is a true boolean, and a `tf32` is a rounded `float`."""
    element = element_of(attribute)
    return SUPPORT + "Boolean" if element is BOOL else "float" if element is TF32 else element.cutlass


def tensor_type(value: SSAValue) -> TensorType:
    """The type of a tensor value."""
    assert isinstance(value.type, TensorType)
    return value.type


def is_packed(value: SSAValue) -> bool:
    """Whether two elements of a tensor share a byte."""
    return tensor_type(value).element.bits < 8


def access_attr(rows: Sequence[Sequence[Dim]]) -> AccessAttr:
    """The attribute of affine functions."""
    return ArrayAttr([DimsAttr(tuple(row)) for row in rows])


@irdl_op_definition
class MapFunctorOp(IRDLOperation):
    """A generated functor over one element: operations of the language on values in their compute types.

    What has dimensions has the type of a vector of one element here. Its static member `element` gives a tuple.
    """

    name = "cutlass.map_functor"
    fast = opt_prop_def(UnitAttr)
    """Whether the fast forms of the operations may be used: every result is stored in 16 bits or fewer."""
    body = region_def("single_block")
    result = result_def(TYPE)
    traits = traits_def(Pure(), IsolatedFromAbove())
    assembly_format = "(`fast` $fast^)? $body attr-dict"


@irdl_op_definition
class MapYieldOp(IRDLOperation):
    """Ends a functor: the values that it computes."""

    name = "cutlass.map_yield"
    values = var_operand_def(TensorType)
    traits = traits_def(IsTerminator())
    assembly_format = "$values attr-dict `:` type($values)"


class OperandOp(CppTypeOp):
    """What a kernel reads or writes at each element of its iteration space."""

    @property
    def files(self) -> tuple[str, ...]:
        """Texts of `backend/support` that define it, beside those that every kernel needs."""
        return ()

    def _operand(self, data: Fragment, index: Fragment, rows: Sequence["Row"]) -> Fragment:
        rank = len(rows[0].steps) if rows else 0
        return Braces(
            (
                data,
                index,
                Braces(tuple(row.base for row in rows) or ("0",)),
                Braces(tuple(row.extent for row in rows) or ("0",)),
                Braces(tuple(Braces(row.steps) for row in rows) if rank else ()),
            )
        )


class Row:
    """One affine function as an operand has it: its value at the origin, its bound, its steps along each dimension."""

    def __init__(self, base: Fragment, steps: Sequence[Fragment], extent: Fragment = "0") -> None:
        self.base = base
        self.steps = tuple(steps)
        self.extent = extent


def place_row(tensor: SSAValue, access: AccessAttr) -> Row:
    """Where an element of a tensor lies, in elements."""
    columns = list(zip(*(row.data for row in access), strict=True))
    if not columns:
        return Row("0", ())
    return Row(Steps(tensor, columns[0]), [Steps(tensor, column) for column in columns[1:]])


def number_row(function: DimsAttr, extent: Dim | None = None) -> Row:
    """An affine function as a number."""
    base, *steps = (SizeOf(d) for d in function.data)
    return Row(base, steps, "0" if extent is None else SizeOf(extent))


class _TensorOperandOp(OperandOp):
    tensor = operand_def(TensorType)
    access = prop_def(ArrayAttr[DimsAttr])
    rank = prop_def(IntegerAttr[I64])
    """Dimensions of the iteration space, which a tensor without dimensions does not show."""
    flat = opt_prop_def(UnitAttr)
    """Whether the only function counts the elements of a tensor without gaps, in row-major order."""

    def _place(self) -> Row:
        if self.flat is not None:
            return number_row(self.access.data[0])
        row = place_row(self.tensor, self.access)
        return row if self.access.data else Row("0", ["0"] * self.rank.value.data)

    def _read_checks(self) -> Sequence[Check]:
        check = element_check(self.tensor, written=False)
        if self.flat is None:
            return (check,)
        return (check, Check(self.tensor, "dense", (str(tensor_type(self.tensor).rank),)))


@irdl_op_definition
class LoadOp(_TensorOperandOp):
    """`support::Load`: a tensor that is read."""

    name = "cutlass.load"
    CPP: ClassVar[str] = SUPPORT + "Load"
    compute = prop_def(Attribute)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$tensor attr-dict `:` type($tensor)"

    @property
    def files(self) -> tuple[str, ...]:
        return ("nibbles",) if is_packed(self.tensor) else ()

    @property
    def template(self) -> str:
        return SUPPORT + ("NibbleLoad" if is_packed(self.tensor) else "Load")

    def template_arguments(self) -> Sequence[Fragment]:
        element = tensor_type(self.tensor).element
        compute = element_of(self.compute).cutlass
        if is_packed(self.tensor):
            return ("true" if element.kind == "sint" else "false", compute)
        return (stored_spelling(tensor_type(self.tensor).element_type), compute)

    def arguments(self) -> Fragment:
        return self._operand(Data(self.tensor), "nullptr", [self._place()])

    def checks(self) -> Sequence[Check]:
        return self._read_checks()


@irdl_op_definition
class BoundedLoadOp(_TensorOperandOp):
    """`support::BoundedLoad`: a tensor that is read where each of some functions lies within its bounds, else 0."""

    name = "cutlass.bounded_load"
    CPP: ClassVar[str] = SUPPORT + "BoundedLoad"
    compute = prop_def(Attribute)
    bounds = prop_def(ArrayAttr[DimsAttr])
    extents = prop_def(DimsAttr)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$tensor attr-dict `:` type($tensor)"

    def template_arguments(self) -> Sequence[Fragment]:
        element = stored_spelling(tensor_type(self.tensor).element_type)
        return (element, element_of(self.compute).cutlass, str(len(self.bounds)))

    def arguments(self) -> Fragment:
        bounds = [number_row(b, e) for b, e in zip(self.bounds, self.extents.data, strict=True)]
        return self._operand(Data(self.tensor), "nullptr", [self._place(), *bounds])

    def checks(self) -> Sequence[Check]:
        return self._read_checks()


@irdl_op_definition
class GatheredLoadOp(_TensorOperandOp):
    """`support::GatheredLoad`: a tensor that is read where another one says."""

    name = "cutlass.gathered_load"
    CPP: ClassVar[str] = SUPPORT + "GatheredLoad"
    tensor = operand_def(TensorType)
    index = operand_def(TensorType)
    compute = prop_def(Attribute)
    index_access = prop_def(ArrayAttr[DimsAttr])
    axis = prop_def(IntegerAttr[I64])
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$tensor `,` $index attr-dict `:` type($tensor) `,` type($index)"

    def template_arguments(self) -> Sequence[Fragment]:
        spellings = [stored_spelling(tensor_type(v).element_type) for v in (self.tensor, self.index)]
        return (spellings[0], element_of(self.compute).cutlass, spellings[1])

    def arguments(self) -> Fragment:
        dims = tensor_type(self.tensor).dims
        axis = self.axis.value.data
        along = tuple(Dim.of(int(i == axis)) for i in range(len(dims)))
        place, index = self._place(), place_row(self.index, self.index_access)
        place.extent, index.extent = Steps(self.tensor, along), SizeOf(dims[axis])
        return self._operand(Data(self.tensor), Data(self.index), [place, index])

    def checks(self) -> Sequence[Check]:
        return (element_check(self.tensor, written=False), element_check(self.index, written=False))


@irdl_op_definition
class PooledLoadOp(_TensorOperandOp):
    """`support::PooledLoad`: a tensor of which the largest value or the average of a window is read.

    The windows slide over at most three dimensions; where there are fewer, the first ones are of size 1.
    """

    name = "cutlass.pooled_load"
    CPP: ClassVar[str] = SUPPORT + "PooledLoad"
    compute = prop_def(Attribute)
    kind = prop_def(StringAttr)
    starts = prop_def(ArrayAttr[DimsAttr])
    """Where the windows begin, as affine functions; for averages to a given size, the number of the window."""
    windows = prop_def(ArrayAttr[DimsAttr])
    """For each windowed dimension of the tensor: its number, taps, dilation, padding."""
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$tensor attr-dict `:` type($tensor)"

    WINDOWS: ClassVar[int] = 3

    @property
    def files(self) -> tuple[str, ...]:
        return ("reductions", "pool")

    def template_arguments(self) -> Sequence[Fragment]:
        kernels = [window.data[1] for window in self.windows]
        known = [str(k.value) if k.is_static and self.kind.data != "kAverageTo" else "0" for k in kernels]
        return (
            stored_spelling(tensor_type(self.tensor).element_type),
            element_of(self.compute).cutlass,
            f"{SUPPORT}Pooling::{self.kind.data}",
            *["1"] * (self.WINDOWS - len(known)),
            *known,
        )

    def arguments(self) -> Fragment:
        missing = self.WINDOWS - len(self.windows)
        rank = self.rank.value.data
        starts = [Row("0", ["0"] * rank)] * missing + [number_row(s) for s in self.starts]
        windows: list[Fragment] = [Braces(("0", "1", "1", "1", "0"))] * missing
        dims = tensor_type(self.tensor).dims
        for window in self.windows:
            dim, kernel, dilation, padding = window.data
            along = tuple(Dim.of(int(i == dim.value)) for i in range(len(dims)))
            parts = (Steps(self.tensor, along), *(SizeOf(d) for d in (dims[dim.value], kernel, dilation, padding)))
            windows.append(Braces(parts))
        plain = self._operand(Data(self.tensor), "nullptr", [self._place(), *starts])
        return Braces((plain, Braces(tuple(windows))))

    def checks(self) -> Sequence[Check]:
        return self._read_checks()


@irdl_op_definition
class CoordinateOp(OperandOp):
    """`support::Coordinate`: an affine function of the coordinates as a value."""

    name = "cutlass.coordinate"
    CPP: ClassVar[str] = SUPPORT + "Coordinate"
    place = prop_def(DimsAttr)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "attr-dict"

    def template_arguments(self) -> Sequence[Fragment]:
        return ("int64_t",)

    def arguments(self) -> Fragment:
        return self._operand("nullptr", "nullptr", [number_row(self.place)])


@irdl_op_definition
class SizeOp(OperandOp):
    """`support::Size`: a size as a value."""

    name = "cutlass.size"
    CPP: ClassVar[str] = SUPPORT + "Size"
    size = prop_def(DimsAttr)
    compute = prop_def(Attribute)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "attr-dict"

    def template_arguments(self) -> Sequence[Fragment]:
        return (element_of(self.compute).cutlass,)

    def arguments(self) -> Fragment:
        return Braces(("nullptr", "nullptr", Braces((SizeOf(self.size.data[0]),)), Braces(("0",)), Braces(())))


@irdl_op_definition
class StoreOp(_TensorOperandOp):
    """`support::Store`: a tensor that is written."""

    name = "cutlass.store"
    CPP: ClassVar[str] = SUPPORT + "Store"
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$tensor attr-dict `:` type($tensor)"

    @property
    def files(self) -> tuple[str, ...]:
        return ("nibbles",) if is_packed(self.tensor) else ()

    @property
    def template(self) -> str:
        return SUPPORT + ("NibbleStore" if is_packed(self.tensor) else "Store")

    def template_arguments(self) -> Sequence[Fragment]:
        return () if is_packed(self.tensor) else (stored_spelling(tensor_type(self.tensor).element_type),)

    def arguments(self) -> Fragment:
        return self._operand(Data(self.tensor), "nullptr", [self._place()])

    def checks(self) -> Sequence[Check]:
        return (element_check(self.tensor, written=True),)


def operand_list(values: Sequence[SSAValue]) -> Fragment:
    """`support::List<…>`."""
    return Spelled(SUPPORT + "List", tuple(values))


def index_list(indices: Sequence[int]) -> str:
    """`support::Indices<…>`."""
    return f"{SUPPORT}Indices<{', '.join(map(str, indices))}>"


class MemoryKernelOp(KernelTypeOp):
    """A kernel of ours."""

    LAUNCHER: ClassVar[str] = "memory"
    INCLUDES: ClassVar[tuple[str, ...]] = (
        "cooperative_groups.h",
        "cute/algorithm/tuple_algorithms.hpp",
        "cute/container/tuple.hpp",
        "cutlass/array.h",
        "cutlass/fast_math.h",
        "cutlass/numeric_conversion.h",
        "cutlass/numeric_types.h",
    )

    OWN_FILES: ClassVar[tuple[str, ...]]
    """Texts that define this kernel, beside those of its operands."""

    @property
    def support_files(self) -> tuple[str, ...]:
        owners = [operand.owner for operand in self.operands]
        files = {file for owner in owners if isinstance(owner, OperandOp) for file in owner.files}
        files |= {"device", "access", *self.OWN_FILES}
        return tuple(file for file in FILES_IN_ORDER if file in files)

    def _size_lines(self, name: str, dims: DimsAttr, render: Render) -> list[str]:
        return [f"{name}[{i}] = {render(SizeOf(d))};" for i, d in enumerate(dims.data)]

    def _operand_lines(self, name: str, values: Sequence[SSAValue], render: Render) -> list[str]:
        lines: list[str] = []
        for i, value in enumerate(values):
            owner = value.owner
            assert isinstance(owner, OperandOp)
            lines.append(f"cute::get<{i}>({name}) = {render(owner.arguments())};")
        return lines


@irdl_op_definition
class ElementwiseKernelOp(MemoryKernelOp):
    """`support::ElementwiseKernel`: loads, computes and stores each element of an iteration space once."""

    name = "cutlass.elementwise_kernel"
    CPP: ClassVar[str] = SUPPORT + "ElementwiseKernel"
    OWN_FILES: ClassVar[tuple[str, ...]] = ("elementwise",)

    functor = operand_def(TYPE)
    loads = var_operand_def(TYPE)
    stores = var_operand_def(TYPE)
    sizes = prop_def(DimsAttr)
    width = prop_def(IntegerAttr[I64])
    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())
    assembly_format = "$functor `loads` `(` $loads `)` `stores` `(` $stores `)` attr-dict"

    def template_arguments(self) -> Sequence[Fragment]:
        return (
            str(len(self.sizes.data)),
            str(self.width.value.data),
            self.functor,
            operand_list(self.loads),
            operand_list(self.stores),
        )

    def host_lines(self, name: str, index: int, render: Render) -> list[str]:
        return [
            *self._size_lines(f"{name}.sizes", self.sizes, render),
            *self._operand_lines(f"{name}.loads", self.loads, render),
            *self._operand_lines(f"{name}.stores", self.stores, render),
            f"{name}.hw_info = hardware;",
        ]


@irdl_op_definition
class TiledKernelOp(MemoryKernelOp):
    """`support::TiledKernel`: an element-wise kernel in which operands that lie across the result go through tiles."""

    name = "cutlass.tiled_kernel"
    CPP: ClassVar[str] = SUPPORT + "TiledKernel"
    OWN_FILES: ClassVar[tuple[str, ...]] = ("elementwise", "tiled")

    functor = operand_def(TYPE)
    loads = var_operand_def(TYPE)
    stores = var_operand_def(TYPE)
    sizes = prop_def(DimsAttr)
    width = prop_def(IntegerAttr[I64])
    through = prop_def(DenseArrayBase[I64])
    """Numbers of the loads that go through tiles."""
    key = prop_def(IntegerAttr[I64])
    """Row of the table of loads that tells the dimension along which these have neighbours."""
    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())
    assembly_format = "$functor `loads` `(` $loads `)` `stores` `(` $stores `)` attr-dict"

    def template_arguments(self) -> Sequence[Fragment]:
        return (
            str(len(self.sizes.data)),
            str(self.width.value.data),
            self.functor,
            operand_list(self.loads),
            operand_list(self.stores),
            index_list(list(self.through.get_values())),
            str(self.key.value.data),
        )

    def host_lines(self, name: str, index: int, render: Render) -> list[str]:
        return [
            *self._size_lines(f"{name}.sizes", self.sizes, render),
            *self._operand_lines(f"{name}.loads", self.loads, render),
            *self._operand_lines(f"{name}.stores", self.stores, render),
            f"{name}.hw_info = hardware;",
        ]


@irdl_op_definition
class StageOp(CppTypeOp):
    """`support::Stage`: one reduction over a row, of what a functor gives for the values with these numbers."""

    name = "cutlass.stage"
    CPP: ClassVar[str] = SUPPORT + "Stage"
    functor = operand_def(TYPE)
    reductions = prop_def(ArrayAttr[StringAttr])
    computes = prop_def(ArrayAttr[Attribute])
    inputs = prop_def(DenseArrayBase[I64])
    outputs = prop_def(DenseArrayBase[I64])
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$functor attr-dict"

    def template_arguments(self) -> Sequence[Fragment]:
        parts = [
            f"{SUPPORT}{kind.data}<{element_of(compute).cutlass}>"
            for kind, compute in zip(self.reductions, self.computes, strict=True)
        ]
        reduction = parts[0] if len(parts) == 1 else f"{SUPPORT}Several<{', '.join(parts)}>"
        return (
            reduction,
            self.functor,
            index_list(list(self.inputs.get_values())),
            index_list(list(self.outputs.get_values())),
        )


@irdl_op_definition
class MapOp(CppTypeOp):
    """`support::Map`: what is stored, a functor of the values with these numbers."""

    name = "cutlass.map"
    CPP: ClassVar[str] = SUPPORT + "Map"
    functor = operand_def(TYPE)
    inputs = prop_def(DenseArrayBase[I64])
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$functor attr-dict"

    def template_arguments(self) -> Sequence[Fragment]:
        return (self.functor, index_list(list(self.inputs.get_values())))


@irdl_op_definition
class RowKernelOp(MemoryKernelOp):
    """`support::RowKernel`: reduces rows, and stores what follows along each row and once a row.

    Values are numbered: loads, then row loads, then results of the stages.
    """

    name = "cutlass.row_kernel"
    CPP: ClassVar[str] = SUPPORT + "RowKernel"
    OWN_FILES: ClassVar[tuple[str, ...]] = ("reductions", "rows")
    REGISTERS: ClassVar[int] = 1
    SHARED: ClassVar[int] = 2
    STREAMED: ClassVar[int] = 4

    loads = var_operand_def(TYPE)
    row_loads = var_operand_def(TYPE)
    resident = var_operand_def(TYPE)
    streamed = var_operand_def(TYPE)
    map = opt_operand_def(TYPE)
    stores = var_operand_def(TYPE)
    row_map = opt_operand_def(TYPE)
    row_stores = var_operand_def(TYPE)
    outer = prop_def(DimsAttr)
    inner = prop_def(DimsAttr)
    width = prop_def(IntegerAttr[I64])
    columns = prop_def(BoolAttr)
    """Whether neighbours in memory lie in different rows."""
    residences = prop_def(IntegerAttr[I64])
    """How a row may be kept between passes: in registers (1), in shared memory (2), not at all (4)."""
    key = prop_def(IntegerAttr[I64])
    """Row of the table of loads after which dimensions are ordered."""
    kept = prop_def(DenseArrayBase[I64])
    """Numbers of the loads that are kept."""
    result_elements = prop_def(ArrayAttr[Attribute])
    """Compute types of the stages' results."""
    shared = prop_def(IntegerAttr[I64])
    """Bytes of shared memory that a block may have."""
    cluster = prop_def(IntegerAttr[I64])
    """The most blocks that may share a row."""
    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())
    assembly_format = (
        "`loads` `(` $loads `)` `row_loads` `(` $row_loads `)` `resident` `(` $resident `)` "
        "`streamed` `(` $streamed `)` (`map` `(` $map^ `)`)? `stores` `(` $stores `)` "
        "(`row_map` `(` $row_map^ `)`)? `row_stores` `(` $row_stores `)` attr-dict"
    )

    def template_arguments(self) -> Sequence[Fragment]:
        results = ", ".join(element_of(r).cutlass for r in self.result_elements)
        none = SUPPORT + "NoMap"
        return (
            str(len(self.outer.data)),
            str(len(self.inner.data)),
            str(self.width.value.data),
            "true" if self.columns.value.data else "false",
            str(self.residences.value.data),
            str(self.shared.value.data),
            str(self.cluster.value.data),
            str(self.key.value.data),
            operand_list(self.loads),
            operand_list(self.row_loads),
            f"cute::tuple<{results}>",
            index_list(list(self.kept.get_values())),
            Spelled(SUPPORT + "Stages", tuple(self.resident)),
            Spelled(SUPPORT + "Stages", tuple(self.streamed)),
            none if self.map is None else self.map,
            operand_list(self.stores),
            none if self.row_map is None else self.row_map,
            operand_list(self.row_stores),
        )

    def host_lines(self, name: str, index: int, render: Render) -> list[str]:
        return [
            *self._size_lines(f"{name}.outer_sizes", self.outer, render),
            *self._size_lines(f"{name}.inner_sizes", self.inner, render),
            *self._operand_lines(f"{name}.loads", self.loads, render),
            *self._operand_lines(f"{name}.stores", self.stores, render),
            *self._operand_lines(f"{name}.row_loads", self.row_loads, render),
            *self._operand_lines(f"{name}.row_stores", self.row_stores, render),
            f"{name}.hw_info = hardware;",
        ]


@irdl_op_definition
class ScanKernelOp(MemoryKernelOp):
    """`support::ScanKernel`: accumulates along the last dimension of the iteration space."""

    name = "cutlass.scan_kernel"
    CPP: ClassVar[str] = SUPPORT + "ScanKernel"
    OWN_FILES: ClassVar[tuple[str, ...]] = ("reductions", "scan")

    accumulated = operand_def(TYPE)
    map = operand_def(TYPE)
    loads = var_operand_def(TYPE)
    stores = var_operand_def(TYPE)
    sizes = prop_def(DimsAttr)
    """Those that stay, then the one that is scanned."""
    width = prop_def(IntegerAttr[I64])
    columns = prop_def(BoolAttr)
    """Whether neighbours in memory lie in different rows."""
    key = prop_def(IntegerAttr[I64])
    """Row of the table of loads after which dimensions are ordered."""
    kind = prop_def(StringAttr)
    compute = prop_def(Attribute)
    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())
    assembly_format = "$accumulated `map` `(` $map `)` `loads` `(` $loads `)` `stores` `(` $stores `)` attr-dict"

    def template_arguments(self) -> Sequence[Fragment]:
        return (
            str(len(self.sizes.data) - 1),
            str(self.width.value.data),
            "true" if self.columns.value.data else "false",
            str(self.key.value.data),
            f"{SUPPORT}{self.kind.data}<{element_of(self.compute).cutlass}>",
            operand_list(self.loads),
            self.accumulated,
            self.map,
            operand_list(self.stores),
        )

    def host_lines(self, name: str, index: int, render: Render) -> list[str]:
        *outer, length = self.sizes.data
        return [
            *self._size_lines(f"{name}.outer_sizes", DimsAttr(tuple(outer)), render),
            f"{name}.length = {render(SizeOf(length))};",
            *self._operand_lines(f"{name}.loads", self.loads, render),
            *self._operand_lines(f"{name}.stores", self.stores, render),
            f"{name}.hw_info = hardware;",
        ]


MEMORY = (
    MapFunctorOp,
    MapYieldOp,
    LoadOp,
    BoundedLoadOp,
    GatheredLoadOp,
    PooledLoadOp,
    CoordinateOp,
    SizeOp,
    StoreOp,
    ElementwiseKernelOp,
    TiledKernelOp,
    StageOp,
    MapOp,
    RowKernelOp,
    ScanKernelOp,
)
