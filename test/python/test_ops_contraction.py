"""Contractions: result types by the language's rules, meanings and costs by PyTorch, refusals by code and part."""

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from op_calls import call, flops_of, refusal_of, sizes, torch

from ucutlass.dialects.ucutlass.operations import SPECS, rows_called
from ucutlass.dialects.ucutlass.spec import Call
from ucutlass.dims import Dim
from ucutlass.element_types import ELEMENT_TYPES, ElementType


def spelled(found: Call) -> list[str]:
    return [t.spelling for t in found.spec.infer(found)]


def expected_element(left: ElementType, right: ElementType) -> str | None:
    """The result's element type as the language's text has it, None where it refuses."""
    names = {left.name, right.name}
    if "bool" in names:
        return None
    if names <= {"e4m3", "e5m2"} or names == {"tf32"}:
        return "f32"
    if len(names) == 1:
        return "s32" if left.kind in ("sint", "uint") else left.name
    wide = names & {"f16", "bf16"}
    narrow = names & {"s8", "u8", "s4", "u4", "e4m3", "e5m2"}
    return wide.pop() if len(wide) == 1 and len(narrow) == 1 else None


@pytest.mark.parametrize("left", ELEMENT_TYPES.values(), ids=str)
def test_the_element_type_of_a_product_is_that_of_the_language(left: ElementType) -> None:
    for right in ELEMENT_TYPES.values():
        product = call("gemm", f"{left}[M, 8]", f"{right}[8, N]")
        wanted = expected_element(left, right)
        if wanted is None:
            error = refusal_of(product)
            bools = "bool" in (left.name, right.name)
            assert (error.code, error.part) == ("UC0316" if bools else "UC0302", "operand:b"), (left, right)
            assert str(left) in error.message or bools
        else:
            assert spelled(product) == [f"{wanted}[M, N]"], (left, right)


def test_half_types_that_each_lose_something_do_not_mix() -> None:
    error = refusal_of(call("gemm", "f16[8, 8]", "bf16[8, 8]"))
    assert error.code == "UC0302"
    assert "f16 and bf16" in error.message and "cast" in error.message


def test_a_weight_stored_as_n_by_k_is_told_apart_from_one_stored_as_k_by_n() -> None:
    error = refusal_of(call("gemm", "f16[64, 256]", "f16[128, 256]"))
    assert (error.code, error.part) == ("UC0301", "operand:b")
    assert "K = 256 of f16[64, 256]" in error.message and "128 of f16[128, 256]" in error.message
    assert error.notes == ("b holds its N before its K: it must be transposed",)
    assert refusal_of(call("gemm", "f16[64, 256]", "f16[128, 64]")).notes == ()
    assert spelled(call("gemm", "f16[64, 256]", "f16[256, 128]@col")) == ["f16[64, 128]"]


def test_dynamic_extents_agree_by_name_or_by_what_is_guaranteed() -> None:
    assert spelled(call("gemm", "f16[M, K]", "f16[K, N]")) == ["f16[M, N]"]
    assert refusal_of(call("gemm", "f16[M, K]", "f16[L, N]")).code == "UC0301"
    assert spelled(call("gemm", "f16[M, K]", "f16[L, N]", facts=["K == L"])) == ["f16[M, N]"]
    assert spelled(call("gemm", "f16[M, K]", "f16[L, N]", facts=["K == 2 * P", "L == P + P"])) == ["f16[M, N]"]


