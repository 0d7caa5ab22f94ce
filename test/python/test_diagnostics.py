"""Diagnostics: places in texts, the engine that collects, and the catalogue of codes."""

import pickle
import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ucutlass.diagnostics.catalogue import CATALOGUE, RANGES, CodeInfo, joined
from ucutlass.diagnostics.core import (
    Diagnostic,
    DiagnosticEngine,
    DiagnosticError,
    FixIt,
    Note,
    Severity,
    SourceFile,
    Span,
)
from ucutlass.diagnostics.explain import explain, find, markdown_page
from ucutlass.diagnostics.source import decode_utf8, unresolved_span

# Places ------------------------------------------------------------------------------------------------------------


def test_span_counts_lines_and_columns_from_one() -> None:
    source = SourceFile("a.ucu", "ab\n\tcd\nef")
    assert source.span(4, 6) == Span("a.ucu", 4, 6, 2, 2, 2, 4)
    assert source.span(1, 8) == Span("a.ucu", 1, 8, 1, 2, 3, 2)
    assert str(source.span(4, 6)) == "a.ucu:2:2"


def test_columns_count_characters_not_bytes_or_cells() -> None:
    source = SourceFile("a.ucu", "# naïve 漢字 😀 x")
    offset = source.text.index("x")
    assert offset == 13
    assert source.position(offset) == (1, 14)


def test_carriage_returns_are_part_of_the_text_but_not_of_the_line() -> None:
    source = SourceFile("a.ucu", "ab\r\ncd\r\n")
    assert [source.line_text(line) for line in (1, 2, 3)] == ["ab", "cd", ""]
    assert source.span(4, 6) == Span("a.ucu", 4, 6, 2, 1, 2, 3)
    assert source.text[source.span(4, 6).start : source.span(4, 6).end] == "cd"
    assert source.offset(2, 3) == 6 and source.offset(2, 4) is None


def test_empty_text_has_one_empty_line() -> None:
    source = SourceFile("a.ucu", "")
    assert source.line_count == 1
    assert source.end_span() == Span("a.ucu", 0, 0, 1, 1, 1, 1)


def test_offsets_outside_of_the_text_are_moved_into_it() -> None:
    source = SourceFile("a.ucu", "abc")
    assert source.span(-5, 99) == Span("a.ucu", 0, 3, 1, 1, 1, 4)
    assert source.span(2, 1) == Span("a.ucu", 2, 2, 1, 3, 1, 3)


@given(st.text(alphabet="ab\t\r\n漢", max_size=60), st.data())
def test_position_agrees_with_splitting(text: str, data: st.DataObject) -> None:
    source = SourceFile("a.ucu", text)
    offset = data.draw(st.integers(0, len(text)))
    before = text[:offset].split("\n")
    assert source.position(offset) == (len(before), len(before[-1]) + 1)
    line, column = source.position(offset)
    # Only a place inside of a line end has no way back.
    if text[offset - 1 : offset + 1] != "\r\n":
        assert source.offset(line, column) == offset


def test_end_span_is_after_the_last_word() -> None:
    assert SourceFile("a.ucu", "kernel k\n\n  ").end_span() == Span("a.ucu", 8, 8, 1, 9, 1, 9)


@pytest.mark.parametrize(
    ("name", "text", "token"),
    [
        ("a.ucu", "gemm(x)", "gemm"),
        ("a.ucu", "w.T", "w"),
        ("a.ucu", ">> relu()", ">>"),
        ("a.ucu", "1.5e-3 + x", "1.5e-3"),
        ("a.ucu", "(x", "("),
        ("a.ucu", "é", "é"),
        ("a.ucu", "", ""),
        ("a.mlir", "ucutlass.gemm %a", "ucutlass.gemm"),
        ("a.mlir", "%0 = foo.bar", "%0"),
        ("a.mlir", '"ucutlass.gemm"(%a)', '"ucutlass.gemm"'),
        ("a.mlir", "@main", "@main"),
    ],
)
def test_token_span(name: str, text: str, token: str) -> None:
    span = SourceFile(name, "  " + text).token_span(2)
    assert (span.start, span.end) == (2, 2 + len(token))


def test_decode_utf8_finds_the_first_bad_byte() -> None:
    source, bad = decode_utf8("a.ucu", "é\nx".encode() + b"\xff\xfey")
    assert source.text == "é\nx\ufffd\ufffdy"
    assert bad == Span("a.ucu", 3, 4, 2, 2, 2, 3)
    assert decode_utf8("a.ucu", "é\r\n".encode()) == (SourceFile("a.ucu", "é\r\n"), None)


@given(st.binary(max_size=40))
def test_decode_utf8_never_fails(data: bytes) -> None:
    source, bad = decode_utf8("a.ucu", data)
    assert (bad is None) == (source.text.encode() == data)


# The engine --------------------------------------------------------------------------------------------------------

SOURCE = SourceFile("a.ucu", "one two\nthree four\n")


def engine_over(*sources: SourceFile, max_errors: int = 20) -> DiagnosticEngine:
    engine = DiagnosticEngine(max_errors)
    for source in sources:
        engine.add_source(source)
    return engine


