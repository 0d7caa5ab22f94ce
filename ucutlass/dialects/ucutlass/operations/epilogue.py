"""Element-wise operations under the names that they have after a contraction."""

from collections.abc import Mapping, Sequence
from typing import Any

from ucutlass.dialects.ucutlass.cuda_text import number_cast
from ucutlass.dialects.ucutlass.operations.elementwise_types import (
    ANY,
    check_operands,
    elementwise,
    promoted_element,
    shape_of_result,
)
from ucutlass.dialects.ucutlass.spec import Call, Operand, OpSpec, Param, ParamValue
from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.dims import Dim


def _bias_type(call: Call) -> Sequence[TensorType]:
    """The type of `v`, promoted; `b` has one element for each index of the channels' dimension, or one for all."""
    v, b = call.tensor("v"), call.tensor("b")
    if v.rank == 0:
        raise call.fail("UC0303", f"bias adds a vector along a dimension, but v is {v.spelling}", "operand:v")
    if b.rank != 1:
        raise call.fail(
            "UC0303",
            f"bias adds a vector, one dimension, but b is {b.spelling}",
            "operand:b",
            ("anything else is added with +, which broadcasts",),
        )
    axis = call.params["axis"]
    assert isinstance(axis, int)
    size = v.dims[axis]
    if not (call.facts.equal(b.dims[0], size) or call.facts.equal(b.dims[0], Dim.of(1))):
        of = "the last dimension" if axis == v.rank - 1 else f"dimension {axis}, the channels"
        raise call.fail(
            "UC0301",
            f"bias adds one value for each index of {of} of v: {size}, of {v.spelling}, but b is {b.spelling}",
            "operand:b",
        )
    return (v.with_element(promoted_element(call, ("v", "b"))),)


def _bias_meaning(t: Any, v: Any, b: Any, axis: int) -> Any:
    return v + b.reshape([-1 if dim == axis else 1 for dim in range(v.dim())])


def _scale_meaning(t: Any, v: Any, s: Any) -> Any:
    return v * s


def _beta(constants: Mapping[str, ParamValue]) -> int | float:
    beta = constants["beta"]
    assert isinstance(beta, int | float)
    return beta


def _residual_type(call: Call) -> Sequence[TensorType]:
    check_operands(call, ANY)
    beta = _beta(call.params)
    dims, order = shape_of_result(call)
    # A factor 1 leaves booleans booleans, as in PyTorch's add.
    return (TensorType.of(dims, promoted_element(call, ("v", "c"), () if beta == 1 else (beta,)), order),)


def _residual_meaning(t: Any, v: Any, c: Any, beta: int | float) -> Any:
    if beta == 1:
        return v + c
    # As in addmm, what a factor 0 removes is not read: NaN and infinity in it do not matter.
    return v + beta * (t.zeros_like(c) if beta == 0 and t.is_tensor(c) else c)


def _residual_expression(constants: Mapping[str, ParamValue]) -> str:
    beta = _beta(constants)
    return "v + c" if beta == 1 else "v" if beta == 0 else f"v + {number_cast(beta)} * c"


def _residual_flops(call: Call, results: Sequence[TensorType]) -> Dim:
    beta = _beta(call.params)
    each = 0 if beta == 0 else 1 if beta == 1 else 2
    count = Dim.of(each)
    for dim in results[0].dims:
        count = count * dim
    return count


ROWS: tuple[OpSpec, ...] = (
    OpSpec(
        "bias",
        "epilogue",
        (Operand("v"), Operand("b", "a vector")),
        (),
        _bias_type,
        "Adds a vector along dimension 1 of a convolution's result, the last dimension of anything else. Element-wise "
        "operations, `cast` and `materialize` may stand between the convolution and the bias.",
        _bias_meaning,
        "v + b",
        flops=1,
        channels_of="v",
    ),
    OpSpec(
        "scale",
        "epilogue",
        (Operand("v"), Operand("s", "a factor; `[M, 1]` has one for each row", number=True)),
        (),
        elementwise(),
        "`v * s`.",
        _scale_meaning,
        "v * s",
        flops=1,
    ),
    OpSpec(
        "residual",
        "epilogue",
        (Operand("v"), Operand("c", number=True)),
        (Param("beta", "number", 1, "factor of `c`; with 0, `c` is not read"),),
        _residual_type,
        "`v + beta * c`.",
        _residual_meaning,
        _residual_expression,
        flops=_residual_flops,
    ),
)
