// RUN: %ucutlass-opt -p infer %s | %filecheck %s
// RUN: %ucutlass-opt -p infer --print-op-generic %s | %ucutlass-opt -f mlir - | %filecheck %s

// Shapes broadcast, types promote; a 0-dimensional tensor and a number widen only to another kind.
// CHECK-LABEL: ucutlass.kernel @arithmetic
ucutlass.kernel @arithmetic(%x: !ucutlass.tensor<["M", "N"], f16>, %v: !ucutlass.tensor<["N"], f32>, %s: !ucutlass.tensor<[], f32>, %i: !ucutlass.tensor<["M", 1], si8>, %u: !ucutlass.tensor<["M", "N"], ui8>, %c: !ucutlass.tensor<[2, 3, 4, 5], f16, (0, 2, 3, 1)>) -> (!ucutlass.tensor<["M", "N"], f16>) {
  // CHECK: %two = ucutlass.constant <2>
  %two = ucutlass.constant <2>
  // CHECK: %half = ucutlass.constant <0.5>
  %half = ucutlass.constant <0.5>
  // CHECK: %r0 = ucutlass.add %x, %v : {{.*}} -> !ucutlass.tensor<["M", "N"], f32>
  %r0 = ucutlass.add %x, %v : (!ucutlass.tensor<["M", "N"], f16>, !ucutlass.tensor<["N"], f32>) -> !ucutlass.unresolved
  // CHECK: %r1 = ucutlass.sub %x, %i : {{.*}} -> !ucutlass.tensor<["M", "N"], f16>
  %r1 = ucutlass.sub %x, %i : (!ucutlass.tensor<["M", "N"], f16>, !ucutlass.tensor<["M", 1], si8>) -> !ucutlass.unresolved
  // CHECK: %r2 = ucutlass.mul %x, %s : {{.*}} -> !ucutlass.tensor<["M", "N"], f16>
  %r2 = ucutlass.mul %x, %s : (!ucutlass.tensor<["M", "N"], f16>, !ucutlass.tensor<[], f32>) -> !ucutlass.unresolved
  // CHECK: %r3 = ucutlass.div %i, %u : {{.*}} -> !ucutlass.tensor<["M", "N"], f32>
  %r3 = ucutlass.div %i, %u : (!ucutlass.tensor<["M", 1], si8>, !ucutlass.tensor<["M", "N"], ui8>) -> !ucutlass.unresolved
  // CHECK: %r4 = ucutlass.add %i, %u : {{.*}} -> !ucutlass.tensor<["M", "N"], si32>
  %r4 = ucutlass.add %i, %u : (!ucutlass.tensor<["M", 1], si8>, !ucutlass.tensor<["M", "N"], ui8>) -> !ucutlass.unresolved
  // CHECK: %r5 = ucutlass.maximum %i, %two : {{.*}} -> !ucutlass.tensor<["M", 1], si8>
  %r5 = ucutlass.maximum %i, %two : (!ucutlass.tensor<["M", 1], si8>, !ucutlass.number_type) -> !ucutlass.unresolved
  // CHECK: %r6 = ucutlass.minimum %half, %i : {{.*}} -> !ucutlass.tensor<["M", 1], f32>
  %r6 = ucutlass.minimum %half, %i : (!ucutlass.number_type, !ucutlass.tensor<["M", 1], si8>) -> !ucutlass.unresolved
  // CHECK: %r7 = ucutlass.pow %x, %two : {{.*}} -> !ucutlass.tensor<["M", "N"], f16>
  %r7 = ucutlass.pow %x, %two : (!ucutlass.tensor<["M", "N"], f16>, !ucutlass.number_type) -> !ucutlass.unresolved
  // CHECK: %r8 = ucutlass.pow %two, %u : {{.*}} -> !ucutlass.tensor<["M", "N"], ui8>
  %r8 = ucutlass.pow %two, %u : (!ucutlass.number_type, !ucutlass.tensor<["M", "N"], ui8>) -> !ucutlass.unresolved
  // CHECK: %r9 = ucutlass.mul %c, %half : {{.*}} -> !ucutlass.tensor<[2, 3, 4, 5], f16, (0, 2, 3, 1)>
  %r9 = ucutlass.mul %c, %half : (!ucutlass.tensor<[2, 3, 4, 5], f16, (0, 2, 3, 1)>, !ucutlass.number_type) -> !ucutlass.unresolved
  // CHECK: %r10 = ucutlass.add %c, %c : {{.*}} -> !ucutlass.tensor<[2, 3, 4, 5], f16, (0, 2, 3, 1)>
  %r10 = ucutlass.add %c, %c : (!ucutlass.tensor<[2, 3, 4, 5], f16, (0, 2, 3, 1)>, !ucutlass.tensor<[2, 3, 4, 5], f16, (0, 2, 3, 1)>) -> !ucutlass.unresolved
  ucutlass.return %x : !ucutlass.tensor<["M", "N"], f16>
}

