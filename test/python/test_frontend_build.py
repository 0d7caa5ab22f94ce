"""The language to the dialect: what each form of the syntax means, and where its operations stand."""

import math

import pytest
from frontend_reading import defining, kernel_of, mlir, read
from xdsl.dialects.builtin import FileLineColLoc, StringAttr
from xdsl.ir import Operation

from ucutlass.dialects.ucutlass.base import UcuOp
from ucutlass.dialects.ucutlass.kernel import TARGET_ATTRIBUTE, ConstantOp, KernelOp, kernels_of
from ucutlass.dialects.ucutlass.operations import SPECS
from ucutlass.dialects.ucutlass.types import TensorType, UnresolvedType
from ucutlass.dims import Dim
from ucutlass.element_types import F16

HEAD = "kernel k(x: f16[8, 8], w: f16[8, 8], v: f16[M, 8]) -> f16[8, 8] {\n  "


def body(text: str) -> str:
    """The IR of a kernel's statements and result."""
    return mlir(kernel_of(HEAD + text + " }"))


def result(text: str) -> Operation:
    """The operation that a kernel returns the value of."""
    return defining(kernel_of(HEAD + f"return {text} }}").return_op.values[0])


def op(text: str) -> UcuOp:
    found = result(text)
    assert isinstance(found, UcuOp)
    return found


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x >> relu()", "relu(x)"),
        ("x >> gemm(w)", "gemm(x, w)"),
        ("x >> gemm(w).T", "gemm(x, w).T"),
        ("x >> gemm(w).with_stages(3) >> relu()", "relu(gemm(x, w).with_stages(3))"),
        ("x + w * x", "add(x, mul(w, x))"),
        ("x - w - x", "sub(sub(x, w), x)"),
        ("x / w / x", "div(div(x, w), x)"),
        ("x * w + x / w", "add(mul(x, w), div(x, w))"),
        ("-x * w", "mul(neg(x), w)"),
        ("-x.T", "neg(x.T)"),
        ("x + w >> relu()", "relu(add(x, w))"),
        ("x >> relu() >> add(w)", "add(relu(x), w)"),
        ("(x + w) * x", "mul(add(x, w), x)"),
        ("x - (w - x)", "sub(x, sub(w, x))"),
        ("--x", "neg(neg(x))"),
        ("((x))", "x"),
        ("x * -2", "mul(x, -2)"),
        ("x * (1 / 4)", "x * 0.25"),
        ("x * (2 * 3 - 1)", "x * 5"),
        ("softmax(x, dim=-1)", "softmax(x, -1)"),
        ("permute(x, 1, 0)", "permute(x, [1, 0])"),
        ("permute(x, d=[1, 0])", "permute(x, 1, 0)"),
        ("sum(x, [0])", "sum(x, dim=0)"),
        ("gelu(x, approximate=none)", "gelu(x)"),
        ("leaky_relu(x, 0.01)", "leaky_relu(x)"),
        ("residual(x, w, beta=1.0)", "residual(x, w)"),
        ("gemm(b=w, a=x)", "gemm(x, w)"),
        ("gemm(x, w).with_tile(k=64, m=128, n=256)", "gemm(x, w).with_tile(128, 256, 64)"),
        ("gemm(x, w).with_stages(auto)", "gemm(x, w)"),
        ("gemm(x, w).with_tile(auto, auto, auto)", "gemm(x, w)"),
        ("gemm(x, w).with_compute(auto)", "gemm(x, w)"),
        ("gemm(x, w).with_stages(4).with_tile(8, 8, 8)", "gemm(x, w).with_tile(8, 8, 8).with_stages(4)"),
        ("reshape(x, 2 * 4, M / M * 8)", "reshape(x, 8, M / M * 8)"),
    ],
)
def test_two_ways_to_say_the_same(one: str, other: str) -> None:
    assert body(f"return {one}") == body(f"return {other}")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x - (w - x)", "x - w - x"),
        ("-x.T", "(-x).T.T"),
        ("-(x * w)", "-x / w"),
        ("x >> relu() >> gelu()", "x >> gelu() >> relu()"),
        ("sum(x, dim=[0, 1])", "sum(x)"),
        ("gemm(x, w).with_schedule(auto)", "gemm(x, w).with_schedule(pingpong)"),
        ("clamp(x, 0)", "clamp(x, hi=0)"),
        ("x * 1.0", "x * 1"),
        ("x * 0.0", "x * -0.0"),
    ],
)
def test_different_programs_differ(one: str, other: str) -> None:
    assert body(f"return {one}") != body(f"return {other}")


def test_results_are_unresolved() -> None:
    for inner in kernel_of(HEAD + "y = x + 1\n return relu(y) }").body.block.ops:
        if isinstance(inner, UcuOp):
            assert all(isinstance(r.type, UnresolvedType) for r in inner.results)


