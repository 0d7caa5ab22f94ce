"""What `infer` checks of a kernel's signature: every dimension name is bound, no condition is known to be false.

Imports the dialect and the leaves.
"""

from collections.abc import Iterable
from math import inf

from xdsl.context import Context

from ucutlass.diagnostics.locations import operation_error
from ucutlass.dialects.ucutlass.base import UcuOp
from ucutlass.dialects.ucutlass.kernel import KernelOp
from ucutlass.dialects.ucutlass.types import DimsAttr, TensorType
from ucutlass.dims import Condition, Dim, Facts, bound_names


def check_signature(ctx: Context, kernel: KernelOp) -> frozenset[str]:
    """Reports what is wrong with the signature; the names that arguments and equations bind."""
    types = [argument.type for argument in kernel.body.block.args]
    sizes = [dim for type_ in types if isinstance(type_, TensorType) for dim in type_.dims]
    bound = bound_names(sizes, kernel.where.data)
    for index, argument in enumerate(kernel.body.block.args):
        if isinstance(argument.type, TensorType):
            _check_bound(
                ctx, kernel, argument.type.dims, bound, f"the type of argument {index}", f"argument:{index}:type"
            )
        else:
            name = argument.name_hint or str(index)
            operation_error(
                ctx, kernel, "UC0315", f"argument {name} is no tensor but {argument.type}", f"argument:{index}"
            )
    for index, declared in enumerate(kernel.declared_types):
        _check_bound(ctx, kernel, declared.dims, bound, f"result {index + 1}", f"return:{index}")
    for index, condition in enumerate(kernel.where.data):
        _check_bound(ctx, kernel, (condition.left, condition.right), bound, f"'where {condition}'", f"where:{index}")
    for index in false_conditions(kernel.where.data):
        message = f"'where {kernel.where.data[index]}' holds for no sizes"
        operation_error(ctx, kernel, "UC0312", message, f"where:{index}")
    return bound


def check_parameter_names(ctx: Context, op: UcuOp, bound: frozenset[str]) -> None:
    """Reports dimension names in parameters that nothing binds."""
    for param in op.spec.params:
        attribute = op.properties.get(param.name)
        if isinstance(attribute, DimsAttr):
            what = f"'{param.name}' of {op.spec.spelling}"
            _check_bound(ctx, op, attribute.data, bound, what, f"param:{param.name}")


def _check_bound(
    ctx: Context, op: KernelOp | UcuOp, dims: Iterable[Dim], bound: frozenset[str], what: str, part: str
) -> None:
    for name in sorted({name for dim in dims for name in dim.names} - bound):
        operation_error(
            ctx,
            op,
            "UC0313",
            f"nothing binds dimension {name} of {what}: no argument has a dimension {name}, and no 'where {name} == …' "
            "gives its size",
            part,
        )


def false_conditions(conditions: tuple[Condition, ...]) -> list[int]:
    """Which conditions no sizes meet, by themselves or after the ones before them.

    Decides conditions that the equations among them make constant, and bounds on single names; sizes are at least 0.
    """
    facts = Facts(conditions)
    bounds: dict[Dim, tuple[float, float]] = {}
    false: list[int] = []
    for index, condition in enumerate(conditions):
        difference = facts.simplify(condition.left) - facts.simplify(condition.right)
        if difference.is_static:
            if not Condition(difference, condition.relation, Dim.of(0)).holds({}):
                false.append(index)
            continue
        constant = Dim.of(sum(coefficient for monomial, coefficient in difference.terms if not monomial))
        size = difference - constant
        if len(size.terms) != 1 or size.terms[0][1] not in (1, -1):
            continue
        low, high = _interval(condition.relation, size.terms[0][1], -constant.value)
        key = size * size.terms[0][1]
        known_low, known_high = bounds.get(key, (0, inf))
        bounds[key] = (max(low, known_low), min(high, known_high))
        if bounds[key][0] > bounds[key][1]:
            false.append(index)
    return false


def _interval(relation: str, sign: int, value: int) -> tuple[float, float]:
    """The sizes s with `sign * s RELATION value`."""
    if sign < 0:
        relation, value = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(relation, relation), -value
    match relation:
        case "==":
            return value, value
        case "<":
            return -inf, value - 1
        case "<=":
            return -inf, value
        case ">":
            return value + 1, inf
        case ">=":
            return value, inf
        case _:
            return -inf, inf
