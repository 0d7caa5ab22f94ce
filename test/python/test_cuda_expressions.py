"""The scalar C++ of the element-wise operations, compiled by the host compiler, against PyTorch over dense grids."""

import ctypes
import math
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from op_calls import DTYPES, Operand, call, meaning

from ucutlass.dialects.ucutlass.cuda_text import literal, nearest_f32, number_cast, render
from ucutlass.dialects.ucutlass.operations import SPECS
from ucutlass.dialects.ucutlass.operations.cuda_functions import FUNCTIONS, functions_of, prelude
from ucutlass.dialects.ucutlass.operations.elementwise_types import computed_in
from ucutlass.dialects.ucutlass.spec import Call
from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.element_types import BOOL, ELEMENT_TYPES, F32, F64, S32, S64, ElementType
from ucutlass.interpreter.rounding import round_to

torch: Any = pytest.importorskip("torch")

INF, NAN = math.inf, math.nan

HEADER = """
#include <cmath>
#include <cstdint>
#include <cstring>
#include <math.h>
#define CUTLASS_HOST_DEVICE inline
// What CUDA has beyond C.
inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
"""


@dataclass(frozen=True)
class Case:
    """One expression at one type, as a function over arrays."""

    symbol: str
    call: Call
    result: TensorType
    computed: ElementType

    @property
    def arrays(self) -> list[str]:
        return [name for name in self.call.operands if name not in self.call.numbers]

    @property
    def inputs(self) -> dict[str, ElementType]:
        """The types of the arrays: the operands are converted before."""
        return dict.fromkeys(self.arrays, self.computed)

    def source(self) -> str:
        names = {name: f"{name}[i]" for name in self.arrays}
        names |= {name: literal(number, self.computed) for name, number in self.call.numbers.items()}
        text = render(self.call.spec.cuda_expression(self.call.constants), names, self.computed)
        parameters = ", ".join(f"{element.cutlass} const* {name}" for name, element in self.inputs.items())
        store = self.result.element.compute.cutlass
        return (
            f'extern "C" void {self.symbol}({parameters}, {store}* r, int64_t n) {{\n'
            f"  for (int64_t i = 0; i < n; ++i) r[i] = {text};\n}}\n"
        )


