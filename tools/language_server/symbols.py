"""The outline of a text: its kernels, with their arguments and the values that their statements name.

Imports the analysis and the syntax tree.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from ucutlass_tools.language_server.analysis import Analysis

from ucutlass.frontend.ast import Kernel


@dataclass(frozen=True)
class Symbol:
    """One entry of the outline."""

    name: str
    detail: str
    start: int
    end: int
    name_range: tuple[int, int]
    inner: "list[Symbol] | None" = None
    """None for what can have nothing inside."""


def symbols(analysis: Analysis) -> list[Symbol]:
    """The kernels of a text."""
    program = analysis.program
    if program is None:
        return []
    return [
        Symbol(
            kernel.name.text,
            ", ".join(_text(analysis, type_.start, type_.end) for type_ in kernel.results),
            kernel.start,
            kernel.end,
            kernel.name.inner,
            list(_values(analysis, kernel)),
        )
        for kernel in program.kernels
        if kernel.name.text
    ]


def _values(analysis: Analysis, kernel: Kernel) -> Iterator[Symbol]:
    for parameter in kernel.parameters:
        type_ = _text(analysis, parameter.type.start, parameter.type.end)
        yield Symbol(parameter.name.text, type_, parameter.start, parameter.end, parameter.name.inner)
    for statement in kernel.statements:
        for target in statement.targets:
            types = ", ".join(type_.spelling for type_ in analysis.value_types(kernel, target.text))
            yield Symbol(target.text, types, statement.start, statement.end, target.inner)


def _text(analysis: Analysis, start: int, end: int) -> str:
    return " ".join(analysis.source.text[start:end].split())
