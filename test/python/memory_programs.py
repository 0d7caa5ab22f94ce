"""Programs of memory-bound kernels, a file a family, and sizes to run them with.

Sizes are chosen so that every way of a template is taken: whole and ragged vectors, rows of one lane, of a warp, of a
block, kept in registers, in shared memory and in clusters, streamed in parts, columns, tiles and what fills none.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

Sizes = Mapping[str, int]


@dataclass(frozen=True)
class Programs:
    """Kernels that are compiled together."""

    source: str
    sizes: Sequence[Sizes]
    """For every kernel that is not named in `own`."""
    own: Mapping[str, Sequence[Sizes]] = field(default_factory=dict[str, Sequence[Sizes]])


STATIC: Sequence[Sizes] = ({},)

ELEMENTWISE = Programs(
    """
kernel plain(x: f16[M, N], y: f16[M, N]) -> f16[M, N] { return x + y }
kernel broadcast(x: bf16[M, N], b: bf16[N], s: f32[M, 1]) -> bf16[M, N] { y = gelu((x + b) * s) return y }
kernel two(x: f32[M, N], y: f32[N]) -> f32[M, N], bool[M, N] { z = x * y  c = gt(z, 0.5) return z, c }
kernel integers(x: s8[M, N], y: u8[N], w: s64[M, 1]) -> s8[M, N], s64[M, N] {
  a = cast(x + y, s8)
  b = x * w
  return a, b
}
kernel fp8(x: e4m3[M, N], y: e5m2[M, N]) -> e4m3[M, N], f16[M, N], e5m2[M, N] {
  a = cast(x, f32) * 1.7
  b = cast(y, f32) + a
  return cast(a, e4m3), cast(b, f16), cast(b * 3, e5m2)
}
kernel doubles(x: f64[M, N], y: f32[N]) -> f64[M, N], f16[M, N] { a = exp(x * 0.1) + y return a, cast(a, f16) }
kernel tf32s(x: f32[M, N], y: tf32[M, N]) -> tf32[M, N] { return cast(x * y, tf32) }
kernel choice(x: bool[M, N], y: f16[M, N]) -> f16[M, N], bool[M, N] { return where(x, y, 0.25), ne(y, y) }
kernel one(x: f32[]) -> f32[] { return x * 2 + 1 }
kernel ranks(x: f16[2, M, 3, N, 4], y: f16[M, 1, N, 1], z: f16[3, 1, 4]) -> f16[2, M, 3, N, 4] { return x * y + z }
kernel layouts(x: f16[2, 5, M, N]@channels_last, b: f16[5, 1, 1]) -> f16[2, 5, M, N]@channels_last {
  return relu(x) * b
}
kernel copy(x: f16[M, N]) -> f16[M, N] { return x }
kernel twice(x: f16[M, N]) -> f16[M, N], f16[N, M] { y = relu(x) return y, y.T }
kernel siblings(x: f16[M, N]) -> f16[M, N], f16[M, N] { return relu(x), exp(x) }
kernel staged(x: f16[M, N], g: f16[M, N]) -> f16[M, N] { return materialize(silu(x)) * g }
kernel statistics(x: f16[4, 6, M, N], m: f32[6], v: f32[6], w: f16[6], b: f16[6]) -> f16[4, 6, M, N] {
  return relu(batch_norm(x, m, v, w, b))
}
""",
    (
        {"M": 3, "N": 64},
        {"M": 5, "N": 33},
        {"M": 1, "N": 1},
        {"M": 7, "N": 1001},
        {"M": 0, "N": 5},
        {"M": 130, "N": 24},
    ),
    {"one": STATIC},
)

NIBBLES = Programs(
    """
kernel quantized(x: f16[M, N]) -> s4[M, N] { return cast(x * 3, s4) }
kernel restored(x: s4[M, N], s: f16[M, 1]) -> f16[M, N] { return cast(x, f16) * s }
kernel summed(x: u4[M, N]) -> s64[M] { return sum(x, dim=1) }
kernel staged(x: f32[M, N]) -> f32[M, N] { y = materialize(cast(x * 3, u4)) return cast(y, f32) * 2 }
""",
    ({"M": 3, "N": 64}, {"M": 20, "N": 40}, {"M": 2, "N": 2}),
    {"restored": ({"M": 5, "N": 33},), "summed": ({"M": 5, "N": 33},), "staged": ({"M": 5, "N": 33},)},
)

MOVEMENT = Programs(
    """
