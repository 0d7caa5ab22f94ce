"""What works on diagnostics: applying fix-its, "did you mean", and comparing with expected ones."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ucutlass.diagnostics.core import Diagnostic, FixIt, Note, Severity, SourceFile, Span
from ucutlass.diagnostics.expected import check_expectations, parse_expectations
from ucutlass.diagnostics.fixits import apply_fixits
from ucutlass.diagnostics.source import unresolved_span
from ucutlass.diagnostics.suggest import edit_distance, nearest, phrase, suggest

# Fix-its -----------------------------------------------------------------------------------------------------------

SOURCE = SourceFile("a.ucu", "target sm_90\r\nkernel é(x: f16[8,]) {\r\n\treturn gem(x)\r\n}\r\n")


def edit(start: int, end: int, replacement: str, source: SourceFile = SOURCE) -> FixIt:
    return FixIt(source.span(start, end), replacement, "mend")


def fixed(message: str, *fixits: FixIt) -> Diagnostic:
    return Diagnostic("UC0101", Severity.ERROR, message, None, (), fixits)


def at(text: str) -> tuple[int, int]:
    start = SOURCE.text.index(text)
    return start, start + len(text)


def test_fixits_on_several_lines_leave_everything_else_as_it_was() -> None:
    diagnostics = [
        fixed("name", edit(*at("gem"), "gemm")),
        fixed("comma", edit(*at(",]"), "]")),
        fixed("target", edit(*at("sm_90"), "sm_90a")),
        fixed("end", edit(len(SOURCE.text), len(SOURCE.text), "# end\r\n")),
    ]
    expected = "target sm_90a\r\nkernel é(x: f16[8]) {\r\n\treturn gemm(x)\r\n}\r\n# end\r\n"
    for order in (diagnostics, diagnostics[::-1]):
        result = apply_fixits(SOURCE, order)
        assert result.text == expected and result.skipped == () and len(result.applied) == 4
    assert apply_fixits(SOURCE, diagnostics).changed and not apply_fixits(SOURCE, []).changed
    assert apply_fixits(SOURCE, [fixed("no fix")]).text == SOURCE.text


def test_the_same_edit_is_made_once() -> None:
    result = apply_fixits(
        SOURCE, [fixed("a", edit(7, 7, "x")), fixed("b", edit(7, 7, "x")), fixed("a", edit(7, 7, "x"))]
    )
    assert result.text.startswith("target xsm_90") and len(result.applied) == 3


def test_overlapping_edits_leave_the_later_one_for_another_run() -> None:
    first, second = fixed("first", edit(0, 6, "TARGET")), fixed("second", edit(3, 8, "-"))
    result = apply_fixits(SOURCE, [second, first])
    assert (result.applied, result.skipped) == ((first,), (second,))
    assert result.text.startswith("TARGET sm_90")


def test_two_insertions_at_one_place_do_not_run_together() -> None:
    one, other = fixed("m", edit(7, 7, "M % 8 == 0")), fixed("n", edit(7, 7, "N % 8 == 0"))
    result = apply_fixits(SOURCE, [one, other])
    assert (result.applied, result.skipped) == ((one,), (other,))


def test_touching_edits_are_both_made_in_order() -> None:
    source = SourceFile("t", "abcdef")
    parts = [edit(2, 4, "X", source), edit(2, 2, "<", source), edit(4, 4, ">", source), edit(4, 6, "Y", source)]
    assert apply_fixits(source, [fixed(str(index), part) for index, part in enumerate(parts)]).text == "ab<X>Y"


def test_an_insertion_inside_of_a_replaced_stretch_is_skipped() -> None:
    source = SourceFile("t", "abcdef")
    result = apply_fixits(source, [fixed("a", edit(1, 5, "-", source)), fixed("b", edit(3, 3, "!", source))])
    assert result.text == "a-f" and len(result.skipped) == 1


def test_fixits_of_one_diagnostic_hold_together() -> None:
    pair = fixed("pair", edit(20, 22, "x"), edit(3, 8, "y"))
    blocker = fixed("blocker", edit(0, 6, "z"))
    result = apply_fixits(SOURCE, [pair, blocker])
    assert result.skipped == (pair,) and result.text == "z" + SOURCE.text[6:]
    clashing = fixed("with itself", edit(0, 4, "x"), edit(2, 6, "y"))
    assert apply_fixits(SOURCE, [clashing]).text == SOURCE.text


@pytest.mark.parametrize(
    "span",
    [
        SourceFile("other.ucu", SOURCE.text).span(0, 3),
        unresolved_span("a.ucu", 1, 1),
        SourceFile("a.ucu", SOURCE.text * 2).span(60, 100),
    ],
)
def test_what_is_not_about_this_text_is_skipped(span: Span) -> None:
    result = apply_fixits(SOURCE, [fixed("m", FixIt(span, "x", "mend"))])
    assert result.text == SOURCE.text and len(result.skipped) == 1


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 4), st.text("xy", max_size=2)), max_size=6), st.randoms())
def test_the_order_of_the_diagnostics_does_not_matter(edits: list[tuple[int, int, str]], random: object) -> None:
    from random import Random

    assert isinstance(random, Random)
    diagnostics = [fixed(str(i), edit(start, start + length, new)) for i, (start, length, new) in enumerate(edits)]
    result = apply_fixits(SOURCE, diagnostics)
    shuffled = list(diagnostics)
    random.shuffle(shuffled)
    assert apply_fixits(SOURCE, shuffled) == result
    assert {*result.applied, *result.skipped} == set(diagnostics)
    # Every applied edit changes the length by what it says, whatever else was applied.
    distinct = {(f.span.start, f.span.end, f.replacement) for d in result.applied for f in d.fixits}
    assert len(result.text) - len(SOURCE.text) == sum(len(new) - (end - start) for start, end, new in distinct)


# Did you mean ------------------------------------------------------------------------------------------------------

OPERATIONS = (
    "gemm batched_gemm grouped_gemm conv1d conv2d conv3d relu relu6 gelu selu silu elu softmax log_softmax layer_norm"
    " rms_norm group_norm sum mean max min norm exp log abs neg bias scale cast"
).split()


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("gem", "gemm"),
        ("GEMM", "gemm"),
        ("geem", "gemm"),
        ("egmm", "gemm"),
        ("layernorm", "layer_norm"),
        ("LayerNorm", "layer_norm"),
        ("conv_2d", "conv2d"),
        ("sofmax", "softmax"),
        ("logsoftmax", "log_softmax"),
        ("batched", "batched_gemm"),
        ("casting", "cast"),
    ],
)
def test_the_nearest_name_comes_first(word: str, expected: str) -> None:
    assert suggest(word, OPERATIONS)[0] == expected


@pytest.mark.parametrize("word", ["", "x", "frobnicate", "q", "zzzz", "éééé", "x" * 100_000, "12"])
def test_nonsense_gets_no_suggestion(word: str) -> None:
    started = time.perf_counter()
    assert suggest(word, OPERATIONS) == []
    assert time.perf_counter() - started < 0.5


def test_single_letters_are_only_taken_for_their_other_case() -> None:
    assert suggest("x", ["y", "w", "xs"]) == []
    assert suggest("X", ["x", "w"]) == ["x"]


def test_an_alias_wins_and_never_invents_a_name() -> None:
    aliases = {"matmul": "gemm", "linear": "gone"}
    assert suggest("MatMul", OPERATIONS, aliases=aliases)[0] == "gemm"
    assert suggest("linear", OPERATIONS, aliases=aliases) == []


def test_at_most_so_many_are_given_in_a_stable_order() -> None:
    names = ["conv2d", "conv3d", "conv1d"]
    assert suggest("conv4d", names) == ["conv1d", "conv2d", "conv3d"] == suggest("conv4d", names[::-1])
    assert suggest("conv4d", names, limit=1) == ["conv1d"]


def test_nearest_refuses_to_guess() -> None:
    assert nearest("conv4d", ["conv1d", "conv2d"]) is None, "equally near: a fix-it would be a guess"
    assert nearest("gem", OPERATIONS) == "gemm"
    assert nearest("frobnicate", OPERATIONS) is None
    assert nearest("matmul", OPERATIONS, {"matmul": "gemm"}) == "gemm"


def test_phrase() -> None:
    assert phrase([]) == ""
    assert phrase(["a"]) == "did you mean 'a'?"
    assert phrase(["a", "b", "c"]) == "did you mean 'a', 'b' or 'c'?"


@pytest.mark.parametrize(
    ("one", "other", "distance"),
    [
        ("kitten", "sitting", 3),
        ("", "abc", 3),
        ("ab", "ba", 1),
        ("abcd", "acbd", 1),
        ("same", "same", 0),
        ("ca", "abc", 3),
    ],
)
def test_edit_distance(one: str, other: str, distance: int) -> None:
    assert edit_distance(one, other, 9) == edit_distance(other, one, 9) == distance
    assert edit_distance(one, other, 2) == min(distance, 3)


# Expected diagnostics ----------------------------------------------------------------------------------------------


def seen(line: int | None, message: str, severity: Severity = Severity.ERROR, code: str = "UC0301") -> Diagnostic:
    span = unresolved_span("t.ucu", line, 1) if line is not None else None
    return Diagnostic(code, severity, message, span)


def check(text: str, *diagnostics: Diagnostic, ignore: tuple[Severity, ...] = ()) -> list[str]:
    return [f"{d.code} {d.span}" for d in check_expectations(SourceFile("t.ucu", text), diagnostics, ignore)]


def test_expectations_on_their_line_and_around_it() -> None:
    text = """x  # expected-error {{on this line}}
