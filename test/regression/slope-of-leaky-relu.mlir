// RUN: spyre check %s --cores 2
//
// The device's function for leaky_relu takes no constant: the slope of the operation was lost.

func.func @leaky(%x: tensor<4x70xf16>) -> tensor<4x70xf16> {
  %0 = spyre.leaky_relu %x {slope = 2.000000e-01 : f64} : (tensor<4x70xf16>) -> tensor<4x70xf16>
  return %0 : tensor<4x70xf16>
}
