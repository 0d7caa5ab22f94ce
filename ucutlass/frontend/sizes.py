"""Sizes: whole numbers, dimension names and the expressions of `where` clauses and parameters.

Imports the syntax tree and the sizes of the dialect. Nothing here recurses on the program.
"""

from collections.abc import Callable

from ucutlass.dims import Dim
from ucutlass.frontend.ast import Infix, Name, Negation, Node, Number, SizeOperation
from ucutlass.frontend.report import Reporter

MOST_OPERATORS = 200
MOST_DIVISIONS = 32
MOST_TERMS = 500

Lookup = Callable[[Name], Dim | None]
"""The size of a name; None where that is unknown, which has then been reported."""

_Operation = SizeOperation | Infix


class SizeReader:
    """Reads the sizes of one kernel."""

    def __init__(self, report: Reporter, lookup: Lookup) -> None:
        self.report = report
        self.lookup = lookup

    def read(self, node: Node) -> Dim | None:
        """The size that a node means; None after reporting what is wrong with it."""
        work: list[Node | tuple[_Operation]] = [node]
        values: list[Dim] = []
        operators = divisions = 0
        while work:
            item = work.pop()
            if isinstance(item, tuple):
                right, left = values.pop(), values.pop()
                result = self._apply(item[0], left, right)
                if result is None:
                    return None
                values.append(result)
            elif isinstance(item, SizeOperation | Infix):
                operators += 1
                divisions += item.operator in ("/", "%")
                if operators > MOST_OPERATORS or divisions > MOST_DIVISIONS:
                    limits = f"{MOST_OPERATORS} operators, {MOST_DIVISIONS} of them divisions"
                    self.report.error("UC0104", node, f"an expression of sizes has at most {limits}")
                    return None
                work += [(item,), item.right, item.left]
            elif (value := self._leaf(item)) is not None:
                values.append(value)
            else:
                return None
        return values.pop()

    def _leaf(self, node: Node) -> Dim | None:
        if isinstance(node, Number) and isinstance(node.value, int):
            return Dim.of(node.value)
        if isinstance(node, Name):
            return self.lookup(node)
        if isinstance(node, Negation) and isinstance(node.operand, Name):
            size = self.lookup(node.operand)
            return size * -1 if size is not None else None
        found = f"the number {node.value}" if isinstance(node, Number) else "something else"
        self.report.error("UC0319", node, f"a size is a whole number or the name of a dimension, found {found}")
        return None

    def _apply(self, node: _Operation, left: Dim, right: Dim) -> Dim | None:
        if len(left.terms) * len(right.terms) > MOST_TERMS or len(left.terms) + len(right.terms) > MOST_TERMS:
            self.report.error("UC0104", node, f"an expression of sizes grows to more than {MOST_TERMS} terms")
            return None
        match node.operator:
            case "+":
                return left + right
            case "-":
                return left - right
            case "*":
                return left * right
            case _:
                if right == Dim.of(0):
                    self.report.error("UC0322", node, f"'{node.operator}' divides by zero")
                    return None
                return left // right if node.operator == "/" else left % right