class Cases:
    """All cases, compiled once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cases: dict[Any, Case] = {}
        self.library: Any = None

    def add(self, key: Any, name: str, *operands: Operand, **params: Any) -> None:
        made = call(name, *operands, **params)
        (result,) = made.spec.infer(made)
        self.cases[key] = Case(f"f{len(self.cases)}", made, result, computed_in(made, (result,)))

    def compile(self) -> None:
        compiler = shutil.which("g++") or shutil.which("c++")
        if compiler is None:
            pytest.skip("no host C++ compiler")
        expressions = [c.call.spec.cuda_expression(c.call.constants) for c in self.cases.values()]
        source = self.folder / "expressions.cpp"
        source.write_text("\n".join([HEADER, prelude(expressions), *(c.source() for c in self.cases.values())]))
        library = self.folder / "expressions.so"
        flags = ["-std=c++17", "-O1", "-Wall", "-Werror", "-Wno-int-in-bool-context", "-shared", "-fPIC"]
        done = subprocess.run([compiler, *flags, str(source), "-o", str(library)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[:4000]
        self.library = ctypes.CDLL(str(library))

    def run(self, key: Any, *inputs: Any) -> Any:
        """The results of the compiled expression, on tensors already converted to the type of the computation."""
        case = self.cases[key]
        arrays = [value.to(DTYPES[case.computed.name]).contiguous() for value in inputs]
        result = torch.empty(arrays[0].shape, dtype=DTYPES[case.result.element.compute.name])
        pointers = [ctypes.c_void_p(a.data_ptr()) for a in (*arrays, result)]
        self.library[case.symbol](*pointers, ctypes.c_int64(result.numel()))
        return result


FLOAT_VARIANTS: dict[str, list[dict[str, Any]]] = {
    "leaky_relu": [{}, {"slope": 0.3}, {"slope": -1}],
    "elu": [{}, {"alpha": 0.5}],
    "gelu": [{}, {"approximate": "tanh"}],
    "hardtanh": [{}, {"lo": -0.3, "hi": 2.5}],
    "clamp": [{"lo": -0.3}, {"hi": 0.7}, {"lo": -1, "hi": 2}, {"lo": 2, "hi": 1}, {"lo": NAN}, {"lo": -INF, "hi": INF}],
}
UNARY = [name for name, spec in SPECS.items() if spec.family == "unary" and name != "cast"]
UNARY_CASES = [(name, index) for name in UNARY for index in range(len(FLOAT_VARIANTS.get(name, [{}])))]
INTEGER_UNARY: dict[str, dict[str, Any]] = {
    "relu": {},
    "relu6": {},
    "hardtanh": {"lo": -3, "hi": 4},
    "clamp": {"lo": -5, "hi": 2},
    "abs": {},
    "neg": {},
    "square": {},
}
BINARY = [name for name, spec in SPECS.items() if spec.family == "binary"]
EXPONENTS = [-3, -2, -1, -0.5, 0, 0.5, 1, 1.5, 2, 3, 4, 2.0]
FLOATS = ("f32", "f64")
INTEGERS = ("s32", "s64")


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Cases:
    cases = Cases(tmp_path_factory.mktemp("expressions"))
    for element in FLOATS:
        tensor = f"{element}[8]"
        for name, index in UNARY_CASES:
            cases.add((name, element, index), name, tensor, **FLOAT_VARIANTS.get(name, [{}])[index])
        for name in (*BINARY, "scale", "bias", "residual"):
            cases.add((name, element), name, tensor, tensor)
        for exponent in EXPONENTS:
            cases.add(("pow", element, repr(exponent)), "pow", tensor, exponent)
        for beta in (0, 0.155728638, -2):
            cases.add(("residual", element, beta), "residual", tensor, tensor, beta=beta)
        cases.add(("scale", element, 0.155728638), "scale", tensor, 0.155728638)
        cases.add(("fma", element), "fma", tensor, tensor, tensor)
        cases.add(("where", element), "where", "bool[8]", tensor, tensor)
    for element in INTEGERS:
        tensor = f"{element}[8]"
        for name, params in INTEGER_UNARY.items():
            cases.add((name, element), name, tensor, **params)
        for name in (*BINARY, "fma", "where"):
            operands = ["bool[8]", tensor, tensor] if name == "where" else [tensor] * len(SPECS[name].operands)
            cases.add((name, element), name, *operands)
        for exponent in (0, 1, 2, 3, 7):
            cases.add(("pow", element, exponent), "pow", tensor, exponent)
    for name in ("add", "mul", "maximum", "minimum", "gt", "ge", "lt", "le", "eq", "ne"):
        cases.add((name, "bool"), name, "bool[8]", "bool[8]")
    for source in (*FLOATS, *INTEGERS, "bool"):
        for target in ELEMENT_TYPES:
            cases.add(("cast", source, target), "cast", f"{source}[8]", dtype=target)
    cases.compile()
    return cases


def grid(dtype: Any) -> Any:
    """Values of every magnitude, a dense middle, ties, and the edges."""
    info = torch.finfo(dtype)
    exponents = torch.arange(math.frexp(info.tiny)[1] - 22, math.frexp(info.max)[1], dtype=torch.float64)
    powers = torch.exp2(exponents)
    points = torch.cat(
        [powers, powers * 1.37, torch.linspace(0, 30, 6001, dtype=torch.float64), torch.arange(100) / 2.0]
    )
    edges = torch.tensor([0.0, INF, NAN, info.max, info.tiny, info.smallest_normal / 3], dtype=torch.float64)
    half = torch.cat([points, edges]).to(dtype)
    return torch.cat([half, -half])


ABSOLUTE = {"gelu": 2.0**-22}
"""What cancellation costs, as in PyTorch: 1 + erf(x) and 1 + tanh(x) lose what is below one unit in the last place of
1, which `x / 2` with |x| <= 8 magnifies before the factor is exactly 0."""

UNITS = 4
"""Units in the last place: two or three operations and a library function, each rounded once or to within one unit."""


@pytest.mark.parametrize(("name", "index"), UNARY_CASES)
def test_unary_floats(compiled: Cases, name: str, index: int) -> None:
    params = FLOAT_VARIANTS.get(name, [{}])[index]
    for element, dtype in (("f32", torch.float32), ("f64", torch.float64)):
        x = grid(dtype)
        found = compiled.run((name, element, index), x)
        # In double precision PyTorch's value is exact enough for a float; for doubles it is compared with itself.
        expected = meaning(name, x.double(), **params)
        if name == "gelu" and "approximate" not in params:
            # PyTorch's vectorized erf is NaN at infinity, on the CPU only.
            expected = torch.where(x == INF, INF, expected)
        if name == "hardswish":
            # PyTorch multiplies by 6 before it divides by 6, which overflows.
            expected = torch.where(x >= 3, x.double(), expected)
        eps = torch.finfo(dtype).eps
        # Below the smallest normal number digits go, and exp overflows before its quotient underflows.
        floor = torch.finfo(dtype).tiny * 2.0**8
        torch.testing.assert_close(
            found.double(),
            expected.to(dtype).double(),
            rtol=UNITS * eps,
            atol=max(floor, ABSOLUTE.get(name, 0.0) * eps * 2.0**23),
            equal_nan=True,
        )


def pairs(dtype: Any) -> tuple[Any, Any]:
    """All pairs of a few values with every edge among them."""
    values = [0.0, 1e-45, 1e-30, 0.1, 0.5, 1.0, 1.5, 2.0, 3.0, 7.3, 40.0, 1e10, 3e38, INF, NAN]
    axis = torch.tensor(values + [-v for v in values], dtype=torch.float64).to(dtype)
    a, b = torch.meshgrid(axis, axis, indexing="ij")
    return a.flatten(), b.flatten()


@pytest.mark.parametrize("element", FLOATS)
@pytest.mark.parametrize("name", [*BINARY, "scale", "residual"])
def test_binary_floats(compiled: Cases, name: str, element: str) -> None:
    a, b = pairs(DTYPES[element])
    found, expected = compiled.run((name, element), a, b), meaning(name, a, b)
    tolerance = UNITS * torch.finfo(a.dtype).eps if name == "pow" else 0.0
    torch.testing.assert_close(found, expected, rtol=tolerance, atol=0.0, equal_nan=True)


@pytest.mark.parametrize("element", FLOATS)
@pytest.mark.parametrize("exponent", EXPONENTS, ids=repr)
def test_powers_by_numbers(compiled: Cases, element: str, exponent: int | float) -> None:
    x = grid(DTYPES[element])
    found, expected = compiled.run(("pow", element, repr(exponent)), x), meaning("pow", x, exponent)
    rtol, atol = UNITS * torch.finfo(x.dtype).eps, torch.finfo(x.dtype).tiny
    torch.testing.assert_close(found, expected, rtol=rtol, atol=atol, equal_nan=True)


@pytest.mark.parametrize("element", FLOATS)
def test_three_operands_and_factors(compiled: Cases, element: str) -> None:
    a, b = pairs(DTYPES[element])
    c = b.flip(0)
    torch.testing.assert_close(compiled.run(("fma", element), a, b, c), a * b + c, rtol=0, atol=0, equal_nan=True)
    condition = (torch.arange(len(a)) % 3 == 0).to(a.dtype)
    found = compiled.run(("where", element), condition, a, b)
    torch.testing.assert_close(found, torch.where(condition != 0, a, b), rtol=0, atol=0, equal_nan=True)
    # The literal is the same number as PyTorch makes of a Python float.
    factor = 0.155728638
    assert compiled.run(("scale", element, factor), a).nan_to_num().equal((a * factor).nan_to_num())
    for beta in (factor, -2):
        found = compiled.run(("residual", element, beta), a, b)
        torch.testing.assert_close(found, meaning("residual", a, b, beta=beta), rtol=0, atol=0, equal_nan=True)
    assert compiled.run(("residual", element, 0), a, b).nan_to_num().equal(a.nan_to_num())


@pytest.mark.parametrize("element", INTEGERS)
def test_integers(compiled: Cases, element: str) -> None:
    dtype = DTYPES[element]
    x = torch.arange(-40, 41, dtype=dtype)
    for name, params in INTEGER_UNARY.items():
        assert compiled.run((name, element), x).equal(meaning(name, x, **params)), name
    a, b = (v.flatten() for v in torch.meshgrid(x, x, indexing="ij"))
    for name in BINARY:
        if name == "pow":
            continue
        found, expected = compiled.run((name, element), a, b), meaning(name, a, b)
        assert found.dtype is expected.dtype and found.nan_to_num().equal(expected.nan_to_num()), name
    assert compiled.run(("fma", element), a, b, a).equal(a * b + a)
    assert compiled.run(("where", element), a > b, a, b).equal(torch.maximum(a, b))
    small = (a.abs() < 6) & (b >= 0) & (b < 9)
    assert compiled.run(("pow", element), a[small], b[small]).equal(torch.pow(a[small], b[small]))
    signs = torch.tensor([-2, -1, 0, 1, 2], dtype=dtype)
    assert compiled.run(("pow", element), signs, torch.full_like(signs, -3)).tolist() == [0, -1, 0, 1, 0]
    assert compiled.run(("pow", element), signs, torch.full_like(signs, -2)).tolist() == [0, 1, 0, 1, 0]
    for exponent in (0, 1, 2, 3, 7):
        assert compiled.run(("pow", element, exponent), signs).equal(torch.pow(signs, exponent))


def test_booleans(compiled: Cases) -> None:
    a, b = torch.tensor([False, False, True, True]), torch.tensor([False, True, False, True])
    for name in ("add", "mul", "maximum", "minimum", "gt", "ge", "lt", "le", "eq", "ne"):
        assert compiled.run((name, "bool"), a, b).equal(meaning(name, a, b)), name


@pytest.mark.parametrize("target", ELEMENT_TYPES)
@pytest.mark.parametrize("source", [*FLOATS, *INTEGERS, "bool"])
def test_casts_round_as_the_interpreter(compiled: Cases, source: str, target: str) -> None:
    dtype = DTYPES[source]
    if source in FLOATS:
        bits = torch.randint(-(2**31), 2**31 - 1, (20000,), generator=torch.Generator().manual_seed(7))
        anything = bits.to(torch.int32).view(torch.float32).to(dtype)
        ties = torch.arange(-2100, 2101).to(dtype) * 2.0**-10
        x = torch.cat([grid(dtype), anything, ties, ties * 2.0**8, ties * (1 + 2.0**-20), ties * 2.0**-20])
        edges = [
            2.0**31,
            2.0**31 - 1,
            2.0**31 - 0.5,
            -(2.0**31) - 0.5,
            2.0**63,
            -(2.0**63),
            65519.9,
            65520.0,
            463.9,
            464.1,
        ]
        x = torch.cat([x, torch.tensor(edges, dtype=torch.float64).to(dtype)])
    elif source == "bool":
        x = torch.tensor([False, True])
    else:
        info = torch.iinfo(dtype)
        powers = [sign * (1 << bit) + d for bit in range(info.bits - 1) for sign in (1, -1) for d in (-1, 0, 1, 77)]
        x = torch.tensor([p for p in (*powers, info.min, info.max) if info.min <= p <= info.max], dtype=dtype)
    found: Any = compiled.run(("cast", source, target), x)
    expected: Any = round_to(torch, x, ELEMENT_TYPES[target])
    assert found.dtype is expected.dtype
    torch.testing.assert_close(found, expected, rtol=0, atol=0, equal_nan=True)
    if target in FLOATS:
        assert torch.signbit(found[x == 0]).equal(torch.signbit(x[x == 0]))


# Texts ---------------------------------------------------------------------------------------------------------------


def test_every_elementwise_row_has_an_expression() -> None:
    for name, spec in SPECS.items():
        assert (spec.cuda is not None) == spec.is_elementwise, name


def test_expressions_read_as_one_would_write_them() -> None:
    def text(name: str, element: ElementType, names: dict[str, str], *operands: Operand, **params: Any) -> str:
        made = call(name, *operands, **params)
        return render(made.spec.cuda_expression(made.constants), names, element)

    assert text("gelu", F32, {"x": "v0"}, "f16[8]") == "0.5f * v0 * (1.0f + erff(v0 * 0.70710677f))"
    assert text("leaky_relu", F32, {"x": "acc"}, "f16[8]", slope=0.01) == "acc > 0.0f ? acc : acc * 0.01f"
    assert text("relu", S32, {"x": "v"}, "s8[8]") == "v < 0 ? 0 : v"
    assert text("exp", F64, {"x": "v"}, "f64[8]") == "exp(v)"
    assert text("abs", F64, {"x": "v"}, "f64[8]") == "fabs(v)"
    assert text("abs", S64, {"x": "v"}, "s64[8]") == "abs(v)"
    assert text("pow", F32, {"a": "v"}, "f32[8]", 2) == "v * v"
    assert text("clamp", F32, {"x": "v"}, "f32[8]", hi=INF) == "v > INFINITY ? INFINITY : v"
    # Names of operands that are also letters of the expression are replaced once, all at the same time.
    assert text("sub", F32, {"a": "b", "b": "a"}, "f32[8]", "f32[8]") == "b - a"
    assert text("residual", F32, {"v": "c", "c": "v"}, "f32[8]", "f32[8]", beta=1e-5) == "c + 1e-05f * v"


@pytest.mark.parametrize(
    "value", [0.155728638, -0.70562351, 1e-45, 3.4028235e38, 0.1, 1 / 3, 16777217, 1e-310, 7, -0.0]
)
def test_literals_are_exact(value: int | float) -> None:
    single = literal(value, F32)
    assert single.endswith("f")
    digits = float(single[:-1])
    expected = torch.tensor(value, dtype=torch.float64).to(torch.float32).item()
    assert repr(nearest_f32(digits)) == repr(nearest_f32(value)) == repr(expected)
    assert repr(float(literal(value, F64))) == repr(float(value))


def test_literals_of_other_kinds() -> None:
    assert [literal(v, F32) for v in (INF, -INF, NAN, 1e39, -1e39)] == [
        "INFINITY",
        "-INFINITY",
        "NAN",
        "INFINITY",
        "-INFINITY",
    ]
    assert [literal(v, F64) for v in (INF, NAN, 1e39)] == ["double(INFINITY)", "double(NAN)", "1e+39"]
    assert [literal(v, S32) for v in (5, -1, -(2**31), 2.0)] == ["5", "-1", "int32_t(-2147483647 - 1)", "2"]
    assert [literal(v, S64) for v in (5, -(2**63))] == ["int64_t(5)", "int64_t(-9223372036854775807 - 1)"]
    assert [literal(v, BOOL) for v in (0, 1)] == ["false", "true"]
    assert [number_cast(v) for v in (1, 0.5, -INF, NAN)] == ["T(1)", "T(0.5)", "T(-INFINITY)", "T(NAN)"]


def test_the_prelude_holds_what_is_called_and_no_more() -> None:
    assert prelude(["x * x", "expf(x)"]) == ""
    assert [f.name for f in functions_of(["ucu::to_s8(v0) + ucu::clamp(x, 0, 1)"])] == ["clamp", "saturate", "to_s8"]
    names = [f.name for f in functions_of(["ucu::round_f16(x)"])]
    assert names == ["float_bits", "bits_float", "sticky_float", "round_f16"]
    for function in FUNCTIONS.values():
        assert set(function.needs) <= FUNCTIONS.keys() and f" {function.name}(" in function.source
    assert prelude(["ucu::mish(x)"]).startswith("namespace ucu {\n\n///")