// Three operands, or a choice.
// CHECK-LABEL: ucutlass.kernel @three
ucutlass.kernel @three(%x: !ucutlass.tensor<["M", "N"], f16>, %v: !ucutlass.tensor<["N"], f32>, %b: !ucutlass.tensor<["M", 1], i1>, %i: !ucutlass.tensor<["N"], si32>) -> (!ucutlass.tensor<["M", "N"], f16>) {
  // CHECK: %one = ucutlass.constant <1>
  %one = ucutlass.constant <1>
  // CHECK: %half = ucutlass.constant <0.5>
  %half = ucutlass.constant <0.5>
  // CHECK: %r0 = ucutlass.fma %x, %v, %one : {{.*}} -> !ucutlass.tensor<["M", "N"], f32>
  %r0 = ucutlass.fma %x, %v, %one : (!ucutlass.tensor<["M", "N"], f16>, !ucutlass.tensor<["N"], f32>, !ucutlass.number_type) -> !ucutlass.unresolved
  // CHECK: %r1 = ucutlass.fma %half, %i, %one : {{.*}} -> !ucutlass.tensor<["N"], f32>
  %r1 = ucutlass.fma %half, %i, %one : (!ucutlass.number_type, !ucutlass.tensor<["N"], si32>, !ucutlass.number_type) -> !ucutlass.unresolved
  // CHECK: %r2 = ucutlass.where %b, %x, %v : {{.*}} -> !ucutlass.tensor<["M", "N"], f32>
  %r2 = ucutlass.where %b, %x, %v : (!ucutlass.tensor<["M", 1], i1>, !ucutlass.tensor<["M", "N"], f16>, !ucutlass.tensor<["N"], f32>) -> !ucutlass.unresolved
  // CHECK: %r3 = ucutlass.where %b, %x, %half : {{.*}} -> !ucutlass.tensor<["M", "N"], f16>
  %r3 = ucutlass.where %b, %x, %half : (!ucutlass.tensor<["M", 1], i1>, !ucutlass.tensor<["M", "N"], f16>, !ucutlass.number_type) -> !ucutlass.unresolved
  // CHECK: %r4 = ucutlass.where %b, %one, %half : {{.*}} -> !ucutlass.tensor<["M", 1], f32>
  %r4 = ucutlass.where %b, %one, %half : (!ucutlass.tensor<["M", 1], i1>, !ucutlass.number_type, !ucutlass.number_type) -> !ucutlass.unresolved
  // CHECK: %r5 = ucutlass.where %b, %i, %one : {{.*}} -> !ucutlass.tensor<["M", "N"], si32>
  %r5 = ucutlass.where %b, %i, %one : (!ucutlass.tensor<["M", 1], i1>, !ucutlass.tensor<["N"], si32>, !ucutlass.number_type) -> !ucutlass.unresolved
  ucutlass.return %x : !ucutlass.tensor<["M", "N"], f16>
}

