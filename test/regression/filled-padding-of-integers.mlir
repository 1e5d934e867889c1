// RUN: spyre check %s --cores 2
//
// Padding of booleans and integers was filled with a floating-point constant, which is none of theirs.

func.func @mask(%x: tensor<4x70xi1, #spyre.encoding<valid_shape = [3, 70]>>) -> tensor<4x70xi1, #spyre.encoding<pad = zero>> {
  %0 = spyre.fillpad %x {pad = "zero"} : (tensor<4x70xi1, #spyre.encoding<valid_shape = [3, 70]>>) -> tensor<4x70xi1, #spyre.encoding<pad = zero>>
  return %0 : tensor<4x70xi1, #spyre.encoding<pad = zero>>
}
