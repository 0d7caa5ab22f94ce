"""Diagnostics as text, JSON and SARIF. The expected texts are written out by hand."""

import json
import re
from io import StringIO
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ucutlass.diagnostics.catalogue import CATALOGUE
from ucutlass.diagnostics.core import Diagnostic, FixIt, Note, Severity, SourceFile
from ucutlass.diagnostics.json_output import to_json
from ucutlass.diagnostics.render import render, render_diagnostic, summary, wants_colour
from ucutlass.diagnostics.sarif import to_sarif
from ucutlass.diagnostics.source import unresolved_span

TEXT = """target sm_90
kernel k(x: f16[8, 8]) -> f16[8, 8] {
\treturn gem(x,\tx)
}
"""
SOURCE = SourceFile("bad.ucu", TEXT)


def at(text: str, source: SourceFile = SOURCE) -> tuple[int, int]:
    start = source.text.index(text)
    return start, start + len(text)


def error(
    code: str, message: str, text: str, *fixits: FixIt, notes: tuple[Note, ...] = (), source: SourceFile = SOURCE
) -> Diagnostic:
    return Diagnostic(code, Severity.ERROR, message, source.span(*at(text, source)), notes, fixits)


def fix(text: str, replacement: str, label: str, source: SourceFile = SOURCE) -> FixIt:
    return FixIt(source.span(*at(text, source)), replacement, label)


def shown(diagnostic: Diagnostic, source: SourceFile = SOURCE, width: int = 120) -> str:
    return render_diagnostic(diagnostic, {source.name: source}, width=width)


# Text --------------------------------------------------------------------------------------------------------------


def test_caret_under_the_span_with_its_fix() -> None:
    found = error("UC0106", "there is no target sm_90", "sm_90", fix("sm_90", "sm_90a", "use sm_90a"))
    assert shown(found) == "\n".join(
        [
            "bad.ucu:1:8: error: there is no target sm_90 [UC0106]",
            "    1 | target sm_90",
            "      |        ^~~~~",
            "  fix: use sm_90a",
            "    1 + target sm_90a",
        ]
    )


def test_tabs_are_shown_as_spaces_and_the_caret_follows() -> None:
    found = error("UC0202", "there is no operation 'gem'", "gem(", notes=(Note("operands", SOURCE.span(*at("x)\n}"))),))
    # Tab stops every 4 cells: one before `return`, one from cell 17 to 20 before the second x.
    assert shown(found).split("\n") == [
        "bad.ucu:3:9: error: there is no operation 'gem' [UC0202]",
        "    3 |     return gem(x,   x)",
        "      |            ^~~~",
        "bad.ucu:3:16: note: operands",
        "    3 |     return gem(x,   x)",
        "      |                     ^~",
    ]


def test_wide_and_combining_characters_keep_the_caret_in_place() -> None:
    source = SourceFile("u.ucu", "# 漢字 e\u0301 😀 bad")
    found = error("UC0102", "m", "bad", source=source)
    lines = shown(found, source).split("\n")
    # Cells: "# " 2, two wide 4, space 1, e with accent 1, space 1, emoji 2, space 1.
    assert lines[2] == "      | " + " " * 12 + "^~~"


def test_an_empty_span_has_a_single_caret_even_at_the_end() -> None:
    source = SourceFile("e.ucu", "kernel k(\n")
    found = Diagnostic("UC0103", Severity.ERROR, "the file ends here", source.end_span())
    assert shown(found, source).split("\n")[1:] == ["    1 | kernel k(", "      |          ^"]


def test_a_span_over_several_lines_is_underlined_to_the_end_of_the_first() -> None:
    source = SourceFile("m.ucu", "a gemm(\r\n  x)\r\nb")
    found = error("UC0211", "m", "gemm(\r\n  x)", source=source)
    assert shown(found, source).split("\n")[1:] == ["    1 | a gemm(", "      |   ^~~~~"]


