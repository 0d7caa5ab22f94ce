"""FLOPs and bytes of operations, of fused kernels and of whole programs.

Imports the dialect, the targets and the leaves. What an operation costs is in its row; here it becomes a number, for
sizes that are known, and is booked to the unit that does it. `docs/sol.md` has the rules in words.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from ucutlass.dialects.ucutlass.base import UcuOp, facts_at
from ucutlass.dialects.ucutlass.kernel import FusedOp, KernelOp
from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.dims import Dim
from ucutlass.element_types import ElementType
from ucutlass.sol.bound import Pipe, Work, add_flops
from ucutlass.sol.modes import pipe_of, rate_of
from ucutlass.targets.gpu import Gpu

REARRANGING = frozenset({"t", "reshape", "permute", "transpose", "flip", "to_layout", "materialize", "cast"})
"""Operations that need of their operand exactly the elements that are needed of their result."""
SELECTING = frozenset({"slice", "split", "gather"})
"""Operations that read of their first operand no more elements than their result has."""


def numel(type_: TensorType, sizes: Mapping[str, int]) -> int:
    """Elements of a tensor."""
    return math.prod(dim.evaluate(sizes) for dim in type_.dims)


def tensor_bytes(type_: TensorType, sizes: Mapping[str, int]) -> int:
    """Bytes of a tensor in memory; each row of a packed one begins on a byte."""
    extents = [dim.evaluate(sizes) for dim in type_.dims]
    if not extents or type_.element.bits >= 8:
        return math.prod(extents) * max(type_.element.bits, 8) // 8
    inner = extents.pop(type_.order[-1])
    return math.prod(extents) * ((inner * type_.element.bits + 7) // 8)


def compute_mode(op: UcuOp) -> str:
    """The mode in which a contraction or attention forms its products: the setter's, or that of its operands.

    Of a narrow and a wide operand it is the wide one.
    """
    chosen = op.setters.word("compute")
    if chosen is not None:
        return chosen
    values = op.operand_values()
    factors = [values[operand.name] for operand in op.spec.operands[:2]]
    firsts = [factor[0] if isinstance(factor, tuple) else factor for factor in factors]
    elements = [value.type.element for value in firsts if value is not None and isinstance(value.type, TensorType)]
    return max(elements, key=lambda element: element.bits).name


def is_free(op: UcuOp) -> bool:
    """Whether an operation by itself moves no data: numbers, views, and `materialize`, whose operand is in memory."""
    match op.spec.name:
        case "t" | "materialize":
            return True
        case "reshape":
            type_ = op.operands[0].type
            return isinstance(type_, TensorType) and type_.layout.is_row
        case _:
            return op.is_number


def tensor_operands(op: Operation) -> list[SSAValue]:
    """The operands that are tensors, each once."""
    return list(dict.fromkeys(value for value in op.operands if isinstance(value.type, TensorType)))


def flops_of(op: UcuOp, sizes: Mapping[str, int]) -> float:
    """FLOPs of an operation by its row."""
    types = [result.type for result in op.results if isinstance(result.type, TensorType)]
    cost = op.spec.flops
    if not callable(cost):
        return cost * sum(numel(type_, sizes) for type_ in types)
    call = op.call(facts_at(op))
    assert call is not None, f"{op.name} has no types: run the pass 'infer' first"
    total = cost(call, types)
    return total.evaluate(sizes) if isinstance(total, Dim) else total


@dataclass(frozen=True)
class Counter:
    """Counts for one GPU and one set of sizes."""

    gpu: Gpu
    sizes: Mapping[str, int]
    """What every dimension name stands for."""
    mode: str | None = None
    """A mode that float contractions get where it is faster than their own."""

    def mode_of(self, op: UcuOp) -> str:
        """The mode of a contraction, after the override."""
        own = compute_mode(op)
        if self.mode is None or not is_float_mode(own) or rate_of(self.mode, self.gpu) <= rate_of(own, self.gpu):
            return own
        return self.mode

    def work(self, op: UcuOp) -> Work:
        """FLOPs of an operation by unit; no bytes."""
        total = flops_of(op, self.sizes)
        matrix = total if op.spec.is_contraction else 0.0
        if op.spec.family == "attention":
            matrix = min(total, self._attention_products(op))
        flops: dict[Pipe, float] = {}
        if matrix:
            pipe, products = pipe_of(self.mode_of(op), self.gpu)
            flops[pipe] = matrix * products
        if total > matrix:
            pipe = Pipe("cuda", _scalar_type(op))
            flops[pipe] = flops.get(pipe, 0.0) + total - matrix
        return Work(flops, 0, matrix)

    def _attention_products(self, op: UcuOp) -> float:
        """FLOPs of the two products; the softmax between them runs on CUDA cores."""
        q, k, v = (self._extents(value) for value in op.operands[:3])
        rows, keys = q[2], k[2]
        causal = bool(op.params()["causal"])
        pairs = sum(min(row + 1, keys) for row in range(rows)) if causal else rows * keys
        return float(q[0] * q[1] * pairs * 2 * (q[3] + v[3]))

    def _extents(self, value: SSAValue) -> list[int]:
        assert isinstance(value.type, TensorType)
        return [dim.evaluate(self.sizes) for dim in value.type.dims]

    def bytes_of(self, values: Iterable[SSAValue]) -> int:
        """Bytes of tensors."""
        return sum(tensor_bytes(v.type, self.sizes) for v in values if isinstance(v.type, TensorType))

    def operation(self, op: UcuOp) -> Work:
        """An operation on its own: it reads its operands and writes its results, unless it is free."""
        work = self.work(op)
        moved = 0 if is_free(op) else self._read_by(op) + self.bytes_of(op.results)
        return Work(work.flops, moved, work.matrix_flops)

    def _read_by(self, op: UcuOp) -> int:
        operands = tensor_operands(op)
        if op.spec.name not in SELECTING:
            return self.bytes_of(operands)
        source, *rest = operands
        # The result has the source's element type, so that its bytes are those that are read.
        return min(self.bytes_of([source]), self.bytes_of(op.results)) + self.bytes_of(rest)

    def fused(self, group: FusedOp) -> Work:
        """A kernel that `fuse` has formed: what it reads and writes, and all that is computed inside."""
        inner = [op for op in group.body.block.ops if isinstance(op, UcuOp) and not op.is_number]
        moved = self.bytes_of(dict.fromkeys(group.inputs)) + self.bytes_of(group.outputs)
        return add_flops(map(self.work, inner), moved)

    def program(self, kernel: KernelOp) -> Work:
        """A whole program as if it were one kernel: every input that matters read once, every result written once."""
        live = Liveness(kernel)
        read = sum(self._bytes_needed(argument, live) for argument in kernel.body.block.args)
        written = sum(tensor_bytes(type_, self.sizes) for type_ in kernel.declared_types)
        return add_flops(map(self.work, live.operations), read + written)

    def _bytes_needed(self, argument: BlockArgument, live: "Liveness") -> int:
        type_ = argument.type
        assert isinstance(type_, TensorType)
        needed = self._elements_needed(argument, live)
        elements = numel(type_, self.sizes)
        return tensor_bytes(type_, self.sizes) if needed >= elements else -(-needed * type_.element.bits // 8)

    def _elements_needed(self, value: SSAValue, live: "Liveness") -> int:
        """Elements of a value that its live uses read, at most all."""
        assert isinstance(value.type, TensorType)
        total, most = 0, numel(value.type, self.sizes)
        for use in value.uses:
            op = use.operation
            if not live.uses(op):
                continue
            name = op.spec.name if isinstance(op, UcuOp) else ""
            if name not in REARRANGING and (name not in SELECTING or use.index > 0):
                return most
            total += sum(self._elements_needed(result, live) for result in op.results)
        return min(total, most)


class Liveness:
    """The operations that the results of a kernel depend on."""

    def __init__(self, kernel: KernelOp) -> None:
        self._live: set[Operation] = set()
        pending: list[Operation] = [kernel.return_op]
        while pending:
            op = pending.pop()
            if op in self._live:
                continue
            self._live.add(op)
            pending.extend(operand.owner for operand in op.operands if not isinstance(operand.owner, Block))
        self._block = kernel.body.block

    def uses(self, op: Operation) -> bool:
        """Whether the results depend on an operation, or it hands them out."""
        return op in self._live

    @cached_property
    def operations(self) -> list[UcuOp]:
        """The live operations on tensors, in order."""
        return [op for op in self._block.ops if isinstance(op, UcuOp) and op in self._live and not op.is_number]

    @cached_property
    def groups(self) -> list[FusedOp]:
        """The live kernels of a program that `fuse` has cut, in order."""
        return [op for op in self._block.ops if isinstance(op, FusedOp) and op in self._live]


def is_float_mode(mode: str) -> bool:
    """Whether a mode forms products of floats for which a faster type could stand in."""
    return not (mode.startswith(("s", "u")) or mode in ("bool", "f64"))


def _scalar_type(op: UcuOp) -> str:
    """The type whose peak counts for what runs on CUDA cores: f64, or else f32, the type of every other computation."""
    elements = [v.type.element for v in (*op.operands, *op.results) if isinstance(v.type, TensorType)]
    return "f64" if any(_is_f64(element) for element in elements) else "f32"


def _is_f64(element: ElementType) -> bool:
    return element.name == "f64"
