"""Pooling: output sizes over a sweep, values against PyTorch, costs by counting, refusals by code and part."""

import itertools
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from op_calls import call, flops_of, refusal_of, sizes, torch

from ucutlass.dialects.ucutlass.operations import SPECS
from ucutlass.dialects.ucutlass.spec import Call
from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.dims import Dim

functional = torch.nn.functional


def result(found: Call) -> TensorType:
    (only,) = found.spec.infer(found)
    return only


@pytest.mark.parametrize("ceil_mode", [False, True])
def test_output_sizes_are_those_of_torch_for_every_small_window(ceil_mode: bool) -> None:
    """Known and dynamic sizes alike, with the rule that the last window starts before the padding at the end."""
    refused = dropped = 0
    for kernel, stride, padding, dilation in itertools.product(range(1, 5), range(1, 5), range(3), range(1, 4)):
        steps: dict[str, Any] = {"kernel": kernel, "stride": stride, "padding": padding, "dilation": dilation}
        uneven: dict[str, Any] = steps | {"kernel": [kernel, 1], "padding": [padding, 0]}
        dynamic = call(
            "max_pool2d",
            "f32[N, 2, H, 9]",
            ceil_mode=ceil_mode,
            **uneven,
        )
        if 2 * padding > kernel:
            error = refusal_of(dynamic)
            assert (error.code, error.part) == ("UC0309", "param:padding")
            assert f"padding is {padding}" in error.message and f"kernel {kernel}" in error.message
            with pytest.raises(RuntimeError):
                functional.max_pool2d(torch.zeros(1, 2, 9, 9), kernel, stride, padding, dilation)
            continue
        formula = result(dynamic)
        for size in range(10):
            x = torch.zeros(1, 2, size, 9)
            try:
                wanted = tuple(
                    functional.max_pool2d(x, (kernel, 1), stride, (padding, 0), dilation, ceil_mode=ceil_mode).shape
                )
            except RuntimeError:
                wanted = None
            bindings = {"N": 1, "H": size}
            assert all(c.holds(bindings) for c in dynamic.needs) == (wanted is not None), (size, steps)
            static = call("max_pool1d", f"f32[1, 2, {size}]", ceil_mode=ceil_mode, **steps)
            if wanted is None:
                refused += 1
                error = refusal_of(static)
                assert (error.code, error.part) == ("UC0320", "operand:x")
                continue
            assert sizes(formula, bindings) == wanted, (size, steps)
            assert sizes(result(static)) == wanted[:3], (size, steps)
            dropped += wanted[2] < math.ceil((size + 2 * padding - dilation * (kernel - 1) - 1) / stride) + 1
    assert refused > 100
    assert dropped > 100 or not ceil_mode


