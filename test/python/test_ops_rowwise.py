"""Row-wise operations and staging: values by their definitions, shapes of what goes with them, refusals and costs."""

import math
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from op_calls import DTYPES, call, flops, meaning, refusal, refused, result

from ucutlass.dialects.ucutlass.operations import SPECS

torch: Any = pytest.importorskip("torch")

INF, NAN = math.inf, math.nan

FLOATS = ("f64", "f32", "tf32", "f16", "bf16", "e4m3", "e5m2")
OTHERS = ("s64", "s32", "s8", "u8", "s4", "u4", "bool")
CALLS: dict[str, tuple[list[int], dict[str, Any]]] = {
    "softmax": ([4, 6], {"dim": 1}),
    "log_softmax": ([4, 6], {"dim": 1}),
    "layer_norm": ([4, 6], {"shape": [6]}),
    "rms_norm": ([4, 6], {"shape": [6]}),
    "group_norm": ([4, 6, 5], {"groups": 3}),
    "batch_norm": ([4, 6, 5], {}),
    "instance_norm": ([4, 6, 5], {}),
    "l2_norm": ([4, 6], {"dim": 1}),
}
"""A shape that each takes, and its required parameters."""


def text(element: str, shape: Sequence[int]) -> str:
    return f"{element}[{', '.join(map(str, shape))}]"


def samples(*shape: int, seed: int = 0) -> Any:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)) * 3 + 1


def close(found: Any, expected: Any) -> None:
    torch.testing.assert_close(found, expected, rtol=1e-11, atol=1e-12, equal_nan=True)


def test_every_row_is_tested_here() -> None:
    assert {name for name, spec in SPECS.items() if spec.family == "rowwise"} == CALLS.keys()


@pytest.mark.parametrize("name", CALLS)
def test_they_take_floats_and_keep_the_type(name: str) -> None:
    shape, params = CALLS[name]
    for element in FLOATS:
        assert result(name, text(element, shape), **params) == text(element, shape)
    for element in OTHERS:
        error = refusal(name, text(element, shape), **params)
        assert (error.code, error.part) == ("UC0316", "operand:x") and element in error.message
        if element in DTYPES:  # as PyTorch
            with pytest.raises((RuntimeError, NotImplementedError)):
                meaning(name, torch.ones(shape, dtype=DTYPES[element]), **params)
    assert refused(name, 1.0, **params) == ("UC0315", "operand:x")
    order = tuple(reversed(range(len(shape))))
    layout = "col" if len(shape) == 2 else f"({','.join(map(str, order))})"
    assert result(name, f"{text('f16', shape)}@{layout}", **params) == f"{text('f16', shape)}@{layout}"


# Along one dimension -------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 4), min_size=1, max_size=4), st.data())
def test_softmax(shape: list[int], data: st.DataObject) -> None:
    dim = data.draw(st.integers(-len(shape), len(shape) - 1))
    x = samples(*shape)
    # Shifting a row changes nothing, so the definition may be evaluated where it cannot overflow.
    shifted = torch.exp(x - (x.amax(dim, keepdim=True) if x.shape[dim] else 0))
    expected = shifted / shifted.sum(dim, keepdim=True)
    close(meaning("softmax", x, dim=dim), expected)
    close(meaning("log_softmax", x, dim=dim), expected.log())
    assert result("softmax", text("f16", shape), dim=dim) == text("f16", shape)


def test_softmax_at_the_edges() -> None:
    rows = torch.tensor([[1000.0, 1000.0], [-INF, 0.0], [-INF, -INF], [INF, 0.0], [NAN, 0.0]])
    found = meaning("softmax", rows, dim=-1)
    assert found[:2].tolist() == [[0.5, 0.5], [0.0, 1.0]] and found[2:].isnan().any(1).all()
    found = meaning("log_softmax", rows, dim=-1)
    assert found[0].tolist() == pytest.approx([-math.log(2)] * 2) and found[1].tolist() == [-INF, 0.0]
    assert meaning("softmax", torch.tensor(3.0), dim=0).item() == 1


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "l2_norm"])
def test_dimensions(name: str) -> None:
    error = refusal(name, "f16[4, 6]", dim=2)
    assert (error.code, error.part) == ("UC0304", "param:dim") and "f16[4, 6]" in error.message
    assert refused(name, "f16[4, N]", dim="N") == ("UC0314", "param:dim")
    assert result(name, "f16[]", dim=-1) == "f16[]"
    assert refused(name, "f16[]", dim=1) == ("UC0304", "param:dim")
    assert result(name, "f16[M, N]", dim=-2) == "f16[M, N]"


