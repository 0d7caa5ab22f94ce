"""What passes share: rewriting without losing the place and the name of anything.

Imports xDSL and the dialect. xDSL copies neither locations nor exact names when an operation or a value is replaced.
"""

from collections.abc import Iterable, Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import FusedLoc, LocationAttr, NoneAttr, UnknownLoc
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ucutlass.diagnostics.locations import operation_error
from ucutlass.dialects.ucutlass.kernel import KernelOp, set_exact_name


def is_located(op: Operation) -> bool:
    """Whether the operation says where in the source it comes from."""
    return not isinstance(op.location, UnknownLoc)


def locate(ops: Iterable[Operation], source: Operation) -> None:
    """Give operations that have no place of their own, and those inside of them, the place of what they stand for."""
    for outer in ops:
        for op in outer.walk():
            if not is_located(op):
                op.location = source.location


def fused_location(ops: Iterable[Operation]) -> LocationAttr:
    """The places of several operations that become one; the first stands for it in diagnostics."""
    places = list(dict.fromkeys(op.location for op in ops if is_located(op)))
    if len(places) > 1:
        return FusedLoc(tuple(places), NoneAttr())
    return places[0] if places else UnknownLoc()


def replace(op: Operation, new: Operation | Sequence[Operation], results: Sequence[SSAValue] | None = None) -> None:
    """Put operations in the place of one: they get its location, and its results' exact names where they have none.

    Without `results` those of the last new operation stand for the old ones.
    """
    ops = [new] if isinstance(new, Operation) else list(new)
    locate(ops, op)
    stand_ins = ops[-1].results if results is None else results
    Rewriter.insert_op(ops, InsertPoint.before(op))
    for old, value in zip(op.results, stand_ins, strict=True):
        # Named first: xDSL would hand on the name without a trailing `_1`.
        if value.name_hint is None and old.name_hint is not None:
            set_exact_name(value, old.name_hint)
        old.replace_all_uses_with(value)
    Rewriter.erase_op(op)


def retype(value: SSAValue, type_: Attribute) -> SSAValue:
    """The value with another type: a new one, which every use has instead."""
    if value.type == type_:
        return value
    name = value.name_hint
    retyped = Rewriter.replace_value_with_new_type(value, type_)
    if name is not None:
        set_exact_name(retyped, name)
    return retyped


def not_ready(ctx: Context, kernel: KernelOp, lacks: str, needed: str) -> None:
    """Report that a pass was asked to work on a kernel that another pass has to prepare first."""
    message = f"{lacks} in kernel {kernel.sym_name.data}: run {needed} first, or the whole pipeline, -p default"
    operation_error(ctx, kernel, "UC0704", message, "name")
