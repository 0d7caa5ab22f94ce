// RUN: %ucutlass-opt -p infer %s | %filecheck %s
// RUN: %ucutlass-opt -p infer --print-op-generic %s | %ucutlass-opt -f mlir - | %filecheck %s

// One table makes all of these: one, two and three spatial dimensions, forward, transposed and both gradients.
// CHECK-LABEL: ucutlass.kernel @one
ucutlass.kernel @one(%x: !ucutlass.tensor<["N", 8, "L"], f32>, %w: !ucutlass.tensor<[16, 8, 3], f32>, %v: !ucutlass.tensor<[8, 16, 3], f32>, %dy: !ucutlass.tensor<["N", 16, 10], f32>, %z: !ucutlass.tensor<["N", 8, 12], f32>) -> (!ucutlass.tensor<["N", 8, "L"], f32>) {
  // A dynamic extent has a formula.
  // CHECK: %y = ucutlass.conv1d %x, %w {padding = #ucutlass.dims<[1]>, stride = #ucutlass.dims<[2]>} : {{.*}} -> !ucutlass.tensor<["N", 16, "(L + 1) / 2"], f32>
  %y = ucutlass.conv1d %x, %w {padding = #ucutlass.dims<[1]>, stride = #ucutlass.dims<[2]>} : (!ucutlass.tensor<["N", 8, "L"], f32>, !ucutlass.tensor<[16, 8, 3], f32>) -> !ucutlass.unresolved
  // CHECK: %t = ucutlass.conv_transpose1d %x, %v {output_padding = #ucutlass.dims<[1]>, padding = #ucutlass.dims<[1]>, stride = #ucutlass.dims<[2]>} : {{.*}} -> !ucutlass.tensor<["N", 16, "2 * L"], f32>
  %t = ucutlass.conv_transpose1d %x, %v {output_padding = #ucutlass.dims<[1]>, padding = #ucutlass.dims<[1]>, stride = #ucutlass.dims<[2]>} : (!ucutlass.tensor<["N", 8, "L"], f32>, !ucutlass.tensor<[8, 16, 3], f32>) -> !ucutlass.unresolved
  // CHECK: %dx = ucutlass.conv1d_dgrad %dy, %w {input_size = #ucutlass.dims<["N", 8, 12]>} : {{.*}} -> !ucutlass.tensor<["N", 8, 12], f32>
  %dx = ucutlass.conv1d_dgrad %dy, %w {input_size = #ucutlass.dims<["N", 8, 12]>} : (!ucutlass.tensor<["N", 16, 10], f32>, !ucutlass.tensor<[16, 8, 3], f32>) -> !ucutlass.unresolved
  // CHECK: %dw = ucutlass.conv1d_wgrad %dy, %z {config = #ucutlass.config<compute = (tf32x3)>, kernel_size = #ucutlass.dims<[3]>} : {{.*}} -> !ucutlass.tensor<[16, 8, 3], f32>
  %dw = ucutlass.conv1d_wgrad %dy, %z {config = #ucutlass.config<compute = (tf32x3)>, kernel_size = #ucutlass.dims<[3]>} : (!ucutlass.tensor<["N", 16, 10], f32>, !ucutlass.tensor<["N", 8, 12], f32>) -> !ucutlass.unresolved
  ucutlass.return %x : !ucutlass.tensor<["N", 8, "L"], f32>
}

// CHECK-LABEL: ucutlass.kernel @two
ucutlass.kernel @two(%x: !ucutlass.tensor<[2, 8, 9, 8], f16, (0, 2, 3, 1)>, %w: !ucutlass.tensor<[16, 4, 3, 3], f16, (0, 2, 3, 1)>, %v: !ucutlass.tensor<[8, 4, 3, 2], f16>, %dy: !ucutlass.tensor<[2, 16, 5, 4], f16>) -> (!ucutlass.tensor<[2, 8, 9, 8], f16, (0, 2, 3, 1)>) {
  // Groups split the channels; the result is laid out as the image is.
  // CHECK: %y = ucutlass.conv2d %x, %w {groups = #ucutlass.dims<[2]>, padding = #ucutlass.dims<[1]>, stride = #ucutlass.dims<[2]>} : {{.*}} -> !ucutlass.tensor<[2, 16, 5, 4], f16, (0, 2, 3, 1)>
  %y = ucutlass.conv2d %x, %w {groups = #ucutlass.dims<[2]>, padding = #ucutlass.dims<[1]>, stride = #ucutlass.dims<[2]>} : (!ucutlass.tensor<[2, 8, 9, 8], f16, (0, 2, 3, 1)>, !ucutlass.tensor<[16, 4, 3, 3], f16, (0, 2, 3, 1)>) -> !ucutlass.unresolved
  // Each dimension may have steps of its own.
  // CHECK: %z = ucutlass.conv2d %x, %w {dilation = #ucutlass.dims<[2, 1]>, groups = #ucutlass.dims<[2]>, stride = #ucutlass.dims<[1, 2]>} : {{.*}} -> !ucutlass.tensor<[2, 16, 5, 3], f16, (0, 2, 3, 1)>
  %z = ucutlass.conv2d %x, %w {dilation = #ucutlass.dims<[2, 1]>, groups = #ucutlass.dims<[2]>, stride = #ucutlass.dims<[1, 2]>} : (!ucutlass.tensor<[2, 8, 9, 8], f16, (0, 2, 3, 1)>, !ucutlass.tensor<[16, 4, 3, 3], f16, (0, 2, 3, 1)>) -> !ucutlass.unresolved
  // CHECK: %t = ucutlass.conv_transpose2d %x, %v : {{.*}} -> !ucutlass.tensor<[2, 4, 11, 9], f16, (0, 2, 3, 1)>
  %t = ucutlass.conv_transpose2d %x, %v : (!ucutlass.tensor<[2, 8, 9, 8], f16, (0, 2, 3, 1)>, !ucutlass.tensor<[8, 4, 3, 2], f16>) -> !ucutlass.unresolved
  // CHECK: %dx = ucutlass.conv2d_dgrad %dy, %w {groups = #ucutlass.dims<[2]>, input_size = #ucutlass.dims<[2, 8, 9, 8]>, padding = #ucutlass.dims<[1]>, stride = #ucutlass.dims<[2]>} : {{.*}} -> !ucutlass.tensor<[2, 8, 9, 8], f16>
  %dx = ucutlass.conv2d_dgrad %dy, %w {groups = #ucutlass.dims<[2]>, input_size = #ucutlass.dims<[2, 8, 9, 8]>, padding = #ucutlass.dims<[1]>, stride = #ucutlass.dims<[2]>} : (!ucutlass.tensor<[2, 16, 5, 4], f16>, !ucutlass.tensor<[16, 4, 3, 3], f16, (0, 2, 3, 1)>) -> !ucutlass.unresolved
  // CHECK: %dw = ucutlass.conv2d_wgrad %dy, %x {groups = #ucutlass.dims<[2]>, kernel_size = #ucutlass.dims<[3]>, padding = #ucutlass.dims<[1]>, stride = #ucutlass.dims<[2]>} : {{.*}} -> !ucutlass.tensor<[16, 4, 3, 3], f16, (0, 2, 3, 1)>
  %dw = ucutlass.conv2d_wgrad %dy, %x {groups = #ucutlass.dims<[2]>, kernel_size = #ucutlass.dims<[3]>, padding = #ucutlass.dims<[1]>, stride = #ucutlass.dims<[2]>} : (!ucutlass.tensor<[2, 16, 5, 4], f16>, !ucutlass.tensor<[2, 8, 9, 8], f16, (0, 2, 3, 1)>) -> !ucutlass.unresolved
  ucutlass.return %x : !ucutlass.tensor<[2, 8, 9, 8], f16, (0, 2, 3, 1)>
}

// CHECK-LABEL: ucutlass.kernel @three
ucutlass.kernel @three(%x: !ucutlass.tensor<[1, 4, 8, 8, 8], si8>, %w: !ucutlass.tensor<[8, 4, 3, 3, 3], si8>, %v: !ucutlass.tensor<[4, 8, 1, 1, 1], si8>, %dy: !ucutlass.tensor<[1, 8, 4, 4, 4], si8>) -> (!ucutlass.tensor<[1, 4, 8, 8, 8], si8>) {
  // A window of 3 taps, 2 apart, covers 5 of the 8 places and has 4 positions.
  // CHECK: %y = ucutlass.conv3d %x, %w {dilation = #ucutlass.dims<[2]>} : {{.*}} -> !ucutlass.tensor<[1, 8, 4, 4, 4], si32>
  %y = ucutlass.conv3d %x, %w {dilation = #ucutlass.dims<[2]>} : (!ucutlass.tensor<[1, 4, 8, 8, 8], si8>, !ucutlass.tensor<[8, 4, 3, 3, 3], si8>) -> !ucutlass.unresolved
  // CHECK: %t = ucutlass.conv_transpose3d %x, %v : {{.*}} -> !ucutlass.tensor<[1, 8, 8, 8, 8], si32>
  %t = ucutlass.conv_transpose3d %x, %v : (!ucutlass.tensor<[1, 4, 8, 8, 8], si8>, !ucutlass.tensor<[4, 8, 1, 1, 1], si8>) -> !ucutlass.unresolved
  // CHECK: %dx = ucutlass.conv3d_dgrad %dy, %w {dilation = #ucutlass.dims<[2]>, input_size = #ucutlass.dims<[1, 4, 8, 8, 8]>} : {{.*}} -> !ucutlass.tensor<[1, 4, 8, 8, 8], si32>
  %dx = ucutlass.conv3d_dgrad %dy, %w {dilation = #ucutlass.dims<[2]>, input_size = #ucutlass.dims<[1, 4, 8, 8, 8]>} : (!ucutlass.tensor<[1, 8, 4, 4, 4], si8>, !ucutlass.tensor<[8, 4, 3, 3, 3], si8>) -> !ucutlass.unresolved
  // CHECK: %dw = ucutlass.conv3d_wgrad %dy, %x {dilation = #ucutlass.dims<[2]>, kernel_size = #ucutlass.dims<[3]>} : {{.*}} -> !ucutlass.tensor<[8, 4, 3, 3, 3], si32>
  %dw = ucutlass.conv3d_wgrad %dy, %x {dilation = #ucutlass.dims<[2]>, kernel_size = #ucutlass.dims<[3]>} : (!ucutlass.tensor<[1, 8, 4, 4, 4], si8>, !ucutlass.tensor<[1, 4, 8, 8, 8], si8>) -> !ucutlass.unresolved
  ucutlass.return %x : !ucutlass.tensor<[1, 4, 8, 8, 8], si8>
}
