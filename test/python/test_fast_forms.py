"""The fast forms of activations against PyTorch in double precision, compiled for the host.

On the device two approximate instructions stand in for `exp2f` and the division; they are right to 2 ulp, 2^-22.
"""

import subprocess
from array import array
from pathlib import Path

import pytest
import torch
from torch import Tensor

from ucutlass.dialects.ucutlass.cuda_text import render
from ucutlass.dialects.ucutlass.operations import SPECS
from ucutlass.dialects.ucutlass.operations.cuda_functions import prelude
from ucutlass.dialects.ucutlass.spec import FAST_ERROR
from ucutlass.element_types import F32

CASES: list[tuple[str, dict[str, str]]] = [
    ("gelu", {"approximate": "none"}),
    ("gelu", {"approximate": "tanh"}),
    ("silu", {}),
    ("sigmoid", {}),
    ("exp", {}),
]

MAIN = """
int main() {
  float x;
  while (fread(&x, sizeof x, 1, stdin) == 1) {
    float const y = EXPRESSION;
    fwrite(&y, sizeof y, 1, stdout);
  }
}
"""


def evaluate(folder: Path, expression: str, x: Tensor) -> Tensor:
    """The expression on every element, by a program that g++ compiles."""
    source = folder / "fast.cpp"
    includes = "".join(f"#include <{name}>\n" for name in ("cmath", "cstdint", "cstdio", "cstring"))
    header = includes + "#define CUTLASS_HOST_DEVICE inline\n"
    source.write_text(header + prelude([expression]) + MAIN.replace("EXPRESSION", expression))
    program = folder / "fast"
    subprocess.run(["g++", "-O1", "-std=c++17", str(source), "-o", str(program)], check=True)
    values = [float(value) for value in x]
    found = subprocess.run([program], input=array("f", values).tobytes(), capture_output=True, check=True).stdout
    return torch.frombuffer(bytearray(found), dtype=torch.float32)


@pytest.mark.parametrize(("name", "params"), CASES, ids=lambda value: str(value))
def test_the_error_is_hidden_by_a_store_in_16_bits(name: str, params: dict[str, str], tmp_path: Path) -> None:
    spec = SPECS[name]
    expression = render(spec.cuda_expression(params, fast=True), {"x": "x"}, F32)
    grid = torch.linspace(-20, 20, 400_001, dtype=torch.float32)
    x = torch.cat([grid, torch.logspace(-30, 1, 2000), -torch.logspace(-30, 1, 2000)])
    exact: Tensor = spec.torch(torch, x.double(), **params)
    error = (evaluate(tmp_path, expression, x).double() - exact).abs()
    scale = torch.maximum(exact.abs(), x.abs().double() * 2.0**-7) if name != "sigmoid" else exact
    assert float((error / scale).max()) <= FAST_ERROR


@pytest.mark.parametrize(("name", "params"), CASES, ids=lambda value: str(value))
def test_nan_stays_and_infinity_has_its_limit(name: str, params: dict[str, str], tmp_path: Path) -> None:
    spec = SPECS[name]
    expression = render(spec.cuda_expression(params, fast=True), {"x": "x"}, F32)
    y = evaluate(tmp_path, expression, torch.tensor([float("nan"), float("inf")]))
    assert bool(y[0].isnan())
    assert float(y[1]) == (1.0 if name == "sigmoid" else float("inf"))
