"""The check that passes keep the meaning catches passes that do not: every mutant here must be noticed.

A mutant is the real pass followed by one deliberate fault of a kind that a real one might have.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import pytest
from keeps_meaning import assert_keeps_meaning
from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, Float16Type, ModuleOp, i64
from xdsl.ir import Operation
from xdsl.irdl import IRDLOperation
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import InterpretationError

from ucutlass.dialects.cutlass.collectives import EpilogueBuilderOp, MainloopBuilderOp
from ucutlass.dialects.cutlass.memory import ElementwiseKernelOp, LoadOp, StoreOp
from ucutlass.dialects.cutlass.program import LaunchOp, ProgramReturnOp
from ucutlass.dialects.cutlass.views import ViewOp
from ucutlass.dialects.cutlass.visitors import (
    FunctorOp,
    Sm90AccFetchOp,
    Sm90AuxStoreOp,
    Sm90ColBroadcastOp,
    Sm90ComputeOp,
    Sm90EvtOp,
    Sm90RowBroadcastOp,
    Sm90ScalarBroadcastOp,
    Sm90TopologicalVisitorOp,
)
from ucutlass.dialects.ucutlass import OPERATIONS, DimsAttr, UcuOp
from ucutlass.dialects.ucutlass.attributes import NumberAttr
from ucutlass.dialects.ucutlass.kernel import ConstantOp, FusedOp, YieldOp
from ucutlass.dialects.ucutlass.types import MLIR_ELEMENT
from ucutlass.element_types import BF16
from ucutlass.passes.pipelines import passes_of

# Square, so that no shape gives a fault away.
CHAIN = """kernel k(x: f16[64, 64], w: f16[64, 64], b: f16[64], c: f16[64, 1], r: f16[64, 64]) -> f16[64, 64] {
  return gelu((gemm(x, w.T) >> bias(b)) * c >> cast(f16)) * 0.5 - r
}"""

TWO = """kernel k(
  x: f16[64, 64], w: f16[64, 64], b: f32[64], r: f32[64, 64], q: f32[64, 64]
) -> f16[64, 64], f16[64, 64] {
  h = gemm(x, w.T) >> bias(b) >> residual(r, beta=0.5)
  return h, relu(h) >> residual(q)
}"""

TWO_GEMMS = """kernel k(x: f16[64, 64], w: f16[64, 64], v: f16[64, 64]) -> f16[64, 64], f16[64, 64] {
  h = gemm(x, w.T) >> relu()
  g = gemm(h, v.T) >> residual(h)
  return g, gemm(h, g)
}"""

MEMORY_BOUND = """kernel k(x: f16[64, 64], y: f32[64, 64]) -> f16[64, 64], f32[64, 64] {
  h = exp(x) - y
  return h, h * 2
}"""

Harm = Callable[[ModuleOp], None]
SomeOp = TypeVar("SomeOp", bound=Operation)


def first(module: ModuleOp, kind: type[SomeOp]) -> SomeOp:
    """The first operation of a class."""
    return next(op for op in module.walk() if isinstance(op, kind))


def element_wise(module: ModuleOp, name: str) -> UcuOp:
    """An operation of a functor or a group."""
    return next(op for op in module.walk() if isinstance(op, UcuOp) and op.spec.name == name)


def forget(name: str) -> Harm:
    """Leaves out an element-wise operation."""

    def harm(module: ModuleOp) -> None:
        op = element_wise(module, name)
        op.results[0].replace_all_uses_with(op.operands[0])
        Rewriter.erase_op(op)

    return harm


def exchange(kind: type[Operation], i: int = 0, j: int = 1) -> Harm:
    """Exchanges two operands of the first operation of a class."""

    def harm(module: ModuleOp) -> None:
        operands = list(first(module, kind).operands)
        operands[i], operands[j] = operands[j], operands[i]
        first(module, kind).operands = operands

    return harm


def broadcast_as(found: type[IRDLOperation], wanted: type[IRDLOperation]) -> Harm:
    """Loads a vector along another dimension."""

    def harm(module: ModuleOp) -> None:
        op = first(module, found)
        scalar = wanted is Sm90ScalarBroadcastOp
        operands, properties = (op.operands[:1], {}) if scalar else (op.operands, op.properties)
        Rewriter.replace_op(
            op, wanted.build(operands=list(operands), properties=properties, result_types=[op.results[0].type])
        )

    return harm


def exchange_subtraction(module: ModuleOp) -> None:
    op = element_wise(module, "sub")
    op.operands = [op.operands[1], op.operands[0]]


def forget_transpose(module: ModuleOp) -> None:
    first(module, ViewOp).properties["order"] = DenseArrayBase.from_list(i64, [0, 1])


def another_constant(module: ModuleOp) -> None:
    first(module, ConstantOp).properties["value"] = NumberAttr(0.25)


def another_beta(module: ModuleOp) -> None:
    del element_wise(module, "residual").properties["beta"]


def accumulate_in_f16(module: ModuleOp) -> None:
    first(module, MainloopBuilderOp).properties["accumulator"] = Float16Type()


def round_twice(module: ModuleOp) -> None:
    first(module, Sm90ComputeOp).properties["element_output"] = MLIR_ELEMENT[BF16.name]


def round_between(module: ModuleOp) -> None:
    """Rounds what a functor hands on, where only the store may."""
    compute = [op for op in module.walk() if isinstance(op, Sm90ComputeOp)]
    compute[0].properties["element_output"] = Float16Type()


def forget_visitor(module: ModuleOp) -> None:
    op = first(module, EpilogueBuilderOp)
    operands = [value for value in op.operands if value is not op.visitor]
    plain = EpilogueBuilderOp.build(
        operands=[operands[0], operands[1], op.d, op.c, None],
        properties=dict(op.properties),
        result_types=[op.result.type],
    )
    Rewriter.replace_op(op, plain)


def another_edge(module: ModuleOp) -> None:
    """The last functor reads the accumulator instead of what the first one made of it."""
    op = first(module, Sm90TopologicalVisitorOp)
    inputs = [list(i) for i in op.inputs]
    last = max(i for i, node in enumerate(op.nodes) if isinstance(node.owner, Sm90ComputeOp))
    accumulator = next(i for i, node in enumerate(op.nodes) if isinstance(node.owner, Sm90AccFetchOp))
    inputs[last][0] = accumulator
    op.properties["edges"] = DenseArrayBase.from_list(i64, [e for i in inputs for e in (len(i), *i)])


def store_results_exchanged(module: ModuleOp) -> None:
    """The auxiliary store and the main one exchange their tensors."""
    store, epilogue = first(module, Sm90AuxStoreOp), first(module, EpilogueBuilderOp)
    auxiliary, main = store.tensor, epilogue.d
    store.operands = [main, *store.operands[1:]]
    epilogue.operands = [auxiliary if value is main else value for value in epilogue.operands]


def forget_store(module: ModuleOp) -> None:
    """The tree ends without storing what it should."""
    op = first(module, Sm90TopologicalVisitorOp)
    store = next(i for i, node in enumerate(op.nodes) if isinstance(node.owner, Sm90AuxStoreOp))
    inputs = [tuple(op.inputs[store][0] if e == store else e - (e > store) for e in i) for i in op.inputs]
    del inputs[store]
    op.operands = [node for i, node in enumerate(op.nodes) if i != store]
    op.properties["edges"] = DenseArrayBase.from_list(i64, [e for i in inputs for e in (len(i), *i)])


def launch_other_tensors(module: ModuleOp) -> None:
    """The second kernel reads an argument where it should read what the first one left."""
    launches = [op for op in module.walk() if isinstance(op, LaunchOp)]
    program = launches[0].parent
    assert program is not None
    launches[1].operands = [program.args[0] if v is launches[0].outputs[0] else v for v in launches[1].operands]


def place_transposed(kind: type[LoadOp] | type[StoreOp]) -> Harm:
    """Reads or writes a tensor with its dimensions exchanged."""

    def harm(module: ModuleOp) -> None:
        op = first(module, kind)
        op.access = ArrayAttr(list(reversed(op.access.data)))

    return harm


def compute_half(module: ModuleOp) -> None:
    """Leaves out the last rows."""
    op = first(module, ElementwiseKernelOp)
    rows, *rest = op.sizes.data
    op.sizes = DimsAttr((rows // 2, *rest))


LOWERING: dict[str, tuple[str, Harm]] = {
    "a load is transposed": (MEMORY_BOUND, place_transposed(LoadOp)),
    "a store is transposed": (MEMORY_BOUND, place_transposed(StoreOp)),
    "stores are exchanged": (MEMORY_BOUND, exchange(ElementwiseKernelOp, 3, 4)),
    "loads are exchanged": (MEMORY_BOUND, exchange(ElementwiseKernelOp, 1, 2)),
    "rows are left out": (MEMORY_BOUND, compute_half),
    "an exponential is left out": (MEMORY_BOUND, forget("exp")),
    "a bias is left out": (CHAIN, forget("bias")),
    "an activation is left out": (CHAIN, forget("gelu")),
    "a rounding is left out": (CHAIN, forget("cast")),
    "a column is read as a row": (CHAIN, broadcast_as(Sm90ColBroadcastOp, Sm90RowBroadcastOp)),
    "a row is read as a column": (CHAIN, broadcast_as(Sm90RowBroadcastOp, Sm90ColBroadcastOp)),
    "a row is read as a scalar": (CHAIN, broadcast_as(Sm90RowBroadcastOp, Sm90ScalarBroadcastOp)),
    "factors are exchanged": (CHAIN, exchange(MainloopBuilderOp)),
    "a transpose is left out": (CHAIN, forget_transpose),
    "terms of a difference are exchanged": (CHAIN, exchange_subtraction),
    "inputs of the visitor are exchanged": (CHAIN, exchange(Sm90EvtOp, 2, 3)),
    "another number": (CHAIN, another_constant),
    "another factor of the residual": (TWO, another_beta),
    "sums are kept in f16": (CHAIN, accumulate_in_f16),
    "a result is rounded twice": (CHAIN, round_twice),
    "the whole tree is left out": (CHAIN, forget_visitor),
    "what is handed on is rounded": (TWO, round_between),
    "a node has another input": (TWO, another_edge),
    "two stores are exchanged": (TWO, store_results_exchanged),
    "a result is not stored": (TWO, forget_store),
    "residuals are exchanged": (TWO, exchange(LaunchOp, 3, 4)),
    "results are exchanged": (TWO, exchange(ProgramReturnOp)),
    "launches read other tensors": (TWO_GEMMS, launch_other_tensors),
    "kernels run on exchanged tensors": (TWO_GEMMS, exchange(LaunchOp)),
}


def yield_exchanged(module: ModuleOp) -> None:
    """A group stores each value in the other's place."""
    end = next(op for op in module.walk() if isinstance(op, YieldOp) and len(op.values) > 1)
    end.operands = list(reversed(end.operands))


