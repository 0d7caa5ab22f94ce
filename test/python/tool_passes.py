"""Passes that the tests of the tools put into the table: one with options, one with a bug."""

from dataclasses import dataclass
from typing import Literal

import pytest
from ucutlass_tools import _pipeline
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ucutlass.registry import PASSES, Entry


@dataclass(frozen=True)
class Tuned(ModulePass):
    """A pass with options."""

    name = "tuned"

    tile_m: int = 128
    keep: bool = False
    order: Literal["row", "col"] = "row"
    sizes: tuple[int, ...] = ()
    label: str | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None: ...


@dataclass(frozen=True)
class Broken(ModulePass):
    """A pass with a bug."""

    name = "broken"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        raise AssertionError("two is not three")


def add_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets pipelines name these."""
    added: dict[str, Entry[type[ModulePass]]] = {
        "tuned": Entry("tuned", "tool_passes:Tuned", "has options"),
        "broken": Entry("broken", "tool_passes:Broken", "has a bug"),
    }
    monkeypatch.setattr(_pipeline, "PASSES", {**PASSES, **added})
