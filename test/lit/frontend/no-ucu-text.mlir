// RUN: not %ucutlass-translate --to=ucu %s 2>&1 | %filecheck %s

// The language writes a size as a whole number or a name.
// CHECK: no-ucu-text.mlir:[[# @LINE + 1]]:1: error: a size of a type is a whole number or a name, not '2 * M' [UC0122]
ucutlass.kernel @k(%x: !ucutlass.tensor<["2 * M"], f16>) -> (!ucutlass.tensor<["2 * M"], f16>) {
  ucutlass.return %x : !ucutlass.tensor<["2 * M"], f16>
}
