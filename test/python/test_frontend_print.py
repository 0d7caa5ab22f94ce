"""Canonical text: how programs look, and that what cannot be said is refused with a reason."""

from pathlib import Path

import pytest
from frontend_reading import mlir, read

from ucutlass.diagnostics.locations import OperationFailure
from ucutlass.dialects.ucutlass.kernel import kernels_of
from ucutlass.frontend.layout import WIDTH
from ucutlass.frontend.print_ucu import print_ucu

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
HEAD = "kernel k(x: f16[8, 8], w: f16[8, 8]) -> f16[8, 8] {\n"


def canonical(statements: str) -> str:
    """The canonical form of a kernel's statements and result."""
    printed = print_ucu(read(f"{HEAD}{statements}\n}}\n"))
    assert printed.startswith(HEAD) and printed.endswith("\n}\n")
    return printed.removeprefix(HEAD).removesuffix("\n}\n")


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("return relu(gelu(x))", "return gelu(x) >> relu()"),
        ("return x >> relu()", "return relu(x)"),
        ("return residual(bias(gemm(x, w), x), w)", "return gemm(x, w) >> bias(x) >> residual(w)"),
        ("return add(x, mul(w, 2))", "return x + w * 2"),
        ("return mul(add(x, w), x)", "return (x + w) * x"),
        ("return sub(x, sub(w, x))", "return x - (w - x)"),
        ("return sub(sub(x, w), x)", "return x - w - x"),
        ("return div(x, div(w, x))", "return x / (w / x)"),
        ("return neg(add(x, w))", "return -(x + w)"),
        ("return mul(neg(x), -2)", "return -x * -2"),
        ("return neg(neg(x))", "return --x"),
        ("return neg(x.T)", "return -x.T"),
        ("return neg(x).T", "return (-x).T"),
        ("return (x + w).T", "return (x + w).T"),
        ("return relu(x).T", "return relu(x).T"),
        ("return (x + w).T.T", "return (x + w).T.T"),
        ("return gemm(x, w).with_stages(4).T >> relu()", "return gemm(x, w).with_stages(4).T >> relu()"),
        ("return relu(x) + w", "return relu(x) + w"),
        ("return relu(gemm(x, w)) + w", "return relu(gemm(x, w)) + w"),
        ("return gelu(relu(gemm(x, w))) + w", "return (gemm(x, w) >> relu() >> gelu()) + w"),
        ("return maximum(relu(x), w)", "return maximum(relu(x), w)"),
        ("return where(gt(x, 0), x, relu(gemm(x, w)))", "return where(gt(x, 0), x, gemm(x, w) >> relu())"),
        ("return gemm(x, relu(gelu(w)))", "return gemm(x, gelu(w) >> relu())"),
        ("return softmax(x, -1)", "return softmax(x, -1)"),
        ("return leaky_relu(x, 0.2)", "return leaky_relu(x, slope=0.2)"),
        ("return clamp(x, hi=6)", "return clamp(x, hi=6)"),
        ("return permute(x, [1, 0])", "return permute(x, 1, 0)"),
        ("return sum(x, [0], keepdim=true)", "return sum(x, dim=0, keepdim=true)"),
        ("return gather(x, 1, w)", "return gather(x, 1, w)"),
        ("return layer_norm(x, [8], w, x)", "return layer_norm(x, 8, w, x)"),
        ("return layer_norm(x, [8], bias=x)", "return layer_norm(x, 8, bias=x)"),
        ("return x * 1e-05 + 1E16 * x - 2.50 * x", "return x * 1e-5 + 1e16 * x - 2.5 * x"),
        ("return x * (0 - inf) + nan * x", "return x * -inf + nan * x"),
        ("return to_layout(x, @(1,0))", "return to_layout(x, @(1,0))"),
        ("return cast(x, f32) >> to_layout(@col)", "return cast(x, f32) >> to_layout(@col)"),
        ("y = x\n z = y\n return z", "  y = x\n  z = x\n  return x".lstrip()),
        ("c = 0.5\n return x * c", "c = 0.5\n  return x * c"),
        ("a, b = split(x, 4)\n return a * b", "a, b = split(x, 4)\n  return a * b"),
        ("ys = split(x, [4, 4])\n return concat(ys)", "ys = split(x, [4, 4])\n  return concat(ys)"),
        ("return concat(split(x, 4), 0)", "return split(x, 4) >> concat()"),
        ("ys = split(x, 4)\n a, b = ys\n return a + b", "ys = split(x, 4)\n  a, b = ys\n  return a + b"),
    ],
)
def test_forms(text: str, printed: str) -> None:
    assert canonical(text) == f"  {printed}"


def test_the_layout_of_a_long_statement() -> None:
    text = (EXAMPLES / "linear_gelu.ucu").read_text()
    assert print_ucu(read(text)) == "target sm_90a\n\n" + text.split("target sm_90a\n\n")[1]