kernel permuted(x: f16[M, N, 6]) -> f16[N, 6, M] { return permute(x, 1, 2, 0) }
kernel transposed(x: f16[M, N]) -> f16[N, M] { return transpose(x, 0, 1) }
kernel bytes(x: s8[M, N]) -> s8[N, M] { return x.T }
kernel doubles(x: f64[M, N]) -> f64[N, M] { return transpose(x, 0, 1) }
kernel sum_of_views(x: f16[M, N], y: f16[N, M], z: f16[N]) -> f16[M, N] { return relu(x + y.T) * z }
kernel channels(x: f16[2, 32, M, N]) -> f16[2, 32, M, N]@channels_last { return to_layout(x, @channels_last) }
kernel split_dim(x: f16[M, 6, N]) -> f16[M, 2, 3, N] { return reshape(x, M, 2, 3, N) }
kernel joined_dim(x: f16[M, 6, N]) -> f16[P, N] where P == M * 6 { return relu(reshape(x, P, N)) }
kernel regrouped(x: f16[6, 4]) -> f16[8, 3] { return reshape(x, 8, 3) }
kernel heads(x: f16[4, N, 64]) -> f16[4, 2, N, 32] { return permute(reshape(x, 4, N, 2, 32), 0, 2, 1, 3) }
kernel padded(x: f16[M, N]) -> f16[P, Q] where P == M + 3, Q == N + 5 { return pad(x, [2, 3, 1, 2], value=1.5) }
kernel padded_result(x: f16[M, N]) -> f16[M, Q] where Q == N + 2 { return pad(exp(x), [1, 1]) * 2 }
kernel cropped(x: s8[8, 10]) -> s8[6, 12] { return pad(x, [2, 0, -1, -1]) }
kernel strided(x: f16[M, 40]) -> f16[M, 9] { return slice(x, 1, 3, 30, step=3) }
kernel from_end(x: f16[M, 40]) -> f16[M, 5] { return slice(x, 1, -5, 40) }
kernel joined(x: f16[M, N], y: f32[M, 3], z: f16[M, N]) -> f32[M, P] where P == 2 * N + 3 {
  return concat([relu(x), y, z], dim=1)
}
kernel stacked(x: s64[M, N], y: s64[2, N]) -> s64[P, N] where P == M + 2 { return concat([x, y]) }
kernel pieces(x: f16[M, 10]) -> f16[M, 4], f16[M, 6] { a, b = split(x, [4, 6], dim=1) return a, b * 2 }
kernel repeated(x: f16[M, N]) -> f16[2, P, Q] where P == M * 3, Q == N * 2 { return repeat(x, 2, 3, 2) }
kernel flipped(x: f16[M, N]) -> f16[M, N] { return flip(x, [0, 1]) }
kernel rows(x: f16[20, N], i: s32[M, N]) -> f16[M, N] { return gather(x, 0, i) * 2 }
kernel columns(x: f16[M, 50], i: s64[M, 7]) -> f16[M, 7] { return gather(x, 1, i) }
kernel lower(x: f16[3, M, N]) -> f16[3, M, N] { return tril(x, 1) }
kernel upper(x: bool[M, N]) -> bool[M, N] { return triu(x, -2) }
""",
    ({"M": 3, "N": 64}, {"M": 65, "N": 33}, {"M": 2, "N": 1}, {"M": 40, "N": 24}, {"M": 0, "N": 4}),
    {"regrouped": STATIC, "cropped": STATIC},
)

ROWS = Programs(
    """