def test_long_lines_are_shown_as_a_window_around_the_span() -> None:
    source = SourceFile("l.ucu", "x" * 5000 + "BAD" + "y" * 5000)
    found = error("UC0101", "m", "BAD", source=source)
    _, line, carets = shown(found, source, width=60).split("\n")
    assert len(line) <= 60 + len("    1 | ") + 2
    assert line.startswith("    1 | …x") and line.endswith("y…")
    assert line[carets.index("^") :][:3] == "BAD" and carets.count("~") == 2


def test_a_span_longer_than_the_window_is_shown_from_its_start() -> None:
    source = SourceFile("l.ucu", "(" + "x" * 5000 + ")")
    found = Diagnostic("UC0101", Severity.ERROR, "m", source.span(0, 5002))
    _, line, carets = shown(found, source, width=60).split("\n")
    assert line == "    1 | (" + "x" * 59 + "…"
    assert carets.startswith("      | ^~~") and len(carets) <= len(line) + 1


def test_control_characters_of_a_source_do_not_reach_the_terminal() -> None:
    source = SourceFile("c.ucu", "a \x1b[31m \u202e bad")
    found = Diagnostic("UC0102", Severity.ERROR, "unexpected \x1b[2J", source.span(*at("bad", source)))
    text = shown(found, source)
    assert "\x1b" not in text and "\u202e" not in text
    assert "<U+001B>[31m <U+202E> bad" in text and "unexpected <U+001B>[2J" in text
    _, line, carets = text.split("\n")
    assert line[carets.index("^") :] == "bad"


def test_a_fix_that_inserts_and_one_that_deletes_lines() -> None:
    source = SourceFile("f.ucu", "target sm_80\ntarget sm_90a\nkernel k\n")
    delete = FixIt(source.span(13, 27), "", "remove the second target")
    found = Diagnostic("UC0107", Severity.ERROR, "m", source.span(13, 19), (), (delete,))
    assert shown(found, source).split("\n")[3:] == ["  fix: remove the second target", "    2 - target sm_90a"]
    insert = FixIt(source.span(0, 0), "# first\n# second\n", "say so")
    found = Diagnostic("UC0107", Severity.ERROR, "m", source.span(0, 6), (), (insert,))
    assert shown(found, source).split("\n")[3:] == ["  fix: say so", "    1 + # first", "    2 + # second"]


def test_several_fixits_of_one_diagnostic_are_shown_as_one_result() -> None:
    source = SourceFile("f.ucu", "a = b + c\n")
    fixes = (fix("b", "bb", "use bb", source), fix("a", "", "drop a", source), FixIt(source.span(9, 9), "!", "shout"))
    found = Diagnostic("UC0101", Severity.ERROR, "m", source.span(0, 1), (), fixes)
    assert shown(found, source).split("\n")[3:] == ["  fix: use bb; drop a; shout", "    1 +  = bb + c!"]


def test_many_changed_lines_are_counted() -> None:
    insert = FixIt(SOURCE.span(0, 0), "# line\n" * 10, "explain")
    found = Diagnostic("UC0101", Severity.ERROR, "m", SOURCE.span(0, 6), (), (insert,))
    assert shown(found).split("\n")[-1] == "      … 4 more lines"


def test_without_a_place_or_a_text_only_the_message_is_shown() -> None:
    assert shown(Diagnostic("UC0801", Severity.ERROR, "no nvcc")) == "error: no nvcc [UC0801]"
    elsewhere = Diagnostic("UC0301", Severity.WARNING, "m", unresolved_span("x.ucu", 3, 4))
    assert shown(elsewhere) == "x.ucu:3:4: warning: m [UC0301]"
    stale = Diagnostic("UC0301", Severity.ERROR, "m", SourceFile("bad.ucu", "\n\n\nlonger\n" + TEXT).span(80, 90))
    assert shown(stale).count("\n") == 0, "a span of another version of the text is not shown in this one"


def test_further_lines_of_a_message_are_indented() -> None:
    found = Diagnostic("UC0506", Severity.ERROR, "too much\na: 1\nb: 2")
    assert shown(found) == "error: too much [UC0506]\n    a: 1\n    b: 2"


