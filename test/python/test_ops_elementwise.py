"""Element-wise operations: types by PyTorch's own promotion, meanings by closed forms, refusals by code and part."""

import itertools
import math
import operator
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from op_calls import DTYPES, ELEMENT_OF, flops, refusal, refused, result, spelled

from ucutlass.dialects.ucutlass.operations import SPECS
from ucutlass.element_types import ELEMENT_TYPES

torch: Any = pytest.importorskip("torch")
F = torch.nn.functional

INF, NAN = math.inf, math.nan

UNARY: dict[str, Callable[[Any], Any]] = {
    "relu": torch.relu,
    "relu6": F.relu6,
    "leaky_relu": F.leaky_relu,
    "elu": F.elu,
    "selu": F.selu,
    "gelu": F.gelu,
    "silu": F.silu,
    "mish": F.mish,
    "sigmoid": torch.sigmoid,
    "hardsigmoid": F.hardsigmoid,
    "hardswish": F.hardswish,
    "hardtanh": F.hardtanh,
    "softplus": F.softplus,
    "softsign": F.softsign,
    "tanh": torch.tanh,
    "exp": torch.exp,
    "log": torch.log,
    "sqrt": torch.sqrt,
    "rsqrt": torch.rsqrt,
    "reciprocal": torch.reciprocal,
    "abs": torch.abs,
    "neg": torch.neg,
    "square": torch.square,
    "erf": torch.erf,
    "sin": torch.sin,
    "cos": torch.cos,
    "logsigmoid": F.logsigmoid,
}
"""PyTorch's functions with their own defaults."""

BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": torch.add,
    "sub": torch.sub,
    "mul": torch.mul,
    "div": torch.div,
    "maximum": torch.maximum,
    "minimum": torch.minimum,
    "pow": torch.pow,
    "gt": torch.gt,
    "ge": torch.ge,
    "lt": torch.lt,
    "le": torch.le,
    "eq": torch.eq,
    "ne": torch.ne,
}

FP8 = ("e4m3", "e5m2")


def dtype_of(compute: Callable[[], Any]) -> str | None:
    """The element type of what PyTorch computes, None where it refuses."""
    try:
        found = compute()
    except (RuntimeError, NotImplementedError, TypeError):
        return None
    return "s16" if found.dtype is torch.int16 else ELEMENT_OF[found.dtype]


def test_every_unary_row_is_tested_here() -> None:
    rows = {name for name, spec in SPECS.items() if spec.family == "unary"}
    assert rows == UNARY.keys() | {"clamp", "cast"}
    rows = {name for name, spec in SPECS.items() if spec.family in ("binary", "ternary")}
    assert rows == BINARY.keys() | {"fma", "where"}


# Types ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", UNARY)
def test_unary_element_types_are_those_of_pytorch(name: str) -> None:
    for element, dtype in DTYPES.items():
        ours: str | None = None
        expected = dtype_of(lambda dtype=dtype: UNARY[name](torch.ones(2, dtype=dtype)))
        if element in FP8:
            expected = element  # PyTorch computes nothing in fp8; here it is computed in f32 as any float
        if (name, element) == ("hardtanh", "u8"):
            expected = "u8"  # PyTorch's default bounds are no u8; values are computed in s32 here
        if expected is None:
            error = refusal(name, f"{element}[2]")
            assert (error.code, error.part) == ("UC0316", "operand:x"), (name, element)
            assert element in error.message and "cast" in error.notes[0]
        else:
            ours = result(name, f"{element}[2]")
            assert ours == f"{expected}[2]", (name, element)
    assert result(name, "tf32[2]") == "tf32[2]"


def tensors(element: str) -> list[tuple[str, Any]]:
    """A tensor with dimensions and one without, each with the text of its type."""
    dtype = DTYPES[element]
    return [(f"{element}[2]", torch.ones(2, dtype=dtype)), (f"{element}[]", torch.ones((), dtype=dtype))]


