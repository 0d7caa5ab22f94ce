"""Architectures: what each target name means to nvcc and to CUTLASS.

A leaf: imports only the standard library. A target has one or more kernel families, in the order in which they are
tried; the first is the one that its tensor cores were built for.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from ucutlass.records import record

FamilyName = Literal["sm80_2x", "sm90_3x", "sm100_3x", "sm120_3x"]

FIXED_NAMES: Mapping[str, str] = MappingProxyType({"sm_90": "sm_90a", "sm_100": "sm_100a", "sm_120": "sm_120a"})
"""Names without the `a`: code for them lacks the instructions that the kernels are made of."""

NEAREST: Mapping[str, str] = MappingProxyType(
    {
        "sm_87": "sm_86",
        "sm_88": "sm_89",
        "sm_101": "sm_100a",
        "sm_101a": "sm_100a",
        "sm_103": "sm_100a",
        "sm_103a": "sm_100a",
        "sm_110": "sm_100a",
        "sm_110a": "sm_100a",
        "sm_121": "sm_120a",
        "sm_121a": "sm_120a",
    }
)
"""The target whose kernels a chip without one of its own is closest to."""


class UnknownTargetError(ValueError):
    """A target name that the compiler does not know; `fix` is what to write instead, None where nothing is close."""

    def __init__(self, message: str, fix: str | None) -> None:
        super().__init__(message)
        self.fix = fix


@record
class Architecture:
    """One target."""

    name: str
    """The language's name and nvcc's, `sm_90a`."""
    capability: int
    """Compute capability, 90."""
    families: tuple[FamilyName, ...]
    shared_memory: int
    """Bytes that one thread block may opt in to."""
    default_gpu: str
    """The GPU that costs are estimated for when none is named."""

    @property
    def nvcc_target(self) -> str:
        """Value of nvcc's `-arch`."""
        return self.name

    @property
    def family(self) -> FamilyName:
        """The family of kernels that the target was built for."""
        return self.families[0]

    def __str__(self) -> str:
        return self.name


ARCHITECTURES: Mapping[str, Architecture] = MappingProxyType(
    {
        a.name: a
        for a in (
            Architecture("sm_80", 80, ("sm80_2x",), 166912, "a100-80gb"),
            Architecture("sm_86", 86, ("sm80_2x",), 101376, "a10"),
            Architecture("sm_89", 89, ("sm80_2x",), 101376, "l40s"),
            Architecture("sm_90a", 90, ("sm90_3x", "sm80_2x"), 232448, "h200"),
            Architecture("sm_100a", 100, ("sm100_3x", "sm80_2x"), 232448, "b200"),
            Architecture("sm_120a", 120, ("sm120_3x", "sm80_2x"), 101376, "rtx5090"),
        )
    }
)


def architecture(name: str) -> Architecture:
    """The target of a name; an unknown one is an `UnknownTargetError` with the nearest as its fix."""
    found = ARCHITECTURES.get(name)
    if found is not None:
        return found
    known = ", ".join(ARCHITECTURES)
    if name in FIXED_NAMES:
        fix = FIXED_NAMES[name]
        raise UnknownTargetError(
            f"target {name} lacks the arch-specific instructions that its kernels are made of (wgmma, setmaxnreg,"
            f" tcgen05): a kernel built for it aborts on the device; use {fix}",
            fix,
        )
    fix = NEAREST.get(name)
    if fix is None:
        from difflib import get_close_matches  # only a mistake needs it

        close = get_close_matches(name, ARCHITECTURES, 1, 0.7)
        fix = close[0] if close else None
        hint = f"; did you mean {fix}?" if fix else ""
        raise UnknownTargetError(f"unknown target {name}: known are {known}{hint}", fix)
    raise UnknownTargetError(f"there are no kernels for target {name}: the nearest is {fix}; known are {known}", fix)
