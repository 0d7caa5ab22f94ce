"""The part resolver: later passes can point at any part of a program that was read from the language."""

import pytest
from frontend_reading import context
from xdsl.ir import Operation

from ucutlass.diagnostics.locations import engine_of, span_of
from ucutlass.dialects.ucutlass.kernel import KernelOp, kernels_of
from ucutlass.frontend import read_program

TEXT = """target sm_90a
kernel first(x: f16[M, 8], w: f16[8, 8]@col, b: f16[8]) -> f16[M, 8], f16[8, M] where M % 8 == 0 {
  y = gemm((x), b=w.T)
        .with_tile(128, n=256, k=64).with_raster(along_m, swizzle=2)
      >> bias(b) >> softmax(dim=1)
  p, q = split(y, [4, 4], 1)
  j = concat([p, q], dim=-1)
  r = permute(j, 1, 0)
  return -j * 2, (r)
}
"""


@pytest.fixture(scope="module")
def kernel() -> KernelOp:
    return kernels_of(read_program(CTX, TEXT, "places.ucu"))[0]


CTX = context()


def text_of(op: Operation, part: str) -> str | None:
    """The text of a part, None where the part is not known."""
    engine = engine_of(CTX)
    span = span_of(op, engine, "name")
    assert span is not None
    found = engine.part_span("places.ucu", span.line, span.column, part)
    return TEXT[found.start : found.end] if found is not None else None


def before(op: Operation, part: str) -> str:
    """The text that ends where an empty part stands."""
    engine = engine_of(CTX)
    span = span_of(op, engine, part)
    assert span is not None and span.start == span.end
    return TEXT[: span.start]


@pytest.mark.parametrize(
    ("name", "part", "text"),
    [
        ("gemm", "name", "gemm"),
        ("gemm", "call", "gemm((x), b=w.T)"),
        ("gemm", "operand:0", "x"),
        ("gemm", "operand:a", "x"),
        ("gemm", "operand:1", "w.T"),
        ("gemm", "operand:b", "w.T"),
        ("gemm", "operand:2", None),
        ("gemm", "setter:tile", ".with_tile(128, n=256, k=64)"),
        ("gemm", "setter:tile:0", "128"),
        ("gemm", "setter:tile:1", "n=256"),
        ("gemm", "setter:tile:k", "k=64"),
        ("gemm", "setter:raster:swizzle", "swizzle=2"),
        ("gemm", "setter:raster:swizzle:value", "2"),
        ("gemm", "setter:raster:order", "along_m"),
        ("gemm", "setter:tile:0:value", "128"),
        ("gemm", "suffix:1:T", ".T"),
        ("gemm", "suffix:0:T", None),
        ("gemm", "setter:stages", None),
        ("gemm", "argument:0", "x"),
        ("gemm", "argument:1:type", "f16[8, 8]@col"),
        ("gemm", "argument:b", "b"),
        ("gemm", "argument:9", None),
        ("gemm", "return:1", "f16[8, M]"),
        ("gemm", "target", "sm_90a"),
        ("t", "name", "T"),
        ("t", "operand:0", "w"),
        ("bias", "call", "bias(b)"),
        ("bias", "operand:b", "b"),
        ("softmax", "param:dim", "1"),
        ("softmax", "keyword:dim", "dim=1"),
        ("softmax", "result:0", "y"),
        ("gemm", "result:0", None),
        ("split", "param:sizes", "[4, 4]"),
        ("split", "param:sizes:1", "4"),
        ("split", "param:dim", "1"),
        ("split", "keyword:dim", None),
        ("split", "result:1", "q"),
        ("split", "result:2", None),
        ("concat", "operand:0", "[p, q]"),
        ("concat", "operand:tensors:1", "q"),
        ("concat", "param:dim", "-1"),
        ("permute", "param:d", "1, 0"),
        ("permute", "param:d:1", "0"),
        ("mul", "name", "*"),
        ("mul", "operand:0", "-j"),
        ("mul", "operand:b", "2"),
        ("mul", "call", "-j * 2"),
        ("neg", "operand:x", "j"),
        ("return", "operand:0", "-j * 2"),
        ("return", "operand:1", "r"),
        ("return", "operand:5", None),
    ],
)
def test_parts(kernel: KernelOp, name: str, part: str, text: str | None) -> None:
    (op,) = [op for op in kernel.body.block.ops if op.name == f"ucutlass.{name}"]
    assert text_of(op, part) == text


def test_parts_of_the_kernel(kernel: KernelOp) -> None:
    assert text_of(kernel, "name") == "first"
    assert text_of(kernel, "argument:2") == "b"
    assert text_of(kernel, "return:0") == "f16[M, 8]"
    assert before(kernel, "where").endswith("M % 8 == 0")
    assert text_of(kernel, "where:0") == "M % 8 == 0"
    assert text_of(kernel, "where:1") is None


def test_where_a_suffix_goes(kernel: KernelOp) -> None:
    ops = {op.name.removeprefix("ucutlass."): op for op in kernel.body.block.ops}
    assert before(ops["gemm"], "suffix:0").endswith("gemm((x)")
    assert before(ops["gemm"], "suffix:1").endswith("b=w.T")
    # `-j.T` and `v >> op().T` would mean something else.
    assert text_of(ops["mul"], "suffix:0") is None
    assert text_of(ops["bias"], "suffix:b") == ""
    assert text_of(ops["return"], "suffix:0") is None


def test_where_another_setter_goes(kernel: KernelOp) -> None:
    gemm = next(op for op in kernel.body.block.ops if op.name == "ucutlass.gemm")
    assert before(gemm, "end").endswith("swizzle=2)")


def test_the_piped_value_is_the_first_operand(kernel: KernelOp) -> None:
    bias = next(op for op in kernel.body.block.ops if op.name == "ucutlass.bias")
    found = text_of(bias, "operand:0")
    assert found is not None and found.startswith("gemm((x), b=w.T)") and found.endswith("swizzle=2)")


def test_where_a_first_condition_goes() -> None:
    text = "kernel k(x: f16[M]) -> f16[M] { return x * 2 }"
    kernel = kernels_of(read_program(CTX, text, "plain.ucu"))[0]
    span = span_of(kernel, engine_of(CTX), "where")
    assert span is not None and text[: span.start].endswith("-> f16[M]")


def test_an_unknown_part_falls_back_to_what_encloses_it(kernel: KernelOp) -> None:
    gemm = next(op for op in kernel.body.block.ops if op.name == "ucutlass.gemm")
    span = span_of(gemm, engine_of(CTX), "setter:tile:9")
    assert span is not None and TEXT[span.start : span.end] == ".with_tile(128, n=256, k=64)"
