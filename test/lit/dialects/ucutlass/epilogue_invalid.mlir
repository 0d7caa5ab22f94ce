// RUN: %ucutlass-opt -p infer --verify-diagnostics %s

// A bias is a vector as long as the dimension it belongs to.
ucutlass.kernel @refused(%y: !ucutlass.tensor<[64, 128], f16>, %b: !ucutlass.tensor<[64], f16>, %m: !ucutlass.tensor<[1, 128], f16>, %z: !ucutlass.tensor<[], f16>, %s: !ucutlass.tensor<[64, 3], f16>) -> (!ucutlass.tensor<[64, 128], f16>) {
  %half = ucutlass.constant <0.5>
  // expected-error@below {{bias adds one value for each index of the last dimension of v: 128, of f16[64, 128], but b is f16[64] [UC0301]}}
  %r0 = ucutlass.bias %y, %b : (!ucutlass.tensor<[64, 128], f16>, !ucutlass.tensor<[64], f16>) -> !ucutlass.unresolved
  // expected-error@below {{bias adds a vector, one dimension, but b is f16[1, 128] [UC0303]}}
  %r1 = ucutlass.bias %y, %m : (!ucutlass.tensor<[64, 128], f16>, !ucutlass.tensor<[1, 128], f16>) -> !ucutlass.unresolved
  // expected-error@below {{bias adds a vector along a dimension, but v is f16[] [UC0303]}}
  %r2 = ucutlass.bias %z, %b : (!ucutlass.tensor<[], f16>, !ucutlass.tensor<[64], f16>) -> !ucutlass.unresolved
  // expected-error@below {{operand 'b' of bias is a number, expected a tensor [UC0315]}}
  %r3 = ucutlass.bias %y, %half : (!ucutlass.tensor<[64, 128], f16>, !ucutlass.number_type) -> !ucutlass.unresolved
  // expected-error@below {{scale: size 3 of s [64, 3] does not broadcast to size 128 of v [64, 128] (dimension -1) [UC0305]}}
  %r4 = ucutlass.scale %y, %s : (!ucutlass.tensor<[64, 128], f16>, !ucutlass.tensor<[64, 3], f16>) -> !ucutlass.unresolved
  // expected-error@below {{operand 'v' of scale is a number}}
  %r5 = ucutlass.scale %half, %y : (!ucutlass.number_type, !ucutlass.tensor<[64, 128], f16>) -> !ucutlass.unresolved
  // expected-error@below {{[UC0305]}}
  %r6 = ucutlass.residual %y, %b : (!ucutlass.tensor<[64, 128], f16>, !ucutlass.tensor<[64], f16>) -> !ucutlass.unresolved
  // expected-error@below {{operand 'v' of materialize is a number}}
  %r7 = ucutlass.materialize %half : (!ucutlass.number_type) -> !ucutlass.unresolved
  ucutlass.return %y : !ucutlass.tensor<[64, 128], f16>
}

// A vector as long as the rows is none for the channels of a convolution.
ucutlass.kernel @channels(%x: !ucutlass.tensor<["N", 3, "H", 32], f16>, %w: !ucutlass.tensor<[8, 3, 1, 1], f16>, %l: !ucutlass.tensor<[32], f16>) -> (!ucutlass.tensor<["N", 3, "H", 32], f16>) {
  %y = ucutlass.conv2d %x, %w : (!ucutlass.tensor<["N", 3, "H", 32], f16>, !ucutlass.tensor<[8, 3, 1, 1], f16>) -> !ucutlass.unresolved
  %z = ucutlass.gelu %y : (!ucutlass.unresolved) -> !ucutlass.unresolved
  // expected-error@below {{bias adds one value for each index of dimension 1, the channels of v: 8, of f16[N, 8, H, 32]}}
  %r = ucutlass.bias %z, %l : (!ucutlass.unresolved, !ucutlass.tensor<[32], f16>) -> !ucutlass.unresolved
  ucutlass.return %x : !ucutlass.tensor<["N", 3, "H", 32], f16>
}
