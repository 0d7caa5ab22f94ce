"""Reading: languages, the parts of a split file, sizes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ucutlass_tools._input import sizes, split

from ucutlass.diagnostics.source import SourceFile
from ucutlass.errors import UsageError


def parts(text: str) -> list[SourceFile]:
    return split(SourceFile("a.ucu", text))


def test_a_text_without_separators_is_one_part() -> None:
    assert [part.text for part in parts("a // ----- b\n")] == ["a // ----- b\n"]
    assert [part.text for part in parts("")] == [""]


def test_parts_keep_their_places() -> None:
    text = "one\r\n// -----\ntwo ü\n  # ----- more\nthree"
    found = parts(text)
    assert [part.text.split() for part in found] == [["one"], ["two", "ü"], ["three"]]
    for part, word in zip(found, ["one", "two", "three"], strict=True):
        assert len(part.text) == len(text)
        assert part.text.index(word) == text.index(word)
        assert part.position(part.text.index(word)) == SourceFile("", text).position(text.index(word))


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=20), min_size=1, max_size=4))
def test_parts_add_up(texts: list[str]) -> None:
    texts = [text.replace("-----", "") for text in texts]
    text = "\n// -----\n".join(texts)
    found = parts(text)
    assert len(found) == len(texts)
    for part, wanted in zip(found, texts, strict=True):
        assert len(part.text) == len(text)
        assert wanted in part.text
        assert part.text.strip() == wanted.strip()


def test_sizes() -> None:
    assert list(sizes([])) == [{}]
    assert list(sizes(["M=1", "N=2"])) == [{"M": 1, "N": 2}]
    assert list(sizes(["M=1,2", "K=3,4"])) == [
        {"M": 1, "K": 3},
        {"M": 1, "K": 4},
        {"M": 2, "K": 3},
        {"M": 2, "K": 4},
    ]
    assert list(sizes(["M=0"])) == [{"M": 0}]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["M"], "write NAME=SIZE"),
        (["=4"], "write NAME=SIZE"),
        (["4=4"], "write NAME=SIZE"),
        (["M="], "'' is no size"),
        (["M=1,"], "'' is no size"),
        (["M=4k"], "'4k' is no size"),
        (["M=-1"], "'-1' is no size"),
        (["M=٣"], "is no size"),
        (["M=9223372036854775808"], "is no size"),
        (["M=1", "M=2"], "M is given twice"),
    ],
)
def test_wrong_sizes(given: list[str], said: str) -> None:
    with pytest.raises(UsageError) as raised:
        list(sizes(given))
    assert said in str(raised.value)
    assert raised.value.code == "UC0003"
