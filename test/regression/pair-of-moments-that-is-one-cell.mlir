// RUN: spyre check %s --cores 2 | FileCheck %s
//
// Both cells of a pair of moments are read from one stick. A view that showed one cell as both, or a tensor with the
// cells in two sticks, was read as if they lay so: the second lane held nothing. Pairs that lie there stand first.
//
// CHECK: @main: same

#turned = #spyre.encoding<layout = #spyre.layout<[2, 1, 64] : [1, 128, 2]>>

func.func @main(%pairs: tensor<8x2xf16>, %x: tensor<8x1xf16>, %cell: tensor<1x1xf16>, %t: tensor<2x64xf16>, %row: tensor<1x8xf16>, %turned: tensor<8x2xf16, #turned>)
    -> (tensor<8x1xf16>, tensor<8x1xf16>, tensor<1x1xf16>, tensor<64x1xf16>, tensor<8x1xf16>, tensor<8x1xf16>) {
  %0 = spyre.layernorm_scale %pairs {eps = 1.0e-03 : f64} : (tensor<8x2xf16>) -> tensor<8x1xf16>
  %1 = spyre.broadcast %x : (tensor<8x1xf16>) -> tensor<8x2xf16>
  %2 = spyre.layernorm_scale %1 {eps = 1.0e-03 : f64} : (tensor<8x2xf16>) -> tensor<8x1xf16>
  %3 = spyre.broadcast %cell : (tensor<1x1xf16>) -> tensor<1x2xf16>
  %4 = spyre.layernorm_scale %3 {eps = 1.0e-03 : f64} : (tensor<1x2xf16>) -> tensor<1x1xf16>
  %5 = spyre.transpose %t {permutation = [1, 0]} : (tensor<2x64xf16>) -> tensor<64x2xf16>
  %6 = spyre.layernorm_scale %5 {eps = 1.0e-03 : f64} : (tensor<64x2xf16>) -> tensor<64x1xf16>
  %7 = spyre.broadcast %row : (tensor<1x8xf16>) -> tensor<2x8xf16>
  %8 = spyre.transpose %7 {permutation = [1, 0]} : (tensor<2x8xf16>) -> tensor<8x2xf16>
  %9 = spyre.layernorm_scale %8 {eps = 1.0e-03 : f64} : (tensor<8x2xf16>) -> tensor<8x1xf16>
  %10 = spyre.layernorm_scale %turned {eps = 1.0e-03 : f64} : (tensor<8x2xf16, #turned>) -> tensor<8x1xf16>
  return %0, %2, %4, %6, %9, %10 : tensor<8x1xf16>, tensor<8x1xf16>, tensor<1x1xf16>, tensor<64x1xf16>, tensor<8x1xf16>, tensor<8x1xf16>
}
