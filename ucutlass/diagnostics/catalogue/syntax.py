"""Codes UC01xx: the text is not a program."""

from ucutlass.diagnostics.catalogue.info import CodeInfo
from ucutlass.diagnostics.core import Severity

CODES = (
    CodeInfo(
        "UC0101",
        "unexpected-token",
        Severity.ERROR,
        "something else must stand here",
        "The caret is at the first token that cannot continue the program, and the message lists what can. Often the"
        " cause is just before it: a missing comma, operator or bracket.",
        "kernel k(x f16[8, 8]) -> f16[8, 8] { return x }",
        "kernel k(x: f16[8, 8]) -> f16[8, 8] { return x }",
    ),
    CodeInfo(
        "UC0102",
        "unexpected-character",
        Severity.ERROR,
        "a character that the language does not use",
        "Programs use ASCII letters, digits, `_` and the signs of the grammar; other characters may stand in"
        " comments, after `#`. Quotation marks, semicolons and typographic minus signs are the usual cause.",
        "kernel k(x: f16[8, 8]) -> f16[8, 8] { return x; }",
        "kernel k(x: f16[8, 8]) -> f16[8, 8] { return x }",
    ),
    CodeInfo(
        "UC0103",
        "unexpected-end",
        Severity.ERROR,
        "the file ends in the middle of the program",
        "Something that was opened is not finished; the notes point at the brackets that are still open. A kernel"
        " ends with `return …` and `}`.",
        "kernel k(x: f16[8, 8]) -> f16[8, 8] { return x",
        "kernel k(x: f16[8, 8]) -> f16[8, 8] { return x }",
    ),
    CodeInfo(
        "UC0104",
        "nesting-too-deep",
        Severity.ERROR,
        "an expression is too large",
        "Expressions of tensors may be as deep as they like, but those of sizes, in `where` and in parameters, have at"
        " most 200 operators, 32 divisions and 500 terms. Give the parts names: `where P == 2 * M, Q == P / 3`.",
        "kernel k(x: f16[M]) -> f16[M] where M" + " / 2" * 33 + " > 0 { return x }",
        "kernel k(x: f16[M]) -> f16[M] where M / 2 / 2 > 0 { return x }",
    ),
    CodeInfo(
        "UC0105",
        "not-utf8",
        Severity.ERROR,
        "the file is not UTF-8 text",
        "The caret is at the first byte that is not UTF-8. The file may be binary, or text in another encoding: save"
        " it as UTF-8 without changing anything else.",
    ),
    CodeInfo(
        "UC0106",
        "unknown-target",
        Severity.ERROR,
        "there is no such target",
        "The targets are `sm_80`, `sm_86`, `sm_89`, `sm_90a`, `sm_100a` and `sm_120a`. Hopper is `sm_90a`: the"
        " instructions that make it fast exist only in the architecture-specific variant, so `sm_90` is refused.",
        "target sm_90\nkernel k(x: f16[8, 8]) -> f16[8, 8] { return relu(x) }",
        "target sm_90a\nkernel k(x: f16[8, 8]) -> f16[8, 8] { return relu(x) }",
    ),
    CodeInfo(
        "UC0107",
        "several-targets",
        Severity.ERROR,
        "a file names more than one target",
        "A file is compiled for one target. Keep one line, or none and give `--target` to the tool, to build the same"
        " program for several.",
        "target sm_90a\ntarget sm_80\nkernel k(x: f16[8, 8]) -> f16[8, 8] { return relu(x) }",
        "target sm_90a\nkernel k(x: f16[8, 8]) -> f16[8, 8] { return relu(x) }",
    ),
    CodeInfo(
        "UC0108",
        "no-kernel",
        Severity.ERROR,
        "a file without a kernel",
        "A file holds at least one `kernel NAME(ARG: TYPE, …) -> TYPE { return … }`. An empty file, or one with"
        " comments and a target only, has nothing to compile.",
        "target sm_90a",
        "target sm_90a\nkernel k(x: f16[8, 8]) -> f16[8, 8] { return relu(x) }",
    ),
    CodeInfo(
        "UC0109",
        "target-not-first",
        Severity.ERROR,
        "the target stands after a kernel",
        "The `target` line is the first thing in a file, before every kernel, since it holds for all of them. Move it"
        " up.",
        "kernel k(x: f16[8, 8]) -> f16[8, 8] { return relu(x) }\ntarget sm_90a",
        "target sm_90a\nkernel k(x: f16[8, 8]) -> f16[8, 8] { return relu(x) }",
    ),
    CodeInfo(
        "UC0110",
        "trailing-comma",
        Severity.ERROR,
        "a comma before a closing bracket",
        "Lists of arguments, dimensions and values have commas between their elements only. Remove the last one.",
        "kernel k(x: f16[8, 8,]) -> f16[8, 8] { return relu(x) }",
        "kernel k(x: f16[8, 8]) -> f16[8, 8] { return relu(x) }",
    ),
    CodeInfo(
        "UC0111",
        "number-form",
        Severity.ERROR,
        "a number in a form that the language does not have",
        "Numbers are decimal: `12`, `0.5`, `1e-5`, `1.5e3`. Digits must stand on both sides of the point, and there"
        " are no hexadecimal numbers, separators or type suffixes.",
        "kernel k(x: f16[8, 8]) -> f16[8, 8] { return x * .5 }",
        "kernel k(x: f16[8, 8]) -> f16[8, 8] { return x * 0.5 }",
    ),
    CodeInfo(
        "UC0112",
        "reserved-word",
        Severity.ERROR,
        "a reserved word cannot be a name",
        "`return`, `true`, `false`, `auto`, `inf` and `nan` always mean themselves. Choose another name; an"
        " underscore at the end is enough.",
        "kernel k(auto: f16[8, 8]) -> f16[8, 8] { return relu(auto) }",
        "kernel k(auto_: f16[8, 8]) -> f16[8, 8] { return relu(auto_) }",
    ),
    CodeInfo(
        "UC0113",
        "setter-misplaced",
        Severity.ERROR,
        "a setter does not follow a call",
        "`.with_…` directly follows the call that it configures, or another setter of it; it cannot follow a name, a"
        " number, `.T` or a closing parenthesis around an expression. Move it to the call.",
        "kernel k(x: f16[64, 64]) -> f16[64, 64] { return gemm(x, x).T.with_stages(4) }",
        "kernel k(x: f16[64, 64]) -> f16[64, 64] { return gemm(x, x).with_stages(4).T }",
    ),
    CodeInfo(
        "UC0114",
        "pipe-needs-call",
        Severity.ERROR,
        "the right side of >> is not a call",
        "`v >> op(args)` means `op(v, args)`, so an operation with parentheses must stand on the right. Write `op()`"
        " when it has no further arguments.",
        "kernel k(x: f16[8, 8]) -> f16[8, 8] { return x >> relu }",
        "kernel k(x: f16[8, 8]) -> f16[8, 8] { return x >> relu() }",
    ),
    CodeInfo(
        "UC0115",
        "missing-return",
        Severity.ERROR,
        "a kernel without return",
        "The last statement of a kernel is `return` with one value for each declared result. Without it nothing that"
        " the kernel computes would leave it.",
        "kernel k(x: f16[8, 8]) -> f16[8, 8] { y = relu(x) }",
        "kernel k(x: f16[8, 8]) -> f16[8, 8] { y = relu(x) return y }",
    ),
    CodeInfo(
        "UC0116",
        "statement-after-return",
        Severity.ERROR,
        "something follows return",
        "`return` is the last statement, and there is one of them. Return several values as `return a, b`.",
        "kernel k(x: f16[8, 8]) -> f16[8, 8] { return x y = relu(x) }",
        "kernel k(x: f16[8, 8]) -> f16[8, 8] { y = relu(x) return y }",
    ),
    CodeInfo(
        "UC0117",
        "unmatched-bracket",
        Severity.ERROR,
        "a bracket is closed by another kind, or was never opened",
        "`(`, `[` and `{` close in the reverse order of opening. The note points at the bracket that is open at this"
        " place.",
        "kernel k(x: f16[8, 8)] -> f16[8, 8] { return relu(x) }",
        "kernel k(x: f16[8, 8]) -> f16[8, 8] { return relu(x) }",
    ),
    CodeInfo(
        "UC0118",
        "missing-comma",
        Severity.ERROR,
        "a comma is missing between two elements",
        "Arguments, dimensions, conditions and list elements are separated by commas. The fix puts one after the"
        " element before the caret.",
        "kernel k(x: f16[8 8]) -> f16[8, 8] { return relu(x) }",
        "kernel k(x: f16[8, 8]) -> f16[8, 8] { return relu(x) }",
    ),
    CodeInfo(
        "UC0119",
        "number-too-large",
        Severity.ERROR,
        "a number is too large",
        "Sizes, indices and other whole numbers are signed 64-bit integers, at most 9223372036854775807, and other"
        " numbers are of type f64. No tensor has so many elements: a digit too many is the usual cause. Infinity is"
        " written `inf`.",
        "kernel k(x: f16[99999999999999999999]) -> f16[8] { return relu(x) }",
        "kernel k(x: f16[8]) -> f16[8] { return relu(x) }",
    ),
    CodeInfo(
        "UC0120",
        "positional-after-keyword",
        Severity.ERROR,
        "an argument without a name follows one with a name",
        "Arguments by position come first, `key=value` after them. Move the argument forward or name it too.",
        "kernel k(x: f16[8, 8]) -> f16[8] { return sum(dim=1, x) }",
        "kernel k(x: f16[8, 8]) -> f16[8] { return sum(x, dim=1) }",
    ),
    CodeInfo(
        "UC0121",
        "mlir-text",
        Severity.ERROR,
        "the text is not MLIR, or not of a known dialect",
        "The caret is at the first place that the reader of MLIR does not understand, and the message says what it"
        " expected or what an operation's own rules refuse. A file in the language itself ends in `.ucu`, or is named"
        " as such with `-f ucu`.",
        "ucutlass.kernel @k(%x: !ucutlass.tensor<[8], f16>) { ucutlass.return %x : !ucutlass.tensor<[8], f16> }",
        "ucutlass.kernel @k(%x: !ucutlass.tensor<[8], f16>) -> (!ucutlass.tensor<[8], f16>) {"
        " ucutlass.return %x : !ucutlass.tensor<[8], f16> }",
        "mlir",
    ),
    CodeInfo(
        "UC0122",
        "no-ucu-text",
        Severity.ERROR,
        "the language has no text for something in the IR",
        "The IR can hold what the language does not write: groups that `fuse` formed, other dialects, sizes of types"
        " that are expressions, remainders in parameters. Print it as MLIR, or translate an earlier stage.",
        'ucutlass.kernel @k(%x: !ucutlass.tensor<["2 * M"], f16>) -> (!ucutlass.tensor<["2 * M"], f16>) {'
        ' ucutlass.return %x : !ucutlass.tensor<["2 * M"], f16> }',
        'ucutlass.kernel @k(%x: !ucutlass.tensor<["P"], f16>) -> (!ucutlass.tensor<["P"], f16>) {'
        ' ucutlass.return %x : !ucutlass.tensor<["P"], f16> }',
        "mlir",
    ),
)
