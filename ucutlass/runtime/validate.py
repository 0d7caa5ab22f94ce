"""Validation of a kernel: run it on many inputs, and hold results, inputs and memory against what a right kernel does.

Imports the dialect, the interpreter, the bounds and `validation`; torch inside functions. `docs/validation.md` states
the rules. For each case a kernel runs twice, on memory of its own each time:

1. inputs lie between guards and are hashed; results lie between guards and are poisoned, differently in each run;
2. guards must be whole and inputs unchanged after each run, and no byte of a result may keep both poisons;
3. both runs must give the same bytes;
4. the first run's results are compared with the program's meaning in double precision, element by element.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from ucutlass.diagnostics.core import DiagnosticError
from ucutlass.dialects.ucutlass.base import UcuOp
from ucutlass.dialects.ucutlass.kernel import KernelOp
from ucutlass.interpreter.bindings import Signature
from ucutlass.interpreter.inputs import random_inputs
from ucutlass.runtime.validation.cases import Case
from ucutlass.runtime.validation.compare import Comparison, Fault, compare
from ucutlass.runtime.validation.expected import Expected, expected_results
from ucutlass.runtime.validation.memory import (
    POISONS,
    Guarded,
    content_hash,
    guarded_like,
    guarded_result,
    same_bytes,
)
from ucutlass.sol.counts import compute_mode
from ucutlass.sol.modes import roundoff_of
from ucutlass.sol.program import contractions

if TYPE_CHECKING:
    from torch import Tensor

Outcome = (
    Fault
    | Literal[
        "passed",
        "not_written",
        "write_outside",
        "input_modified",
        "not_deterministic",
        "refused",
        "crashed",
        "timeout",
        "out_of_memory",
    ]
)

CODES: dict[Outcome, str] = {
    "dtype": "UC0904",
    "shape": "UC0905",
    "zeros": "UC1011",
    "non_finite": "UC1011",
    "wrong_result": "UC1011",
    "frobenius": "UC1011",
    "not_deterministic": "UC1012",
    "input_modified": "UC1014",
    "write_outside": "UC1015",
    "not_written": "UC1016",
    "refused": "UC0910",
    "crashed": "UC0912",
    "timeout": "UC0913",
    "out_of_memory": "UC0914",
}
"""The diagnostic of each outcome that is no success."""

AMPLIFYING = frozenset(
    {"exp", "log", "pow", "div", "reciprocal", "rsqrt", "sqrt", "sin", "cos", "softsign", "logsigmoid", "square"}
)
"""Element-wise operations after which the norm of an error says little: they make small values count, or large ones."""


class Runner(Protocol):
    """Runs the kernel under test on stored tensors; it fills the results and returns when they are on their way."""

    def __call__(self, inputs: "Sequence[Tensor]", results: "Sequence[Tensor]", /) -> None: ...


@dataclass(frozen=True)
class CaseResult:
    """What became of one set of inputs."""

    case: Case
    outcome: Outcome
    message: str
    """What is wrong in numbers; empty where nothing is."""
    comparisons: tuple[Comparison, ...] = ()
    """By result; empty where there was nothing to compare."""
    code: str | None = None

    @property
    def passed(self) -> bool:
        return self.outcome == "passed"


@dataclass(frozen=True)
class Validation:
    """What became of all of them."""

    results: tuple[CaseResult, ...]
    planned: int
    """Cases that were to be run; more than `results` where a failure stopped the rest."""

    @property
    def passed(self) -> bool:
        return len(self.results) == self.planned and all(result.passed for result in self.results)

    @property
    def failure(self) -> CaseResult | None:
        """The first case that failed."""
        return next((result for result in self.results if not result.passed), None)

    @property
    def comparisons(self) -> list[Comparison]:
        return [comparison for result in self.results for comparison in result.comparisons]

    @property
    def error_over_bound(self) -> float:
        """The largest error of any element of any case over its bound."""
        return max((c.error_over_bound for c in self.comparisons), default=0.0)

    @property
    def max_error(self) -> float:
        return max((c.max_error for c in self.comparisons), default=0.0)

    @property
    def frobenius(self) -> float:
        """The largest `‖err‖/‖ref‖` of the cases that it counts for."""
        counting = [c for r in self.results if r.case.counts_norm for c in r.comparisons]
        return max((c.frobenius for c in counting), default=0.0)

    @property
    def frobenius_limit(self) -> float | None:
        return next((c.frobenius_limit for c in self.comparisons if c.frobenius_limit is not None), None)

    @property
    def matched_ratio(self) -> float:
        return min((c.matched_ratio for c in self.comparisons), default=1.0)

    @property
    def checked_ratio(self) -> float:
        """Share of all elements that had a finite bound."""
        elements = sum(c.elements for c in self.comparisons)
        return sum(c.checked for c in self.comparisons) / elements if elements else 1.0


def validate(
    kernel: KernelOp,
    runner: Runner,
    cases: Iterable[Case],
    *,
    fused: KernelOp | None = None,
    device: str = "cpu",
    stop: bool = True,
    on_case: Callable[[CaseResult], None] | None = None,
) -> Validation:
    """Validate a kernel against the inferred program that it was made from.

    `fused` is that program after `fuse`, so that the rounding of the cuts is allowed for. `stop` leaves the rest out
    after a failure; a crash always does, since nothing can run on the device after it.
    """
    planned = list(cases)
    reference = kernel if fused is None else fused
    results: list[CaseResult] = []
    for case in planned:
        result = _run_case(kernel, reference, runner, case, device)
        results.append(result)
        if on_case is not None:
            on_case(result)
        if result.outcome == "crashed" or (stop and not result.passed):
            break
    return Validation(tuple(results), len(planned))


def frobenius_limits(kernel: KernelOp) -> tuple[float | None, ...]:
    """The limit of `‖err‖/‖ref‖` for each result, `u(output) + 2·u(compute)`; None where the norm says little.

    It says something of floats behind at most one contraction and operations that keep errors as large as they are.
    """
    operations = [op for op in kernel.walk() if isinstance(op, UcuOp) and not op.is_number]
    tame = all(
        op.spec.is_contraction
        or op.spec.family in ("movement", "staging")
        or (op.spec.is_elementwise and op.spec.name not in AMPLIFYING)
        for op in operations
    )
    found = contractions(kernel)
    if not tame or len(found) > 1:
        return tuple(None for _ in kernel.declared_types)
    operands = 2 * max((roundoff_of(compute_mode(op)) for op in found), default=roundoff_of("f32"))
    return tuple(
        type_.element.unit_roundoff + operands if type_.element.is_float else None for type_ in kernel.declared_types
    )


class _FaultError(Exception):
    """A fault that ends a case."""

    def __init__(self, outcome: Outcome, message: str, code: str | None = None) -> None:
        super().__init__(message)
        self.outcome: Outcome = outcome
        self.message = message
        self.code = code or CODES[outcome]


def out_of_memory() -> type[Exception]:
    """What PyTorch raises where the device has too little memory."""
    import torch  # half a second, and most of the compiler needs none of it

    return torch.OutOfMemoryError


def _run_case(kernel: KernelOp, reference: KernelOp, runner: Runner, case: Case, device: str) -> CaseResult:
    try:
        return _judged_case(kernel, reference, runner, case, device)
    except out_of_memory() as error:
        return CaseResult(case, "out_of_memory", f"{error} ({case})", (), CODES["out_of_memory"])


def _judged_case(kernel: KernelOp, reference: KernelOp, runner: Runner, case: Case, device: str) -> CaseResult:
    drawn = random_inputs(kernel, case.bindings, case.seed, case.distribution, device)
    names = [name for name, _ in Signature.of(kernel).arguments]
    expected = expected_results(reference, drawn)
    limits = frobenius_limits(kernel) if case.counts_norm else tuple(None for _ in expected)
    try:
        first, second = (_run_once(kernel, runner, names, drawn, expected, poison) for poison in POISONS)
        _check_written(expected, first, second)
        _check_same(expected, first, second)
    except _FaultError as fault:
        return CaseResult(case, fault.outcome, f"{fault.message} ({case})", (), fault.code)
    comparisons = tuple(
        compare(result.tensor, wanted, non_finite=case.non_finite, frobenius_limit=limit)
        for result, wanted, limit in zip(first, expected, limits, strict=True)
    )
    wrong = next((comparison for comparison in comparisons if comparison.fault is not None), None)
    if wrong is None or wrong.fault is None:
        return CaseResult(case, "passed", "", comparisons)
    return CaseResult(case, wrong.fault, f"{wrong.message} ({case})", comparisons, CODES[wrong.fault])


def _run_once(
    kernel: KernelOp,
    runner: Runner,
    names: Sequence[str],
    drawn: "Sequence[Tensor]",
    expected: Sequence[Expected],
    poison: int,
) -> list[Guarded]:
    """The results of one run on fresh memory. Raises _FaultError where the kernel touched what is not its own."""
    types = [type_ for _, type_ in Signature.of(kernel).arguments]
    inputs = [guarded_like(tensor, type_.order) for tensor, type_ in zip(drawn, types, strict=True)]
    device = drawn[0].device if drawn else "cpu"
    results = [guarded_result(wanted.type, wanted.shape, device) for wanted in expected]
    for result in results:
        result.poison(poison)
    before = [content_hash(guarded.tensor) for guarded in inputs]
    try:
        runner([guarded.tensor for guarded in inputs], [guarded.tensor for guarded in results])
        _wait(inputs, results)
    except out_of_memory():
        raise
    except DiagnosticError as error:
        raise _FaultError("refused", str(error), error.diagnostics[0].code) from error
    except RuntimeError as error:
        # PyTorch reports what a kernel did wrong on the device as this; the device is lost to the process.
        raise _FaultError("crashed", f"the kernel failed on the device: {error}") from error
    labels = [*names, *(wanted.name for wanted in expected)]
    for label, guarded in zip(labels, [*inputs, *results], strict=True):
        offset = guarded.damage()
        if offset is not None:
            size = guarded.inside.numel()
            where = f"{-offset} bytes before the start" if offset < 0 else f"{offset - size} bytes past the end"
            raise _FaultError("write_outside", f"memory beside {label} was written, first {where}")
    for name, guarded, hashed in zip(names, inputs, before, strict=True):
        if content_hash(guarded.tensor) != hashed:
            raise _FaultError("input_modified", f"the kernel changed its input {name}")
    return results


def _wait(inputs: Sequence[Guarded], results: Sequence[Guarded]) -> None:
    """Wait until the device has done all that was asked of it."""
    every = [*inputs, *results]
    if every and every[0].buffer.is_cuda:
        import torch  # half a second, and most of the compiler needs none of it

        torch.cuda.synchronize(every[0].buffer.device)


def _check_written(expected: Sequence[Expected], first: Sequence[Guarded], second: Sequence[Guarded]) -> None:
    for wanted, one, other in zip(expected, first, second, strict=True):
        left = one.unwritten(POISONS[0]) & other.unwritten(POISONS[1])
        count = int(left.sum())
        if count:
            item = one.tensor.dtype.itemsize
            place = int(left.nonzero()[0, 0]) // item
            raise _FaultError(
                "not_written",
                f"{count} of {left.numel()} bytes of {wanted.name} were not written, first in the element at place "
                f"{place} in memory",
            )


def _check_same(expected: Sequence[Expected], first: Sequence[Guarded], second: Sequence[Guarded]) -> None:
    for wanted, one, other in zip(expected, first, second, strict=True):
        if not same_bytes(one, other):
            count = int((one.inside != other.inside).sum())
            raise _FaultError("not_deterministic", f"two runs on equal inputs differ in {count} bytes of {wanted.name}")
