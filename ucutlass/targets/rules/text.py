"""Wording that the rules share: operands, extents and bytes in numbers.

Imports only the standard library and the values of `ucutlass.targets`.
"""

from ucutlass.targets.problem import ACCESS_BITS, GemmProblem, Operand, Shape3
from ucutlass.targets.rules.core import Candidate, Fix
from ucutlass.targets.stage_arithmetic import round_up

OPERAND_INDEX = {"a": 0, "b": 1}


def shape(value: tuple[int, ...]) -> str:
    return "x".join(map(str, value))


def operand_name(candidate: Candidate, which: str) -> str:
    """`A`, or what it is of the transposed kernel."""
    return f"{which.upper()} of the transposed kernel" if candidate.swap_ab else which.upper()


def operand_part(candidate: Candidate, which: str) -> str:
    """The part of the program that an operand is."""
    if which not in OPERAND_INDEX:
        return "result:0"
    index = OPERAND_INDEX[which]
    return f"operand:{1 - index if candidate.swap_ab else index}"


def bytes_text(count: float) -> str:
    return f"{count:g} byte{'' if count == 1 else 's'}"


def contiguous(candidate: Candidate, which: str, operand: Operand | None = None) -> str:
    """How long the contiguous lines of an operand are: `rows of A hold K = 107 f16 elements, 214 bytes`."""
    problem = candidate.problem
    chosen = operand or candidate.operand(which)
    assert chosen is not None
    dim = contiguous_dim(problem, which, chosen)
    lines = "rows" if (which == "a") == (chosen.major == "k") and which in "ab" or chosen.major == "n" else "columns"
    name = operand_name(candidate, which)
    size = problem.size(dim)
    if size is None:
        known = problem.multiple(dim)
        count = f"{problem.dim_name(dim)} {chosen.element} elements"
        return f"{lines} of {name} hold {count}, known to be a multiple of {known}"
    return (
        f"{lines} of {name} hold {problem.dim_name(dim)} = {size} {chosen.element} elements,"
        f" {bytes_text(size * chosen.element.bits / 8)}"
    )


def contiguous_dim(problem: GemmProblem, which: str, operand: Operand) -> str:
    if operand.major == "mn":
        return "m" if which == "a" else "n"
    return operand.major


def alignment_help(
    candidate: Candidate, which: str, needed: int, operand: Operand | None = None
) -> tuple[Fix | None, tuple[str, ...]]:
    """How to get an alignment: a condition on a dynamic size, or padding of a static one."""
    problem = candidate.problem
    chosen = operand or candidate.operand(which)
    assert chosen is not None
    dim = contiguous_dim(problem, which, chosen)
    name, size = problem.dim_name(dim), problem.size(dim)
    if size is None:
        condition = f"{name} % {needed} == 0"
        return Fix("where", condition, f"promise {condition} in a where clause"), ()
    if size % needed:
        return None, (
            f"padding {name} to {round_up(size, needed)} would give {bytes_text(needed * chosen.element.bits / 8)}",
        )
    return None, (f"{name} = {size} allows it, the strides do not",)


def needed_elements(operand: Operand, bits: int = ACCESS_BITS) -> int:
    """Elements in an access of so many bits."""
    return max(1, bits // operand.element.bits)


def nearest(value: int, legal: "tuple[int, ...] | list[int]") -> int:
    """The legal value closest in ratio, the larger one when two are equally close."""
    return min(legal, key=lambda v: (max(v / value, value / v) if value else v, -v))


def tile_fix(index: int, value: int) -> Fix:
    return Fix(f"setter:tile:{index}", str(value), f"use {'mnk'[index]} = {value}")


def shape_fix(setter: str, value: Shape3) -> Fix:
    # A cluster's k extent is 1 where it is not given: the fix stays as short as what people write.
    shown = value[:2] if setter == "cluster" and value[2] == 1 else value
    arguments = ", ".join(map(str, shown))
    return Fix(f"setter:{setter}", f".with_{setter}({arguments})", f"use ({arguments})")