// They give booleans, whatever they compare.
// CHECK-LABEL: ucutlass.kernel @comparisons
ucutlass.kernel @comparisons(%x: !ucutlass.tensor<["M", "N"], f16, (1, 0)>, %i: !ucutlass.tensor<["N"], si64>, %b: !ucutlass.tensor<["N"], i1>) -> (!ucutlass.tensor<["M", "N"], f16, (1, 0)>) {
  // CHECK: %half = ucutlass.constant <0.5>
  %half = ucutlass.constant <0.5>
  // CHECK: %r0 = ucutlass.gt %x, %half : {{.*}} -> !ucutlass.tensor<["M", "N"], i1, (1, 0)>
  %r0 = ucutlass.gt %x, %half : (!ucutlass.tensor<["M", "N"], f16, (1, 0)>, !ucutlass.number_type) -> !ucutlass.unresolved
  // CHECK: %r1 = ucutlass.ge %x, %half : {{.*}} -> !ucutlass.tensor<["M", "N"], i1, (1, 0)>
  %r1 = ucutlass.ge %x, %half : (!ucutlass.tensor<["M", "N"], f16, (1, 0)>, !ucutlass.number_type) -> !ucutlass.unresolved
  // CHECK: %r2 = ucutlass.lt %x, %half : {{.*}} -> !ucutlass.tensor<["M", "N"], i1, (1, 0)>
  %r2 = ucutlass.lt %x, %half : (!ucutlass.tensor<["M", "N"], f16, (1, 0)>, !ucutlass.number_type) -> !ucutlass.unresolved
  // CHECK: %r3 = ucutlass.le %x, %half : {{.*}} -> !ucutlass.tensor<["M", "N"], i1, (1, 0)>
  %r3 = ucutlass.le %x, %half : (!ucutlass.tensor<["M", "N"], f16, (1, 0)>, !ucutlass.number_type) -> !ucutlass.unresolved
  // CHECK: %r4 = ucutlass.eq %x, %half : {{.*}} -> !ucutlass.tensor<["M", "N"], i1, (1, 0)>
  %r4 = ucutlass.eq %x, %half : (!ucutlass.tensor<["M", "N"], f16, (1, 0)>, !ucutlass.number_type) -> !ucutlass.unresolved
  // CHECK: %r5 = ucutlass.ne %x, %half : {{.*}} -> !ucutlass.tensor<["M", "N"], i1, (1, 0)>
  %r5 = ucutlass.ne %x, %half : (!ucutlass.tensor<["M", "N"], f16, (1, 0)>, !ucutlass.number_type) -> !ucutlass.unresolved
  // CHECK: %r6 = ucutlass.gt %i, %half : {{.*}} -> !ucutlass.tensor<["N"], i1>
  %r6 = ucutlass.gt %i, %half : (!ucutlass.tensor<["N"], si64>, !ucutlass.number_type) -> !ucutlass.unresolved
  // CHECK: %r7 = ucutlass.eq %b, %i : {{.*}} -> !ucutlass.tensor<["N"], i1>
  %r7 = ucutlass.eq %b, %i : (!ucutlass.tensor<["N"], i1>, !ucutlass.tensor<["N"], si64>) -> !ucutlass.unresolved
  ucutlass.return %x : !ucutlass.tensor<["M", "N"], f16, (1, 0)>
}

// Numbers alone give a number, when the program is compiled.
// CHECK-LABEL: ucutlass.kernel @numbers
ucutlass.kernel @numbers(%x: !ucutlass.tensor<["M"], si8>) -> (!ucutlass.tensor<["M"], si8>) {
  // CHECK: %one = ucutlass.constant <1>
  %one = ucutlass.constant <1>
  // CHECK: %eight = ucutlass.constant <8>
  %eight = ucutlass.constant <8>
  // CHECK: %r0 = ucutlass.div %one, %eight : {{.*}} -> !ucutlass.number_type
  %r0 = ucutlass.div %one, %eight : (!ucutlass.number_type, !ucutlass.number_type) -> !ucutlass.unresolved
  // CHECK: %r1 = ucutlass.neg %one : {{.*}} -> !ucutlass.number_type
  %r1 = ucutlass.neg %one : (!ucutlass.number_type) -> !ucutlass.unresolved
  // CHECK: %r2 = ucutlass.add %one, %eight : {{.*}} -> !ucutlass.number_type
  %r2 = ucutlass.add %one, %eight : (!ucutlass.number_type, !ucutlass.number_type) -> !ucutlass.unresolved
  // CHECK: %r3 = ucutlass.sub %one, %eight : {{.*}} -> !ucutlass.number_type
  %r3 = ucutlass.sub %one, %eight : (!ucutlass.number_type, !ucutlass.number_type) -> !ucutlass.unresolved
  // CHECK: %r4 = ucutlass.mul %one, %eight : {{.*}} -> !ucutlass.number_type
  %r4 = ucutlass.mul %one, %eight : (!ucutlass.number_type, !ucutlass.number_type) -> !ucutlass.unresolved
  ucutlass.return %x : !ucutlass.tensor<["M"], si8>
}
