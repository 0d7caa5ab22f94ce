"""Types and costs of row-wise operations: the operand's type, once the shapes of what goes with it are right.

Imports the records of `spec`, the types and the leaves.
"""

from collections.abc import Mapping, Sequence

from ucutlass.dialects.ucutlass.operations.elementwise_types import FLOAT, check_element, shape_text
from ucutlass.dialects.ucutlass.operations.parameters import at_least, size_of, sizes_of
from ucutlass.dialects.ucutlass.operations.reduction_types import dimension, size_of_all
from ucutlass.dialects.ucutlass.spec import Call, CostRule, ParamValue
from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.dims import Dim


def _float_operand(call: Call) -> TensorType:
    x = call.tensor("x")
    check_element(call, "x", x.element, FLOAT)
    return x


def along_dimension(call: Call) -> Sequence[TensorType]:
    """The rule of operations over the rows of one dimension `dim`."""
    x = _float_operand(call)
    dimension(call, x)
    return (x,)


def _vector(call: Call, name: str, shape: Sequence[Dim], what: str) -> None:
    """Demand that an operand, where present, is a float tensor of a shape. Raises TypingError UC0301 and UC0316."""
    tensor = call.optional_tensor(name)
    if tensor is None:
        return
    check_element(call, name, tensor.element, FLOAT)
    if tensor.rank != len(shape) or not all(map(call.facts.equal, tensor.dims, shape)):
        raise call.fail(
            "UC0301",
            f"{call.spec.spelling}: {name} has {what}, {shape_text(shape)}, but it is {tensor.spelling}",
            f"operand:{name}",
        )


def over_trailing_shape(call: Call) -> Sequence[TensorType]:
    """The rule of `layer_norm` and `rms_norm`: `shape` is that of the last dimensions. Raises TypingError UC0301."""
    x, shape = _float_operand(call), sizes_of(call, "shape")
    if not shape:
        raise call.fail("UC0309", f"{call.spec.spelling}: shape is empty, expected at least one size", "param:shape")
    if len(shape) > x.rank or not all(map(call.facts.equal, shape, x.dims[x.rank - len(shape) :])):
        raise call.fail(
            "UC0301",
            f"{call.spec.spelling} is over the last dimensions: shape is {shape_text(shape)}, but those of x, "
            f"{x.spelling}, are {shape_text(x.dims[max(0, x.rank - len(shape)) :])}",
            "param:shape",
        )
    for operand in call.spec.operands[1:]:
        _vector(call, operand.name, shape, "the given shape")
    return (x,)


def _with_channels(call: Call, rank: int, form: str) -> TensorType:
    """The operand of a normalization by channels, with one value a channel in all others. Raises TypingError UC0303."""
    x = _float_operand(call)
    if x.rank < rank:
        raise call.fail(
            "UC0303",
            f"{call.spec.spelling} takes {form}, at least {rank} dimensions, but x is {x.spelling}",
            "operand:x",
        )
    for operand in call.spec.operands[1:]:
        _vector(call, operand.name, x.dims[1:2], "one value a channel")
    return x


def group_norm_type(call: Call) -> Sequence[TensorType]:
    """The channels, dimension 1, are split evenly into groups. Raises TypingError UC0321."""
    x, groups = _with_channels(call, 2, "[N, C, …]"), size_of(call, "groups")
    at_least(call, "groups", (groups,), 1)
    call.require_multiple(
        x.dims[1],
        groups,
        "UC0321",
        f"group_norm splits the {x.dims[1]} channels of {x.spelling} evenly, but {groups} groups do not divide them",
        "param:groups",
    )
    return (x,)


def batch_norm_type(call: Call) -> Sequence[TensorType]:
    """Both statistics are given or none. Raises TypingError UC0211."""
    x = _with_channels(call, 2, "[N, C, …]")
    given = [name for name in ("mean", "var") if call.optional_tensor(name) is not None]
    if len(given) == 1:
        missing = "var" if given == ["mean"] else "mean"
        raise call.fail(
            "UC0211",
            f"batch_norm has {given[0]} but no {missing}: give both, or neither for the statistics of the batch",
            f"operand:{given[0]}",
        )
    return (x,)


def instance_norm_type(call: Call) -> Sequence[TensorType]:
    """Each channel of each instance is normalized over at least one further dimension."""
    return (_with_channels(call, 3, "[N, C, L, …]"),)


def precision_eps(call: Call) -> Mapping[str, ParamValue]:
    """The default `eps` of `rms_norm`: the distance from 1 to the next number in the compute type."""
    x = call.operands["x"]
    if call.params["eps"] is not None or not isinstance(x, TensorType):
        return {}
    return {"eps": 2.0**-x.element.compute.mantissa}


def flops_per_element(plain: int, affine: Sequence[str] = ()) -> CostRule:
    """The cost rule of operations with `plain` FLOPs for one element and one more for each affine operand present."""

    def rule(call: Call, results: Sequence[TensorType]) -> Dim:
        each = plain + sum(call.operands[name] is not None for name in affine)
        return each * size_of_all(call.tensor("x").dims)

    return rule