@pytest.mark.parametrize("name", BINARY)
def test_binary_element_types_are_those_of_pytorch(name: str) -> None:
    checked = 0
    for left, right in itertools.product(DTYPES, DTYPES):
        for (a_text, a), (b_text, b) in itertools.product(tensors(left), tensors(right)):
            if {left, right} & set(FP8):
                if left != right and a.dim() == b.dim() and not (name == "sub" and "bool" in (left, right)):
                    error = refusal(name, a_text, b_text)
                    assert (error.code, error.part) == ("UC0302", "operand:b")
                    assert left in error.message and right in error.message
                continue
            expected = dtype_of(lambda a=a, b=b: BINARY[name](a, b))
            if expected is None:
                assert refused(name, a_text, b_text)[0] == "UC0316", (name, a_text, b_text)
            else:
                expected = "s32" if expected == "s16" else expected  # there is no s16: the next wider one
                shape = "[2]" if a.dim() or b.dim() else "[]"
                assert result(name, a_text, b_text) == f"{expected}{shape}", (name, a_text, b_text)
            checked += 1
    assert checked == 4 * 9 * 9


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("number", [2, 2.5])
def test_numbers_promote_as_in_pytorch(name: str, number: int | float) -> None:
    for element in DTYPES:
        if element in FP8:
            assert (
                result(name, f"{element}[2]", number)
                == ("bool" if name in BINARY and name[0] in "glen" else element) + "[2]"
            )
            continue
        for text, tensor in tensors(element):
            for flip in (False, True):

                def compute(tensor: Any = tensor, flip: bool = flip) -> Any:
                    if name in ("maximum", "minimum"):  # PyTorch's take tensors only; a number is one of 0 dimensions
                        other = torch.tensor(number, dtype=torch.result_type(tensor, number))
                        return BINARY[name](tensor, other)
                    symbol = {"add": "add", "sub": "sub", "mul": "mul", "div": "truediv", "pow": "pow"}.get(name, name)
                    function = getattr(operator, symbol)
                    return function(number, tensor) if flip else function(tensor, number)

                expected = dtype_of(compute)
                operands = (number, text) if flip else (text, number)
                if expected is None:
                    assert refused(name, *operands)[0] == "UC0316", (name, text)
                else:
                    assert result(name, *operands).startswith(f"{expected}["), (name, text, flip)


def test_types_that_pytorch_lacks() -> None:
    assert result("add", "s4[2]", "u4[2]") == "s8[2]"
    assert result("add", "s4[2]", "s8[2]") == "s8[2]"
    assert result("add", "u4[2]", "s8[2]") == "s8[2]"
    assert result("add", "u4[2]", "u8[2]") == "u8[2]"
    assert result("add", "s4[2]", "u8[2]") == "s32[2]"
    assert result("add", "bool[2]", "u4[2]") == "u4[2]"
    assert result("add", "s8[2]", "u8[2]") == "s32[2]"
    for other in ("f32", "f16", "bf16"):
        assert result("mul", "tf32[2]", f"{other}[2]") == result("mul", f"{other}[2]", "tf32[2]") == "f32[2]"
    assert result("mul", "tf32[2]", "f64[2]") == "f64[2]"
    assert result("mul", "tf32[2]", "s8[2]") == "tf32[2]"
    assert result("mul", "e4m3[2]", "f32[]") == "e4m3[2]"


def test_where_promotes_its_branches_only() -> None:
    cond = torch.ones(2, dtype=torch.bool)
    for left, right in itertools.product(DTYPES, DTYPES):
        if {left, right} & set(FP8):
            continue
        for (a_text, a), (b_text, b) in itertools.product(tensors(left), tensors(right)):
            expected = dtype_of(lambda a=a, b=b: torch.where(cond, a, b))
            assert expected is not None
            expected = "s32" if expected == "s16" else expected
            assert result("where", "bool[2]", a_text, b_text) == f"{expected}[2]", (a_text, b_text)
    for a, b in ((1, 2), (1, 2.5), (0.5, 1.5)):
        assert result("where", "bool[2]", a, b) == spelled(torch.where(cond, a, b).dtype, [2])
    for element in ("s8", "f16", "bool"):
        for number in (3, 0.5):
            tensor = torch.ones(2, dtype=DTYPES[element])
            expected = spelled(torch.where(cond, tensor, number).dtype, [2])
            assert result("where", "bool[2]", f"{element}[2]", number) == expected
            assert result("where", "bool[2]", number, f"{element}[2]") == expected
    assert refused("where", "s32[2]", "f32[2]", "f32[2]") == ("UC0316", "operand:cond")
    assert refused("where", 1, "f32[2]", "f32[2]") == ("UC0315", "operand:cond")


@pytest.mark.parametrize("element", [e for e in DTYPES if e not in FP8])
def test_clamp_promotes_with_its_bounds(element: str) -> None:
    tensor = torch.ones(2, dtype=DTYPES[element])
    for lo, hi in itertools.product((None, 0, 0.5), (None, 2, 2.5)):
        if lo is None and hi is None:
            assert refused("clamp", f"{element}[2]")[0] == "UC0211"
            continue
        expected = dtype_of(lambda lo=lo, hi=hi: torch.clamp(tensor, lo, hi))
        assert result("clamp", f"{element}[2]", lo=lo, hi=hi) == f"{expected}[2]", (element, lo, hi)


