"""Choice of the configuration that the cost model predicts to be fastest.

Imports only the standard library and `ucutlass.targets`. Candidates come from the same enumeration as every verdict, on
a part of the space that experience says is enough; where that part holds nothing legal, the whole space is searched.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

from ucutlass.targets.arch import Architecture, architecture
from ucutlass.targets.cost import SWIZZLES, CostBreakdown, predict
from ucutlass.targets.enumerate import Problem, branches, exists, fill
from ucutlass.targets.gpu import Gpu, load_gpu
from ucutlass.targets.problem import ANY, RASTER_ORDERS, Config, EpilogueSpec
from ucutlass.targets.rules.core import WHOLE_SPACE, Space

REFINED = 8
"""Candidates whose order of tiles is tried out."""
SPACE_LIMIT = 1500
DIVIDED_SCHEDULES = ("cooperative", "cpasync_cooperative", "multistage")
MAX_SLICES = 32
DIVIDED_MARGIN = 1.05
WIDE_CLUSTER_MARGIN = 1.05


@dataclass(frozen=True, slots=True)
class Ranked:
    """A configuration with its predicted cost."""

    config: Config
    cost: CostBreakdown


_NEAR = Space(
    frozenset({"cooperative", "pingpong", "two_sm", "one_sm", "multistage"}),
    frozenset({"tma", None}),
    frozenset({8, 16, 32, 64, 96, 128, 192, 256}),
    True,
    frozenset({(1, 1, 1), (2, 1, 1), (1, 2, 1), (2, 2, 1), (4, 1, 1), (1, 4, 1)}),
)
"""What usually wins: warp-specialized TMA kernels, whole lines of k, single-instruction widths, small clusters."""
SPACES = (_NEAR, replace(_NEAR, epilogues=None), replace(_NEAR, epilogues=None, schedules=None), WHOLE_SPACE)
"""Parts of the space, tried in turn until one holds something legal."""


def candidates(
    problem: Problem, epilogue: EpilogueSpec, partial: Config, arch: Architecture, every_family: bool = False
) -> list[Config]:
    """Configurations worth ranking, of the first family that has any."""
    by_family: dict[str, list[Config]] = {}
    for family, candidate in branches(problem, epilogue, partial, arch):
        if by_family and family.name not in by_family and not every_family:
            break
        for space in SPACES:
            configs = list(islice(fill(family, replace(candidate), space), SPACE_LIMIT))
            if configs:
                by_family.setdefault(family.name, []).extend(configs)
                break
    return [c for configs in by_family.values() for c in configs]


def _sliced(ranked: Ranked, partial: Config, gpu: Gpu) -> Iterator[Config]:
    """The configuration with its reduction divided so that the tiles fill the chip, where they do not by themselves."""
    config = ranked.config
    if partial.split_k is not None or config.scheduler == "stream_k" or config.schedule not in DIVIDED_SCHEDULES:
        return
    if ranked.cost.waves > 1 or ranked.cost.tiles > gpu.sm_count // 2:
        return
    filling = min(MAX_SLICES, gpu.sm_count // ranked.cost.tiles)
    for slices in sorted({filling, max(2, filling // 2), max(2, filling // 4)}):
        yield replace(config, split_k=slices)


def _ordered(config: Config, partial: Config) -> Iterator[Config]:
    """The configuration with the orders of tiles that are free."""
    multistage = config.schedule == "multistage"
    for order in (partial.raster,) if partial.raster is not None else RASTER_ORDERS:
        for swizzle in (partial.swizzle,) if partial.swizzle is not None else SWIZZLES:
            if multistage and (order == "along_n" and swizzle != 1 or config.scheduler == "stream_k"):
                continue
            yield replace(config, raster=order, swizzle=swizzle)


def _key(ranked: Ranked) -> float:
    """Predicted time, with a margin on what must promise a clear gain.

    A divided reduction depends on how blocks happen to meet; clusters of more than two blocks are outside of what the
    model was fitted to.
    """
    config, us = ranked.config, ranked.cost.us
    if config.scheduler == "stream_k" or (config.split_k or 1) > 1:
        us *= DIVIDED_MARGIN
    if config.cluster is not None and config.cluster[0] * config.cluster[1] > 2:
        us *= WIDE_CLUSTER_MARGIN
    return us


def rank(
    problem: Problem,
    epilogue: EpilogueSpec,
    partial: Config,
    arch: Architecture,
    gpu: Gpu,
    count: int = REFINED,
    every_family: bool = False,
) -> list[Ranked]:
    """The best configurations by predicted time, fastest first; empty where none is legal.

    Only the first family that has any is ranked, unless every one is asked for: the others are for what it cannot do.
    """
    found = candidates(problem, epilogue, partial, arch, every_family)
    ranked = [Ranked(c, predict(problem, epilogue, c, gpu)) for c in found]
    ranked.sort(key=_key)
    sliced = [Ranked(s, predict(problem, epilogue, s, gpu)) for r in ranked for s in _sliced(r, partial, gpu)]
    legal = [r for r in sorted(sliced, key=_key)[: 4 * count] if exists(problem, epilogue, r.config, arch)]
    ranked = sorted([*ranked, *legal], key=_key)[:count]
    if partial.raster is not None and partial.swizzle is not None:
        return ranked
    refined: list[Ranked] = []
    for r in ranked:
        options = [Ranked(c, predict(problem, epilogue, c, gpu)) for c in _ordered(r.config, partial)] or [r]
        refined.append(min([r, *options], key=_key))
    return sorted(refined, key=_key)


def select(
    problem: Problem,
    epilogue: EpilogueSpec,
    partial: Config = ANY,
    arch: Architecture | None = None,
    gpu: Gpu | None = None,
) -> Config | None:
    """The configuration predicted to be fastest that obeys what is set; None where there is none."""
    assert arch is not None or gpu is not None, "a target or a GPU must be given"
    target = arch if arch is not None else architecture(gpu.arch if gpu is not None else "")
    chip = gpu if gpu is not None else load_gpu(target.default_gpu)
    best = rank(problem, epilogue, partial, target, chip, REFINED)
    return best[0].config if best else None
