"""How each family of operations makes errors grow: from what operands may be off by to what results may be off by.

Imports the dialect, the interpreter and this package; torch is handed in. Rules evaluate the meaning of the operation
again, in double precision, on magnitudes or on perturbed operands, so that they need no derivative:

- products of sums are linear in both factors: `|a|+δa` times `|b|+δb` less `|a|` times `|b|`, plus what the sum loses;
- element-wise operations at every corner of the box that the operands' errors span;
- monotone and linear operations on the operand plus its error;
- the rest on random perturbations of that size, eight root mean squares of which are allowed.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, TypeAlias, cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.interpreter import Interpreter

from ucutlass.dialects.ucutlass.attributes import FAST_SUFFIX
from ucutlass.dialects.ucutlass.base import UcuOp
from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.dims import Dim
from ucutlass.element_types import BF16, ELEMENT_TYPES, F16, F32, F64, ElementType
from ucutlass.interpreter.machine import Machine
from ucutlass.interpreter.ucutlass import UcutlassFunctions, is_rounding_point
from ucutlass.runtime.validation.estimate import Estimate, added, known_errors, limited, rounded
from ucutlass.runtime.validation.units import (
    FUNCTION_ULPS,
    SMALLEST_NORMAL,
    operand_roundoff,
    product_sum_error,
    smallest_step,
    sum_error,
)
from ucutlass.sol.counts import compute_mode, flops_of, numel

if TYPE_CHECKING:
    from torch import Tensor

Operand: TypeAlias = "Estimate | int | float"

SELECTING_ONE = frozenset(
    {"relu", "relu6", "leaky_relu", "abs", "neg", "clamp", "hardtanh", "maximum", "minimum", "where"}
    | {"gt", "ge", "lt", "le", "eq", "ne"}
)
"""Element-wise operations that round nothing where they hand on an operand, and once where they scale it."""

ROUNDED_ONCE = SELECTING_ONE | {"add", "sub", "mul", "bias", "scale", "square", "residual", "fma"}
"""Element-wise operations of IEEE arithmetic, which is exact down to the smallest number."""

PATTERNS = 8
"""Random perturbations that a rule tries."""
ALLOWED_SPREADS = 8.0
"""Root mean squares of their effects that are allowed."""


def _cancelling_terms(op: UcuOp, values: Sequence["Tensor | int | float"], result: "Tensor") -> "Tensor | float | None":
    """The size of terms inside of an operation that may cancel, so that their roundoff is left; None where none do."""
    first = values[0]
    match op.spec.name:
        case "gelu" | "hardswish" | "mish":
            return abs(first)
        case "hardsigmoid":
            return 1.0
        case "residual":
            return abs(first) + abs(result - first)
        case "fma":
            return abs(values[2]) + abs(result - values[2])
        case _:
            return None


@dataclass
class Propagation:
    """The error rules of all operations, on one machine."""

    machine: Machine
    """Computes in double precision without rounding."""
    interpreter: Interpreter = field(default_factory=lambda: Interpreter(ModuleOp([])))
    seed: int = 0
    """Of the random perturbations."""

    def __post_init__(self) -> None:
        self.torch = self.machine.torch
        self.functions = UcutlassFunctions(self.machine)

    def evaluate(self, op: UcuOp, values: Sequence["Tensor | int | float"]) -> "list[Tensor]":
        """The operation's results on plain values."""
        return list(cast("tuple[Tensor, ...]", self.functions.run_row(self.interpreter, op, tuple(values))))

    def apply(self, op: UcuOp, operands: Sequence[Operand]) -> list[Estimate]:
        """The operation's results on estimates."""
        spec = op.spec
        if is_rounding_point(spec):
            return self._rounding_point(op, operands)
        if spec.is_contraction:
            results = self._contraction(op, operands)
        elif spec.is_elementwise:
            results = self._elementwise(op, operands)
        else:
            rules: Mapping[str, Callable[[UcuOp, Sequence[Operand]], list[Estimate]]] = {
                "movement": self._moved,
                "reduction": self._reduction,
                "scan": self._reduction,
                "pool": self._reduction,
                "rowwise": self._perturbed,
                "attention": self._attention,
            }
            results = rules[spec.family](op, operands)
        elements = [r.type.element for r in op.results if isinstance(r.type, TensorType)]
        return [self._in_compute_type(r, e) for r, e in zip(results, elements, strict=True)]

    def _in_compute_type(self, estimate: Estimate, element: ElementType) -> Estimate:
        """The result in the type in which a kernel holds it, which overflows where that one does."""
        if not element.is_float or element is F64:
            return estimate
        return limited(self.torch, estimate, F32)

    # Rounding points -------------------------------------------------------------------------------------------------

    def _rounding_point(self, op: UcuOp, operands: Sequence[Operand]) -> list[Estimate]:
        (operand,) = operands
        assert isinstance(operand, Estimate)
        type_ = op.results[0].type
        assert isinstance(type_, TensorType)
        if not type_.element.is_float:
            return self._elementwise(op, operands)
        (value,) = self.evaluate(op, [operand.value])
        return [rounded(self.torch, Estimate(value, operand.error, operand.stored), type_.element)]

    # Contractions ----------------------------------------------------------------------------------------------------

    def _contraction(self, op: UcuOp, operands: Sequence[Operand]) -> list[Estimate]:
        count = sum(len(v) if isinstance(v, tuple) else 1 for v in list(op.operand_values().values())[:2])
        factors = [self._factor(op, index, cast(Estimate, operands[index])) for index in range(count)]
        rest = [_value(operand) for operand in operands[count:]]
        values = self.evaluate(op, [*(factor.value for factor in factors), *rest])
        if not values[0].is_floating_point():
            return [Estimate(value) for value in values]
        sums = self.evaluate(op, [*(factor.value.abs() for factor in factors), *rest])
        largest = sums
        if any(factor.error is not None for factor in factors):
            largest = self.evaluate(op, [*(factor.magnitude for factor in factors), *rest])
        relative = self.product_sum_error(op)
        # A partial sum may overflow although the sum does not.
        limit = (F16 if op.setters.word("acc") == F16.name else self._compute_element(op)).max_finite
        results: list[Estimate] = []
        for value, total, most in zip(values, sums, largest, strict=True):
            error = known_errors(self.torch, (most - total).clamp(min=0) + relative * most)
            results.append(Estimate(value, error.masked_fill(most > limit, self.torch.inf)))
        return results

    def _factor(self, op: UcuOp, index: int, operand: Estimate) -> Estimate:
        """An operand as the unit takes it: rounded to its element type and to that of the products."""
        type_ = op.operands[index].type
        assert isinstance(type_, TensorType)
        stored = rounded(self.torch, operand, type_.element)
        mode = compute_mode(op)
        if not operand.value.is_floating_point() or operand_roundoff(mode, type_.element) == 0:
            return stored
        if mode in ELEMENT_TYPES:
            return rounded(self.torch, stored, ELEMENT_TYPES[mode])
        return added(self.torch, stored, operand_roundoff(mode, type_.element) * stored.magnitude)

    def product_sum_error(self, op: UcuOp) -> float:
        """What the sums of a contraction lose, relative to the sums of the products' magnitudes."""
        schedule = op.setters.word("schedule") or ""
        return product_sum_error(
            compute_mode(op), op.setters.word("acc"), schedule.endswith(FAST_SUFFIX), self.products_per_sum(op)
        )

    def products_per_sum(self, op: UcuOp) -> float:
        """How many products a contraction sums for one element of its result; the most where that differs."""
        if op.spec.multiple_results:
            inner = [v.type.dims[-1] for v in op.operands[: len(op.results)] if isinstance(v.type, TensorType)]
            return max((dim.evaluate(self.machine.sizes) for dim in inner), default=0)
        elements = sum(numel(r.type, self.machine.sizes) for r in op.results if isinstance(r.type, TensorType))
        return flops_of(op, self.machine.sizes) / (2 * max(elements, 1))

    # Element-wise operations -----------------------------------------------------------------------------------------

    def _elementwise(self, op: UcuOp, operands: Sequence[Operand]) -> list[Estimate]:
        values = [_value(operand) for operand in operands]
        (result,) = self.evaluate(op, values)
        error = self.torch.zeros_like(result, dtype=self.torch.float64)
        for corner in _corners(operands):
            (moved,) = self.evaluate(op, corner)
            error = self.torch.maximum(error, self._distance(moved, result))
        if result.is_floating_point():
            error = error + self._own_error(op, values, result)
        inexact = bool((error != 0).any())
        return [Estimate(result, known_errors(self.torch, error) if inexact else None)]

    def _own_error(self, op: UcuOp, values: Sequence["Tensor | int | float"], result: "Tensor") -> "Tensor | float":
        """What computing the operation on exact operands may cost."""
        name = op.spec.name
        compute = self._compute_element(op)
        if name in SELECTING_ONE and name != "leaky_relu":
            return 0.0
        error = FUNCTION_ULPS * compute.unit_roundoff * result.abs()
        terms = _cancelling_terms(op, values, result)
        if terms is not None:
            error = error + FUNCTION_ULPS * compute.unit_roundoff * terms
        if compute is F32 and name in ROUNDED_ONCE:
            error = error + smallest_step(F32)
        elif compute is F32:
            # A step inside may overflow, so that `x / (1 + exp(-x))` is 0 a little early.
            error = error + SMALLEST_NORMAL * (1 + abs(values[0]))
        return error.nan_to_num(nan=0.0, posinf=0.0)

    def _compute_element(self, op: UcuOp) -> ElementType:
        elements = [v.type.element for v in (*op.operands, *op.results) if isinstance(v.type, TensorType)]
        return F64 if F64 in elements else F32

    def _distance(self, moved: "Tensor", result: "Tensor") -> "Tensor":
        """How far apart two values are; 0 where both are the same infinity or no number."""
        if not result.is_floating_point():
            return (moved.to(self.torch.float64) - result.to(self.torch.float64)).abs()
        same = (moved == result) | (moved.isnan() & result.isnan())
        return known_errors(self.torch, (moved - result).abs()).masked_fill(same, 0.0)

    # Data movement, reductions ---------------------------------------------------------------------------------------

    def _moved(self, op: UcuOp, operands: Sequence[Operand]) -> list[Estimate]:
        """Errors move with the values."""
        results = self.evaluate(op, [_value(operand) for operand in operands])
        stored = {operand.stored for operand in operands if isinstance(operand, Estimate)}
        common = stored.pop() if len(stored) == 1 else None
        if all(_error(operand) is None for operand in operands):
            return [Estimate(value, None, common) for value in results]
        raised = self.evaluate(op, _raised(operands))
        return [
            Estimate(value, self._distance(moved, value), common) for value, moved in zip(results, raised, strict=True)
        ]

    def _reduction(self, op: UcuOp, operands: Sequence[Operand]) -> list[Estimate]:
        """Reductions, scans and pooling of one operand."""
        operand = cast(Estimate, operands[0])
        (value,) = self.evaluate(op, [operand.value])
        if not operand.value.is_floating_point():
            return [Estimate(value)]
        name = op.spec.name
        if name in ("argmax", "argmin"):
            return [self._index(op, operand, value)]
        if name == "var":
            return self._perturbed(op, operands)
        count = self._terms(op, operand, value)
        roundoff = self._compute_element(op).unit_roundoff
        if name in ("max", "min") or "max_pool" in name:
            return [Estimate(value, self._spread_of(op, operand, value) if operand.error is not None else None)]
        if name == "logsumexp":
            error = self._spread_of(op, operand, value) + FUNCTION_ULPS * roundoff * value.abs()
            return [Estimate(value, known_errors(self.torch, error + sum_error(count, roundoff) + 2 * roundoff))]
        # What is left is linear, a product or a norm: on magnitudes it only grows with its operand.
        (total,) = self.evaluate(op, [operand.value.abs()])
        (most,) = self.evaluate(op, [operand.magnitude])
        loss = count * roundoff if name in ("prod", "cumprod") else sum_error(count, roundoff)
        error = (most - total).clamp(min=0) + (loss + FUNCTION_ULPS * roundoff) * most
        return [Estimate(value, known_errors(self.torch, error))]

    def _terms(self, op: UcuOp, operand: Estimate, value: "Tensor") -> float:
        """Terms of one result; of overlapping windows the cost says how many."""
        if op.spec.family == "scan":
            axis = op.params()["dim"]
            assert isinstance(axis, Dim)
            return float(operand.value.shape[axis.value]) if operand.value.dim() else 1.0
        if op.spec.family == "pool":
            return max(flops_of(op, self.machine.sizes) / max(value.numel(), 1), 1.0)
        return max(operand.value.numel() / max(value.numel(), 1), 1.0)

    def _spread_of(self, op: UcuOp, operand: Estimate, value: "Tensor") -> "Tensor":
        """How far a monotone operation moves when its whole operand is raised or lowered by its error."""
        if operand.error is None:
            return self.torch.zeros_like(value)
        (above,) = self.evaluate(op, [operand.value + operand.error])
        (below,) = self.evaluate(op, [operand.value - operand.error])
        return self.torch.maximum(self._distance(above, value), self._distance(below, value))

    def _index(self, op: UcuOp, operand: Estimate, value: "Tensor") -> Estimate:
        """An index is right or wrong: unknown where a perturbation finds another one."""
        if operand.error is None:
            return Estimate(value)
        other = self.torch.zeros_like(value, dtype=self.torch.bool)
        for signs in self._signs(operand.value):
            (found,) = self.evaluate(op, [operand.value + 2 * signs * operand.error])
            other |= found != value
        error = self.torch.zeros_like(value, dtype=self.torch.float64).masked_fill(other, self.torch.inf)
        return Estimate(value, error)

    # Everything else -------------------------------------------------------------------------------------------------

    def _perturbed(self, op: UcuOp, operands: Sequence[Operand]) -> list[Estimate]:
        """Any operation: what random perturbations of the operands do, by their errors and a few roundoffs of each."""
        roundoff = self._compute_element(op).unit_roundoff
        results = self.evaluate(op, [_value(operand) for operand in operands])
        squares = [self.torch.zeros_like(value, dtype=self.torch.float64) for value in results]
        steps = [
            _error_or_zero(operand) + FUNCTION_ULPS * roundoff * operand.value.abs()
            if isinstance(operand, Estimate) and operand.value.is_floating_point()
            else None
            for operand in operands
        ]
        for pattern in range(PATTERNS):
            moved: list[Tensor | int | float] = []
            for index, (operand, step) in enumerate(zip(operands, steps, strict=True)):
                value = _value(operand)
                moved.append(value if step is None else value + self._sign(step, pattern * len(steps) + index) * step)
            for total, value, found in zip(squares, results, self.evaluate(op, moved), strict=True):
                total += self._distance(found, value) ** 2 / PATTERNS
        return [
            Estimate(
                value,
                known_errors(self.torch, ALLOWED_SPREADS * total.sqrt() + FUNCTION_ULPS * roundoff * value.abs()),
            )
            for value, total in zip(results, squares, strict=True)
        ]

    def _attention(self, op: UcuOp, operands: Sequence[Operand]) -> list[Estimate]:
        """Products of exact sums are perturbed; the weights between the products are rounded to the operands' type."""
        mode = compute_mode(op)
        factors: list[Operand] = []
        for index, operand in enumerate(operands):
            factor = operand
            if index < 3:
                factor = self._factor(op, index, cast(Estimate, operand))
                width = factor.value.shape[-1]
                factor = added(self.torch, factor, product_sum_error(mode, None, False, width) * factor.value.abs())
            factors.append(factor)
        (result,) = self._perturbed(op, factors)
        query, key, weights, *rest = (_value(factor) for factor in factors)
        (mixed,) = self.evaluate(op, [query, key, abs(weights), *rest])
        keys = cast("Tensor", key).shape[-2]
        relative = 4 * operand_roundoff_of_weights(mode) + product_sum_error(mode, None, False, keys)
        return [added(self.torch, result, relative * mixed)]

    def _signs(self, like: "Tensor") -> "Iterator[Tensor]":
        for pattern in range(PATTERNS):
            yield self._sign(like, pattern)

    def _sign(self, like: "Tensor", number: int) -> "Tensor":
        """Random signs of a tensor's shape, the same ones for the same number."""
        generator = self.torch.Generator(device=like.device).manual_seed(self.seed * 1_000_003 + number)
        drawn: Tensor = self.torch.randint(0, 2, like.shape, generator=generator, device=like.device)
        return drawn.to(like.dtype) * 2 - 1


