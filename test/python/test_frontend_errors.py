"""Broken programs: the code, the exact span of the culprit, and fix-its that make the program right.

`«…»` marks the culprit of a program; it is taken out before the program is read.
"""

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin

from ucutlass.diagnostics.core import DiagnosticEngine, Severity
from ucutlass.diagnostics.fixits import apply_fixits
from ucutlass.diagnostics.locations import engine_of
from ucutlass.dialects.ucutlass import Ucutlass
from ucutlass.frontend import read_program
from ucutlass.frontend.text import SourceError

HEAD = "kernel k(x: f16[8, 8], w: f16[8, 8]) -> f16[8, 8] {\n  "
DYNAMIC = "kernel k(x: f16[M, 8], w: f16[8, 8]) -> f16[M, 8] "


def read(text: str | bytes) -> DiagnosticEngine:
    """The diagnostics of a program."""
    ctx = Context()
    ctx.load_dialect(Builtin)
    ctx.load_dialect(Ucutlass)
    try:
        read_program(ctx, text, "broken.ucu")
    except SourceError:
        assert engine_of(ctx).has_errors
    return engine_of(ctx)


def unmarked(marked: str) -> tuple[str, list[tuple[int, int]]]:
    """A program without its marks, and the places that they marked."""
    spans: list[tuple[int, int]] = []
    text = ""
    for index, part in enumerate(marked.replace("«", "\0«").replace("»", "\0").split("\0")):
        if part.startswith("«"):
            spans.append((len(text), len(text) + len(part) - 1))
            part = part[1:]
        assert index or not part.startswith("»")
        text += part
    return text, spans