def test_diagnostics_come_in_the_order_of_their_places() -> None:
    other = SourceFile("Z.ucu", "zzz")
    engine = engine_over(other, SOURCE)
    engine.error("UC0108", "nowhere")
    engine.error("UC0301", "third", SOURCE.span(8, 13))
    engine.remark("UC0601", "second", SOURCE.span(4, 7))
    engine.warning("UC0205", "elsewhere", unresolved_span("unknown.ucu", 1, 1))
    engine.error("UC0201", "also second", SOURCE.span(4, 5))
    engine.error("UC0201", "first file first", other.span(0, 3))
    messages = [diagnostic.message for diagnostic in engine.diagnostics]
    assert messages == ["first file first", "second", "also second", "third", "elsewhere", "nowhere"]


def test_the_same_finding_is_reported_once() -> None:
    engine = engine_over(SOURCE)
    for _ in range(3):
        engine.error("UC0301", "m is 3, expected 4", SOURCE.span(0, 3))
    engine.error("UC0301", "m is 3, expected 4", SOURCE.span(4, 7))
    engine.warning("UC0301", "m is 3, expected 4", SOURCE.span(0, 3))
    assert len(engine.diagnostics) == 3


def test_only_errors_count_as_errors() -> None:
    engine = engine_over(SOURCE)
    engine.warning("UC0205", "w")
    engine.remark("UC0601", "r")
    assert not engine.has_errors
    engine.raise_if_errors()
    engine.error("UC0201", "e")
    assert engine.has_errors
    with pytest.raises(DiagnosticError, match=r"^error: e \[UC0201\]$"):
        engine.raise_if_errors()


def test_too_many_errors_are_counted() -> None:
    engine = engine_over(SOURCE, max_errors=3)
    for column in range(7, -1, -1):
        engine.error("UC0102", "odd", SOURCE.span(column, column + 1))
    engine.warning("UC0205", "still shown", SOURCE.span(8, 13))
    shown = engine.diagnostics
    assert [d.span.start for d in shown if d.span is not None and d.severity is Severity.ERROR] == [0, 1, 2]
    assert [d.message for d in shown if d.severity is Severity.WARNING] == ["still shown"]
    assert (shown[-1].code, shown[-1].severity) == ("UC0010", Severity.NOTE)
    assert "5" in shown[-1].message and "8" in shown[-1].message
    assert len(engine.errors) == 8, "the limit is about showing only"
    assert len(engine_over(max_errors=0).diagnostics) == 0


def test_exactly_as_many_errors_as_are_shown_need_no_count() -> None:
    engine = engine_over(SOURCE, max_errors=3)
    for column in range(3):
        engine.error("UC0102", "odd", SOURCE.span(column, column + 1))
    assert [d.code for d in engine.diagnostics] == ["UC0102"] * 3


def test_zero_shows_all_errors() -> None:
    engine = engine_over(SOURCE, max_errors=0)
    for number in range(100):
        engine.error("UC0102", f"odd {number}")
    assert len(engine.diagnostics) == 100


def test_a_code_must_be_in_the_catalogue() -> None:
    engine = DiagnosticEngine()
    with pytest.raises(AssertionError, match="UC9876"):
        engine.error("UC9876", "x")
    with pytest.raises(AssertionError, match="shape"):
        engine.error("shape", "x")
    engine.error("ACME0001", "an extension's own")
    assert engine.has_errors


def test_an_error_carries_several_diagnostics_and_survives_a_process_border() -> None:
    first = Diagnostic("UC0201", Severity.ERROR, "no x", SOURCE.span(0, 3), (Note("here", SOURCE.span(4, 7)),))
    error = DiagnosticError(first, Diagnostic("UC0108", Severity.ERROR, "no kernel"))
    copy = pickle.loads(pickle.dumps(error))
    assert isinstance(copy, DiagnosticError)
    assert copy.diagnostics == error.diagnostics
    assert str(copy) == "a.ucu:1:1: error: no x [UC0201]\nerror: no kernel [UC0108]"
    engine = DiagnosticEngine()
    engine.extend(copy.diagnostics)
    engine.extend(error.diagnostics)
    assert len(engine.diagnostics) == 2


def test_a_part_is_asked_from_the_frontend_and_falls_back_step_by_step() -> None:
    engine = engine_over(SOURCE)
    known = {"setter:tile:2": SOURCE.span(6, 7), "setter:tile": SOURCE.span(4, 7)}
    asked: list[str] = []

    def resolver(line: int, column: int, part: str) -> Span | None:
        assert (line, column) == (1, 1)
        asked.append(part)
        return known.get(part)

    engine.register_parts("a.ucu", lambda line, column, part: None)  # another chunk of the file
    engine.register_parts("a.ucu", resolver)
    assert engine.span_at("a.ucu", 1, 1, "setter:tile:2") == SOURCE.span(6, 7)
    assert engine.span_at("a.ucu", 1, 1, "setter:tile:0") == SOURCE.span(4, 7)
    assert engine.span_at("a.ucu", 1, 1, "operand:0") == SOURCE.span(0, 3), "the token at the place itself"
    assert asked == ["setter:tile:2", "setter:tile:0", "setter:tile", "operand:0", "operand"]
    assert engine.part_span("a.ucu", 1, 1, "setter:tile:0") is None, "an edit needs the exact place"


