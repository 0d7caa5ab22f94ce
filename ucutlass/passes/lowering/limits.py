"""What a target has kernels for, but no lowering spells yet: each predicate gives the reason, None where it does."""

from xdsl.ir import SSAValue

from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.passes.lowering.contraction import Contraction
from ucutlass.passes.lowering.sm90_names import SCHEDULE_TAGS
from ucutlass.targets.problem import Config


def may_swap(contraction: Contraction) -> bool:
    """Whether the factors may be exchanged: the first one of a kernel has the batch."""
    return _type(contraction.b).rank == _type(contraction.result).rank


def refusal_of_batch(contraction: Contraction, swapped: bool) -> str | None:
    """Kernels take one batch dimension: the first factor has it, the second has it or is the same for every matrix."""
    result = _type(contraction.result)
    factors = [_type(contraction.a), _type(contraction.b)]
    if swapped:
        factors.reverse()
    facts = contraction.space.facts
    if result.rank > 3:
        return f"it has {result.rank - 2} batch dimensions, [{', '.join(map(str, result.dims[:-2]))}], kernels have one"
    for position, factor in zip(("first", "second"), factors, strict=True):
        if factor.rank < result.rank and position == "first":
            return f"the first factor of its kernel is {factor.spelling}, without a batch dimension"
        if factor.rank == 3 and not facts.equal(factor.dims[0], result.dims[0]):
            return f"a factor is {factor.spelling}, but there are {result.dims[0]} products"
    return None


def refusal_of_schedule(config: Config, target: str) -> str | None:
    """The kernels of older architectures run on newer ones, and are spelled otherwise."""
    if target == "sm_90a" and config.schedule not in SCHEDULE_TAGS:
        return f"only kernels with the schedule {config.schedule} compute it on {target}"
    return None


def _type(value: SSAValue) -> TensorType:
    assert isinstance(value.type, TensorType)
    return value.type
