// RUN: %ucutlass-opt -p infer %s | %filecheck %s
// RUN: %ucutlass-opt -p infer --print-op-generic %s | %ucutlass-opt -f mlir - | %filecheck %s

// What only places elements: results are row-major, but for the view and for what asks for a layout.
// CHECK-LABEL: ucutlass.kernel @places
ucutlass.kernel @places(%x: !ucutlass.tensor<["B", "S", 4, 16], f16>, %w: !ucutlass.tensor<["N", 64], f16>, %v: !ucutlass.tensor<[8], f16>, %i: !ucutlass.tensor<["N", 2], si64>) -> (!ucutlass.tensor<["B", "S", 4, 16], f16>) {
  // CHECK: %p = ucutlass.permute %x {d = #ucutlass.dims<[0, 2, 1, -1]>} : {{.*}} -> !ucutlass.tensor<["B", 4, "S", 16], f16>
  %p = ucutlass.permute %x {d = #ucutlass.dims<[0, 2, 1, -1]>} : (!ucutlass.tensor<["B", "S", 4, 16], f16>) -> !ucutlass.unresolved
  // CHECK: %s = ucutlass.transpose %x {d0 = #ucutlass.dims<[1]>, d1 = #ucutlass.dims<[2]>} : {{.*}} -> !ucutlass.tensor<["B", 4, "S", 16], f16>
  %s = ucutlass.transpose %x {d0 = #ucutlass.dims<[1]>, d1 = #ucutlass.dims<[2]>} : (!ucutlass.tensor<["B", "S", 4, 16], f16>) -> !ucutlass.unresolved
  // The view turns the layout with the shape.
  // CHECK: %t = ucutlass.t %w : {{.*}} -> !ucutlass.tensor<[64, "N"], f16, (1, 0)>
  %t = ucutlass.t %w : (!ucutlass.tensor<["N", 64], f16>) -> !ucutlass.unresolved
  // CHECK: %u = ucutlass.t %t : {{.*}} -> !ucutlass.tensor<["N", 64], f16>
  %u = ucutlass.t %t : (!ucutlass.unresolved) -> !ucutlass.unresolved
  // CHECK: %r = ucutlass.reshape %x {shape = #ucutlass.dims<[-1, 64]>} : {{.*}} -> !ucutlass.tensor<["B * S", 64], f16>
  %r = ucutlass.reshape %x {shape = #ucutlass.dims<[-1, 64]>} : (!ucutlass.tensor<["B", "S", 4, 16], f16>) -> !ucutlass.unresolved
  // Before and after of the last dimension come first.
  // CHECK: %d = ucutlass.pad %w {pad = #ucutlass.dims<[1, 2, 3, 0]>, value = #ucutlass.number<-inf>} : {{.*}} -> !ucutlass.tensor<["N + 3", 67], f16>
  %d = ucutlass.pad %w {pad = #ucutlass.dims<[1, 2, 3, 0]>, value = #ucutlass.number<-inf>} : (!ucutlass.tensor<["N", 64], f16>) -> !ucutlass.unresolved
  // CHECK: %e = ucutlass.slice %w {dim = #ucutlass.dims<[1]>, start = #ucutlass.dims<[2]>, end = #ucutlass.dims<[-1]>, step = #ucutlass.dims<[3]>} : {{.*}} -> !ucutlass.tensor<["N", 21], f16>
  %e = ucutlass.slice %w {dim = #ucutlass.dims<[1]>, start = #ucutlass.dims<[2]>, end = #ucutlass.dims<[-1]>, step = #ucutlass.dims<[3]>} : (!ucutlass.tensor<["N", 64], f16>) -> !ucutlass.unresolved
  // CHECK: %c = ucutlass.concat[%w, %e] {dim = #ucutlass.dims<[-1]>} : {{.*}} -> !ucutlass.tensor<["N", 85], f16>
  %c = ucutlass.concat[%w, %e] {dim = #ucutlass.dims<[-1]>} : (!ucutlass.tensor<["N", 64], f16>, !ucutlass.unresolved) -> !ucutlass.unresolved
  // One size cuts as many pieces as there are.
  // CHECK: %y0, %y1, %y2 = ucutlass.split %v {sizes = #ucutlass.dims<[3]>} : {{.*}} -> (!ucutlass.tensor<[3], f16>, !ucutlass.tensor<[3], f16>, !ucutlass.tensor<[2], f16>)
  %y0, %y1, %y2 = ucutlass.split %v {sizes = #ucutlass.dims<[3]>} : (!ucutlass.tensor<[8], f16>) -> (!ucutlass.unresolved, !ucutlass.unresolved, !ucutlass.unresolved)
  // CHECK: %z0, %z1 = ucutlass.split %w {sizes = #ucutlass.dims<[16, 48]>, dim = #ucutlass.dims<[1]>} : {{.*}} -> (!ucutlass.tensor<["N", 16], f16>, !ucutlass.tensor<["N", 48], f16>)
  %z0, %z1 = ucutlass.split %w {sizes = #ucutlass.dims<[16, 48]>, dim = #ucutlass.dims<[1]>} : (!ucutlass.tensor<["N", 64], f16>) -> (!ucutlass.unresolved, !ucutlass.unresolved)
  // More numbers than dimensions add dimensions in front.
  // CHECK: %n = ucutlass.repeat %v {n = #ucutlass.dims<["N", 2]>} : {{.*}} -> !ucutlass.tensor<["N", 16], f16>
  %n = ucutlass.repeat %v {n = #ucutlass.dims<["N", 2]>} : (!ucutlass.tensor<[8], f16>) -> !ucutlass.unresolved
  // CHECK: %f = ucutlass.flip %w {dim = #ucutlass.dims<[0, 1]>} : {{.*}} -> !ucutlass.tensor<["N", 64], f16>
  %f = ucutlass.flip %w {dim = #ucutlass.dims<[0, 1]>} : (!ucutlass.tensor<["N", 64], f16>) -> !ucutlass.unresolved
  // CHECK: %l = ucutlass.to_layout %x {layout = "channels_last"} : {{.*}} -> !ucutlass.tensor<["B", "S", 4, 16], f16, (0, 2, 3, 1)>
  %l = ucutlass.to_layout %x {layout = "channels_last"} : (!ucutlass.tensor<["B", "S", 4, 16], f16>) -> !ucutlass.unresolved
  // CHECK: %m = ucutlass.to_layout %w {layout = #ucutlass.layout<(1, 0)>} : {{.*}} -> !ucutlass.tensor<["N", 64], f16, (1, 0)>
  %m = ucutlass.to_layout %w {layout = #ucutlass.layout<(1, 0)>} : (!ucutlass.tensor<["N", 64], f16>) -> !ucutlass.unresolved
  // CHECK: %g = ucutlass.gather %w, %i {dim = #ucutlass.dims<[1]>} : {{.*}} -> !ucutlass.tensor<["N", 2], f16>
  %g = ucutlass.gather %w, %i {dim = #ucutlass.dims<[1]>} : (!ucutlass.tensor<["N", 64], f16>, !ucutlass.tensor<["N", 2], si64>) -> !ucutlass.unresolved
  // CHECK: %tl = ucutlass.tril %w : {{.*}} -> !ucutlass.tensor<["N", 64], f16>
  %tl = ucutlass.tril %w : (!ucutlass.tensor<["N", 64], f16>) -> !ucutlass.unresolved
  // CHECK: %tu = ucutlass.triu %w {diagonal = #ucutlass.dims<[-2]>} : {{.*}} -> !ucutlass.tensor<["N", 64], f16>
  %tu = ucutlass.triu %w {diagonal = #ucutlass.dims<[-2]>} : (!ucutlass.tensor<["N", 64], f16>) -> !ucutlass.unresolved
  ucutlass.return %x : !ucutlass.tensor<["B", "S", 4, 16], f16>
}
