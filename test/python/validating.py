"""Programs whose right kernels must pass validation, and kernels played by the interpreter."""

from collections.abc import Sequence
from typing import cast

from torch import Tensor
from xdsl.dialects.builtin import ModuleOp

from ucutlass.dialects.ucutlass.kernel import KernelOp
from ucutlass.interpreter import interpret
from ucutlass.runtime.validate import Runner

LINEAR = """
kernel linear(x: f16[40, 96], w: f16[56, 96], b: f16[56]) -> f16[40, 56] {
  y = gemm(x, w.T) >> bias(b) >> gelu()
  return y
}
"""


def honest(kernel: KernelOp) -> Runner:
    """A kernel that does what the program says, in single precision."""
    module = cast(ModuleOp, kernel.parent_op())
    name = kernel.sym_name.data

    def run(inputs: Sequence[Tensor], results: Sequence[Tensor]) -> None:
        for result, value in zip(results, interpret(module, name, inputs), strict=True):
            result.copy_(value)

    return run


RIGHT = {
    "linear": LINEAR,
    "bf16 and two results": """
kernel f(x: bf16[33, 128], w: bf16[24, 128], r: bf16[33, 24]) -> bf16[33, 24], f32[33, 24] {
  y = gemm(x, w.T) >> residual(r, beta=0.5)
  return silu(y), y
}""",
    "tf32 of f32": """
kernel f(x: f32[32, 64], w: f32[64, 48]) -> f32[32, 48] { return gemm(x, w).with_compute(tf32) }""",
    "three products": """
kernel f(x: f32[32, 64], w: f32[64, 48]) -> f32[32, 48] { return gemm(x, w).with_compute(tf32x3) >> relu() }""",
    "fp8": """
kernel f(x: e4m3[32, 64], w: e4m3[48, 64], s: f32[32, 1]) -> f16[32, 48] { return gemm(x, w.T) >> scale(s) }""",
    "fp8 out": """
kernel f(x: f16[32, 64], w: f16[48, 64]) -> e4m3[32, 48] { return gemm(x, w.T) >> cast(e4m3) }""",
    "integers": """
kernel f(x: s8[32, 64], w: s8[48, 64]) -> s32[32, 48] { return gemm(x, w.T) }""",
    "two products with a rounding between": """
kernel f(x: f16[32, 64], w: f16[64, 64], v: f16[64, 16]) -> f16[32, 16] { return gemm(gemm(x, w) >> relu(), v) }""",
    "softmax and norms": """
kernel f(x: f16[32, 64], w: f16[64], b: f16[64]) -> f16[32, 64], f32[32] {
  return softmax(layer_norm(x, [64], w, b), 1), sum(x, dim=1)
}""",
    "attention": """
kernel f(q: f16[1, 2, 24, 16], k: f16[1, 2, 24, 16], v: f16[1, 2, 24, 16]) -> f16[1, 2, 24, 16] {
  return attention(q, k, v, causal=true)
}""",
    "convolution": """
kernel f(x: f16[2, 8, 9, 9]@channels_last, w: f16[16, 8, 3, 3]@channels_last, b: f16[16])
    -> f16[2, 16, 9, 9]@channels_last {
  return conv2d(x, w, padding=1) >> bias(b) >> relu()
}""",
    "reductions and indices": """
kernel f(x: f32[16, 40]) -> s64[16], f32[16], f32[16, 40], f32[16] {
  return argmax(x, dim=1), max(x, dim=1), cumsum(x, 1), var(x, dim=1)
}""",
    "comparisons": """
kernel f(x: f16[16, 40], w: f16[40, 8]) -> bool[16, 8], f16[16, 8] {
  y = gemm(x, w)
  return gt(y, 0), where(gt(y, 1), y * 2, exp(y) / 3)
}""",
    "data movement": """
kernel f(x: f16[16, 40]) -> f16[40, 16], f16[16, 20] { return transpose(x, 0, 1), slice(x, 1, 0, 20) }""",
}
