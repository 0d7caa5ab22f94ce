"""Records behave as frozen dataclasses do."""

import inspect
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, replace
from functools import cached_property
from typing import cast

import pytest

from ucutlass.records import record


@record
class Point:
    """A place."""

    x: int
    y: int = 0
    tags: list[str] = field(default_factory=list[str], compare=False)
    note: str = field(default="", repr=False)

    @cached_property
    def far(self) -> int:
        return self.x + self.y


@dataclass(frozen=True)
class Plain:
    """The same, as the standard library makes it."""

    x: int
    y: int = 0
    tags: list[str] = field(default_factory=list[str], compare=False)
    note: str = field(default="", repr=False)


@record
class Named(Point):
    """A place with a name."""

    name: str = ""

    def __post_init__(self) -> None:
        if not self.name:
            raise ValueError("no name")


@record
class Empty:
    """Nothing."""


@record
class Own:
    """Brings methods of its own."""

    x: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Own) and other.x % 2 == self.x % 2

    def __hash__(self) -> int:
        return self.x % 2

    def __repr__(self) -> str:
        return "own"


def test_construction_is_that_of_a_dataclass() -> None:
    assert inspect.signature(Point) == inspect.signature(Plain).replace()
    assert [f.name for f in fields(Point(1))] == [f.name for f in fields(Plain(1))]
    assert repr(Point(1, 2, ["a"])) == repr(Plain(1, 2, ["a"])).replace("Plain", "Point")
    first, second = Point(1), Point(1)
    first.tags.append("a")
    assert second.tags == []
    with pytest.raises(TypeError):
        cast(Callable[[], Point], Point)()


def test_equality_and_hash() -> None:
    assert Point(1, 2) == Point(1, 2, ["not compared"])
    assert hash(Point(1, 2)) == hash(Point(1, 2, ["not compared"]))
    assert Point(1, 2) != Point(1, 3)
    assert Point(1, note="a") != Point(1)
    assert Point(1) != Plain(1)
    assert Named(1, name="a") != Point(1)
    assert len({Point(1), Point(1), Point(2)}) == 2
    assert Empty() == Empty()
    assert hash(Empty()) == hash(Empty())
    assert Own(1) == Own(3)
    assert (hash(Own(3)), repr(Own(1))) == (1, "own")


@pytest.mark.parametrize("name", ["x", "tags", "new"])
def test_nothing_can_be_changed(name: str) -> None:
    point = Point(1)
    with pytest.raises(FrozenInstanceError):
        setattr(point, name, 2)
    with pytest.raises(FrozenInstanceError):
        delattr(point, name)
    assert point == Point(1)


def test_what_works_with_dataclasses_works_with_records() -> None:
    assert replace(Point(1, 2), y=3) == Point(1, 3)
    assert asdict(Point(1, 2)) == {"x": 1, "y": 2, "tags": [], "note": ""}
    assert pickle.loads(pickle.dumps(Point(1, 2))) == Point(1, 2)
    assert Point(1, 2).far == 3
    match Point(1, 2):
        case Point(x, y):
            assert (x, y) == (1, 2)


def test_subclasses() -> None:
    named = Named(1, 2, name="a")
    assert (named.x, named.far, named.name) == (1, 3, "a")
    assert named == Named(1, 2, name="a")
    assert named != Named(1, 2, name="b")
    with pytest.raises(ValueError, match="no name"):
        Named(1)