def operand_roundoff_of_weights(mode: str) -> float:
    """Roundoff of the weights of attention, which are operands of the second product."""
    element = ELEMENT_TYPES.get(mode, F32)
    # Weights lie between 0 and 1: kernels keep those of fp8 operands in a 16-bit type.
    return BF16.unit_roundoff if element.is_fp8 else element.unit_roundoff


def _value(operand: Operand) -> "Tensor | int | float":
    return operand.value if isinstance(operand, Estimate) else operand


def _error(operand: Operand) -> "Tensor | None":
    return operand.error if isinstance(operand, Estimate) else None


def _error_or_zero(operand: Estimate) -> "Tensor | float":
    return 0.0 if operand.error is None else operand.error


def _raised(operands: Sequence[Operand]) -> "list[Tensor | int | float]":
    raised: list[Tensor | int | float] = []
    for operand in operands:
        error = _error(operand)
        value = _value(operand)
        raised.append(value if error is None or not cast("Tensor", value).is_floating_point() else value + error)
    return raised


def _corners(operands: Sequence[Operand]) -> "Iterator[list[Tensor | int | float]]":
    """The operands moved by plus or minus their errors, in every combination."""
    uncertain = [index for index, operand in enumerate(operands) if _error(operand) is not None]
    if not uncertain:
        return
    for signs in product((1, -1), repeat=len(uncertain)):
        corner = [_value(operand) for operand in operands]
        for index, sign in zip(uncertain, signs, strict=True):
            operand = operands[index]
            assert isinstance(operand, Estimate) and operand.error is not None
            corner[index] = _moved_value(operand.value, operand.error, sign)
        yield corner


def _moved_value(value: "Tensor", error: "Tensor", sign: int) -> "Tensor":
    """A value moved by its error: a truth value that is uncertain becomes its opposite, an integer another one."""
    if value.is_floating_point():
        return value + sign * error
    if value.dtype.itemsize == 1:
        return value ^ (error > 0)
    whole = error.clamp(max=2.0**30).ceil().to(value.dtype)
    return value + sign * whole
