"""Codes UC03xx: shapes, ranks, element types and the values of parameters."""

from ucutlass.diagnostics.catalogue.info import CodeInfo
from ucutlass.diagnostics.core import Severity

CODES = (
    CodeInfo(
        "UC0301",
        "shape-mismatch",
        Severity.ERROR,
        "extents that must be equal are not",
        "The message names both operands, the dimensions that must agree, and their extents. In a gemm the last"
        " extent of the first operand is the first extent of the second; a weight stored as `[N, K]` is given as"
        " `w.T`. Dynamic dimensions of different names are different sizes unless `where` says that they are equal.",
        "kernel k(x: f16[64, 32], w: f16[128, 32]) -> f16[64, 128] { return gemm(x, w) }",
        "kernel k(x: f16[64, 32], w: f16[128, 32]) -> f16[64, 128] { return gemm(x, w.T) }",
    ),
    CodeInfo(
        "UC0302",
        "element-type-mismatch",
        Severity.ERROR,
        "element types that must be equal are not",
        "A contraction takes operands of one type, or one of the narrow types `s8 u8 s4 u4 e4m3 e5m2` with `f16` or"
        " `bf16`. `f16` with `bf16` is never mixed, since each loses what the other keeps. Convert one of them with"
        " `cast`, or say `.with_compute(T)`.",
        "kernel k(x: f16[64, 64], w: bf16[64, 64]) -> f16[64, 64] { return gemm(x, w) }",
        "kernel k(x: f16[64, 64], w: bf16[64, 64]) -> f16[64, 64] { return gemm(x, cast(w, f16)) }",
    ),
    CodeInfo(
        "UC0303",
        "rank",
        Severity.ERROR,
        "a tensor has the wrong number of dimensions",
        "The message says how many dimensions the operation takes and how many the tensor has. Leading dimensions of"
        " a product need `batched_gemm`; `reshape` adds or joins dimensions without moving data.",
        "kernel k(x: f16[4, 64, 64], w: f16[64, 64]) -> f16[4, 64, 64] { return gemm(x, w) }",
        "kernel k(x: f16[4, 64, 64], w: f16[64, 64]) -> f16[4, 64, 64] { return batched_gemm(x, w) }",
    ),
    CodeInfo(
        "UC0304",
        "dimension-index",
        Severity.ERROR,
        "a tensor has no dimension of this index",
        "Dimensions are counted from 0; negative ones count from the end, so -1 is the last. The message shows the"
        " range.",
        "kernel k(x: f16[8, 64]) -> f16[8, 64] { return softmax(x, dim=2) }",
        "kernel k(x: f16[8, 64]) -> f16[8, 64] { return softmax(x, dim=1) }",
    ),
    CodeInfo(
        "UC0305",
        "broadcast",
        Severity.ERROR,
        "shapes do not broadcast",
        "As in NumPy, shapes are compared from the last dimension, and two extents agree when they are equal or one"
        " of them is 1. A vector along the rows is written as `[M, 1]`; `bias` adds a vector along the output channels"
        " wherever those are. A dynamic extent is not known to be 1.",
        "kernel k(x: f16[8, 64], s: f16[8]) -> f16[8, 64] { return x * s }",
        "kernel k(x: f16[8, 64], s: f16[8, 1]) -> f16[8, 64] { return x * s }",
    ),
    CodeInfo(
        "UC0306",
        "result-count",
        Severity.ERROR,
        "the number of values and of names, or of declared results, differ",
        "Each value of a statement's right side needs a name on the left, and `return` gives one value for each type"
        " after `->`. A list of values may be named as a whole or taken apart, not in part.",
        "kernel k(x: f16[8, 64]) -> f16[8, 64], f16[8, 64] { return relu(x) }",
        "kernel k(x: f16[8, 64]) -> f16[8, 64], f16[8, 64] { return relu(x), exp(x) }",
    ),
    CodeInfo(
        "UC0307",
        "returned-type",
        Severity.ERROR,
        "a returned value is not of the declared type",
        "The shape must be the declared one. A float is rounded to the declared float type by itself; every other"
        " change of type needs `cast`. Correct the declaration after `->` or the value, whichever is wrong.",
        "kernel k(x: f16[8, 64]) -> s8[8, 64] { return relu(x) }",
        "kernel k(x: f16[8, 64]) -> s8[8, 64] { return cast(relu(x), s8) }",
    ),
    CodeInfo(
        "UC0308",
        "list-or-tensor",
        Severity.ERROR,
        "a list stands where one value is wanted, or one value where a list is",
        "`grouped_gemm` and `split` give lists, which are taken apart by naming their elements: `a, b = split(x, [4,"
        " 4], 0)`. `concat` and `grouped_gemm` take lists in square brackets.",
        "kernel k(x: f16[8, 64]) -> f16[8, 64] { return relu(split(x, [4, 4], 0)) }",
        "kernel k(x: f16[8, 64]) -> f16[4, 64] { a, b = split(x, [4, 4], 0) return a * b }",
    ),
    CodeInfo(
        "UC0309",
        "parameter-range",
        Severity.ERROR,
        "the value of a parameter is outside of its range",
        "The message gives the value and what is allowed. Strides, dilations and groups are at least 1, paddings at"
        " least 0, and a lower bound is not above the upper one.",
        "kernel k(x: f16[1, 8, 32]) -> f16[1, 8, 16] { return max_pool1d(x, 2, stride=0) }",
        "kernel k(x: f16[1, 8, 32]) -> f16[1, 8, 16] { return max_pool1d(x, 2, stride=2) }",
    ),
    CodeInfo(
        "UC0310",
        "unknown-element-type",
        Severity.ERROR,
        "there is no such element type",
        "Element types are `f64 f32 tf32 f16 bf16 e4m3 e5m2 s64 s32 s8 u8 s4 u4 bool`. The message names the nearest;"
        " `half`, `float` and `int8` are `f16`, `f32` and `s8`.",
        "kernel k(x: float16[8]) -> f16[8] { return relu(x) }",
        "kernel k(x: f16[8]) -> f16[8] { return relu(x) }",
    ),
    CodeInfo(
        "UC0311",
        "impossible-layout",
        Severity.ERROR,
        "a tensor of this shape cannot have this layout",
        "`col` is for two dimensions and `channels_last` for tensors with a batch, channels and at least one more"
        " dimension. A written order names each dimension of the tensor once, from 0.",
        "kernel k(x: f16[8, 64]@channels_last) -> f16[8, 64] { return relu(x) }",
        "kernel k(x: f16[8, 64]@col) -> f16[8, 64] { return relu(x) }",
    ),
    CodeInfo(
        "UC0312",
        "condition-false",
        Severity.ERROR,
        "a where condition never holds",
        "The condition has no dynamic dimension in it, or contradicts another one, so every launch would be refused."
        " Correct or remove it.",
        "kernel k(x: f16[8, 64]) -> f16[8, 64] where 64 % 7 == 0 { return relu(x) }",
        "kernel k(x: f16[M, 64]) -> f16[M, 64] where M % 8 == 0 { return relu(x) }",
    ),
    CodeInfo(
        "UC0313",
        "unbound-dimension",
        Severity.ERROR,
        "the size of a dynamic dimension follows from nothing",
        "At run time a dimension gets its size from a parameter whose type names it, or from `where NAME =="
        " expression` over other dimensions. One that only the result or the body names has no size.",
        "kernel k(x: f16[M, 64]) -> f16[P, 64] { return slice(x, 0, 0, P) }",
        "kernel k(x: f16[M, 64]) -> f16[P, 64] where P == M / 2 { return slice(x, 0, 0, P) }",
    ),
    CodeInfo(
        "UC0314",
        "number-wanted",
        Severity.ERROR,
        "a parameter must be known when the kernel is compiled",
        "Sizes, dimensions, strides and the like are constants, and sizes may be dynamic dimensions; a tensor's value"
        " is known only on the device. Write the number, or use the operation that takes a tensor in this place.",
        "kernel k(x: f16[8, 64], d: s32[]) -> f16[8, 64] { return softmax(x, dim=abs(d)) }",
        "kernel k(x: f16[8, 64]) -> f16[8, 64] { return softmax(x, dim=1) }",
    ),
    CodeInfo(
        "UC0315",
        "tensor-wanted",
        Severity.ERROR,
        "a number or word stands where a tensor is wanted",
        "Only element-wise operations take numbers as operands, and at least one of their operands is a tensor. A"
        " number that is to be a tensor is a parameter of type `f32[]`.",
        "kernel k(x: f16[64, 64]) -> f16[64, 64] { return gemm(x, 2) }",
        "kernel k(x: f16[64, 64]) -> f16[64, 64] { return x * 2 }",
    ),
    CodeInfo(
        "UC0316",
        "type-not-accepted",
        Severity.ERROR,
        "an operation does not take tensors of this element type",
        "The message lists the types that it takes. Convert with `cast` first; for integers and booleans the float"
        " type is your choice, since it decides the rounding.",
        "kernel k(x: bool[64, 64]) -> bool[64, 64] { return neg(x) }",
        "kernel k(x: bool[64, 64]) -> f16[64, 64] { return neg(cast(x, f16)) }",
    ),
    CodeInfo(
        "UC0317",
        "dimension-twice",
        Severity.ERROR,
        "one dimension is named twice",
        "Lists of dimensions name each at most once, and a permutation names each exactly once. Negative indices"
        " count too: -1 and the last one are the same.",
        "kernel k(x: f16[8, 64]) -> f16[64, 8] { return permute(x, 1, 1) }",
        "kernel k(x: f16[8, 64]) -> f16[64, 8] { return permute(x, 1, 0) }",
    ),
    CodeInfo(
        "UC0318",
        "element-count",
        Severity.ERROR,
        "a reshape changes the number of elements",
        "The product of the new extents must be that of the old ones; the message gives both. One extent may be -1,"
        " which is computed from the others. With dynamic dimensions the products must be equal for every size.",
        "kernel k(x: f16[8, 64]) -> f16[16, 16] { return reshape(x, 16, 16) }",
        "kernel k(x: f16[8, 64]) -> f16[16, 32] { return reshape(x, 16, 32) }",
    ),
    CodeInfo(
        "UC0319",
        "parameter-kind",
        Severity.ERROR,
        "a parameter has a value of the wrong kind",
        "The message says whether a whole number, a number, `true` or `false`, a word, a list or a type is wanted,"
        " and what was given. A list parameter also takes a single number for all its elements.",
        "kernel k(x: f16[8, 64]) -> f16[8] { return sum(x, dim=0.5) }",
        "kernel k(x: f16[8, 64]) -> f16[8] { return sum(x, dim=1) }",
    ),
    CodeInfo(
        "UC0320",
        "window-too-large",
        Severity.ERROR,
        "a window does not fit into the padded input",
        "A convolution or pooling window, spread by its dilation, must not be larger than the input with its padding,"
        " else there is no output at all. The message gives both extents; add padding or use a smaller window.",
        "kernel k(x: f16[1, 8, 4]) -> f16[1, 8, 1] { return max_pool1d(x, 7) }",
        "kernel k(x: f16[1, 8, 4]) -> f16[1, 8, 1] { return max_pool1d(x, 4) }",
    ),
    CodeInfo(
        "UC0321",
        "groups",
        Severity.ERROR,
        "the number of groups does not divide the channels",
        "Input and output channels are both split evenly into the groups, and a weight has `channels / groups` input"
        " channels. The message gives the numbers.",
        "kernel k(x: f16[8, 30, 4]) -> f16[8, 30, 4] { return group_norm(x, 4) }",
        "kernel k(x: f16[8, 30, 4]) -> f16[8, 30, 4] { return group_norm(x, 5) }",
    ),
    CodeInfo(
        "UC0322",
        "division-by-zero",
        Severity.ERROR,
        "a condition divides by zero",
        "The right side of `/` or `%` in a `where` condition is the constant 0, so the condition has no value."
        " Division of sizes rounds down.",
        "kernel k(x: f16[M, 64]) -> f16[M, 64] where M % 0 == 0 { return relu(x) }",
        "kernel k(x: f16[M, 64]) -> f16[M, 64] where M % 8 == 0 { return relu(x) }",
    ),
    CodeInfo(
        "UC0323",
        "empty-reduction",
        Severity.ERROR,
        "no elements are left to choose from",
        "The largest or smallest of no elements has no value, unlike their sum, which is 0. The message names the"
        " dimension without elements; over a dynamic dimension the launcher checks that there are some.",
        "kernel k(x: f16[8, 0]) -> f16[8] { return max(x, dim=1) }",
        "kernel k(x: f16[8, 64]) -> f16[8] { return max(x, dim=1) }",
    ),
)
