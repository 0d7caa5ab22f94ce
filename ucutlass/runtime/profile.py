"""Examining built kernels: validate each, then time those that are right beside each other and beside PyTorch.

Imports the compiler's front, the dialect and the modules beside it; torch inside functions. What a kernel is examined
on, a GPU with its timer, is a `Laboratory`, so that everything but the device can be tested without one. What is sent
and what comes back is plain data: the work is done in a process of its own (`isolation`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING, Protocol

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import SSAValue

from ucutlass.diagnostics.core import DiagnosticEngine
from ucutlass.diagnostics.locations import set_engine
from ucutlass.dialects.ucutlass.base import UcuOp
from ucutlass.dialects.ucutlass.kernel import TARGET_ATTRIBUTE, ConstantOp, KernelOp, kernels_of
from ucutlass.interpreter.inputs import DISTRIBUTIONS, Distribution, random_inputs
from ucutlass.passes.pipelines import passes_of, run_passes
from ucutlass.registry import DIALECTS, FRONTENDS, find
from ucutlass.runtime.baseline import Baseline, baselines
from ucutlass.runtime.machine import GpuState
from ucutlass.runtime.sampling import Interval
from ucutlass.runtime.timing import Contestant, Rounds, Timer, Timing, measure
from ucutlass.runtime.validate import Outcome, Runner, Validation, out_of_memory, validate
from ucutlass.runtime.validation.cases import MANY_ROUNDS, plan_cases
from ucutlass.runtime.validation.compare import compare
from ucutlass.runtime.validation.expected import expected_results
from ucutlass.runtime.validation.memory import guarded_result

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Subject:
    """A built kernel, in words that another process understands."""

    file: str
    text: str
    """The program."""
    language: str
    target: str | None
    """The target of a program that names none."""
    kernel: str
    sizes: Mapping[str, int]
    """Complete sizes of dimension names."""
    library: str
    """Path of the shared library."""


@dataclass(frozen=True)
class Plan:
    """How thoroughly to examine."""

    seed: int
    """Of the inputs; whoever examines draws it."""
    rounds: int = MANY_ROUNDS
    """Sets of normal inputs."""
    distributions: tuple[Distribution, ...] = DISTRIBUTIONS
    neighbours: bool = True
    """Whether other sizes are tried where dimensions are dynamic."""
    timing: Rounds = field(default_factory=Rounds)
    time: bool = True
    warm: bool = True
    """Whether warm times are taken beside the cold ones."""
    compiled: bool = True
    """Whether `torch.compile` is among the baselines."""


@dataclass(frozen=True)
class BaselineTime:
    """A baseline beside a kernel."""

    name: str
    settings: str
    computes_all: bool
    """Whether it computes what the program does."""
    timing: Timing
    ratio: Interval
    """The kernel's times over the baseline's."""
    is_resolved: bool


@dataclass(frozen=True)
class Times:
    """What was measured of one kernel."""

    cold: Timing
    warm: Timing | None
    baselines: tuple[BaselineTime, ...]
    failed_baselines: tuple[tuple[str, str], ...]
    """Baselines that PyTorch could not run, with its reason."""
    before: GpuState
    after: GpuState
    data: str = "normal"
    """Distribution of the inputs."""


class Laboratory(Protocol):
    """Where kernels are examined."""

    device: str
    """Where tensors lie, as PyTorch names it."""
    timer: Timer

    def load(self, subject: Subject) -> Runner:
        """The kernel, ready to run."""
        ...

    def state(self) -> GpuState:
        """What the device is doing right now."""
        ...


# What is told on the way: plain data, in this order for each subject -------------------------------------------------


@dataclass(frozen=True)
class Began:
    """A subject, or several at once, came to a stage; whatever happens next is their doing."""

    subjects: tuple[int, ...]
    stage: str


@dataclass(frozen=True)
class Validated:
    """The verdict on one subject."""

    subject: int
    validation: Validation


@dataclass(frozen=True)
class Timed:
    """The times of one subject."""

    subject: int
    times: Times


@dataclass(frozen=True)
class Spoiled:
    """A subject was right before it was timed, and wrong afterwards."""

    subject: int
    outcome: Outcome
    message: str


Event = Began | Validated | Timed | Spoiled
Tell = Callable[[Event], None]


@dataclass(frozen=True)
class Program:
    """A subject's kernel before and after fusion."""

    kernel: KernelOp
    fused: KernelOp


