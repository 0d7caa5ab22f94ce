"""What the tests of the tools put into the tables: a pass with options, one with a bug, and a package of others."""

from dataclasses import dataclass
from typing import Literal

import pytest
from ucutlass_tools import _pipeline
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.ir import Dialect
from xdsl.irdl import IRDLOperation, irdl_op_definition
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


@irdl_op_definition
class MarkOp(IRDLOperation):
    """Marks a place."""

    name = "theirs.mark"
    assembly_format = "attr-dict"


Theirs = Dialect("theirs", [MarkOp])
"""The dialect of another package."""


@dataclass(frozen=True)
class TheirPass(ModulePass):
    """The pass of another package."""

    name = "their-pass"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        op.attributes["seen"] = UnitAttr()


def add_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets pipelines name these."""
    added: dict[str, Entry[type[ModulePass]]] = {
        "tuned": Entry("tuned", "tool_passes:Tuned", "has options"),
        "broken": Entry("broken", "tool_passes:Broken", "has a bug"),
    }
    monkeypatch.setattr(_pipeline, "PASSES", {**PASSES, **added})
