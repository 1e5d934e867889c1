// RUN: spyre check %s --cores 2
//
// An insertion into a window, or into a tensor under another shape, took the layout of neither: its verifier refused it.

func.func @window(%x: tensor<2x70xf16>, %y: tensor<1x4x70xf16>) -> tensor<3x70xf16> {
  %0 = spyre.reshape %y : (tensor<1x4x70xf16>) -> tensor<4x70xf16>
  %1 = spyre.slice %0[1, 0] : (tensor<4x70xf16>) -> tensor<3x70xf16>
  %2 = spyre.insert_slice %x into %1[1, 0] : (tensor<2x70xf16>, tensor<3x70xf16>) -> tensor<3x70xf16>
  return %2 : tensor<3x70xf16>
}