SYNTAX: list[tuple[str, str]] = [
    ("UC0101", "kernel k(x «f16»[8, 8]) -> f16[8, 8] { return x }"),
    ("UC0101", "kernel k(x: f16[8]) «=>» f16[8] { return x }"),
    ("UC0101", "kernel k(x: f16[8])«:» f16[8] { return x }"),
    ("UC0101", "kernel k(x: f16[8]) «{» return x }"),
    ("UC0101", "kernel k(x: f16[«2 * M»]) -> f16[8] { return x }"),
    ("UC0101", "kernel k(x: f16[«-»1]) -> f16[8] { return x }"),
    ("UC0101", "kernel k(x: f16[8]) -> «(»f16[8], f16[8]) { return x, x }"),
    ("UC0101", "kernel k(x: f16[K]) -> f16[K] where K % 8 «=» 0 { return x }"),
    ("UC0101", "«def» k(x: f16[8]) -> f16[8] { return x }"),
    ("UC0101", "«foo» bar"),
    ("UC0101", "«target»\nkernel k(x: f16[8]) -> f16[8] { return x }"),
    ("UC0101", "target sm_90a «x»\nkernel k(x: f16[8]) -> f16[8] { return x }"),
    ("UC0101", HEAD + "y «relu»(x)\n return y }"),
    ("UC0101", HEAD + "«let» y = relu(x)\n return y }"),
    ("UC0101", HEAD + "«relu»(x)\n return x }"),
    ("UC0101", HEAD + "y =\n  «z» = relu(x)\n return z }"),
    ("UC0101", HEAD + "y = x +\n  «z» = relu(x)\n return z }"),
    ("UC0101", HEAD + "y = x +«*» w\n return y }"),
    ("UC0101", HEAD + "return softmax(x, dim«:» 1) }"),
    ("UC0101", HEAD.replace(">", "> f16[8, 8],") + "return «(»x, w) }"),
    ("UC0101", HEAD + "return x «@» w }"),
    ("UC0101", HEAD + "return x «<=» w }"),
    ("UC0101", HEAD + "return x «**» 2 }"),
    ("UC0101", HEAD + "return x «//» a comment\n }"),
    ("UC0101", HEAD + "y «:=» relu(x)\n return y }"),
    ("UC0101", HEAD + "«relu»(x) = w\n return relu }"),
    ("UC0101", HEAD + "return x «->» relu() }"),
    ("UC0101", HEAD + "return x «>» relu() }"),
    ("UC0101", HEAD + "return x«[»0] }"),
    ("UC0101", HEAD + "return softmax(x, dim«==»1) }"),
    ("UC0101", HEAD + "«if» x { y = w } else { y = x }\n return y }"),
    ("UC0101", "kernel k(x: f16[M]) -> f16[M] where «(»M % 8 == 0) { return x * 2 }"),
    ("UC0101", "kernel k(x: f16[M]) -> f16[M] where M % 8 == 0 «and» M > 1 { return x * 2 }"),
    ("UC0101", "target «=» sm_90a\nkernel k(x: f16[8]) -> f16[8] { return x * 2 }"),
    ("UC0102", HEAD + "return x «|» relu() }"),
    ("UC0102", HEAD + "return x «|>» relu() }"),
    ("UC0102", HEAD + "return x«;» }"),
    ("UC0102", HEAD + 'return gelu(x, approximate=«"tanh"») }'),
    ("UC0102", HEAD + "return x «−» w }"),
    ("UC0102", HEAD + "return x «?» w }"),
    ("UC0102", "«\ufeff»" + HEAD + "return x }"),
    ("UC0102", HEAD + "y«é»s = relu(x) return y«é»s }"),
    ("UC0103", HEAD + "return x«»"),
    ("UC0103", HEAD + "return relu(x«» # never closed"),
    ("UC0103", "kernel k(x: f16[8«»"),
    ("UC0103", HEAD + "return x +«»\n"),
    ("UC0107", "target sm_90a\n«target sm_80»\nkernel k(x: f16[8]) -> f16[8] { return x }"),
    ("UC0108", "target sm_90a«»\n# nothing else\n"),
    ("UC0109", "kernel k(x: f16[8]) -> f16[8] { return x }\n«target sm_90a»"),
    ("UC0110", "kernel k(x: f16[8, 8«,»]) -> f16[8, 8] { return x }"),
    ("UC0110", HEAD + "return relu(x«,») }"),
    ("UC0110", "kernel k(x: f16[8], w: f16[8]«,») -> f16[8] { return x * w }"),
    ("UC0110", HEAD + "return x«,» }"),
    ("UC0111", HEAD + "return x * «.5» }"),
    ("UC0111", HEAD + "return x * «1.» }"),
    ("UC0111", HEAD + "return x * «0x1F» }"),
    ("UC0111", HEAD + "return x * «1_000» }"),
    ("UC0111", HEAD + "return x * «2.0f» }"),
    ("UC0111", HEAD + "return gemm(x, w).with_tile(«128x256x64») }"),
    ("UC0112", "kernel k(«auto»: f16[8, 8]) -> f16[8, 8] { return relu(auto) }"),
    ("UC0112", HEAD + "«true» = relu(x) return true }"),
    ("UC0113", HEAD + "return gemm(x, w).T«.with_stages(4)» }"),
    ("UC0113", HEAD + "return x«.with_stages(4)» }"),
    ("UC0113", HEAD + "return (x + w)«.with_tile(1, 2, 3)» }"),
    ("UC0114", HEAD + "return x >> «relu» }"),
    ("UC0114", HEAD + "return x >> «3» }"),
    ("UC0115", HEAD + "y = relu(x) «}»"),
    ("UC0115", HEAD + "y = relu(x)\n «kernel» j(x: f16[8]) -> f16[8] { return x }"),
    ("UC0116", HEAD + "return x\n «y» = relu(x) }"),
    ("UC0116", HEAD + "return x\n «return» w }"),
    ("UC0117", "kernel k(x: f16[8, 8«)»] -> f16[8, 8] { return x }"),
    ("UC0117", "kernel k(x: f16[8, 8«)» -> f16[8, 8] { return x }"),
    ("UC0117", HEAD + "return relu(x)«)» }"),
    ("UC0117", HEAD + "y = relu(x\n  «z» = gelu(x)\n return y * z }"),
    ("UC0117", HEAD + "return concat([x, w«)», 0) }"),
    ("UC0118", "kernel k(x: f16[8 «8»]) -> f16[8, 8] { return x }"),
    ("UC0118", HEAD + "return gemm(x «w») }"),
    ("UC0118", HEAD + "y = conv2d(x, w\n    «stride»=2,\n    padding=1)\n  return y }"),
    ("UC0119", "kernel k(x: f16[«99999999999999999999»]) -> f16[8] { return x }"),
    ("UC0119", HEAD + "return x * «1e999» }"),
    ("UC0215", HEAD + "return x.«relu»() }"),
    ("UC0215", HEAD + "return x.T«()» }"),
    ("UC0215", HEAD + "return relu(x).T«()» }"),
]

