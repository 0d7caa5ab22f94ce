"""Random inputs have the types, layouts and peculiarities that they are asked for; packed storage is what it says."""

# torch leaves the element type of `tolist` open.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from interpreting import inferred, kernel_of
from torch import Tensor

from ucutlass.diagnostics.core import DiagnosticError
from ucutlass.dialects.ucutlass.kernel import kernels_of
from ucutlass.element_types import ELEMENT_TYPES, F16, S4, U4, ElementType
from ucutlass.interpreter import DISTRIBUTIONS, Distribution, interpret, random_inputs
from ucutlass.interpreter.storage import pack, stored_shape, unpack

IDENTITY = "kernel k(x: {0}[6, 9]) -> {0}[6, 9] {{ return x }}"


@pytest.mark.parametrize("element", ELEMENT_TYPES)
@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_inputs_are_values_of_their_type(element: str, distribution: Distribution) -> None:
    module = inferred(IDENTITY.format(element))
    (x,) = random_inputs(kernels_of(module)[0], seed=3, distribution=distribution)
    (y,) = interpret(module, "k", [x])
    assert x.dtype == y.dtype and x.shape == y.shape
    # Values, not only bits: what was drawn is representable, so that returning it changes nothing.
    assert torch.equal(x.view(torch.uint8), y.view(torch.uint8))


def test_the_seed_decides() -> None:
    kernel = kernel_of("kernel k(x: f32[50], y: f32[50]) -> f32[50] { return x + y }")
    x, y = random_inputs(kernel, seed=7)
    again, _ = random_inputs(kernel, seed=7)
    other, _ = random_inputs(kernel, seed=8)
    assert torch.equal(x, again)
    assert not torch.equal(x, other)
    assert not torch.equal(x, y)


def test_layouts_and_dynamic_sizes() -> None:
    kernel = kernel_of(
        "kernel k(x: f16[M, K]@col, y: f16[P]) -> f16[M, K] where P == K + 1, M % 4 == 0 { return relu(x) }"
    )
    x, y = random_inputs(kernel, {"M": 8, "K": 3})
    assert (x.shape, x.stride(), y.shape) == ((8, 3), (1, 8), (4,))
    with pytest.raises(DiagnosticError, match=r"does not hold for M = 6"):
        random_inputs(kernel, {"M": 6, "K": 3})
    with pytest.raises(DiagnosticError, match="the size of K, P is not given and follows from nothing"):
        random_inputs(kernel, {"M": 8})


def drawn(element: str, distribution: Distribution, shape: str = "64, 64") -> tuple[Tensor, Tensor]:
    program = f"kernel k(x: {element}[{shape}], w: {element}[{shape}]) -> bool[{shape}] {{ return gt(x, w) }}"
    x, w = random_inputs(kernel_of(program), distribution=distribution)
    return x, w


@pytest.mark.parametrize("element", ["s8", "u8", "s32", "s64"])
def test_integers_cover_their_range(element: str) -> None:
    x, _ = drawn(element, "normal")
    info = torch.iinfo(x.dtype)
    share = (x.double() - info.min) / (float(info.max) - info.min)
    assert share.min() < 0.01 and share.max() > 0.99
    ends, _ = drawn(element, "large")
    assert set(ends.flatten().tolist()) == {info.min, info.max}


def test_bools_are_both() -> None:
    x, _ = drawn("bool", "normal")
    assert 0.4 < x.float().mean() < 0.6


def test_large_values_make_products_overflow_the_type() -> None:
    x, w = drawn("f16", "large")
    assert x.isfinite().all()
    assert (x @ w).isinf().any()


def test_cancellation_leaves_little_of_much() -> None:
    x, w = drawn("f32", "cancellation")
    for product, terms in ((x @ w, x.abs() @ w.abs()), (x @ w.T, x.abs() @ w.abs().T)):
        assert (product.abs() / terms).max() < 1e-5
    assert (x @ w).abs().max() > 0


def test_one_hot_rows() -> None:
    x, w = drawn("f16", "one_hot")
    assert torch.equal(x.sum(1), torch.ones(64, dtype=torch.half))
    assert torch.equal(x @ w, w[x.argmax(1)])


def test_ties_lie_between_values_of_narrower_types() -> None:
    x, _ = drawn("f32", "ties")
    found = set[str]()
    for name in ("float16", "bfloat16", "float8_e4m3fn"):
        narrow = x.to(getattr(torch, name)).float()
        step = (narrow - x).abs()
        # A tie: the mirror image is representable too.
        other = 2 * x - narrow
        if ((other.to(getattr(torch, name)).float() == other) & (step > 0)).any():
            found.add(name)
    assert found == {"float16", "bfloat16", "float8_e4m3fn"}


@pytest.mark.parametrize("element", ["f16", "bf16", "f32", "f64", "e4m3", "e5m2"])
def test_denormals_are_subnormal(element: str) -> None:
    x, w = drawn(element, "denormal")
    limit = torch.finfo(x.dtype).smallest_normal
    assert (x.double().abs() <= limit).all() and (x.double() != 0).any()
    assert w.double().abs().max() > 1


def test_indices_are_in_range() -> None:
    kernel = kernel_of(
        """kernel k(x: f16[20, 5], i: s64[7, 5], w: f16[3, 5, 4], e: s32[3]) -> f16[7, 5], f16[20, 4] {
             return gather(x, 0, i), grouped_gemm(x, w, e)
           }"""
    )
    _, i, _, e = random_inputs(kernel)
    assert i.min() >= 0 and i.max() < 20
    ends = e.tolist()
    assert ends == sorted(ends) and 0 <= ends[0] and ends[-1] <= 20


def test_variances_are_positive() -> None:
    kernel = kernel_of(
        "kernel k(x: f32[4, 3], m: f32[3], v: f32[3]) -> f32[4, 3] { return batch_norm(x, m, v, eps=1e-5) }"
    )
    assert (random_inputs(kernel)[2] > 0).all()


# Packed storage ------------------------------------------------------------------------------------------------------


@given(
    st.sampled_from([S4, U4]),
    st.lists(st.integers(0, 5), max_size=3).flatmap(lambda s: st.tuples(st.just(s), st.permutations(range(len(s))))),
    st.integers(0, 2**31),
)
def test_packing_is_undone(element: ElementType, shape_and_order: tuple[list[int], list[int]], seed: int) -> None:
    shape, order = shape_and_order
    low, high = (-8, 7) if element is S4 else (0, 15)
    values = torch.randint(low, high + 1, shape, generator=torch.Generator().manual_seed(seed), dtype=torch.int32)
    packed = pack(torch, values, element, order)
    assert tuple(packed.shape) == stored_shape(shape, element, order)
    size = shape[order[-1]] if shape else 1
    assert torch.equal(unpack(torch, packed, element, order, size), values)


def test_the_low_nibble_comes_first() -> None:
    values = torch.tensor([[1, 2, 3], [-1, 0, 5]], dtype=torch.int32)
    assert pack(torch, values, S4, (0, 1)).tolist() == [[0x21, 0x03], [0x0F, 0x05]]
    assert pack(torch, values, S4, (1, 0)).tolist() == [[0xF1, 0x02, 0x53]]
    assert stored_shape((2, 3), F16, (0, 1)) == (2, 3)
