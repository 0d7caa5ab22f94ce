// RUN: %ucutlass-opt -p infer %s | %filecheck %s
// RUN: %ucutlass-opt -p infer --print-op-generic %s | %ucutlass-opt -f mlir - | %filecheck %s

// Types that are there are kept, those that are missing are filled in.
// CHECK-LABEL: ucutlass.kernel @partly
// CHECK: %y = ucutlass.relu %x : (!ucutlass.tensor<[8, 64], f16>) -> !ucutlass.tensor<[8, 64], f16>
// CHECK-NEXT: %z = ucutlass.relu %y : (!ucutlass.tensor<[8, 64], f16>) -> !ucutlass.tensor<[8, 64], f16>
// CHECK-NEXT: ucutlass.return %z : !ucutlass.tensor<[8, 64], f16>
ucutlass.kernel @partly(%x: !ucutlass.tensor<[8, 64], f16>) -> (!ucutlass.tensor<[8, 64], f16>) {
  %y = ucutlass.relu %x : (!ucutlass.tensor<[8, 64], f16>) -> !ucutlass.tensor<[8, 64], f16>
  %z = ucutlass.relu %y : (!ucutlass.tensor<[8, 64], f16>) -> !ucutlass.unresolved
  ucutlass.return %z : !ucutlass.unresolved
}
