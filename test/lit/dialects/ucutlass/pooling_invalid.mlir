// RUN: %ucutlass-opt -p infer --verify-diagnostics %s

// Windows that do not fit, and padding that a window could lie in.
ucutlass.kernel @windows(%x: !ucutlass.tensor<[1, 8, 4], f16>, %n: !ucutlass.tensor<[1, 8, "H"], f16>, %i: !ucutlass.tensor<[1, 8, 4], si32>, %e: !ucutlass.tensor<[1, 0, 4], f16>) -> (!ucutlass.tensor<[1, 8, 4], f16>) {
  // expected-error@below {{a window of 7 taps with dilation 1 covers 7 places, but x [4] with padding 0 has 4}}
  %r0 = ucutlass.max_pool1d %x {kernel = #ucutlass.dims<[7]>} : (!ucutlass.tensor<[1, 8, 4], f16>) -> !ucutlass.unresolved
  // expected-error@below {{padding is 2, expected at most half the kernel 3}}
  %r1 = ucutlass.max_pool1d %x {kernel = #ucutlass.dims<[3]>, padding = #ucutlass.dims<[2]>} : (!ucutlass.tensor<[1, 8, 4], f16>) -> !ucutlass.unresolved
  // expected-error@below {{dilation is 0, expected at least 1 [UC0309]}}
  %r2 = ucutlass.max_pool1d %x {dilation = #ucutlass.dims<[0]>, kernel = #ucutlass.dims<[2]>} : (!ucutlass.tensor<[1, 8, 4], f16>) -> !ucutlass.unresolved
  // expected-error@below {{averages floats, but x is s32[1, 8, 4]: cast it first, cast(x, f32) [UC0316]}}
  %r3 = ucutlass.avg_pool1d %i {kernel = #ucutlass.dims<[2]>} : (!ucutlass.tensor<[1, 8, 4], si32>) -> !ucutlass.unresolved
  // expected-error@below {{only the batch may be empty [UC0320]}}
  %r4 = ucutlass.max_pool1d %e {kernel = #ucutlass.dims<[2]>} : (!ucutlass.tensor<[1, 0, 4], f16>) -> !ucutlass.unresolved
  // expected-error@below {{with ceil_mode the window must be known}}
  %r5 = ucutlass.max_pool1d %n {ceil_mode = true, kernel = #ucutlass.dims<["H"]>, stride = #ucutlass.dims<[2]>} : (!ucutlass.tensor<[1, 8, "H"], f16>) -> !ucutlass.unresolved
  // expected-error@below {{size is -1, expected at least 0 [UC0309]}}
  %r6 = ucutlass.adaptive_avg_pool1d %x {size = #ucutlass.dims<[-1]>} : (!ucutlass.tensor<[1, 8, 4], f16>) -> !ucutlass.unresolved
  // expected-error@below {{takes [N, C, D, H, W] or [C, D, H, W], 5 or 4 dimensions, but x is f16[1, 8, 4] [UC0303]}}
  %r7 = ucutlass.avg_pool3d %x {kernel = #ucutlass.dims<[2]>} : (!ucutlass.tensor<[1, 8, 4], f16>) -> !ucutlass.unresolved
  ucutlass.return %x : !ucutlass.tensor<[1, 8, 4], f16>
}
