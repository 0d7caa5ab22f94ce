"""The output form `dot`: the dataflow of a program as a graph for Graphviz.

Imports xDSL and the dialect. After `fuse` each device kernel is a box around its operations, and what passes between
the boxes, which is what goes through memory, is drawn bold. Takes the `ucutlass` dialect at any stage before it is
lowered.
"""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.utils.target import Target

from ucutlass.diagnostics.locations import fail
from ucutlass.dialects.ucutlass.attributes import number_text
from ucutlass.dialects.ucutlass.base import UcuOp
from ucutlass.dialects.ucutlass.kernel import ConstantOp, FusedOp, KernelOp, ReturnOp, kernels_of, target_of
from ucutlass.dialects.ucutlass.spec import ParamValue
from ucutlass.dialects.ucutlass.types import TensorType


@dataclass(frozen=True)
class DotTarget(Target):
    """Graphviz's language."""

    name = "dot"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        kernels = kernels_of(module)
        if not kernels:
            raise fail(module, "UC0108", "there is no kernel to draw")
        graph = _Graph()
        with graph.block("digraph program"):
            graph.line('node [shape=box, fontname="monospace"]')
            graph.line('edge [fontname="monospace"]')
            for kernel in kernels:
                _draw_kernel(graph, kernel, target_of(module))
        output.write("\n".join(graph.lines) + "\n")


@dataclass
class _Graph:
    """The text, and which node and which box each value comes from."""

    lines: list[str] = field(default_factory=list[str])
    depth: int = 0
    boxes: int = 0
    nodes: int = 0
    of: dict[SSAValue, tuple[str, int]] = field(default_factory=dict[SSAValue, tuple[str, int]])
    """Node and box of each value."""

    def line(self, text: str) -> None:
        self.lines.append("  " * self.depth + text)

    @contextmanager
    def block(self, head: str) -> Generator[None]:
        self.line(f"{head} {{")
        self.depth += 1
        yield
        self.depth -= 1
        self.line("}")

    @contextmanager
    def box(self, label: str) -> Generator[int]:
        """A box around what is drawn inside; its number."""
        self.boxes += 1
        number = self.boxes
        with self.block(f"subgraph cluster_{number}"):
            self.line(f"label={_quoted(label)}")
            yield number

    def node(self, label: Sequence[str], box: int, values: Sequence[SSAValue] = (), shape: str | None = None) -> str:
        """A node, from which these values come."""
        name = f"n{self.nodes}"
        self.nodes += 1
        style = f", shape={shape}" if shape is not None else ""
        self.line(f"{name} [label={_quoted(*label)}{style}]")
        for value in values:
            self.of[value] = name, box
        return name

    def edge(self, value: SSAValue, node: str, box: int) -> None:
        source, source_box = self.of[value]
        attributes = [f"label={_quoted(value.type.spelling)}"] if isinstance(value.type, TensorType) else []
        if source_box != box:
            attributes.append("style=bold")
        self.line(f"{source} -> {node} [{', '.join(attributes)}]" if attributes else f"{source} -> {node}")


def _draw_kernel(graph: _Graph, kernel: KernelOp, target: str) -> None:
    with graph.box(f"{kernel.sym_name.data} for {target}") as box:
        for index, argument in enumerate(kernel.body.block.args):
            graph.node([argument.name_hint or f"arg{index}"], box, [argument], "ellipse")
        _draw_block(graph, kernel.body.block, box)
        for index, value in enumerate(kernel.return_op.values):
            node = graph.node([f"result {index}"], box, shape="ellipse")
            graph.edge(value, node, box)


def _draw_block(graph: _Graph, block: Block, box: int) -> None:
    for op in block.ops:
        match op:
            case FusedOp():
                _draw_group(graph, op)
            case ConstantOp():
                graph.node([number_text(op.value.data)], box, [op.result], "plaintext")
            case UcuOp():
                node = graph.node(_label(op), box, op.results)
                for operand in op.operands:
                    graph.edge(operand, node, box)
            case _:
                _require_end(op)


def _draw_group(graph: _Graph, group: FusedOp) -> None:
    with graph.box(f"{group.kind.data} kernel") as box:
        for argument, value in zip(group.body.block.args, group.inputs, strict=True):
            graph.of[argument] = graph.of[value]
        _draw_block(graph, group.body.block, box)
        for output, value in zip(group.outputs, group.yielded, strict=True):
            if value.owner is group.body.block:  # stored as it was read
                graph.edge(value, graph.node(["copy"], box, [output]), box)
            else:
                graph.of[output] = graph.of[value]


def _require_end(op: Operation) -> None:
    if op.results and not isinstance(op, ReturnOp):
        raise fail(op, "UC0703", f"the graph has no picture for {op.name}")


def _label(op: UcuOp) -> list[str]:
    """Names of the results, the operation with what is not its default, its setters."""
    names = [result.name_hint for result in op.results if result.name_hint is not None]
    params = [f"{name}={_shown(value)}" for name, value in op.params().items() if name in op.properties]
    text = f"{op.spec.spelling}({', '.join(params)})" if params else op.spec.spelling
    lines = [f"{', '.join(names)} = {text}" if names else text]
    for setter, values in op.setters.data:
        lines.append(f".with_{setter}({', '.join(str(value) for value in values if value is not None)})")
    return lines


def _shown(value: ParamValue) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(str, value))}]" if len(value) != 1 else str(value[0])
    return str(value).lower() if isinstance(value, bool) else str(value)


def _quoted(*lines: str) -> str:
    escaped = (line.replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"' + "\\n".join(escaped) + '"'