@pytest.mark.parametrize("rank", [1, 2, 3])
@given(st.data())
def test_windows_are_those_of_torch(rank: int, data: st.DataObject) -> None:
    def each(low: int, high: int) -> list[int]:
        return [data.draw(st.integers(low, high)) for _ in range(data.draw(st.sampled_from([1, rank])))]

    kernel = each(1, 4)
    full = kernel * rank if len(kernel) == 1 else kernel
    padding = [data.draw(st.integers(0, k // 2)) for k in full]
    stride = data.draw(st.one_of(st.none(), st.just(each(1, 3))))
    ceil_mode, counted = data.draw(st.booleans()), data.draw(st.booleans())
    batch = data.draw(st.sampled_from([(), (0,), (2,)]))
    x = torch.randn(*batch, 3, *[data.draw(st.integers(1, 7)) for _ in range(rank)])
    text = f"f32[{', '.join(map(str, x.shape))}]"
    own: dict[str, Any] = {"kernel": kernel, "stride": stride, "padding": padding, "ceil_mode": ceil_mode}
    given_: dict[str, Any] = {k: v for k, v in own.items() if v is not None}
    dilation = each(1, 2)
    extras: list[tuple[str, dict[str, Any]]] = [
        ("max", {"dilation": dilation}),
        ("avg", {"count_include_pad": counted}),
    ]
    for name, extra in extras:
        found = call(f"{name}_pool{rank}d", text, **given_, **extra)
        function = getattr(functional, f"{name}_pool{rank}d")
        step = full if stride is None else stride
        try:
            wanted = function(x, full, step, padding, ceil_mode=ceil_mode, **extra)
        except RuntimeError:
            assert refusal_of(found).code == "UC0320"
            continue
        assert sizes(result(found)) == tuple(wanted.shape)
        torch.testing.assert_close(found.spec.torch(torch, x, **own, **extra), wanted, rtol=0, atol=0)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_maxima_of_integers_and_of_nan(rank: int) -> None:
    torch.manual_seed(0)
    x = torch.randint(-(2**31), 2**31 - 1, (2, 3, *[5] * rank), dtype=torch.int32)
    found = SPECS[f"max_pool{rank}d"].torch(
        torch, x, kernel=[2], stride=None, padding=[1], dilation=[1], ceil_mode=False
    )
    assert found.dtype == torch.int32
    padded = functional.pad(x, [1, 1] * rank, value=-(2**31))
    for axis in range(2, rank + 2):
        padded = padded.unfold(axis, 2, 2).amax(-1)
    assert torch.equal(found, padded)
    y = torch.zeros(1, 1, *[4] * rank)
    y.view(-1)[0] = torch.nan
    pooled = SPECS[f"max_pool{rank}d"].torch(
        torch, y, kernel=[2], stride=None, padding=[0], dilation=[1], ceil_mode=False
    )
    assert pooled.isnan().sum() == 1


def test_adaptive_averages_are_those_of_torch_and_cost_their_windows() -> None:
    torch.manual_seed(1)
    for places, size in itertools.product(range(1, 9), range(9)):
        x = torch.randn(2, 3, places, 4)
        found = call("adaptive_avg_pool2d", f"f32[2, 3, {places}, 4]", size=[size, 2])
        wanted = functional.adaptive_avg_pool2d(x, (size, 2))
        assert sizes(result(found)) == tuple(wanted.shape)
        if size:
            torch.testing.assert_close(found.spec.torch(torch, x, size=[size, 2]), wanted)
            counted = sum(math.ceil((i + 1) * places / size) - i * places // size for i in range(size))
            assert flops_of(found) == 6 * counted * 4
    for rank in (1, 2, 3):
        x = torch.randn(2, 3, *[6] * rank)
        found = call(f"adaptive_avg_pool{rank}d", f"f32[2, 3, {', '.join(['6'] * rank)}]", size=4)
        wanted = getattr(functional, f"adaptive_avg_pool{rank}d")(x, 4)
        assert sizes(result(found)) == tuple(wanted.shape)
        torch.testing.assert_close(found.spec.torch(torch, x, size=[4]), wanted)
    assert flops_of(call("adaptive_avg_pool2d", "f32[N, C, H, W]", size=1)) == Dim.of("N * C * H * W")


def test_the_cost_of_a_window_is_its_taps() -> None:
    found = call("max_pool1d", "f32[64, 192, 65536]", kernel=8, stride=1, padding=4, dilation=3)
    assert sizes(result(found)) == (64, 192, 65523)
    assert flops_of(found) == 6441172992
    assert flops_of(call("avg_pool2d", "f32[16, 64, 2048, 2048]", kernel=11)) == 16 * 64 * 186 * 186 * 121


def test_layouts_and_element_types_stay() -> None:
    image = "bf16[2, 8, 8, 8]@channels_last"
    assert result(call("max_pool2d", image, kernel=2)).spelling == "bf16[2, 8, 4, 4]@channels_last"
    assert result(call("adaptive_avg_pool2d", image, size=[1, 2])).spelling == "bf16[2, 8, 1, 2]@channels_last"
    assert result(call("max_pool2d", "s8[2, 8, 8, 8]", kernel=2)).spelling == "s8[2, 8, 4, 4]"


@pytest.mark.parametrize(
    ("name", "x", "params", "code", "part"),
    [
        ("max_pool1d", "f16[1, 8, 4]", {"kernel": 7}, "UC0320", "operand:x"),
        ("max_pool1d", "f16[1, 8, 4]", {"kernel": 2, "stride": 0}, "UC0309", "param:stride"),
        ("max_pool1d", "f16[1, 8, 4]", {"kernel": 0}, "UC0309", "param:kernel"),
        ("max_pool1d", "f16[1, 8, 4]", {"kernel": 2, "dilation": 0}, "UC0309", "param:dilation"),
        ("max_pool1d", "f16[1, 8, 4]", {"kernel": [2, 2]}, "UC0309", "param:kernel"),
        ("max_pool1d", "f16[8]", {"kernel": 2}, "UC0303", "operand:x"),
        ("max_pool2d", "f16[1, 8, 0, 4]", {"kernel": 2}, "UC0320", "operand:x"),
        ("max_pool2d", "f16[1, 0, 4, 4]", {"kernel": 2}, "UC0320", "operand:x"),
        ("max_pool2d", "bool[1, 8, 4, 4]", {"kernel": 2}, "UC0316", "operand:x"),
        ("avg_pool2d", "s32[1, 8, 4, 4]", {"kernel": 2}, "UC0316", "operand:x"),
        ("avg_pool3d", "f16[1, 8, 4, 4, 4]", {"kernel": 3, "padding": 2}, "UC0309", "param:padding"),
        ("max_pool1d", "f16[1, 8, H]", {"kernel": "R", "stride": 2, "ceil_mode": True}, "UC0314", "param:ceil_mode"),
        ("adaptive_avg_pool2d", "f16[1, 8, 4, 4]", {"size": -1}, "UC0309", "param:size"),
        ("adaptive_avg_pool2d", "f16[1, 8, 0, 4]", {"size": 1}, "UC0320", "operand:x"),
        ("adaptive_avg_pool2d", "s8[1, 8, 4, 4]", {"size": 1}, "UC0316", "operand:x"),
    ],
)
def test_refusals(name: str, x: str, params: dict[str, Any], code: str, part: str) -> None:
    error = refusal_of(call(name, x, **params))
    assert (error.code, error.part) == (code, part), error.message
    assert error.message.startswith(name)


def test_a_dynamic_window_needs_no_numbers_without_ceil_mode() -> None:
    found = call("max_pool1d", "f16[1, 8, H]", kernel="R", stride="S", padding=0)
    formula = result(found)
    assert sizes(formula, {"H": 9, "R": 3, "S": 2}) == (1, 8, 4)
    assert all(c.holds({"H": 9, "R": 3, "S": 2}) for c in found.needs)
    assert not all(c.holds({"H": 2, "R": 3, "S": 2}) for c in found.needs)
    given_ = call("max_pool1d", "f16[1, 8, H]", kernel="R", stride="R", ceil_mode=True, facts=["R == 2"])
    assert sizes(result(given_), {"H": 9, "R": 2}) == (1, 8, 5)
