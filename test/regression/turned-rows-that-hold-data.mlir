// RUN: spyre check %s --cores 1 --span-limit 8320
//
// A tensor of two rows was turned in 64 of them, and the tiles behind the second row held no data.

func.func @main(%x: tensor<2x65xf16>) -> tensor<2x1xf16> {
  %0 = spyre.prod %x {dims = [1], keep_dims = true} : (tensor<2x65xf16>) -> tensor<2x1xf16>
  return %0 : tensor<2x1xf16>
}
