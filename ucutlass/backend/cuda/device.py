"""Prints a device kernel: one namespace with one `using` for each operation, and the kernel's entry."""

from xdsl.ir import SSAValue

from ucutlass.backend.cuda.fragments import render
from ucutlass.backend.cuda.functor import print_functor, print_map_functor
from ucutlass.backend.cuda.names import NameTable, camel_case
from ucutlass.backend.cuda.wrap import wrapped
from ucutlass.dialects.cutlass.core import CppTypeOp
from ucutlass.dialects.cutlass.memory import MapFunctorOp
from ucutlass.dialects.cutlass.program import DeviceKernelOp, EndOp
from ucutlass.dialects.cutlass.visitors import FunctorOp

_RESERVED = frozenset(("Fragment", "Params", "Arguments"))


class DevicePrinter:
    """Prints one device kernel and remembers what its types are called."""

    def __init__(self, kernel: DeviceKernelOp, index: int) -> None:
        self.kernel = kernel
        self.index = index
        self.types: dict[SSAValue, str] = {}

    @property
    def namespace(self) -> str:
        return f"kernel_{self.index}"

    @property
    def entry(self) -> str:
        """The kernel's name in the cubin."""
        return f"{self.kernel.sym_name.data}_@CONTENT@"

    @property
    def kernel_type(self) -> str:
        """The C++ type of the kernel, qualified."""
        end = self.kernel.body.block.last_op
        assert isinstance(end, EndOp)
        return f"{self.namespace}::{self.types[end.kernel]}"

    def lines(self) -> list[str]:
        """The namespace of the kernel's types."""
        names = NameTable(_RESERVED)
        body: list[str] = []
        for op in self.kernel.body.block.ops:
            if isinstance(op, FunctorOp):
                name = names.unique(camel_case(op.result.name_hint or "fn"))
                self.types[op.result] = name
                body.extend(["", *print_functor(name, op), ""])
            elif isinstance(op, MapFunctorOp):
                name = names.unique(camel_case(op.result.name_hint or "fn"))
                self.types[op.result] = name
                body.extend(["", *print_map_functor(name, op), ""])
            elif isinstance(op, CppTypeOp):
                name = names.unique(camel_case(op.result.name_hint or "type"))
                self.types[op.result] = name
                body.extend(wrapped(f"using {name} = {self._spelling(op)};"))
        return [
            f"// ---- {self.kernel.comment.data} ".ljust(120, "-"),
            "",
            f"namespace {self.namespace} {{",
            "",
            *body,
            "",
            f"}}  // namespace {self.namespace}",
        ]

    def _spelling(self, op: CppTypeOp) -> str:
        arguments = ", ".join(render(a, self.types, {}) for a in op.template_arguments())
        return f"{op.template}{'<' + arguments + '>' if arguments else ''}{op.MEMBER}"

    def entry_lines(self) -> list[str]:
        """The `__global__` function."""
        kernel = self.kernel_type
        return [
            f"#if defined(__CUDACC__) && (!defined(UCUTLASS_PART) || UCUTLASS_PART == {self.index})",
            f'extern "C" __global__ void __launch_bounds__({kernel}::MaxThreadsPerBlock,'
            f" {kernel}::MinBlocksPerMultiprocessor)",
            f"{self.entry}(__grid_constant__ {kernel}::Params const params) {{",
            "  extern __shared__ char shared[];",
            f"  {kernel}{{}}(params, shared);",
            "}",
            "#endif",
        ]
