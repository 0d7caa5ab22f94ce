"""What a kernel is compared with: the program in PyTorch as a user would write it, and the library's product alone.

Imports the dialect, the interpreter's rows and the counts; torch inside functions. A baseline computes in the program's
storage types, each operation for itself, with PyTorch's own functions; its name says which precision flags are set.
"""

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from xdsl.ir import Operation, SSAValue

from ucutlass.dialects.ucutlass.base import UcuOp, facts_at, number_value
from ucutlass.dialects.ucutlass.kernel import ConstantOp, KernelOp
from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.interpreter.storage import is_packed, storage_dtype
from ucutlass.interpreter.ucutlass import is_rounding_point, python_param
from ucutlass.sol.counts import Liveness, compute_mode
from ucutlass.sol.program import contractions

if TYPE_CHECKING:
    from torch import Tensor, dtype

Program: TypeAlias = "Callable[..., tuple[Tensor, ...]]"
"""A program in PyTorch: stored arguments to results."""

TF32 = "TF32 allowed"
IEEE = "IEEE f32"


@dataclass(frozen=True)
class Baseline:
    """One thing to compare with."""

    name: str
    settings: str
    """Flags that decide its precision, in words."""
    run: Program
    computes_all: bool = True
    """Whether it computes what the program does; the product alone does not."""

    @property
    def label(self) -> str:
        return f"{self.name} ({self.settings})" if self.settings else self.name


def baselines(
    kernel: KernelOp, sizes: Mapping[str, int], *, compiled: bool = True, backend: str = "inductor"
) -> list[Baseline]:
    """The baselines of an inferred program: the library's product alone, eager, and `torch.compile`.

    Where single precision is multiplied, eager stands there without TF32, PyTorch's default, and with it; the rest
    allows TF32 if the program does.
    """
    if any(is_packed(type_.element) for type_ in (*_argument_types(kernel), *kernel.declared_types)):
        return [Baseline("eager", "", _no_packed_integers)]
    program = eager_program(kernel, sizes)
    modes = {compute_mode(op) for op in contractions(kernel)}
    multiplies_single = any(_is_single(op) for op in contractions(kernel))
    allows = multiplies_single and not modes <= {"f32", "tf32x3", "f16x3"}
    found: list[Baseline] = []
    product = library_product(kernel, sizes)
    words = (TF32 if allows else IEEE) if multiplies_single else ""
    if product is not None:
        name, run = product
        settings = words or _product_settings(kernel)
        found.append(Baseline(name, settings, _with_precision(run, allows), computes_all=False))
    if multiplies_single:
        found.append(Baseline("eager", IEEE, _with_precision(program, False)))
        found.append(Baseline("eager", TF32, _with_precision(program, True)))
    else:
        found.append(Baseline("eager", "", program))
    if compiled:
        import torch  # half a second, and most of the compiler needs none of it

        compile_: Callable[..., Program] = getattr(torch, "compile")  # noqa: B009  # incompletely annotated
        found.append(Baseline("torch.compile", words, _with_precision(compile_(program, backend=backend), allows)))
    return found


def _argument_types(kernel: KernelOp) -> list[TensorType]:
    return [argument.type for argument in kernel.body.block.args if isinstance(argument.type, TensorType)]


def _no_packed_integers(*inputs: "Tensor") -> "tuple[Tensor, ...]":
    raise NotImplementedError("PyTorch has no integers of 4 bits")


def _is_single(op: UcuOp) -> bool:
    types = [value.type for value in op.operands if isinstance(value.type, TensorType)]
    return any(type_.element.name in ("f32", "tf32") for type_ in types)


def _product_settings(kernel: KernelOp) -> str:
    import torch  # half a second, and most of the compiler needs none of it

    modes = {compute_mode(op) for op in contractions(kernel)}
    if modes & {"e4m3", "e5m2"}:
        return "exact accumulation"
    flag = {"f16": "allow_fp16_reduced_precision_reduction", "bf16": "allow_bf16_reduced_precision_reduction"}
    names = [flag[mode] for mode in sorted(modes) if mode in flag]
    return ", ".join(f"{name}={getattr(torch.backends.cuda.matmul, name)}" for name in names)


@contextmanager
def precision(allow_tf32: bool) -> Generator[None]:
    """PyTorch's flags for single precision, put back afterwards."""
    import torch  # half a second, and most of the compiler needs none of it

    products, convolutions = torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32
    torch.set_float32_matmul_precision("high" if allow_tf32 else "highest")
    torch.backends.cudnn.allow_tf32 = allow_tf32
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(products)
        torch.backends.cudnn.allow_tf32 = convolutions