kernel softmax_rows(x: f16[M, N]) -> f16[M, N] { return softmax(x, 1) }
kernel softmax_columns(x: f16[M, N]) -> f16[M, N] { return softmax(x, 0) }
kernel log_softmax_rows(x: f32[M, N]) -> f32[M, N] { return log_softmax(x, -1) }
kernel layer(x: f16[M, N], w: f16[N], b: f32[N]) -> f16[M, N] { return layer_norm(x, [N], w, b) }
kernel rms(x: bf16[M, N], w: bf16[N]) -> bf16[M, N] { return rms_norm(x, [N], w) }
kernel l2(x: f32[M, N]) -> f32[M, N] { return l2_norm(x, 1) }
kernel sum_rows(x: f16[M, N]) -> f16[M] { return sum(x, dim=1) }
kernel sum_columns(x: f16[M, N]) -> f16[N] { return sum(x, dim=0) }
kernel sum_all(x: f32[M, N]) -> f32[] { return sum(x) }
kernel mean_kept(x: f16[M, N]) -> f16[M, 1] { return mean(x, dim=1, keepdim=true) }
kernel largest(x: s8[M, N]) -> s8[M] { return max(x, dim=1) }
kernel smallest(x: f16[M, N]) -> f16[N] { return min(x, dim=0) }
kernel place(x: f16[M, N]) -> s64[M] { return argmax(x, dim=1) }
kernel place_of_all(x: f32[M, N]) -> s64[] { return argmin(x) }
kernel log_sum(x: f16[M, N]) -> f16[M] { return logsumexp(x, dim=1) }
kernel variance_columns(x: f32[M, N]) -> f32[N] { return var(x, dim=0, correction=0) }
kernel norm_rows(x: f32[M, N]) -> f32[M] { return norm(x, p=2, dim=1) }
kernel norm_columns(x: f32[M, N]) -> f32[N] { return norm(x, p=3, dim=0) }
kernel integers(x: s32[M, N]) -> s64[M] { return sum(x, dim=1) }
kernel booleans(x: bool[M, N]) -> s64[N], bool[M] { return sum(x, dim=0), max(x, dim=1) }
kernel product(x: f64[M, N]) -> f64[M] { return prod(x, dim=1) }
""",
    ({"M": 3, "N": 64}, {"M": 5, "N": 33}, {"M": 7, "N": 1001}, {"M": 40, "N": 24}, {"M": 2, "N": 9000}),
)

FUSED_ROWS = Programs(
    """
kernel residual_norm(x: f16[M, N], r: f16[M, N], w: f16[N], b: f16[N]) -> f16[M, N], f16[M, N] {
  y = x + r
  n = layer_norm(y, [N], w, b)
  return n, y
}
kernel masked(x: f16[M, N], m: bool[M, N]) -> f16[M, N] { return softmax(where(m, x * 0.5, -10000), 1) * 2 }
kernel by_hand(x: f32[M, N]) -> f16[M, N] {
  d = x - mean(x, dim=1, keepdim=true)
  v = mean(square(d), dim=1, keepdim=true)
  return cast(d * rsqrt(v + 1e-5), f16)
}
kernel several(x: f16[M, N]) -> f16[M], f16[M] { return mean(x, dim=1), max(x, dim=1) }
kernel both_ways(x: f16[M, N]) -> f16[M, N] { return softmax(softmax(x, 1), 0) }
kernel groups(x: f16[2, 6, M, N], w: f16[6], b: f16[6]) -> f16[2, 6, M, N] { return relu(group_norm(x, 3, w, b)) }
kernel groups_last(x: f16[2, 8, M, N]@channels_last, w: f16[8]) -> f16[2, 8, M, N]@channels_last {
  return group_norm(x, 2, w)
}
kernel instances(x: f16[4, 6, M, N]@channels_last, w: f16[6]) -> f16[4, 6, M, N]@channels_last {
  return instance_norm(x, w)
}
kernel batch(x: f16[4, 6, M, N], w: f16[6], b: f16[6]) -> f16[4, 6, M, N] { return batch_norm(x, weight=w, bias=b) }
kernel middle(x: f32[2, M, N, 5], y: f32[2, 1, N, 1]) -> f32[2, 5] { return sum(x * y, dim=[1, 2]) }
kernel ends(x: f32[2, M, N, 5]) -> f32[M, 5] { return max(abs(x), dim=[0, 2]) }
kernel triangle(x: f16[M, N]) -> f16[M, N] { return softmax(tril(x) * 0.5, 1) }
kernel view(x: f16[M, N]) -> f16[N, M] { return softmax(x.T, 0) }
kernel derivative(x: f16[M, N]) -> f16[M, N] {
  y = softmax(x, 1)
  s = sum(y * x, dim=1, keepdim=true)
  return y * (x - s)
}
""",
    ({"M": 3, "N": 64}, {"M": 5, "N": 33}, {"M": 40, "N": 24}),
    {
        "residual_norm": ({"M": 8, "N": 1000}, {"M": 3, "N": 5000}),
        "middle": ({"M": 3, "N": 7}, {"M": 40, "N": 24}),
        "ends": ({"M": 3, "N": 7},),
    },
)

RESIDENT_ROWS = Programs(
    """
