"""`infer`: gives every value its shape, layout and element type, by the rule of the row of its operation.

Accepts modules fresh from a frontend, whose results are `!ucutlass.unresolved`, and modules whose types are there
already, which it checks. Afterwards every value of every kernel has a type, every returned value fits what the kernel
declares, and every dimension name is bound. What cannot be typed is reported and stays unresolved; what depends on it
is passed over, so that one mistake gives one error and the next mistake is found too.

    kernel f(x: f16[M, 64], w: f16[32, 64]) -> f16[M, 32] { y = gemm(x, w.T) return y }

gives `w.T` the type `f16[64, 32]@col` and `y` the type `f16[M, 32]`.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from ucutlass.diagnostics.core import FixIt, Note
from ucutlass.diagnostics.locations import (
    PartFixIt,
    engine_of,
    fixit_of,
    operation_error,
    operation_remark,
    stop_if_errors,
)
from ucutlass.dialects.ucutlass.base import UcuOp, same_type
from ucutlass.dialects.ucutlass.kernel import KernelOp, ReturnOp, is_unresolved, kernels_of
from ucutlass.dialects.ucutlass.spec import OpSpec, TypingError
from ucutlass.dialects.ucutlass.types import NumberType, TensorType, UnresolvedType
from ucutlass.dims import Facts
from ucutlass.passes._common import retype
from ucutlass.passes._signature import check_parameter_names, check_signature


@dataclass(frozen=True)
class InferPass(ModulePass):
    """Give every value its shape, layout and element type."""

    name = "infer"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernels_of(op):
            bound = check_signature(ctx, kernel)
            facts = kernel.facts
            for inner in kernel.walk():
                if isinstance(inner, UcuOp):
                    check_parameter_names(ctx, inner, bound)
                    _infer(ctx, inner, facts)
                elif isinstance(inner, ReturnOp):
                    _check_return(ctx, kernel, inner, facts)
        stop_if_errors(ctx)


def _infer(ctx: Context, op: UcuOp, facts: Facts) -> None:
    """Types the results of one operation, or checks those that they have."""
    try:
        types = op.infer_types(facts)
    except TypingError as error:
        notes = [Note(text) for text in error.notes]
        part = _source_part(op.spec, error.part)
        fixits = _transposition(ctx, op, part) if error.transpose and part is not None else []
        operation_error(ctx, op, error.code, error.message, part, notes, fixits)
        return
    if types is None:
        return
    if len(types) != len(op.results):
        operation_error(
            ctx,
            op,
            "UC0306",
            f"{op.spec.spelling} gives {_count(len(types), 'value')}, but {_count(len(op.results), 'name')} "
            f"{'stands' if len(op.results) == 1 else 'stand'} on the left",
            "result:0",
        )
        return
    for index, (result, wanted) in enumerate(zip(list(op.results), types, strict=True)):
        if is_unresolved(result):
            retype(result, wanted)
        elif not _agree(facts, result.type, wanted):
            operation_error(
                ctx,
                op,
                "UC0301",
                f"{op.spec.spelling} gives {_spelling(wanted)}, but its result is declared as {_spelling(result.type)}",
                f"result:{index}",
            )


def _agree(facts: Facts, found: object, wanted: TensorType | NumberType) -> bool:
    if isinstance(found, TensorType) and isinstance(wanted, TensorType):
        return same_type(facts, found, wanted)
    return found == wanted


def _transposition(ctx: Context, op: UcuOp, part: str) -> list[FixIt]:
    """The edit that swaps the last two dimensions of an operand; none where parentheses would be needed as well."""
    engine = engine_of(ctx)
    place = part.replace("operand:", "suffix:")
    for old, new, label in ((place + ":T", "", "remove .T"), (place, ".T", "write .T")):
        if (fix := fixit_of(op, engine, PartFixIt(old, new, label))) is not None:
            return [fix]
    return []


def _source_part(spec: OpSpec, part: str | None) -> str | None:
    """A part as frontends know it: rules name operands, sources count them."""
    if part is None or not part.startswith("operand:"):
        return part
    name, _, rest = part.removeprefix("operand:").partition(":")
    names = [operand.name for operand in spec.operands]
    if name in names:
        name = str(names.index(name))
    return f"operand:{name}:{rest}" if rest else f"operand:{name}"


# Results of the kernel -----------------------------------------------------------------------------------------------


def _check_return(ctx: Context, kernel: KernelOp, op: ReturnOp, facts: Facts) -> None:
    declared = kernel.declared_types
    if len(op.values) != len(declared):
        operation_error(
            ctx,
            op,
            "UC0306",
            f"kernel {kernel.sym_name.data} declares {_count(len(declared), 'result')}, but returns "
            f"{_count(len(op.values), 'value')}",
        )
        return
    for index, (value, wanted) in enumerate(zip(op.values, declared, strict=True)):
        _check_returned(ctx, op, index, value, wanted, facts)


def _check_returned(ctx: Context, op: ReturnOp, index: int, value: SSAValue, wanted: TensorType, facts: Facts) -> None:
    """One returned value: the declared shape, and a type that it has or is rounded to."""
    part = f"operand:{index}"
    what = f"'{value.name_hint}'" if value.name_hint else f"value {index + 1}"
    if isinstance(value.type, UnresolvedType):
        return
    if not isinstance(value.type, TensorType):
        operation_error(ctx, op, "UC0315", f"returned {what} is a number, expected a tensor {wanted.spelling}", part)
        return
    found = value.type
    shown = f"returned {what} is {found.spelling}, but the kernel declares {wanted.spelling}"
    if found.rank != wanted.rank:
        operation_error(ctx, op, "UC0307", f"{shown}: {found.rank} dimensions, expected {wanted.rank}", part)
    elif differ := [(a, b) for a, b in zip(found.dims, wanted.dims, strict=True) if not facts.equal(a, b)]:
        size, expected = differ[0]
        dynamic = not (size.is_static and expected.is_static)
        notes = [Note(f"if they are the same size, say 'where {size} == {expected}'")] if dynamic else []
        operation_error(ctx, op, "UC0307", f"{shown}: size {size}, expected {expected}", part, notes)
    elif found.element is not wanted.element and not (found.element.is_float and wanted.element.is_float):
        fix = PartFixIt(part, f" >> cast({wanted.element})", f"cast it to {wanted.element}", insert=True)
        operation_error(
            ctx,
            op,
            "UC0307",
            f"{shown}: only floats are rounded to floats by themselves, {found.element} to {wanted.element} needs cast",
            part,
            fixits=(fix,),
        )
    elif found.order != wanted.order:
        operation_remark(
            ctx,
            op,
            "UC0607",
            f"returned {what} is computed as {found.spelling} and stored in the declared layout, "
            f"{wanted.layout.spelling}",
            part,
        )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _spelling(type_: object) -> str:
    return type_.spelling if isinstance(type_, TensorType) else "a number"
