"""The bounds of a program: of each operation, of each kernel after fusion, of the whole, and of faster types.

Imports the dialect, the targets and the leaves. A program is one inferred `KernelOp`; its kernels are those of the same
`KernelOp` after the pass `fuse`, which the caller runs on a copy. Shapes of the text and JSON forms are `report`'s.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.ir import Operation

from ucutlass.diagnostics.locations import file_location
from ucutlass.dialects.ucutlass.base import UcuOp
from ucutlass.dialects.ucutlass.kernel import KernelOp
from ucutlass.sol.bound import Bound, add_flops, bound_of
from ucutlass.sol.counts import Counter, Liveness, compute_mode, is_float_mode, is_free
from ucutlass.sol.modes import FASTER_MODES, rate_of, roundoff_of
from ucutlass.targets.gpu import Gpu


@dataclass(frozen=True)
class Entry:
    """The bound of one operation or kernel, and where it is in the program."""

    name: str
    """Names of its results."""
    kind: str
    """The operation, or the family of the kernel."""
    operations: tuple[str, ...]
    line: int | None
    bound: Bound


@dataclass(frozen=True)
class FasterType:
    """The program's bound if its contractions formed their products in a faster type."""

    mode: str
    bound: Bound
    relative_error: float
    """`‖err‖/‖ref‖` that it may cost: one rounding of each operand, and that of the result."""
    is_allowed: bool | None
    """Whether a given tolerance allows it, None where none was given."""


@dataclass(frozen=True)
class ProgramBound:
    """Everything that there is to say about one program on one GPU for one set of sizes."""

    name: str
    gpu: Gpu
    sizes: Mapping[str, int]
    program: Bound
    kernels: tuple[Entry, ...]
    operations: tuple[Entry, ...]
    faster_types: tuple[FasterType, ...]

    @property
    def kernels_time(self) -> float:
        """The kernels one after another."""
        return sum(entry.bound.time for entry in self.kernels)

    @property
    def operations_time(self) -> float:
        """The operations one after another, each with its operands and results in memory."""
        return sum(entry.bound.time for entry in self.operations)


def analyze(
    kernel: KernelOp,
    fused: KernelOp | None,
    gpu: Gpu,
    sizes: Mapping[str, int],
    tolerance: float | None = None,
) -> ProgramBound:
    """The bounds of an inferred kernel; of its device kernels only where the kernel after `fuse` is given.

    Raises KeyError on a dimension name without a size, and ValueError where the GPU has no peak for a type.
    """
    counter = Counter(gpu, sizes)
    live = Liveness(kernel)
    operations = tuple(
        _entry(op, op.spec.name, (op.spec.spelling,), bound_of(counter.operation(op), gpu))
        for op in live.operations
        if not is_free(op)
    )
    groups = () if fused is None else Liveness(fused).groups
    kernels = tuple(
        _entry(
            group,
            group.kind.data,
            tuple(op.spec.spelling for op in group.body.block.ops if isinstance(op, UcuOp) and not is_free(op)),
            bound_of(counter.fused(group), gpu),
        )
        for group in groups
    )
    return ProgramBound(
        kernel.sym_name.data,
        gpu,
        dict(sizes),
        bound_of(counter.program(kernel), gpu),
        kernels,
        operations,
        tuple(_faster_types(kernel, counter, tolerance)),
    )


def relative_error_of(kernel: KernelOp, mode: str | None = None) -> float:
    """`u(output type) + 2·u(compute type)`: what one rounding of the result and of both operands may cost.

    The output type is the coarsest, and so is the compute type where the program has several contractions; `mode`
    stands in for the latter.
    """
    outputs = max((type_.element.unit_roundoff for type_ in kernel.declared_types), default=0.0)
    modes = [mode] if mode is not None else [compute_mode(op) for op in contractions(kernel)]
    return outputs + 2 * max((roundoff_of(m) for m in modes), default=roundoff_of("f32"))


def contractions(kernel: KernelOp) -> list[UcuOp]:
    """The live contractions and attentions of a kernel."""
    return [op for op in Liveness(kernel).operations if op.spec.is_contraction or op.spec.family == "attention"]


def _faster_types(kernel: KernelOp, counter: Counter, tolerance: float | None) -> list[FasterType]:
    gpu = counter.gpu
    own = [mode for op in contractions(kernel) if is_float_mode(mode := compute_mode(op))]
    if not own:
        return []
    found: list[FasterType] = []
    slowest = min(rate_of(mode, gpu) for mode in own)
    for mode in FASTER_MODES:
        if rate_of(mode, gpu) <= slowest:
            continue
        error = relative_error_of(kernel, mode)
        allowed = None if tolerance is None else error <= tolerance
        bound = bound_of(Counter(gpu, counter.sizes, mode).program(kernel), gpu)
        found.append(FasterType(mode, bound, error, allowed))
    return found


def _entry(op: Operation, kind: str, operations: tuple[str, ...], bound: Bound) -> Entry:
    names = [value.name_hint for value in op.results if value.name_hint is not None]
    place = file_location(op.location)
    line = place.line.data if place is not None else None
    return Entry(", ".join(names), kind, operations, line, bound)


def sum_of(entries: tuple[Entry, ...]) -> tuple[float, int]:
    """FLOPs and bytes of entries together."""
    work = add_flops((entry.bound.work for entry in entries), sum(entry.bound.work.bytes for entry in entries))
    return work.total_flops, work.bytes
