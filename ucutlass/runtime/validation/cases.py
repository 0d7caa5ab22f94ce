"""Which inputs and sizes a kernel is run on when it is validated.

Imports the dialect and the interpreter. The seed of a run is secret until it is printed, so that no kernel can be made
for the inputs; a printed seed replays the run.
"""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ucutlass.diagnostics.core import DiagnosticError
from ucutlass.dialects.ucutlass.kernel import KernelOp
from ucutlass.interpreter.bindings import Signature, complete_bindings
from ucutlass.interpreter.inputs import DISTRIBUTIONS, Distribution
from ucutlass.runtime.validation.compare import NonFinite

ORDINARY: tuple[Distribution, ...] = ("normal", "uniform")
"""Distributions whose errors are so independent that their norm says something."""

MANY_ROUNDS = 3
"""Sets of normal inputs in a full plan; with one of every other distribution at least 5 sets."""


@dataclass(frozen=True)
class Case:
    """One set of inputs."""

    seed: int
    distribution: Distribution
    sizes: tuple[tuple[str, int], ...]
    """What every dimension name stands for."""

    @property
    def bindings(self) -> dict[str, int]:
        return dict(self.sizes)

    @property
    def non_finite(self) -> NonFinite:
        """The reference is the meaning of the program: where it is not finite, the kernel may not be either."""
        return "match"

    @property
    def counts_norm(self) -> bool:
        """Whether the Frobenius figure is held against the kernel."""
        return self.distribution in ORDINARY

    def __str__(self) -> str:
        sizes = "".join(f", {name} = {size}" for name, size in self.sizes)
        return f"{self.distribution} inputs, seed {self.seed}{sizes}"


def secret_seed() -> int:
    """A seed that nobody could know before."""
    return secrets.randbelow(2**31)


def plan_cases(
    kernel: KernelOp,
    sizes: Mapping[str, int],
    seed: int,
    *,
    rounds: int = MANY_ROUNDS,
    distributions: Sequence[Distribution] = DISTRIBUTIONS,
    neighbours: bool = True,
) -> list[Case]:
    """The cases of a run: `rounds` of normal inputs, one of each other distribution, and other sizes.

    `sizes` are complete. Other sizes are those around them, where dimensions are dynamic and the conditions allow it.
    """
    own = tuple(sizes.items())
    cases = [Case(seed + number, "normal", own) for number in range(rounds)]
    cases += [Case(seed + rounds + i, other, own) for i, other in enumerate(distributions) if other != "normal"]
    if neighbours:
        for other in neighbouring_sizes(kernel, sizes):
            cases.append(Case(seed + len(cases), "normal", tuple(other.items())))
    return cases


def neighbouring_sizes(kernel: KernelOp, sizes: Mapping[str, int]) -> list[dict[str, int]]:
    """Sizes around the given ones: one more, one less, 1, and one off a multiple of 128, for each name by itself.

    A name that an equation defines follows the others. What the conditions of the kernel rule out is left out.
    """
    signature = Signature.of(kernel)
    defined = {name for condition in signature.where for name, _ in condition.definitions}
    free = [name for name in signature.dimension_names if name not in defined]
    base = {name: sizes[name] for name in free}
    found: list[dict[str, int]] = []
    for name in free:
        size = sizes[name]
        for other in dict.fromkeys((size + 1, size - 1, 1, size // 2 // 128 * 128 + 127, size // 2 // 8 * 8 + 8)):
            if other < 1 or other == size:
                continue
            try:
                complete = complete_bindings(signature, base | {name: other})
            except DiagnosticError:
                # The caller promises not to call the kernel with these sizes.
                continue
            if complete not in found:
                found.append(complete)
    return found
