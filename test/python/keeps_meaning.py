"""Interprets a program after every pass and demands that it computes what it computed before.

Two interpretations of each stage are compared with those of the stage before, bitwise, except that NaNs are equal:

- *structure*: what lies in memory inside of a kernel is not rounded there (`cuts=False`), before as after. A cut that
  `fuse` adds then changes nothing, so every pass must agree, `fuse` included. Only lowering may leave a rounding to the
  store that follows, so it is not compared;
- *meaning*: the language's own rounding. A pass in `CUTTING` may add cuts, which the language allows ("a cut that the
  compiler makes stores the element type"): it is compared with the program before it that has a `materialize` at each
  of them, and `check_cuts` proves that each stores a value at its own type, or at the declared type of a result. Every
  other pass must agree.

A pass that rewrites algebra states the relative error that it may add (`‖after - before‖ / ‖before‖`, per result) in
`tolerance`; both comparisons then use it.
"""

from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor
from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.parser import Parser
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ucutlass.diagnostics.core import DiagnosticEngine
from ucutlass.diagnostics.locations import set_engine
from ucutlass.dialects.cutlass.program import ProgramOp
from ucutlass.dialects.ucutlass import OPERATIONS
from ucutlass.dialects.ucutlass.kernel import FusedOp, ReturnOp, YieldOp, kernels_of
from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.interpreter import Distribution, interpret, random_inputs
from ucutlass.passes.pipelines import passes_of, run_passes

MATERIALIZE = OPERATIONS["materialize"]
VIEW = OPERATIONS["t"]

TAG = "keeps_meaning.tag"
"""Discardable attribute by which an operation is known after a pass has cloned it."""

CUTTING = frozenset({"fuse"})
"""Passes that may add cuts."""


@dataclass(frozen=True)
class Case:
    """One set of inputs of one kernel."""

    kernel: str
    seed: int
    distribution: Distribution
    inputs: tuple[Tensor, ...]

    def __str__(self) -> str:
        return f"kernel {self.kernel}, seed {self.seed}, {self.distribution} inputs"


def new_context() -> Context:
    """A context with our dialects and an engine."""
    from ucutlass.registry import DIALECTS

    ctx = Context()
    for entry in DIALECTS.values():
        ctx.load_dialect(entry.load())
    set_engine(ctx, DiagnosticEngine())
    return ctx


def read_source(ctx: Context, source: str) -> ModuleOp:
    """The module of a text in either form; a failure raises with every diagnostic."""
    first = source.split(maxsplit=1)[0]
    if "." in first or first.startswith("%"):
        return Parser(ctx, source).parse_module()
    from ucutlass.frontend import read_program

    return read_program(ctx, source, "test.ucu")


@contextmanager
def one_thread() -> Generator[None, None, None]:
    """PyTorch on one thread: small tensors are not worth waking others."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


@one_thread()
def assert_keeps_meaning(
    source: str,
    passes: str | Sequence[ModulePass] = "default",
    *,
    bindings: Mapping[str, int] | None = None,
    seeds: Iterable[int] = (0, 1),
    distributions: Iterable[Distribution] = ("normal",),
    tolerance: Mapping[str, float] | None = None,
) -> ModuleOp:
    """Runs the passes on a program; the module after the last one. Raises AssertionError naming the pass at fault.

    `passes` begins with `infer`: before it a program has no types, hence no meaning to compare.
    """
    ctx = new_context()
    module = read_source(ctx, source)
    first, *rest = passes_of(passes) if isinstance(passes, str) else passes
    assert first.name == "infer", f"the passes begin with {first.name}, expected infer"
    run_passes(ctx, module, [first])
    cases = [
        Case(kernel.sym_name.data, seed, distribution, tuple(random_inputs(kernel, bindings, seed, distribution)))
        for kernel in kernels_of(module)
        for seed in seeds
        for distribution in distributions
    ]
    structure, meaning = _interpret(module, cases, cuts=False), _interpret(module, cases, cuts=True)
    for pass_ in rest:
        cutting = pass_.name in CUTTING
        original = tagged_copy(module) if cutting else None
        run_passes(ctx, module, [pass_])
        if original is not None:
            check_cuts(pass_.name, module)
            materialize_cuts(original, module)
            meaning = _interpret(original, cases, cuts=True)
        found = _interpret(module, cases, cuts=False), _interpret(module, cases, cuts=True)
        allowed = (tolerance or {}).get(pass_.name, 0.0)
        if not any(isinstance(op, ProgramOp) for op in module.walk()):
            _compare(pass_.name, "structure", cases, structure, found[0], allowed)
        _compare(pass_.name, "meaning", cases, meaning, found[1], allowed)
        structure, meaning = found
    return module


def tagged_copy(module: ModuleOp) -> ModuleOp:
    """A copy of a module whose operations have the same tags as the module's own, which passes hand on to clones."""
    for number, op in enumerate(module.walk()):
        op.attributes[TAG] = IntegerAttr(number, i64)
    return module.clone()


