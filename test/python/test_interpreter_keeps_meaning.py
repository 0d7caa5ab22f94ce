"""The passes keep what programs mean, and the check that says so notices when a pass does not."""

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from keeps_meaning import assert_keeps_meaning, check_cuts
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ucutlass.dialects.ucutlass import OPERATIONS
from ucutlass.dialects.ucutlass.attributes import ConfigAttr
from ucutlass.dialects.ucutlass.kernel import FusedOp
from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.element_types import E4M3
from ucutlass.passes._common import retype
from ucutlass.passes.pipelines import passes_of

MLP = """kernel mlp(x: f16[M, 64], w: f16[128, 64], b: f16[128], v: f16[64, 128], r: f16[M, 64]) -> f16[M, 64] {
  h = gemm(x, w.T).with_compute(bf16) >> bias(b) >> gelu()
  y = gemm(h, v.T) >> residual(r, beta=0.5)
  return y - mean(y, dim=1, keepdim=true)
}"""

STAGED = """kernel staged(x: f16[32, 64], w: f16[64, 48]) -> f16[32, 48], f32[32, 48] {
  y = materialize(gemm(x, w))
  z = exp(y) / 3
  return z - y, z
}"""


def test_fuse_keeps_the_meaning() -> None:
    for program in (MLP, STAGED):
        assert_keeps_meaning(program, "infer,fuse", bindings={"M": 24}, distributions=("normal", "ties"))


# Broken passes -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BrokenPass(ModulePass):
    """Does something wrong to the first operation of a name."""

    name = "broken"
    operation: str = ""
    harm: Callable[[Operation], None] = field(default=lambda op: None)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        self.harm(next(inner for inner in op.walk() if inner.name == f"ucutlass.{self.operation}"))


def swap_operands(op: Operation) -> None:
    op.operands = [op.operands[1], op.operands[0], *op.operands[2:]]


def drop(op: Operation) -> None:
    op.results[0].replace_all_uses_with(op.operands[0])
    Rewriter.erase_op(op)


def compute_in_f16(op: Operation) -> None:
    op.properties["config"] = ConfigAttr.of({"compute": ("f16",)})


def lose_a_result_of_the_kernel(op: Operation) -> None:
    op.operands = [op.operands[0], op.operands[0]]


BROKEN = [
    (STAGED, "sub", swap_operands),
    (STAGED, "return", lose_a_result_of_the_kernel),
    (STAGED, "materialize", drop),
    (MLP, "bias", drop),
    (MLP, "gelu", drop),
    (MLP, "gemm", compute_in_f16),
]


@pytest.mark.parametrize(("program", "operation", "harm"), BROKEN)
def test_a_broken_pass_is_caught(program: str, operation: str, harm: Callable[[Operation], None]) -> None:
    passes = [*passes_of("infer"), BrokenPass(operation, harm)]
    with pytest.raises(AssertionError, match="broken changed the (structure|meaning) of result"):
        assert_keeps_meaning(program, passes, bindings={"M": 24}, seeds=[0])


@dataclass(frozen=True)
class ForgetfulFusePass(ModulePass):
    """`fuse` that takes `materialize` for an identity."""

    name = "fuse"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in list(op.walk()):
            if isinstance(inner, OPERATIONS["materialize"]):
                drop(inner)
        passes_of("fuse")[0].apply(ctx, op)


def test_a_forgotten_materialize_is_caught() -> None:
    with pytest.raises(AssertionError, match="fuse changed the meaning of result"):
        assert_keeps_meaning(STAGED, [*passes_of("infer"), ForgetfulFusePass()])


def test_a_cut_of_another_type_is_caught() -> None:
    module = assert_keeps_meaning(MLP, "infer,fuse", bindings={"M": 24}, seeds=[0])
    check_cuts("fuse", module)
    group = next(op for op in module.walk() if isinstance(op, FusedOp))
    stored = group.outputs[0].type
    assert isinstance(stored, TensorType)
    retype(group.outputs[0], stored.with_element(E4M3))
    with pytest.raises(AssertionError, match=r"stores a value of type f16\[M, 128\] as e4m3\[M, 128\]"):
        check_cuts("fuse", module)


@dataclass(frozen=True)
class ReassociatePass(ModulePass):
    """A rewrite that rounds differently: multiplies by a third instead of dividing by three."""

    name = "reassociate"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in list(op.walk()):
            if inner.name == "ucutlass.div":
                x, three = inner.operands
                third = OPERATIONS["div"].build(operands=[three, three], result_types=[three.type])
                again = OPERATIONS["div"].build(operands=[third.results[0], three], result_types=[three.type])
                product = OPERATIONS["mul"].build(operands=[x, again.results[0]], result_types=[inner.results[0].type])
                assert inner.parent is not None
                inner.parent.insert_ops_before([third, again, product], inner)
                inner.results[0].replace_all_uses_with(product.results[0])
                Rewriter.erase_op(inner)


def test_a_rewrite_may_state_its_error() -> None:
    passes = [*passes_of("infer"), ReassociatePass()]
    with pytest.raises(AssertionError, match="reassociate changed the structure"):
        assert_keeps_meaning(STAGED, passes)
    assert_keeps_meaning(STAGED, passes, tolerance={"reassociate": 2**-10})