def _with_precision(program: Program, allow_tf32: bool) -> Program:
    def run(*inputs: "Tensor") -> "tuple[Tensor, ...]":
        with precision(allow_tf32):
            return program(*inputs)

    return run


# The program in PyTorch ----------------------------------------------------------------------------------------------


class _Writer:
    """Writes a program as the source of a Python function, which `torch.compile` can follow."""

    def __init__(self, kernel: KernelOp, sizes: Mapping[str, int]) -> None:
        import torch  # half a second, and most of the compiler needs none of it

        self.torch = torch
        self.kernel = kernel
        self.sizes = sizes
        self.names: dict[SSAValue, str] = {}
        self.functions: dict[str, object] = {"torch": torch}
        self.lines: list[str] = []
        self.done: set[Operation] = set()

    def write(self) -> str:
        block = self.kernel.body.block
        for index, argument in enumerate(block.args):
            self.names[argument] = f"a{index}"
        for op in Liveness(self.kernel).operations:
            if op not in self.done:
                self._write_operation(op)
        returned = [
            f"{self.names[value]}.to({self._constant(self.dtype_of(type_))})"
            for value, type_ in zip(self.kernel.return_op.values, self.kernel.declared_types, strict=True)
        ]
        arguments = ", ".join(self.names[argument] for argument in block.args)
        body = [*self.lines, f"return ({', '.join(returned)},)"]
        return "\n".join([f"def program({arguments}):", *(f"    {line}" for line in body)])

    def dtype_of(self, type_: TensorType) -> "dtype":
        return storage_dtype(self.torch, type_.element)

    def _constant(self, value: object) -> str:
        """A name for a value that has no source form."""
        name = f"k{len(self.functions)}"
        self.functions[name] = value
        return name

    def _name(self, value: SSAValue) -> str:
        self.names[value] = f"v{len(self.names)}"
        return self.names[value]

    def _argument(self, value: SSAValue) -> str:
        number = number_value(value) if not isinstance(value.type, TensorType) else None
        if number is not None or isinstance(value.owner, ConstantOp):
            return self._constant(number) if isinstance(number, float) else repr(number)
        return self.names[value]

    def _write_operation(self, op: UcuOp) -> None:
        if is_rounding_point(op.spec):
            type_ = op.results[0].type
            assert isinstance(type_, TensorType)
            source = self._argument(op.operands[0])
            self.lines.append(f"{self._name(op.results[0])} = {source}.to({self._constant(self.dtype_of(type_))})")
            return
        if op.spec.name == "gemm" and self._write_product(op):
            return
        arguments: list[str] = []
        for operand in op.operand_values().values():
            if operand is None:
                arguments.append("None")
            elif isinstance(operand, SSAValue):
                arguments.append(self._argument(operand))
            else:
                arguments.append(f"[{', '.join(map(self._argument, operand))}]")
        call = op.call(facts_at(op))
        assert call is not None, "an inferred operation has types"
        params = {name: python_param(value, self.sizes) for name, value in call.params.items()}
        arguments += [f"{name}={self._constant(value)}" for name, value in params.items()]
        function = self._constant(op.spec.torch)
        results = ", ".join(self._name(result) for result in op.results)
        if op.spec.multiple_results:
            results = f"[{results}]"
        self.lines.append(f"{results} = {function}(torch, {', '.join(arguments)})")

    def _write_product(self, op: UcuOp) -> bool:
        """A product in the library's own form, with the bias that it can take; whether it has one."""
        left, right = (value.type for value in op.operands)
        assert isinstance(left, TensorType) and isinstance(right, TensorType)
        a, b = (self._argument(value) for value in op.operands)
        if left.element.is_fp8 and right.element.is_fp8:
            multiply = self._constant(
                scaled_product(self.torch, narrow_result(self.torch, self.kernel), left, right, self.sizes)
            )
            self.lines.append(f"{self._name(op.results[0])} = {multiply}({a}, {b})")
            return True
        if left.element is not right.element:
            return False
        if left.element.name == "s8":
            self.lines.append(f"{self._name(op.results[0])} = torch._int_mm({a}, {b})")
            return True
        bias = self._sole_bias(op) if left.element.is_float else None
        if bias is None:
            return False
        vector = self._argument(bias.operands[1])
        self.lines.append(f"{self._name(bias.results[0])} = torch.addmm({vector}, {a}, {b})")
        self.done.add(bias)
        return True

    def _sole_bias(self, op: UcuOp) -> UcuOp | None:
        """The bias of the product's type that is the product's only use."""
        uses = list(op.results[0].uses)
        if len(uses) != 1 or uses[0].index != 0:
            return None
        bias = uses[0].operation
        if not isinstance(bias, UcuOp) or bias.spec.name != "bias":
            return None
        vector, product = bias.operands[1].type, op.results[0].type
        assert isinstance(vector, TensorType) and isinstance(product, TensorType)
        return bias if vector.element is product.element else None


