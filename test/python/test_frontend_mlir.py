"""MLIR text: places, exact names, and errors that say where."""

import pytest
from frontend_reading import context, kernel_of, mlir, read
from xdsl.dialects.builtin import FileLineColLoc

from ucutlass.diagnostics.core import Diagnostic
from ucutlass.diagnostics.locations import engine_of
from ucutlass.dialects.ucutlass.kernel import kernels_of
from ucutlass.frontend import language_of, read_program
from ucutlass.frontend.text import SourceError

T = "!ucutlass.tensor<[8], f16>"
U = "!ucutlass.unresolved"
KERNEL = f"""builtin.module {{
  ucutlass.kernel @k(%x: {T}, %x_1: {T}) -> ({T}) {{
    %y, %z_2 = ucutlass.split %x {{sizes = #ucutlass.dims<[4, 4]>}} : ({T}) -> ({U}, {U})
    %0 = ucutlass.add %y, %z_2 : ({U}, {U}) -> {U}
    ucutlass.return %0 : {U}
  }}
}}
"""


def error_of(text: str) -> Diagnostic:
    """The error of a text."""
    ctx = context()
    with pytest.raises(SourceError) as raised:
        read_program(ctx, text, "broken.mlir")
    (error,) = engine_of(ctx).errors
    assert raised.value.diagnostics == (error,)
    return error


def test_names_are_exact() -> None:
    (kernel,) = kernels_of(read(KERNEL, "mlir"))
    assert [a.name_hint for a in kernel.body.block.args] == ["x", "x_1"]
    assert [r.name_hint for op in kernel.body.block.ops for r in op.results] == ["y", "z_2", None]


def test_operations_and_arguments_have_places() -> None:
    (kernel,) = kernels_of(read(KERNEL, "mlir"))
    places: list[tuple[int, int]] = []
    for op in (kernel, *kernel.body.block.ops):
        assert isinstance(op.location, FileLineColLoc)
        assert op.location.filename.data == "program.mlir"
        places.append((op.location.line.data, op.location.column.data))
    assert places == [(2, 3), (3, 16), (4, 10), (5, 5)]
    locations = [a.location for a in kernel.body.block.args]
    assert [loc.column.data for loc in locations if isinstance(loc, FileLineColLoc)] == [22, 54]


def test_written_places_are_kept() -> None:
    text = KERNEL.replace(f"-> {U}\n    ucutlass.return", f'-> {U} loc("other.ucu":7:3)\n    ucutlass.return')
    (kernel,) = kernels_of(read(text, "mlir"))
    add = list(kernel.body.block.ops)[1]
    assert isinstance(add.location, FileLineColLoc)
    assert (add.location.filename.data, add.location.line.data) == ("other.ucu", 7)


def test_places_survive_in_text() -> None:
    text = mlir(read(KERNEL, "mlir"), locations=True)
    assert mlir(read(text, "mlir"), locations=True) == text


@pytest.mark.parametrize(
    ("old", "new", "line", "column", "message"),
    [
        ("ucutlass.add", "ucutlass.adt", 4, 23, "Operation ucutlass.adt is not registered"),
        ("%y, %z_2 :", "%y, %q :", 8, 1, "values used but not defined"),
        ("[8], f16>, %x_1", "[-8], f16>, %x_1", 2, 26, "a size is negative"),
        ("<[4, 4]>", "<[4, x]>", 3, 62, "size: an integer or a quoted expression"),
        ("#ucutlass.dims", "#ucutlass.dimz", 3, 57, "dimz"),
        ("ucutlass.return", '"ucutlass.return', 5, 5, "this string has no end on its line"),
    ],
)
def test_errors_say_where(old: str, new: str, line: int, column: int, message: str) -> None:
    assert old in KERNEL
    error = error_of(KERNEL.replace(old, new, 1))
    assert error.code == "UC0121"
    assert message in error.message
    assert error.span is not None
    assert (error.span.line, error.span.column) == (line, column)


def test_rules_that_xdsl_checks_while_reading_have_a_place() -> None:
    """xDSL raises a bare exception here, without an operation and without a place."""
    text = KERNEL.replace("{sizes = #ucutlass.dims<[4, 4]>}", "{sizes = 3 : i32}").replace(
        f"({T}) -> ({U}, {U})", f"() -> ({U}, {U})"
    )
    error = error_of(text)
    assert error.span is not None and error.span.line in (3, 4)


def test_deep_nesting_is_an_error() -> None:
    error = error_of("test.op {a = " + "[" * 100_000 + "}")
    assert error.code in ("UC0104", "UC0121")


def test_a_long_unfinished_string_takes_no_time() -> None:
    error = error_of('builtin.module attributes {a = "' + "x" * 100_000 + "}")
    assert error.span is not None and error.span.column == 32


@pytest.mark.parametrize(
    ("name", "text", "language"),
    [
        ("a.ucu", "builtin.module {}", "ucu"),
        ("a.mlir", "kernel k", "mlir"),
        ("<stdin>", "# a comment\n\n  target sm_90a", "ucu"),
        ("<stdin>", "kernel k(x: f16[8])", "ucu"),
        ("<stdin>", "kernels", "mlir"),
        ("<stdin>", "// kernel", "mlir"),
        ("<stdin>", "builtin.module { }", "mlir"),
    ],
)
def test_language_by_name_and_first_word(name: str, text: str, language: str) -> None:
    assert language_of(name, text) == language


def test_language_and_options_by_argument() -> None:
    ctx = context()
    assert kernels_of(read_program(ctx, KERNEL, "<stdin>", "mlir{no-implicit-module=true}"))
    bare = KERNEL.split("{\n", 1)[1].rsplit("}", 1)[0]
    assert kernels_of(read_program(context(), bare, "<stdin>", "mlir"))
    with pytest.raises(SourceError):
        read_program(context(), bare, "<stdin>", "mlir{no-implicit-module=true}")
    assert kernel_of("kernel k(x: f16[8]) -> f16[8] { return x + x }").sym_name.data == "k"
