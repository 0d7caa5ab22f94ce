"""Renders the fragments that operations of the `cutlass` dialect are spelled with."""

from collections.abc import Mapping, Sequence

from xdsl.ir import SSAValue

from ucutlass.dialects.cutlass.core import (
    Braces,
    Carveout,
    Data,
    Dimension,
    Fragment,
    Member,
    Pointer,
    SizeOf,
    Spelled,
    Steps,
    Stride,
)
from ucutlass.dialects.cutlass.views import argument_of
from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.dims import Dim


def render(fragment: Fragment, types: Mapping[SSAValue, str], tensors: Mapping[SSAValue, str]) -> str:
    """The C++ of a fragment, given the names of the types and of the tensors."""
    match fragment:
        case str():
            return fragment
        case SSAValue():
            return types[fragment]
        case Member(type=owner, name=name):
            return f"{types[owner]}::{name}"
        case Carveout(epilogue=epilogue):
            storage = f"sizeof(typename {types[epilogue]}::SharedStorage)"
            return f"cutlass::gemm::collective::StageCountAutoCarveout<static_cast<int>({storage})>"
        case Pointer(tensor=tensor, mutable=mutable):
            argument, _ = argument_of(tensor)
            assert isinstance(argument.type, TensorType)
            element = argument.type.element.cutlass
            return f"static_cast<{element}{'' if mutable else ' const'}*>({tensors[argument]}.data)"
        case Stride(tensor=tensor, modes=modes):
            return "{" + ", ".join(_mode(mode, tensors[tensor], last=i == 2) for i, mode in enumerate(modes)) + "}"
        case Braces(members=members):
            return "{" + ", ".join(render(member, types, tensors) for member in members) + "}"
        case Spelled(name=name, members=members):
            return f"{name}<{', '.join(render(member, types, tensors) for member in members)}>"
        case Data(tensor=tensor):
            return f"{tensors[tensor]}.data"
        case SizeOf(dim=dim):
            return size(dim)
        case Steps(tensor=tensor, counts=counts):
            return _steps(counts, tensors[tensor])


def _steps(counts: Sequence[Dim], tensor: str) -> str:
    """A sum of strides."""
    terms: list[str] = []
    for dim, count in enumerate(counts):
        if count == Dim.of(1):
            terms.append(f"stride({tensor}, {dim})")
        elif count != Dim.of(0):
            factor = size(count) if count.is_static and count.value >= 0 else f"({size(count)})"
            terms.append(f"{factor} * stride({tensor}, {dim})")
    return " + ".join(terms) or "0"


def _mode(mode: int | Dimension, tensor: str, last: bool) -> str:
    if isinstance(mode, Dimension):
        return f"stride({tensor}, {mode.index})"
    return str(mode) if last else f"cute::Int<{mode}>{{}}"


def size(dim: Dim) -> str:
    """A size as a C++ expression over `int64_t` variables `dim_NAME`."""
    return str(dim.substitute({name: Dim.of(f"dim_{name}") for name in dim.names}))
