// RUN: %ucutlass-opt -p infer --verify-diagnostics %s

// Channels, groups, steps and windows that do not go together.
ucutlass.kernel @images(%x: !ucutlass.tensor<[1, 64, 8, 8], f16>, %w: !ucutlass.tensor<[64, 21, 3, 3], f16>, %v: !ucutlass.tensor<[64, 64, 3, 3], f16>, %i: !ucutlass.tensor<[64, 8, 8], f16>, %n: !ucutlass.tensor<[1, 64, 4, 2], f16>, %dy: !ucutlass.tensor<[1, 64, 4, 4], f16>) -> (!ucutlass.tensor<[1, 64, 8, 8], f16>) {
  // expected-error@below {{groups is 3, which does not divide the 64 output channels of the weight f16[64, 21, 3, 3] [UC0321]}}
  %r0 = ucutlass.conv2d %x, %w {groups = #ucutlass.dims<[3]>} : (!ucutlass.tensor<[1, 64, 8, 8], f16>, !ucutlass.tensor<[64, 21, 3, 3], f16>) -> !ucutlass.unresolved
  // expected-error@below {{has 64 channels (dimension 1), but the weight f16[64, 21, 3, 3] reads 21 (dimension 1) [UC0301]}}
  %r1 = ucutlass.conv2d %x, %w : (!ucutlass.tensor<[1, 64, 8, 8], f16>, !ucutlass.tensor<[64, 21, 3, 3], f16>) -> !ucutlass.unresolved
  // expected-error@below {{takes [N, C, H, W] as 'x', 4 dimensions, but it is f16[64, 8, 8]: an image without batch is reshaped to a batch of 1 [UC0303]}}
  %r2 = ucutlass.conv2d %i, %v : (!ucutlass.tensor<[64, 8, 8], f16>, !ucutlass.tensor<[64, 64, 3, 3], f16>) -> !ucutlass.unresolved
  // expected-error@below {{stride is 0, expected at least 1 [UC0309]}}
  %r3 = ucutlass.conv2d %x, %v {stride = #ucutlass.dims<[0]>} : (!ucutlass.tensor<[1, 64, 8, 8], f16>, !ucutlass.tensor<[64, 64, 3, 3], f16>) -> !ucutlass.unresolved
  // expected-error@below {{padding [1, 1, 1] has 3 values, expected 1 or 2}}
  %r4 = ucutlass.conv2d %x, %v {padding = #ucutlass.dims<[1, 1, 1]>} : (!ucutlass.tensor<[1, 64, 8, 8], f16>, !ucutlass.tensor<[64, 64, 3, 3], f16>) -> !ucutlass.unresolved
  // expected-error@below {{a window of 3 taps with dilation 2 covers 5 places, but the input [4, 2] with padding 0 has 4}}
  %r5 = ucutlass.conv2d %n, %v {dilation = #ucutlass.dims<[2]>} : (!ucutlass.tensor<[1, 64, 4, 2], f16>, !ucutlass.tensor<[64, 64, 3, 3], f16>) -> !ucutlass.unresolved
  // expected-error@below {{output_padding is 2, expected less than the stride 2 or the dilation 1 [UC0309]}}
  %r6 = ucutlass.conv_transpose2d %x, %v {output_padding = #ucutlass.dims<[2]>, stride = #ucutlass.dims<[2]>} : (!ucutlass.tensor<[1, 64, 8, 8], f16>, !ucutlass.tensor<[64, 64, 3, 3], f16>) -> !ucutlass.unresolved
  // expected-error@below {{gives [5, 4] [UC0301]}}
  %r7 = ucutlass.conv2d_dgrad %dy, %v {input_size = #ucutlass.dims<[1, 64, 7, 6]>} : (!ucutlass.tensor<[1, 64, 4, 4], f16>, !ucutlass.tensor<[64, 64, 3, 3], f16>) -> !ucutlass.unresolved
  // expected-error@below {{dy f16[1, 64, 4, 4] has the extents [4, 4], but the convolution of an input of [8, 8] gives [6, 6] [UC0301]}}
  %r8 = ucutlass.conv2d_wgrad %dy, %x {kernel_size = #ucutlass.dims<[3]>} : (!ucutlass.tensor<[1, 64, 4, 4], f16>, !ucutlass.tensor<[1, 64, 8, 8], f16>) -> !ucutlass.unresolved
  ucutlass.return %x : !ucutlass.tensor<[1, 64, 8, 8], f16>
}
