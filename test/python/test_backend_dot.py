"""The graph of a program, read by pydot."""

from typing import TYPE_CHECKING

import pytest
from tool_calls import call
from ucutlass_tools import opt, translate

if TYPE_CHECKING:
    import pydot

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # pydot's use of its parser

PROGRAM = """kernel f(x: f16[M, 64], w: f16[32, 64], b: f32[32]) -> f16[M, 32], f32[M] {
  y = gemm(x, w.T).with_stages(4) >> bias(b) >> relu()
  return y, sum(y * 2, dim=1)
}
"""


def text_of(attribute: object) -> str:
    return str(attribute).strip('"')


def graph_of(text: str) -> "pydot.Graph":
    import pydot

    graphs = pydot.graph_from_dot_data(text)
    assert graphs is not None
    (graph,) = graphs
    return graph


def boxes(graph: "pydot.Graph") -> "dict[str, pydot.Subgraph]":
    """Every box by its label."""
    found: dict[str, pydot.Subgraph] = {}
    for box in graph.get_subgraph_list():
        found[text_of(box.get("label"))] = box
        found |= boxes(box)
    return found


def labels(box: "pydot.Graph") -> list[str]:
    """Labels of the nodes that stand directly in a box."""
    nodes = [node for node in box.get_node_list() if node.get("label") is not None]
    return [text_of(node.get("label")) for node in nodes]


def places(graph: "pydot.Graph") -> dict[str, tuple[str, str]]:
    """Label of every node, and of the box that it stands in, by the node's name."""
    return {
        node.get_name(): (text_of(node.get("label")), label)
        for label, box in boxes(graph).items()
        for node in box.get_node_list()
    }


def edges(graph: "pydot.Graph") -> list[tuple[str, str, str, bool]]:
    """Names of both ends of every edge, its label, and whether it is bold."""
    return [
        (
            str(edge.get_source()),
            str(edge.get_destination()),
            text_of(edge.get("label") or ""),
            edge.get("style") == "bold",
        )
        for box in [graph, *boxes(graph).values()]
        for edge in box.get_edge_list()
    ]


def test_the_dataflow_before_any_pass() -> None:
    graph = graph_of(call(opt.main, "-t", "dot", stdin=PROGRAM).out)
    found = boxes(graph)
    assert list(found) == ["f for sm_90a"]
    nodes = labels(found["f for sm_90a"])
    assert nodes[:3] == ["x", "w", "b"]
    assert r"gemm\n.with_stages(4)" in nodes
    assert {"y = relu", "sum(dim=1)", "2", "result 0", "result 1"} <= set(nodes)
    names = places(graph)
    drawn = [(names[source][0], names[target][0], label, bold) for source, target, label, bold in edges(graph)]
    assert ("2", "mul", "", False) in drawn
    assert ("x", r"gemm\n.with_stages(4)", "f16[M, 64]", False) in drawn
    assert len(drawn) == 2 + 1 + 2 + 1 + 2 + 1 + 2, "gemm, .T, bias, relu, mul, sum, results"


def test_what_goes_through_memory_is_bold() -> None:
    called = call(translate.main, "--to=dot", stdin=PROGRAM)
    assert called.code == 0, called.err
    graph = graph_of(called.out)
    kernels = [label for label in boxes(graph) if label.endswith("kernel")]
    assert kernels[0] == "gemm kernel"
    assert len(kernels) > 1
    names = places(graph)
    for source, target, _, bold in edges(graph):
        assert bold == (names[source][1] != names[target][1]), (names[source], names[target])
    inside = {label for label, box in names.values() if box == "gemm kernel"}
    assert {"bias", "y = relu"} < inside


def test_a_kernel_that_only_copies() -> None:
    graph = graph_of(call(translate.main, "--to=dot", stdin="kernel f(x: f16[8]) -> f16[8] { return x }").out)
    assert labels(boxes(graph)["copy kernel"]) == ["copy"]


@pytest.mark.parametrize("name", ['a"b', "a\\b"])
def test_odd_names_are_escaped(name: str) -> None:
    text = f"""ucutlass.kernel @"{name.replace(chr(92), chr(92) * 2).replace('"', chr(92) + '"')}"(
      %x: !ucutlass.tensor<[8], f16>) -> (!ucutlass.tensor<[8], f16>) {{
      ucutlass.return %x : !ucutlass.tensor<[8], f16>
    }}"""
    called = call(opt.main, "-t", "dot", "-f", "mlir", stdin=text)
    assert called.code == 0, called.err
    (label,) = boxes(graph_of(called.out))
    assert label.replace("\\\\", "\\").replace('\\"', '"') == f"{name} for sm_90a"


def test_what_has_no_picture_is_refused() -> None:
    empty = call(translate.main, "--to=dot", stdin="builtin.module {}")
    assert (empty.code, "[UC0108]" in empty.err) == (1, True)
