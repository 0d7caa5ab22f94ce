"""The errors in compiler logs, in the forms of nvcc's front end, g++, ptxas and the linker."""

import pytest

from ucutlass.runtime.compiler_log import CompilerError, compiler_errors

SOURCE = """// header
// ---- kernel 0: y = gemm(x, w) >> relu() -------------------
using A = B;
using C = D;
// ---- kernel 1: z = exp(y) ---------------------------------
using E = F;
"""

EDG_OWN = """source.cu(4): error: identifier "D" is undefined
  using C = D;
            ^

1 error detected in the compilation of "source.cu".
"""

EDG_TEMPLATE = """/opt/include/builder.inl(210): error: static assertion failed with "Should meet TMA alignment"
      static_assert(detail::is_aligned<ElementA, AlignmentA>());
      ^
          detected during:
            instantiation of class "cutlass::gemm::collective::CollectiveBuilder<...>" at line 3 of /opt/x.h
            instantiation of class "Outer" at line 6 of source.cu

/opt/cutlass/include/cute/layout.hpp(99): error: no instance of function template matches
          detected during instantiation of "auto f()" at line 4 of source.cu

2 errors detected in the compilation of "source.cu".
"""

GCC_TEMPLATE = """In file included from source.cu:1:
/opt/cutlass/include/cute/layout.hpp: In instantiation of 'struct X<int>':
source.cu:6:11:   required from here
/opt/cutlass/include/cute/layout.hpp:41:5: error: static assertion failed: bad stride
   41 |     static_assert(false);
"""


def test_an_error_in_the_source_names_its_kernel() -> None:
    (error,) = compiler_errors(EDG_OWN, SOURCE, "source.cu")
    assert error == CompilerError(
        'identifier "D" is undefined', "source.cu", 4, 4, "kernel 0: y = gemm(x, w) >> relu()"
    )
    assert str(error) == (
        'source.cu:4: identifier "D" is undefined (line 4 of the emitted source, kernel 0: y = gemm(x, w) >> relu())'
    )


def test_an_error_in_a_header_names_the_instantiation() -> None:
    first, second = compiler_errors(EDG_TEMPLATE, SOURCE, "source.cu")
    assert first.text == 'static assertion failed with "Should meet TMA alignment"'
    assert (first.line, first.source_line, first.section) == (210, 6, "kernel 1: z = exp(y)")
    assert (second.line, second.source_line, second.section) == (99, 4, "kernel 0: y = gemm(x, w) >> relu()")


def test_gcc_says_the_instantiation_before_the_error() -> None:
    (error,) = compiler_errors(GCC_TEMPLATE, SOURCE, "source.cu")
    assert error.text == "static assertion failed: bad stride"
    assert (error.line, error.source_line, error.section) == (41, 6, "kernel 1: z = exp(y)")


@pytest.mark.parametrize(
    ("log", "file", "text"),
    [
        ("ptxas fatal   : Unresolved extern function 'f'", "ptxas", "Unresolved extern function 'f'"),
        (
            "nvcc fatal   : Unsupported gpu architecture 'compute_99'",
            "nvcc",
            "Unsupported gpu architecture 'compute_99'",
        ),
        ("/usr/bin/ld: cannot find -lcudart_static", "/usr/bin/ld", "cannot find -lcudart_static"),
    ],
)
def test_other_programs(log: str, file: str, text: str) -> None:
    assert compiler_errors(log, SOURCE, "source.cu") == (CompilerError(text, file, None, None, None),)


def test_the_first_few_and_each_once() -> None:
    lines = [f"source.cu({i}): error: number {i}" for i in range(1, 6) for _ in range(2)]
    assert [e.text for e in compiler_errors("\n".join(lines), SOURCE, "source.cu")] == [
        "number 1",
        "number 2",
        "number 3",
    ]


def test_warnings_are_no_errors() -> None:
    log = 'source.cu(4): warning #177-D: variable "error" was declared but never referenced\n'
    assert compiler_errors(log, SOURCE, "source.cu") == ()
