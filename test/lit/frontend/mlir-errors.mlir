// RUN: %ucutlass-opt --verify-diagnostics --split-input-file %s

ucutlass.kernel @unknown(%x: !ucutlass.tensor<[8], f16>) -> (!ucutlass.tensor<[8], f16>) {
  %y = ucutlass.rellu %x : (!ucutlass.tensor<[8], f16>) -> !ucutlass.unresolved // expected-error {{Operation ucutlass.rellu is not registered [UC0121]}}
  ucutlass.return %y : !ucutlass.unresolved
}

// -----

// A rule of an attribute is placed at the attribute.
ucutlass.kernel @negative(%x: !ucutlass.tensor<[-8], f16>) -> () { // expected-error {{a size is negative: -8 [UC0121]}}
  ucutlass.return
}

// -----

ucutlass.kernel @string(%x: !ucutlass.tensor<["M], f16>) -> () { // expected-error {{this string has no end on its line}}
  ucutlass.return
}

// -----

ucutlass.kernel @colon(%x !ucutlass.tensor<[8], f16>) -> () { // expected-error {{Expected ':' after block argument name}}
  ucutlass.return
}
