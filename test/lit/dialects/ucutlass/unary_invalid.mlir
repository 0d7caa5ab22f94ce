// RUN: %ucutlass-opt -p infer --verify-diagnostics %s

// Activations are of floats; a boolean has no sign.
ucutlass.kernel @kinds(%i: !ucutlass.tensor<["M"], si32>, %b: !ucutlass.tensor<[4], i1>, %x: !ucutlass.tensor<[4], f16>) -> (!ucutlass.tensor<["M"], si32>) {
  %c = ucutlass.constant <2>
  // expected-error@below {{leaky_relu takes f64 f32 tf32 f16 bf16 e4m3 e5m2, but 'x' is s32 [UC0316]}}
  %r0 = ucutlass.leaky_relu %i : (!ucutlass.tensor<["M"], si32>) -> !ucutlass.unresolved
  // expected-error@below {{elu takes f64 f32 tf32 f16 bf16 e4m3 e5m2, but 'x' is s32 [UC0316]}}
  %r1 = ucutlass.elu %i : (!ucutlass.tensor<["M"], si32>) -> !ucutlass.unresolved
  // expected-error@below {{selu takes f64 f32 tf32 f16 bf16 e4m3 e5m2, but 'x' is s32 [UC0316]}}
  %r2 = ucutlass.selu %i : (!ucutlass.tensor<["M"], si32>) -> !ucutlass.unresolved
  // expected-error@below {{gelu takes f64 f32 tf32 f16 bf16 e4m3 e5m2, but 'x' is s32 [UC0316]}}
  %r3 = ucutlass.gelu %i : (!ucutlass.tensor<["M"], si32>) -> !ucutlass.unresolved
  // expected-error@below {{silu takes f64 f32 tf32 f16 bf16 e4m3 e5m2, but 'x' is s32 [UC0316]}}
  %r4 = ucutlass.silu %i : (!ucutlass.tensor<["M"], si32>) -> !ucutlass.unresolved
  // expected-error@below {{mish takes f64 f32 tf32 f16 bf16 e4m3 e5m2, but 'x' is s32 [UC0316]}}
  %r5 = ucutlass.mish %i : (!ucutlass.tensor<["M"], si32>) -> !ucutlass.unresolved
  // expected-error@below {{hardsigmoid takes f64 f32 tf32 f16 bf16 e4m3 e5m2, but 'x' is s32 [UC0316]}}
  %r6 = ucutlass.hardsigmoid %i : (!ucutlass.tensor<["M"], si32>) -> !ucutlass.unresolved
  // expected-error@below {{hardswish takes f64 f32 tf32 f16 bf16 e4m3 e5m2, but 'x' is s32 [UC0316]}}
  %r7 = ucutlass.hardswish %i : (!ucutlass.tensor<["M"], si32>) -> !ucutlass.unresolved
  // expected-error@below {{softplus takes f64 f32 tf32 f16 bf16 e4m3 e5m2, but 'x' is s32 [UC0316]}}
  %r8 = ucutlass.softplus %i : (!ucutlass.tensor<["M"], si32>) -> !ucutlass.unresolved
  // expected-error@below {{logsigmoid takes f64 f32 tf32 f16 bf16 e4m3 e5m2, but 'x' is s32 [UC0316]}}
  %r9 = ucutlass.logsigmoid %i : (!ucutlass.tensor<["M"], si32>) -> !ucutlass.unresolved
  // expected-error@below {{but 'x' is bool [UC0316]}}
  %r10 = ucutlass.relu %b : (!ucutlass.tensor<[4], i1>) -> !ucutlass.unresolved
  // expected-error@below {{but 'x' is bool [UC0316]}}
  %r11 = ucutlass.abs %b : (!ucutlass.tensor<[4], i1>) -> !ucutlass.unresolved
  // expected-error@below {{but 'x' is bool [UC0316]}}
  %r12 = ucutlass.neg %b : (!ucutlass.tensor<[4], i1>) -> !ucutlass.unresolved
  // expected-error@below {{but 'x' is bool [UC0316]}}
  %r13 = ucutlass.softsign %b : (!ucutlass.tensor<[4], i1>) -> !ucutlass.unresolved
  // expected-error@below {{but 'x' is bool [UC0316]}}
  %r14 = ucutlass.hardtanh %b : (!ucutlass.tensor<[4], i1>) -> !ucutlass.unresolved
  // expected-error@below {{but 'x' is bool [UC0316]}}
  %r15 = ucutlass.relu6 %b : (!ucutlass.tensor<[4], i1>) -> !ucutlass.unresolved
  ucutlass.return %i : !ucutlass.tensor<["M"], si32>
}

// Bounds, and what a whole number must fit.
ucutlass.kernel @values(%x: !ucutlass.tensor<[4], f16>, %i: !ucutlass.tensor<["M"], si32>) -> (!ucutlass.tensor<[4], f16>) {
  %c = ucutlass.constant <2>
  // expected-error@below {{clamp has no bound: give lo, hi or both [UC0211]}}
  %r0 = ucutlass.clamp %x : (!ucutlass.tensor<[4], f16>) -> !ucutlass.unresolved
  // expected-error@below {{lo is 2, expected at most hi, which is 1.5 [UC0309]}}
  %r1 = ucutlass.hardtanh %x {hi = #ucutlass.number<1.5>, lo = #ucutlass.number<2>} : (!ucutlass.tensor<[4], f16>) -> !ucutlass.unresolved
  // expected-error@below {{hi is 1.5, expected a whole number for s32}}
  %r2 = ucutlass.hardtanh %i {hi = #ucutlass.number<1.5>} : (!ucutlass.tensor<["M"], si32>) -> !ucutlass.unresolved
  // expected-error@below {{hi is 1099511627776, which s32, the compute type of s32, cannot hold}}
  %r3 = ucutlass.clamp %i {hi = #ucutlass.number<1099511627776>} : (!ucutlass.tensor<["M"], si32>) -> !ucutlass.unresolved
  // expected-error@below {{operand 'x' of exp is a number, expected a tensor [UC0315]}}
  %r4 = ucutlass.exp %c : (!ucutlass.number_type) -> !ucutlass.unresolved
  ucutlass.return %x : !ucutlass.tensor<[4], f16>
}
