"""Data movement: shapes and values against PyTorch on random calls, dynamic sizes against known ones, refusals."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any, cast

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from op_calls import call, refusal_of, sizes, torch

from ucutlass.dialects.ucutlass.operations import SPECS
from ucutlass.dialects.ucutlass.spec import Call
from ucutlass.dialects.ucutlass.types import TensorType
from ucutlass.dims import Dim
from ucutlass.element_types import ELEMENT_TYPES


def spelled(found: Call) -> list[str]:
    return [t.spelling for t in found.spec.infer(found)]


def text_of(shape: Sequence[int]) -> str:
    return f"f32[{', '.join(map(str, shape))}]"


def numbered(shape: Sequence[int]) -> Any:
    """A tensor in which each element is its own place."""
    return torch.arange(torch.Size(shape).numel(), dtype=torch.float32).reshape(tuple(shape))


SHAPES = st.lists(st.integers(0, 4), min_size=1, max_size=4)


def plain(value: Any) -> Any:
    """A parameter as meanings take it: a list where a program may give one number."""
    if isinstance(value, Dim):
        return value.value
    return [plain(v) for v in cast("tuple[Any, ...]", value)] if isinstance(value, tuple) else value


def as_list(value: Any) -> list[Any]:
    return list(cast("list[Any]", value)) if isinstance(value, list | tuple) else [value]


def agree(name: str, operands: Sequence[Any], wanted: Callable[[], Any], **params: Any) -> None:
    """Type and meaning of a call are PyTorch's; `wanted` computes it, and where it raises, the rule refuses."""
    texts = [[text_of(t.shape) for t in as_list(o)] if isinstance(o, list) else text_of(o.shape) for o in operands]
    found = call(name, *texts, **params)
    try:
        values = as_list(wanted())
    except (RuntimeError, IndexError, ValueError):
        refusal_of(found)
        return
    assert [sizes(t) for t in found.spec.infer(found)] == [tuple(v.shape) for v in values]
    arguments = {name: plain(value) for name, value in found.params.items()}
    computed = as_list(found.spec.torch(torch, *operands, **arguments))
    for got, expected in zip(computed, values, strict=True):
        assert torch.equal(got, expected)


@given(st.data())
def test_permute_and_transpose(data: st.DataObject) -> None:
    x = numbered(data.draw(SHAPES))
    order = data.draw(st.permutations(range(x.dim())))
    order = [d - x.dim() if data.draw(st.booleans()) else d for d in order]
    agree("permute", [x], lambda: x.permute(order), d=order)
    d0, d1 = (data.draw(st.integers(-5, 4)) for _ in range(2))
    agree("transpose", [x], lambda: x.transpose(d0, d1), d0=d0, d1=d1)


def test_the_view_swaps_the_layout_with_the_dimensions() -> None:
    assert spelled(call("t", "f16[N, 64]")) == ["f16[64, N]@col"]
    assert spelled(call("t", "f16[64, N]@col")) == ["f16[N, 64]"]
    for order in itertools.permutations(range(4)):
        x = TensorType.of([2, 3, 4, 5], ELEMENT_TYPES["f16"], order)
        (view,) = SPECS["t"].infer(call("t", x.spelling))
        # The memory is the same: extents from outermost to innermost do not change.
        assert [view.dims[d] for d in view.order] == [x.dims[d] for d in x.order]
        assert sizes(view) == (2, 3, 5, 4)
    assert refusal_of(call("t", "f16[8]")).code == "UC0303"
    x = numbered([2, 3, 4])
    assert torch.equal(SPECS["t"].torch(torch, x), x.mT)


@given(st.data())
def test_reshape(data: st.DataObject) -> None:
    x = numbered(data.draw(SHAPES))
    shape = data.draw(st.lists(st.integers(-1, 6), min_size=1, max_size=4))
    if data.draw(st.booleans()):
        shape = data.draw(st.permutations([*x.shape, 1]))
        shape[data.draw(st.integers(0, len(shape) - 1))] = -1
    agree("reshape", [x], lambda: x.reshape(shape), shape=shape)


