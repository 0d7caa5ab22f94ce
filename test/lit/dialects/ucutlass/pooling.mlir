// RUN: %ucutlass-opt -p infer %s | %filecheck %s
// RUN: %ucutlass-opt -p infer --print-op-generic %s | %ucutlass-opt -f mlir - | %filecheck %s

// Windows over the last dimensions, with or without a batch; the stride is the kernel where absent.
// CHECK-LABEL: ucutlass.kernel @windows
ucutlass.kernel @windows(%a: !ucutlass.tensor<["N", 8, "L"], f16>, %b: !ucutlass.tensor<[2, 8, 9, "H"], bf16, (0, 2, 3, 1)>, %c: !ucutlass.tensor<[8, 9, 9, 9], f32>, %i: !ucutlass.tensor<[2, 8, 9], si8>) -> (!ucutlass.tensor<["N", 8, "L"], f16>) {
  // CHECK: %a1 = ucutlass.max_pool1d %a {kernel = #ucutlass.dims<[2]>} : {{.*}} -> !ucutlass.tensor<["N", 8, "L / 2"], f16>
  %a1 = ucutlass.max_pool1d %a {kernel = #ucutlass.dims<[2]>} : (!ucutlass.tensor<["N", 8, "L"], f16>) -> !ucutlass.unresolved
  // Rounded up, a dynamic size has a formula too.
  // CHECK: %a2 = ucutlass.max_pool1d %a {ceil_mode = true, kernel = #ucutlass.dims<[3]>, padding = #ucutlass.dims<[1]>, stride = #ucutlass.dims<[2]>} : {{.*}} -> !ucutlass.tensor<["N", 8, "L / 2 + 1"], f16>
  %a2 = ucutlass.max_pool1d %a {ceil_mode = true, kernel = #ucutlass.dims<[3]>, padding = #ucutlass.dims<[1]>, stride = #ucutlass.dims<[2]>} : (!ucutlass.tensor<["N", 8, "L"], f16>) -> !ucutlass.unresolved
  // CHECK: %a3 = ucutlass.avg_pool1d %a {count_include_pad = false, kernel = #ucutlass.dims<[4]>, padding = #ucutlass.dims<[2]>, stride = #ucutlass.dims<[1]>} : {{.*}} -> !ucutlass.tensor<["N", 8, "L + 1"], f16>
  %a3 = ucutlass.avg_pool1d %a {count_include_pad = false, kernel = #ucutlass.dims<[4]>, padding = #ucutlass.dims<[2]>, stride = #ucutlass.dims<[1]>} : (!ucutlass.tensor<["N", 8, "L"], f16>) -> !ucutlass.unresolved
  // CHECK: %i1 = ucutlass.max_pool1d %i {dilation = #ucutlass.dims<[2]>, kernel = #ucutlass.dims<[3]>, stride = #ucutlass.dims<[1]>} : {{.*}} -> !ucutlass.tensor<[2, 8, 5], si8>
  %i1 = ucutlass.max_pool1d %i {dilation = #ucutlass.dims<[2]>, kernel = #ucutlass.dims<[3]>, stride = #ucutlass.dims<[1]>} : (!ucutlass.tensor<[2, 8, 9], si8>) -> !ucutlass.unresolved
  // CHECK: %b1 = ucutlass.max_pool2d %b {kernel = #ucutlass.dims<[3, 2]>, stride = #ucutlass.dims<[2, 1]>} : {{.*}} -> !ucutlass.tensor<[2, 8, 4, "H - 1"], bf16, (0, 2, 3, 1)>
  %b1 = ucutlass.max_pool2d %b {kernel = #ucutlass.dims<[3, 2]>, stride = #ucutlass.dims<[2, 1]>} : (!ucutlass.tensor<[2, 8, 9, "H"], bf16, (0, 2, 3, 1)>) -> !ucutlass.unresolved
  // CHECK: %b2 = ucutlass.avg_pool2d %b {kernel = #ucutlass.dims<[3]>} : {{.*}} -> !ucutlass.tensor<[2, 8, 3, "H / 3"], bf16, (0, 2, 3, 1)>
  %b2 = ucutlass.avg_pool2d %b {kernel = #ucutlass.dims<[3]>} : (!ucutlass.tensor<[2, 8, 9, "H"], bf16, (0, 2, 3, 1)>) -> !ucutlass.unresolved
  // CHECK: %c1 = ucutlass.max_pool3d %c {kernel = #ucutlass.dims<[2]>} : {{.*}} -> !ucutlass.tensor<[8, 4, 4, 4], f32>
  %c1 = ucutlass.max_pool3d %c {kernel = #ucutlass.dims<[2]>} : (!ucutlass.tensor<[8, 9, 9, 9], f32>) -> !ucutlass.unresolved
  // CHECK: %c2 = ucutlass.avg_pool3d %c {ceil_mode = true, kernel = #ucutlass.dims<[2]>} : {{.*}} -> !ucutlass.tensor<[8, 5, 5, 5], f32>
  %c2 = ucutlass.avg_pool3d %c {ceil_mode = true, kernel = #ucutlass.dims<[2]>} : (!ucutlass.tensor<[8, 9, 9, 9], f32>) -> !ucutlass.unresolved
  // CHECK: %a4 = ucutlass.adaptive_avg_pool1d %a {size = #ucutlass.dims<[4]>} : {{.*}} -> !ucutlass.tensor<["N", 8, 4], f16>
  %a4 = ucutlass.adaptive_avg_pool1d %a {size = #ucutlass.dims<[4]>} : (!ucutlass.tensor<["N", 8, "L"], f16>) -> !ucutlass.unresolved
  // CHECK: %b4 = ucutlass.adaptive_avg_pool2d %b {size = #ucutlass.dims<[1]>} : {{.*}} -> !ucutlass.tensor<[2, 8, 1, 1], bf16, (0, 2, 3, 1)>
  %b4 = ucutlass.adaptive_avg_pool2d %b {size = #ucutlass.dims<[1]>} : (!ucutlass.tensor<[2, 8, 9, "H"], bf16, (0, 2, 3, 1)>) -> !ucutlass.unresolved
  // CHECK: %c4 = ucutlass.adaptive_avg_pool3d %c {size = #ucutlass.dims<[3, "N", 1]>} : {{.*}} -> !ucutlass.tensor<[8, 3, "N", 1], f32>
  %c4 = ucutlass.adaptive_avg_pool3d %c {size = #ucutlass.dims<[3, "N", 1]>} : (!ucutlass.tensor<[8, 9, 9, 9], f32>) -> !ucutlass.unresolved
  ucutlass.return %a : !ucutlass.tensor<["N", 8, "L"], f16>
}
