"""Convolutions: output sizes over a sweep, gradients and integers against PyTorch, costs, refusals by code and part."""

import itertools
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from op_calls import call, flops_of, refusal_of, sizes, torch

from ucutlass.dialects.ucutlass.operations import SPECS
from ucutlass.dialects.ucutlass.spec import Call, TypingError
from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.dims import Dim

functional = torch.nn.functional


def shape_text(shape: Sequence[int | str]) -> str:
    return f"f32[{', '.join(map(str, shape))}]"


def result(found: Call) -> TensorType:
    (only,) = found.spec.infer(found)
    return only


def shape_in_torch(function: Any, *arguments: Any, **options: Any) -> tuple[int, ...] | None:
    """The shape of a result, None where PyTorch refuses."""
    try:
        return tuple(function(*arguments, **options).shape)
    except RuntimeError:
        return None


def test_a_dilated_window_covers_dilation_times_one_less_than_its_taps() -> None:
    found = result(call("conv2d", "f16[1, 8, 8, 8]", "f16[8, 8, 3, 3]", dilation=2))
    assert found.spelling == "f16[1, 8, 4, 4]"
    assert (
        result(call("conv3d", "f16[1, 8, 8, 8, 8]", "f16[8, 8, 3, 3, 3]", dilation=2)).spelling == "f16[1, 8, 4, 4, 4]"
    )


def test_output_sizes_are_those_of_torch_for_every_small_window() -> None:
    """Known and dynamic sizes alike; where PyTorch refuses, the type rule or the launcher's condition does."""
    refused = 0
    for taps, stride, padding, dilation in itertools.product(range(1, 6), range(1, 4), range(4), range(1, 4)):
        steps: dict[str, Any] = {"stride": stride, "padding": padding, "dilation": dilation}
        dynamic = call("conv1d", "f32[1, 2, H]", f"f32[3, 2, {taps}]", **steps)
        formula = result(dynamic)
        for size in range(10):
            wanted = shape_in_torch(functional.conv1d, torch.zeros(1, 2, size), torch.zeros(3, 2, taps), **steps)
            static = call("conv1d", f"f32[1, 2, {size}]", f"f32[3, 2, {taps}]", **steps)
            assert all(c.holds({"H": size}) for c in dynamic.needs) == (wanted is not None), (size, taps, steps)
            if wanted is None:
                refused += 1
                error = refusal_of(static)
                assert (error.code, error.part) == ("UC0320", "operand:x")
                continue
            assert sizes(result(static)) == wanted, (size, taps, steps)
            assert sizes(formula, {"H": size}) == wanted, (size, taps, steps)
    assert refused > 100


def test_every_step_may_be_a_dynamic_size() -> None:
    found = call(
        "conv1d", "f32[N, C, H]", "f32[K, 1, R]", stride="S", padding="P", dilation="D", groups="G", facts=["C == G"]
    )
    formula = result(found)
    conditions = {str(c) for c in found.needs}
    assert {"S >= 1", "P >= 0", "D >= 1", "G >= 1", "K % G == 0"} <= conditions, conditions
    for h, r, s, p, d in itertools.product((4, 7, 9), (1, 3), (1, 2), (0, 1), (1, 2)):
        bindings = {"N": 2, "C": 2, "H": h, "K": 4, "R": r, "S": s, "P": p, "D": d, "G": 2}
        x, w = torch.zeros(2, 2, h), torch.zeros(4, 1, r)
        wanted = shape_in_torch(functional.conv1d, x, w, None, s, p, d, 2)
        assert all(c.holds(bindings) for c in found.needs) == (wanted is not None)
        if wanted is not None:
            assert sizes(formula, bindings) == wanted


def test_transposed_output_sizes_are_those_of_torch() -> None:
    refused = 0
    steps = itertools.product(range(1, 5), range(1, 4), range(3), range(1, 4), range(4))
    for taps, stride, padding, dilation, extra in steps:
        options: dict[str, Any] = {"stride": stride, "padding": padding, "dilation": dilation, "output_padding": extra}
        try:
            dynamic = call("conv_transpose1d", "f32[1, 2, H]", f"f32[2, 3, {taps}]", **options)
            formula = result(dynamic)
        except TypingError as error:
            assert (error.code, error.part) == ("UC0309", "param:output_padding")
            assert extra >= max(stride, dilation)
            dynamic, formula = None, None
        for size in range(6):
            x, w = torch.zeros(1, 2, size), torch.zeros(2, 3, taps)
            wanted = shape_in_torch(functional.conv_transpose1d, x, w, **options)
            if dynamic is None or formula is None:
                assert wanted is None
                continue
            assert all(c.holds({"H": size}) for c in dynamic.needs) == (wanted is not None), (size, taps, options)
            static = call("conv_transpose1d", f"f32[1, 2, {size}]", f"f32[2, 3, {taps}]", **options)
            if wanted is None:
                refused += 1
                assert refusal_of(static).code == "UC0320"
                continue
            assert sizes(result(static)) == sizes(formula, {"H": size}) == wanted, (size, taps, options)
    assert refused > 50


