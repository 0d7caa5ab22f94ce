// RUN: %ucutlass-opt -p infer %s | %filecheck %s
// RUN: %ucutlass-opt -p infer --print-op-generic %s | %ucutlass-opt -f mlir - | %filecheck %s

// Scale and mask are absent unless given; the head size of the values may be another one.
// CHECK-LABEL: ucutlass.kernel @attend
ucutlass.kernel @attend(%q: !ucutlass.tensor<["B", "H", "S", 64], f16>, %k: !ucutlass.tensor<["B", "H", "T", 64], f16>, %v: !ucutlass.tensor<["B", "H", "T", 32], f16>, %m: !ucutlass.tensor<["S", "T"], i1>, %e: !ucutlass.tensor<["B", "H", "S", 64], f8E4M3FN>) -> (!ucutlass.tensor<["B", "H", "S", 64], f16>) {
  // CHECK: %y = ucutlass.attention %q, %k, %v : {{.*}} -> !ucutlass.tensor<["B", "H", "S", 32], f16>
  %y = ucutlass.attention %q, %k, %v : (!ucutlass.tensor<["B", "H", "S", 64], f16>, !ucutlass.tensor<["B", "H", "T", 64], f16>, !ucutlass.tensor<["B", "H", "T", 32], f16>) -> !ucutlass.unresolved
  // CHECK: %z = ucutlass.attention %q, %k, %v mask(%m) {causal = true, scale = #ucutlass.number<0.5>} : {{.*}} -> !ucutlass.tensor<["B", "H", "S", 32], f16>
  %z = ucutlass.attention %q, %k, %v mask(%m) {causal = true, scale = #ucutlass.number<0.5>} : (!ucutlass.tensor<["B", "H", "S", 64], f16>, !ucutlass.tensor<["B", "H", "T", 64], f16>, !ucutlass.tensor<["B", "H", "T", 32], f16>, !ucutlass.tensor<["S", "T"], i1>) -> !ucutlass.unresolved
  // fp8 gives f32; of the setters it takes those of the types.
  // CHECK: %w = ucutlass.attention %e, %e, %e {config = #ucutlass.config<acc = (f32)>} : {{.*}} -> !ucutlass.tensor<["B", "H", "S", 64], f32>
  %w = ucutlass.attention %e, %e, %e {config = #ucutlass.config<acc = (f32)>} : (!ucutlass.tensor<["B", "H", "S", 64], f8E4M3FN>, !ucutlass.tensor<["B", "H", "S", 64], f8E4M3FN>, !ucutlass.tensor<["B", "H", "S", 64], f8E4M3FN>) -> !ucutlass.unresolved
  ucutlass.return %q : !ucutlass.tensor<["B", "H", "S", 64], f16>
}