def test_l2_norm() -> None:
    x = samples(3, 4, 5)
    for dim in (0, 1, 2, -1):
        close(meaning("l2_norm", x, dim=dim), x / (x * x).sum(dim, keepdim=True).sqrt())
    close(meaning("l2_norm", x), x / (x * x).sum(1, keepdim=True).sqrt())
    small = torch.full((1, 4), 1e-9, dtype=torch.float64)
    assert meaning("l2_norm", small, eps=1e-3).tolist() == [[pytest.approx(1e-6)] * 4]
    assert meaning("l2_norm", torch.zeros(2, 3)).tolist() == [[0.0] * 3] * 2
    assert meaning("l2_norm", torch.zeros(2, 0)).shape == (2, 0)
    assert refused("l2_norm", "f32[4]") == ("UC0304", "param:dim")


# Normalizations ------------------------------------------------------------------------------------------------------


def normalized(x: Any, dims: Sequence[int], eps: float) -> Any:
    """Mean 0 and variance 1, the variance of the whole population."""
    centred = x - x.mean(dims, keepdim=True)
    return centred / ((centred * centred).mean(dims, keepdim=True) + eps).sqrt()


@pytest.mark.parametrize("affine", ["", "weight", "bias", "weight bias"])
@pytest.mark.parametrize("eps", [1e-5, 0.3])
def test_layer_norm(affine: str, eps: float) -> None:
    x = samples(2, 3, 4, 5)
    for count in (1, 2, 3):
        shape = x.shape[-count:]
        weight = samples(*shape, seed=1) if "weight" in affine else None
        bias = samples(*shape, seed=2) if "bias" in affine else None
        expected = normalized(x, list(range(-count, 0)), eps) * (1 if weight is None else weight)
        close(
            meaning("layer_norm", x, weight, bias, shape=list(shape), eps=eps), expected + (0 if bias is None else bias)
        )
    assert meaning("layer_norm", torch.zeros(0, 3), shape=[3]).shape == (0, 3)
    close(meaning("layer_norm", x, shape=[5]), normalized(x, [-1], 1e-5))


def test_rms_norm() -> None:
    x = samples(2, 3, 4)
    mean_square = (x * x).mean([-2, -1], keepdim=True)
    weight = samples(3, 4, seed=1)
    close(meaning("rms_norm", x, weight, shape=[3, 4], eps=0.25), x / (mean_square + 0.25).sqrt() * weight)
    # The default eps is the precision of the type in which it is computed.
    tiny = torch.full((4,), 2.0**-12)
    expected = 2.0**-12 / math.sqrt(2.0**-24 + 2.0**-23)
    assert meaning("rms_norm", tiny, shape=[4]).tolist() == pytest.approx([expected] * 4)
    half = torch.nn.functional.rms_norm(tiny.half(), [4])
    assert half.tolist() == pytest.approx([expected] * 4, rel=1e-3)
    for element, eps in (("f16", 2.0**-23), ("bf16", 2.0**-23), ("f32", 2.0**-23), ("f64", 2.0**-52)):
        assert call("rms_norm", f"{element}[4]", shape=[4]).params["eps"] == eps
    assert call("rms_norm", "f16[4]", shape=[4], eps=1e-6).params["eps"] == 1e-6


