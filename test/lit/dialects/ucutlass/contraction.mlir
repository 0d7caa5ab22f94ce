// RUN: %ucutlass-opt -p infer %s | %filecheck %s
// RUN: %ucutlass-opt -p infer --print-op-generic %s | %ucutlass-opt -f mlir - | %filecheck %s

// Products of matrices: result extents from the operands' names, result types from theirs.
// CHECK-LABEL: ucutlass.kernel @products
ucutlass.kernel @products(%a: !ucutlass.tensor<["M", 64], f16>, %b: !ucutlass.tensor<[64, "N"], f16, (1, 0)>, %q: !ucutlass.tensor<["M", 64], si8>, %r: !ucutlass.tensor<[64, "N"], si8>, %s: !ucutlass.tensor<[2, 1, "M", 64], f8E4M3FN>, %u: !ucutlass.tensor<[3, 64, "N"], f16>) -> (!ucutlass.tensor<["M", 64], f16>) {
  // The weight is read as it lies.
  // CHECK: %y = ucutlass.gemm %a, %b : {{.*}} -> !ucutlass.tensor<["M", "N"], f16>
  %y = ucutlass.gemm %a, %b : (!ucutlass.tensor<["M", 64], f16>, !ucutlass.tensor<[64, "N"], f16, (1, 0)>) -> !ucutlass.unresolved
  // Integers are summed in s32.
  // CHECK: %i = ucutlass.gemm %q, %r {config = #ucutlass.config<tile = (128, 128, 64), cluster = (2, 1, ?)>} : {{.*}} -> !ucutlass.tensor<["M", "N"], si32>
  %i = ucutlass.gemm %q, %r {config = #ucutlass.config<tile = (128, 128, 64), cluster = (2, 1, ?)>} : (!ucutlass.tensor<["M", 64], si8>, !ucutlass.tensor<[64, "N"], si8>) -> !ucutlass.unresolved
  // Leading dimensions broadcast; of mixed types the wide one stays.
  // CHECK: %z = ucutlass.batched_gemm %s, %u : {{.*}} -> !ucutlass.tensor<[2, 3, "M", "N"], f16>
  %z = ucutlass.batched_gemm %s, %u : (!ucutlass.tensor<[2, 1, "M", 64], f8E4M3FN>, !ucutlass.tensor<[3, 64, "N"], f16>) -> !ucutlass.unresolved
  ucutlass.return %a : !ucutlass.tensor<["M", 64], f16>
}

// Both forms of a grouped product: pairs of tensors, or rows of one tensor told apart by where their groups end.
// CHECK-LABEL: ucutlass.kernel @grouped
ucutlass.kernel @grouped(%a: !ucutlass.tensor<["M", 64], bf16>, %b: !ucutlass.tensor<[64, 32], bf16>, %c: !ucutlass.tensor<["P", 16], bf16>, %d: !ucutlass.tensor<[16, 8], bf16>, %e: !ucutlass.tensor<[4, 64, 32], bf16>, %ends: !ucutlass.tensor<[4], si32>) -> (!ucutlass.tensor<["M", 64], bf16>) {
  // CHECK: %y, %z = ucutlass.grouped_gemm[%a, %c : !ucutlass.tensor<["M", 64], bf16>, !ucutlass.tensor<["P", 16], bf16>] [%b, %d : !ucutlass.tensor<[64, 32], bf16>, !ucutlass.tensor<[16, 8], bf16>] -> !ucutlass.tensor<["M", 32], bf16>, !ucutlass.tensor<["P", 8], bf16>
  %y, %z = ucutlass.grouped_gemm[%a, %c : !ucutlass.tensor<["M", 64], bf16>, !ucutlass.tensor<["P", 16], bf16>] [%b, %d : !ucutlass.tensor<[64, 32], bf16>, !ucutlass.tensor<[16, 8], bf16>] -> !ucutlass.unresolved, !ucutlass.unresolved
  // CHECK: %w = ucutlass.grouped_gemm_offsets %a, %e, %ends : {{.*}} -> !ucutlass.tensor<["M", 32], bf16>
  %w = ucutlass.grouped_gemm_offsets %a, %e, %ends : (!ucutlass.tensor<["M", 64], bf16>, !ucutlass.tensor<[4, 64, 32], bf16>, !ucutlass.tensor<[4], si32>) -> !ucutlass.unresolved
  ucutlass.return %a : !ucutlass.tensor<["M", 64], bf16>
}
