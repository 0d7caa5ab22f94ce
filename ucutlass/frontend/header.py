"""What stands before a kernel's body: its name, the types of parameters and results, and the conditions.

Imports the syntax tree, the reports and the dialect's types.
"""

from collections.abc import Iterable
from typing import cast

from ucutlass.dialects.ucutlass.types import TensorType, named_layout
from ucutlass.dims import Condition, Dim, Relation, bound_names
from ucutlass.element_types import F32
from ucutlass.frontend.ast import Kernel, Layout, Name, Number, Size, SizeOperation, TypeNode
from ucutlass.frontend.constants import element_of, layout_of
from ucutlass.frontend.report import Reporter
from ucutlass.frontend.scope import near
from ucutlass.frontend.sizes import SizeReader
from ucutlass.frontend.vocabulary import CPP_KEYWORDS
from ucutlass.records import record

UNKNOWN_TYPE = TensorType.of((), F32)
"""Stands for a type that is in error, so that the rest of the kernel can be looked at."""


@record
class Header:
    """A kernel's header as the dialect has it."""

    parameters: tuple[tuple[str, TensorType], ...]
    results: tuple[TensorType, ...]
    conditions: tuple[Condition, ...]
    dimensions: frozenset[str]
    """Every dimension name that it mentions."""


class HeaderReader:
    """Reads the header of one kernel."""

    def __init__(self, report: Reporter, kernel: Kernel) -> None:
        self.report = report
        self.kernel = kernel
        self.sizes = SizeReader(report, lambda name: Dim.of(name.text))

    def read(self) -> Header:
        """The header; what is wrong with it has been reported."""
        self._check_name()
        parameters: list[tuple[str, TensorType]] = []
        places: dict[str, Name] = {}
        for parameter in self.kernel.parameters:
            name = parameter.name
            if name.text in places:
                notes = [self.report.note("the first", places[name.text])]
                self.report.error("UC0217", name, f"two parameters are called '{name.text}'", notes)
            places.setdefault(name.text, name)
            parameters.append((name.text, self._type(parameter.type)))
        results = tuple(self._type(node) for node in self.kernel.results)
        conditions = tuple(self._conditions())
        self._check_bound([t for _, t in parameters], conditions)
        mentioned = {name for _, type_ in parameters for dim in type_.dims for name in dim.names}
        mentioned |= {name for type_ in results for dim in type_.dims for name in dim.names}
        mentioned |= {name for condition in conditions for name in condition.left.names | condition.right.names}
        return Header(tuple(parameters), results, conditions, frozenset(mentioned))

    def _check_name(self) -> None:
        name = self.kernel.name
        if name.text in CPP_KEYWORDS:
            message = f"a kernel cannot be called '{name.text}', a keyword of C++: its name is a C symbol"
        elif name.text.startswith("__"):
            message = f"a kernel cannot be called '{name.text}': names that begin with '__' belong to the C++ compiler"
        else:
            return
        self.report.error("UC0208", name, message)

    def _type(self, node: TypeNode) -> TensorType:
        element = element_of(self.report, node.element)
        sizes = [self._size(size) for size in node.sizes]
        order = self._order(node.layout, len(sizes)) if node.layout is not None else None
        if element is None or (node.layout is not None and order is None):
            return UNKNOWN_TYPE
        return TensorType.of(sizes, element, order)

    def _size(self, node: Name | Number) -> Dim:
        return Dim.of(node.text) if isinstance(node, Name) else Dim.of(int(node.value))

    def _order(self, layout: Layout, rank: int) -> tuple[int, ...] | None:
        found = layout_of(self.report, layout)
        if isinstance(found, str):
            order = named_layout(found, rank)
            if order is None:
                wanted = "2 dimensions" if found == "col" else "at least 3 dimensions"
                message = f"layout {found} is for {wanted}, but the tensor has {rank}"
                self.report.error("UC0311", layout, message)
            return order
        if found is not None and len(found) != rank:
            text = f"({','.join(map(str, found))})"
            message = f"layout {text} lists {len(found)} dimensions, but the tensor has {rank}"
            self.report.error("UC0311", layout, message)
            return None
        return found

    def _conditions(self) -> Iterable[Condition]:
        for node in self.kernel.conditions:
            left, right = self.sizes.read(node.left), self.sizes.read(node.right)
            if left is not None and right is not None:
                yield Condition(left, cast(Relation, node.relation), right)

    def _check_bound(self, types: list[TensorType], conditions: tuple[Condition, ...]) -> None:
        """Reports names that nothing binds where a bound one is near; `infer` reports the others."""
        bound = bound_names([dim for type_ in types for dim in type_.dims], conditions)
        places: list[Name] = [size for node in self.kernel.results for size in node.sizes if isinstance(size, Name)]
        for node in self.kernel.conditions:
            places += _names(node.left) + _names(node.right)
        for name in places:
            if name.text not in bound and near(name.text, bound):
                message = f"nothing binds dimension '{name.text}'"
                self.report.unknown("UC0313", name, message, sorted(bound))


def _names(size: Size) -> list[Name]:
    """The names in a size, in order."""
    work, names = [size], list[Name]()
    while work:
        node = work.pop()
        if isinstance(node, SizeOperation):
            work += [node.right, node.left]
        elif isinstance(node, Name):
            names.append(node)
    return names
