"""Row-wise operations: each row is reduced and then changed by what the reduction gave."""

from typing import Any

from ucutlass.dialects.ucutlass.operations.rowwise_types import (
    along_dimension,
    batch_norm_type,
    flops_per_element,
    group_norm_type,
    instance_norm_type,
    over_trailing_shape,
    precision_eps,
)
from ucutlass.dialects.ucutlass.spec import Operand, OpSpec, Param
from ucutlass.dims import Dim

_DIM = Param("dim", "dim", doc="the dimension of the rows")
_SHAPE = Param("shape", "dims", doc="the sizes of the last dimensions, which are normalized together")
_EPS = Param("eps", "number", 1e-5, "added to the variance")
_WEIGHT = Operand("weight", "factors", optional=True)
_BIAS = Operand("bias", "summands", optional=True)
_MOMENTUM = 0.1
"""PyTorch wants one even where no running statistics are updated."""


def _softmax(t: Any, x: Any, dim: int) -> Any:
    return t.nn.functional.softmax(x, dim)


def _log_softmax(t: Any, x: Any, dim: int) -> Any:
    return t.nn.functional.log_softmax(x, dim)


def _alike(x: Any, *others: Any) -> list[Any]:
    """The other operands in the type of x: PyTorch mixes no float types here."""
    return [None if other is None else other.to(x.dtype) for other in others]


def _layer_norm(t: Any, x: Any, weight: Any, bias: Any, shape: list[int], eps: float) -> Any:
    return t.nn.functional.layer_norm(x, shape, *_alike(x, weight, bias), eps)


def _rms_norm(t: Any, x: Any, weight: Any, shape: list[int], eps: float | None) -> Any:
    return t.nn.functional.rms_norm(x, shape, *_alike(x, weight), eps)


# The functions of torch.nn.functional refuse a single value a channel, whose variance is 0; those of torch compute it.


def _group_norm(t: Any, x: Any, weight: Any, bias: Any, groups: int, eps: float) -> Any:
    return t.group_norm(x, groups, *_alike(x, weight, bias), eps)


def _batch_norm(t: Any, x: Any, mean: Any, var: Any, weight: Any, bias: Any, eps: float) -> Any:
    return t.batch_norm(x, *_alike(x, weight, bias, mean, var), mean is None, _MOMENTUM, eps, False)


def _instance_norm(t: Any, x: Any, weight: Any, bias: Any, eps: float) -> Any:
    if x.numel() == 0:
        return x.clone()  # PyTorch looks for the first instance
    return t.instance_norm(x, *_alike(x, weight, bias), None, None, True, _MOMENTUM, eps, False)


def _l2_norm(t: Any, x: Any, dim: int, eps: float) -> Any:
    return t.nn.functional.normalize(x, 2.0, dim, eps)


ROWS: tuple[OpSpec, ...] = (
    OpSpec(
        "softmax",
        "rowwise",
        (Operand("x"),),
        (_DIM,),
        along_dimension,
        "`exp(x)`, divided by its sum over each row.",
        _softmax,
        flops=5,
    ),
    OpSpec(
        "log_softmax",
        "rowwise",
        (Operand("x"),),
        (_DIM,),
        along_dimension,
        "`log(softmax(x))`, without underflow.",
        _log_softmax,
        flops=5,
    ),
    OpSpec(
        "layer_norm",
        "rowwise",
        (Operand("x"), _WEIGHT, _BIAS),
        (_SHAPE, _EPS),
        over_trailing_shape,
        "Mean 0 and variance 1 over the last dimensions, then `* weight + bias`.",
        _layer_norm,
        flops=flops_per_element(6, ("weight", "bias")),
        positional=("x", "shape", "weight", "bias", "eps"),
    ),
    OpSpec(
        "rms_norm",
        "rowwise",
        (Operand("x"), _WEIGHT),
        (_SHAPE, Param("eps", "number", None, "added to the mean square; absent: the compute type's precision")),
        over_trailing_shape,
        "Mean square 1 over the last dimensions, then `* weight`.",
        _rms_norm,
        flops=flops_per_element(3, ("weight",)),
        positional=("x", "shape", "weight", "eps"),
        resolve=precision_eps,
    ),
    OpSpec(
        "group_norm",
        "rowwise",
        (Operand("x"), _WEIGHT, _BIAS),
        (Param("groups", "dim", doc="number of groups of channels"), _EPS),
        group_norm_type,
        "Mean 0 and variance 1 over each group of channels of each instance, then `* weight + bias` by channel.",
        _group_norm,
        flops=flops_per_element(6, ("weight", "bias")),
        positional=("x", "groups", "weight", "bias", "eps"),
    ),
    OpSpec(
        "batch_norm",
        "rowwise",
        (Operand("x"), Operand("mean", optional=True), Operand("var", optional=True), _WEIGHT, _BIAS),
        (_EPS,),
        batch_norm_type,
        "Subtracts `mean` and divides by `sqrt(var + eps)` by channel, then `* weight + bias`; without `mean` and "
        "`var`, those of the batch.",
        _batch_norm,
        flops=flops_per_element(6, ("weight", "bias")),
    ),
    OpSpec(
        "instance_norm",
        "rowwise",
        (Operand("x"), _WEIGHT, _BIAS),
        (_EPS,),
        instance_norm_type,
        "Mean 0 and variance 1 over each channel of each instance, then `* weight + bias` by channel.",
        _instance_norm,
        flops=flops_per_element(6, ("weight", "bias")),
    ),
    OpSpec(
        "l2_norm",
        "rowwise",
        (Operand("x"),),
        (Param("dim", "dim", Dim.of(1), _DIM.doc), Param("eps", "number", 1e-12, "least divisor")),
        along_dimension,
        "Each row divided by the root of its sum of squares.",
        _l2_norm,
        flops=flops_per_element(3),
    ),
)
