"""What operations learn from their producers: the dimension that a bias belongs to, and the values of numbers."""

import math
import re
from collections.abc import Sequence

import pytest
from keeps_meaning import new_context
from op_calls import type_of
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, SSAValue
from xdsl.parser import Parser

from ucutlass.dialects.ucutlass import OPERATIONS
from ucutlass.dialects.ucutlass.base import UcuOp, channel_axis, facts_at, number_value
from ucutlass.dialects.ucutlass.kernel import FusedOp, YieldOp, kernels_of
from ucutlass.dialects.ucutlass.types import NumberType, TensorType
from ucutlass.passes.pipelines import passes_of, run_passes

CONV = {"x": "f16[8, 16, 32, 32]", "w": "f16[16, 16, 1, 1]", "c": "f16[8, 16, 32, 32]", "b": "f16[16]"}


def module(arguments: dict[str, str], lines: Sequence[str]) -> ModuleOp:
    """A kernel over these arguments; a line is `NAME = op %a, %b {…}`, its types are inferred."""
    known = {name: str(type_of(text)) for name, text in arguments.items()}
    body: list[str] = []
    for line in lines:
        name, right = line.split(" = ", 1)
        if right.startswith("constant"):
            body.append(f"%{name} = ucutlass.{right}")
            known[name] = "!ucutlass.number_type"
        else:
            operands = re.findall(r"%(\w+)", right)
            types = ", ".join(known[operand] for operand in operands)
            body.append(f"%{name} = ucutlass.{right} : ({types}) -> !ucutlass.unresolved")
            known[name] = "!ucutlass.unresolved"
    first = next(iter(arguments))
    signature = ", ".join(f"%{name}: {known[name]}" for name in arguments)
    text = f"ucutlass.kernel @k({signature}) -> ({known[first]}) {{\n" + "\n".join(body)
    text += f"\nucutlass.return %{first} : {known[first]}\n}}"
    ctx = new_context()
    made = Parser(ctx, text).parse_module()
    run_passes(ctx, made, passes_of("infer"))
    made.verify()
    return made


def value(arguments: dict[str, str], *lines: str) -> SSAValue:
    """The value of the last line."""
    (kernel,) = kernels_of(module(arguments, lines))
    last = kernel.return_op.prev_op
    assert last is not None
    return last.results[0]


def axis(arguments: dict[str, str], *lines: str) -> int:
    return channel_axis(value(arguments, *lines))


def test_a_convolution_has_channels_in_dimension_one() -> None:
    conv = "y = conv2d %x, %w"
    assert axis(CONV, conv) == 1
    assert axis(CONV, conv, "z = relu %y") == 1
    assert axis(CONV, conv, "z = cast %y {dtype = f32}", "u = materialize %z", "v = gelu %u") == 1
    # Whichever operand it comes through, and through branches that meet again.
    assert axis(CONV, conv, "z = add %c, %y") == 1
    assert axis(CONV, conv, "n = sigmoid %y", "z = mul %y, %n", "u = residual %z, %c") == 1
    assert axis(CONV, conv, "g = gt %y, %c", "z = where %g, %c, %c") == 1
    assert axis(CONV, conv, "z = bias %y, %b", "u = relu %z") == 1


def test_transposed_and_gradient_convolutions_too() -> None:
    assert axis(CONV, "y = conv_transpose2d %x, %w") == 1
    assert axis({"x": "f16[2, 4, 9]", "w": "f16[8, 4, 3]"}, "y = conv1d %x, %w", "z = relu %y") == 1


def test_everything_else_has_them_last() -> None:
    assert axis(CONV, "z = relu %x") == 3
    batched = {"a": "f16[2, 4, 8]", "b": "f16[2, 8, 16]"}
    assert axis(batched, "y = batched_gemm %a, %b", "z = relu %y") == 2
    assert axis({"x": "f16[4, 8]", "w": "f16[8, 4]"}, "y = gemm %x, %w", "z = relu %y") == 1
    # Only element-wise operations, casts and materialize are looked through.
    pooled = "z = max_pool2d %y {kernel = #ucutlass.dims<[2]>}"
    assert axis(CONV, "y = conv2d %x, %w", pooled) == 3
    assert axis(CONV, "y = conv2d %x, %w", "z = softmax %y {dim = #ucutlass.dims<[1]>}", "u = relu %z") == 3


