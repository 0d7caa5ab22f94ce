"""Broken programs, written from the description of the language alone: each has its codes, places and mended text.

`corpus/broken/expectations.json` holds for every program the diagnostics, in the order of the text, and the lines of
the program once all fix-its are applied; null where none is offered, because a person has to choose.
"""

import json
from pathlib import Path
from typing import TypedDict, cast

import pytest
from tool_calls import call
from ucutlass_tools import opt

FOLDER = Path(__file__).parents[1] / "corpus" / "broken"


class Place(TypedDict):
    """What the tool must say: the culprit goes from `column` up to, without, `end_column`, both counted from 1."""

    code: str
    line: int
    column: int
    end_column: int


class Expectation(TypedDict):
    """What a person expects of the tool for one program."""

    diagnostics: list[Place]
    fixed: list[str] | None


class Told(Place):
    """What the tool says, in the fields that are compared."""

    start: int
    end: int
    fixits: list[dict[str, object]]


EXPECTED = cast(dict[str, Expectation], json.loads((FOLDER / "expectations.json").read_text(encoding="utf-8")))
PROGRAMS = pytest.mark.parametrize("name", EXPECTED)


def told(path: Path) -> list[Told]:
    """The diagnostics of the cheap check, which must refuse the program and print nothing else."""
    called = call(opt.main, "-p", "verify", "--diagnostics=json", str(path))
    assert (called.code, called.out) == (1, "")
    return cast(list[Told], json.loads(called.err))


def test_every_program_has_expectations_and_there_are_enough() -> None:
    assert sorted(EXPECTED) == sorted(path.name for path in FOLDER.glob("*.ucu"))
    assert len(EXPECTED) >= 40
    assert sum(expectation["fixed"] is not None for expectation in EXPECTED.values()) >= 20


@PROGRAMS
def test_codes_and_places(name: str) -> None:
    source = (FOLDER / name).read_text(encoding="utf-8")
    found = told(FOLDER / name)
    places = [Place(code=d["code"], line=d["line"], column=d["column"], end_column=d["end_column"]) for d in found]
    assert places == EXPECTED[name]["diagnostics"]
    for diagnostic in found:
        before = source[: diagnostic["start"]]
        assert before.count("\n") + 1 == diagnostic["line"]
        assert len(before) - before.rfind("\n") == diagnostic["column"]
        assert diagnostic["end"] - diagnostic["start"] == diagnostic["end_column"] - diagnostic["column"]


@PROGRAMS
def test_fixits_mend_the_program_or_there_are_none(name: str, tmp_path: Path) -> None:
    fixed = EXPECTED[name]["fixed"]
    if fixed is None:
        assert not any(diagnostic["fixits"] for diagnostic in told(FOLDER / name))
        return
    path = tmp_path / name
    path.write_bytes((FOLDER / name).read_bytes())
    applied = call(opt.main, "-p", "verify", "--apply-fixits", str(path))
    assert path.read_text(encoding="utf-8").splitlines() == fixed
    assert applied.code == 0, applied.err
    checked = call(opt.main, "-p", "verify", str(path))
    assert (checked.code, checked.err) == (0, "")