@pytest.mark.parametrize(
    ("name", "operands", "code", "part"),
    [
        ("gemm", ["f16[8]", "f16[8, 8]"], "UC0303", "operand:a"),
        ("gemm", ["f16[2, 8, 8]", "f16[8, 8]"], "UC0303", "operand:a"),
        ("gemm", ["f16[8, 8]", 2], "UC0315", "operand:b"),
        ("batched_gemm", ["f16[8]", "f16[8, 8]"], "UC0303", "operand:a"),
        ("batched_gemm", ["f16[3, 8, 8]", "f16[2, 8, 8]"], "UC0305", "operand:b"),
        ("batched_gemm", ["f16[3, 8, 4]", "f16[3, 8, 8]"], "UC0301", "operand:b"),
        ("grouped_gemm", [["f16[8, 4]"], ["f16[4, 8]", "f16[4, 8]"]], "UC0301", "operand:b"),
        ("grouped_gemm", [["f16[8, 4]", "f16[8, 4]"], ["f16[4, 8]", "f16[5, 8]"]], "UC0301", "operand:b:1"),
        ("grouped_gemm", [["f16[8, 4]", "f16[8]"], ["f16[4, 8]", "f16[4, 8]"]], "UC0303", "operand:a:1"),
        ("grouped_gemm", [["f16[8, 4]", "bf16[8, 4]"], ["f16[4, 8]", "bf16[4, 8]"]], "UC0302", "operand:a:1"),
        ("grouped_gemm", [list[str](), list[str]()], "UC0308", "operand:a"),
        ("grouped_gemm", ["f16[8, 4]", ["f16[4, 8]"]], "UC0308", "operand:a"),
        ("grouped_gemm_offsets", ["f16[8, 4]", "f16[4, 8]", "s32[2]"], "UC0303", "operand:b"),
        ("grouped_gemm_offsets", ["f16[8, 4]", "f16[3, 4, 8]", "s32[2]"], "UC0301", "operand:offsets"),
        ("grouped_gemm_offsets", ["f16[8, 4]", "f16[3, 5, 8]", "s32[3]"], "UC0301", "operand:b"),
        ("grouped_gemm_offsets", ["f16[8, 4]", "f16[3, 4, 8]", "s64[3]"], "UC0316", "operand:offsets"),
    ],
)
def test_refusals(name: str, operands: list[Any], code: str, part: str) -> None:
    error = refusal_of(call(name, *operands))
    assert (error.code, error.part) == (code, part), error.message
    assert error.message.startswith(SPECS[name].spelling) or code in ("UC0308", "UC0315")


def test_both_forms_of_a_grouped_product_have_one_name() -> None:
    assert [(row.name, row.takes_list) for row in rows_called("grouped_gemm")] == [
        ("grouped_gemm", True),
        ("grouped_gemm_offsets", False),
    ]
    assert rows_called("t") == () and [row.name for row in rows_called(".T")] == ["t"]


def test_leading_dimensions_broadcast_as_in_torch() -> None:
    shapes = [shape for rank in range(3) for shape in itertools.product((1, 2, 3), repeat=rank)]
    refused = 0
    for left, right in itertools.product(shapes, repeat=2):
        a, b = torch.empty(*left, 4, 5, device="meta"), torch.empty(*right, 5, 6, device="meta")
        product = call("batched_gemm", *(f"f32[{', '.join(map(str, x.shape))}]" for x in (a, b)))
        try:
            wanted = tuple(torch.matmul(a, b).shape)
        except RuntimeError:
            refused += 1
            assert refusal_of(product).code == "UC0305"
            continue
        assert sizes(product.spec.infer(product)[0]) == wanted
    assert 0 < refused < len(shapes) ** 2


def test_products_of_each_form_are_those_of_torch() -> None:
    torch.manual_seed(0)
    a, b = torch.randn(3, 1, 7, 5), torch.randn(4, 5, 6)
    torch.testing.assert_close(
        SPECS["batched_gemm"].torch(torch, a, b), torch.einsum("bimk,ikn->bimn", a.expand(3, 4, 7, 5), b)
    )
    lists = [torch.randn(m, 5) for m in (2, 0, 3)], [torch.randn(5, n) for n in (1, 2, 4)]
    for found, left, right in zip(SPECS["grouped_gemm"].torch(torch, *lists), *lists, strict=True):
        torch.testing.assert_close(found, torch.einsum("mk,kn->mn", left, right))