NAMES: list[tuple[str, str]] = [
    ("UC0104", DYNAMIC + "where «M" + " / 2" * 33 + "» > 0 { return x }"),
    ("UC0104", DYNAMIC + "where «(M" + " + 1" * 201 + ")» > 0 { return x }"),
    ("UC0106", "target «sm_90»\nkernel k(x: f16[8]) -> f16[8] { return x * 2 }"),
    ("UC0106", "target «sm_91a»\nkernel k(x: f16[8]) -> f16[8] { return x * 2 }"),
    ("UC0120", HEAD + "return gemm(a=x, «w») }"),
    ("UC0201", HEAD + "return gemm(x, «ww») }"),
    ("UC0201", HEAD + "return relu(«gemm») }"),
    ("UC0201", DYNAMIC + "{ return x * «M» }"),
    ("UC0202", HEAD + "return «matmul»(x, w) }"),
    ("UC0202", HEAD + "return «Relu»(x) }"),
    ("UC0203", HEAD + "return gemm(x, w).«with_tiles»(8, 8, 8) }"),
    ("UC0203", HEAD + "return gemm(x, w).«tile»(8, 8, 8) }"),
    ("UC0203", HEAD + "return gemm(x, w).«relu»() }"),
    ("UC0204", HEAD + "y = relu(x)\n «y» = gelu(x)\n return y }"),
    ("UC0204", HEAD + "«x» = relu(w)\n return x }"),
    ("UC0206", HEAD + "return gelu(x, approximate=«tan») }"),
    ("UC0206", HEAD + "return gemm(x, w).with_schedule(«cooperativ») }"),
    ("UC0206", HEAD + "return gemm(x, w).with_compute(«fp16») }"),
    ("UC0207", HEAD + "return sum(x, «axis»=1) }"),
    ("UC0207", HEAD + "return gemm(x, w, «tile»=8) }"),
    ("UC0207", HEAD + "return gemm(x, w).with_raster(along_m, «swizle»=2) }"),
    ("UC0208", "kernel «template»(x: f16[8]) -> f16[8] { return x * 2 }"),
    ("UC0208", "kernel «__k»(x: f16[8]) -> f16[8] { return x * 2 }"),
    ("UC0209", HEAD + "return x * w }\nkernel «k»(x: f16[8]) -> f16[8] { return x * 2 }"),
    ("UC0210", HEAD + "return sum(x, 1, «dim»=0) }"),
    ("UC0210", HEAD + "return x >> relu(«x»=w) }"),
    ("UC0210", HEAD + "return gemm(x, w).with_tile(8, 8, 8, «m»=8) }"),
    ("UC0211", HEAD + "return «gemm(x)» }"),
    ("UC0211", HEAD + "return x >> «transpose(1)» }"),
    ("UC0212", HEAD + "return relu(x, «0») }"),
    ("UC0212", HEAD + "return x >> gemm(w, «x») }"),
    ("UC0213", DYNAMIC + "{ return reshape(x, 8, «N») }"),
    ("UC0213", HEAD + "return reshape(x, «N», 4) }"),
    ("UC0214", "kernel k(x: f16[8, 8]@«column») -> f16[8, 8] { return x * 2 }"),
    ("UC0214", HEAD + "return to_layout(x, @«nhwc») }"),
    ("UC0215", HEAD + "return relu(x.«t») }"),
    ("UC0216", HEAD + "y = gelu(«z»)\n z = relu(x)\n return y * z }"),
    ("UC0216", HEAD + "y = gelu(«y»)\n return y }"),
    ("UC0217", "kernel k(x: f16[8], «x»: f16[8]) -> f16[8] { return x * 2 }"),
    ("UC0306", HEAD + "return «x, w» }"),
    ("UC0306", HEAD + "«a, b» = relu(x)\n return a * b }"),
    ("UC0306", HEAD + "«a, b, c» = split(x, [4, 4], 0)\n return a * b * c }"),
    ("UC0308", HEAD + "return relu(«split(x, [4, 4], 0)») }"),
    ("UC0308", HEAD + "return concat(«x», 0) }"),
    ("UC0308", HEAD + "return relu(«[x, w]») }"),
    ("UC0310", "kernel k(x: «half»[8]) -> f16[8] { return x * 2 }"),
    ("UC0310", HEAD + "return cast(x, «float32») }"),
    ("UC0311", "kernel k(x: f16[8, 8]«@channels_last») -> f16[8, 8] { return x * 2 }".replace("«@", "@«")),
    ("UC0311", "kernel k(x: f16[8, 8]@«(0,2)») -> f16[8, 8] { return x * 2 }"),
    ("UC0311", "kernel k(x: f16[8, 8]@«(0,1,2)») -> f16[8, 8] { return x * 2 }"),
    ("UC0313", "kernel k(x: f16[Batch, 8]) -> f16[«Batsch», 8] { return x * 2 }"),
    ("UC0314", HEAD + "return softmax(x, dim=«abs(w)») }"),
    ("UC0314", HEAD + "return reshape(x, «w», 8) }"),
    ("UC0315", HEAD + "return gemm(x, «2») }"),
    ("UC0315", HEAD + "return relu(«auto») }"),
    ("UC0315", HEAD + "return relu(«@row») }"),
    ("UC0319", HEAD + "return softmax(x, dim=«0.5») }"),
    ("UC0319", HEAD + "return sum(x, keepdim=«1») }"),
    ("UC0319", HEAD + "return leaky_relu(x, «[1]») }"),
    ("UC0319", HEAD + "return to_layout(x, «col») }"),
    ("UC0322", DYNAMIC + "where «M % 0» == 0 { return x * 2 }"),
    ("UC0401", HEAD + "return gemm(x, w).with_stages(3)«.with_stages(4)» }"),
    ("UC0402", HEAD + "return gemm(x, w) >> relu()«.with_stages(4)» }"),
    ("UC0402", "kernel k(q: f16[1, 1, 8, 8]) -> f16[1, 1, 8, 8] { return attention(q, q, q)«.with_tile(8, 8, 8)» }"),
    ("UC0403", HEAD + "return gemm(x, w)«.with_tile(64)» }"),
    ("UC0403", HEAD + "return gemm(x, w).with_tile(64, 64, 64, «64») }"),
    ("UC0403", HEAD + "return gemm(x, w).with_tile(64, «x», 64) }"),
    ("UC0403", HEAD + "return gemm(x, w)«.with_tile(64, auto, 64)» }"),
    ("UC0403", HEAD + "return gemm(x, w)«.with_alignment()» }"),
    ("UC0404", HEAD + "return gemm(x, w).with_stages(«0») }"),
    ("UC0404", HEAD + "return gemm(x, w).with_raster(along_m, swizzle=«3») }"),
]


