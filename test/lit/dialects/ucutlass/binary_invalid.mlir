// RUN: %ucutlass-opt -p infer --verify-diagnostics %s

// Sizes agree when they are equal or one of them is 1; a dynamic size is not known to be 1.
ucutlass.kernel @shapes(%x: !ucutlass.tensor<[8, 64], f32>, %v: !ucutlass.tensor<[8], f32>, %d: !ucutlass.tensor<["M"], f32>, %y: !ucutlass.tensor<["M", "N"], f32>) -> (!ucutlass.tensor<[8, 64], f32>) {
  // expected-error@below {{mul: size 8 of b [8] does not broadcast to size 64 of a [8, 64] (dimension -1) [UC0305]}}
  %r0 = ucutlass.mul %x, %v : (!ucutlass.tensor<[8, 64], f32>, !ucutlass.tensor<[8], f32>) -> !ucutlass.unresolved
  // expected-error@below {{size M of b [M] does not broadcast to size N of a [M, N]}}
  %r1 = ucutlass.add %y, %d : (!ucutlass.tensor<["M", "N"], f32>, !ucutlass.tensor<["M"], f32>) -> !ucutlass.unresolved
  // expected-error@below {{[UC0305]}}
  %r2 = ucutlass.gt %d, %v : (!ucutlass.tensor<["M"], f32>, !ucutlass.tensor<[8], f32>) -> !ucutlass.unresolved
  // expected-error@below {{size M of c [M]}}
  %r3 = ucutlass.fma %x, %x, %d : (!ucutlass.tensor<[8, 64], f32>, !ucutlass.tensor<[8, 64], f32>, !ucutlass.tensor<["M"], f32>) -> !ucutlass.unresolved
  ucutlass.return %x : !ucutlass.tensor<[8, 64], f32>
}

// fp8 promotes with nothing, and not every operation takes every kind.
ucutlass.kernel @types(%q: !ucutlass.tensor<[4], f8E4M3FN>, %r: !ucutlass.tensor<[4], f8E5M2>, %x: !ucutlass.tensor<[4], f16>, %b: !ucutlass.tensor<[4], i1>, %i: !ucutlass.tensor<[4], si32>, %s: !ucutlass.tensor<[4], si8>) -> (!ucutlass.tensor<[4], f8E4M3FN>) {
  %two = ucutlass.constant <2>
  %big = ucutlass.constant <4294967296>
  %minus = ucutlass.constant <-1>
  // expected-error@below {{add: 'a' is e4m3 and 'b' is f16: fp8 has no common type with others [UC0302]}}
  %r0 = ucutlass.add %q, %x : (!ucutlass.tensor<[4], f8E4M3FN>, !ucutlass.tensor<[4], f16>) -> !ucutlass.unresolved
  // expected-error@below {{[UC0302]}}
  %r1 = ucutlass.maximum %q, %r : (!ucutlass.tensor<[4], f8E4M3FN>, !ucutlass.tensor<[4], f8E5M2>) -> !ucutlass.unresolved
  // expected-error@below {{sub takes f64 f32 tf32 f16 bf16 e4m3 e5m2 s64 s32 s8 u8 s4 u4, but 'a' is bool [UC0316]}}
  %r2 = ucutlass.sub %b, %i : (!ucutlass.tensor<[4], i1>, !ucutlass.tensor<[4], si32>) -> !ucutlass.unresolved
  // expected-error@below {{pow of two bool tensors has no meaning}}
  %r3 = ucutlass.pow %b, %b : (!ucutlass.tensor<[4], i1>, !ucutlass.tensor<[4], i1>) -> !ucutlass.unresolved
  // expected-error@below {{pow: s32 to the power -1 is no integer: expected an exponent of at least 0 [UC0309]}}
  %r4 = ucutlass.pow %i, %minus : (!ucutlass.tensor<[4], si32>, !ucutlass.number_type) -> !ucutlass.unresolved
  // expected-error@below {{the number 4294967296 does not fit s32, in which s8 is computed [UC0309]}}
  %r5 = ucutlass.add %s, %big : (!ucutlass.tensor<[4], si8>, !ucutlass.number_type) -> !ucutlass.unresolved
  // expected-error@below {{where takes bool as 'cond', but it is s32[4] [UC0316]}}
  %r6 = ucutlass.where %i, %x, %x : (!ucutlass.tensor<[4], si32>, !ucutlass.tensor<[4], f16>, !ucutlass.tensor<[4], f16>) -> !ucutlass.unresolved
  // expected-error@below {{operand 'cond' of where is a number}}
  %r7 = ucutlass.where %two, %x, %x : (!ucutlass.number_type, !ucutlass.tensor<[4], f16>, !ucutlass.tensor<[4], f16>) -> !ucutlass.unresolved
  // expected-error@below {{maximum needs a tensor, but a and b are numbers [UC0315]}}
  %r8 = ucutlass.maximum %two, %minus : (!ucutlass.number_type, !ucutlass.number_type) -> !ucutlass.unresolved
  // expected-error@below {{[UC0315]}}
  %r9 = ucutlass.eq %two, %two : (!ucutlass.number_type, !ucutlass.number_type) -> !ucutlass.unresolved
  ucutlass.return %q : !ucutlass.tensor<[4], f8E4M3FN>
}