@pytest.mark.parametrize("shape", [(2, 6), (2, 6, 5), (2, 6, 3, 4), (1, 6), (0, 6, 2), (2, 6, 0)])
def test_group_norm(shape: tuple[int, ...]) -> None:
    x = samples(*shape)
    weight, bias = samples(6, seed=1), samples(6, seed=2)
    by_channel = (1, 6, *[1] * (len(shape) - 2))
    for groups in (1, 2, 3, 6):
        grouped = x.reshape(shape[0], groups, 6 // groups, math.prod(shape[2:]))
        expected = normalized(grouped, [2, 3], 1e-5).reshape(shape)
        close(meaning("group_norm", x, groups=groups), expected)
        expected = expected * weight.reshape(by_channel) + bias.reshape(by_channel)
        close(meaning("group_norm", x, weight, bias, groups=groups), expected)
        assert result("group_norm", text("f32", shape), "f32[6]", "f32[6]", groups=groups) == text("f32", shape)


@pytest.mark.parametrize("shape", [(4, 3), (4, 3, 5), (2, 3, 4, 5), (1, 3), (2, 3, 1, 2, 2)])
def test_batch_norm(shape: tuple[int, ...]) -> None:
    x = samples(*shape)
    mean, var = samples(3, seed=1), samples(3, seed=2).abs()
    weight, bias = samples(3, seed=3), samples(3, seed=4)
    by_channel = (1, 3, *[1] * (len(shape) - 2))
    others = [0, *range(2, len(shape))]
    batch = normalized(x, others, 1e-5)
    close(meaning("batch_norm", x), batch)
    close(meaning("batch_norm", x, None, None, weight), batch * weight.reshape(by_channel))
    close(meaning("batch_norm", x, None, None, None, bias), batch + bias.reshape(by_channel))
    given_ = (x - mean.reshape(by_channel)) / (var.reshape(by_channel) + 0.1).sqrt()
    close(meaning("batch_norm", x, mean, var, eps=0.1), given_)
    expected = given_ * weight.reshape(by_channel) + bias.reshape(by_channel)
    close(meaning("batch_norm", x, mean, var, weight, bias, eps=0.1), expected)
    assert mean.equal(samples(3, seed=1)), "statistics are not updated"


@pytest.mark.parametrize("shape", [(2, 3, 5), (2, 3, 4, 5), (2, 3, 1), (0, 3, 4), (2, 3, 0)])
def test_instance_norm(shape: tuple[int, ...]) -> None:
    x = samples(*shape)
    weight, bias = samples(3, seed=1), samples(3, seed=2)
    by_channel = (1, 3, *[1] * (len(shape) - 2))
    expected = normalized(x, list(range(2, len(shape))), 1e-5)
    close(meaning("instance_norm", x), expected)
    close(meaning("instance_norm", x, weight, bias), expected * weight.reshape(by_channel) + bias.reshape(by_channel))


def test_mixed_float_types_are_computed_in_that_of_x() -> None:
    x, weight = samples(2, 4).float(), samples(4, seed=1)
    for name, params in (("layer_norm", {"shape": [4]}), ("rms_norm", {"shape": [4]}), ("group_norm", {"groups": 2})):
        assert meaning(name, x, weight, **params).dtype is torch.float32
    assert result("layer_norm", "f16[2, 4]", "f32[4]", "f64[4]", shape=[4]) == "f16[2, 4]"
    for name in ("batch_norm", "instance_norm"):
        y = samples(2, 4, 3).float()
        vectors = [weight] * (4 if name == "batch_norm" else 2)
        assert meaning(name, y, *(v.abs() for v in vectors)).dtype is torch.float32


# Shapes of what goes with them ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["layer_norm", "rms_norm"])
def test_trailing_shapes(name: str) -> None:
    assert result(name, "f16[B, S, 64]", shape=["S", 64]) == "f16[B, S, 64]"
    assert result(name, "f16[B, S, D]", "f16[D]", shape=["E"], facts=["D == E"]) == "f16[B, S, D]"
    for shape in ([32], [8, 64], ["B", "S", 64, 1]):
        error = refusal(name, "f16[B, S, 64]", shape=shape)
        assert (error.code, error.part) == ("UC0301", "param:shape")
        assert "64" in error.message and f"[{', '.join(map(str, shape))}]" in error.message
    assert refused(name, "f16[8]", shape=[]) == ("UC0309", "param:shape")
    assert refused(name, "f16[]", shape=[1]) == ("UC0301", "param:shape")
    error = refusal(name, "f16[4, 8]", "f16[4]", shape=[8])
    assert (
        (error.code, error.part) == ("UC0301", "operand:weight")
        and "[8]" in error.message
        and "f16[4]" in error.message
    )
    assert refused(name, "f16[4, 8]", "f16[1, 8]", shape=[8]) == ("UC0301", "operand:weight")
    assert refused(name, "f16[4, 8]", "s8[8]", shape=[8]) == ("UC0316", "operand:weight")
    if name == "layer_norm":
        assert refused(name, "f16[4, 8]", None, "f16[4]", shape=[8]) == ("UC0301", "operand:bias")


def test_channels() -> None:
    for name, params in (("group_norm", {"groups": 2}), ("batch_norm", {}), ("instance_norm", {})):
        assert result(name, "f16[N, 6, L]", **params) == "f16[N, 6, L]"
        least = 3 if name == "instance_norm" else 2
        error = refusal(name, f"f16[{', '.join(['6'] * (least - 1))}]", **params)
        assert (error.code, error.part) == ("UC0303", "operand:x") and str(least) in error.message
        operands = [None, None] if name == "batch_norm" else []
        error = refusal(name, "f16[N, 6, L]", *operands, "f16[5]", **params)
        assert (error.code, error.part) == ("UC0301", "operand:weight") and "[6]" in error.message
        assert refused(name, "f16[N, 6, L]", *operands, None, "f16[N]", **params) == ("UC0301", "operand:bias")
    assert refused("batch_norm", "f16[N, 6, L]", "f16[6]") == ("UC0211", "operand:mean")
    assert refused("batch_norm", "f16[N, 6, L]", None, "f16[6]") == ("UC0211", "operand:var")
    assert refused("batch_norm", "f16[N, 6, L]", "f16[6]", "f16[1]") == ("UC0301", "operand:var")
    assert result("batch_norm", "f16[N, C, L]", "f32[C]", "f32[C]", "f16[C]", "f16[C]") == "f16[N, C, L]"


def test_groups() -> None:
    error = refusal("group_norm", "f16[8, 30, 4]", groups=4)
    assert (error.code, error.part) == ("UC0321", "param:groups") and "30" in error.message and "4" in error.message
    assert refused("group_norm", "f16[8, 30, 4]", groups=0) == ("UC0309", "param:groups")
    assert refused("group_norm", "f16[8, 30, 4]", groups=-1) == ("UC0309", "param:groups")
    for facts, needs in (([], ["C % 4 == 0"]), (["C % 8 == 0"], [])):
        made = call("group_norm", "f16[N, C, L]", groups=4, facts=facts)
        made.spec.infer(made)
        assert [str(c) for c in made.needs] == needs


def test_positions_are_those_of_pytorch() -> None:
    assert SPECS["layer_norm"].signature == ("x", "shape", "weight", "bias", "eps")
    assert SPECS["rms_norm"].signature == ("x", "shape", "weight", "eps")
    assert SPECS["group_norm"].signature == ("x", "groups", "weight", "bias", "eps")
    assert SPECS["batch_norm"].signature == ("x", "mean", "var", "weight", "bias", "eps")
    assert SPECS["instance_norm"].signature == ("x", "weight", "bias", "eps")
    assert SPECS["l2_norm"].signature == ("x", "dim", "eps")


# Costs and staging ---------------------------------------------------------------------------------------------------


def test_costs() -> None:
    elements = 4 * 6 * 5
    assert flops("softmax", "f32[4, 6, 5]", dim=1) == flops("log_softmax", "f32[4, 6, 5]", dim=1) == 5 * elements
    for name, params in (("layer_norm", {"shape": [5]}), ("group_norm", {"groups": 2}), ("instance_norm", {})):
        size = "f32[5]" if name == "layer_norm" else "f32[6]"
        assert flops(name, "f32[4, 6, 5]", **params) == 6 * elements
        assert flops(name, "f32[4, 6, 5]", size, size, **params) == 8 * elements
        assert flops(name, "f32[4, 6, 5]", size, **params) == 7 * elements
    assert flops("batch_norm", "f32[4, 6, 5]", "f32[6]", "f32[6]", "f32[6]", "f32[6]") == 8 * elements
    assert flops("rms_norm", "f32[4, 6, 5]", shape=[5]) == flops("l2_norm", "f32[4, 6, 5]") == 3 * elements
    assert flops("rms_norm", "f32[4, 6, 5]", "f32[5]", shape=[5]) == 4 * elements
    assert str(flops("layer_norm", "f32[M, 64]", shape=[64])) == "384 * M"


def test_materialize_changes_nothing_but_the_place() -> None:
    for element in (*FLOATS, *OTHERS):
        assert result("materialize", f"{element}[M, 3]@col") == f"{element}[M, 3]@col"
    x = torch.randn(3)
    assert meaning("materialize", x) is x
    assert flops("materialize", "f32[4]") == 0
    assert refused("materialize", 1.0) == ("UC0315", "operand:v")
