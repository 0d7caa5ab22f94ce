// RUN: %ucutlass-opt -p infer %s | %filecheck %s
// RUN: %ucutlass-opt -p infer --print-op-generic %s | %ucutlass-opt -f mlir - | %filecheck %s

// One dimension, a list, or all where absent; results are row-major.
// CHECK-LABEL: ucutlass.kernel @over_some_dimensions
ucutlass.kernel @over_some_dimensions(%x: !ucutlass.tensor<["M", 4, "N"], f16, (2, 1, 0)>, %i: !ucutlass.tensor<[4, 8], ui8>, %b: !ucutlass.tensor<[4, 8], i1>, %z: !ucutlass.tensor<[], f32>) -> (!ucutlass.tensor<["M", 4, "N"], f16, (2, 1, 0)>) {
  // CHECK: %r0 = ucutlass.sum %x {dim = #ucutlass.dims<[1]>} : {{.*}} -> !ucutlass.tensor<["M", "N"], f16>
  %r0 = ucutlass.sum %x {dim = #ucutlass.dims<[1]>} : (!ucutlass.tensor<["M", 4, "N"], f16, (2, 1, 0)>) -> !ucutlass.unresolved
  // CHECK: %r1 = ucutlass.mean %x {dim = #ucutlass.dims<[1]>} : {{.*}} -> !ucutlass.tensor<["M", "N"], f16>
  %r1 = ucutlass.mean %x {dim = #ucutlass.dims<[1]>} : (!ucutlass.tensor<["M", 4, "N"], f16, (2, 1, 0)>) -> !ucutlass.unresolved
  // CHECK: %r2 = ucutlass.max %x {dim = #ucutlass.dims<[1]>} : {{.*}} -> !ucutlass.tensor<["M", "N"], f16>
  %r2 = ucutlass.max %x {dim = #ucutlass.dims<[1]>} : (!ucutlass.tensor<["M", 4, "N"], f16, (2, 1, 0)>) -> !ucutlass.unresolved
  // CHECK: %r3 = ucutlass.min %x {dim = #ucutlass.dims<[1]>} : {{.*}} -> !ucutlass.tensor<["M", "N"], f16>
  %r3 = ucutlass.min %x {dim = #ucutlass.dims<[1]>} : (!ucutlass.tensor<["M", 4, "N"], f16, (2, 1, 0)>) -> !ucutlass.unresolved
  // CHECK: %r4 = ucutlass.prod %x {dim = #ucutlass.dims<[1]>} : {{.*}} -> !ucutlass.tensor<["M", "N"], f16>
  %r4 = ucutlass.prod %x {dim = #ucutlass.dims<[1]>} : (!ucutlass.tensor<["M", 4, "N"], f16, (2, 1, 0)>) -> !ucutlass.unresolved
  // CHECK: %r5 = ucutlass.logsumexp %x {dim = #ucutlass.dims<[1]>} : {{.*}} -> !ucutlass.tensor<["M", "N"], f16>
  %r5 = ucutlass.logsumexp %x {dim = #ucutlass.dims<[1]>} : (!ucutlass.tensor<["M", 4, "N"], f16, (2, 1, 0)>) -> !ucutlass.unresolved
  // CHECK: %r6 = ucutlass.var %x {dim = #ucutlass.dims<[1]>} : {{.*}} -> !ucutlass.tensor<["M", "N"], f16>
  %r6 = ucutlass.var %x {dim = #ucutlass.dims<[1]>} : (!ucutlass.tensor<["M", 4, "N"], f16, (2, 1, 0)>) -> !ucutlass.unresolved
  // CHECK: %r7 = ucutlass.norm %x {dim = #ucutlass.dims<[1]>} : {{.*}} -> !ucutlass.tensor<["M", "N"], f16>
  %r7 = ucutlass.norm %x {dim = #ucutlass.dims<[1]>} : (!ucutlass.tensor<["M", 4, "N"], f16, (2, 1, 0)>) -> !ucutlass.unresolved
  // CHECK: %r8 = ucutlass.sum %x {dim = #ucutlass.dims<[0, -1]>, keepdim = true} : {{.*}} -> !ucutlass.tensor<[1, 4, 1], f16>
  %r8 = ucutlass.sum %x {dim = #ucutlass.dims<[0, -1]>, keepdim = true} : (!ucutlass.tensor<["M", 4, "N"], f16, (2, 1, 0)>) -> !ucutlass.unresolved
  // CHECK: %r9 = ucutlass.mean %x {dim = #ucutlass.dims<[0, -1]>, keepdim = true} : {{.*}} -> !ucutlass.tensor<[1, 4, 1], f16>
  %r9 = ucutlass.mean %x {dim = #ucutlass.dims<[0, -1]>, keepdim = true} : (!ucutlass.tensor<["M", 4, "N"], f16, (2, 1, 0)>) -> !ucutlass.unresolved
  // CHECK: %r10 = ucutlass.max %x {dim = #ucutlass.dims<[0, -1]>, keepdim = true} : {{.*}} -> !ucutlass.tensor<[1, 4, 1], f16>
  %r10 = ucutlass.max %x {dim = #ucutlass.dims<[0, -1]>, keepdim = true} : (!ucutlass.tensor<["M", 4, "N"], f16, (2, 1, 0)>) -> !ucutlass.unresolved
  // CHECK: %r11 = ucutlass.min %x {dim = #ucutlass.dims<[0, -1]>, keepdim = true} : {{.*}} -> !ucutlass.tensor<[1, 4, 1], f16>
  %r11 = ucutlass.min %x {dim = #ucutlass.dims<[0, -1]>, keepdim = true} : (!ucutlass.tensor<["M", 4, "N"], f16, (2, 1, 0)>) -> !ucutlass.unresolved
  // CHECK: %r12 = ucutlass.prod %x {dim = #ucutlass.dims<[0, -1]>, keepdim = true} : {{.*}} -> !ucutlass.tensor<[1, 4, 1], f16>
  %r12 = ucutlass.prod %x {dim = #ucutlass.dims<[0, -1]>, keepdim = true} : (!ucutlass.tensor<["M", 4, "N"], f16, (2, 1, 0)>) -> !ucutlass.unresolved
  // CHECK: %r13 = ucutlass.logsumexp %x {dim = #ucutlass.dims<[0, -1]>, keepdim = true} : {{.*}} -> !ucutlass.tensor<[1, 4, 1], f16>
  %r13 = ucutlass.logsumexp %x {dim = #ucutlass.dims<[0, -1]>, keepdim = true} : (!ucutlass.tensor<["M", 4, "N"], f16, (2, 1, 0)>) -> !ucutlass.unresolved
  // CHECK: %r14 = ucutlass.var %x {dim = #ucutlass.dims<[0, -1]>, keepdim = true} : {{.*}} -> !ucutlass.tensor<[1, 4, 1], f16>
  %r14 = ucutlass.var %x {dim = #ucutlass.dims<[0, -1]>, keepdim = true} : (!ucutlass.tensor<["M", 4, "N"], f16, (2, 1, 0)>) -> !ucutlass.unresolved
  // CHECK: %r15 = ucutlass.norm %x {dim = #ucutlass.dims<[0, -1]>, keepdim = true} : {{.*}} -> !ucutlass.tensor<[1, 4, 1], f16>
  %r15 = ucutlass.norm %x {dim = #ucutlass.dims<[0, -1]>, keepdim = true} : (!ucutlass.tensor<["M", 4, "N"], f16, (2, 1, 0)>) -> !ucutlass.unresolved
  // CHECK: %r16 = ucutlass.sum %x : {{.*}} -> !ucutlass.tensor<[], f16>
  %r16 = ucutlass.sum %x : (!ucutlass.tensor<["M", 4, "N"], f16, (2, 1, 0)>) -> !ucutlass.unresolved
  // CHECK: %r17 = ucutlass.max %x {keepdim = true} : {{.*}} -> !ucutlass.tensor<[1, 1, 1], f16>
  %r17 = ucutlass.max %x {keepdim = true} : (!ucutlass.tensor<["M", 4, "N"], f16, (2, 1, 0)>) -> !ucutlass.unresolved
  // CHECK: %r18 = ucutlass.norm %x {p = #ucutlass.number<inf>} : {{.*}} -> !ucutlass.tensor<[], f16>
  %r18 = ucutlass.norm %x {p = #ucutlass.number<inf>} : (!ucutlass.tensor<["M", 4, "N"], f16, (2, 1, 0)>) -> !ucutlass.unresolved
  // CHECK: %r19 = ucutlass.norm %x {dim = #ucutlass.dims<[2]>, p = #ucutlass.number<1.5>} : {{.*}} -> !ucutlass.tensor<["M", 4], f16>
  %r19 = ucutlass.norm %x {dim = #ucutlass.dims<[2]>, p = #ucutlass.number<1.5>} : (!ucutlass.tensor<["M", 4, "N"], f16, (2, 1, 0)>) -> !ucutlass.unresolved
  // CHECK: %r20 = ucutlass.var %x {correction = #ucutlass.number<0>, dim = #ucutlass.dims<[2]>} : {{.*}} -> !ucutlass.tensor<["M", 4], f16>
  %r20 = ucutlass.var %x {correction = #ucutlass.number<0>, dim = #ucutlass.dims<[2]>} : (!ucutlass.tensor<["M", 4, "N"], f16, (2, 1, 0)>) -> !ucutlass.unresolved
  // CHECK: %r21 = ucutlass.sum %i {dim = #ucutlass.dims<[0]>} : {{.*}} -> !ucutlass.tensor<[8], si64>
  %r21 = ucutlass.sum %i {dim = #ucutlass.dims<[0]>} : (!ucutlass.tensor<[4, 8], ui8>) -> !ucutlass.unresolved
  // CHECK: %r22 = ucutlass.prod %b {dim = #ucutlass.dims<[0]>} : {{.*}} -> !ucutlass.tensor<[8], si64>
  %r22 = ucutlass.prod %b {dim = #ucutlass.dims<[0]>} : (!ucutlass.tensor<[4, 8], i1>) -> !ucutlass.unresolved
  // CHECK: %r23 = ucutlass.max %b {dim = #ucutlass.dims<[0]>} : {{.*}} -> !ucutlass.tensor<[8], i1>
  %r23 = ucutlass.max %b {dim = #ucutlass.dims<[0]>} : (!ucutlass.tensor<[4, 8], i1>) -> !ucutlass.unresolved
  // CHECK: %r24 = ucutlass.min %i {dim = #ucutlass.dims<[0]>} : {{.*}} -> !ucutlass.tensor<[8], ui8>
  %r24 = ucutlass.min %i {dim = #ucutlass.dims<[0]>} : (!ucutlass.tensor<[4, 8], ui8>) -> !ucutlass.unresolved
  // CHECK: %r25 = ucutlass.logsumexp %i {dim = #ucutlass.dims<[0]>} : {{.*}} -> !ucutlass.tensor<[8], f32>
  %r25 = ucutlass.logsumexp %i {dim = #ucutlass.dims<[0]>} : (!ucutlass.tensor<[4, 8], ui8>) -> !ucutlass.unresolved
  // CHECK: %r26 = ucutlass.sum %z {dim = #ucutlass.dims<[-1]>} : {{.*}} -> !ucutlass.tensor<[], f32>
  %r26 = ucutlass.sum %z {dim = #ucutlass.dims<[-1]>} : (!ucutlass.tensor<[], f32>) -> !ucutlass.unresolved
  ucutlass.return %x : !ucutlass.tensor<["M", 4, "N"], f16, (2, 1, 0)>
}

// Places are s64, of the flattened tensor where no dimension is given.
// CHECK-LABEL: ucutlass.kernel @places
ucutlass.kernel @places(%x: !ucutlass.tensor<["M", 4], f16>, %i: !ucutlass.tensor<[4, 8], ui8>) -> (!ucutlass.tensor<["M", 4], f16>) {
  // CHECK: %r0 = ucutlass.argmax %x : {{.*}} -> !ucutlass.tensor<[], si64>
  %r0 = ucutlass.argmax %x : (!ucutlass.tensor<["M", 4], f16>) -> !ucutlass.unresolved
  // CHECK: %r1 = ucutlass.argmax %x {dim = #ucutlass.dims<[1]>} : {{.*}} -> !ucutlass.tensor<["M"], si64>
  %r1 = ucutlass.argmax %x {dim = #ucutlass.dims<[1]>} : (!ucutlass.tensor<["M", 4], f16>) -> !ucutlass.unresolved
  // CHECK: %r2 = ucutlass.argmax %i {dim = #ucutlass.dims<[-2]>, keepdim = true} : {{.*}} -> !ucutlass.tensor<[1, 8], si64>
  %r2 = ucutlass.argmax %i {dim = #ucutlass.dims<[-2]>, keepdim = true} : (!ucutlass.tensor<[4, 8], ui8>) -> !ucutlass.unresolved
  // CHECK: %r3 = ucutlass.argmin %x : {{.*}} -> !ucutlass.tensor<[], si64>
  %r3 = ucutlass.argmin %x : (!ucutlass.tensor<["M", 4], f16>) -> !ucutlass.unresolved
  // CHECK: %r4 = ucutlass.argmin %x {dim = #ucutlass.dims<[1]>} : {{.*}} -> !ucutlass.tensor<["M"], si64>
  %r4 = ucutlass.argmin %x {dim = #ucutlass.dims<[1]>} : (!ucutlass.tensor<["M", 4], f16>) -> !ucutlass.unresolved
  // CHECK: %r5 = ucutlass.argmin %i {dim = #ucutlass.dims<[-2]>, keepdim = true} : {{.*}} -> !ucutlass.tensor<[1, 8], si64>
  %r5 = ucutlass.argmin %i {dim = #ucutlass.dims<[-2]>, keepdim = true} : (!ucutlass.tensor<[4, 8], ui8>) -> !ucutlass.unresolved
  ucutlass.return %x : !ucutlass.tensor<["M", 4], f16>
}

// Scans keep shape and layout; integers add up in s64.
// CHECK-LABEL: ucutlass.kernel @scans
ucutlass.kernel @scans(%x: !ucutlass.tensor<["M", 4], f16, (1, 0)>, %i: !ucutlass.tensor<[4, 8], ui8>, %b: !ucutlass.tensor<[4], i1>) -> (!ucutlass.tensor<["M", 4], f16, (1, 0)>) {
  // CHECK: %r0 = ucutlass.cumsum %x {dim = #ucutlass.dims<[0]>} : {{.*}} -> !ucutlass.tensor<["M", 4], f16, (1, 0)>
  %r0 = ucutlass.cumsum %x {dim = #ucutlass.dims<[0]>} : (!ucutlass.tensor<["M", 4], f16, (1, 0)>) -> !ucutlass.unresolved
  // CHECK: %r1 = ucutlass.cumsum %i {dim = #ucutlass.dims<[-1]>} : {{.*}} -> !ucutlass.tensor<[4, 8], si64>
  %r1 = ucutlass.cumsum %i {dim = #ucutlass.dims<[-1]>} : (!ucutlass.tensor<[4, 8], ui8>) -> !ucutlass.unresolved
  // CHECK: %r2 = ucutlass.cumsum %b {dim = #ucutlass.dims<[0]>} : {{.*}} -> !ucutlass.tensor<[4], si64>
  %r2 = ucutlass.cumsum %b {dim = #ucutlass.dims<[0]>} : (!ucutlass.tensor<[4], i1>) -> !ucutlass.unresolved
  // CHECK: %r3 = ucutlass.cumprod %x {dim = #ucutlass.dims<[0]>} : {{.*}} -> !ucutlass.tensor<["M", 4], f16, (1, 0)>
  %r3 = ucutlass.cumprod %x {dim = #ucutlass.dims<[0]>} : (!ucutlass.tensor<["M", 4], f16, (1, 0)>) -> !ucutlass.unresolved
  // CHECK: %r4 = ucutlass.cumprod %i {dim = #ucutlass.dims<[-1]>} : {{.*}} -> !ucutlass.tensor<[4, 8], si64>
  %r4 = ucutlass.cumprod %i {dim = #ucutlass.dims<[-1]>} : (!ucutlass.tensor<[4, 8], ui8>) -> !ucutlass.unresolved
  // CHECK: %r5 = ucutlass.cumprod %b {dim = #ucutlass.dims<[0]>} : {{.*}} -> !ucutlass.tensor<[4], si64>
  %r5 = ucutlass.cumprod %b {dim = #ucutlass.dims<[0]>} : (!ucutlass.tensor<[4], i1>) -> !ucutlass.unresolved
  ucutlass.return %x : !ucutlass.tensor<["M", 4], f16, (1, 0)>
}