def test_line_numbers_of_any_length_keep_the_bar_straight() -> None:
    source = SourceFile("n.ucu", "\n" * 1234566 + "bad")
    _, line, carets = shown(error("UC0101", "m", "bad", source=source), source).split("\n")
    assert line == "1234567 | bad" and carets == "        | ^~~"


def test_colour_only_adds_escapes() -> None:
    found = error("UC0106", "m", "sm_90", fix("sm_90", "sm_90a", "use sm_90a"), notes=(Note("n"),))
    coloured = render([found], {"bad.ucu": SOURCE}, colour=True)
    plain = render([found], {"bad.ucu": SOURCE})
    assert "\x1b[1;31m" in coloured and "\x1b" not in plain
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def test_colour_is_for_terminals_and_can_be_forced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert wants_colour(Terminal()) and not wants_colour(StringIO())
    assert wants_colour(StringIO(), "always") and not wants_colour(Terminal(), "never")
    monkeypatch.setenv("NO_COLOR", "1")
    assert not wants_colour(Terminal())
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert not wants_colour(Terminal())


def test_summary_counts_errors_and_warnings() -> None:
    one, two = (Diagnostic("UC0205", severity, "m") for severity in (Severity.WARNING, Severity.ERROR))
    assert summary([one, two, two, Diagnostic("UC0601", Severity.REMARK, "m")]) == "2 errors, 1 warning"
    assert summary([]) == ""


@given(st.text(alphabet="ab\t\r\n漢\x00\u0301", max_size=200), st.data())
def test_any_span_of_any_text_can_be_shown(text: str, data: st.DataObject) -> None:
    source = SourceFile("a.ucu", text)
    spans = [source.span(*sorted(data.draw(st.tuples(*[st.integers(0, len(text))] * 2)))) for _ in range(3)]
    found = Diagnostic("UC0101", Severity.ERROR, "m", spans[0], (), tuple(FixIt(s, "r\ns", "f") for s in spans[1:]))
    lines = render([found], {"a.ucu": source}, width=20).split("\n")
    assert lines[0].startswith("a.ucu:") and "^" in lines[2]


# JSON --------------------------------------------------------------------------------------------------------------

PLACE_FIELDS = {"file", "line", "column", "end_line", "end_column", "start", "end"}


def test_json_has_the_documented_fields() -> None:
    note = Note("defined here", SOURCE.span(0, 6))
    found = error("UC0106", 'quote " and é', "sm_90", fix("sm_90", "sm_90a", "use sm_90a"), notes=(note, Note("n")))
    (entry,) = json.loads(to_json([found]))
    assert entry == {
        "code": "UC0106",
        "name": "unknown-target",
        "severity": "error",
        "message": 'quote " and é',
        "operation": None,
        "file": "bad.ucu",
        "line": 1,
        "column": 8,
        "end_line": 1,
        "end_column": 13,
        "start": 7,
        "end": 12,
        "notes": [
            {
                "message": "defined here",
                "file": "bad.ucu",
                "line": 1,
                "column": 1,
                "end_line": 1,
                "end_column": 7,
                "start": 0,
                "end": 6,
            },
            {"message": "n", **dict.fromkeys(PLACE_FIELDS)},
        ],
        "fixits": [
            {
                "label": "use sm_90a",
                "replacement": "sm_90a",
                "file": "bad.ucu",
                "line": 1,
                "column": 8,
                "end_line": 1,
                "end_column": 13,
                "start": 7,
                "end": 12,
            }
        ],
        "help": CATALOGUE["UC0106"].explanation,
    }
    assert TEXT[entry["start"] : entry["end"]] == "sm_90"


def test_json_without_a_place_has_the_same_fields() -> None:
    nowhere = Diagnostic("ACME0001", Severity.WARNING, "m", operation="gemm")
    unresolved = Diagnostic("UC0301", Severity.REMARK, "m", unresolved_span("x.ucu", 3, 4))
    first, second = cast("list[dict[str, object]]", json.loads(to_json([nowhere, unresolved])))
    assert (
        first.keys()
        == second.keys()
        == {*PLACE_FIELDS, *"code name severity message operation notes fixits help".split()}
    )
    assert all(first[name] is None for name in PLACE_FIELDS)
    assert (first["name"], first["help"], first["operation"], first["severity"]) == ("", "", "gemm", "warning")
    assert (second["line"], second["column"], second["start"], second["end"]) == (3, 4, None, None)


