"""Which lowering builds the device kernel of a group: a table by family and target.

A new family of kernels is a row here. A lowering is imported when a program has a group of its family: together they
would take a tenth of a start.
"""

from collections.abc import Callable

from ucutlass.dialects.cutlass.program import DeviceKernelOp
from ucutlass.dialects.ucutlass import FusedOp
from ucutlass.records import record
from ucutlass.targets.arch import Architecture

Lowering = Callable[[FusedOp, DeviceKernelOp, Architecture], None]
"""Fills the body of the device kernel of a group."""


def _gemm_sm90(fused: FusedOp, kernel: DeviceKernelOp, target: Architecture) -> None:
    from ucutlass.passes.lowering.contraction import read_contraction
    from ucutlass.passes.lowering.gemm_sm90 import Sm90GemmLowering

    assert fused.selection is not None
    Sm90GemmLowering(read_contraction(fused), kernel, fused.selection).build()


def _elementwise(fused: FusedOp, kernel: DeviceKernelOp, target: Architecture) -> None:
    from ucutlass.passes.lowering.elementwise import lower_elementwise

    lower_elementwise(fused, kernel, target)


def _rows(fused: FusedOp, kernel: DeviceKernelOp, target: Architecture) -> None:
    from ucutlass.passes.lowering.rows import lower_rows

    lower_rows(fused, kernel, target)


def _scan(fused: FusedOp, kernel: DeviceKernelOp, target: Architecture) -> None:
    from ucutlass.passes.lowering.scan import lower_scan

    lower_scan(fused, kernel, target)


@record
class Family:
    """One row of the table."""

    kinds: tuple[str, ...]
    lowering: Lowering
    targets: tuple[str, ...] = ()
    """Empty for kernels that every target has."""


FAMILIES: tuple[Family, ...] = (
    Family(("gemm",), _gemm_sm90, ("sm_90a",)),
    Family(("elementwise", "copy", "movement", "pool"), _elementwise),
    Family(("reduction", "rowwise"), _rows),
    Family(("scan",), _scan),
)


def lowering_of(fused: FusedOp, target: str) -> Lowering | None:
    """The lowering of a group, None where the target has none."""
    rows = (f for f in FAMILIES if fused.kind.data in f.kinds and (not f.targets or target in f.targets))
    return next((f.lowering for f in rows), None)


def families_of(target: str) -> tuple[str, ...]:
    """The families of kernels that a target has."""
    return tuple(kind for f in FAMILIES if not f.targets or target in f.targets for kind in f.kinds)