def read_another_input(module: ModuleOp) -> None:
    group = [op for op in module.walk() if isinstance(op, FusedOp)][1]
    group.operands = [group.operands[1], group.operands[0], *group.operands[2:]]


def cut_in_the_middle(module: ModuleOp) -> None:
    """Leaves the accumulator in memory and reads it back in the same kernel."""
    root = element_wise(module, "gemm")
    stored = OPERATIONS["cast"].build(
        operands=[root.results[0]], properties={"dtype": Float16Type()}, result_types=[root.results[0].type]
    )
    root.results[0].replace_uses_with_if(stored.results[0], lambda use: use.operation is not stored)
    assert root.parent is not None
    root.parent.insert_ops_after([stored], root)


FUSION: dict[str, tuple[str, Harm]] = {
    "a bias is left out": (CHAIN, forget("bias")),
    "stores are exchanged": (TWO, yield_exchanged),
    "a group reads another tensor": (TWO_GEMMS, read_another_input),
    "the accumulator is rounded": (CHAIN, cut_in_the_middle),
}


CAUGHT = "mutant changed the|which nothing has written|does not write every element"
"""Another result, or a kernel that leaves memory as it was."""


@dataclass(frozen=True)
class Mutant(ModulePass):
    """A pass and a fault."""

    name = "mutant"
    real: str = ""
    harm: Harm = lambda module: None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        (pass_,) = passes_of(self.real)
        pass_.apply(ctx, op)
        self.harm(op)