@st.composite
def _problems(draw: st.DrawFn, rank: int) -> dict[str, Any]:
    """A convolution of `rank` spatial dimensions that may have uneven steps, groups and an empty batch."""

    def each(low: int, high: int) -> list[int]:
        return [draw(st.integers(low, high)) for _ in range(rank)]

    groups = draw(st.integers(1, 3))
    return {
        "batch": draw(st.integers(0, 2)),
        "inputs": groups * draw(st.integers(1, 2)),
        "outputs": groups * draw(st.integers(1, 2)),
        "extents": each(3, 6),
        "taps": each(1, 3),
        "steps": {"stride": each(1, 3), "padding": each(0, 2), "dilation": each(1, 2), "groups": groups},
    }


@pytest.mark.parametrize("rank", [1, 2, 3])
@given(st.data())
def test_convolutions_and_their_gradients_are_those_of_torch(rank: int, data: st.DataObject) -> None:
    problem = data.draw(_problems(rank))
    steps: dict[str, Any] = problem["steps"]
    channels = problem["inputs"] // steps["groups"]
    x = torch.randn(problem["batch"], problem["inputs"], *problem["extents"], dtype=torch.float64, requires_grad=True)
    w = torch.randn(problem["outputs"], channels, *problem["taps"], dtype=torch.float64, requires_grad=True)
    forward = call(f"conv{rank}d", shape_text(x.shape), shape_text(w.shape), **steps)
    try:
        y = getattr(functional, f"conv{rank}d")(x, w, None, *steps.values())
    except RuntimeError:
        assert refusal_of(forward).code == "UC0320"
        return
    assert sizes(result(forward)) == tuple(y.shape)
    torch.testing.assert_close(forward.spec.torch(torch, x, w, **steps), y)

    # The independent source of the gradients is autograd.
    dy = torch.randn_like(y)
    dx, dw = torch.autograd.grad(y, (x, w), dy)
    towards_x = call(f"conv{rank}d_dgrad", shape_text(dy.shape), shape_text(w.shape), input_size=list(x.shape), **steps)
    assert sizes(result(towards_x)) == tuple(x.shape)
    torch.testing.assert_close(towards_x.spec.torch(torch, dy, w, input_size=list(x.shape), **steps), dx)
    towards_w = call(
        f"conv{rank}d_wgrad", shape_text(dy.shape), shape_text(x.shape), kernel_size=problem["taps"], **steps
    )
    assert sizes(result(towards_w)) == tuple(w.shape)
    torch.testing.assert_close(towards_w.spec.torch(torch, dy, x, kernel_size=problem["taps"], **steps), dw)


