"""Codes UC02xx: names of values, operations, setters, parameters and words."""

from ucutlass.diagnostics.catalogue.info import CodeInfo
from ucutlass.diagnostics.core import Severity

CODES = (
    CodeInfo(
        "UC0201",
        "unknown-name",
        Severity.ERROR,
        "no value has this name",
        "A name is a parameter of the kernel or was assigned in an earlier statement of it. Kernels do not see each"
        " other's values, and dimensions are not values. The fix is the nearest name that is known here.",
        "kernel k(input: f16[8, 8]) -> f16[8, 8] { return relu(inptu) }",
        "kernel k(input: f16[8, 8]) -> f16[8, 8] { return relu(input) }",
    ),
    CodeInfo(
        "UC0202",
        "unknown-operation",
        Severity.ERROR,
        "there is no such operation",
        "Operations have the names that PyTorch gives them, in small letters; products of matrices are `gemm` and"
        " `batched_gemm`. `--list-ops` prints all of them.",
        "kernel k(x: f16[64, 64]) -> f16[64, 64] { return gem(x, x) }",
        "kernel k(x: f16[64, 64]) -> f16[64, 64] { return gemm(x, x) }",
    ),
    CodeInfo(
        "UC0203",
        "unknown-setter",
        Severity.ERROR,
        "there is no such setter",
        "Setters begin with `with_`; the message lists them. Other properties of an operation are arguments of its"
        " call.",
        "kernel k(x: f16[64, 64]) -> f16[64, 64] { return gemm(x, x).with_tiles(64, 64, 64) }",
        "kernel k(x: f16[64, 64]) -> f16[64, 64] { return gemm(x, x).with_tile(64, 64, 64) }",
    ),
    CodeInfo(
        "UC0204",
        "assigned-twice",
        Severity.ERROR,
        "a name is assigned a second time",
        "A kernel is a dataflow program: each name stands for one value. Give the second value a name of its own; the"
        " note shows the first assignment.",
        "kernel k(x: f16[8, 8]) -> f16[8, 8] { y = relu(x) y = exp(y) return y }",
        "kernel k(x: f16[8, 8]) -> f16[8, 8] { y = relu(x) z = exp(y) return z }",
    ),
    CodeInfo(
        "UC0205",
        "unused-value",
        Severity.WARNING,
        "a value is never used",
        "What nothing depends on is not computed, and an unused parameter is passed for nothing. Return the value,"
        " use it, or remove it; a misspelt name elsewhere is the usual cause.",
        "kernel k(x: f16[8, 8]) -> f16[8, 8] { y = relu(x) return x * 2 }",
        "kernel k(x: f16[8, 8]) -> f16[8, 8] { y = relu(x) return y * 2 }",
    ),
    CodeInfo(
        "UC0206",
        "unknown-word",
        Severity.ERROR,
        "a parameter or setter does not take this word",
        "Some parameters take one of a few words, written without quotation marks. The message lists them; which ones"
        " a target can build is another question, which has its own codes.",
        "kernel k(x: f16[8, 8]) -> f16[8, 8] { return gelu(x, approximate=tan) }",
        "kernel k(x: f16[8, 8]) -> f16[8, 8] { return gelu(x, approximate=tanh) }",
    ),
    CodeInfo(
        "UC0207",
        "unknown-keyword",
        Severity.ERROR,
        "an operation or setter has no parameter of this name",
        "Parameters are called as in PyTorch; the message lists those of this operation. `axis` is `dim` here, as"
        " there.",
        "kernel k(x: f16[8, 8]) -> f16[8] { return sum(x, axis=1) }",
        "kernel k(x: f16[8, 8]) -> f16[8] { return sum(x, dim=1) }",
    ),
    CodeInfo(
        "UC0208",
        "kernel-name",
        Severity.ERROR,
        "a kernel cannot have this name",
        "The kernel's name becomes a C symbol, so it may not be a keyword of C++, begin with `__`, or be a name that"
        " the generated code uses itself. Choose another.",
        "kernel template(x: f16[8, 8]) -> f16[8, 8] { return relu(x) }",
        "kernel relu_8x8(x: f16[8, 8]) -> f16[8, 8] { return relu(x) }",
    ),
    CodeInfo(
        "UC0209",
        "duplicate-kernel",
        Severity.ERROR,
        "two kernels of a file have one name",
        "Each kernel becomes a C symbol of its name in one library. Rename one of them; the note shows the first.",
        "kernel k(x: f16[8]) -> f16[8] { return relu(x) }\nkernel k(x: f16[8]) -> f16[8] { return exp(x) }",
        "kernel k(x: f16[8]) -> f16[8] { return relu(x) }\nkernel e(x: f16[8]) -> f16[8] { return exp(x) }",
    ),
    CodeInfo(
        "UC0210",
        "argument-twice",
        Severity.ERROR,
        "an argument is given twice",
        "The same parameter was given by name two times, or by position and by name. Note that `v >> op(args)` gives"
        " `v` as the first argument by position.",
        "kernel k(x: f16[8, 8]) -> f16[8] { return sum(x, 1, dim=0) }",
        "kernel k(x: f16[8, 8]) -> f16[8] { return sum(x, dim=0) }",
    ),
    CodeInfo(
        "UC0211",
        "missing-argument",
        Severity.ERROR,
        "an argument that has no default is missing",
        "The message names the parameter and shows the operation's signature. Where a tensor comes through a pipe it"
        " is the first argument already.",
        "kernel k(x: f16[64, 64]) -> f16[64, 64] { return gemm(x) }",
        "kernel k(x: f16[64, 64]) -> f16[64, 64] { return gemm(x, x) }",
    ),
    CodeInfo(
        "UC0212",
        "too-many-arguments",
        Severity.ERROR,
        "an operation or setter takes fewer arguments",
        "The message shows the signature. After a pipe, the value on its left is the first argument and must not be"
        " written again.",
        "kernel k(x: f16[8, 8]) -> f16[8, 8] { return relu(x, 0) }",
        "kernel k(x: f16[8, 8]) -> f16[8, 8] { return relu(x) }",
    ),
    CodeInfo(
        "UC0213",
        "unknown-dimension",
        Severity.ERROR,
        "no dimension has this name",
        "In a place for a whole number a name is a dynamic dimension, and it must occur in the type of a parameter or"
        " be bound by `where NAME == expression`. Dimensions and values have separate names.",
        "kernel k(x: f16[M, 8]) -> f16[8, M] { return reshape(x, 8, N) }",
        "kernel k(x: f16[M, 8]) -> f16[8, M] { return reshape(x, 8, M) }",
    ),
    CodeInfo(
        "UC0214",
        "unknown-layout",
        Severity.ERROR,
        "there is no such layout",
        "A layout is `row`, `col`, `channels_last`, or the dimensions from outermost to innermost in memory, as"
        " `(0,2,3,1)`. Row-major is the default and need not be written.",
        "kernel k(x: f16[8, 8]@column) -> f16[8, 8] { return relu(x) }",
        "kernel k(x: f16[8, 8]@col) -> f16[8, 8] { return relu(x) }",
    ),
    CodeInfo(
        "UC0215",
        "unknown-suffix",
        Severity.ERROR,
        "a value has nothing of this name after the point",
        "After a point stands `T`, which swaps the last two dimensions, or a setter with its parentheses. Everything"
        " else is a call: `permute(x, 1, 0)`, `cast(x, f32)`.",
        "kernel k(x: f16[8, 64]) -> f16[64, 8] { return relu(x.t) }",
        "kernel k(x: f16[8, 64]) -> f16[64, 8] { return relu(x.T) }",
    ),
    CodeInfo(
        "UC0216",
        "used-before-assignment",
        Severity.ERROR,
        "a value is used before the statement that assigns it",
        "Statements are in order: a value can be used only after its assignment, which the note shows. Move that"
        " statement up. A value cannot depend on itself.",
        "kernel k(x: f16[8, 8]) -> f16[8, 8] { y = exp(z) z = relu(x) return y }",
        "kernel k(x: f16[8, 8]) -> f16[8, 8] { z = relu(x) y = exp(z) return y }",
    ),
    CodeInfo(
        "UC0217",
        "duplicate-parameter",
        Severity.ERROR,
        "two parameters of a kernel have one name",
        "Each parameter needs a name of its own. To use one tensor in two places, use its name twice in the body.",
        "kernel k(x: f16[8], x: f16[8]) -> f16[8] { return x * 2 }",
        "kernel k(x: f16[8], y: f16[8]) -> f16[8] { return x * y }",
    ),
)