@pytest.mark.parametrize("ends", [[2, 2, 7], [0, 0, 0], [3, 5, 6], [1, 9, 9], [9, 9, 9]])
def test_rows_of_a_group_meet_its_matrix_and_rows_past_the_last_are_zero(ends: list[int]) -> None:
    torch.manual_seed(1)
    a, b = torch.randn(9, 4), torch.randn(3, 4, 5)
    wanted = torch.zeros(9, 5)
    for row in range(9):
        group = next((g for g, end in enumerate(ends) if row < end), None)
        if group is not None:
            wanted[row] = torch.einsum("k,kn->n", a[row], b[group])
    found = SPECS["grouped_gemm_offsets"].torch(torch, a, b, torch.tensor(ends, dtype=torch.int32))
    torch.testing.assert_close(found, wanted)
    assert torch.all(found[ends[-1] :] == 0)


@given(st.data())
def test_products_of_integers_are_exact_modulo_two_to_the_thirty_second(data: st.DataObject) -> None:
    m, k, n = (data.draw(st.integers(0, 4)) for _ in range(3))
    draw = st.one_of(st.integers(-(2**31), 2**31 - 1), st.sampled_from([-128, 127, 255, -1, 0, 65535, 65536]))
    a = [[data.draw(draw) for _ in range(k)] for _ in range(m)]
    b = [[data.draw(draw) for _ in range(n)] for _ in range(k)]
    left = torch.tensor(a, dtype=torch.int32).reshape(m, k)
    right = torch.tensor(b, dtype=torch.int32).reshape(k, n)
    found = SPECS["gemm"].torch(torch, left, right)
    assert found.dtype == torch.int32 and tuple(found.shape) == (m, n)
    for i, j in itertools.product(range(m), range(n)):
        exact = sum(a[i][x] * b[x][j] for x in range(k))
        assert int(found[i, j]) == (exact + 2**31) % 2**32 - 2**31


def test_costs_are_those_that_torch_counts() -> None:
    from torch.utils.flop_counter import FlopCounterMode

    cases: list[tuple[Call, list[tuple[tuple[int, ...], tuple[int, ...]]]]] = [
        (call("gemm", "f16[7, 5]", "f16[5, 6]"), [((7, 5), (5, 6))]),
        (call("batched_gemm", "f16[3, 7, 5]", "f16[3, 5, 6]"), [((3, 7, 5), (3, 5, 6))]),
        (
            call("grouped_gemm", ["f16[7, 5]", "f16[2, 3]"], ["f16[5, 6]", "f16[3, 4]"]),
            [((7, 5), (5, 6)), ((2, 3), (3, 4))],
        ),
    ]
    for found, products in cases:
        with FlopCounterMode(display=False) as counter:
            for left, right in products:
                torch.matmul(torch.empty(*left, device="meta"), torch.empty(*right, device="meta"))
        assert flops_of(found) == counter.get_total_flops()
    assert flops_of(call("gemm", "f16[M, K]", "f16[K, N]")) == Dim.of("2 * M * N * K")
    assert flops_of(call("grouped_gemm_offsets", "f16[M, 4]", "f16[3, 4, N]", "s32[3]")) == Dim.of("8 * M * N")