def eager_source(kernel: KernelOp, sizes: Mapping[str, int]) -> str:
    """The source of the program in PyTorch."""
    return _Writer(kernel, sizes).write()


def eager_program(kernel: KernelOp, sizes: Mapping[str, int]) -> Program:
    """The program in PyTorch, one function call for each operation."""
    writer = _Writer(kernel, sizes)
    source = writer.write()
    space = dict(writer.functions)
    exec(compile(source, f"<{kernel.sym_name.data} in PyTorch>", "exec"), space)
    program: Program = space["program"]  # pyright: ignore[reportAssignmentType]  # what the source defines
    return program


def narrow_result(torch: Any, kernel: KernelOp) -> "dtype":
    """The type in which a product of fp8 is wanted: the program's, where the library can give it."""
    names = {type_.element.name for type_ in kernel.declared_types}
    found: dtype = torch.bfloat16 if "bf16" in names else torch.float16 if "f16" in names else torch.float32
    return found


def scaled_product(
    torch: Any, result: "dtype", left: TensorType, right: TensorType, sizes: Mapping[str, int]
) -> "Callable[[Tensor, Tensor], Tensor]":
    """PyTorch's product of fp8 matrices; in f16 where it takes neither the types nor the sizes."""
    extents = [dim.evaluate(sizes) for dim in (*left.dims[1:], *right.dims)]
    takes = "e4m3" in (left.element.name, right.element.name) and right.layout.spelling == "col"
    if not takes or any(extent % 16 for extent in extents):
        return lambda a, b: torch.matmul(a.to(torch.float16), b.to(torch.float16)).to(result)

    ones: dict[object, Tensor] = {}

    def multiply(a: "Tensor", b: "Tensor") -> "Tensor":
        if a.device not in ones:
            ones[a.device] = torch.ones((), dtype=torch.float32, device=a.device)
        one = ones[a.device]
        product: Tensor = torch._scaled_mm(a, b, scale_a=one, scale_b=one, out_dtype=result, use_fast_accum=False)
        return product

    return multiply


def library_product(kernel: KernelOp, sizes: Mapping[str, int]) -> "tuple[str, Program] | None":
    """The program's one product on the program's own arguments, as the library computes it; its name."""
    import torch  # half a second, and most of the compiler needs none of it

    found = contractions(kernel)
    if len(found) != 1 or found[0].spec.name not in ("gemm", "batched_gemm"):
        return None
    places: list[tuple[int, bool]] = []
    arguments = list(kernel.body.block.args)
    for value in found[0].operands:
        source = value.owner.operands[0] if isinstance(value.owner, UcuOp) and value.owner.spec.name == "t" else value
        if source not in arguments:
            return None
        place = next(index for index, argument in enumerate(arguments) if argument is source)
        places.append((place, source is not value))
    (first, first_turned), (second, second_turned) = places
    left, right = (value.type for value in found[0].operands)
    assert isinstance(left, TensorType) and isinstance(right, TensorType)
    name = "torch.matmul"
    multiply: Callable[[Tensor, Tensor], Tensor] = torch.matmul
    if left.element.is_fp8 and right.element.is_fp8:
        name = "torch._scaled_mm"
        multiply = scaled_product(torch, narrow_result(torch, kernel), left, right, sizes)
    elif left.element.name == right.element.name == "s8" and found[0].spec.name == "gemm":
        name = "torch._int_mm"
        multiply = getattr(torch, "_int_mm")  # noqa: B009  # not public, but the only product of integers
    elif left.element is not right.element or not left.element.is_float:
        return None

    def run(*inputs: "Tensor") -> "tuple[Tensor, ...]":
        a, b = inputs[first], inputs[second]
        return (
            multiply(
                a.transpose(-2, -1) if first_turned else a,
                b.transpose(-2, -1) if second_turned else b,
            ),
        )

    return name, run
