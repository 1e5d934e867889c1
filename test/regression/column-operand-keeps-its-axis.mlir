// RUN: spyre-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(spyre-infer-valid-shapes,spyre-verify-valid-regions)' | FileCheck %s

// A fault of another compiler: to repair a layout it turned a partly valid column of 64 x 1 into a row and exchanged
// its valid extents, so the result claimed 1 x 128 cells where 40 x 64 hold data. Here no pass turns an operand onto
// another axis, and neither turning nor claiming by hand gets past the rules.

// A column is replicated along its own axis.

// CHECK-LABEL: func.func @column
// CHECK: spyre.add {{.*}} -> tensor<64x128xf16, #spyre.encoding<valid_shape = [40, 64]>>
func.func @column(%x: tensor<64x128xf16, #spyre.encoding<valid_shape = [40, 64]>>, %c: tensor<64x1xf16, #spyre.encoding<valid_shape = [40, 1]>>) -> tensor<64x128xf16> {
  %0 = spyre.add %x, %c : (tensor<64x128xf16, #spyre.encoding<valid_shape = [40, 64]>>, tensor<64x1xf16, #spyre.encoding<valid_shape = [40, 1]>>) -> tensor<64x128xf16>
  return %0 : tensor<64x128xf16>
}

// -----

// Turned into a row, its extents go with their axes; a row of 64 does not fit 128 columns.

func.func @turned(%x: tensor<64x128xf16, #spyre.encoding<valid_shape = [40, 64]>>, %c: tensor<64x1xf16, #spyre.encoding<valid_shape = [40, 1]>>) {
  %row = spyre.reshape %c : (tensor<64x1xf16, #spyre.encoding<valid_shape = [40, 1]>>) -> tensor<1x64xf16, #spyre.encoding<valid_shape = [1, 40]>>
  // expected-error @+1 {{op C1: }}
  %0 = spyre.add %x, %row : (tensor<64x128xf16, #spyre.encoding<valid_shape = [40, 64]>>, tensor<1x64xf16, #spyre.encoding<valid_shape = [1, 40]>>) -> tensor<64x128xf16>
  return
}

// -----

// Of a square one it has the right shape, and the wrong axis: 40 rows do not agree with 64 columns.

// expected-note @+1 {{lhs, valid over [40, 64], is from here}}
func.func @square(%x: tensor<64x64xf16, #spyre.encoding<valid_shape = [40, 64]>>, %c: tensor<64x1xf16, #spyre.encoding<valid_shape = [40, 1]>>) {
  // expected-note @+1 {{rhs, valid over [1, 40], is from here}}
  %row = spyre.reshape %c : (tensor<64x1xf16, #spyre.encoding<valid_shape = [40, 1]>>) -> tensor<1x64xf16, #spyre.encoding<valid_shape = [1, 40]>>
  // expected-error @+4 {{SPY072: spyre.add: operands lhs and rhs do not provably agree on the valid extent of dim 1: lhs has 64, rhs has 40}}
  // expected-note @+3 {{an elementwise operation reads every operand at each cell}}
  // expected-note @+2 {{under the policy 'intersect' this is accepted, with the region [40, 40]}}
  // expected-note @+1 {{remedy: narrow lhs}}
  %0 = spyre.add %x, %row : (tensor<64x64xf16, #spyre.encoding<valid_shape = [40, 64]>>, tensor<1x64xf16, #spyre.encoding<valid_shape = [1, 40]>>) -> tensor<64x64xf16>
  return
}