def read_subject(subject: Subject) -> Program:
    """The program of a subject. It was read and checked before, so that nothing is wrong with it."""
    module, ctx = _inferred(subject)
    copy = module.clone()
    run_passes(ctx, copy, passes_of("fuse"))
    kernel, fused = (
        next(kernel for kernel in kernels_of(one) if kernel.sym_name.data == subject.kernel) for one in (module, copy)
    )
    return Program(kernel, fused)


def _inferred(subject: Subject) -> tuple[ModuleOp, Context]:
    ctx = Context()
    for name, entry in DIALECTS.items():
        ctx.register_dialect(name, entry.load)
    set_engine(ctx, DiagnosticEngine())
    frontend = find(FRONTENDS, "language", subject.language).load()()
    module = frontend.parse(ctx, BytesIO(subject.text.encode("utf-8")), subject.file)
    if subject.target is not None and TARGET_ATTRIBUTE not in module.attributes:
        module.attributes[TARGET_ATTRIBUTE] = StringAttr(subject.target)
    run_passes(ctx, module, passes_of("infer"))
    return module, ctx


def examine(
    subjects: Sequence[Subject],
    chosen: Sequence[int],
    passed: frozenset[int],
    plan: Plan,
    laboratory: Laboratory,
    tell: Tell,
) -> None:
    """Examine the chosen ones of the subjects, of which some have passed validation before, and tell what is found.

    Stops where the device is lost to the process: what was not told is to be examined in another one.
    """
    programs = {index: read_subject(subjects[index]) for index in chosen}
    runners: dict[int, Runner] = {}
    for index in chosen:
        tell(Began((index,), "validation"))
        runner = laboratory.load(subjects[index])
        if index not in passed:
            validation = _validated(programs[index], runner, subjects[index], plan, laboratory)
            tell(Validated(index, validation))
            if validation.failure is not None and validation.failure.outcome == "crashed":
                return
            if not validation.passed:
                continue
        runners[index] = runner
    if not plan.time:
        return
    for group in _groups(programs, subjects, runners):
        tell(Began(tuple(group), "timing"))
        try:
            _time_group(group, programs, runners, subjects, plan, laboratory, tell)
        except out_of_memory() as error:
            for index in group:
                tell(Spoiled(index, "out_of_memory", f"timing needs more memory than there is: {error}"))


def _validated(program: Program, runner: Runner, subject: Subject, plan: Plan, laboratory: Laboratory) -> Validation:
    cases = plan_cases(
        program.kernel,
        subject.sizes,
        plan.seed,
        rounds=plan.rounds,
        distributions=plan.distributions,
        neighbours=plan.neighbours,
    )
    return validate(program.kernel, runner, cases, fused=program.fused, device=laboratory.device)


def _groups(
    programs: Mapping[int, Program], subjects: Sequence[Subject], runners: Mapping[int, Runner]
) -> list[list[int]]:
    """Subjects that compute the same at the same sizes: they are timed in the same rounds."""
    groups: dict[object, list[int]] = {}
    for index in runners:
        key = (program_key(programs[index].kernel), tuple(sorted(subjects[index].sizes.items())))
        groups.setdefault(key, []).append(index)
    return list(groups.values())


def program_key(kernel: KernelOp) -> object:
    """What a program computes: equal for programs that differ in names and setters only."""
    numbers: dict[SSAValue, int] = {}
    for argument in kernel.body.block.args:
        numbers[argument] = len(numbers)
    steps: list[object] = []
    for op in kernel.body.block.ops:
        for result in op.results:
            numbers[result] = len(numbers)
        operands = tuple(numbers[operand] for operand in op.operands)
        if isinstance(op, UcuOp):
            steps.append((op.spec.name, operands, tuple((n, str(v)) for n, v in op.params().items())))
        else:
            steps.append((op.name, operands, str(op.value.data) if isinstance(op, ConstantOp) else ""))
    types = tuple(str(argument.type) for argument in kernel.body.block.args)
    return types, tuple(map(str, kernel.declared_types)), tuple(steps)


# Timing --------------------------------------------------------------------------------------------------------------