def test_the_first_contraction_found_decides() -> None:
    both = {"x": "f16[2, 4, 9]", "w": "f16[4, 4, 1]", "a": "f16[2, 4, 8]", "b": "f16[2, 8, 9]"}
    conv, gemm = "y = conv1d %x, %w", "g = batched_gemm %a, %b"
    assert axis(both, conv, gemm, "z = add %y, %g") == 1
    assert axis(both, conv, gemm, "z = add %g, %y") == 2


def test_dimensions_are_counted_from_the_right_after_a_broadcast() -> None:
    arguments = {"x": "f16[2, 4, 9]", "w": "f16[4, 4, 1]", "s": "f16[5, 2, 4, 9]"}
    assert axis(arguments, "y = conv1d %x, %w", "z = add %y, %s") == 2


def test_the_axis_reaches_the_rule_and_the_error() -> None:
    biased = value(CONV, "y = conv2d %x, %w", "z = relu %y", "u = bias %z, %b")
    op = biased.owner
    assert isinstance(op, UcuOp) and op.spec.name == "bias"
    made = op.call()
    assert made is not None and made.params["axis"] == 1
    assert "axis" not in op.params()
    assert isinstance(biased.type, TensorType) and biased.type.spelling == "f16[8, 16, 32, 32]"


def group(value_: SSAValue) -> FusedOp:
    """The producer of a value, alone in a fused group."""
    inner = value_.owner
    assert isinstance(inner, UcuOp)
    block = Block(arg_types=[operand.type for operand in inner.operands])
    copy = inner.clone(dict(zip(inner.operands, block.args, strict=True)))
    block.add_ops([copy, YieldOp.build(operands=[[copy.results[0]]])])
    return FusedOp.of("conv", list(inner.operands), [value_.type], block)


def test_groups_are_looked_into_and_out_of() -> None:
    conv = value(CONV, "y = conv2d %x, %w")
    fused = group(conv)
    assert channel_axis(fused.outputs[0]) == 1
    relu = OPERATIONS["relu"].build(operands=[fused.outputs[0]], result_types=[conv.type])
    outer = group(relu.results[0])
    assert channel_axis(outer.yielded[0]) == 1
    assert channel_axis(outer.body.block.args[0]) == 1


def test_long_chains_and_diamonds_take_no_recursion() -> None:
    lines = ["y0 = conv2d %x, %w"]
    lines += [f"y{i + 1} = mul %y{i}, %y{i}" for i in range(1500)]
    assert axis(CONV, *lines) == 1


# Numbers -------------------------------------------------------------------------------------------------------------


def number(*lines: str) -> int | float | None:
    found = value({"x": "f16[4]"}, *lines)
    assert isinstance(found.type, NumberType)
    return number_value(found)


def test_numbers_compute_when_the_program_is_compiled() -> None:
    assert number("a = constant <3>") == 3
    assert number("a = constant <1>", "b = constant <8>", "c = div %a, %b") == 0.125
    shared = ("a = constant <2>", "b = neg %a", "c = mul %b, %b", "d = sub %c, %a", "e = add %d, %c")
    assert number(*shared) == 6
    assert number("a = constant <1>", "b = constant <0>", "c = div %a, %b") == math.inf
    chain = ["n0 = constant <1>"] + [f"n{i + 1} = add %n{i}, %n0" for i in range(2000)]
    assert number(*chain) == 2001


@pytest.mark.parametrize(
    ("lines", "spelling"),
    [
        (("a = constant <1>", "b = constant <2>", "c = div %a, %b", "y = mul %i, %c"), "f32[4]"),
        (("a = constant <1>", "b = constant <2>", "c = add %a, %b", "y = mul %i, %c"), "s8[4]"),
        (("a = constant <0.5>", "y = mul %i, %a"), "f32[4]"),
    ],
)
def test_their_kind_promotes(lines: tuple[str, ...], spelling: str) -> None:
    found = value({"i": "s8[4]"}, *lines)
    assert isinstance(found.type, TensorType) and found.type.spelling == spelling


def test_rules_see_their_values() -> None:
    power = value({"x": "f16[4]"}, "a = constant <1>", "b = neg %a", "c = add %b, %b", "y = pow %x, %c").owner
    assert isinstance(power, UcuOp)
    made = power.call(facts_at(power))
    assert made is not None and made.numbers == {"b": -2}
    assert power.spec.cuda_expression(made.constants) == "T(1) / (a * a)"
