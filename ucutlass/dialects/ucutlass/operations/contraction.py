"""The GEMM family: what it contracts, in which types."""

from collections.abc import Sequence
from typing import Any

from ucutlass.dialects.ucutlass.attributes import SETTERS
from ucutlass.dialects.ucutlass.operations.contraction_types import contraction_element
from ucutlass.dialects.ucutlass.spec import Call, Operand, OpSpec
from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.dims import Dim

ALL_SETTERS: tuple[str, ...] = tuple(SETTERS)


def _gemm_type(call: Call) -> Sequence[TensorType]:
    a, b = call.tensor("a"), call.tensor("b")
    for name, operand in (("a", a), ("b", b)):
        if operand.rank != 2:
            hint = "; batched_gemm takes leading dimensions" if operand.rank > 2 else ""
            raise call.fail(
                "UC0303", f"gemm takes 2-D operands, but '{name}' is {operand.spelling}{hint}", f"operand:{name}"
            )
    if not call.facts.equal(a.dims[1], b.dims[0]):
        raise call.fail(
            "UC0301",
            f"gemm contracts the last dimension of a ({a.dims[1]}, of {a.spelling}) with the first of b ({b.dims[0]}, of "
            f"{b.spelling}): they differ",
            "operand:b",
            ("a weight stored as [N, K] is written transposed: gemm(x, w.T)",)
            if call.facts.equal(a.dims[1], b.dims[1])
            else (),
        )
    return (TensorType.of((a.dims[0], b.dims[1]), contraction_element(call, a, b)),)


def _gemm_flops(call: Call, results: Sequence[TensorType]) -> Dim:
    a, b = call.tensor("a"), call.tensor("b")
    return 2 * a.dims[0] * b.dims[1] * a.dims[1]


def _gemm_meaning(t: Any, a: Any, b: Any) -> Any:
    return t.matmul(a, b)


ROWS: tuple[OpSpec, ...] = (
    OpSpec(
        "gemm",
        "gemm",
        (Operand("a", "`[M, K]`"), Operand("b", "`[K, N]`")),
        (),
        _gemm_type,
        "Matrix product of two 2-D tensors, `[M, K] x [K, N] -> [M, N]`.",
        _gemm_meaning,
        flops=_gemm_flops,
        setters=ALL_SETTERS,
    ),
)