@pytest.mark.parametrize(("code", "marked"), [*SYNTAX, *NAMES])
def test_code_and_span(code: str, marked: str) -> None:
    text, spans = unmarked(marked)
    errors = read(text).errors
    assert [(d.code, d.span is not None and (d.span.start, d.span.end)) for d in errors] == [
        (code, span) for span in spans
    ], [str(d) for d in errors]


@pytest.mark.parametrize(("code", "marked"), [*SYNTAX, *NAMES])
def test_fixits_make_the_program_right(code: str, marked: str) -> None:
    text, _ = unmarked(marked)
    engine = read(text)
    fixed = apply_fixits(engine.sources["broken.ucu"], engine.errors)
    if len(fixed.applied) == len(engine.errors):
        again = read(fixed.text)
        assert not again.errors, (fixed.text, [str(d) for d in again.errors])


FIXED: list[tuple[str, str]] = [
    ("return x * .5 + 1. }", "return x * 0.5 + 1.0 }"),
    ("return relu(x,) }", "return relu(x) }"),
    ("y = relu(x\n  z = gelu(x)\n  return y * z }", "y = relu(x)\n  z = gelu(x)\n  return y * z }"),
    ("return gemm(x w) }", "return gemm(x, w) }"),
    ("return gemm(x, w).T.with_stages(4) }", "return gemm(x, w).with_stages(4).T }"),
    ("return gemm(x, w) >> relu().with_stages(4) }", "return gemm(x, w).with_stages(4) >> relu() }"),
    ("return x >> relu }", "return x >> relu() }"),
    ('return gelu(x, approximate="tanh") }', "return gelu(x, approximate=tanh) }"),
    ("return x − w; }", "return x - w }"),
    ("return (x, w) }", "return x, w }"),
    ("return matmul(x, w) }", "return gemm(x, w) }"),
    ("return sum(x, axis=1) }", "return sum(x, dim=1) }"),
    ("return gemm(x, w).tile(8, 8, 8) }", "return gemm(x, w).with_tile(8, 8, 8) }"),
    ("return concat(x, 0) }", "return concat([x], 0) }"),
    ("return to_layout(x, col) }", "return to_layout(x, @col) }"),
    ("return sum(x, keepdim=1) }", "return sum(x, keepdim=true) }"),
    ("return gemm(x, w).with_stages(4).with_stages(4) }", "return gemm(x, w).with_stages(4) }"),
    ("return cast(x, float32) }", "return cast(x, f32) }"),
    ("return gemm(x, w).with_dtype(f16) }", "return gemm(x, w).with_compute(f16) }"),
    ("return gemm(x, w).with_tile(128x256x64) }", "return gemm(x, w).with_tile(128, 256, 64) }"),
    ("return x |> relu() | gelu() -> exp() }", "return x >> relu() >> gelu() >> exp() }"),
    ("y := x.T()\n  return y }", "y = x.T\n  return y }"),
    ("return x // twice\n}", "return x # twice\n}"),
    ("let y = relu(x)\n  return y }", "y = relu(x)\n  return y }"),
    ("y = relu(x) }", "y = relu(x)\n  return y }"),
]