def test_reshape_of_dynamic_sizes() -> None:
    assert spelled(call("reshape", "f16[B, S, 64]", shape=["B", "S", "4", "16"])) == ["f16[B, S, 4, 16]"]
    assert spelled(call("reshape", "f16[B, S, 64]", shape=["-1", "64"])) == ["f16[B * S, 64]"]
    assert spelled(call("reshape", "f16[B, S, 64]", shape=["B", "-1"])) == ["f16[B, 64 * S]"]
    split = call("reshape", "f16[N]", shape=["-1", "4"])
    assert spelled(split) == ["f16[N / 4, 4]"] and [str(c) for c in split.needs] == ["N % 4 == 0"]
    granted = call("reshape", "f16[N]", facts=["N % 8 == 0"], shape=["-1", "4"])
    assert spelled(granted) == ["f16[N / 4, 4]"] and granted.needs == []
    assert spelled(call("reshape", "f16[N]", facts=["N == 4 * M"], shape=["M", "4"])) == ["f16[M, 4]"]
    assert spelled(call("reshape", "f16[N]", facts=["N == 4 * M"], shape=["-1", "4"])) == ["f16[M, 4]"]
    error = refusal_of(call("reshape", "f16[N]", shape=["M", "4"]))
    assert (error.code, error.part) == ("UC0318", "param:shape")
    assert error.notes == ("if they are equal for every call, say so: where 4 * M == N",)


@given(st.data())
def test_pad(data: st.DataObject) -> None:
    x = numbered(data.draw(SHAPES))
    pairs = data.draw(st.integers(0, x.dim() + 1))
    pad = [data.draw(st.integers(-3, 3)) for _ in range(2 * pairs)]
    assume(pad)
    value = data.draw(st.sampled_from([0, 1.5]))
    agree("pad", [x], lambda: torch.nn.functional.pad(x, pad, value=value), pad=pad, value=value)


@given(st.data())
def test_slice(data: st.DataObject) -> None:
    x = numbered(data.draw(SHAPES))
    dim, start, end = (data.draw(st.integers(-5, 5)) for _ in range(3))
    step = data.draw(st.integers(0, 3))

    def wanted() -> Any:
        return x.movedim(dim, 0)[start:end:step].movedim(0, dim)

    agree("slice", [x], wanted, dim=dim, start=start, end=end, step=step)


def test_slice_of_dynamic_sizes() -> None:
    for size, start, end, step in itertools.product(range(7), ("0", "2", "-3"), ("3", "-1", "E"), (1, 2)):
        found = call("slice", "f16[N, 8]", dim=0, start=start, end=end, step=step)
        bindings = {"N": size, "E": 4}
        (formula,) = found.spec.infer(found)
        bounds = [bindings["E"] if b == "E" else int(b) for b in (start, end)]
        places = list(range(size))[bounds[0] : bounds[1] : step]
        if all(c.holds(bindings) for c in found.needs):
            assert sizes(formula, bindings) == (len(places), 8), (size, start, end, step)
        else:
            # Refused at launch: the bounds are not inside, where Python would clip them.
            first, last = (b + size if b < 0 else b for b in bounds)
            assert not 0 <= first <= last <= size
    half = call("slice", "f16[M, 64]", facts=["P == M / 2"], dim=0, start=0, end="P")
    assert spelled(half) == ["f16[M / 2, 64]"]


@given(st.data())
def test_concat_and_split(data: st.DataObject) -> None:
    shape = data.draw(SHAPES)
    dim = data.draw(st.integers(-5, 4))
    parts: list[Any] = []
    for _ in range(data.draw(st.integers(1, 3))):
        other = list(shape)
        other[dim % len(shape)] = data.draw(st.integers(0, 3))
        if data.draw(st.booleans()) and data.draw(st.booleans()):
            other[data.draw(st.integers(0, len(shape) - 1))] = 5
        parts.append(numbered(other))
    # For old programs' sake PyTorch takes empty vectors along any dimension.
    assume(len(shape) > 1 or any(part.numel() for part in parts))
    agree("concat", [parts], lambda: torch.cat(parts, dim), dim=dim)

    x = numbered(shape)
    pieces = data.draw(st.lists(st.integers(0, 3), min_size=2, max_size=4))
    agree("split", [x], lambda: torch.split(x, pieces, dim), sizes=pieces, dim=dim)
    size = data.draw(st.integers(-1, 5))
    agree("split", [x], lambda: torch.split(x, size, dim), sizes=size, dim=dim)


