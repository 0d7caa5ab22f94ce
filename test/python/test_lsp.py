"""What the language server knows of a text, without the protocol; `test_lsp_client.py` goes through it."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol.types import Position
from ucutlass_tools.language_server import hover as hovering
from ucutlass_tools.language_server.analysis import Analysis, analyse
from ucutlass_tools.language_server.completion import Candidate, complete
from ucutlass_tools.language_server.context import context_at
from ucutlass_tools.language_server.formatting import formatted
from ucutlass_tools.language_server.names import at, definition, occurrences
from ucutlass_tools.language_server.protocol import Positions
from ucutlass_tools.language_server.symbols import symbols

from ucutlass.dialects.ucutlass.attributes import SETTERS
from ucutlass.dialects.ucutlass.operations import SPECS
from ucutlass.element_types import ELEMENT_TYPES
from ucutlass.frontend.lexer import tokens_of
from ucutlass.targets.arch import ARCHITECTURES

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.ucu"))

PROGRAM = """target sm_90a
kernel first(x: f16[M, 64], w: f16[32, 64], b: f16[32]) -> f16[M, 32] where M >= 1 {
  y = gemm(x, w.T).with_tile(128, 64, 64)
  z = y >> bias(b) >> gelu(approximate=tanh)
  return z
}
kernel second(x: f32[8, P], q: f32[4, P]) -> f32[4, P], f32[4, P] where P % 4 == 0 {
  pieces = split(x, [4, 4], dim=0)
  top, rest = pieces
  return top * q, reshape(rest, 4, P)
}
"""


def known(text: str) -> Analysis:
    return analyse("test.ucu", text)


def marked(text: str) -> tuple[str, int]:
    """A text without its mark `|`, and where that was."""
    before, mark, after = text.partition("|")
    assert mark, "the text has no mark"
    return before + after, len(before)


def place(text: str, part: str, count: int = 1) -> int:
    """The offset of the count-th occurrence of a part."""
    offset = -1
    for _ in range(count):
        offset = text.index(part, offset + 1)
    return offset


# Analysis -------------------------------------------------------------------------------------------------------------


def test_a_good_program_has_no_diagnostics() -> None:
    assert known(PROGRAM).diagnostics == ()


def test_every_error_of_a_text_is_reported_at_its_place() -> None:
    text = "kernel f(x: f16[8, 64]) -> f16[8, 64] { y = rellu(x) z = softmax(x, dim=2) return q }"
    found = {d.code: text[d.span.start : d.span.end] for d in known(text).diagnostics if d.span is not None}
    assert found == {"UC0202": "rellu", "UC0201": "q"}
    mended = text.replace("rellu", "relu").replace("return q", "return y * z")
    found = {d.code: mended[d.span.start : d.span.end] for d in known(mended).diagnostics if d.span is not None}
    assert found == {"UC0304": "2"}


def test_the_target_of_a_program_without_one_is_the_servers() -> None:
    text = "kernel f(x: f16[256, 64], w: f16[256, 64]) -> f16[256, 256] { return gemm(x, w.T).with_cluster(2, 1) }"
    assert analyse("f.ucu", text, "sm_90a").diagnostics == ()
    assert [str(d.severity) for d in analyse("f.ucu", text, "sm_80").diagnostics] == ["error"]


def test_types_are_known_beside_an_error() -> None:
    text = PROGRAM.replace("gelu(approximate=tanh)", "gelu(approximate=thing)")
    analysis = known(text)
    assert analysis.program is not None
    assert [d.code for d in analysis.diagnostics] == ["UC0206"]
    assert [t.spelling for t in analysis.value_types(analysis.program.kernels[0], "y")] == ["f16[M, 32]"]
    assert analysis.value_types(analysis.program.kernels[0], "z") == ()


def test_types_of_lists_and_of_other_names_of_values() -> None:
    analysis = known(PROGRAM)
    assert analysis.program is not None
    second = analysis.program.kernels[1]
    spelled = {n: [t.spelling for t in analysis.value_types(second, n)] for n in ("pieces", "top", "rest", "x")}
    assert spelled == {
        "pieces": ["f32[4, P]", "f32[4, P]"],
        "top": ["f32[4, P]"],
        "rest": ["f32[4, P]"],
        "x": ["f32[8, P]"],
    }
    alias = known("kernel f(x: f16[8]) -> f16[8] { a = x b = a return b + 1 }")
    assert alias.program is not None
    assert [t.spelling for t in alias.value_types(alias.program.kernels[0], "b")] == ["f16[8]"]


MLIR = """ucutlass.kernel @f(%x : !ucutlass.tensor<[8], f16>) -> (!ucutlass.tensor<[8], f16>) {
  %y = ucutlass.relu %x : (!ucutlass.tensor<[8], f16>) -> !ucutlass.tensor<[8], f16>
  ucutlass.return %y : !ucutlass.tensor<[8], f16>
}
"""


def test_mlir_is_analysed_too() -> None:
    analysis = analyse("f.mlir", MLIR)
    assert analysis.diagnostics == ()
    shown = hovering.hover(analysis, MLIR.index("relu"))
    assert shown is not None and "relu(x)" in shown.markdown
    wrong = MLIR.replace("ucutlass.relu", "ucutlass.rellu")
    (found,) = analyse("f.mlir", wrong).diagnostics
    assert found.span is not None and found.span.line == 2


@pytest.mark.parametrize("path", EXAMPLES[:4], ids=lambda p: p.stem)
def test_a_text_cut_off_anywhere_can_be_asked_about(path: Path) -> None:
    whole = path.read_text(encoding="utf-8")
    for end in range(0, len(whole), 9):
        text = whole[:end]
        analysis = known(text)
        complete(analysis, end)
        hovering.hover(analysis, end)
        symbols(analysis)
        assert end == 0 or analysis.diagnostics or analysis.program is not None


def test_an_expression_may_be_deep() -> None:
    text = f"kernel f(x: f16[8]) -> f16[8] {{ return {'(' * 3000}x{')' * 3000}{' >> relu()' * 2000} }}"
    analysis = known(text)
    assert analysis.program is not None
    assert len(occurrences(analysis.program)) > 2000


# Names ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("part", "count", "expected"),
    [
        ("x, w.T", 1, "x: f16[M, 64]"),
        ("w.T", 1, "w: f16[32, 64]"),
        ("y >> bias", 1, "y = gemm"),
        ("z\n", 1, "z = y"),
        ("M, 32", 1, "M, 64"),
        ("M >= 1", 1, "M, 64"),
        ("x, [4, 4]", 1, "x: f32[8"),
        ("rest, 4", 1, "rest = pieces"),
        ("P)\n", 1, "P], q"),
        ("first", 1, "first("),
    ],
)
def test_a_definition_is_where_the_name_comes_from(part: str, count: int, expected: str) -> None:
    analysis = known(PROGRAM)
    assert analysis.program is not None
    names = occurrences(analysis.program)
    name = at(names, place(PROGRAM, part, count))
    assert name is not None
    found = definition(names, name)
    assert found is not None
    assert PROGRAM[found.start :].startswith(expected)


def test_a_dimension_may_come_from_a_condition() -> None:
    text = "kernel f(x: f16[M, 64]) -> f16[P, 64] where P == M / 2 { return slice(x, 0, 0, P) }"
    analysis = known(text)
    assert analysis.program is not None
    names = occurrences(analysis.program)
    name = at(names, text.rindex("P)"))
    assert name is not None
    found = definition(names, name)
    assert found is not None and found.start == text.index("P == M")


@pytest.mark.parametrize("part", ["gemm", "with_tile", "approximate", "tanh", "f16", "sm_90a", "dim=0"])
def test_what_the_language_defines_has_no_place_in_the_text(part: str) -> None:
    analysis = known(PROGRAM)
    assert analysis.program is not None
    names = occurrences(analysis.program)
    name = at(names, place(PROGRAM, part))
    assert name is not None
    assert definition(names, name) is None


def test_the_outline_has_kernels_with_their_values() -> None:
    first, second = symbols(known(PROGRAM))
    assert (first.name, first.detail) == ("first", "f16[M, 32]")
    assert [(s.name, s.detail) for s in first.inner or ()] == [
        ("x", "f16[M, 64]"),
        ("w", "f16[32, 64]"),
        ("b", "f16[32]"),
        ("y", "f16[M, 32]"),
        ("z", "f16[M, 32]"),
    ]
    assert [s.name for s in second.inner or ()] == ["x", "q", "pieces", "top", "rest"]
    assert PROGRAM[first.start : first.end].startswith("kernel first") and PROGRAM[first.end - 1] == "}"


# Hover ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ("gemm", ["-> f16[M, 32]", "gemm(a, b)", SPECS["gemm"].doc]),
        ("T).", ["-> f16[64, 32]@col", "x.T"]),
        ("with_tile", [".with_tile(m, n, k)", SETTERS["tile"].doc]),
        ("y >> bias", ["y: f16[M, 32]", "Computed in `f32`", "rounded to `f16`"]),
        ("x, w.T", ["x: f16[M, 64]", "An argument of `first`"]),
        ("approximate", ["gelu(x, approximate=none)", "- `approximate`: "]),
        ("tanh", ["- `approximate`: "]),
        ("M >= 1", ["`M`: a dynamic dimension of `first`", "dimension 0 of `x`", "`where M >= 1`"]),
        ("f16", ["`f16`: float, 16 bits", "65504"]),
        ("sm_90a", ["compute capability 9.0", "232448 bytes"]),
        ("first(", ["kernel first(x: f16[M, 64]", "where M >= 1"]),
        ("* q", ["-> f32[4, P]", "mul(a, b)"]),
        ("pieces =", ["pieces: [f32[4, P], f32[4, P]]"]),
    ],
)
def test_hover_says_what_a_name_is(part: str, expected: list[str]) -> None:
    offset = place(PROGRAM, part)
    found = hovering.hover(known(PROGRAM), offset)
    assert found is not None
    assert found.start <= offset < found.end
    for text in expected:
        assert text in found.markdown


@pytest.mark.parametrize("part", ["{", "= gemm", "128", "return"])
def test_hover_says_nothing_where_there_is_nothing_to_say(part: str) -> None:
    assert hovering.hover(known(PROGRAM), place(PROGRAM, part)) is None


def test_hover_explains_the_diagnostic_of_a_place_and_a_code_in_a_comment() -> None:
    text = "kernel f(x: f16[8]) -> f16[8] { return rellu(x) } # expected-error@+0 [UC0202]"
    at_error = hovering.hover(known(text), text.index("rellu"))
    in_comment = hovering.hover(known(text), text.index("UC0202") + 2)
    for found in (at_error, in_comment):
        assert found is not None and "**UC0202** *unknown-operation*" in found.markdown
    assert in_comment is not None and text[in_comment.start : in_comment.end] == "UC0202"


# Completion -----------------------------------------------------------------------------------------------------------

HEADER = "kernel f(x: f16[M, 64], w: f16[32, 64]) -> f16[M, 32] {\n  first = relu(x)\n  "


def offered(text: str) -> dict[str, Candidate]:
    text, offset = marked(text)
    return {candidate.label: candidate for candidate in complete(known(text), offset)}


CONTRACTION = [row.spelling for row in SETTERS.values()]


@pytest.mark.parametrize(
    ("text", "present", "absent"),
    [
        ("|", ["kernel", "target"], ["gemm"]),
        ("target |", list(ARCHITECTURES), ["kernel"]),
        ("target sm_90a\n|", ["kernel"], ["target"]),
        ("kernel f(x: |", list(ELEMENT_TYPES), ["gemm", "x"]),
        ("kernel f(x: f16[M, 8], y: f16[|", ["M"], ["x", "f16"]),
        ("kernel f(x: f16[M, 8]@|", ["row", "col", "channels_last"], ["f16"]),
        ("kernel f(x: f16[M, 8]) -> |", ["f16", "f32"], ["M"]),
        ("kernel f(x: f16[M, 8]) -> f16[M, 8] where |", ["M"], ["x"]),
        (HEADER + "y = |", ["gemm", "relu", "x", "w", "first"], ["y", "M", ".T", "t", "with_tile"]),
        (HEADER + "y = re|", ["relu", "first"], ["y"]),
        (HEADER + "y = x >> |", ["gemm", "bias"], ["x", "first"]),
        (HEADER + "y = gemm(x, w.T).|", [*CONTRACTION, "T"], ["gemm"]),
        (HEADER + "y = gemm(x, w.T).with_tile(1, 2, 3).wi|", ["with_stages", "T"], ["with_tile"]),
        (HEADER + "y = x >> gemm(w.|", ["T"], ["with_tile"]),
        (HEADER + "y = relu(x).|", ["T"], ["with_tile"]),
        (HEADER + "y = attention(x, x, x).|", ["with_compute", "with_acc"], ["with_tile"]),
        (HEADER + "y = gemm(x, w).with_schedule(|", ["auto", "cooperative", "pingpong_fp8_fast"], ["x"]),
        (HEADER + "y = gemm(x, w).with_raster(along_m, |", ["swizzle="], ["along_m"]),
        (HEADER + "y = gemm(x, w).with_raster(along_m, swizzle=|", ["1", "2", "4", "8"], ["swizzle="]),
        (HEADER + "y = gemm(x, w).with_alignment(a=8, |", ["b=", "d="], ["a="]),
        (HEADER + "y = gelu(x, |", ["none", "tanh", "approximate="], ["x"]),
        (HEADER + "y = x >> gelu(|", ["none", "tanh", "approximate="], ["x"]),
        (HEADER + "y = cast(x, dtype=|", ["f16", "bool"], ["x", "dtype="]),
        (HEADER + "y = sum(x, dim=0, |", ["keepdim="], ["dim="]),
        (HEADER + "y = sum(x, 0, keepdim=|", ["true", "false"], ["x"]),
        (HEADER + "y = reshape(x, 4, |", ["M"], ["x"]),
        (HEADER + "y = concat([x, |", ["x", "w", "first"], []),
        (HEADER + "y = to_layout(x, @|", ["col"], ["x"]),
        (HEADER + "y = (x + |", ["w", "gemm"], ["y"]),
        (HEADER + "y = relu(x) # |", [], ["x", "gemm"]),
        (HEADER + "|", ["return"], ["gemm"]),
        (HEADER + "return |", ["first", "x"], []),
        (HEADER + "y = gemm(x\n\nkernel g(q: |", ["f16"], ["x"]),
    ],
)
def test_completion_offers_what_may_stand_at_the_cursor(text: str, present: list[str], absent: list[str]) -> None:
    found = offered(text)
    assert [label for label in present if label not in found] == []
    assert [label for label in absent if label in found] == []


def test_every_operation_setter_and_type_can_be_completed() -> None:
    spellings = {spec.spelling for spec in SPECS.values() if not spec.spelling.startswith(".")}
    assert set(offered(HEADER + "y = x >> |")) == spellings
    assert set(offered("kernel f(x: |")) == set(ELEMENT_TYPES)
    assert {c for c in offered(HEADER + "y = conv2d(x, w).|") if c != "T"} == set(CONTRACTION)


def test_a_candidate_says_what_it_is() -> None:
    found = offered(HEADER + "y = |")
    assert found["first"].detail == "f16[M, 64]"
    assert found["gelu"].detail == "gelu(x, approximate=none)"
    assert SPECS["gelu"].doc in found["gelu"].documentation
    assert found["gelu"].insert == "gelu($0)"


def test_the_latest_value_comes_first() -> None:
    assert list(offered(HEADER + "y = |"))[:3] == ["first", "w", "x"]


def test_the_context_of_another_kernel_does_not_leak() -> None:
    text, offset = marked(PROGRAM + "kernel third(a: f16[Q]) -> f16[Q] { return | }")
    context = context_at(text, offset)
    assert (context.kernel, context.values, context.dimensions) == ("third", ["a"], ["Q"])


# Formatting -----------------------------------------------------------------------------------------------------------

COMMENTED = """# licence

