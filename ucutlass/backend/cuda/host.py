"""Prints the host side of a program: its checks, its launches and the C functions that it exports."""

import json

from xdsl.dialects.builtin import ArrayAttr, UnitAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.hints import isa

from ucutlass.backend.cuda.device import DevicePrinter
from ucutlass.backend.cuda.fragments import render, size
from ucutlass.backend.cuda.names import NameTable
from ucutlass.backend.cuda.wrap import wrapped
from ucutlass.dialects.cutlass.core import Check, CppTypeOp
from ucutlass.dialects.cutlass.program import LaunchOp, ProgramOp
from ucutlass.dialects.ucutlass.types import DimsAttr, TensorType
from ucutlass.dims import Dim
from ucutlass.records import record


@record
class _Tensor:
    """A tensor of the host function: its C++ name, its name in the program and its type."""

    cpp: str
    name: str
    type: TensorType


class HostPrinter:
    """Prints one program."""

    def __init__(self, program: ProgramOp, devices: dict[str, DevicePrinter], symbol: str) -> None:
        self.program = program
        self.devices = devices
        self.symbol = symbol
        names = NameTable()
        self.tensors: dict[SSAValue, _Tensor] = {}
        for argument in program.body.block.args:
            self._add_tensor(names, argument, argument.name_hint or "tensor", "arg")
        self.arguments = list(self.tensors.values())
        for value, name in zip(program.return_op.values, program.result_names, strict=True):
            self._add_tensor(names, value, name.data, "result")
        self.results = [self.tensors[value] for value in program.return_op.values]
        self.intermediates: list[tuple[_Tensor, Dim]] = []
        for launch in program.launches:
            placement = launch.attributes["placement"]
            assert isa(placement, ArrayAttr[Attribute])
            for value, place in zip(launch.outputs, placement, strict=True):
                if not isinstance(place, UnitAttr):
                    assert isinstance(place, DimsAttr)
                    self._add_tensor(names, value, value.name_hint or "value", "temp")
                    self.intermediates.append((self.tensors[value], place.data[0]))

    def _add_tensor(self, names: NameTable, value: SSAValue, name: str, role: str) -> None:
        assert isinstance(value.type, TensorType)
        if value not in self.tensors:
            self.tensors[value] = _Tensor(names.unique(f"{role}_{name}"), name, value.type)

    # The description

    def describe(self) -> str:
        """The program as JSON: what its caller must know."""

        def tensor(t: _Tensor) -> dict[str, object]:
            shape = [d.value if d.is_static else str(d) for d in t.type.dims]
            return {"name": t.name, "dtype": t.type.element.name, "shape": shape, "layout": list(t.type.order)}

        return json.dumps(
            {
                "name": self.program.sym_name.data,
                "arch": self.program.target.data,
                "content": "@CONTENT@",
                "dims": sorted({n for t in self.arguments for d in t.type.dims for n in d.names}),
                "where": [str(c) for c in self.program.where.data],
                "arguments": [tensor(t) for t in self.arguments],
                "results": [tensor(t) for t in self.results],
                "kernels": [self._device(launch).entry for launch in self.program.launches],
            },
            indent=2,
        )

    def _device(self, launch: LaunchOp) -> DevicePrinter:
        return self.devices[launch.callee.string_value()]

    # The plan

    def plan_lines(self) -> list[str]:
        """The checked call: what each kernel is launched with."""
        launches = self.program.launches
        fields = [f"  {self._device(n).kernel_type}::Arguments arguments_{i};" for i, n in enumerate(launches)]
        body = [*self._bindings(), *self._size_checks()]
        for launch in launches:
            body.extend(self._launch_checks(launch))
        body.extend(self._empty())
        body.append("if (int status = call.device(hardware)) return status;")
        body.extend(self._intermediates())
        for i, launch in enumerate(launches):
            body.extend(self._arguments(i, launch))
        body.append("return kOk;")
        return [
            "/// A checked call: what each kernel is launched with.",
            f"struct Plan_{self.symbol} {{",
            "  bool empty = false;",
            "  size_t workspace_bytes = 0;",
            "  cutlass::KernelHardwareInfo hardware;",
            *fields,
            *(f"  size_t workspace_{i} = 0;" for i in range(len(launches))),
            *(f"  char* zeros_{i} = nullptr;\n  size_t zeros_bytes_{i} = 0;" for i in range(len(launches))),
            "",
            "  int make(Call const& call, ucutlass_tensor const* tensors, int count, char* workspace) {",
            *(part for line in body for part in (wrapped(f"    {line}") if line else [""])),
            "  }",
            "};",
        ]

    def _bindings(self) -> list[str]:
        every = [*self.arguments, *self.results]
        names = ", ".join(t.name for t in self.arguments)
        plural = "result" if len(self.results) == 1 else "results"
        listed = f"{names} and the {plural} {', '.join(t.name for t in self.results)}"
        lines = [
            f"if (count != {len(every)}) {{",
            f'  return call.fail(kInvalidArgument, "expected {len(every)} tensors ({listed}), got %d", count);',
            "}",
            *(f"ucutlass_tensor const& {t.cpp} = tensors[{i}];" for i, t in enumerate(every)),
            "",
        ]
        bound: set[str] = set()
        for tensor in self.arguments:
            for i, dim in enumerate(tensor.type.dims):
                name = str(dim)
                if name.isidentifier() and name not in bound:
                    bound.add(name)
                    lines.append(f"int64_t const dim_{name} = {tensor.cpp}.sizes[{i}];")
        for condition in self.program.where.data:
            name = str(condition.left)
            if condition.relation == "==" and name.isidentifier() and name not in bound:
                bound.add(name)
                lines.append(f"int64_t const dim_{name} = {size(condition.right)};")
                continue
            holds = f"{size(condition.left)} {condition.relation} {size(condition.right)}"
            lines.append(f'if (int status = call.guarantee("{condition}", {holds})) return status;')
        return lines

    def _size_checks(self) -> list[str]:
        lines: list[str] = []
        for tensor in (*self.arguments, *self.results):
            sizes = ", ".join(size(dim) for dim in tensor.type.dims)
            if sizes:
                lines.append(f'if (int status = call.sizes("{tensor.name}", {tensor.cpp}, {{{sizes}}})) return status;')
        return lines

    def _launch_tensors(self, launch: LaunchOp) -> dict[SSAValue, SSAValue]:
        """The device kernel's arguments to the program's tensors."""
        kernel = launch.kernel()
        return dict(zip((*kernel.inputs, *kernel.outputs), (*launch.inputs, *launch.outputs), strict=True))

    def _launch_checks(self, launch: LaunchOp) -> list[str]:
        """What each access of a launch needs of the tensors that the caller gave."""
        given = {id(t) for t in (*self.arguments, *self.results)}
        tensors = self._launch_tensors(launch)
        lines: dict[str, None] = {}
        for op in launch.kernel().body.block.ops:
            for check in op.checks() if isinstance(op, CppTypeOp) else ():
                tensor = self.tensors[tensors[check.tensor]]
                if id(tensor) in given:
                    lines[self._check(tensor, check)] = None
        return list(lines)

    def _check(self, tensor: _Tensor, check: Check) -> str:
        bits, method, extra = tensor.type.element.bits, check.method, check.extra
        if not tensor.type.rank:
            bits, method, extra = (bits + 7) // 8, "pointer", ()
        listed = ", ".join((str(bits), *extra))
        return f'if (int status = call.{method}("{tensor.name}", {tensor.cpp}, {listed})) return status;'

    def _empty(self) -> list[str]:
        """A program all of whose results are empty launches nothing."""
        tests = [" || ".join(f"{t.cpp}.sizes[{i}] == 0" for i in range(t.type.rank)) for t in self.results]
        if not all(tests):
            return []
        condition = " && ".join(f"({test})" if len(tests) > 1 else test for test in tests)
        return [f"empty = {condition};", "if (empty) return kOk;"]

    def _intermediates(self) -> list[str]:
        lines: list[str] = []
        for tensor, offset in self.intermediates:
            dims = tensor.type.dims
            packed: dict[int, Dim] = {}
            step = Dim.of(1)
            for place, i in enumerate(reversed(tensor.type.order)):
                packed[i] = step
                # Rows of 4-bit elements start on a byte each.
                is_row = tensor.type.element.bits < 8 and place == 0
                step = step * ((dims[i] + 1) // 2 * 2 if is_row else dims[i])
            sizes = ", ".join(size(d) for d in dims)
            strides = ", ".join(size(packed[i]) for i in range(len(dims)))
            lines.append(f"int64_t const {tensor.cpp}_sizes[] = {{{sizes}}};")
            lines.append(f"int64_t const {tensor.cpp}_strides[] = {{{strides}}};")
            members = f"workspace + ({size(offset)}), {tensor.cpp}_sizes, {tensor.cpp}_strides"
            lines.append(f"ucutlass_tensor const {tensor.cpp} = {{{members}}};")
        if self.intermediates:
            total = self.program.attributes["workspace"]
            assert isinstance(total, DimsAttr)
            lines.append(f"workspace_bytes = {size(total.data[0])};")
        return lines

    def _arguments(self, index: int, launch: LaunchOp) -> list[str]:
        device = self._device(launch)
        cpp = {arg: self.tensors[value].cpp for arg, value in self._launch_tensors(launch).items()}
        name, launched = f"arguments_{index}", device.kernel.launched
        return [
            "",
            *launched.host_lines(name, index, lambda fragment: render(fragment, device.types, cpp)),
            f"workspace_{index} = workspace_bytes;",
            f"workspace_bytes += ({device.kernel_type}::get_workspace_size({name}) + 255) / 256 * 256;",
            f"if (int status = prepare_{launched.LAUNCHER}<{device.kernel_type}>(call, device_{device.namespace}(), "
            f'"{device.namespace}", {name})) return status;',
        ]

    def _launch_lines(self, index: int, launch: LaunchOp) -> list[str]:
        device, stream = self._device(launch), "static_cast<cudaStream_t>(stream)"
        workspace = f"static_cast<char*>(workspace) + plan.workspace_{index}"
        arguments = (
            f'call, device_{device.namespace}(), "{device.namespace}", plan.arguments_{index}, {workspace}, {stream}'
        )
        function = f"launch_{device.kernel.launched.LAUNCHER}<{device.kernel_type}>"
        return [
            f"if (int status = call.zero(plan.zeros_{index}, plan.zeros_bytes_{index}, {stream})) return status;",
            f"if (int status = {function}({arguments})) return status;",
        ]

    # The exported functions

    def entry_lines(self) -> list[str]:
        """The C functions."""
        capability = self.program.target.data.removeprefix("sm_").rstrip("a")
        major, minor = capability[:-1], capability[-1]
        launches = [line for i, launch in enumerate(self.program.launches) for line in self._launch_lines(i, launch)]
        start = [
            "  using namespace ucutlass_@CONTENT@;",
            f'  Call const call("{self.program.sym_name.data}", {major}, {minor}, message);',
            f"  Plan_{self.symbol} plan;",
        ]
        visible = '[[gnu::visibility("default")]]'
        tensors = "ucutlass_tensor const* tensors, int count"
        return [
            f"{visible} char const* {self.symbol}_describe(void) {{",
            f"  return ucutlass_@CONTENT@::kDescription_{self.symbol};",
            "}",
            "",
            f"{visible} int {self.symbol}_can_implement({tensors}, char const** message) {{",
            *start,
            "  return plan.make(call, tensors, count, nullptr);",
            "}",
            "",
            f"{visible} int {self.symbol}_workspace_size({tensors}, size_t* bytes, char const** message) {{",
            *start,
            "  int const status = plan.make(call, tensors, count, nullptr);",
            "  *bytes = plan.workspace_bytes;",
            "  return status;",
            "}",
            "",
            f"{visible} int {self.symbol}(",
            f"    {tensors}, void* workspace, size_t workspace_bytes, void* stream, char const** message) {{",
            *start,
            "  if (int status = plan.make(call, tensors, count, static_cast<char*>(workspace))) return status;",
            "  if (plan.empty) return kOk;",
            "  if (int status = call.workspace(workspace, workspace_bytes, plan.workspace_bytes)) return status;",
            *(part for line in launches for part in wrapped(f"  {line}")),
            "  return kOk;",
            "}",
        ]