def test_lists_of_dynamic_sizes() -> None:
    assert spelled(call("concat", ["f16[M, 8]", "f16[N, 8]", "f16[3, 8]"])) == ["f16[M + N + 3, 8]"]
    assert spelled(call("concat", ["f16[M, 8]", "f32[M, 8]"], dim=1)) == ["f32[M, 16]"]
    assert refusal_of(call("concat", ["e4m3[M, 8]", "f16[M, 8]"], dim=1)).part == "operand:tensors:1"
    assert spelled(call("split", "f16[8, N]", facts=["N == A + B"], sizes=["A", "B"], dim=1)) == [
        "f16[8, A]",
        "f16[8, B]",
    ]
    assert spelled(call("split", "f16[8, N]", facts=["N == 3 * A"], sizes=["A"], dim=1)) == ["f16[8, A]"] * 3
    unknown = refusal_of(call("split", "f16[8, N]", sizes=4, dim=1))
    assert (unknown.code, unknown.part) == ("UC0314", "param:sizes")


@given(st.data())
def test_repeat_and_flip(data: st.DataObject) -> None:
    x = numbered(data.draw(SHAPES))
    counts = data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=5))
    agree("repeat", [x], lambda: x.repeat(counts), n=counts)
    dims = data.draw(st.lists(st.integers(-5, 4), min_size=1, max_size=3))
    agree("flip", [x], lambda: torch.flip(x, dims), dim=dims)


@given(st.data())
def test_triangles(data: st.DataObject) -> None:
    x = numbered(data.draw(SHAPES))
    diagonal = data.draw(st.integers(-3, 3))
    agree("tril", [x], lambda: torch.tril(x, diagonal), diagonal=diagonal)
    agree("triu", [x], lambda: torch.triu(x, diagonal), diagonal=diagonal)


@given(st.data())
def test_gather(data: st.DataObject) -> None:
    shape = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    dim = data.draw(st.integers(-4, 3))
    x = numbered(shape)
    rank = len(shape) + data.draw(st.sampled_from([0, 0, 0, 1]))
    # PyTorch compares nothing with an empty index; here shapes do not depend on one another's sizes.
    other = [data.draw(st.integers(1, 5)) for _ in range(rank)]
    places = shape[dim] if -len(shape) <= dim < len(shape) else 1
    index = torch.randint(0, places, other)
    for element, dtype in (("s64", torch.int64), ("s32", torch.int32)):
        found = call("gather", text_of(shape), f"{element}[{', '.join(map(str, other))}]", dim=dim)
        try:
            wanted = torch.gather(x, dim, index)
        except (RuntimeError, IndexError):
            refusal_of(found)
            continue
        assert [sizes(t) for t in found.spec.infer(found)] == [tuple(wanted.shape)]
        assert torch.equal(found.spec.torch(torch, x, index.to(dtype), dim=dim), wanted)


def test_gather_of_dynamic_sizes_is_checked_at_launch() -> None:
    found = call("gather", "f16[M, 8]", "s64[N, 3]", dim=1)
    assert spelled(found) == ["f16[N, 3]"] and [c.holds({"N": 4, "M": 4}) for c in found.needs] == [True]
    assert [c.holds({"N": 5, "M": 4}) for c in found.needs] == [False]
    empty = torch.zeros(0, 3, dtype=torch.int64)
    assert SPECS["gather"].torch(torch, torch.zeros(2, 8), empty, dim=1).shape == (0, 3)
    same = call("gather", "f16[M, 8]", "s64[M, 3]", dim=1)
    assert spelled(same) == ["f16[M, 3]"] and same.needs == []


def test_layouts() -> None:
    named = call("to_layout", "f16[N, 8, 7, 9]", layout="channels_last")
    assert spelled(named) == ["f16[N, 8, 7, 9]@channels_last"]
    assert spelled(call("to_layout", "f16[N, 8, 7, 9]", layout=(0, 3, 1, 2))) == ["f16[N, 8, 7, 9]@(0,3,1,2)"]
    assert spelled(call("to_layout", "f16[M, 8]", layout="col")) == ["f16[M, 8]@col"]
    image = "f16[2, 8, 7, 9]@channels_last"
    assert spelled(call("to_layout", image, layout="row")) == ["f16[2, 8, 7, 9]"]
    assert spelled(call("permute", image, d=[0, 2, 3, 1])) == ["f16[2, 7, 9, 8]"]
    assert spelled(call("flip", image, dim=1)) == ["f16[2, 8, 7, 9]"]


