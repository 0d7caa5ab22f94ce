"""A GEMM group to a CUTLASS 3.x kernel for sm_90a: visitor tree, epilogue and mainloop builders, kernel.

The configuration is complete and verified: this module spells it, and decides nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import IntegerAttr, StringAttr, UnitAttr, i64
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from ucutlass.dialects.cutlass.collectives import EpilogueBuilderOp, GemmUniversalOp, MainloopBuilderOp, ShapeOp
from ucutlass.dialects.cutlass.core import CppType, int_array
from ucutlass.dialects.cutlass.program import DeviceKernelOp, EndOp
from ucutlass.dialects.cutlass.views import ViewOp, layout_tag
from ucutlass.dialects.cutlass.visitors import (
    AuxLoadDescriptorOp,
    AuxStoreDescriptorOp,
    EpilogueDescriptorOp,
    Sm90AccFetchOp,
    Sm90AuxLoadOp,
    Sm90AuxStoreOp,
    Sm90ColBroadcastOp,
    Sm90ComputeOp,
    Sm90EvtOp,
    Sm90RowBroadcastOp,
    Sm90ScalarBroadcastOp,
    Sm90SrcFetchOp,
    Sm90TopologicalVisitorOp,
)
from ucutlass.dialects.ucutlass.attributes import ConfigAttr
from ucutlass.dialects.ucutlass.kernel import set_exact_name
from ucutlass.dialects.ucutlass.types import MLIR_ELEMENT, TensorType
from ucutlass.passes.lowering.contraction import Contraction, Leaf, swapped_view
from ucutlass.passes.lowering.functors import FunctorPlan, allows_fast_forms, build_functor, compute_type, plan_functors
from ucutlass.passes.lowering.sm90_names import epilogue_tag, kernel_tag

CPP = CppType()


@dataclass
class Sm90GemmLowering:
    """Builds the body of one device kernel."""

    contraction: Contraction
    kernel: DeviceKernelOp
    config: ConfigAttr
    tensors: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """Values of the group that are tensors in memory, to what stands for them in the kernel."""

    def build(self) -> None:
        """Fill the kernel's body."""
        group = self.contraction.fused.body.block
        for argument, tensor in zip(_tensor_arguments(group.args), self.kernel.inputs, strict=True):
            self.tensors[argument] = tensor
        a, b = self._tensor(self.contraction.a), self._tensor(self.contraction.b)
        main = self.contraction.main_output
        outputs = [
            self._oriented(self._transposed(output) if transposed else output)
            for output, transposed in zip(self.kernel.outputs, self.contraction.transposed, strict=True)
        ]
        if self._swapped:
            a, b = self._transposed(b), self._transposed(a)
        self.tile = self._shape("tile_shape", self._ints("tile"))
        self.cluster = self._shape("cluster_shape", (*self._ints("cluster"), 1)[:3])
        source = self.contraction.source_leaf
        c = self._oriented(self._tensor(source.value)) if source is not None else None
        visitor = self._visitor(outputs, main)
        epilogue = self._epilogue(outputs[main], c, visitor)
        mainloop = self._mainloop(a, b, epilogue)
        universal = self._kernel(mainloop, epilogue)
        self._add(EndOp.build(operands=[universal]))

    @property
    def _swapped(self) -> bool:
        return self.config.setting("swap_ab") is not None

    @property
    def _schedule(self) -> str:
        word = self.config.word("schedule")
        assert word is not None
        return word

    @property
    def _epilogue_word(self) -> str:
        return self.config.word("epilogue") or "tma"

    def _ints(self, setter: str) -> tuple[int, ...]:
        values = self.config.ints(setter)
        assert values is not None
        return values

    def _alignment(self, operand: str) -> IntegerAttr:
        value = self.config.setting("alignment")
        assert value is not None
        chosen = dict(zip("abcd", value, strict=True))[operand]
        assert isinstance(chosen, int)
        return IntegerAttr(chosen, i64)

    def _add(self, op: Operation, name: str | None = None) -> SSAValue:
        op.location = self.contraction.root.location
        self.kernel.body.block.add_op(op)
        if name is not None:
            set_exact_name(op.results[0], name)
        return op.results[0] if op.results else self.kernel.body.block.args[0]

    def _shape(self, name: str, extents: Sequence[int]) -> SSAValue:
        return self._add(ShapeOp.build(properties={"extents": int_array(extents)}, result_types=[CPP]), name)

    def _tensor(self, value: SSAValue) -> SSAValue:
        """What stands for a tensor of the group: a kernel argument, or a transposed view of one."""
        if value not in self.tensors:
            owner = value.owner
            assert isinstance(owner, Operation)
            self.tensors[value] = self._transposed(self._tensor(owner.operands[0]))
        return self.tensors[value]

    def _transposed(self, value: SSAValue) -> SSAValue:
        type_ = value.type
        assert isinstance(type_, TensorType)
        order = (*range(type_.rank - 2), type_.rank - 1, type_.rank - 2)
        result = swapped_view(type_)
        view = ViewOp.build(operands=[value], properties={"order": int_array(order)}, result_types=[result])
        return self._add(view, f"{value.name_hint}_t" if value.name_hint is not None else None)

    def _oriented(self, value: SSAValue) -> SSAValue:
        """A matrix of the result's shape, as the kernel that computes the transpose sees it."""
        return self._transposed(value) if self._swapped else value

    # The visitor tree

    def _visitor(self, outputs: Sequence[SSAValue], main: int) -> SSAValue | None:
        """The tree that computes and stores the results; None where the accumulator is stored as it is."""
        compute = compute_type(self.contraction.result)
        plans = plan_functors(self.contraction.stored, self.contraction.epilogue)
        stored = self.contraction.stored
        if not plans and len(stored) == 1:
            return None
        leaves = self._leaf_nodes(outputs[main], compute)
        if len(stored) == 1:
            node = self._compute(plans[0], compute, outputs[main])
            children = [leaves[value] for value in plans[0].inputs]
            return self._add(Sm90EvtOp.build(operands=[node, children], result_types=[CPP]), "visitor")
        return self._topological(plans, leaves, outputs, main, compute)

    def _topological(
        self,
        plans: Sequence[FunctorPlan],
        leaves: dict[SSAValue, SSAValue],
        outputs: Sequence[SSAValue],
        main: int,
        compute: Attribute,
    ) -> SSAValue:
        """Several results: every node in order, each functor followed by the store of its value, the main one last."""
        nodes: list[SSAValue] = list(leaves.values())
        edges: list[tuple[int, ...]] = [()] * len(nodes)
        index = {value: i for i, value in enumerate(leaves)}
        stored = self.contraction.stored

        def append(node: SSAValue, inputs: tuple[int, ...]) -> int:
            nodes.append(node)
            edges.append(inputs)
            return len(nodes) - 1

        def store(value: SSAValue) -> None:
            for i, other in enumerate(stored):
                if other is value and i != main:
                    index[value] = append(self._aux_store(outputs[i], outputs[main]), (index[value],))

        store(self.contraction.result)
        for plan in plans:
            only_main = plan.value is stored[main] and stored.count(plan.value) == 1
            node = self._compute(plan, compute, outputs[main] if only_main else None)
            index[plan.value] = append(node, tuple(index[value] for value in plan.inputs))
            store(plan.value)
        flat = [entry for inputs in edges for entry in (len(inputs), *inputs)]
        properties: dict[str, Attribute] = {"edges": int_array(flat), "element_compute": compute}
        return self._add(
            Sm90TopologicalVisitorOp.build(operands=[nodes], properties=properties, result_types=[CPP]), "visitor"
        )

    def _compute(self, plan: FunctorPlan, compute: Attribute, output: SSAValue | None) -> SSAValue:
        """The node of one functor; the one that feeds the main store converts to the type stored."""
        fast = allows_fast_forms([o.type for o in self.contraction.fused.outputs])
        functor = build_functor(plan, compute, fast, self.contraction.space.facts)
        name = plan.value.name_hint or "value"
        template = self._add(functor, f"{name}_fn")
        element = compute if output is None else _element(output)
        properties: dict[str, Attribute] = {"element_output": element, "element_compute": compute}
        node = Sm90ComputeOp.build(operands=[template], properties=properties, result_types=[CPP])
        return self._add(node, f"{name}_compute")

    def _leaf_nodes(self, d: SSAValue, compute: Attribute) -> dict[SSAValue, SSAValue]:
        nodes = {self.contraction.result: self._add(Sm90AccFetchOp.build(result_types=[CPP]), "acc")}
        for leaf in self.contraction.leaves:
            nodes[leaf.value] = self._leaf_node(leaf, d, compute)
        return nodes

    def _leaf_node(self, leaf: Leaf, d: SSAValue, compute: Attribute) -> SSAValue:
        tensor = self._tensor(leaf.value)
        name = f"{leaf.value.name_hint or 'leaf'}_leaf"
        type_ = tensor.type
        assert isinstance(type_, TensorType)
        kind = leaf.kind
        if self._swapped:
            kind = {"row": "column", "column": "row"}.get(kind, kind)
        match kind:
            case "scalar":
                op = Sm90ScalarBroadcastOp.build(operands=[tensor], result_types=[CPP])
            case "row" | "column":
                node = Sm90RowBroadcastOp if kind == "row" else Sm90ColBroadcastOp
                op = node.build(operands=[tensor, self.tile], properties={"compute": compute}, result_types=[CPP])
            case _ if leaf is self.contraction.source_leaf:
                op = Sm90SrcFetchOp.build(properties={"element": type_.element_type}, result_types=[CPP])
            case _:
                oriented = self._oriented(tensor)
                properties: dict[str, Attribute] = {
                    "element": type_.element_type,
                    "layout": StringAttr(layout_tag(oriented)),
                }
                descriptor = self._add(
                    AuxLoadDescriptorOp.build(
                        operands=[self._descriptor(d)], properties=properties, result_types=[CPP]
                    ),
                    f"{name}_descriptor",
                )
                op = Sm90AuxLoadOp.build(operands=[oriented, descriptor], result_types=[CPP])
        return self._add(op, name)

    def _aux_store(self, output: SSAValue, d: SSAValue) -> SSAValue:
        type_ = output.type
        assert isinstance(type_, TensorType)
        name = f"{output.name_hint or 'output'}_store"
        properties: dict[str, Attribute] = {
            "element": type_.element_type,
            "layout": StringAttr(layout_tag(output)),
        }
        descriptor = self._add(
            AuxStoreDescriptorOp.build(operands=[self._descriptor(d)], properties=properties, result_types=[CPP]),
            f"{name}_descriptor",
        )
        return self._add(Sm90AuxStoreOp.build(operands=[output, descriptor], result_types=[CPP]), name)

    def _descriptor(self, d: SSAValue) -> SSAValue:
        found = next((op for op in self.kernel.body.block.ops if isinstance(op, EpilogueDescriptorOp)), None)
        if found is not None:
            return found.result
        source = self.contraction.source_leaf
        element_d = _element(d)
        properties: dict[str, Attribute] = {
            "element_c": _element(source.value) if source is not None else element_d,
            "element_d": element_d,
            "schedule": StringAttr(epilogue_tag(self._schedule, "tma")),
        }
        op = EpilogueDescriptorOp.build(operands=[self.tile], properties=properties, result_types=[CPP])
        return self._add(op, "epilogue_descriptor")

    # The collectives

    def _epilogue(self, d: SSAValue, c: SSAValue | None, visitor: SSAValue | None) -> SSAValue:
        properties: dict[str, Attribute] = {
            "arch": StringAttr("Sm90"),
            "accumulator": self._accumulator,
            "compute": compute_type(self.contraction.result),
            "alignment_c": self._alignment("c"),
            "alignment_d": self._alignment("d"),
            "schedule": StringAttr(epilogue_tag(self._schedule, self._epilogue_word)),
        }
        op = EpilogueBuilderOp.build(
            operands=[self.tile, self.cluster, d, c, visitor], properties=properties, result_types=[CPP]
        )
        return self._add(op, "epilogue")

    @property
    def _accumulator(self) -> Attribute:
        word = self.config.word("acc")
        assert word is not None
        return MLIR_ELEMENT[word]

    def _mainloop(self, a: SSAValue, b: SSAValue, epilogue: SSAValue) -> SSAValue:
        stages = self.config.ints("stages")
        properties: dict[str, Attribute] = {
            "arch": StringAttr("Sm90"),
            "element_a": _element(a),
            "element_b": _element(b),
            "accumulator": self._accumulator,
            "alignment_a": self._alignment("a"),
            "alignment_b": self._alignment("b"),
            "schedule": StringAttr(kernel_tag(self._schedule)),
        }
        if stages is not None:
            properties["stages"] = IntegerAttr(stages[0], i64)
        op = MainloopBuilderOp.build(
            operands=[a, b, self.tile, self.cluster, epilogue], properties=properties, result_types=[CPP]
        )
        return self._add(op, "mainloop")

    def _kernel(self, mainloop: SSAValue, epilogue: SSAValue) -> SSAValue:
        stream_k = self.config.word("scheduler") == "stream_k"
        (splits,) = self.config.ints("split_k") or (1,)
        properties: dict[str, Attribute] = {
            "scheduler": StringAttr("StreamKScheduler" if stream_k or splits > 1 else "PersistentScheduler")
        }
        if splits > 1:
            properties["splits"] = IntegerAttr(splits, i64)
        raster = self.config.setting("raster")
        if raster is not None and raster[0] in ("along_m", "along_n"):
            properties["raster"] = StringAttr("AlongM" if raster[0] == "along_m" else "AlongN")
        if raster is not None and isinstance(raster[1], int):
            properties["swizzle"] = IntegerAttr(raster[1], i64)
        result = self.contraction.result.type
        assert isinstance(result, TensorType)
        if result.rank == 3:
            properties["batched"] = UnitAttr()
        if self._swapped:
            properties["swapped"] = UnitAttr()
        op = GemmUniversalOp.build(operands=[mainloop, epilogue], properties=properties, result_types=[CPP])
        return self._add(op, "kernel")


def _tensor_arguments(arguments: Sequence[BlockArgument]) -> list[BlockArgument]:
    return [argument for argument in arguments if isinstance(argument.type, TensorType)]


def _element(value: SSAValue) -> Attribute:
    assert isinstance(value.type, TensorType)
    return value.type.element_type
