// RUN: %ucutlass-opt -p infer --verify-diagnostics %s

// Dimensions that are not there, are named twice, or are not numbers.
ucutlass.kernel @dimensions(%x: !ucutlass.tensor<[4, 5], f32>, %d: !ucutlass.tensor<["M", "N"], f32>, %z: !ucutlass.tensor<[], f32>) -> (!ucutlass.tensor<[4, 5], f32>) {
  // expected-error@below {{sum: dim is 2, but f32[4, 5] has 2 dimensions: expected -2 to 1 [UC0304]}}
  %r0 = ucutlass.sum %x {dim = #ucutlass.dims<[2]>} : (!ucutlass.tensor<[4, 5], f32>) -> !ucutlass.unresolved
  // expected-error@below {{dim is -3}}
  %r1 = ucutlass.mean %x {dim = #ucutlass.dims<[0, -3]>} : (!ucutlass.tensor<[4, 5], f32>) -> !ucutlass.unresolved
  // expected-error@below {{names dimension 1 of f32[4, 5] twice [UC0317]}}
  %r2 = ucutlass.max %x {dim = #ucutlass.dims<[1, -1]>} : (!ucutlass.tensor<[4, 5], f32>) -> !ucutlass.unresolved
  // expected-error@below {{dim is the dynamic size N, expected the number of a dimension [UC0314]}}
  %r3 = ucutlass.norm %d {dim = #ucutlass.dims<["N"]>} : (!ucutlass.tensor<["M", "N"], f32>) -> !ucutlass.unresolved
  // expected-error@below {{[UC0304]}}
  %r4 = ucutlass.argmax %x {dim = #ucutlass.dims<[5]>} : (!ucutlass.tensor<[4, 5], f32>) -> !ucutlass.unresolved
  // expected-error@below {{[UC0304]}}
  %r5 = ucutlass.cumsum %x {dim = #ucutlass.dims<[-3]>} : (!ucutlass.tensor<[4, 5], f32>) -> !ucutlass.unresolved
  // expected-error@below {{[UC0304]}}
  %r6 = ucutlass.cumprod %z {dim = #ucutlass.dims<[1]>} : (!ucutlass.tensor<[], f32>) -> !ucutlass.unresolved
  // expected-error@below {{[UC0317]}}
  %r7 = ucutlass.prod %z {dim = #ucutlass.dims<[0, 0]>} : (!ucutlass.tensor<[], f32>) -> !ucutlass.unresolved
  ucutlass.return %x : !ucutlass.tensor<[4, 5], f32>
}

// What has no mean, no norm and no order.
ucutlass.kernel @types(%i: !ucutlass.tensor<[4], si32>, %b: !ucutlass.tensor<[4], i1>, %x: !ucutlass.tensor<[4], f16>) -> (!ucutlass.tensor<[4], si32>) {
  %two = ucutlass.constant <2>
  // expected-error@below {{mean takes f64 f32 tf32 f16 bf16 e4m3 e5m2, but 'x' is s32 [UC0316]}}
  %r0 = ucutlass.mean %i : (!ucutlass.tensor<[4], si32>) -> !ucutlass.unresolved
  // expected-error@below {{var takes f64 f32 tf32 f16 bf16 e4m3 e5m2, but 'x' is s32 [UC0316]}}
  %r1 = ucutlass.var %i : (!ucutlass.tensor<[4], si32>) -> !ucutlass.unresolved
  // expected-error@below {{norm takes f64 f32 tf32 f16 bf16 e4m3 e5m2, but 'x' is s32 [UC0316]}}
  %r2 = ucutlass.norm %i : (!ucutlass.tensor<[4], si32>) -> !ucutlass.unresolved
  // expected-error@below {{argmax takes f64 f32 tf32 f16 bf16 e4m3 e5m2 s64 s32 s8 u8 s4 u4, but 'x' is bool [UC0316]}}
  %r3 = ucutlass.argmax %b : (!ucutlass.tensor<[4], i1>) -> !ucutlass.unresolved
  // expected-error@below {{norm: p is nan, expected a number or inf [UC0309]}}
  %r4 = ucutlass.norm %x {p = #ucutlass.number<nan>} : (!ucutlass.tensor<[4], f16>) -> !ucutlass.unresolved
  // expected-error@below {{operand 'x' of sum is a number, expected a tensor [UC0315]}}
  %r5 = ucutlass.sum %two : (!ucutlass.number_type) -> !ucutlass.unresolved
  ucutlass.return %i : !ucutlass.tensor<[4], si32>
}

// A sum of no elements is 0, the largest of them is nothing.
ucutlass.kernel @of_nothing(%x: !ucutlass.tensor<[8, 0], f32>) -> (!ucutlass.tensor<[8, 0], f32>) {
  // expected-error@below {{max over dimension 1 of f32[8, 0], which has no elements: there is no value [UC0323]}}
  %r0 = ucutlass.max %x {dim = #ucutlass.dims<[1]>} : (!ucutlass.tensor<[8, 0], f32>) -> !ucutlass.unresolved
  // expected-error@below {{[UC0323]}}
  %r1 = ucutlass.min %x : (!ucutlass.tensor<[8, 0], f32>) -> !ucutlass.unresolved
  // expected-error@below {{[UC0323]}}
  %r2 = ucutlass.argmin %x {dim = #ucutlass.dims<[1]>} : (!ucutlass.tensor<[8, 0], f32>) -> !ucutlass.unresolved
  // expected-error@below {{[UC0323]}}
  %r3 = ucutlass.norm %x {p = #ucutlass.number<inf>} : (!ucutlass.tensor<[8, 0], f32>) -> !ucutlass.unresolved
  ucutlass.return %x : !ucutlass.tensor<[8, 0], f32>
}
