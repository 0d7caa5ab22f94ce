// RUN: %ucutlass-opt -p infer --verify-diagnostics %s

// Every refusal names what it found: the shape, the element types, the rank, the pair of a group.
ucutlass.kernel @products(%a: !ucutlass.tensor<["M", 64], f16>, %b: !ucutlass.tensor<[128, 64], f16>, %c: !ucutlass.tensor<[64, 128], bf16>, %d: !ucutlass.tensor<[2, 64, 8], f16>, %e: !ucutlass.tensor<[64, 8], i1>, %f: !ucutlass.tensor<[3, "M", 64], f16>, %ends: !ucutlass.tensor<[2], si64>) -> (!ucutlass.tensor<["M", 64], f16>) {
  // expected-error@below {{K = 64 of f16[M, 64], with the one before the last of b, 128 of f16[128, 64]: they differ [UC0301]}}
  %r0 = ucutlass.gemm %a, %b : (!ucutlass.tensor<["M", 64], f16>, !ucutlass.tensor<[128, 64], f16>) -> !ucutlass.unresolved
  // expected-error@below {{got f16 and bf16: cast one of them [UC0302]}}
  %r1 = ucutlass.gemm %a, %c : (!ucutlass.tensor<["M", 64], f16>, !ucutlass.tensor<[64, 128], bf16>) -> !ucutlass.unresolved
  // expected-error@below {{takes [K, N] as 'b', 2 dimensions, but it is f16[2, 64, 8]: batched_gemm takes leading dimensions [UC0303]}}
  %r2 = ucutlass.gemm %a, %d : (!ucutlass.tensor<["M", 64], f16>, !ucutlass.tensor<[2, 64, 8], f16>) -> !ucutlass.unresolved
  // expected-error@below {{does not contract bool}}
  %r3 = ucutlass.gemm %a, %e : (!ucutlass.tensor<["M", 64], f16>, !ucutlass.tensor<[64, 8], i1>) -> !ucutlass.unresolved
  // expected-error@below {{[UC0305]}}
  %r4 = ucutlass.batched_gemm %f, %d : (!ucutlass.tensor<[3, "M", 64], f16>, !ucutlass.tensor<[2, 64, 8], f16>) -> !ucutlass.unresolved
  // expected-error@below {{a has 2 tensors and b has 1 [UC0301]}}
  %r5 = ucutlass.grouped_gemm[%a, %a : !ucutlass.tensor<["M", 64], f16>, !ucutlass.tensor<["M", 64], f16>] [%c : !ucutlass.tensor<[64, 128], bf16>] -> !ucutlass.unresolved
  // expected-error@below {{takes s32[G] as 'offsets', but it is s64[2] [UC0316]}}
  %r6 = ucutlass.grouped_gemm_offsets %a, %d, %ends : (!ucutlass.tensor<["M", 64], f16>, !ucutlass.tensor<[2, 64, 8], f16>, !ucutlass.tensor<[2], si64>) -> !ucutlass.unresolved
  ucutlass.return %a : !ucutlass.tensor<["M", 64], f16>
}
