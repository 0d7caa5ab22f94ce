"""Words that people use for things of the language, and words that the language may not use.

A leaf. The left side of each table is what is written elsewhere; "did you mean" answers with the right side.
"""

from collections.abc import Mapping

OPERATION_ALIASES: Mapping[str, str] = {
    "matmul": "gemm",
    "mm": "gemm",
    "dot": "gemm",
    "linear": "gemm",
    "bmm": "batched_gemm",
    "baddbmm": "batched_gemm",
    "grouped_mm": "grouped_gemm",
    "conv": "conv2d",
    "convolution": "conv2d",
    "deconv2d": "conv_transpose2d",
    "scaled_dot_product_attention": "attention",
    "sdpa": "attention",
    "flash_attention": "attention",
    "swish": "silu",
    "logistic": "sigmoid",
    "multiply": "mul",
    "subtract": "sub",
    "divide": "div",
    "negative": "neg",
    "power": "pow",
    "greater": "gt",
    "greater_equal": "ge",
    "less": "lt",
    "less_equal": "le",
    "equal": "eq",
    "not_equal": "ne",
    "amax": "max",
    "amin": "min",
    "reduce_sum": "sum",
    "reduce_mean": "mean",
    "avg": "mean",
    "variance": "var",
    "logsoftmax": "log_softmax",
    "layernorm": "layer_norm",
    "rmsnorm": "rms_norm",
    "groupnorm": "group_norm",
    "batchnorm": "batch_norm",
    "instancenorm": "instance_norm",
    "normalize": "l2_norm",
    "maxpool2d": "max_pool2d",
    "avgpool2d": "avg_pool2d",
    "view": "reshape",
    "flatten": "reshape",
    "squeeze": "reshape",
    "unsqueeze": "reshape",
    "cat": "concat",
    "concatenate": "concat",
    "chunk": "split",
    "tile": "repeat",
    "narrow": "slice",
    "to": "cast",
    "astype": "cast",
    "convert": "cast",
    "contiguous": "to_layout",
    "clip": "clamp",
    "mul_add": "fma",
    "where_": "where",
    "select": "where",
    "add_bias": "bias",
    "bias_add": "bias",
}

PARAMETER_ALIASES: Mapping[str, str] = {
    "axis": "dim",
    "axes": "dim",
    "dims": "dim",
    "keepdims": "keepdim",
    "kernel_size": "kernel",
    "output_size": "size",
    "normalized_shape": "shape",
    "num_groups": "groups",
    "negative_slope": "slope",
    "min": "lo",
    "max": "hi",
    "min_val": "lo",
    "max_val": "hi",
    "input": "x",
    "other": "b",
    "is_causal": "causal",
    "attn_mask": "mask",
    "running_mean": "mean",
    "running_var": "var",
    "split_size": "sizes",
    "dtype": "dtype",
}

SETTER_ALIASES: Mapping[str, str] = {
    "dtype": "compute",
    "type": "compute",
    "precision": "compute",
    "math": "compute",
    "accumulator": "acc",
    "accumulate": "acc",
    "block": "tile",
    "threadblock": "tile",
    "tile_shape": "tile",
    "cluster_shape": "cluster",
    "num_stages": "stages",
    "pipeline": "stages",
    "mainloop": "schedule",
    "splitk": "split_k",
    "swizzle": "raster",
    "align": "alignment",
    "warp": "warps",
    "transpose": "swap_ab",
}

ELEMENT_ALIASES: Mapping[str, str] = {
    "half": "f16",
    "float16": "f16",
    "fp16": "f16",
    "bfloat16": "bf16",
    "float": "f32",
    "float32": "f32",
    "fp32": "f32",
    "single": "f32",
    "double": "f64",
    "float64": "f64",
    "fp64": "f64",
    "tfloat32": "tf32",
    "fp8": "e4m3",
    "float8_e4m3fn": "e4m3",
    "e4m3fn": "e4m3",
    "f8e4m3": "e4m3",
    "float8_e5m2": "e5m2",
    "f8e5m2": "e5m2",
    "long": "s64",
    "int64": "s64",
    "i64": "s64",
    "int": "s32",
    "int32": "s32",
    "i32": "s32",
    "int8": "s8",
    "i8": "s8",
    "uint8": "u8",
    "int4": "s4",
    "i4": "s4",
    "uint4": "u4",
    "i1": "bool",
    "boolean": "bool",
}

LAYOUT_ALIASES: Mapping[str, str] = {
    "row_major": "row",
    "rowmajor": "row",
    "c": "row",
    "column": "col",
    "col_major": "col",
    "column_major": "col",
    "f": "col",
    "nhwc": "channels_last",
    "ndhwc": "channels_last",
}

CONSTANT_ALIASES: Mapping[str, str] = {
    "True": "true",
    "False": "false",
    "Auto": "auto",
    "none": "auto",
    "None": "auto",
}

CPP_KEYWORDS: frozenset[str] = frozenset(
    """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t
    class co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue
    decltype default delete do double dynamic_cast else enum explicit export extern false float for friend
    goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private
    protected public register reinterpret_cast requires return short signed sizeof static static_assert
    static_cast struct switch template this thread_local throw true try typedef typeid typename union unsigned
    using virtual void volatile wchar_t while xor xor_eq
    """.split()
)
"""What a kernel may not be called: its name is a C symbol."""