# expected-error@+1 {{next line}}
y
z
# expected-warning@-1{{line before}}
// expected-remark @above {{same}}
// expected-note@below {{text}} trailing words
w
// expected-error@unknown {{no place}}
"""
    diagnostics = (
        seen(1, "error on this line"),
        seen(3, "next line"),
        seen(4, "the line before", Severity.WARNING),
        seen(4, "same line", Severity.REMARK),
        seen(8, "some text", Severity.NOTE),
        seen(None, "has no place"),
    )
    assert check(text, *diagnostics) == []
    for index in range(len(diagnostics)):
        rest = diagnostics[:index] + diagnostics[index + 1 :]
        assert [problem[:6] for problem in check(text, *rest)] == ["UC0013"], "each expectation is needed"


def test_above_and_below_skip_lines_that_hold_expectations() -> None:
    text = (
        "a\n# expected-error@below {{one}}\n# expected-error@below {{two}}\nb\n# x\n# expected-error@above {{three}}\n"
    )
    assert check(text, seen(4, "one"), seen(4, "two"), seen(5, "three")) == []


def test_the_code_may_be_expected() -> None:
    assert check("# expected-error {{[UC0301]}}", seen(1, "m")) == []
    assert check("# expected-error {{m [UC0301]}}", seen(1, "m")) == []
    assert len(check("# expected-error {{UC0302}}", seen(1, "m"))) == 2


@pytest.mark.parametrize(
    "wrong",
    [
        seen(2, "tile is odd"),
        seen(None, "tile is odd"),
        seen(1, "tile is even"),
        seen(1, "tile is odd", Severity.WARNING),
        Diagnostic("UC0301", Severity.ERROR, "tile is odd", unresolved_span("other.ucu", 1, 1)),
    ],
)
def test_both_sides_of_a_difference_are_reported(wrong: Diagnostic) -> None:
    problems = check_expectations(SourceFile("t.ucu", "x # expected-error {{tile is odd}}\n"), [wrong])
    assert [problem.code for problem in problems] == ["UC0013", "UC0014"]
    missing, unexpected = problems
    assert "tile is odd" in missing.message and missing.span is not None and missing.span.column == 5
    assert wrong.message in unexpected.message and unexpected.span == wrong.span
    assert all(problem.severity is Severity.ERROR for problem in problems)


def test_regular_expressions_stand_in_inner_braces() -> None:
    text = "# expected-error-re {{tile k = {{[0-9]+}} (of {{a|b}})}}"
    assert check(text, seen(1, "tile k = 60 (of a)")) == []
    assert check(text, seen(1, "tile k = 60 (of b) and more")) == []
    assert len(check(text, seen(1, "tile k = x (of a)"))) == 2
    assert check("# expected-error {{a.c}}", seen(1, "abc")) != [], "the plain form takes nothing as a pattern"


def test_a_line_may_hold_several_expectations_with_braces_in_them() -> None:
    text = "f() # expected-error {{a {x}}} expected-warning@+0 {{b}}"
    assert check(text, seen(1, "a {x}"), seen(1, "b", Severity.WARNING)) == []


def test_each_expectation_meets_one_diagnostic() -> None:
    once = "# expected-error {{m}}"
    assert len(check(once, seen(1, "m"), seen(1, "m too"))) == 1
    assert check(f"{once} {once}", seen(1, "m"), seen(1, "m too")) == []
    assert len(check(f"{once} {once}", seen(1, "m"))) == 1


@pytest.mark.parametrize("texts", [("size", "size of k"), ("size of k", "size")])
def test_a_vague_expectation_does_not_take_what_a_precise_one_needs(texts: tuple[str, str]) -> None:
    text = " ".join(f"# expected-error {{{{{one}}}}}" for one in texts)
    for diagnostics in ((seen(1, "size of k"), seen(1, "size of m")), (seen(1, "size of m"), seen(1, "size of k"))):
        assert check(text, *diagnostics) == []


def test_notes_are_expected_where_they_point() -> None:
    noted = Diagnostic(
        "UC0204",
        Severity.ERROR,
        "assigned twice",
        unresolved_span("t.ucu", 2, 1),
        (Note("first here", unresolved_span("t.ucu", 1, 1)), Note("general")),
    )
    text = "y # expected-note {{first here}}\ny # expected-error {{twice}} expected-note {{general}}"
    assert check(text, noted) == []
    assert len(check("\ny # expected-error {{twice}}", noted)) == 2
    assert check("\ny # expected-error {{twice}}", noted, ignore=(Severity.NOTE,)) == []


@pytest.mark.parametrize(
    "comment",
    [
        "# expected-error {text}} {{",
        "# expected-error@+ {{text}}",
        "# expected-error@here {{text}}",
        "# expected-eror {{text}}",
        "# expected-errors {{text}}",
        "# expected-error-re {{a {{(}} b}}",
        "# expected-error@+1",
    ],
)
def test_what_looks_like_an_expectation_but_is_none_is_reported(comment: str) -> None:
    expectations, problems = parse_expectations(SourceFile("t.ucu", f"x {comment}\n"))
    assert expectations == []
    assert [problem.code for problem in problems] == ["UC0015"]
    assert problems[0].span is not None and problems[0].span.column == 5


def test_other_text_is_no_expectation() -> None:
    text = "# every expected-error must be met\nexpected-error {{not in a comment}}\n"
    assert parse_expectations(SourceFile("t.ucu", text)) == ([], [])


def test_expectations_of_a_large_file_are_matched_quickly() -> None:
    text = "x # expected-error {{m}}\n" * 5000
    started = time.perf_counter()
    assert check(text, *(seen(line, "m") for line in range(1, 5001))) == []
    assert time.perf_counter() - started < 5
