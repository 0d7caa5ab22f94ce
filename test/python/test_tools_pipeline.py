"""Pipelines: what may be written, and errors that show the whole text with a caret under each culprit."""

import pytest
from tool_calls import call
from tool_passes import Tuned, add_passes
from ucutlass_tools import opt
from ucutlass_tools._main import Exit, PointedUsageError
from ucutlass_tools._pipeline import read_pipeline

from ucutlass.registry import PIPELINES


@pytest.fixture(autouse=True)
def tuned(monkeypatch: pytest.MonkeyPatch) -> None:
    add_passes(monkeypatch)


def names(text: str) -> list[str]:
    return [step.module_pass.name for step in read_pipeline(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("infer", ["infer"]),
        ("infer,canonicalize", ["infer", "canonicalize"]),
        (" infer , cse ", ["infer", "cse"]),
        ("infer\n,cse", ["infer", "cse"]),
        ("builtin.module(infer,cse)", ["infer", "cse"]),
        ("  builtin.module( infer )  ", ["infer"]),
        ("verify", [*PIPELINES["verify"].passes]),
        ("cse,default,cse", ["cse", *PIPELINES["default"].passes, "cse"]),
    ],
)
def test_spellings(text: str, expected: list[str]) -> None:
    assert names(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tuned", Tuned()),
        ("tuned{}", Tuned()),
        ("tuned{tile-m=64}", Tuned(64)),
        ("tuned{tile_m=64 keep=true}", Tuned(64, True)),
        ("tuned{ tile-m=64   order=col }", Tuned(64, order="col")),
        ("tuned{sizes=1,2,3 keep=true}", Tuned(keep=True, sizes=(1, 2, 3))),
        ('tuned{label="a, b} {c"}', Tuned(label="a, b} {c")),
    ],
)
def test_options(text: str, expected: Tuned) -> None:
    (step,) = read_pipeline(text)
    assert step.module_pass == expected
    # What is printed of a pass can be read again.
    (again,) = read_pipeline(str(step.module_pass))
    assert again == step


def test_steps_know_the_pipeline_that_they_are_from() -> None:
    assert [step.pipeline for step in read_pipeline("cse,verify")] == [None, "verify", "verify"]


def refused(text: str) -> list[tuple[str, str, str]]:
    """Code, message and culprit of each error."""
    with pytest.raises(PointedUsageError) as raised:
        read_pipeline(text)
    error = raised.value
    assert error.source.text == text
    return [
        (d.code, d.message, text[d.span.start : d.span.end] if d.span is not None else "") for d in error.diagnostics
    ]


@pytest.mark.parametrize(
    ("text", "code", "culprit", "said"),
    [
        ("infer,fus,cse", "UC0006", "fus", "unknown pass 'fus': did you mean 'fuse'"),
        ("zzz", "UC0006", "zzz", "there are verify, default, infer"),
        ("", "UC0008", "", "the pipeline is empty"),
        ("  ", "UC0008", "  ", "the pipeline is empty"),
        ("builtin.module()", "UC0008", "", "the pipeline is empty"),
        ("builtin.module(infer", "UC0008", "builtin.module(", "is not closed"),
        ("infer,,cse", "UC0008", ",", "expected the name of a pass between the commas"),
        ("infer,", "UC0008", "", "expected the name of a pass"),
        ("infer cse", "UC0008", " cse", "expected ',' or '{' after 'infer', not 'cse'"),
        ("infer,{a=1}", "UC0008", "{a=1}", "expected the name of a pass instead of '{a=1}'"),
        ("tuned{tile-m=64", "UC0008", "{", "'{' is not closed"),
        ("tuned}", "UC0008", "}", "'}' closes nothing"),
        ('tuned{label="a}', "UC0008", '"', "the string is not closed"),
        ("tuned{tile-m=}", "UC0008", "tile-m=", "option 'tile-m' of pass 'tuned' has no value after '='"),
        ("tuned{tile-m= keep=true}", "UC0008", "tile-m=", "has no value"),
        ("tuned{=3}", "UC0008", "{=3}", "cannot read the options of pass 'tuned'"),
        ("tuned{tile-n=3}", "UC0007", "tile-n", "pass 'tuned' has no option 'tile-n': did you mean 'tile-m'"),
        ("tuned{tile-n=3}", "UC0007", "tile-n", "it has tile-m (int), keep (bool)"),
        ("infer{a=1}", "UC0007", "a", "pass 'infer' has no option 'a'; it has none"),
        ("tuned{tile-m=x}", "UC0007", "tile-m", "expected <class 'int'>"),
        ("tuned{order=diagonal}", "UC0007", "order", "Literal"),
        ("verify{a=1}", "UC0007", "{a=1}", "takes no options: write its passes out, infer,verify-target"),
    ],
)
def test_errors_point_at_the_culprit(text: str, code: str, culprit: str, said: str) -> None:
    found = refused(text)
    assert [row[0] for row in found] == [code]
    assert said in found[0][1]
    assert found[0][2] == culprit


def test_all_errors_at_once() -> None:
    found = refused("infr,tuned{tile-n=1 kep=true},cse,fus")
    assert [(code, culprit) for code, _, culprit in found] == [
        ("UC0006", "infr"),
        ("UC0007", "tile-n"),
        ("UC0007", "kep"),
        ("UC0006", "fus"),
    ]


def test_the_whole_text_is_shown() -> None:
    called = call(opt.main, "-p", "infer,fus,cse", stdin="builtin.module {}")
    assert called.code == Exit.USAGE
    assert called.err == (
        "<passes>:1:7: error: unknown pass 'fus': did you mean 'fuse'? [UC0006]\n"
        "    1 | infer,fus,cse\n"
        "      |       ^~~\n"
        "1 error\n"
    )
    assert "<pass-pipeline>:1:16: error" in call(opt.main, "--pass-pipeline=builtin.module(fus)").err
