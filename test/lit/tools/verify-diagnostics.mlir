// RUN: ucutlass-opt %s --split-input-file --verify-diagnostics
// RUN: not ucutlass-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect 2>&1 | %filecheck %s

// CHECK: verify-diagnostics.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: expected error on line [[# @LINE + 2]] was not produced: not registered [UC0013]
builtin.module {
  %0 = "some.thing"() : () -> i32 // expected-error {{not registered}}
}
// -----
// expected-error@+1 {{kernel @f declares 1 results and returns 0 [UC0021]}}
ucutlass.kernel @f(%x: !ucutlass.tensor<[8], f16>) -> (!ucutlass.tensor<[8], f16>) {
  ucutlass.return
}
