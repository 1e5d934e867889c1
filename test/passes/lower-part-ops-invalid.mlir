// RUN: spyre-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(spyre-lower-part-ops))'

func.func @order(%n: index {spyre.extent = "n"}, %m: index {spyre.extent = "m"}, %x: tensor<8xf16, #spyre.encoding<valid_shape = [n]>>, %y: tensor<8xf16, #spyre.encoding<valid_shape = [m]>>) {
  // expected-error @+5 {{SPY074: spyre.part_add: no operand is provably the widest along dim 0 (n, m), so the union of the valid regions has no extent there}}
  // expected-note @+4 {{operand lhs is valid over [n]}}
  // expected-note @+3 {{operand rhs is valid over [m]}}
  // expected-note @+2 {{m <= n fails for}}
  // expected-note @+1 {{remedy: narrow one operand with spyre.set_valid_shape, so that the other region contains its}}
  %0 = spyre.part_add %x, %y : (tensor<8xf16, #spyre.encoding<valid_shape = [n]>>, tensor<8xf16, #spyre.encoding<valid_shape = [m]>>) -> tensor<8xf16, #spyre.encoding<valid_shape = [n]>>
  return
}

// -----

func.func @box(%x: tensor<8x8xf16, #spyre.encoding<valid_shape = [4, 8]>>, %y: tensor<8x8xf16, #spyre.encoding<valid_shape = [8, 4]>>) {
  // expected-error @+5 {{SPY075: spyre.part_add: no operand's valid region contains the others', so their union is not a box}}
  // expected-note @+4 {{operand lhs is valid over [4, 8]}}
  // expected-note @+3 {{operand rhs is valid over [8, 4]}}
  // expected-note @+2 {{the box [8, 8] around them claims cells valid in none}}
  // expected-note @+1 {{remedy:}}
  %0 = spyre.part_add %x, %y : (tensor<8x8xf16, #spyre.encoding<valid_shape = [4, 8]>>, tensor<8x8xf16, #spyre.encoding<valid_shape = [8, 4]>>) -> tensor<8x8xf16>
  return
}
