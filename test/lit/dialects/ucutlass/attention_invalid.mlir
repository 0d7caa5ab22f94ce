// RUN: %ucutlass-opt -p infer --verify-diagnostics %s

// The heads, the head size, the types and the mask have to go together.
ucutlass.kernel @heads(%q: !ucutlass.tensor<["B", 8, "S", 64], f16>, %k: !ucutlass.tensor<["B", 2, "T", 64], f16>, %v: !ucutlass.tensor<["B", 8, "S", 64], bf16>, %m: !ucutlass.tensor<["S", 7], i1>, %i: !ucutlass.tensor<["B", 8, "S", 64], si8>, %s: !ucutlass.tensor<["S", 64], f16>) -> (!ucutlass.tensor<["B", 8, "S", 64], f16>) {
  // expected-error@below {{the number of heads (dimension 1) is 8 in q f16[B, 8, S, 64] and 2 in k f16[B, 2, T, 64] [UC0301]}}
  %r0 = ucutlass.attention %q, %k, %q : (!ucutlass.tensor<["B", 8, "S", 64], f16>, !ucutlass.tensor<["B", 2, "T", 64], f16>, !ucutlass.tensor<["B", 8, "S", 64], f16>) -> !ucutlass.unresolved
  // expected-error@below {{q is f16[B, 8, S, 64] and v is bf16[B, 8, S, 64] [UC0302]}}
  %r1 = ucutlass.attention %q, %q, %v : (!ucutlass.tensor<["B", 8, "S", 64], f16>, !ucutlass.tensor<["B", 8, "S", 64], f16>, !ucutlass.tensor<["B", 8, "S", 64], bf16>) -> !ucutlass.unresolved
  // expected-error@below {{size 7 of mask [S, 7] does not broadcast to size S of scores [B, 8, S, S] (dimension -1) [UC0305]}}
  %r2 = ucutlass.attention %q, %q, %q mask(%m) : (!ucutlass.tensor<["B", 8, "S", 64], f16>, !ucutlass.tensor<["B", 8, "S", 64], f16>, !ucutlass.tensor<["B", 8, "S", 64], f16>, !ucutlass.tensor<["S", 7], i1>) -> !ucutlass.unresolved
  // expected-error@below {{attention takes floats, but q is s8[B, 8, S, 64]}}
  %r3 = ucutlass.attention %i, %i, %i : (!ucutlass.tensor<["B", 8, "S", 64], si8>, !ucutlass.tensor<["B", 8, "S", 64], si8>, !ucutlass.tensor<["B", 8, "S", 64], si8>) -> !ucutlass.unresolved
  // expected-error@below {{takes [B, H, S, D] as 'q', 4 dimensions, but it is f16[S, 64] [UC0303]}}
  %r4 = ucutlass.attention %s, %q, %q : (!ucutlass.tensor<["S", 64], f16>, !ucutlass.tensor<["B", 8, "S", 64], f16>, !ucutlass.tensor<["B", 8, "S", 64], f16>) -> !ucutlass.unresolved
  ucutlass.return %q : !ucutlass.tensor<["B", 8, "S", 64], f16>
}