def test_parameters_become_plain_values() -> None:
    assert op("conv2d(x, w, stride=[2, 1], padding=M, groups=4)").params() == {
        "stride": (Dim.of(2), Dim.of(1)),
        "padding": (Dim.of("M"),),
        "dilation": SPECS["conv2d"].param("dilation").default,
        "groups": Dim.of(4),
    }
    assert op("cast(x, f16)").params() == {"dtype": F16}
    assert op("max_pool2d(x, 2, ceil_mode=true)").params()["ceil_mode"] is True
    assert op("gelu(x, approximate=tanh)").params() == {"approximate": "tanh"}
    assert op("to_layout(x, @channels_last)").params() == {"layout": "channels_last"}
    assert op("to_layout(x, @(1,0))").params() == {"layout": (1, 0)}
    assert op("reshape(x, M * 2, -1)").params() == {"shape": (Dim.of("M") * 2, Dim.of(-1))}
    assert op("clamp(x, -inf, 6)").params() == {"lo": -math.inf, "hi": 6}
    assert op("layer_norm(x, [8], bias=w, eps=1e-6)").params() == {"shape": (Dim.of(8),), "eps": 1e-6}


def test_optional_operands_and_mixed_order() -> None:
    norm = op("layer_norm(x, [8], bias=w, eps=1e-6)")
    values = norm.operand_values()
    assert values["weight"] is None
    bias = values["bias"]
    assert not isinstance(bias, tuple) and bias is not None and bias.name_hint == "w"
    gathered = op("gather(x, 1, w)")
    assert [o.name_hint for o in gathered.operands] == ["x", "w"]
    assert gathered.params() == {"dim": Dim.of(1)}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("0.155728638", 0.155728638), ("1e-45", 1e-45), ("3.4028235e38", 3.4028235e38), ("inf", math.inf)),
        *(("9223372036854775807", 2**63 - 1), ("-0.70562351", -0.70562351), ("-0.0", -0.0), ("007", 7), ("1.50", 1.5)),
    ],
)
def test_numbers_are_exact(text: str, value: float) -> None:
    constant = defining(op(f"x * {text}").operands[1])
    assert isinstance(constant, ConstantOp)
    assert repr(constant.value.data) == repr(value)


def test_setters_are_one_attribute() -> None:
    gemm = op(
        "gemm(x, w).with_tile(128, 256, 64).with_cluster(2, 1).with_schedule(cooperative_fp8_fast)"
        ".with_raster(along_m, swizzle=4).with_alignment(b=8, a=4).with_swap_ab().with_scheduler(auto)"
    )
    assert gemm.setters.settings == {
        "tile": (128, 256, 64),
        "cluster": (2, 1, None),
        "schedule": ("cooperative_fp8_fast",),
        "scheduler": ("auto",),
        "raster": ("along_m", 4),
        "alignment": (4, 8, None, None),
        "swap_ab": (),
    }


def test_lists() -> None:
    kernel = kernel_of(
        HEAD + "a, b = split(x, [4, 4], 0)\n  ys = split(w, 4)\n  c, d = ys\n  e = ys\n"
        "  return concat(e, 0) + concat([a, b, c], 1) + concat(split(x, [8], 0)) }"
    )
    first, second = [op for op in kernel.body.block.ops if op.name == "ucutlass.split"][:2]
    assert [r.name_hint for r in first.results] == ["a", "b"]
    assert [r.name_hint for r in second.results] == ["c", "d"]
    assert second.attributes["list_name"] == StringAttr("ys")
    concats = [op for op in kernel.body.block.ops if op.name == "ucutlass.concat"]
    assert [len(c.operands) for c in concats] == [2, 3, 1]
    assert list(concats[0].operands) == list(second.results)


def test_lists_in_a_result() -> None:
    head = "kernel k(x: f16[8, 8], w: f16[8, 8]) -> f16[8, 8], f16[8, 8], f16[8, 8] {\n  "
    kernel = kernel_of(head + "return grouped_gemm([x, w], [w, x]), x }")
    assert [v.owner is kernel.body.block for v in kernel.return_op.values] == [False, False, True]


def test_rows_of_one_name_are_told_apart_by_a_list() -> None:
    head = "kernel k(a: f16[8, 8], b: f16[2, 8, 8], o: s32[2]) -> f16[8, 8] {\n  "
    assert "ucutlass.grouped_gemm_offsets" in mlir(kernel_of(head + "return grouped_gemm(a, b, o) }"))
    kernel = kernel_of(head + "parts = split(a, 4)\n p, q = grouped_gemm(parts, [a, a])\n return p + q }")
    assert "ucutlass.grouped_gemm[" in mlir(kernel)


