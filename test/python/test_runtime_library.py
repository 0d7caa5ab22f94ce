"""Calling a library, with one that computes on the CPU in place of a GPU: the same C functions, the same checks.

`scaled_sum` computes y = a + s * b^T over real strides and h = 2 * y, so that every size, stride and pointer that the
call hands over decides a result that PyTorch knows.
"""

import contextlib
import shutil
import subprocess
from pathlib import Path

import pytest
import torch

from ucutlass.dims import Dim
from ucutlass.element_types import ELEMENT_TYPES
from ucutlass.runtime.library import CompiledKernel
from ucutlass.runtime.tensors import Description, LaunchError, TensorInfo

DESCRIPTION = """{
  "name": "scaled_sum", "arch": "sm_90a", "content": "0123", "dims": ["M", "N", "P"],
  "where": ["N % 2 == 0", "P == M + 1"],
  "arguments": [
    {"name": "a", "dtype": "f32", "shape": ["M", "N"], "layout": [0, 1]},
    {"name": "b", "dtype": "f32", "shape": ["N", "M"], "layout": [0, 1]},
    {"name": "s", "dtype": "f32", "shape": [], "layout": []}],
  "results": [
    {"name": "y", "dtype": "f32", "shape": ["M", "N"], "layout": [1, 0]},
    {"name": "h", "dtype": "f32", "shape": ["P - 1", "N"], "layout": [0, 1]}],
  "kernels": ["scaled_sum_0123_0"]
}"""

LIBRARY = """
#include <cstdint>
#include <cstddef>
#include <cstdio>
extern "C" {
struct ucutlass_tensor { void* data; int64_t const* sizes; int64_t const* strides; };
static char text[200];
static int fail(int status, char const* what, char const** message) {
  std::snprintf(text, sizeof text, "scaled_sum: %s", what);
  *message = text;
  return status;
}
char const* scaled_sum_describe(void) { return R"json(DESCRIPTION)json"; }
int scaled_sum_workspace_size(ucutlass_tensor const* t, int count, size_t* bytes, char const** message) {
  *bytes = 8 * t[0].sizes[0];
  return 0;
}
int scaled_sum_can_implement(ucutlass_tensor const* t, int count, char const** message) {
  if (t[0].strides[1] != 1) return fail(6, "a has stride 2 in dimension 1", message);
  if (reinterpret_cast<uintptr_t>(t[0].data) % 16) return fail(7, "a is not 16-byte aligned", message);
  return 0;
}
int scaled_sum(ucutlass_tensor const* t, int count, void* workspace, size_t bytes, void* stream, char const** message) {
  if (int status = scaled_sum_can_implement(t, count, message)) return status;
  if (count != 5 || stream != (void*)7) return fail(1, "wrong count or stream", message);
  if (workspace == nullptr || bytes < size_t(8 * t[0].sizes[0])) return fail(2, "no workspace", message);
  auto at = [&](int i, int64_t row, int64_t column) -> float& {
    return static_cast<float*>(t[i].data)[row * t[i].strides[0] + column * t[i].strides[1]];
  };
  float const scale = *static_cast<float*>(t[2].data);
  for (int64_t i = 0; i < t[0].sizes[0]; ++i) {
    for (int64_t j = 0; j < t[0].sizes[1]; ++j) {
      float const y = at(0, i, j) + scale * at(1, j, i);
      at(3, i, j) = y;
      at(4, i, j) = 2 * y;
    }
  }
  return 0;
}
}
"""


class HostDevice:
    """Takes CPU tensors and one stream."""

    type = "cpu"

    def __init__(self) -> None:
        self.guarded: list[int] = []

    def stream(self, index: int) -> int:
        return 7

    def guard(self, index: int) -> contextlib.AbstractContextManager[object]:
        self.guarded.append(index)
        return contextlib.nullcontext()


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("needs g++")
    folder = tmp_path_factory.mktemp("library")
    source, path = folder / "scaled_sum.cpp", folder / "scaled_sum.so"
    source.write_text(LIBRARY.replace("DESCRIPTION", DESCRIPTION))
    subprocess.run([compiler, "-std=c++17", "-shared", "-fPIC", source, "-o", path], check=True)
    return path


@pytest.fixture
def kernel(library: Path) -> CompiledKernel:
    return CompiledKernel(library, "scaled_sum", HostDevice())


def inputs(m: int = 3, n: int = 4) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(m * 100 + n)
    return (
        torch.randn(m, n, generator=generator),
        torch.randn(n, m, generator=generator),
        torch.tensor(0.5),
    )


