"""Correct programs that together use every corner of the language: they verify, keep their text form, and compute.

The values of a few, where the text could be read in a wrong way, are compared with PyTorch.
"""

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from tool_calls import call
from torch import Tensor
from ucutlass_tools import opt, run, translate

FOLDER = Path(__file__).parents[1] / "corpus" / "good"
NAMES = [path.name for path in sorted(FOLDER.glob("*.ucu"))]
PROGRAMS = pytest.mark.parametrize("name", NAMES)

SETTERS = (
    *("compute", "acc", "tile", "cluster", "schedule", "epilogue", "stages", "scheduler", "split_k", "raster"),
    *("alignment", "warps", "instruction", "swap_ab"),
)

DIMENSIONS = {
    "02-keywords-as-names.ucu": ["where=3", "gemm=4", "M=5"],
    "07-dynamic-sizes.ucu": ["N=3", "K=8"],
    "24-dynamic-gemm.ucu": ["M=5", "N=8", "K=16", "A=6", "B=6"],
    "25-block.ucu": ["T=5"],
}


@cache
def mlir(name: str) -> str:
    """The MLIR text of a program."""
    called = call(translate.main, "--to=mlir", str(FOLDER / name))
    assert (called.code, called.err) == (0, "")
    return called.out


def interpret(name: str, *arguments: str) -> str:
    """What the tool says of a program on random inputs."""
    sizes = [f"--dim={size}" for size in DIMENSIONS.get(name, ())]
    called = call(run.main, "--interpret", *sizes, *arguments, str(FOLDER / name))
    assert (called.code, called.err) == (0, "")
    return called.out


@PROGRAMS
def test_verifies_without_a_word(name: str) -> None:
    called = call(opt.main, "-p", "verify", "--diagnostics=json", str(FOLDER / name))
    assert (called.code, called.err.strip()) == (0, "[]")


@PROGRAMS
def test_round_trip_is_a_fixed_point(name: str) -> None:
    printed = call(translate.main, "--to=ucu", "--from=mlir", "-", stdin=mlir(name))
    assert (printed.code, printed.err) == (0, "")
    again = call(translate.main, "--to=mlir", "--from=ucu", "-", stdin=printed.out)
    assert (again.code, again.out) == (0, mlir(name))
    straight = call(translate.main, "--to=ucu", str(FOLDER / name))
    assert straight.out == printed.out


@PROGRAMS
def test_is_interpreted(name: str) -> None:
    kernels = re.findall(r"^kernel\s+(\w+)", (FOLDER / name).read_text(encoding="utf-8"), re.MULTILINE)
    said = interpret(name)
    assert [line.split()[0] for line in said.splitlines() if " interpreted" in line] == kernels


def test_every_operation_and_setter_is_used() -> None:
    listed = call(opt.main, "--list-ops").out
    operations = set(re.findall(r"^  (\w+)\(", listed, re.MULTILINE))
    assert len(operations) > 100
    text = "\n".join((FOLDER / name).read_text(encoding="utf-8") for name in NAMES)
    assert operations - set(re.findall(r"\b(\w+)\s*\(", text)) == set()
    assert set(SETTERS) - set(re.findall(r"\.with_(\w+)\(", text)) == set()


def test_there_are_enough() -> None:
    assert len(NAMES) >= 25


# Values --------------------------------------------------------------------------------------------------------------


def precedence(a: Tensor, b: Tensor) -> list[Tensor]:
    x = ((a - b) - ((a * b) / b) * (-(a.T))) + ((2 / a) / b)
    y = (((a + b) * a) - (b - a)) + (-torch.exp(a))
    z = (torch.clamp(a, min=-1) * (a - (b - a))) / b  # two signs cancel
    return [x, y, z]


def numbers(x: Tensor) -> list[Tensor]:
    a = x * 12 + 0.5 - 1e-5 + 1500.0 / 200.0 + 0.155728638 - 0.70562351
    # Constants are folded in double precision or in f32: either way far below the tolerance.
    b = a + (-7) + 7 + 1e-45 * 3.4028235e38
    padded = torch.full((3, 4), -torch.inf)
    padded[0, 1:] = b[1]  # a row is cut off before, two are added after
    e = padded[0:2, 1:4]  # -3 counts from the end
    return [e + torch.where(x > 0, x, -0.25 * x), torch.full((2, 3), torch.nan), torch.ones(2, 3, dtype=torch.bool)]


def halves(x: Tensor, y: Tensor) -> list[Tensor]:
    low, high = (x + y)[:, :4], (x - y)[:, 4:]
    pairs = torch.stack([low.amax(dim=1), high.amin(dim=1)], dim=1)
    return [low * high, pairs, torch.cat([pairs.flatten(), torch.zeros(1)])]


def movement(x: Tensor, i: Tensor) -> list[Tensor]:
    m = x[0, :, :3]
    lower = torch.tril(m) + torch.tril(m, -1)
    upper = torch.triu(m) - torch.triu(m, 1)
    e = x[:, ::2] + torch.stack([x[:, 0] + x[:, 1], x[:, 2]], dim=1)
    return [
        x.permute(2, 0, 1),
        x.transpose(0, -2).reshape(6, 4),
        x.repeat(1, 2, 1) + torch.cat([x, x.flip(1)], 1),
        x.gather(1, i),
        lower + upper,
        e.flip(0, 2),
    ]


@pytest.mark.parametrize(
    ("name", "inputs", "reference"),
    [
        ("10-precedence.ucu", 2, precedence),
        ("06-numbers.ucu", 1, numbers),
        ("07-dynamic-sizes.ucu", 2, halves),
        ("14-movement.ucu", 2, movement),
    ],
)
def test_values(name: str, inputs: int, reference: Callable[..., list[Tensor]], tmp_path: Path) -> None:
    said = interpret(name, "--save", str(tmp_path))
    saved = [Path(line.split()[1]) for line in said.splitlines() if line.startswith("  saved ")]
    tensors = [torch.tensor(np.load(path)) for path in saved]
    results = tensors[inputs:]
    wanted = reference(*tensors[:inputs])
    assert len(results) == len(wanted)
    for result, want in zip(results, wanted, strict=True):
        torch.testing.assert_close(result, want, rtol=1e-4, atol=1e-4, equal_nan=True)