def test_a_place_in_an_unknown_text_keeps_line_and_column() -> None:
    span = engine_over(SOURCE).span_at("other.ucu", 7, 3)
    assert (span.file, span.line, span.column, span.resolved) == ("other.ucu", 7, 3, False)
    assert not engine_over(SOURCE).span_at("a.ucu", 99, 1).resolved


# The catalogue -----------------------------------------------------------------------------------------------------


def row(code: str, name: str) -> CodeInfo:
    return CodeInfo(code, name, Severity.ERROR, "s", "e")


def test_a_code_or_name_given_twice_is_refused() -> None:
    assert list(joined([("03", (row("UC0302", "b"), row("UC0301", "a")))])) == ["UC0301", "UC0302"]
    with pytest.raises(ValueError, match="UC0301 is given twice: a and b"):
        joined([("03", (row("UC0301", "a"), row("UC0301", "b")))])
    with pytest.raises(ValueError, match="the name a is given to both UC0301 and UC0302"):
        joined([("03", (row("UC0301", "a"), row("UC0302", "a")))])


@pytest.mark.parametrize("code", ["UC0401", "UC031", "UC03011", "UC03x1", "XY0301"])
def test_a_row_in_the_wrong_file_is_refused(code: str) -> None:
    with pytest.raises(ValueError, match=code):
        joined([("03", (row(code, "a"),))])


def test_every_range_has_codes() -> None:
    assert {code[2:4] for code in CATALOGUE} == set(RANGES)


@pytest.mark.parametrize("info", CATALOGUE.values(), ids=CATALOGUE.keys())
def test_every_row_can_be_read_by_a_person(info: CodeInfo) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", info.name)
    assert not info.summary.endswith(".") and len(info.summary) <= 100
    sentences = re.findall(r"[.?](?= [A-Z`]|$)", info.explanation)
    assert 2 <= len(sentences) <= 5, info.explanation
    assert "  " not in info.explanation, "a line break in the middle of a sentence lost or doubled its space"
    assert info.bad_example != info.good_example or not info.bad_example
    assert not (info.bad_example and not info.good_example), "an example that is wrong needs one that is right"
    assert info.language in ("ucu", "mlir", "sh", "python")
    for example in (info.bad_example, info.good_example):
        if info.language == "ucu" and example and info.code != "UC0108":
            assert "kernel " in example, "examples are whole programs, so that they can be tested"


def test_explain_shows_the_row_with_both_examples() -> None:
    text = explain("UC0106")
    assert text.startswith("UC0106 (unknown-target), error: there is no such target\n")
    assert "Wrong:\n\n    target sm_90\n    kernel" in text
    assert "Right:\n\n    target sm_90a\n    kernel" in text
    assert text.endswith("}\n")


@pytest.mark.parametrize("spelling", ["UC0301", "uc0301", "301", "0301", " UC0301 ", "shape-mismatch"])
def test_a_code_may_be_given_in_several_ways(spelling: str) -> None:
    assert find(spelling).code == "UC0301"


@pytest.mark.parametrize(("spelling", "hint"), [("UC0l06", "'UC0106'"), ("shape-mismach", "'shape-mismatch'")])
def test_an_unknown_code_gets_a_suggestion(spelling: str, hint: str) -> None:
    with pytest.raises(DiagnosticError, match=re.escape(hint)) as caught:
        find(spelling)
    assert caught.value.diagnostics[0].code == "UC0017"


def test_the_page_lists_every_code_once_with_an_anchor_that_the_table_links_to() -> None:
    page = markdown_page()
    headings = re.findall(r"^### (UC\d{4}) (\S+) \{#(\w+)\}$", page, re.MULTILINE)
    assert [code for code, _, _ in headings] == list(CATALOGUE)
    links = re.findall(r"^\| \[(UC\d{4})\]\(#(\w+)\)", page, re.MULTILINE)
    assert links == [(code, anchor) for code, _, anchor in headings]
    assert page.count("```") % 2 == 0
    assert page.endswith(("```\n", ".\n"))


def test_a_run_without_a_diagnostic_loads_no_catalogue_and_no_xdsl() -> None:
    program = (
        "import sys, ucutlass.diagnostics.core, ucutlass.diagnostics.render;"
        "print([m for m in sys.modules if 'catalogue' in m or m.startswith(('xdsl', 'torch'))])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_fixits_keep_what_they_were_given() -> None:
    engine = engine_over(SOURCE)
    fix = FixIt(SOURCE.span(0, 3), "1", "use 1")
    engine.error("UC0201", "e", SOURCE.span(0, 3), notes=[Note("n")], fixits=[fix], operation="gemm")
    (found,) = engine.diagnostics
    assert (found.fixits, found.notes, found.operation) == ((fix,), (Note("n"),), "gemm")