def test_json_of_nothing_is_an_empty_array() -> None:
    assert to_json([]) == "[]"


def test_json_survives_what_is_no_text() -> None:
    text = to_json([Diagnostic("UC0102", Severity.ERROR, "lone \ud800 surrogate")])
    text.encode("ascii")
    assert json.loads(text)[0]["message"] == "lone \ud800 surrogate"


# SARIF -------------------------------------------------------------------------------------------------------------


def test_sarif_log() -> None:
    source = SourceFile("my dir/é.ucu", TEXT)
    found = error(
        "UC0106",
        "expected {a}",
        "sm_90",
        fix("sm_90", "sm_{90a}", "use sm_90a", source),
        notes=(Note("here", source.span(0, 6)), Note("n")),
        source=source,
    )
    remark = Diagnostic("UC0601", Severity.REMARK, "r", source.span(0, 6), operation="relu")
    again = Diagnostic("UC0106", Severity.ERROR, "nowhere")
    log = json.loads(to_sarif([found, remark, again], "1.2.3"))
    # The property names and their nesting are those of the SARIF 2.1.0 standard, sections 3.13, 3.14 and 3.27.
    assert log["version"] == "2.1.0" and "sarif-schema-2.1.0" in log["$schema"]
    (run,) = log["runs"]
    assert run["columnKind"] == "unicodeCodePoints"
    driver = run["tool"]["driver"]
    assert (driver["name"], driver["version"]) == ("ucutlass-opt", "1.2.3")
    assert [rule["id"] for rule in driver["rules"]] == ["UC0106", "UC0601"]
    for rule in driver["rules"]:
        assert rule["shortDescription"]["text"] == CATALOGUE[rule["id"]].summary
        assert rule["defaultConfiguration"]["level"] in ("none", "note", "warning", "error")
    first, second, third = run["results"]
    for result in run["results"]:
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    assert first["level"] == "error" and first["message"]["text"] == "expected {{a}}", "braces are placeholders"
    assert first["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": "my%20dir/%C3%A9.ucu"},
                "region": {
                    "startLine": 1,
                    "startColumn": 8,
                    "endLine": 1,
                    "endColumn": 13,
                    "charOffset": 7,
                    "charLength": 5,
                },
            }
        }
    ]
    assert [related["message"]["text"] for related in first["relatedLocations"]] == ["here", "n"]
    assert [related["id"] for related in first["relatedLocations"]] == [0, 1]
    ((change,),) = [one["artifactChanges"] for one in first["fixes"]]
    assert change["artifactLocation"] == first["locations"][0]["physicalLocation"]["artifactLocation"]
    assert change["replacements"][0]["deletedRegion"]["charOffset"] == 7
    assert change["replacements"][0]["insertedContent"] == {"text": "sm_{90a}"}
    assert (second["level"], second["properties"]) == ("note", {"severity": "remark"})
    assert second["locations"][0]["logicalLocations"][0]["name"] == "relu"
    assert "locations" not in third and "fixes" not in third and third["ruleIndex"] == 0


def test_sarif_of_an_absolute_path_and_an_unresolved_place() -> None:
    found = Diagnostic("ACME0001", Severity.WARNING, "m", unresolved_span("/a b/x.ucu", 3, 4))
    run = json.loads(to_sarif([found], "0", "ucutlass-run"))["runs"][0]
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "file:///a%20b/x.ucu"
    assert place["region"] == {"startLine": 3, "startColumn": 4, "endLine": 3, "endColumn": 4}
    assert run["tool"]["driver"]["rules"] == [{"id": "ACME0001"}]


def test_sarif_of_nothing_is_a_run_without_results() -> None:
    run = json.loads(to_sarif([], "0"))["runs"][0]
    assert run["results"] == [] and run["tool"]["driver"]["rules"] == []
