// RUN: %ucutlass-opt -p infer %s | %filecheck %s
// RUN: %ucutlass-opt -p infer --print-op-generic %s | %ucutlass-opt -f mlir - | %filecheck %s

// Each with its defaults; the result has the operand's type and layout.
// CHECK-LABEL: ucutlass.kernel @every_one
ucutlass.kernel @every_one(%x: !ucutlass.tensor<["M", 8], f16, (1, 0)>) -> (!ucutlass.tensor<["M", 8], f16, (1, 0)>) {
  // CHECK: %r0 = ucutlass.relu %x : {{.*}} -> !ucutlass.tensor<["M", 8], f16, (1, 0)>
  %r0 = ucutlass.relu %x : (!ucutlass.tensor<["M", 8], f16, (1, 0)>) -> !ucutlass.unresolved
  // CHECK: %r1 = ucutlass.relu6 %x : {{.*}} -> !ucutlass.tensor<["M", 8], f16, (1, 0)>
  %r1 = ucutlass.relu6 %x : (!ucutlass.tensor<["M", 8], f16, (1, 0)>) -> !ucutlass.unresolved
  // CHECK: %r2 = ucutlass.leaky_relu %x : {{.*}} -> !ucutlass.tensor<["M", 8], f16, (1, 0)>
  %r2 = ucutlass.leaky_relu %x : (!ucutlass.tensor<["M", 8], f16, (1, 0)>) -> !ucutlass.unresolved
  // CHECK: %r3 = ucutlass.elu %x : {{.*}} -> !ucutlass.tensor<["M", 8], f16, (1, 0)>
  %r3 = ucutlass.elu %x : (!ucutlass.tensor<["M", 8], f16, (1, 0)>) -> !ucutlass.unresolved
  // CHECK: %r4 = ucutlass.selu %x : {{.*}} -> !ucutlass.tensor<["M", 8], f16, (1, 0)>
  %r4 = ucutlass.selu %x : (!ucutlass.tensor<["M", 8], f16, (1, 0)>) -> !ucutlass.unresolved
  // CHECK: %r5 = ucutlass.gelu %x : {{.*}} -> !ucutlass.tensor<["M", 8], f16, (1, 0)>
  %r5 = ucutlass.gelu %x : (!ucutlass.tensor<["M", 8], f16, (1, 0)>) -> !ucutlass.unresolved
  // CHECK: %r6 = ucutlass.silu %x : {{.*}} -> !ucutlass.tensor<["M", 8], f16, (1, 0)>
  %r6 = ucutlass.silu %x : (!ucutlass.tensor<["M", 8], f16, (1, 0)>) -> !ucutlass.unresolved
  // CHECK: %r7 = ucutlass.mish %x : {{.*}} -> !ucutlass.tensor<["M", 8], f16, (1, 0)>
  %r7 = ucutlass.mish %x : (!ucutlass.tensor<["M", 8], f16, (1, 0)>) -> !ucutlass.unresolved
  // CHECK: %r8 = ucutlass.sigmoid %x : {{.*}} -> !ucutlass.tensor<["M", 8], f16, (1, 0)>
  %r8 = ucutlass.sigmoid %x : (!ucutlass.tensor<["M", 8], f16, (1, 0)>) -> !ucutlass.unresolved
  // CHECK: %r9 = ucutlass.hardsigmoid %x : {{.*}} -> !ucutlass.tensor<["M", 8], f16, (1, 0)>
  %r9 = ucutlass.hardsigmoid %x : (!ucutlass.tensor<["M", 8], f16, (1, 0)>) -> !ucutlass.unresolved
  // CHECK: %r10 = ucutlass.hardswish %x : {{.*}} -> !ucutlass.tensor<["M", 8], f16, (1, 0)>
  %r10 = ucutlass.hardswish %x : (!ucutlass.tensor<["M", 8], f16, (1, 0)>) -> !ucutlass.unresolved
  // CHECK: %r11 = ucutlass.hardtanh %x : {{.*}} -> !ucutlass.tensor<["M", 8], f16, (1, 0)>
  %r11 = ucutlass.hardtanh %x : (!ucutlass.tensor<["M", 8], f16, (1, 0)>) -> !ucutlass.unresolved
  // CHECK: %r12 = ucutlass.softplus %x : {{.*}} -> !ucutlass.tensor<["M", 8], f16, (1, 0)>
  %r12 = ucutlass.softplus %x : (!ucutlass.tensor<["M", 8], f16, (1, 0)>) -> !ucutlass.unresolved
  // CHECK: %r13 = ucutlass.softsign %x : {{.*}} -> !ucutlass.tensor<["M", 8], f16, (1, 0)>
  %r13 = ucutlass.softsign %x : (!ucutlass.tensor<["M", 8], f16, (1, 0)>) -> !ucutlass.unresolved
  // CHECK: %r14 = ucutlass.tanh %x : {{.*}} -> !ucutlass.tensor<["M", 8], f16, (1, 0)>
  %r14 = ucutlass.tanh %x : (!ucutlass.tensor<["M", 8], f16, (1, 0)>) -> !ucutlass.unresolved
  // CHECK: %r15 = ucutlass.exp %x : {{.*}} -> !ucutlass.tensor<["M", 8], f16, (1, 0)>
  %r15 = ucutlass.exp %x : (!ucutlass.tensor<["M", 8], f16, (1, 0)>) -> !ucutlass.unresolved
  // CHECK: %r16 = ucutlass.log %x : {{.*}} -> !ucutlass.tensor<["M", 8], f16, (1, 0)>
  %r16 = ucutlass.log %x : (!ucutlass.tensor<["M", 8], f16, (1, 0)>) -> !ucutlass.unresolved
  // CHECK: %r17 = ucutlass.sqrt %x : {{.*}} -> !ucutlass.tensor<["M", 8], f16, (1, 0)>
  %r17 = ucutlass.sqrt %x : (!ucutlass.tensor<["M", 8], f16, (1, 0)>) -> !ucutlass.unresolved
  // CHECK: %r18 = ucutlass.rsqrt %x : {{.*}} -> !ucutlass.tensor<["M", 8], f16, (1, 0)>
  %r18 = ucutlass.rsqrt %x : (!ucutlass.tensor<["M", 8], f16, (1, 0)>) -> !ucutlass.unresolved
  // CHECK: %r19 = ucutlass.reciprocal %x : {{.*}} -> !ucutlass.tensor<["M", 8], f16, (1, 0)>
  %r19 = ucutlass.reciprocal %x : (!ucutlass.tensor<["M", 8], f16, (1, 0)>) -> !ucutlass.unresolved
  // CHECK: %r20 = ucutlass.abs %x : {{.*}} -> !ucutlass.tensor<["M", 8], f16, (1, 0)>
  %r20 = ucutlass.abs %x : (!ucutlass.tensor<["M", 8], f16, (1, 0)>) -> !ucutlass.unresolved
  // CHECK: %r21 = ucutlass.neg %x : {{.*}} -> !ucutlass.tensor<["M", 8], f16, (1, 0)>
  %r21 = ucutlass.neg %x : (!ucutlass.tensor<["M", 8], f16, (1, 0)>) -> !ucutlass.unresolved
  // CHECK: %r22 = ucutlass.square %x : {{.*}} -> !ucutlass.tensor<["M", 8], f16, (1, 0)>
  %r22 = ucutlass.square %x : (!ucutlass.tensor<["M", 8], f16, (1, 0)>) -> !ucutlass.unresolved
  // CHECK: %r23 = ucutlass.erf %x : {{.*}} -> !ucutlass.tensor<["M", 8], f16, (1, 0)>
  %r23 = ucutlass.erf %x : (!ucutlass.tensor<["M", 8], f16, (1, 0)>) -> !ucutlass.unresolved
  // CHECK: %r24 = ucutlass.sin %x : {{.*}} -> !ucutlass.tensor<["M", 8], f16, (1, 0)>
  %r24 = ucutlass.sin %x : (!ucutlass.tensor<["M", 8], f16, (1, 0)>) -> !ucutlass.unresolved
  // CHECK: %r25 = ucutlass.cos %x : {{.*}} -> !ucutlass.tensor<["M", 8], f16, (1, 0)>
  %r25 = ucutlass.cos %x : (!ucutlass.tensor<["M", 8], f16, (1, 0)>) -> !ucutlass.unresolved
  // CHECK: %r26 = ucutlass.logsigmoid %x : {{.*}} -> !ucutlass.tensor<["M", 8], f16, (1, 0)>
  %r26 = ucutlass.logsigmoid %x : (!ucutlass.tensor<["M", 8], f16, (1, 0)>) -> !ucutlass.unresolved
  // CHECK: %r27 = ucutlass.clamp %x {lo = #ucutlass.number<0>} : {{.*}} -> !ucutlass.tensor<["M", 8], f16, (1, 0)>
  %r27 = ucutlass.clamp %x {lo = #ucutlass.number<0>} : (!ucutlass.tensor<["M", 8], f16, (1, 0)>) -> !ucutlass.unresolved
  // CHECK: %r28 = ucutlass.cast %x {dtype = f8E4M3FN} : {{.*}} -> !ucutlass.tensor<["M", 8], f8E4M3FN, (1, 0)>
  %r28 = ucutlass.cast %x {dtype = f8E4M3FN} : (!ucutlass.tensor<["M", 8], f16, (1, 0)>) -> !ucutlass.unresolved
  ucutlass.return %x : !ucutlass.tensor<["M", 8], f16, (1, 0)>
}

// Numbers are kept digit for digit, infinities too.
// CHECK-LABEL: ucutlass.kernel @parameters
ucutlass.kernel @parameters(%x: !ucutlass.tensor<["M"], f32>, %b: !ucutlass.tensor<[4], i1>) -> (!ucutlass.tensor<["M"], f32>) {
  // CHECK: %r0 = ucutlass.leaky_relu %x {slope = #ucutlass.number<0.155728638>} : {{.*}} -> !ucutlass.tensor<["M"], f32>
  %r0 = ucutlass.leaky_relu %x {slope = #ucutlass.number<0.155728638>} : (!ucutlass.tensor<["M"], f32>) -> !ucutlass.unresolved
  // CHECK: %r1 = ucutlass.elu %x {alpha = #ucutlass.number<1.0e-05>} : {{.*}} -> !ucutlass.tensor<["M"], f32>
  %r1 = ucutlass.elu %x {alpha = #ucutlass.number<1.0e-05>} : (!ucutlass.tensor<["M"], f32>) -> !ucutlass.unresolved
  // CHECK: %r2 = ucutlass.gelu %x {approximate = "tanh"} : {{.*}} -> !ucutlass.tensor<["M"], f32>
  %r2 = ucutlass.gelu %x {approximate = "tanh"} : (!ucutlass.tensor<["M"], f32>) -> !ucutlass.unresolved
  // CHECK: %r3 = ucutlass.hardtanh %x {hi = #ucutlass.number<0.5>, lo = #ucutlass.number<-2>} : {{.*}} -> !ucutlass.tensor<["M"], f32>
  %r3 = ucutlass.hardtanh %x {hi = #ucutlass.number<0.5>, lo = #ucutlass.number<-2>} : (!ucutlass.tensor<["M"], f32>) -> !ucutlass.unresolved
  // CHECK: %r4 = ucutlass.clamp %x {hi = #ucutlass.number<inf>} : {{.*}} -> !ucutlass.tensor<["M"], f32>
  %r4 = ucutlass.clamp %x {hi = #ucutlass.number<inf>} : (!ucutlass.tensor<["M"], f32>) -> !ucutlass.unresolved
  // CHECK: %r5 = ucutlass.clamp %x {hi = #ucutlass.number<nan>, lo = #ucutlass.number<-inf>} : {{.*}} -> !ucutlass.tensor<["M"], f32>
  %r5 = ucutlass.clamp %x {hi = #ucutlass.number<nan>, lo = #ucutlass.number<-inf>} : (!ucutlass.tensor<["M"], f32>) -> !ucutlass.unresolved
  // CHECK: %r6 = ucutlass.cast %x {dtype = f64} : {{.*}} -> !ucutlass.tensor<["M"], f64>
  %r6 = ucutlass.cast %x {dtype = f64} : (!ucutlass.tensor<["M"], f32>) -> !ucutlass.unresolved
  // CHECK: %r7 = ucutlass.cast %x {dtype = f32} : {{.*}} -> !ucutlass.tensor<["M"], f32>
  %r7 = ucutlass.cast %x {dtype = f32} : (!ucutlass.tensor<["M"], f32>) -> !ucutlass.unresolved
  // CHECK: %r8 = ucutlass.cast %x {dtype = tf32} : {{.*}} -> !ucutlass.tensor<["M"], tf32>
  %r8 = ucutlass.cast %x {dtype = tf32} : (!ucutlass.tensor<["M"], f32>) -> !ucutlass.unresolved
  // CHECK: %r9 = ucutlass.cast %x {dtype = bf16} : {{.*}} -> !ucutlass.tensor<["M"], bf16>
  %r9 = ucutlass.cast %x {dtype = bf16} : (!ucutlass.tensor<["M"], f32>) -> !ucutlass.unresolved
  // CHECK: %r10 = ucutlass.cast %x {dtype = f8E5M2} : {{.*}} -> !ucutlass.tensor<["M"], f8E5M2>
  %r10 = ucutlass.cast %x {dtype = f8E5M2} : (!ucutlass.tensor<["M"], f32>) -> !ucutlass.unresolved
  // CHECK: %r11 = ucutlass.cast %x {dtype = si64} : {{.*}} -> !ucutlass.tensor<["M"], si64>
  %r11 = ucutlass.cast %x {dtype = si64} : (!ucutlass.tensor<["M"], f32>) -> !ucutlass.unresolved
  // CHECK: %r12 = ucutlass.cast %x {dtype = si32} : {{.*}} -> !ucutlass.tensor<["M"], si32>
  %r12 = ucutlass.cast %x {dtype = si32} : (!ucutlass.tensor<["M"], f32>) -> !ucutlass.unresolved
  // CHECK: %r13 = ucutlass.cast %x {dtype = si8} : {{.*}} -> !ucutlass.tensor<["M"], si8>
  %r13 = ucutlass.cast %x {dtype = si8} : (!ucutlass.tensor<["M"], f32>) -> !ucutlass.unresolved
  // CHECK: %r14 = ucutlass.cast %x {dtype = ui8} : {{.*}} -> !ucutlass.tensor<["M"], ui8>
  %r14 = ucutlass.cast %x {dtype = ui8} : (!ucutlass.tensor<["M"], f32>) -> !ucutlass.unresolved
  // CHECK: %r15 = ucutlass.cast %x {dtype = si4} : {{.*}} -> !ucutlass.tensor<["M"], si4>
  %r15 = ucutlass.cast %x {dtype = si4} : (!ucutlass.tensor<["M"], f32>) -> !ucutlass.unresolved
  // CHECK: %r16 = ucutlass.cast %x {dtype = ui4} : {{.*}} -> !ucutlass.tensor<["M"], ui4>
  %r16 = ucutlass.cast %x {dtype = ui4} : (!ucutlass.tensor<["M"], f32>) -> !ucutlass.unresolved
  // CHECK: %r17 = ucutlass.cast %x {dtype = i1} : {{.*}} -> !ucutlass.tensor<["M"], i1>
  %r17 = ucutlass.cast %x {dtype = i1} : (!ucutlass.tensor<["M"], f32>) -> !ucutlass.unresolved
  ucutlass.return %x : !ucutlass.tensor<["M"], f32>
}

// As in PyTorch: a sigmoid of integers is a float, a bound of another kind promotes.
// CHECK-LABEL: ucutlass.kernel @integers
ucutlass.kernel @integers(%i: !ucutlass.tensor<["M"], si8>, %b: !ucutlass.tensor<[4], i1>) -> (!ucutlass.tensor<["M"], si8>) {
  // CHECK: %r0 = ucutlass.relu %i : {{.*}} -> !ucutlass.tensor<["M"], si8>
  %r0 = ucutlass.relu %i : (!ucutlass.tensor<["M"], si8>) -> !ucutlass.unresolved
  // CHECK: %r1 = ucutlass.sigmoid %i : {{.*}} -> !ucutlass.tensor<["M"], f32>
  %r1 = ucutlass.sigmoid %i : (!ucutlass.tensor<["M"], si8>) -> !ucutlass.unresolved
  // CHECK: %r2 = ucutlass.softsign %i : {{.*}} -> !ucutlass.tensor<["M"], f32>
  %r2 = ucutlass.softsign %i : (!ucutlass.tensor<["M"], si8>) -> !ucutlass.unresolved
  // CHECK: %r3 = ucutlass.exp %b : {{.*}} -> !ucutlass.tensor<[4], f32>
  %r3 = ucutlass.exp %b : (!ucutlass.tensor<[4], i1>) -> !ucutlass.unresolved
  // CHECK: %r4 = ucutlass.square %b : {{.*}} -> !ucutlass.tensor<[4], si64>
  %r4 = ucutlass.square %b : (!ucutlass.tensor<[4], i1>) -> !ucutlass.unresolved
  // CHECK: %r5 = ucutlass.neg %i : {{.*}} -> !ucutlass.tensor<["M"], si8>
  %r5 = ucutlass.neg %i : (!ucutlass.tensor<["M"], si8>) -> !ucutlass.unresolved
  // CHECK: %r6 = ucutlass.clamp %i {lo = #ucutlass.number<0.5>} : {{.*}} -> !ucutlass.tensor<["M"], f32>
  %r6 = ucutlass.clamp %i {lo = #ucutlass.number<0.5>} : (!ucutlass.tensor<["M"], si8>) -> !ucutlass.unresolved
  // CHECK: %r7 = ucutlass.clamp %b {hi = #ucutlass.number<1>, lo = #ucutlass.number<0>} : {{.*}} -> !ucutlass.tensor<[4], si64>
  %r7 = ucutlass.clamp %b {hi = #ucutlass.number<1>, lo = #ucutlass.number<0>} : (!ucutlass.tensor<[4], i1>) -> !ucutlass.unresolved
  // CHECK: %r8 = ucutlass.hardtanh %i {hi = #ucutlass.number<3>, lo = #ucutlass.number<-3>} : {{.*}} -> !ucutlass.tensor<["M"], si8>
  %r8 = ucutlass.hardtanh %i {hi = #ucutlass.number<3>, lo = #ucutlass.number<-3>} : (!ucutlass.tensor<["M"], si8>) -> !ucutlass.unresolved
  ucutlass.return %i : !ucutlass.tensor<["M"], si8>
}
