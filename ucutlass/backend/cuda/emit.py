"""CUDA C++ from a module of the `cutlass` dialect: one file that stands alone on CUTLASS's headers."""

import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from ucutlass.backend.cuda.device import DevicePrinter
from ucutlass.backend.cuda.host import HostPrinter
from ucutlass.dialects.cutlass.core import KernelTypeOp
from ucutlass.dialects.cutlass.program import device_kernels, programs
from ucutlass.dialects.ucutlass.operations.cuda_functions import prelude

_INCLUDES = """#include <cuda_runtime.h>

#include <atomic>
#include <cassert>
#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <type_traits>
#include <utility>
"""

_EVERY_FILE = ("cutlass/cutlass.h", "cutlass/kernel_hardware_info.h")

_TENSOR = """extern "C" {
struct ucutlass_tensor {
  void* data;
  int64_t const* sizes;
  int64_t const* strides;
};"""


@cache
def _support(name: str) -> str:
    return (Path(__file__).parents[1] / "support" / f"{name}.inc").read_text(encoding="utf-8").rstrip()


def _includes(kernels: Sequence[KernelTypeOp]) -> str:
    wanted = {*_EVERY_FILE, *(header for kernel in kernels for header in kernel.INCLUDES)}
    return "\n".join([_INCLUDES, *(f'#include "{header}"' for header in sorted(wanted))])


def emit_cuda(module: ModuleOp, *, symbol_suffix_hash: bool = False) -> str:
    """The C++ of a module. With `symbol_suffix_hash` the exported names end in the content's hash, so that equal
    names link."""
    from ucutlass import __version__

    devices = [DevicePrinter(kernel, i) for i, kernel in enumerate(device_kernels(module))]
    by_name = {d.kernel.sym_name.data: d for d in devices}
    sections: list[str] = []
    device_lines = [line for d in devices for line in (*d.lines(), "", *d.entry_lines(), "")]
    functions = prelude(device_lines)
    hosts = [
        HostPrinter(p, by_name, p.sym_name.data + ("_@CONTENT@" if symbol_suffix_hash else ""))
        for p in programs(module)
    ]
    target = hosts[0].program.target.data if hosts else ""
    header = [
        f"// {', '.join(h.program.sym_name.data for h in hosts)} for {target}, written by ucutlass {__version__}.",
        "//",
    ]
    header += ["// content: @CONTENT@", *(f"// kernel {d.index}: {d.entry}" for d in devices), "//"]
    for host in hosts:
        header += [f"//   {line}".rstrip() for line in host.program.source.data.splitlines()]
    sections.append("\n".join(header))
    launched = [d.kernel.launched for d in devices]
    sections.append(_includes(launched))
    templates = dict.fromkeys(name for kernel in launched for name in kernel.support_files)
    sections.append(
        "namespace ucutlass_@CONTENT@ {\n\n"
        + "".join(_support(name) + "\n\n" for name in templates)
        + functions
        + "\n".join(device_lines)
        + "\n}  // namespace ucutlass_@CONTENT@"
    )
    images = [f"extern unsigned char const {d.entry}_image[];" for d in devices]
    sections.append(
        "#if !defined(__CUDA_ARCH__) && !defined(UCUTLASS_PART)  // the host side\n\n"
        + _TENSOR
        + "\n#if !defined(__CUDACC__)  // the device side was compiled apart; its cubin is linked in\n"
        + "\n".join(images)
        + "\n#endif\n}"
    )
    body = [_support(name) for name in ("launch", *dict.fromkeys(f"launch_{k.LAUNCHER}" for k in launched))]
    for host in hosts:
        body.append(f'char const kDescription_{host.symbol}[] = R"json({host.describe()})json";')
    body += ["\n".join(_device_kernel(d)) for d in devices]
    body += ["\n".join(host.plan_lines()) for host in hosts]
    sections.append(
        "namespace ucutlass_@CONTENT@ {\nnamespace {\n\n"
        + "\n\n".join(body)
        + "\n\n}  // namespace\n}  // namespace ucutlass_@CONTENT@"
    )
    entries = "\n\n".join("\n".join(host.entry_lines()) for host in hosts)
    sections.append('extern "C" {\n\n' + entries + '\n\n}  // extern "C"\n\n#endif  // host side')
    text = "\n\n".join(sections) + "\n"
    return text.replace("@CONTENT@", hashlib.sha256(text.encode()).hexdigest()[:16])


def _device_kernel(device: DevicePrinter) -> list[str]:
    return [
        f"DeviceKernel& device_{device.namespace}() {{",
        "#if defined(__CUDACC__)",
        f'  static DeviceKernel kernel("{device.entry}", (void const*){device.entry});',
        "#else",
        f'  static DeviceKernel kernel("{device.entry}", {device.entry}_image);',
        "#endif",
        "  return kernel;",
        "}",
    ]