def test_names_survive_exactly() -> None:
    kernel = kernel_of(
        "kernel k(x_1: f16[8], kernel: f16[8]) -> f16[8] { y_12 = x_1 * kernel where = y_12 return where }"
    )
    assert [a.name_hint for a in kernel.body.block.args] == ["x_1", "kernel"]
    assert kernel.return_op.values[0].name_hint == "y_12"
    assert "aliases" in kernel.return_op.attributes


def test_target_and_several_kernels() -> None:
    module = read(
        "target sm_80 kernel a(x: f16[8]) -> f16[8] { return x + x } kernel b(x: f16[8]) -> f16[8] { return x * x }"
    )
    assert module.attributes[TARGET_ATTRIBUTE] == StringAttr("sm_80")
    assert [k.sym_name.data for k in kernels_of(module)] == ["a", "b"]
    assert TARGET_ATTRIBUTE not in read("kernel a(x: f16[8]) -> f16[8] { return x + x }").attributes


def test_types_layouts_and_conditions() -> None:
    kernel = kernel_of(
        "kernel k(a: f32[], b: e4m3[N, C, H, W]@channels_last, c: s4[8, M]@col, d: u4[2, 3, 4]@(2,0,1), e: bf16[P])"
        " -> f32[], f16[M, N] where M % 8 == 0, P == M * (N + 1) / 2 - 3, W >= 1 { return a, c }"
    )
    types = [a.type.spelling for a in kernel.body.block.args if isinstance(a.type, TensorType)]
    assert types == ["f32[]", "e4m3[N, C, H, W]@channels_last", "s4[8, M]@col", "u4[2, 3, 4]@(2,0,1)", "bf16[P]"]
    bindings = {"M": 16, "N": 2, "P": 21, "W": 1}
    assert [c.holds(bindings) for c in kernel.where.data] == [True, True, True]
    assert [c.holds({**bindings, "M": 12, "P": 15, "W": 0}) for c in kernel.where.data] == [False, True, False]


def place(op: Operation) -> tuple[int, int]:
    assert isinstance(op.location, FileLineColLoc)
    return op.location.line.data, op.location.column.data


def test_locations_are_those_of_the_names() -> None:
    text = (
        "kernel k(x: f16[8, 8], w: f16[8, 8]) -> f16[8, 8] {\n"
        "  y = gemm(x, w.T)\n"
        "        .with_stages(4)\n"
        "      >> relu()\n"
        "  return -y + 2 * y\n"
        "}\n"
    )
    kernel = kernel_of(text)
    assert place(kernel) == (1, 8)
    places = {op.name.removeprefix("ucutlass."): place(op) for op in kernel.body.block.ops}
    assert places == {
        "t": (2, 17),
        "gemm": (2, 7),
        "relu": (4, 10),
        "neg": (5, 10),
        "constant": (5, 15),
        "mul": (5, 17),
        "add": (5, 13),
        "return": (5, 3),
    }
    arguments = [a.location for a in kernel.body.block.args]
    assert [a.column.data for a in arguments if isinstance(a, FileLineColLoc)] == [10, 24]


def test_every_operation_of_the_tables_can_be_called() -> None:
    """The grammar, the tables and the dialect have the same operations."""
    for spec in SPECS.values():
        if spec.spelling.startswith("."):
            continue
        arguments: list[str] = []
        for name in spec.signature:
            operand = next((o for o in spec.operands if o.name == name), None)
            if operand is not None:
                arguments.append("[x, x]" if operand.variadic else "x")
                continue
            kinds = {"number": "1", "dim": "1", "dims": "8", "bool": "true", "element": "f32", "layout": "@row"}
            param = spec.param(name)
            value = kinds.get(param.kind) or param.words[0]
            arguments.append(value if param.varargs else f"{name}={value}")
        by_name = [
            f"{n}={a}" if n in {o.name for o in spec.operands} else a
            for n, a in zip(spec.signature, arguments, strict=True)
        ]
        positional = all("=" not in a for a in arguments)
        call = f"{spec.spelling}({', '.join(arguments if positional else by_name)})"
        if any(p.varargs for p in spec.params):
            call = f"{spec.spelling}({', '.join(arguments)})"
        text = f"kernel k(x: f32[8, 8]) -> f32[8, 8] {{ y = {call}\n return x }}"
        kernel = kernel_of(text)
        assert any(op.name == f"ucutlass.{spec.name}" for op in kernel.body.block.ops), text


def test_kernels_do_not_see_each_other() -> None:
    module = read(
        "kernel a(x: f16[8]) -> f16[8] { y = x + x return y }\nkernel b(x: f16[8]) -> f16[8] { y = x * x return y }"
    )
    assert all(isinstance(op, KernelOp) for op in module.ops)