kernel in_registers(x: f16[M, 512]) -> f16[M, 512] { return softmax(x, 1) }
kernel in_shared(x: f32[M, 20000]) -> f32[M, 20000] { return softmax(x, 1) }
kernel two_in_shared(x: f16[M, 30000], r: f16[M, 30000], w: f16[30000]) -> f16[M, 30000], f16[M, 30000] {
  y = x + r
  return layer_norm(y, [30000], w), y
}
kernel columns_in_shared(x: f16[2, 1500, 64]) -> f16[2, 1500, 64] { return softmax(x, 1) }
kernel in_a_cluster(x: f16[M, 400000]) -> f16[M, 400000] { return softmax(x, 1) }
kernel ragged(x: f16[M, 100001]) -> f16[M, 100001] { return rms_norm(x, [100001]) }
""",
    ({"M": 3},),
    {"columns_in_shared": STATIC, "in_a_cluster": ({"M": 1},)},
)

SCANS_AND_POOLS = Programs(
    """
kernel sums(x: f32[M, N]) -> f32[M, N] { return cumsum(x, 1) }
kernel column_sums(x: f32[M, N]) -> f32[M, N] { return cumsum(x, 0) }
kernel fused_sums(x: f16[M, N], s: f16[N]) -> f16[M, N], f16[M, N] { y = x * s return cumsum(y, -1) * 0.5, y }
kernel integer_sums(x: s32[M, N]) -> s64[M, N] { return cumsum(x, 1) }
kernel products(x: f64[M, N]) -> f64[M, N] { return cumprod(x * 0.1 + 1, 0) }
kernel from_the_end(x: f32[M, N]) -> f32[M, N] { return flip(cumsum(flip(x, 1), 1), 1) }
kernel max_windows(x: f16[2, 3, M, N], b: f16[3, 1, 1]) -> f16[2, 3, P, Q]
  where P == (M - 1) / 2 + 1, Q == (N - 1) / 2 + 1 { return relu(max_pool2d(x, 3, 2, 1) + b) }
kernel max_channels_last(x: f16[2, 16, M, N]@channels_last) -> f16[2, 16, P, Q]@channels_last
  where P == (M - 1) / 2 + 1, Q == (N - 1) / 2 + 1 { return max_pool2d(x, 3, 2, 1) * 2 }
kernel averages(x: f32[2, 3, 17, 19]) -> f32[2, 3, 9, 10] { return avg_pool2d(x, 3, 2, padding=1) }
kernel averages_inside(x: f32[2, 3, 17, 19]) -> f32[2, 3, 9, 10] {
  return avg_pool2d(x, 3, 2, padding=1, count_include_pad=false)
}
kernel rounded_up(x: f32[2, 3, 18, 20]) -> f32[2, 3, 9, 10] { return avg_pool2d(x, 3, 2, ceil_mode=true) }
kernel dilated(x: f16[3, 40]) -> f16[3, 12] { return max_pool1d(x, 4, 3, dilation=2) }
kernel volumes(x: f32[1, 3, 7, 9, 11]) -> f32[1, 3, 3, 4, 5] { return max_pool3d(x, 3, 2) }
kernel to_size(x: f16[2, 3, M, N]) -> f16[2, 3, 5, 7] { return adaptive_avg_pool2d(x, [5, 7]) }
kernel to_one(x: f32[2, 3, M, N]@channels_last) -> f32[2, 3, 1, 1]@channels_last {
  return relu(adaptive_avg_pool2d(x, 1))
}
kernel pooled_mean(x: f16[2, 8, 9, 9], w: f16[8]) -> f16[2, 8] { return mean(max_pool2d(x, 3, 2), dim=[2, 3]) * w }
""",
    ({"M": 8, "N": 12}, {"M": 15, "N": 33}),
    {
        **{
            name: ({"M": 3, "N": 64}, {"M": 7, "N": 1001}, {"M": 2, "N": 20000}, {"M": 600, "N": 5}, {"M": 0, "N": 3})
            for name in ("sums", "column_sums", "fused_sums", "integer_sums", "products", "from_the_end")
        },
        **dict.fromkeys(("averages", "averages_inside", "rounded_up", "dilated", "volumes", "pooled_mean"), STATIC),
    },
)

FAMILIES: Mapping[str, Programs] = {
    "elementwise": ELEMENTWISE,
    "nibbles": NIBBLES,
    "movement": MOVEMENT,
    "rows": ROWS,
    "fused rows": FUSED_ROWS,
    "resident rows": RESIDENT_ROWS,
    "scans and pools": SCANS_AND_POOLS,
}
