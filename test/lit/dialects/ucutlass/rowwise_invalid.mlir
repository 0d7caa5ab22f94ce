// RUN: %ucutlass-opt -p infer --verify-diagnostics %s

// Types, dimensions and the shapes of what goes with a row.
ucutlass.kernel @refused(%x: !ucutlass.tensor<["B", "S", 64], f16>, %w: !ucutlass.tensor<[64], f16>, %o: !ucutlass.tensor<[32], f16>, %i: !ucutlass.tensor<[4, 4], si32>, %iw: !ucutlass.tensor<[64], si8>) -> (!ucutlass.tensor<["B", "S", 64], f16>) {
  // expected-error@below {{softmax takes f64 f32 tf32 f16 bf16 e4m3 e5m2, but 'x' is s32 [UC0316]}}
  %r0 = ucutlass.softmax %i {dim = #ucutlass.dims<[1]>} : (!ucutlass.tensor<[4, 4], si32>) -> !ucutlass.unresolved
  // expected-error@below {{log_softmax: dim is 3, but f16[B, S, 64] has 3 dimensions: expected -3 to 2 [UC0304]}}
  %r1 = ucutlass.log_softmax %x {dim = #ucutlass.dims<[3]>} : (!ucutlass.tensor<["B", "S", 64], f16>) -> !ucutlass.unresolved
  // expected-error@below {{l2_norm: dim is 1}}
  %r2 = ucutlass.l2_norm %w : (!ucutlass.tensor<[64], f16>) -> !ucutlass.unresolved
  // expected-error@below {{layer_norm is over the last dimensions: shape is [32], but those of x, f16[B, S, 64], are [64] [UC0301]}}
  %r3 = ucutlass.layer_norm %x {shape = #ucutlass.dims<[32]>} : (!ucutlass.tensor<["B", "S", 64], f16>) -> !ucutlass.unresolved
  // expected-error@below {{[UC0301]}}
  %r4 = ucutlass.rms_norm %w {shape = #ucutlass.dims<[8, 8]>} : (!ucutlass.tensor<[64], f16>) -> !ucutlass.unresolved
  // expected-error@below {{shape is empty, expected at least one size [UC0309]}}
  %r5 = ucutlass.layer_norm %x {shape = #ucutlass.dims<[]>} : (!ucutlass.tensor<["B", "S", 64], f16>) -> !ucutlass.unresolved
  // expected-error@below {{weight has the given shape, [64], but it is f16[32] [UC0301]}}
  %r6 = ucutlass.layer_norm %x weight(%o : !ucutlass.tensor<[32], f16>) {shape = #ucutlass.dims<[64]>} : (!ucutlass.tensor<["B", "S", 64], f16>) -> !ucutlass.unresolved
  // expected-error@below {{rms_norm takes f64 f32 tf32 f16 bf16 e4m3 e5m2, but 'weight' is s8 [UC0316]}}
  %r7 = ucutlass.rms_norm %x weight(%iw) {shape = #ucutlass.dims<[64]>} : (!ucutlass.tensor<["B", "S", 64], f16>, !ucutlass.tensor<[64], si8>) -> !ucutlass.unresolved
  ucutlass.return %x : !ucutlass.tensor<["B", "S", 64], f16>
}

// Groups divide the channels; statistics come in pairs.
ucutlass.kernel @channels(%x: !ucutlass.tensor<[8, 30, 4], f16>, %m: !ucutlass.tensor<[30], f16>, %o: !ucutlass.tensor<[4], f16>, %r: !ucutlass.tensor<[30, 4], f16>) -> (!ucutlass.tensor<[8, 30, 4], f16>) {
  // expected-error@below {{group_norm splits the 30 channels of f16[8, 30, 4] evenly, but 4 groups do not divide them [UC0321]}}
  %r0 = ucutlass.group_norm %x {groups = #ucutlass.dims<[4]>} : (!ucutlass.tensor<[8, 30, 4], f16>) -> !ucutlass.unresolved
  // expected-error@below {{groups is 0, expected at least 1 [UC0309]}}
  %r1 = ucutlass.group_norm %x {groups = #ucutlass.dims<[0]>} : (!ucutlass.tensor<[8, 30, 4], f16>) -> !ucutlass.unresolved
  // expected-error@below {{group_norm takes [N, C, …], at least 2 dimensions, but x is f16[30] [UC0303]}}
  %r2 = ucutlass.group_norm %m {groups = #ucutlass.dims<[2]>} : (!ucutlass.tensor<[30], f16>) -> !ucutlass.unresolved
  // expected-error@below {{batch_norm has mean but no var: give both, or neither for the statistics of the batch [UC0211]}}
  %r3 = ucutlass.batch_norm %x mean(%m : !ucutlass.tensor<[30], f16>) : (!ucutlass.tensor<[8, 30, 4], f16>) -> !ucutlass.unresolved
  // expected-error@below {{weight has one value a channel, [30], but it is f16[4] [UC0301]}}
  %r4 = ucutlass.batch_norm %x weight(%o : !ucutlass.tensor<[4], f16>) : (!ucutlass.tensor<[8, 30, 4], f16>) -> !ucutlass.unresolved
  // expected-error@below {{instance_norm takes [N, C, L, …], at least 3 dimensions, but x is f16[30, 4] [UC0303]}}
  %r5 = ucutlass.instance_norm %r : (!ucutlass.tensor<[30, 4], f16>) -> !ucutlass.unresolved
  ucutlass.return %x : !ucutlass.tensor<[8, 30, 4], f16>
}
