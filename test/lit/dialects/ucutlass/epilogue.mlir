// RUN: %ucutlass-opt -p infer %s | %filecheck %s
// RUN: %ucutlass-opt -p infer --print-op-generic %s | %ucutlass-opt -f mlir - | %filecheck %s

// A bias lies along the last dimension, a row scale is a column.
// CHECK-LABEL: ucutlass.kernel @after_a_gemm
ucutlass.kernel @after_a_gemm(%y: !ucutlass.tensor<["M", 64], f16>, %b: !ucutlass.tensor<[64], f16>, %one: !ucutlass.tensor<[1], f32>, %s: !ucutlass.tensor<["M", 1], f32>, %g: !ucutlass.tensor<[], f32>, %c: !ucutlass.tensor<["M", 64], f16>) -> (!ucutlass.tensor<["M", 64], f16>) {
  // CHECK: %half = ucutlass.constant <0.5>
  %half = ucutlass.constant <0.5>
  // CHECK: %r0 = ucutlass.bias %y, %b : {{.*}} -> !ucutlass.tensor<["M", 64], f16>
  %r0 = ucutlass.bias %y, %b : (!ucutlass.tensor<["M", 64], f16>, !ucutlass.tensor<[64], f16>) -> !ucutlass.unresolved
  // CHECK: %r1 = ucutlass.bias %y, %one : {{.*}} -> !ucutlass.tensor<["M", 64], f32>
  %r1 = ucutlass.bias %y, %one : (!ucutlass.tensor<["M", 64], f16>, !ucutlass.tensor<[1], f32>) -> !ucutlass.unresolved
  // CHECK: %r2 = ucutlass.scale %y, %s : {{.*}} -> !ucutlass.tensor<["M", 64], f32>
  %r2 = ucutlass.scale %y, %s : (!ucutlass.tensor<["M", 64], f16>, !ucutlass.tensor<["M", 1], f32>) -> !ucutlass.unresolved
  // CHECK: %r3 = ucutlass.scale %y, %g : {{.*}} -> !ucutlass.tensor<["M", 64], f16>
  %r3 = ucutlass.scale %y, %g : (!ucutlass.tensor<["M", 64], f16>, !ucutlass.tensor<[], f32>) -> !ucutlass.unresolved
  // CHECK: %r4 = ucutlass.scale %y, %half : {{.*}} -> !ucutlass.tensor<["M", 64], f16>
  %r4 = ucutlass.scale %y, %half : (!ucutlass.tensor<["M", 64], f16>, !ucutlass.number_type) -> !ucutlass.unresolved
  // CHECK: %r5 = ucutlass.residual %y, %c : {{.*}} -> !ucutlass.tensor<["M", 64], f16>
  %r5 = ucutlass.residual %y, %c : (!ucutlass.tensor<["M", 64], f16>, !ucutlass.tensor<["M", 64], f16>) -> !ucutlass.unresolved
  // CHECK: %r6 = ucutlass.residual %y, %c {beta = #ucutlass.number<0.5>} : {{.*}} -> !ucutlass.tensor<["M", 64], f16>
  %r6 = ucutlass.residual %y, %c {beta = #ucutlass.number<0.5>} : (!ucutlass.tensor<["M", 64], f16>, !ucutlass.tensor<["M", 64], f16>) -> !ucutlass.unresolved
  // CHECK: %r7 = ucutlass.residual %y, %half {beta = #ucutlass.number<0>} : {{.*}} -> !ucutlass.tensor<["M", 64], f16>
  %r7 = ucutlass.residual %y, %half {beta = #ucutlass.number<0>} : (!ucutlass.tensor<["M", 64], f16>, !ucutlass.number_type) -> !ucutlass.unresolved
  // CHECK: %r8 = ucutlass.materialize %y : {{.*}} -> !ucutlass.tensor<["M", 64], f16>
  %r8 = ucutlass.materialize %y : (!ucutlass.tensor<["M", 64], f16>) -> !ucutlass.unresolved
  ucutlass.return %y : !ucutlass.tensor<["M", 64], f16>
}

// After a convolution it belongs to the channels, dimension 1, whatever element-wise stands between; else to the last.
// CHECK-LABEL: ucutlass.kernel @after_a_convolution
ucutlass.kernel @after_a_convolution(%x: !ucutlass.tensor<["N", 3, "H", 32], f16>, %w: !ucutlass.tensor<[8, 3, 1, 1], f16>, %b: !ucutlass.tensor<[8], f16>, %l: !ucutlass.tensor<[32], f16>) -> (!ucutlass.tensor<["N", 3, "H", 32], f16>) {
  %y = ucutlass.conv2d %x, %w : (!ucutlass.tensor<["N", 3, "H", 32], f16>, !ucutlass.tensor<[8, 3, 1, 1], f16>) -> !ucutlass.unresolved
  // CHECK: %r0 = ucutlass.bias %y, %b : {{.*}} -> !ucutlass.tensor<["N", 8, "H", 32], f16
  %r0 = ucutlass.bias %y, %b : (!ucutlass.unresolved, !ucutlass.tensor<[8], f16>) -> !ucutlass.unresolved
  %z = ucutlass.relu %r0 : (!ucutlass.unresolved) -> !ucutlass.unresolved
  %u = ucutlass.materialize %z : (!ucutlass.unresolved) -> !ucutlass.unresolved
  %v = ucutlass.cast %u {dtype = f32} : (!ucutlass.unresolved) -> !ucutlass.unresolved
  // CHECK: %r1 = ucutlass.bias %v, %b : {{.*}} -> !ucutlass.tensor<["N", 8, "H", 32], f32
  %r1 = ucutlass.bias %v, %b : (!ucutlass.unresolved, !ucutlass.tensor<[8], f16>) -> !ucutlass.unresolved
  // CHECK: %r2 = ucutlass.bias %s, %l : {{.*}} -> !ucutlass.tensor<["N", 8, "H", 32], f32
  %s = ucutlass.softmax %r1 {dim = #ucutlass.dims<[1]>} : (!ucutlass.unresolved) -> !ucutlass.unresolved
  %r2 = ucutlass.bias %s, %l : (!ucutlass.unresolved, !ucutlass.tensor<[32], f16>) -> !ucutlass.unresolved
  ucutlass.return %x : !ucutlass.tensor<["N", 3, "H", 32], f16>
}
