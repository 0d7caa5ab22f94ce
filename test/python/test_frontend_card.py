"""The language card is complete, short, and right."""

import re

import pytest
from frontend_reading import context

from ucutlass.dialects.ucutlass.attributes import SETTERS
from ucutlass.dialects.ucutlass.kernel import kernels_of
from ucutlass.dialects.ucutlass.operations import SPECS
from ucutlass.element_types import ELEMENT_TYPES
from ucutlass.frontend import read_program
from ucutlass.frontend.language_card import LIMIT, language_card
from ucutlass.passes.infer import InferPass
from ucutlass.targets.arch import ARCHITECTURES


def section(title: str) -> str:
    """The text under a heading of the card."""
    (found,) = re.findall(rf"^## {title}\n(.*?)(?=^## |\Z)", language_card(), re.DOTALL | re.MULTILINE)
    return found


def test_length() -> None:
    assert LIMIT <= 6000
    assert len(language_card()) <= LIMIT


@pytest.mark.parametrize("name", sorted({s.spelling for s in SPECS.values()}))
def test_every_operation(name: str) -> None:
    where = language_card() if name.startswith(".") else section("Operations")
    assert re.search(rf"(?<![A-Za-z0-9_]){re.escape(name.lstrip('.'))}(?![A-Za-z0-9_])", where)


def test_every_parameter() -> None:
    text = section("Operations")
    for spec in SPECS.values():
        for param in spec.params:
            assert param.name in text
            assert all(word in text for word in param.words)


@pytest.mark.parametrize("row", SETTERS.values(), ids=lambda row: row.name)
def test_every_setter_with_its_values(row: object) -> None:
    from ucutlass.dialects.ucutlass.attributes import Setter

    assert isinstance(row, Setter)
    (line,) = [line for line in section("Setters").splitlines() if line.startswith(f"- `.{row.spelling}(")]
    for argument in row.arguments:
        for word in argument.words:
            assert word.removesuffix("_fp8_fast") in line
        assert all(str(value) in line for value in argument.values)
        assert argument.words or argument.values or argument.name in line
    assert "_fp8_fast" in section("Setters")


def test_types_and_targets() -> None:
    text = language_card()
    assert all(re.search(rf"\b{name}\b", text) for name in (*ELEMENT_TYPES, *ARCHITECTURES))
    assert all(layout in text for layout in ("@row", "@col", "@channels_last"))


def test_the_examples_are_programs() -> None:
    ctx = context()
    module = read_program(ctx, section("Examples"), "card.ucu")
    InferPass().apply(ctx, module)
    assert len(kernels_of(module)) >= 3