def test_attention_has_the_shape_and_the_values_of_torch() -> None:
    torch.manual_seed(2)
    q, k, v = torch.randn(2, 3, 5, 8), torch.randn(2, 3, 7, 8), torch.randn(2, 3, 7, 4)
    added, kept = torch.randn(5, 7), torch.rand(2, 1, 5, 7) > 0.4
    meaning = SPECS["attention"].torch
    for mask, scale, causal in itertools.product((None, added, kept), (None, 0.3), (False, True)):
        scores = torch.einsum("bhid,bhjd->bhij", q, k) * (8**-0.5 if scale is None else scale)
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf) if mask.dtype == torch.bool else scores + mask
        if causal:
            scores = scores.masked_fill(torch.arange(7)[None, :] > torch.arange(5)[:, None], -torch.inf)
        # A row that may attend to nothing gives 0, not NaN.
        wanted = torch.einsum("bhij,bhje->bhie", scores.softmax(-1).nan_to_num(0.0), v)
        torch.testing.assert_close(meaning(torch, q, k, v, mask, scale=scale, causal=causal), wanted)
    assert spelled(call("attention", "f16[B, H, S, 64]", "f16[B, H, T, 64]", "f16[B, H, T, E]")) == ["f16[B, H, S, E]"]
    assert spelled(call("attention", *(["e4m3[1, 2, 3, 4]"] * 3))) == ["f32[1, 2, 3, 4]"]
    masked = call("attention", "f32[B, H, S, 8]", "f32[B, H, T, 8]", "f32[B, H, T, 8]", "bool[1, S, T]")
    assert spelled(masked) == ["f32[B, H, S, 8]"]


@pytest.mark.parametrize(
    ("operands", "code", "part"),
    [
        (["f16[1, 2, 3]", "f16[1, 2, 3, 4]", "f16[1, 2, 3, 4]"], "UC0303", "operand:q"),
        (["f16[1, 2, 3, 4]", "f16[1, 1, 3, 4]", "f16[1, 2, 3, 4]"], "UC0301", "operand:k"),
        (["f16[1, 2, 3, 4]", "f16[1, 2, 3, 5]", "f16[1, 2, 3, 4]"], "UC0301", "operand:k"),
        (["f16[1, 2, 3, 4]", "f16[1, 2, 5, 4]", "f16[1, 2, 3, 4]"], "UC0301", "operand:v"),
        (["f16[1, 2, 3, 4]", "f16[1, 2, 3, 4]", "bf16[1, 2, 3, 4]"], "UC0302", "operand:v"),
        (["s8[1, 2, 3, 4]", "s8[1, 2, 3, 4]", "s8[1, 2, 3, 4]"], "UC0316", "operand:q"),
        (["f16[1, 2, 3, 4]"] * 3 + ["s32[3, 3]"], "UC0316", "operand:mask"),
        (["f16[1, 2, 3, 4]"] * 3 + ["bool[3, 4]"], "UC0305", "operand:mask"),
        (["f16[1, 2, 3, 4]"] * 3 + ["bool[2, 2, 3, 3]"], "UC0305", "operand:mask"),
        (["f16[1, 2, 3, 4]"] * 3 + ["bool[1, 1, 2, 3, 3]"], "UC0305", "operand:mask"),
    ],
)
def test_attention_refuses(operands: list[str], code: str, part: str) -> None:
    error = refusal_of(call("attention", *operands))
    assert (error.code, error.part) == (code, part), error.message


def test_the_cost_of_attention_is_its_products_its_softmax_and_its_scales() -> None:
    from torch.utils.flop_counter import FlopCounterMode

    shape = (2, 3, 16, 8)
    with FlopCounterMode(display=False) as counter:
        q, k, v = (torch.empty(*shape, device="meta") for _ in range(3))
        torch.matmul(torch.matmul(q, k.mT), v)
    scores, elements = 2 * 3 * 16 * 16, 2 * 3 * 16 * 8
    text = "f16[2, 3, 16, 8]"
    assert flops_of(call("attention", text, text, text)) == counter.get_total_flops() + 5 * scores + 2 * elements
    hidden = 2 * 3 * 16 * 15 // 2
    per_score = counter.get_total_flops() // scores + 5
    causal = flops_of(call("attention", text, text, text, causal=True))
    assert causal == (scores - hidden) * per_score + 2 * elements
    rows, keys = 5, 3
    seen = sum(1 for i in range(rows) for j in range(keys) if j <= i)
    found = call("attention", f"f16[1, 1, {rows}, 8]", f"f16[1, 1, {keys}, 8]", f"f16[1, 1, {keys}, 8]", causal=True)
    assert flops_of(found) == seen * (32 + 5) + (rows + keys) * 8