@pytest.mark.parametrize("rank", [1, 2, 3])
@given(st.data())
def test_transposed_convolutions_are_those_of_torch(rank: int, data: st.DataObject) -> None:
    problem = data.draw(_problems(rank))
    steps: dict[str, Any] = problem["steps"]
    extra = [data.draw(st.integers(0, max(s, d) - 1)) for s, d in zip(steps["stride"], steps["dilation"], strict=True)]
    x = torch.randn(problem["batch"], problem["inputs"], *problem["extents"])
    w = torch.randn(problem["inputs"], problem["outputs"] // steps["groups"], *problem["taps"])
    found = call(f"conv_transpose{rank}d", shape_text(x.shape), shape_text(w.shape), output_padding=extra, **steps)
    options = {**steps, "output_padding": extra}
    try:
        y = getattr(functional, f"conv_transpose{rank}d")(x, w, **options)
    except RuntimeError:
        assert refusal_of(found).code == "UC0320"
        return
    if y.numel() == 0 and 0 in y.shape[2:]:
        # PyTorch skips its checks of a batch of none; here a size does not depend on another one.
        assert refusal_of(found).code == "UC0320"
        return
    assert sizes(result(found)) == tuple(y.shape)
    torch.testing.assert_close(found.spec.torch(torch, x, w, **options), y)


def test_one_number_stands_for_every_spatial_dimension() -> None:
    x, w = torch.randn(1, 4, 9, 8), torch.randn(6, 2, 3, 2)
    steps: dict[str, Any] = {"stride": [2], "padding": [1], "dilation": [2], "groups": 2}
    found = SPECS["conv2d"].torch(torch, x, w, **steps)
    torch.testing.assert_close(found, functional.conv2d(x, w, None, 2, 1, 2, 2))
    assert sizes(result(call("conv2d", "f32[1, 4, 9, 8]", "f32[6, 2, 3, 2]", **steps))) == tuple(found.shape)


@given(st.data())
def test_convolutions_of_integers_are_exact(data: st.DataObject) -> None:
    draw = st.one_of(st.integers(-128, 255), st.integers(-(2**31), 2**31 - 1))
    groups, stride, padding, dilation = (data.draw(st.integers(1, 2)) for _ in range(4))
    x = torch.tensor([[data.draw(draw) for _ in range(6)] for _ in range(2)], dtype=torch.int32).reshape(1, 2, 6)
    w = torch.tensor([data.draw(draw) for _ in range(8 // groups)], dtype=torch.int32).reshape(2, 2 // groups, 2)
    steps: dict[str, Any] = {"stride": [stride], "padding": [padding], "dilation": [dilation], "groups": groups}
    found = SPECS["conv1d"].torch(torch, x, w, **steps)
    assert found.dtype == torch.int32
    padded = [[0] * padding + row + [0] * padding for row in x[0].tolist()]
    for k, p in itertools.product(range(2), range(found.shape[2])):
        first = k * groups // 2 * (2 // groups)
        exact = sum(
            padded[first + c][p * stride + r * dilation] * int(w[k, c, r])
            for c, r in itertools.product(range(2 // groups), range(2))
        )
        assert int(found[0, k, p]) == (exact + 2**31) % 2**32 - 2**31


def test_element_types_and_layouts() -> None:
    assert result(call("conv2d", "s8[1, 4, 8, 8]", "s8[8, 4, 3, 3]")).element.name == "s32"
    assert result(call("conv2d", "f16[1, 4, 8, 8]", "e4m3[8, 4, 3, 3]")).element.name == "f16"
    assert refusal_of(call("conv2d", "f16[1, 4, 8, 8]", "bf16[8, 4, 3, 3]")).code == "UC0302"
    image = "f16[2, 8, 7, 9]@channels_last"
    assert result(call("conv2d", image, "f16[16, 8, 3, 3]")).spelling == "f16[2, 16, 5, 7]@channels_last"
    assert result(call("conv2d", "f16[2, 8, 7, 9]", "f16[16, 8, 3, 3]")).spelling == "f16[2, 16, 5, 7]"


@pytest.mark.parametrize(
    ("name", "operands", "params", "code", "part", "shown"),
    [
        ("conv2d", ["f16[1, 64, 8, 8]", "f16[64, 21, 3, 3]"], {"groups": 3}, "UC0321", "param:groups", ["3", "64"]),
        ("conv2d", ["f16[1, 63, 8, 8]", "f16[64, 21, 3, 3]"], {"groups": 4}, "UC0321", "param:groups", ["4", "63"]),
        ("conv2d", ["f16[1, 64, 8, 8]", "f16[64, 64, 3, 3]"], {"groups": 64}, "UC0301", "operand:w", ["64", "4096"]),
        ("conv2d", ["f16[1, 3, 8, 8]", "f16[8, 4, 3, 3]"], {}, "UC0301", "operand:w", ["3", "4"]),
        ("conv2d", ["f16[3, 8, 8]", "f16[8, 3, 3, 3]"], {}, "UC0303", "operand:x", ["[N, C, H, W]", "batch of 1"]),
        ("conv2d", ["f16[1, 3, 8, 8]", "f16[8, 3, 3]"], {}, "UC0303", "operand:w", ["[K, C / groups, R, S]"]),
        ("conv2d", ["f16[1, 3, 8, 8]", "f16[8, 3, 3, 3]"], {"stride": 0}, "UC0309", "param:stride", ["0", "1"]),
        ("conv2d", ["f16[1, 3, 8, 8]", "f16[8, 3, 3, 3]"], {"padding": [1, -1]}, "UC0309", "param:padding", ["-1"]),
        ("conv2d", ["f16[1, 3, 8, 8]", "f16[8, 3, 3, 3]"], {"dilation": 0}, "UC0309", "param:dilation", ["0"]),
        ("conv2d", ["f16[1, 3, 8, 8]", "f16[8, 3, 3, 3]"], {"stride": [1, 1, 1]}, "UC0309", "param:stride", ["3", "2"]),
        ("conv2d", ["f16[1, 3, 8, 8]", "f16[8, 3, 3, 3]"], {"groups": 0}, "UC0309", "param:groups", ["0"]),
        ("conv2d", ["f16[1, 3, 8, 8]", "f16[0, 3, 3, 3]"], {}, "UC0309", "operand:w", ["0"]),
        ("conv2d", ["f16[1, 3, 2, 8]", "f16[8, 3, 3, 3]"], {"dilation": 2}, "UC0320", "operand:x", ["5", "2"]),
        ("conv_transpose2d", ["f16[1, 3, 4, 4]", "f16[8, 3, 3, 3]"], {}, "UC0301", "operand:w", ["3", "8"]),
        (
            "conv2d_dgrad",
            ["f16[1, 8, 4, 4]", "f16[8, 3, 3, 3]"],
            {"input_size": [1, 3, 7, 6]},
            "UC0301",
            "operand:dy",
            ["[4, 4]", "[5, 4]"],
        ),
        (
            "conv2d_dgrad",
            ["f16[1, 8, 4, 4]", "f16[8, 3, 3, 3]"],
            {"input_size": [6, 6]},
            "UC0309",
            "param:input_size",
            ["2", "4"],
        ),
        (
            "conv2d_dgrad",
            ["f16[1, 8, 4, 4]", "f16[8, 3, 3, 3]"],
            {"input_size": [1, 4, 6, 6]},
            "UC0301",
            "operand:w",
            ["4", "3"],
        ),
        (
            "conv2d_wgrad",
            ["f16[2, 8, 4, 4]", "f16[1, 3, 6, 6]"],
            {"kernel_size": 3},
            "UC0301",
            "operand:dy",
            ["2", "1"],
        ),
        (
            "conv2d_wgrad",
            ["f16[1, 8, 4, 4]", "f16[1, 3, 6, 6]"],
            {"kernel_size": [3, 3, 3]},
            "UC0309",
            "param:kernel_size",
            ["3", "2"],
        ),
    ],
)
def test_refusals(
    name: str, operands: list[str], params: dict[str, Any], code: str, part: str, shown: list[str]
) -> None:
    error = refusal_of(call(name, *operands, **params))
    assert (error.code, error.part) == (code, part), error.message
    assert error.message.startswith(name)
    for text in shown:
        assert text in error.message, error.message


def test_what_is_guaranteed_decides_the_groups() -> None:
    ask: dict[str, Any] = {"groups": 4}
    open_ = call("conv1d", "f16[N, C, 8]", "f16[8, W, 3]", facts=["C == 4 * W"], **ask)
    assert result(open_).spelling == "f16[N, 8, 6]" and not any("%" in str(c) for c in open_.needs)
    assert refusal_of(call("conv1d", "f16[N, C, 8]", "f16[8, W, 3]", **ask)).code == "UC0301"
    asked = call("conv1d_wgrad", "f16[N, 8, 6]", "f16[N, C, 8]", kernel_size=3, **ask)
    assert result(asked).dims[1] == Dim.of("C / 4")
    assert [str(c) for c in asked.needs] == ["C % 4 == 0"]
    granted = call("conv1d_wgrad", "f16[N, 8, 6]", "f16[N, C, 8]", kernel_size=3, facts=["C % 8 == 0"], **ask)
    assert result(granted).dims[1] == Dim.of("C / 4") and granted.needs == []


def test_costs_are_those_that_torch_counts() -> None:
    from torch.utils.flop_counter import FlopCounterMode

    x, w = torch.empty(2, 4, 9, 8, device="meta"), torch.empty(6, 2, 3, 2, device="meta")
    steps: dict[str, Any] = {"stride": [2, 1], "padding": [1, 0], "dilation": [1, 2], "groups": 2}
    with FlopCounterMode(display=False) as counter:
        y = functional.conv2d(x, w, None, *steps.values())
    forward = call("conv2d", shape_text(x.shape), shape_text(w.shape), **steps)
    assert flops_of(forward) == counter.get_total_flops()
    dgrad = call("conv2d_dgrad", shape_text(y.shape), shape_text(w.shape), input_size=list(x.shape), **steps)
    wgrad = call("conv2d_wgrad", shape_text(y.shape), shape_text(x.shape), kernel_size=[3, 2], **steps)
    assert flops_of(dgrad) == flops_of(wgrad) == counter.get_total_flops()

    w = torch.empty(4, 3, 3, 2, device="meta")
    with FlopCounterMode(display=False) as counter:
        functional.conv_transpose2d(x, w, None, 2, 1, 1, 2)
    steps = {"stride": 2, "padding": 1, "output_padding": 1, "groups": 2}
    transposed = call("conv_transpose2d", shape_text(x.shape), shape_text(w.shape), **steps)
    assert flops_of(transposed) == counter.get_total_flops()
    dynamic = call("conv2d", "f32[N, 4, H, H]", "f32[8, 4, 3, 3]", padding=1)
    assert flops_of(dynamic) == Dim.of(f"{2 * 8 * 4 * 9} * N * H * H")
