// RUN: spyre check %s --cores 2 --span-limit 9472
//
// A narrowing repeated in the loops of a group stated the extents of the whole tensor.

func.func @main(%x: tensor<1x7x32x1xf32>) -> tensor<1x7x32xf32> {
  %0 = spyre.min %x {dims = [3]} : (tensor<1x7x32x1xf32>) -> tensor<1x7x32xf32>
  %1 = spyre.set_valid_shape %0 [1, 7, 32] : (tensor<1x7x32xf32>) -> tensor<1x7x32xf32>
  %2 = spyre.sub %1, %0 : (tensor<1x7x32xf32>, tensor<1x7x32xf32>) -> tensor<1x7x32xf32>
  return %2 : tensor<1x7x32xf32>
}
