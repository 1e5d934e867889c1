// RUN: spyre check %s --cores 2
//
// The result of an operation that is returned under another shape was computed in the place of the result, but in the
// order of its own layout: the sticks of [1, 2, 65] and of [2, 65] do not lie alike.

func.func @reshaped(%x: tensor<1x2x65xf16>) -> tensor<2x65xf16> {
  %0 = spyre.exp %x : (tensor<1x2x65xf16>) -> tensor<1x2x65xf16>
  %1 = spyre.reshape %0 : (tensor<1x2x65xf16>) -> tensor<2x65xf16>
  return %1 : tensor<2x65xf16>
}