# about the file
target sm_90a   # Hopper
# about the kernel
kernel f(x: f16[64, 32], # rows
         w: f16[64, 32]) -> f16[64, 64] { # body
    # the product
    y = gemm(x,w.T).with_tile(128,64,64) # tile
    # several lines

    # of comment
    z = y
      # inside
      >> relu()
    return z # result
    # before the brace
}
# after
"""

CANONICAL = """# licence

# about the file
target sm_90a  # Hopper

# about the kernel
# rows
kernel f(x: f16[64, 32], w: f16[64, 32]) -> f16[64, 64] {  # body
  # the product
  y = gemm(x, w.T).with_tile(128, 64, 64)  # tile
  # several lines

  # of comment
  # inside
  z = relu(y)
  return z  # result
  # before the brace
}
# after
"""


def test_formatting_keeps_every_comment_at_its_place() -> None:
    assert formatted(COMMENTED) == CANONICAL
    assert formatted(CANONICAL) == CANONICAL


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_formatting_an_example_twice_is_formatting_it_once(path: Path) -> None:
    once = formatted(path.read_text(encoding="utf-8"))
    assert once is not None and formatted(once) == once
    assert known(once).diagnostics == known(path.read_text(encoding="utf-8")).diagnostics


TOKENS = tokens_of(PROGRAM)


@given(st.lists(st.integers(0, len(TOKENS) - 1), max_size=12, unique=True), st.booleans())
def test_comments_anywhere_are_kept_and_change_nothing(places: list[int], own_line: bool) -> None:
    text = PROGRAM
    for number, place in enumerate(sorted(places, reverse=True)):
        before = "\n" if own_line else " "
        start = TOKENS[place].start
        text = f"{text[:start]}{before}# comment {number}\n{text[start:]}"
    result = formatted(text)
    assert result is not None
    assert sorted(re.findall("# comment [0-9]+", result)) == sorted(re.findall("# comment [0-9]+", text))
    assert re.sub(r"\s*# comment [0-9]+", "", result).split() == (formatted(PROGRAM) or "").split()
    assert formatted(result) is not None


def test_a_text_with_an_error_is_not_formatted() -> None:
    assert formatted("kernel f(x: f16[8]) -> f16[8] { return rellu(x) }") is None
    assert formatted("kernel f(") is None


# Positions ------------------------------------------------------------------------------------------------------------

MIXED = "ab\r\nµ\U0001f600x\ry\n\nlast"


@pytest.mark.parametrize(("encoding", "width"), [("utf-16", 2), ("utf-8", 1), ("utf-32", 4)])
def test_positions_count_as_the_client_does(encoding: str, width: int) -> None:
    positions = Positions(MIXED, encoding)
    lines = ["ab\r\n", "µ\U0001f600x\r", "y\n", "\n", "last"]
    offset = 0
    for number, line in enumerate(lines):
        for column in range(len(line)):
            units = len(line[:column].encode(f"{encoding}-le" if width > 1 else encoding)) // width
            assert positions.position(offset) == Position(number, units)
            if line[column] not in "\r\n" or line[:column].rstrip("\r\n") == line[:column]:
                assert positions.offset(Position(number, units)) == offset
            offset += 1
    assert positions.position(len(MIXED)) == Position(4, 4)
    assert positions.offset(Position(4, 99)) == positions.offset(Position(99, 0)) == len(MIXED)
    assert positions.offset(Position(0, 99)) == 2


def test_a_position_inside_of_a_surrogate_pair_is_behind_it() -> None:
    assert Positions("\U0001f600x", "utf-16").offset(Position(0, 1)) == 1
