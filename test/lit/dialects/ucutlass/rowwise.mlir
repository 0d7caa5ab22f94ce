// RUN: %ucutlass-opt -p infer %s | %filecheck %s
// RUN: %ucutlass-opt -p infer --print-op-generic %s | %ucutlass-opt -f mlir - | %filecheck %s

// Rows of one dimension, or of the last ones.
// CHECK-LABEL: ucutlass.kernel @rows
ucutlass.kernel @rows(%x: !ucutlass.tensor<["B", "S", 64], f16>, %w: !ucutlass.tensor<[64], f32>, %b: !ucutlass.tensor<[64], bf16>, %w2: !ucutlass.tensor<["S", 64], f16>, %c: !ucutlass.tensor<["N", 6, "H", "W"], f16, (0, 2, 3, 1)>, %v: !ucutlass.tensor<[6], f32>) -> (!ucutlass.tensor<["B", "S", 64], f16>) {
  // CHECK: %r0 = ucutlass.softmax %x {dim = #ucutlass.dims<[-1]>} : {{.*}} -> !ucutlass.tensor<["B", "S", 64], f16>
  %r0 = ucutlass.softmax %x {dim = #ucutlass.dims<[-1]>} : (!ucutlass.tensor<["B", "S", 64], f16>) -> !ucutlass.unresolved
  // CHECK: %r1 = ucutlass.log_softmax %x {dim = #ucutlass.dims<[1]>} : {{.*}} -> !ucutlass.tensor<["B", "S", 64], f16>
  %r1 = ucutlass.log_softmax %x {dim = #ucutlass.dims<[1]>} : (!ucutlass.tensor<["B", "S", 64], f16>) -> !ucutlass.unresolved
  // CHECK: %r2 = ucutlass.l2_norm %x : {{.*}} -> !ucutlass.tensor<["B", "S", 64], f16>
  %r2 = ucutlass.l2_norm %x : (!ucutlass.tensor<["B", "S", 64], f16>) -> !ucutlass.unresolved
  // CHECK: %r3 = ucutlass.l2_norm %x {dim = #ucutlass.dims<[2]>, eps = #ucutlass.number<0.5>} : {{.*}} -> !ucutlass.tensor<["B", "S", 64], f16>
  %r3 = ucutlass.l2_norm %x {dim = #ucutlass.dims<[2]>, eps = #ucutlass.number<0.5>} : (!ucutlass.tensor<["B", "S", 64], f16>) -> !ucutlass.unresolved
  // CHECK: %r4 = ucutlass.layer_norm %x {shape = #ucutlass.dims<[64]>} : {{.*}} -> !ucutlass.tensor<["B", "S", 64], f16>
  %r4 = ucutlass.layer_norm %x {shape = #ucutlass.dims<[64]>} : (!ucutlass.tensor<["B", "S", 64], f16>) -> !ucutlass.unresolved
  // CHECK: %r5 = ucutlass.layer_norm %x weight(%w2 : !ucutlass.tensor<["S", 64], f16>) {shape = #ucutlass.dims<["S", 64]>} : {{.*}} -> !ucutlass.tensor<["B", "S", 64], f16>
  %r5 = ucutlass.layer_norm %x weight(%w2 : !ucutlass.tensor<["S", 64], f16>) {shape = #ucutlass.dims<["S", 64]>} : (!ucutlass.tensor<["B", "S", 64], f16>) -> !ucutlass.unresolved
  // CHECK: %r6 = ucutlass.layer_norm %x weight(%w : !ucutlass.tensor<[64], f32>) bias(%b : !ucutlass.tensor<[64], bf16>) {eps = #ucutlass.number<1.0e-06>, shape = #ucutlass.dims<[64]>} : {{.*}} -> !ucutlass.tensor<["B", "S", 64], f16>
  %r6 = ucutlass.layer_norm %x weight(%w : !ucutlass.tensor<[64], f32>) bias(%b : !ucutlass.tensor<[64], bf16>) {eps = #ucutlass.number<1.0e-06>, shape = #ucutlass.dims<[64]>} : (!ucutlass.tensor<["B", "S", 64], f16>) -> !ucutlass.unresolved
  // CHECK: %r7 = ucutlass.layer_norm %x bias(%b : !ucutlass.tensor<[64], bf16>) {shape = #ucutlass.dims<[64]>} : {{.*}} -> !ucutlass.tensor<["B", "S", 64], f16>
  %r7 = ucutlass.layer_norm %x bias(%b : !ucutlass.tensor<[64], bf16>) {shape = #ucutlass.dims<[64]>} : (!ucutlass.tensor<["B", "S", 64], f16>) -> !ucutlass.unresolved
  // CHECK: %r8 = ucutlass.rms_norm %x {shape = #ucutlass.dims<[64]>} : {{.*}} -> !ucutlass.tensor<["B", "S", 64], f16>
  %r8 = ucutlass.rms_norm %x {shape = #ucutlass.dims<[64]>} : (!ucutlass.tensor<["B", "S", 64], f16>) -> !ucutlass.unresolved
  // CHECK: %r9 = ucutlass.rms_norm %x weight(%w) {eps = #ucutlass.number<1.0e-06>, shape = #ucutlass.dims<[64]>} : {{.*}} -> !ucutlass.tensor<["B", "S", 64], f16>
  %r9 = ucutlass.rms_norm %x weight(%w) {eps = #ucutlass.number<1.0e-06>, shape = #ucutlass.dims<[64]>} : (!ucutlass.tensor<["B", "S", 64], f16>, !ucutlass.tensor<[64], f32>) -> !ucutlass.unresolved
  ucutlass.return %x : !ucutlass.tensor<["B", "S", 64], f16>
}

// Normalizations by channel keep the layout.
// CHECK-LABEL: ucutlass.kernel @channels
ucutlass.kernel @channels(%c: !ucutlass.tensor<["N", 6, "H", "W"], f16, (0, 2, 3, 1)>, %v: !ucutlass.tensor<[6], f32>, %d: !ucutlass.tensor<["N", "C"], f32>) -> (!ucutlass.tensor<["N", 6, "H", "W"], f16, (0, 2, 3, 1)>) {
  // CHECK: %r0 = ucutlass.group_norm %c {groups = #ucutlass.dims<[3]>} : {{.*}} -> !ucutlass.tensor<["N", 6, "H", "W"], f16, (0, 2, 3, 1)>
  %r0 = ucutlass.group_norm %c {groups = #ucutlass.dims<[3]>} : (!ucutlass.tensor<["N", 6, "H", "W"], f16, (0, 2, 3, 1)>) -> !ucutlass.unresolved
  // CHECK: %r1 = ucutlass.group_norm %c weight(%v : !ucutlass.tensor<[6], f32>) bias(%v : !ucutlass.tensor<[6], f32>) {eps = #ucutlass.number<0.001>, groups = #ucutlass.dims<[2]>} : {{.*}} -> !ucutlass.tensor<["N", 6, "H", "W"], f16, (0, 2, 3, 1)>
  %r1 = ucutlass.group_norm %c weight(%v : !ucutlass.tensor<[6], f32>) bias(%v : !ucutlass.tensor<[6], f32>) {eps = #ucutlass.number<0.001>, groups = #ucutlass.dims<[2]>} : (!ucutlass.tensor<["N", 6, "H", "W"], f16, (0, 2, 3, 1)>) -> !ucutlass.unresolved
  // CHECK: %r2 = ucutlass.batch_norm %c : {{.*}} -> !ucutlass.tensor<["N", 6, "H", "W"], f16, (0, 2, 3, 1)>
  %r2 = ucutlass.batch_norm %c : (!ucutlass.tensor<["N", 6, "H", "W"], f16, (0, 2, 3, 1)>) -> !ucutlass.unresolved
  // CHECK: %r3 = ucutlass.batch_norm %d : {{.*}} -> !ucutlass.tensor<["N", "C"], f32>
  %r3 = ucutlass.batch_norm %d : (!ucutlass.tensor<["N", "C"], f32>) -> !ucutlass.unresolved
  // CHECK: %r4 = ucutlass.batch_norm %c mean(%v : !ucutlass.tensor<[6], f32>) var(%v : !ucutlass.tensor<[6], f32>) : {{.*}} -> !ucutlass.tensor<["N", 6, "H", "W"], f16, (0, 2, 3, 1)>
  %r4 = ucutlass.batch_norm %c mean(%v : !ucutlass.tensor<[6], f32>) var(%v : !ucutlass.tensor<[6], f32>) : (!ucutlass.tensor<["N", 6, "H", "W"], f16, (0, 2, 3, 1)>) -> !ucutlass.unresolved
  // CHECK: %r5 = ucutlass.batch_norm %c mean(%v : !ucutlass.tensor<[6], f32>) var(%v : !ucutlass.tensor<[6], f32>) weight(%v : !ucutlass.tensor<[6], f32>) bias(%v : !ucutlass.tensor<[6], f32>) : {{.*}} -> !ucutlass.tensor<["N", 6, "H", "W"], f16, (0, 2, 3, 1)>
  %r5 = ucutlass.batch_norm %c mean(%v : !ucutlass.tensor<[6], f32>) var(%v : !ucutlass.tensor<[6], f32>) weight(%v : !ucutlass.tensor<[6], f32>) bias(%v : !ucutlass.tensor<[6], f32>) : (!ucutlass.tensor<["N", 6, "H", "W"], f16, (0, 2, 3, 1)>) -> !ucutlass.unresolved
  // CHECK: %r6 = ucutlass.batch_norm %c weight(%v : !ucutlass.tensor<[6], f32>) : {{.*}} -> !ucutlass.tensor<["N", 6, "H", "W"], f16, (0, 2, 3, 1)>
  %r6 = ucutlass.batch_norm %c weight(%v : !ucutlass.tensor<[6], f32>) : (!ucutlass.tensor<["N", 6, "H", "W"], f16, (0, 2, 3, 1)>) -> !ucutlass.unresolved
  // CHECK: %r7 = ucutlass.instance_norm %c : {{.*}} -> !ucutlass.tensor<["N", 6, "H", "W"], f16, (0, 2, 3, 1)>
  %r7 = ucutlass.instance_norm %c : (!ucutlass.tensor<["N", 6, "H", "W"], f16, (0, 2, 3, 1)>) -> !ucutlass.unresolved
  // CHECK: %r8 = ucutlass.instance_norm %c weight(%v : !ucutlass.tensor<[6], f32>) bias(%v : !ucutlass.tensor<[6], f32>) : {{.*}} -> !ucutlass.tensor<["N", 6, "H", "W"], f16, (0, 2, 3, 1)>
  %r8 = ucutlass.instance_norm %c weight(%v : !ucutlass.tensor<[6], f32>) bias(%v : !ucutlass.tensor<[6], f32>) : (!ucutlass.tensor<["N", 6, "H", "W"], f16, (0, 2, 3, 1)>) -> !ucutlass.unresolved
  // CHECK: %r9 = ucutlass.group_norm %d {groups = #ucutlass.dims<[4]>} : {{.*}} -> !ucutlass.tensor<["N", "C"], f32>
  %r9 = ucutlass.group_norm %d {groups = #ucutlass.dims<[4]>} : (!ucutlass.tensor<["N", "C"], f32>) -> !ucutlass.unresolved
  ucutlass.return %c : !ucutlass.tensor<["N", 6, "H", "W"], f16, (0, 2, 3, 1)>
}
