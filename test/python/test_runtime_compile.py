"""Builds with a real nvcc: a small kernel in the shape of emitted code, split and whole."""

import ctypes
import re
from importlib.resources import files
from pathlib import Path

import pytest

from ucutlass.diagnostics.core import DiagnosticError
from ucutlass.runtime.build import BuildRequest, BuiltKernel, build_kernel, build_many
from ucutlass.runtime.cache import Cache
from ucutlass.runtime.commands import device_command, leaner_steps
from ucutlass.runtime.processes import run
from ucutlass.runtime.toolchain import compiler_environment, find_toolchain

pytestmark = pytest.mark.compile

SOURCE = """// content: 00000000000000aa
// kernel 0: twice_00000000000000aa_0

#include <cuda_runtime.h>

#include <atomic>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <initializer_list>

#include "cute/tensor.hpp"
#include "cutlass/cutlass.h"
#include "cutlass/kernel_hardware_info.h"

namespace ucutlass_00000000000000aa {
// ---- kernel 0: y = x + x ----
struct Params {
  float const* x;
  float* y;
  int64_t count;
};
#if defined(__CUDACC__) && (!defined(UCUTLASS_PART) || UCUTLASS_PART == 0)
extern "C" __global__ void __launch_bounds__(256) twice_00000000000000aa_0(__grid_constant__ Params const params) {
  int64_t const i = int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (i < params.count) params.y[i] = params.x[i] + params.x[i];
}
#endif
}  // namespace ucutlass_00000000000000aa

#if !defined(__CUDA_ARCH__) && !defined(UCUTLASS_PART)
extern "C" {
struct ucutlass_tensor {
  void* data;
  int64_t const* sizes;
  int64_t const* strides;
};
#if !defined(__CUDACC__)
extern unsigned char const twice_00000000000000aa_0_image[];
#endif
}
namespace ucutlass_00000000000000aa {
namespace {
LAUNCH_SUPPORT
DeviceKernel& device_kernel_0() {
#if defined(__CUDACC__)
  static DeviceKernel kernel("twice_00000000000000aa_0", (void const*)twice_00000000000000aa_0);
#else
  static DeviceKernel kernel("twice_00000000000000aa_0", twice_00000000000000aa_0_image);
#endif
  return kernel;
}
}  // namespace
}  // namespace ucutlass_00000000000000aa
extern "C" [[gnu::visibility("default")]] int twice(
    ucutlass_tensor const* tensors, int, void*, size_t, void* stream, char const** message) {
  using namespace ucutlass_00000000000000aa;
  Call const call("twice", 9, 0, message);
  if (int status = call.sizes("x", tensors[0], {4})) return status;
  cutlass::KernelHardwareInfo hardware;
  if (int status = call.device(hardware)) return status;
  Params params{static_cast<float const*>(tensors[0].data), static_cast<float*>(tensors[1].data), 4};
  if (int status = device_kernel_0().prepare(call, hardware.device_id, sizeof params, 0)) return status;
  return device_kernel_0().launch(call, &params, dim3(1), dim3(256), dim3(1), 0, static_cast<cudaStream_t>(stream));
}
#endif
"""


def source() -> str:
    support = files("ucutlass.backend").joinpath("support", "launch.inc").read_text(encoding="utf-8")
    return SOURCE.replace("LAUNCH_SUPPORT", support)


class Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("sizes", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
    )


def refusal(path: Path, size: int) -> str:
    """What a library says to a vector of another size."""
    library = ctypes.CDLL(str(path))
    extents = (ctypes.c_int64 * 1)(size)
    tensors = (Tensor * 2)(*[Tensor(0, extents, extents)] * 2)
    message = ctypes.c_char_p()
    status = library.twice(tensors, 2, None, ctypes.c_size_t(0), None, ctypes.byref(message))
    assert status != 0
    return (message.value or b"").decode()


def check(built: BuiltKernel) -> None:
    (kernel,) = built.report.kernels
    assert (kernel.symbol, kernel.arch, kernel.spills) == ("twice_00000000000000aa_0", "sm_90a", False)
    assert 0 < kernel.registers <= 255
    assert built.diagnostics == ()
    assert refusal(built.path, 5) == "twice: x has size 5 in dimension 0, expected 4"
    exported = re.findall(rb"\0(twice\w*)", built.path.read_bytes())
    assert b"twice" in exported


def test_split_and_whole_builds(tmp_path: Path) -> None:
    """A source that does not list its kernels is built by nvcc alone; both libraries do the same."""
    cache = Cache(tmp_path)
    split, whole = build_many(
        [
            BuildRequest(source(), "sm_90a", "twice"),
            BuildRequest(source().replace("// kernel 0:", "// kernel zero:"), "sm_90a", "twice"),
        ],
        cache=cache,
    )
    assert isinstance(split, BuiltKernel) and split.split, split
    assert isinstance(whole, BuiltKernel) and not whole.split, whole
    for built in (split, whole):
        check(built)
    log = split.log.read_text()
    assert log.count("compute_90a") >= 1 and "--gen_device_file_name" not in log


def test_the_leaner_steps_make_the_same_code(tmp_path: Path) -> None:
    """Without its listing, nvcc's front end writes the same cubin."""
    toolchain = find_toolchain()
    (tmp_path / "source.cu").write_text('extern "C" __global__ void k(float* p) { p[threadIdx.x] *= 2.0f; }\n')
    environment = compiler_environment(tmp_path)
    command = device_command(toolchain, "sm_90a", "source.cu", 0, "plain.cubin")
    assert run(command, folder=tmp_path, environment=environment, timeout=600).returncode == 0
    dry = run(
        [command[0], "--dryrun", *command[1:-1], "lean.cubin"], folder=tmp_path, environment=environment, timeout=600
    )
    steps = leaner_steps(dry.output)
    assert steps is not None, dry.output
    assert "--gen_device_file_name" in dry.output and not any("--gen_device_file_name" in s for s in steps.lines)
    for line in steps.lines:
        step = ["/bin/sh", "-c", f"exec {line}"]
        done = run(step, folder=tmp_path, environment={**environment, **steps.variables}, timeout=600)
        assert done.returncode == 0, done.output
    assert (tmp_path / "lean.cubin").read_bytes() == (tmp_path / "plain.cubin").read_bytes()


def test_an_error_names_the_kernel(tmp_path: Path) -> None:
    broken = source().replace("params.x[i] + params.x[i]", "params.x[i] + unknown")
    with pytest.raises(DiagnosticError) as caught:
        build_kernel(broken, arch="sm_90a", name="twice", cache=Cache(tmp_path))
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "UC0805"
    assert 'identifier "unknown" is undefined' in diagnostic.notes[0].message
    assert "kernel 0: y = x + x" in diagnostic.notes[0].message
