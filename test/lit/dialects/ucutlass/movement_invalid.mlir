// RUN: %ucutlass-opt -p infer --verify-diagnostics %s

// Dimensions that are not there or there twice, counts that do not add up.
ucutlass.kernel @places(%x: !ucutlass.tensor<[8, 64], f16>, %n: !ucutlass.tensor<["N", 64], f16>, %v: !ucutlass.tensor<[8], f16>, %i: !ucutlass.tensor<[8, 64], f16>, %e: !ucutlass.tensor<[8, 64], f8E4M3FN>) -> (!ucutlass.tensor<[8, 64], f16>) {
  // expected-error@below {{d [1, -1] names dimension 1 of f16[8, 64] twice [UC0317]}}
  %r0 = ucutlass.permute %x {d = #ucutlass.dims<[1, -1]>} : (!ucutlass.tensor<[8, 64], f16>) -> !ucutlass.unresolved
  // expected-error@below {{d1 is 2, but f16[8, 64] has 2 dimensions: expected -2 to 1 [UC0304]}}
  %r1 = ucutlass.transpose %x {d0 = #ucutlass.dims<[0]>, d1 = #ucutlass.dims<[2]>} : (!ucutlass.tensor<[8, 64], f16>) -> !ucutlass.unresolved
  // expected-error@below {{takes a tensor of at least 2 dimensions, but x is f16[8] [UC0303]}}
  %r2 = ucutlass.t %v : (!ucutlass.tensor<[8], f16>) -> !ucutlass.unresolved
  // expected-error@below {{x f16[8, 64] has 512 elements and [16, 16] has 256 [UC0318]}}
  %r3 = ucutlass.reshape %x {shape = #ucutlass.dims<[16, 16]>} : (!ucutlass.tensor<[8, 64], f16>) -> !ucutlass.unresolved
  // expected-error@below {{-5 and -4 cut more off than the 8 places of dimension 0 of f16[8] [UC0309]}}
  %r4 = ucutlass.pad %v {pad = #ucutlass.dims<[-5, -4]>} : (!ucutlass.tensor<[8], f16>) -> !ucutlass.unresolved
  // expected-error@below {{step is 0, expected at least 1 [UC0309]}}
  %r5 = ucutlass.slice %x {dim = #ucutlass.dims<[0]>, start = #ucutlass.dims<[0]>, end = #ucutlass.dims<[4]>, step = #ucutlass.dims<[0]>} : (!ucutlass.tensor<[8, 64], f16>) -> !ucutlass.unresolved
  // expected-error@below {{dimension 0 is 8 in the first, f16[8, 64], and N in number 1, f16[N, 64] [UC0301]}}
  %r6 = ucutlass.concat[%x, %n] {dim = #ucutlass.dims<[1]>} : (!ucutlass.tensor<[8, 64], f16>, !ucutlass.tensor<["N", 64], f16>) -> !ucutlass.unresolved
  // expected-error@below {{what stands before is f16 and number 1 is e4m3: fp8 has no common type with others [UC0302]}}
  %r7 = ucutlass.concat[%x, %e] : (!ucutlass.tensor<[8, 64], f16>, !ucutlass.tensor<[8, 64], f8E4M3FN>) -> !ucutlass.unresolved
  // expected-error@below {{the sizes [3, 4] add up to 7, but dimension 0 of f16[8, 64] has 8 places [UC0301]}}
  %r8_0, %r8_1 = ucutlass.split %x {sizes = #ucutlass.dims<[3, 4]>} : (!ucutlass.tensor<[8, 64], f16>) -> (!ucutlass.unresolved, !ucutlass.unresolved)
  // expected-error@below {{list the size of each, [a, b] [UC0314]}}
  %r9_0, %r9_1 = ucutlass.split %n {sizes = #ucutlass.dims<[4]>} : (!ucutlass.tensor<["N", 64], f16>) -> (!ucutlass.unresolved, !ucutlass.unresolved)
  // expected-error@below {{has 1 number, expected one for each of the 2 dimensions}}
  %r10 = ucutlass.repeat %x {n = #ucutlass.dims<[2]>} : (!ucutlass.tensor<[8, 64], f16>) -> !ucutlass.unresolved
  // expected-error@below {{dim is -3}}
  %r11 = ucutlass.flip %x {dim = #ucutlass.dims<[-3]>} : (!ucutlass.tensor<[8, 64], f16>) -> !ucutlass.unresolved
  // expected-error@below {{has no layout col: with 1 dimension it is row, or an order of the numbers 0 to 0 [UC0311]}}
  %r12 = ucutlass.to_layout %v {layout = "col"} : (!ucutlass.tensor<[8], f16>) -> !ucutlass.unresolved
  // expected-error@below {{gather takes an index of s64 or s32, but it is f16[8, 64] [UC0316]}}
  %r13 = ucutlass.gather %x, %i {dim = #ucutlass.dims<[0]>} : (!ucutlass.tensor<[8, 64], f16>, !ucutlass.tensor<[8, 64], f16>) -> !ucutlass.unresolved
  // expected-error@below {{tril takes a tensor of at least 2 dimensions}}
  %r14 = ucutlass.tril %v : (!ucutlass.tensor<[8], f16>) -> !ucutlass.unresolved
  // expected-error@below {{triu takes a tensor of at least 2 dimensions}}
  %r15 = ucutlass.triu %v : (!ucutlass.tensor<[8], f16>) -> !ucutlass.unresolved
  ucutlass.return %x : !ucutlass.tensor<[8, 64], f16>
}