class MutantFusePass(Mutant):
    """`fuse` with a fault: it may cut where it likes, as the real one."""

    name = "fuse"


def pipeline(mutant: Mutant) -> list[ModulePass]:
    """The default pipeline with the mutant in the place of the real pass."""
    return [mutant if pass_.name == mutant.real else pass_ for pass_ in passes_of("default")]


@pytest.mark.parametrize("program", [CHAIN, TWO, TWO_GEMMS, MEMORY_BOUND])
def test_without_a_fault_nothing_is_found(program: str) -> None:
    assert_keeps_meaning(program, pipeline(Mutant("lower-to-cutlass")), seeds=[0])
    assert_keeps_meaning(program, pipeline(MutantFusePass("fuse")), seeds=[0])


@pytest.mark.parametrize("fault", LOWERING)
def test_a_broken_lowering_is_caught(fault: str) -> None:
    program, harm = LOWERING[fault]
    with pytest.raises((AssertionError, InterpretationError), match=CAUGHT):
        assert_keeps_meaning(program, pipeline(Mutant("lower-to-cutlass", harm)), seeds=[0])


@pytest.mark.parametrize("fault", FUSION)
def test_a_broken_fuse_is_caught(fault: str) -> None:
    program, harm = FUSION[fault]
    with pytest.raises(AssertionError, match="fuse changed the"):
        assert_keeps_meaning(program, pipeline(MutantFusePass("fuse", harm)), seeds=[0])


def test_the_functors_are_what_is_mutated() -> None:
    """The programs above have what the faults are about, so that none of them misses by accident."""
    module = assert_keeps_meaning(CHAIN, seeds=[0])
    names = {op.spec.name for op in first(module, FunctorOp).walk() if isinstance(op, UcuOp)}
    assert names == {"bias", "mul", "cast", "gelu", "sub"}