def materialize_cuts(original: ModuleOp, cut: ModuleOp) -> None:
    """Put a `materialize` into the original wherever an operation of the other module reads what another group left.

    Raises AssertionError where that is an operation which the original has not. Takes the tags off the other module.
    """
    by_tag = {op.attributes[TAG]: op for op in original.walk()}
    seen: dict[tuple[Operation, int], bool] = {}
    for group in [op for op in cut.walk() if isinstance(op, FusedOp)]:
        for op in group.body.block.ops:
            if isinstance(op, VIEW | YieldOp):
                continue
            for index, operand in enumerate(op.operands):
                argument = behind_views(operand)
                is_cut = isinstance(argument, BlockArgument) and isinstance(group.inputs[argument.index].owner, FusedOp)
                assert not is_cut or TAG in op.attributes, f"{op.name} reads a cut and stands for no operation before"
                if TAG in op.attributes:
                    place = (by_tag[op.attributes[TAG]], index)
                    assert seen.setdefault(place, is_cut) == is_cut, f"{op.name} is computed twice from other values"
    for (op, index), is_cut in seen.items():
        if is_cut:
            _materialize_operand(op, index)
    for op in cut.walk():
        op.attributes.pop(TAG, None)


def _materialize_operand(op: Operation, index: int) -> None:
    """Replace an operand by what memory holds of it; views of it stay views."""
    value = op.operands[index]
    views: list[Operation] = []
    while isinstance(value.owner, VIEW):
        views.append(value.owner)
        value = value.owner.operands[0]
    added: list[Operation] = [MATERIALIZE.build(operands=[value], result_types=[value.type])]
    for view in reversed(views):
        added.append(view.clone({view.operands[0]: added[-1].results[0]}))
    Rewriter.insert_op(added, InsertPoint.before(op))
    op.operands[index] = added[-1].results[0]


def behind_views(value: SSAValue) -> SSAValue:
    """The value that this one is a view of."""
    while isinstance(value.owner, VIEW):
        value = value.owner.operands[0]
    return value


def check_cuts(name: str, module: ModuleOp) -> None:
    """Demands that fused groups store values at their own element types, or at a result's declared one."""
    for group in module.walk():
        if not isinstance(group, FusedOp):
            continue
        for output, value in zip(group.outputs, group.yielded, strict=True):
            stored, own = output.type, value.type
            assert isinstance(stored, TensorType) and isinstance(own, TensorType)
            only_returned = all(isinstance(use.operation, ReturnOp) for use in output.uses)
            assert stored.element is own.element or only_returned, (
                f"after {name} a {group.kind.data} group stores a value of type {own.spelling} as {stored.spelling}, "
                "and not only for a result"
            )


def _interpret(module: ModuleOp, cases: Sequence[Case], cuts: bool) -> list[list[Tensor]]:
    return [interpret(module, case.kernel, case.inputs, cuts=cuts) for case in cases]


def _compare(
    name: str,
    what: str,
    cases: Sequence[Case],
    before: Sequence[Sequence[Tensor]],
    after: Sequence[Sequence[Tensor]],
    tolerance: float,
) -> None:
    for case, expected, found in zip(cases, before, after, strict=True):
        assert len(expected) == len(found), f"{name} left {len(found)} of {len(expected)} results of {case}"
        for index, (old, new) in enumerate(zip(expected, found, strict=True)):
            difference = first_difference(old, new, tolerance)
            assert difference is None, f"{name} changed the {what} of result {index}, {case}: {difference}"


def first_difference(expected: Tensor, found: Tensor, tolerance: float = 0.0) -> str | None:
    """Where and how two results differ, None where they do not: bitwise, or in norm where a tolerance is given.

    Infinities and NaNs must be in the same places with either.
    """
    if expected.dtype != found.dtype or expected.shape != found.shape:
        return f"{found.dtype} {list(found.shape)} instead of {expected.dtype} {list(expected.shape)}"
    different = bits(expected) != bits(found)
    if expected.is_floating_point():
        different &= ~(expected.double().isnan() & found.double().isnan())
        finite = expected.double().isfinite() & found.double().isfinite()
        if tolerance and not (different & ~finite).any():
            reference, other = expected.double()[finite], found.double()[finite]
            error = float(((other - reference).square().sum() / reference.square().sum().clamp_min(1e-300)).sqrt())
            return None if error <= tolerance else f"relative error {error:.3g}, expected at most {tolerance:.3g}"
    count = int(different.sum())
    if not count:
        return None
    place = int(different.flatten().to(torch.uint8).argmax())
    found_value, expected_value = (t.flatten()[place].item() for t in (found, expected))
    return f"{count} of {expected.numel()} elements, the first is number {place}: {found_value}, not {expected_value}"


def bits(tensor: Tensor) -> Tensor:
    """The bit patterns of a tensor."""
    integers = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    return tensor.contiguous().view(integers[tensor.element_size()])