@pytest.mark.parametrize(
    ("name", "x", "params", "code", "part", "shown"),
    [
        ("permute", "f16[2, 3]", {"d": [1, -1]}, "UC0317", "param:d", ["[1, -1]", "twice"]),
        ("permute", "f16[2, 3]", {"d": [1]}, "UC0303", "param:d", ["[1]", "2"]),
        ("permute", "f16[2, 3]", {"d": [0, 2]}, "UC0304", "param:d", ["2", "-2 to 1"]),
        ("transpose", "f16[2, 3]", {"d0": 0, "d1": -3}, "UC0304", "param:d1", ["-3", "-2 to 1"]),
        ("transpose", "f16[2, 3]", {"d0": "N", "d1": 0}, "UC0314", "param:d0", ["N"]),
        ("reshape", "f16[8, 64]", {"shape": [16, 16]}, "UC0318", "param:shape", ["512", "256"]),
        ("reshape", "f16[8, 64]", {"shape": [-1, -1]}, "UC0309", "param:shape", ["2", "one -1"]),
        ("reshape", "f16[8, 64]", {"shape": [-1, 3]}, "UC0318", "param:shape", ["512", "3"]),
        ("reshape", "f16[0, 64]", {"shape": [-1, 0]}, "UC0318", "param:shape", ["-1"]),
        ("reshape", "f16[8, 64]", {"shape": [-2, 4]}, "UC0309", "param:shape", ["-2"]),
        ("pad", "f16[8]", {"pad": [1]}, "UC0309", "param:pad", ["1"]),
        ("pad", "f16[8]", {"pad": [1, 1, 1, 1]}, "UC0309", "param:pad", ["4", "2"]),
        ("pad", "f16[8]", {"pad": [-5, -4]}, "UC0309", "param:pad", ["-5", "-4", "8"]),
        ("slice", "f16[8]", {"dim": 0, "start": 0, "end": 4, "step": 0}, "UC0309", "param:step", ["0"]),
        ("slice", "f16[8]", {"dim": 1, "start": 0, "end": 4}, "UC0304", "param:dim", ["1"]),
        ("split", "f16[8]", {"sizes": [3, 4]}, "UC0301", "param:sizes", ["7", "8"]),
        ("split", "f16[8]", {"sizes": 0}, "UC0309", "param:sizes", ["0"]),
        ("repeat", "f16[8, 8]", {"n": [2]}, "UC0309", "param:n", ["1", "2"]),
        ("repeat", "f16[8, 8]", {"n": [2, -1]}, "UC0309", "param:n", ["-1"]),
        ("flip", "f16[8, 8]", {"dim": [0, -2]}, "UC0317", "param:dim", ["0"]),
        ("to_layout", "f16[8]", {"layout": "col"}, "UC0311", "param:layout", ["col", "row"]),
        ("to_layout", "f16[8, 8]", {"layout": "channels_last"}, "UC0311", "param:layout", ["row or col"]),
        ("to_layout", "f16[8, 8]", {"layout": (0, 2)}, "UC0311", "param:layout", ["(0,2)", "0 to 1"]),
        ("tril", "f16[8]", {}, "UC0303", "operand:x", ["2"]),
    ],
)
def test_refusals(name: str, x: str, params: dict[str, Any], code: str, part: str, shown: list[str]) -> None:
    error = refusal_of(call(name, x, **params))
    assert (error.code, error.part) == (code, part), error.message
    assert error.message.startswith(name)
    for text in shown:
        assert text in error.message, error.message


@pytest.mark.parametrize(
    ("tensors", "dim", "code", "part"),
    [
        (["f16[8, 4]", "f16[8, 5]"], 0, "UC0301", "operand:tensors:1"),
        (["f16[8, 4]", "f16[8, 4]", "f16[8]"], 0, "UC0303", "operand:tensors:2"),
        (["f16[8, 4]"], 2, "UC0304", "param:dim"),
        ([], 0, "UC0308", "operand:tensors"),
    ],
)
def test_concat_refuses(tensors: list[str], dim: int, code: str, part: str) -> None:
    error = refusal_of(call("concat", tensors, dim=dim))
    assert (error.code, error.part) == (code, part), error.message


@pytest.mark.parametrize(
    ("index", "dim", "code", "part"),
    [
        ("f16[8, 4]", 0, "UC0316", "operand:index"),
        ("s64[8]", 0, "UC0303", "operand:index"),
        ("s64[8, 5]", 0, "UC0301", "operand:index"),
        ("s64[8, 4]", 2, "UC0304", "param:dim"),
    ],
)
def test_gather_refuses(index: str, dim: int, code: str, part: str) -> None:
    error = refusal_of(call("gather", "f16[8, 4]", index, dim=dim))
    assert (error.code, error.part) == (code, part), error.message
