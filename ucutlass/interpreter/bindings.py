"""The sizes that a kernel's dimension names stand for at run time, and the conditions that the caller guarantees.

Imports the dialect and the leaves, no torch. A name is bound by an argument that has it as a size, or by a condition
`P == expression`; every other size is then checked against what the names say.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from ucutlass.diagnostics.core import Diagnostic, DiagnosticError, Severity
from ucutlass.dialects.ucutlass.base import UcuOp
from ucutlass.dialects.ucutlass.kernel import KernelOp
from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.dims import Condition
from ucutlass.interpreter.storage import innermost, is_packed


@dataclass(frozen=True)
class Signature:
    """What a caller sees of a kernel, in whatever dialect it is."""

    name: str
    arguments: tuple[tuple[str, TensorType], ...]
    results: tuple[TensorType, ...]
    where: tuple[Condition, ...]
    needs: tuple[tuple[str, Condition], ...] = ()
    """What operations need of dynamic sizes beyond the where clause, with the name of the operation."""

    @staticmethod
    def of(kernel: KernelOp) -> "Signature":
        """The signature of an inferred kernel of the `ucutlass` dialect."""
        arguments = kernel.body.block.args
        names = [value.name_hint or f"#{index}" for index, value in enumerate(arguments)]
        types = [cast(TensorType, value.type) for value in arguments]
        operations = [op for op in kernel.walk() if isinstance(op, UcuOp)]
        return Signature(
            kernel.sym_name.data,
            tuple(zip(names, types, strict=True)),
            kernel.declared_types,
            kernel.where.data,
            tuple((op.spec.spelling, need) for op in operations for need in op.needs(kernel.facts)),
        )

    @property
    def dimension_names(self) -> tuple[str, ...]:
        """Every dimension name of arguments, results and conditions, in order of first use."""
        dims = [dim for type_ in (*(t for _, t in self.arguments), *self.results) for dim in type_.dims]
        dims += [side for condition in self.where for side in (condition.left, condition.right)]
        return tuple(dict.fromkeys(name for dim in dims for name in sorted(dim.names)))

    def refuse(self, code: str, message: str) -> DiagnosticError:
        """The error to raise when a call does not fit."""
        return DiagnosticError(Diagnostic(code, Severity.ERROR, f"kernel {self.name}: {message}"))


def complete_bindings(signature: Signature, bindings: Mapping[str, int]) -> dict[str, int]:
    """The given sizes of names with those that equations define, once every condition is known to hold.

    Raises DiagnosticError UC1002 on a negative size, UC0909 on a condition that does not hold and UC0313 on a name that
    nothing binds.
    """
    sizes = dict(bindings)
    definitions = [definition for condition in signature.where for definition in condition.definitions]
    while new := {n: right for n, right in definitions if n not in sizes and right.names <= sizes.keys()}:
        sizes |= {name: right.evaluate(sizes) for name, right in new.items()}
    unbound = [name for name in signature.dimension_names if name not in sizes]
    if unbound:
        raise signature.refuse("UC0313", f"the size of {', '.join(unbound)} is not given and follows from nothing")
    for condition in signature.where:
        if not condition.holds(sizes):
            raise signature.refuse("UC0909", f"'where {condition}' does not hold for {_spelled(sizes, condition)}")
    for name, size in sizes.items():
        if size < 0:
            raise signature.refuse("UC1002", f"size {name} is {size}, expected 0 or more")
    for operation, condition in signature.needs:
        if not condition.holds(sizes):
            found = _spelled(sizes, condition)
            raise signature.refuse("UC0909", f"{operation} needs {condition}, which does not hold for {found}")
    return sizes


def _spelled(sizes: Mapping[str, int], condition: Condition) -> str:
    names = sorted(condition.left.names | condition.right.names)
    return ", ".join(f"{name} = {sizes[name]}" for name in names) or "any size"


def bind_shapes(signature: Signature, shapes: Sequence[Sequence[int]]) -> dict[str, int]:
    """The sizes of all names for arguments of these logical shapes.

    Raises DiagnosticError UC1002 on a wrong count or shape, and what `complete_bindings` raises.
    """
    if len(signature.arguments) != len(shapes):
        raise signature.refuse("UC1002", f"takes {len(signature.arguments)} tensors, got {len(shapes)}")
    sizes: dict[str, int] = {}
    owners: dict[str, str] = {}
    for (label, type_), shape in zip(signature.arguments, shapes, strict=True):
        if len(shape) != type_.rank:
            raise signature.refuse(
                "UC1002",
                f"argument {label} is {type_.spelling}, {type_.rank} dimensions, got {len(shape)}: {list(shape)}",
            )
        for axis, (dim, size) in enumerate(zip(type_.dims, shape, strict=True)):
            name = dim.name
            if name is None:
                continue
            here = f"dimension {axis} of {label}"
            if sizes.setdefault(name, size) != size:
                raise signature.refuse(
                    "UC1002", f"size {name} is {sizes[name]} in {owners[name]}, but {size} in {here}"
                )
            owners.setdefault(name, here)
    sizes = complete_bindings(signature, sizes)
    for (label, type_), shape in zip(signature.arguments, shapes, strict=True):
        for axis, (dim, size) in enumerate(zip(type_.dims, shape, strict=True)):
            expected = dim.evaluate(sizes)
            if expected != size:
                what = f"{expected}" if dim.is_static else f"{dim} = {expected}"
                raise signature.refuse(
                    "UC1002", f"argument {label} is {type_.spelling}: its dimension {axis} must be {what}, got {size}"
                )
    return sizes


def logical_shapes(signature: Signature, stored: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """The shapes of arguments whose stored tensors have these shapes.

    Two sizes fit a packed dimension; it is the one that the type or another argument says, else the even one.
    """
    types = [type_ for _, type_ in signature.arguments]
    if len(types) != len(stored):
        raise signature.refuse("UC1002", f"takes {len(types)} tensors, got {len(stored)}")
    packed = [
        innermost(type_.order) if is_packed(type_.element) and len(shape) == type_.rank else None
        for type_, shape in zip(types, stored, strict=True)
    ]
    known: dict[str, int] = {}
    for type_, shape, axis in zip(types, stored, packed, strict=True):
        # Another rank is refused later, with the names at hand.
        for index, (dim, size) in enumerate(zip(type_.dims, shape, strict=False)):
            if index != axis and dim.name is not None:
                known.setdefault(dim.name, size)
    shapes: list[tuple[int, ...]] = []
    for type_, shape, axis in zip(types, stored, packed, strict=True):
        logical = list(shape)
        if axis is not None:
            dim = type_.dims[axis]
            size = dim.evaluate(known) if dim.names <= known.keys() else None
            logical[axis] = size if size is not None and (size + 1) // 2 == shape[axis] else 2 * shape[axis]
        shapes.append(tuple(logical))
    return shapes