@pytest.mark.parametrize(("broken", "right"), FIXED)
def test_what_the_fix_is(broken: str, right: str) -> None:
    engine = read(HEAD + broken)
    assert apply_fixits(engine.sources["broken.ucu"], engine.errors).text == HEAD + right


def test_many_errors_of_all_kinds_in_one_run() -> None:
    marked = (
        "target «sm_90»\n"
        "kernel first(x: «half»[8, 8«,»], w: f16[8, 8]) -> f16[8, 8] {\n"
        "  a = gemm(x, «ww»).with_stages(«0»)\n"
        "  b = relu(a «x»)\n"  # a missing comma, repaired: one argument too many
        "  c = x +«*» w\n"
        "  d = «rellu»(c)\n"  # c is broken, which is no error here
        "  return d\n"
        "}\n"
        "kernel second(x: f16[8]) -> f16[8] {\n"
        "  return exp(«y»)\n"
        "}\n"
    )
    text, spans = unmarked(marked)
    errors = read(text).errors
    assert sorted((d.span.start, d.span.end) for d in errors if d.span is not None) == sorted([*spans, spans[5]])
    assert [d.code for d in errors] == [
        *("UC0106", "UC0310", "UC0110", "UC0201", "UC0404", "UC0118", "UC0212", "UC0101", "UC0202", "UC0201")
    ]


def test_a_broken_header_silences_its_body_only() -> None:
    errors = read(
        "kernel a(x f16 8) -> f16[8] { y = undefined(z)\n return y }\nkernel b(x: f16[8]) -> f16[8] { return q }"
    ).errors
    assert {d.code for d in errors if d.span is not None and d.span.line == 3} == {"UC0201"}
    assert all(d.code in ("UC0101", "UC0118", "UC0117") for d in errors if d.span is not None and d.span.line == 1)


def test_not_utf8() -> None:
    (error,) = read(b"kernel k(x: f16[8]) -> f16[8] {\n  return x # caf\xe9\n}").errors
    assert error.code == "UC0105"
    assert error.span is not None and (error.span.line, error.span.column) == (2, 17)


def test_expected_sets_in_words() -> None:
    def message(text: str) -> str:
        return read(text).errors[0].message

    assert message(HEAD + "y = x + }") == "expected an expression, found '}'"
    assert message("kernel k(x: f16[8]) { return x }") == "expected '->', found '{'"
    assert message("kernel k(x: f16[8]) -> 3 { return x }") == "expected a type, found '3'"
    assert message(HEAD + "return relu(x") == "the file ends in a kernel, expected ')' '}'"
    assert message("foo") == "expected 'kernel' or 'target', found 'foo'"


def test_unused_values_are_warned_about() -> None:
    engine = read(HEAD + "y = relu(x)\n  a, b = split(w, [4, 4], 0)\n  return a }")
    assert not engine.has_errors
    warnings = [d for d in engine.diagnostics if d.severity is Severity.WARNING]
    assert [(d.code, d.message) for d in warnings] == [("UC0205", "'y' is never used"), ("UC0205", "'b' is never used")]


def test_errors_are_limited_in_number_and_time() -> None:
    lines = "\n".join(f"  y{i} = relu )) {i} x" for i in range(5000))
    assert 0 < len(read(HEAD + lines + "\n  return x }").errors) <= 200
