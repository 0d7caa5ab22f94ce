"""Baselines: the program in PyTorch computes what the program means, in the types and with the flags that it states."""

from typing import Any

import pytest
import torch
from interpreting import inferred, kernel_of
from torch import Tensor
from validating import LINEAR, RIGHT

from ucutlass.dialects.ucutlass.kernel import kernels_of
from ucutlass.interpreter import interpret, random_inputs
from ucutlass.runtime.baseline import baselines, eager_program, eager_source, library_product, precision

NOT_SATURATING = {"fp8 out"}
"""PyTorch's own conversion to fp8."""


@pytest.mark.parametrize("source", [s for n, s in RIGHT.items() if n not in NOT_SATURATING])
def test_eager_computes_the_program(source: str) -> None:
    module = inferred(source)
    kernel = kernels_of(module)[0]
    inputs = random_inputs(kernel, {}, 3)
    wanted = interpret(module, kernel.sym_name.data, inputs, precision="f64")
    for found, reference in zip(eager_program(kernel, {})(*inputs), wanted, strict=True):
        assert found.dtype == reference.dtype and found.shape == reference.shape
        error, size = (
            float(t.square().sum().sqrt()) for t in (found.double() - reference.double(), reference.double())
        )
        # Every operation rounds to the storage type, three times or so in a row.
        assert error <= 4 * torch.finfo(torch.bfloat16).eps * size + 1e-30


def test_eager_is_what_a_user_would_write() -> None:
    """A bias goes into the library's product, the rest is PyTorch's own functions on f16 tensors."""
    kernel = kernel_of(LINEAR)
    source = eager_source(kernel, {})
    assert "torch.addmm(a2, a0, v3)" in source
    assert source.count("\n") == 4
    x, w, b = random_inputs(kernel, {}, 1)
    (found,) = eager_program(kernel, {})(x, w, b)
    assert torch.equal(found, torch.nn.functional.gelu(torch.nn.functional.linear(x, w, b)))


def test_a_bias_of_another_type_is_added_afterwards() -> None:
    kernel = kernel_of(LINEAR.replace("b: f16", "b: f32"))
    assert "addmm" not in eager_source(kernel, {})


def test_the_product_alone() -> None:
    kernel = kernel_of(LINEAR)
    found = library_product(kernel, {})
    assert found is not None and found[0] == "torch.matmul"
    x, w, b = random_inputs(kernel, {}, 1)
    assert torch.equal(found[1](x, w, b)[0], x @ w.T)
    assert library_product(kernel_of(RIGHT["softmax and norms"]), {}) is None
    assert library_product(kernel_of(RIGHT["two products with a rounding between"]), {}) is None


def labels(source: str) -> list[str]:
    return [baseline.label for baseline in baselines(kernel_of(source), {}, compiled=False)]


def test_every_baseline_says_which_flags_are_set() -> None:
    single = "kernel f(x: f32[32, 64], w: f32[64, 48]) -> f32[32, 48] { return gemm(x, w)%s >> relu() }"
    assert labels(single % "") == ["torch.matmul (IEEE f32)", "eager (IEEE f32)", "eager (TF32 allowed)"]
    assert labels(single % ".with_compute(tf32)") == [
        "torch.matmul (TF32 allowed)",
        "eager (IEEE f32)",
        "eager (TF32 allowed)",
    ]
    assert labels(RIGHT["integers"]) == ["torch._int_mm", "eager"]
    assert labels(RIGHT["fp8"]) == ["torch._scaled_mm (exact accumulation)", "eager"]
    half = labels(LINEAR)
    assert half[0].startswith("torch.matmul (allow_fp16_reduced_precision_reduction=")
    assert half[1:] == ["eager"]


def test_flags_are_set_while_a_baseline_runs_and_put_back() -> None:
    before = torch.get_float32_matmul_precision()
    seen: list[str] = []
    with precision(True):
        seen.append(torch.get_float32_matmul_precision())
        with precision(False):
            seen.append(torch.get_float32_matmul_precision())
    assert seen == ["high", "highest"]
    assert torch.get_float32_matmul_precision() == before


def test_dynamic_sizes_reach_the_functions() -> None:
    kernel = kernel_of("kernel f(x: f32[M, 8]) -> f32[P] where P == 8 * M { return reshape(x, P) }")
    (found,) = eager_program(kernel, {"M": 5, "P": 40})(torch.ones(5, 8))
    assert found.shape == (40,)


def test_torch_compile_follows_the_program() -> None:
    """With a backend that only traces: one graph, no break."""
    graphs: list[object] = []

    def backend(graph: torch.fx.GraphModule, example: list[Tensor]) -> object:
        graphs.append(graph)
        return graph.forward

    kernel = kernel_of(LINEAR)
    inputs = random_inputs(kernel, {}, 1)
    options: Any = {"backend": backend, "fullgraph": True}
    compiled = torch.compile(eager_program(kernel, {}), **options)  # pyright: ignore[reportUnknownMemberType]
    assert torch.equal(compiled(*inputs)[0], eager_program(kernel, {})(*inputs)[0])
    assert len(graphs) == 1