def test_long_lines_are_broken() -> None:
    names = [f"a_rather_long_name_{i}" for i in range(12)]
    parameters = ", ".join(f"{n}: f16[8, 8]" for n in names)
    where = ", ".join(f"M{i} % 8 == 0" for i in range(12))
    sizes = ", ".join(f"M{i}" for i in range(12))
    text = (
        f"kernel k({parameters}, z: f16[{sizes}]) -> f16[8, 8] where {where} {{\n"
        f"  y = {' + '.join(names)}\n  z2 = concat([{', '.join(names)}], 1)\n"
        f"  return concat([y, z2, {', '.join(names)}], 0)\n}}\n"
    )
    printed = print_ucu(read(text))
    assert max(map(len, printed.splitlines())) <= WIDTH
    assert mlir(read(printed)) == mlir(read(text))
    assert print_ucu(read(printed)) == printed


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.ucu")), ids=lambda p: p.stem)
def test_examples_are_a_fixed_point(path: Path) -> None:
    module = read(path.read_text())
    printed = print_ucu(module)
    assert mlir(read(printed)) == mlir(module)
    assert print_ucu(read(printed)) == printed


def test_conditions() -> None:
    text = "kernel k(x: f16[M, N, P]) -> f16[M, N, P] where {} {{\n  return x * 2\n}}\n"
    for where in (
        "M % 8 == 0",
        "M >= 1, N != M",
        "P == M * N + 3",
        "P == M * N / 4",
        "P == (M + N) / 4",
        "4 - M >= 0",
        "0 - M - 4 <= 0",
        "P == M / (N + 1) % 3",
    ):
        printed = print_ucu(read(text.format(where)))
        assert mlir(read(printed)) == mlir(read(text.format(where)))
        assert printed == text.format(where)


def test_values_of_mlir_without_a_name_get_one_when_they_need_it() -> None:
    text = """
    ucutlass.kernel @k(%0: !ucutlass.tensor<[8], f16>) -> (!ucutlass.tensor<[8], f16>) {
      %c = ucutlass.constant <2>
      %1 = ucutlass.relu %0 : (!ucutlass.tensor<[8], f16>) -> !ucutlass.unresolved
      %v0 = ucutlass.mul %1, %1 : (!ucutlass.unresolved, !ucutlass.unresolved) -> !ucutlass.unresolved
      %2 = ucutlass.gelu %v0 : (!ucutlass.unresolved) -> !ucutlass.unresolved
      ucutlass.return %v0 : !ucutlass.unresolved
    }
    """
    assert print_ucu(read(text, "mlir")) == (
        "kernel k(v1: f16[8]) -> f16[8] {\n  c = 2\n  v2 = relu(v1)\n  v0 = v2 * v2\n  v3 = gelu(v0)\n  return v0\n}\n"
    )


def test_names_that_the_language_cannot_have() -> None:
    text = """
    ucutlass.kernel @k(%auto: !ucutlass.tensor<[8], f16>, %a.b: !ucutlass.tensor<[8], f16>, %a_b:
        !ucutlass.tensor<[8], f16>) -> (!ucutlass.tensor<[8], f16>) {
      ucutlass.return %a.b : !ucutlass.tensor<[8], f16>
    }
    """
    printed = print_ucu(read(text, "mlir"))
    assert printed.startswith("kernel k(auto_: f16[8], a_b: f16[8], a_b_1: f16[8]) -> f16[8] {")
    assert print_ucu(read(printed)) == printed


@pytest.mark.parametrize(
    ("types", "operation", "reason"),
    [
        ('["2 * M"]', "", r"a size of a type is a whole number or a name, not '2 \* M'"),
        ('["M"]', '%1 = ucutlass.reshape %0 {shape = #ucutlass.dims<["M % 3"]>}', "a remainder in it"),
    ],
)
def test_what_the_language_cannot_say_is_refused(types: str, operation: str, reason: str) -> None:
    tensor = f"!ucutlass.tensor<{types}, f16>"
    line = f"{operation} : ({tensor}) -> !ucutlass.unresolved" if operation else ""
    text = f"ucutlass.kernel @k(%0: {tensor}) -> ({tensor}) {{\n{line}\nucutlass.return %0 : {tensor}\n}}"
    with pytest.raises(OperationFailure, match=reason) as failure:
        print_ucu(read(text, "mlir"))
    assert failure.value.failure.code == "UC0122"


def test_fused_groups_are_refused() -> None:
    text = """
    ucutlass.kernel @k(%x: !ucutlass.tensor<[8], f16>) -> (!ucutlass.tensor<[8], f16>) {
      %y = ucutlass.fused "elementwise" (%a = %x : !ucutlass.tensor<[8], f16>) -> (!ucutlass.tensor<[8], f16>) {
        ucutlass.yield %a : !ucutlass.tensor<[8], f16>
      }
      ucutlass.return %y : !ucutlass.tensor<[8], f16>
    }
    """
    with pytest.raises(OperationFailure, match=r"the language has no text for ucutlass\.fused"):
        print_ucu(read(text, "mlir"))


def test_printing_changes_nothing() -> None:
    module = read((EXAMPLES / "attention_block.ucu").read_text())
    before = mlir(module)
    print_ucu(module)
    assert mlir(module) == before
    assert len(kernels_of(module)) == 2