def test_epilogue_names_promote_as_arithmetic() -> None:
    assert result("bias", "f16[4, 8]", "f16[8]") == "f16[4, 8]"
    assert result("bias", "f16[4, 8]", "f32[8]") == "f32[4, 8]"
    assert result("bias", "f16[N, 4, 8]", "f16[4]", axis=1) == "f16[N, 4, 8]"
    assert result("scale", "f16[4, 8]", "f32[4, 1]") == "f32[4, 8]"
    assert result("scale", "f16[4, 8]", "f32[]") == "f16[4, 8]"
    assert result("scale", "s8[4, 8]", 0.5) == "f32[4, 8]"
    assert result("residual", "f16[4, 8]", "f16[4, 8]", beta=0.5) == "f16[4, 8]"
    assert result("residual", "s32[4, 8]", "s32[8]", beta=0.5) == "f32[4, 8]"
    assert result("residual", "s32[4, 8]", "s32[8]", beta=2) == "s32[4, 8]"
    assert result("residual", "bool[4]", "bool[4]") == "bool[4]"


def test_cast_gives_what_it_names() -> None:
    for source, target in itertools.product(ELEMENT_TYPES, ELEMENT_TYPES):
        assert result("cast", f"{source}[M, 3]@col", dtype=target) == f"{target}[M, 3]@col"


# Shapes and layouts --------------------------------------------------------------------------------------------------

SHAPES = st.lists(st.sampled_from([0, 1, 2, 3]), max_size=4)


@given(st.lists(SHAPES, min_size=3, max_size=3))
def test_shapes_broadcast_as_in_pytorch(shapes: list[list[int]]) -> None:
    texts = [f"f32[{', '.join(map(str, shape))}]" for shape in shapes]
    try:
        expected = list(torch.broadcast_shapes(*shapes))
    except RuntimeError:
        assert refused("fma", *texts)[0] == "UC0305"
    else:
        assert result("fma", *texts) == f"f32[{', '.join(map(str, expected))}]"


def test_dynamic_sizes_broadcast_where_they_are_known_equal() -> None:
    assert result("add", "f32[M, N]", "f32[N]") == "f32[M, N]"
    assert result("add", "f32[M, 1]", "f32[1, N]") == "f32[M, N]"
    error = refusal("add", "f32[M, N]", "f32[M]")
    assert (error.code, error.part) == ("UC0305", "operand:b")
    assert all(word in error.message for word in ("[M, N]", "[M]", "size M", "size N"))
    assert result("add", "f32[M, N]", "f32[M]", facts=["M == N"]) in ("f32[M, N]", "f32[M, M]")
    assert result("add", "f32[M, P]", "f32[M, 2 * K]", facts=["P == 2 * K"]) == "f32[M, P]"
    assert result("add", "f32[M, P]", "f32[M, K]", facts=["P == 1"]) == "f32[M, K]"
    assert refused("add", "f32[M]", "f32[4]") == ("UC0305", "operand:b")


def test_layouts_follow_the_operand_that_has_the_results_shape() -> None:
    assert result("relu", "f16[N, C, H, W]@channels_last") == "f16[N, C, H, W]@channels_last"
    assert result("add", "f16[N, C, H, W]@channels_last", 2) == "f16[N, C, H, W]@channels_last"
    assert result("add", "f16[8]", "f16[4, 8]@col") == "f16[4, 8]@col"
    assert result("add", "f16[4, 8]", "f16[4, 8]@col") == "f16[4, 8]"
    assert result("add", "f16[4, 1]@col", "f16[1, 8]@col") == "f16[4, 8]"
    assert result("gt", "f16[4, 8]@col", 0) == "bool[4, 8]@col"
    assert result("bias", "f16[N, C, H, W]@channels_last", "f16[C]", axis=1) == "f16[N, C, H, W]@channels_last"
    assert result("residual", "f16[4, 8]@col", "f16[4, 8]") == "f16[4, 8]@col"


# Refusals ------------------------------------------------------------------------------------------------------------


def test_numbers_stand_only_where_they_may() -> None:
    assert refused("relu", 2) == ("UC0315", "operand:x")
    assert refused("maximum", 1, 2) == ("UC0315", "operand:a")
    assert refused("fma", 1, 2, 3.5) == ("UC0315", "operand:a")
    assert refused("gt", 1, 2) == ("UC0315", "operand:a")
    assert refused("bias", "f16[4, 8]", 1.0) == ("UC0315", "operand:b")
    assert refused("scale", 2.0, "f16[4, 8]") == ("UC0315", "operand:v")
    assert result("residual", "f16[4, 8]", 1.0) == "f16[4, 8]"