def _time_group(
    group: Sequence[int],
    programs: Mapping[int, Program],
    runners: Mapping[int, Runner],
    subjects: Sequence[Subject],
    plan: Plan,
    laboratory: Laboratory,
    tell: Tell,
) -> None:
    """Time kernels that compute the same, with the baselines, and compare what the timed runs have left behind."""
    first = programs[group[0]].kernel
    sizes = subjects[group[0]].sizes
    inputs = random_inputs(first, sizes, plan.seed, "normal", laboratory.device)
    expected = expected_results(programs[group[0]].fused, inputs)
    results = {
        index: [guarded_result(wanted.type, wanted.shape, laboratory.device).tensor for wanted in expected]
        for index in group
    }
    kernels = [Contestant(str(index), partial(_launch, runners[index], inputs, results[index])) for index in group]
    others, failed = _runnable(baselines(first, sizes, compiled=plan.compiled), inputs)
    rivals = [Contestant(baseline.label, partial(_call, baseline, inputs)) for baseline in others]
    before = laboratory.state()
    cold = measure([*kernels, *rivals], laboratory.timer, plan.timing)
    warm = measure(kernels, laboratory.timer, plan.timing, cold=False) if plan.warm else None
    after = laboratory.state()
    for place, index in enumerate(group):
        own = cold[place]
        compared = tuple(
            _compared(own, baseline, timing) for baseline, timing in zip(others, cold[len(group) :], strict=True)
        )
        reference = expected if index == group[0] else expected_results(programs[index].fused, inputs)
        wrong = [
            comparison
            for found, wanted in zip(results[index], reference, strict=True)
            if not (comparison := compare(found, wanted, non_finite="match")).passed
        ]
        if wrong:
            message = f"after it was timed: {wrong[0].message}"
            tell(Spoiled(index, wrong[0].fault or "wrong_result", message))
            continue
        tell(Timed(index, Times(own, None if warm is None else warm[place], compared, failed, before, after)))


def _launch(runner: Runner, inputs: "Sequence[Tensor]", results: "Sequence[Tensor]", run: int) -> None:
    runner(inputs, results)


def _call(baseline: Baseline, inputs: "Sequence[Tensor]", run: int) -> None:
    baseline.run(*inputs)


def _compared(own: Timing, baseline: Baseline, timing: Timing) -> BaselineTime:
    duel = own.against(timing)
    return BaselineTime(baseline.name, baseline.settings, baseline.computes_all, timing, duel.ratio, duel.is_resolved)


def _runnable(
    candidates: Sequence[Baseline], inputs: "Sequence[Tensor]"
) -> tuple[list[Baseline], tuple[tuple[str, str], ...]]:
    """The baselines that PyTorch can run on these inputs, and why it cannot run the others."""
    runnable: list[Baseline] = []
    failed: list[tuple[str, str]] = []
    for baseline in candidates:
        try:
            baseline.run(*inputs)
        except (RuntimeError, TypeError, ValueError, NotImplementedError) as error:
            # A baseline is a courtesy: a product that PyTorch lacks must not stop the measurement of the kernel.
            failed.append((baseline.label, f"{type(error).__name__}: {str(error).splitlines()[0]}"))
        else:
            runnable.append(baseline)
    return runnable, tuple(failed)


class CudaLaboratory:
    """The current CUDA device, used by nobody else meanwhile."""

    device = "cuda"

    def __init__(self) -> None:
        from ucutlass.runtime.machine import find_machine, lock_gpu
        from ucutlass.runtime.timing import CudaEventTimer

        self.machine = find_machine()
        self._lock = lock_gpu(self.machine)
        self.timer: Timer = CudaEventTimer(self.machine.l2_bytes, self.machine.index)

    def load(self, subject: Subject) -> Runner:
        from ucutlass.runtime.library import CompiledKernel

        kernel = CompiledKernel(subject.library, subject.kernel)

        def run(inputs: "Sequence[Tensor]", results: "Sequence[Tensor]") -> None:
            kernel(*inputs, out=tuple(results))

        return run

    def state(self) -> GpuState:
        from ucutlass.runtime.machine import gpu_state

        return gpu_state(self.machine.index)


def cuda_laboratory() -> Laboratory:
    """The GPU at hand. Raises MachineError where there is none."""
    return CudaLaboratory()
