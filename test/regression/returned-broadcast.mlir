// RUN: spyre check %s --cores 2
//
// A broadcast that is returned was never written: its operand was computed in the place of the result.

func.func @widened(%x: tensor<1x2x1x70xf16>) -> tensor<1x2x3x70xf16> {
  %0 = spyre.exp %x : (tensor<1x2x1x70xf16>) -> tensor<1x2x1x70xf16>
  %1 = spyre.broadcast %0 : (tensor<1x2x1x70xf16>) -> tensor<1x2x3x70xf16>
  return %1 : tensor<1x2x3x70xf16>
}