def test_whole_numbers_fit_the_compute_type() -> None:
    assert result("add", "u8[2]", 300) == "u8[2]"
    error = refusal("add", "s8[2]", 2**31)
    assert (error.code, error.part) == ("UC0309", "operand:b") and str(2**31) in error.message
    assert result("add", "s64[2]", 2**31) == "s64[2]"
    assert refused("mul", 2**63, "s64[2]") == ("UC0309", "operand:a")
    assert result("mul", "f32[2]", 2**70) == "f32[2]"
    assert refused("clamp", "s32[2]", hi=2**40) == ("UC0309", "param:hi")


def test_bounds() -> None:
    error = refusal("hardtanh", "f32[2]", lo=2, hi=1.5)
    assert (error.code, error.part) == ("UC0309", "param:lo") and "2" in error.message and "1.5" in error.message
    assert refused("hardtanh", "s32[2]", hi=1.5) == ("UC0309", "param:hi")
    assert result("hardtanh", "s32[2]", lo=-3, hi=3.0) == "s32[2]"
    assert result("clamp", "f32[2]", lo=2, hi=1) == "f32[2]"


def test_pow_of_integers() -> None:
    error = refusal("pow", "s32[2]", -1)
    assert (error.code, error.part) == ("UC0309", "operand:b") and "-1" in error.message
    assert result("pow", "s32[2]", -1.0) == "f32[2]"
    assert result("pow", 2, "s32[2]") == "s32[2]"
    assert refused("pow", "bool[2]", "bool[2]") == ("UC0316", "operand:a")


def test_bias_is_a_vector_of_the_channels() -> None:
    error = refusal("bias", "f16[64, 128]", "f16[64]")
    assert (error.code, error.part) == ("UC0301", "operand:b")
    assert "128" in error.message and "last dimension" in error.message
    error = refusal("bias", "f16[2, 16, 8, 32]", "f16[32]", axis=1)
    assert "dimension 1" in error.message and "16" in error.message
    assert refused("bias", "f16[64, 128]", "f16[1, 128]") == ("UC0303", "operand:b")
    assert refused("bias", "f16[]", "f16[1]") == ("UC0303", "operand:v")
    assert result("bias", "f16[64, 128]", "f16[1]") == "f16[64, 128]"
    assert result("bias", "f16[64, N]", "f16[P]", facts=["N == P"]) == "f16[64, N]"
    assert refused("bias", "f16[64, N]", "f16[P]") == ("UC0301", "operand:b")


# Numbers alone, and costs --------------------------------------------------------------------------------------------


def test_numbers_alone_compute_as_in_python() -> None:
    def value(name: str, *numbers: int | float) -> int | float:
        function = SPECS[name].number
        assert function is not None
        return function(*numbers)

    assert (value("add", 1, 2), value("sub", 1, 2.5), value("mul", 3, 4), value("neg", 2.5)) == (3, -1.5, 12, -2.5)
    assert value("div", 1, 8) == 0.125
    assert isinstance(value("div", 4, 2), float)
    assert (value("div", 1, 0), value("div", -1, 0), value("div", 1, -0.0)) == (INF, -INF, -INF)
    assert math.isnan(value("div", 0, 0)) and math.isnan(value("div", NAN, 0))
    assert value("add", 10**400, 0.5) == INF and value("div", -(10**400), 3) == -INF
    assert [n for n, s in SPECS.items() if s.number] == ["neg", "add", "sub", "mul", "div"]


def test_costs_by_element() -> None:
    costs = {name: spec.flops for name, spec in SPECS.items() if spec.is_elementwise}
    groups = {
        0: "cast",
        2: "leaky_relu fma",
        3: "elu softplus softsign",
        4: "selu sigmoid hardsigmoid logsigmoid",
        5: "gelu silu mish hardswish",
    }
    for each, names in groups.items():
        for name in names.split():
            assert costs.pop(name) == each, name
    assert callable(costs.pop("residual"))
    assert set(costs.values()) == {1}
    assert flops("relu", "f32[4, 8]") == 32
    assert str(flops("gelu", "f32[M, 8]")) == "40 * M"
    assert flops("residual", "f32[4, 8]", "f32[8]") == 32
    assert flops("residual", "f32[4, 8]", "f32[8]", beta=2) == 64
    assert flops("residual", "f32[4, 8]", "f32[8]", beta=0) == 0
    assert flops("bias", "f32[4, 8]", "f32[8]") == 32
    assert flops("add", "f32[4, 1]", "f32[8]") == 32