def expected(a: torch.Tensor, b: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
    return a + s * b.T


def refusal(kernel: CompiledKernel, *tensors: object, out: object = None) -> LaunchError:
    with pytest.raises(LaunchError) as caught:
        kernel(*tensors, out=out)  # pyright: ignore[reportArgumentType]
    return caught.value


def test_results_are_made_in_their_layout(kernel: CompiledKernel) -> None:
    for m, n in ((3, 4), (5, 2), (3, 4)):
        a, b, s = inputs(m, n)
        results = kernel(a, b, s)
        assert isinstance(results, tuple)
        y, h = results
        torch.testing.assert_close(y, expected(a, b, s))
        torch.testing.assert_close(h, 2 * expected(a, b, s))
        assert y.stride() == (1, m) and h.stride() == (n, 1)


def test_real_strides_are_used(kernel: CompiledKernel) -> None:
    """Views into larger buffers, and a result into one whose rest stays as it is."""
    a, b, s = inputs()
    wide_a, wide_b = torch.full((8, 16), 99.0), torch.full((16, 8), 99.0)
    wide_a[2:5, 4:8], wide_b[1:5, 3:6] = a, b
    buffer = torch.full((9, 9), -1.0)
    y, h = buffer[1:4, 2:6], torch.empty(3, 4)
    results = kernel(wide_a[2:5, 4:8], wide_b[1:5, 3:6], s, out=(y, h))
    assert isinstance(results, tuple) and results[0] is y
    torch.testing.assert_close(y, expected(a, b, s))
    torch.testing.assert_close(h, 2 * expected(a, b, s))
    buffer[1:4, 2:6] = -1.0
    assert bool((buffer == -1.0).all())


def test_a_call_may_be_repeated_with_other_memory(kernel: CompiledKernel) -> None:
    for factor in (1.0, -2.0, 3.0):
        a, b, s = (factor * t for t in inputs())
        results = kernel(a, b, s)
        assert isinstance(results, tuple)
        torch.testing.assert_close(results[0], expected(a, b, s))


def test_the_device_is_made_current(library: Path) -> None:
    device = HostDevice()
    CompiledKernel(library, "scaled_sum", device)(*inputs())
    assert device.guarded == [0]


def test_workspace_and_check(kernel: CompiledKernel) -> None:
    assert kernel.workspace_size(*inputs(3, 4)) == 24
    assert kernel.workspace_size(*inputs(5, 2)) == 40
    kernel.check(*inputs())


def test_what_a_kernel_says_about_itself(kernel: CompiledKernel) -> None:
    assert kernel.name == "scaled_sum"
    assert repr(kernel) == (
        "<kernel scaled_sum(a: f32[M, N], b: f32[N, M], s: f32[]) -> f32[M, N], f32[P - 1, N] for sm_90a>"
    )
    assert kernel.description.kernels == ("scaled_sum_0123_0",)


# What is refused -----------------------------------------------------------------------------------------------------


def test_count(kernel: CompiledKernel) -> None:
    a, b, s = inputs()
    error = refusal(kernel, a, b)
    assert error.code == "UC0903" and "takes 3 tensors (a, b, s), got 2" in str(error)
    error = refusal(kernel, a, b, s, out=torch.empty(3, 4))
    assert error.code == "UC0903" and "has 2 results, but out= gives 1" in str(error)


def test_what_is_no_tensor(kernel: CompiledKernel) -> None:
    a, b, _ = inputs()
    error = refusal(kernel, a, b, 0.5)
    assert error.code == "UC0904" and "s is a float, expected a tensor" in str(error)


def test_type(kernel: CompiledKernel) -> None:
    a, b, s = inputs()
    error = refusal(kernel, a.double(), b, s)
    assert error.code == "UC0904" and "a has type torch.float64, expected torch.float32 for f32" in str(error)
    assert refusal(kernel, a, b, s, out=(torch.empty(3, 4).half(), torch.empty(3, 4))).code == "UC0904"


@pytest.mark.parametrize(
    ("a", "b", "problem", "note"),
    [
        ((3, 4), (4, 5), "b of shape [4, 5] has size 5 in dimension 1, expected M = 3", "M = 3 is dimension 0 of a"),
        ((3, 4), (4,), "b of shape [4] has 1 dimensions, expected 2", ""),
    ],
)
def test_shape(kernel: CompiledKernel, a: tuple[int, ...], b: tuple[int, ...], problem: str, note: str) -> None:
    error = refusal(kernel, torch.zeros(a), torch.zeros(b), torch.tensor(1.0))
    assert error.code == "UC0905" and problem in str(error) and note in str(error)


def test_shape_of_a_result(kernel: CompiledKernel) -> None:
    error = refusal(kernel, *inputs(), out=(torch.empty(3, 4), torch.empty(4, 3)))
    assert error.code == "UC0905" and "h of shape [4, 3] has size 4 in dimension 0, expected P - 1 = 3" in str(error)


def test_condition(kernel: CompiledKernel) -> None:
    error = refusal(kernel, *inputs(3, 5))
    assert error.code == "UC0909" and "requires N % 2 == 0, but N = 5" in str(error)


def test_device(kernel: CompiledKernel) -> None:
    a, b, s = inputs()
    error = refusal(kernel, a, b.to("meta"), s)
    assert error.code == "UC0908" and "b is on meta, expected a cpu device" in str(error)


def test_overlap(kernel: CompiledKernel) -> None:
    memory = torch.zeros(64)
    a, h = memory[:12].view(3, 4), torch.empty(3, 4)
    b, s = inputs()[1:]
    error = refusal(kernel, a, b, s, out=(memory[11:23].view(3, 4), h))
    assert error.code == "UC0915" and "the result y overlaps a in memory" in str(error)
    assert "the result h overlaps y" in str(refusal(kernel, a, b, s, out=(h, h)))
    kernel(a, b, s, out=(memory[12:24].view(3, 4), h))


@pytest.mark.parametrize(
    ("code", "status", "text"), [("UC0906", 6, "a has stride 2"), ("UC0907", 7, "a is not 16-byte aligned")]
)
def test_what_the_c_function_refuses(kernel: CompiledKernel, code: str, status: int, text: str) -> None:
    a, b, s = inputs()
    if status == 6:
        a = torch.zeros(3, 8)[:, ::2]
    else:
        a = torch.zeros(13)[1:].view(3, 4)
    error = refusal(kernel, a, b, s)
    assert (error.code, error.status) == (code, status)
    assert str(error).startswith(f"scaled_sum: {text}")
    with pytest.raises(LaunchError, match=text):
        kernel.check(a, b, s)


def test_a_library_that_is_none(library: Path, tmp_path: Path) -> None:
    with pytest.raises(LaunchError, match="cannot be used as other"):
        CompiledKernel(library, "other")
    file = tmp_path / "x.so"
    file.write_text("no library")
    with pytest.raises(LaunchError, match="x.so cannot be used"):
        CompiledKernel(file, "scaled_sum")


# Descriptions --------------------------------------------------------------------------------------------------------


def packed(name: str, shape: tuple[int | str, ...], order: tuple[int, ...]) -> TensorInfo:
    return TensorInfo(name, ELEMENT_TYPES["u4"], tuple(Dim.of(d) for d in shape), order)


def test_four_bit_types_are_stored_two_a_byte(library: Path) -> None:
    """The shape of the storage is halved in the innermost dimension; the C side counts elements."""
    from ucutlass.runtime import library as module

    info = packed("q", ("M", 6), (0, 1))
    logical = module.logical_extents(info, (5, 3), (4, 1))
    assert logical == ((5, 6), (8, 1))
    assert module.storage_extents(info, (5, 6)) == ((5, 3), (3, 1))
    odd = packed("q", (7, 5), (0, 1))
    assert module.logical_extents(odd, (7, 3), (3, 1)) == ((7, 5), (6, 1))
    column = packed("q", (6, "N"), (1, 0))
    assert module.logical_extents(column, (3, 4), (1, 3)) == ((6, 4), (1, 6))
    assert module.storage_extents(column, (6, 4)) == ((3, 4), (1, 3))


def test_description_of_layouts() -> None:
    tensor = TensorInfo.from_json({"name": "x", "dtype": "f16", "shape": [2, 3, 4, 5], "layout": [0, 2, 3, 1]})
    reference = torch.empty(2, 3, 4, 5).to(memory_format=torch.channels_last)
    assert tensor.packed_strides((2, 3, 4, 5)) == reference.stride()
    with pytest.raises(ValueError, match="no order of 2 dimensions"):
        TensorInfo.from_json({"name": "x", "dtype": "f16", "shape": [2, 3], "layout": [0, 0]})


def test_equations_define_what_no_argument_has() -> None:
    description = Description.parse(DESCRIPTION)
    assert description.bind([(3, 4), (4, 3), ()]) == {"M": 3, "N": 4, "P": 4}
