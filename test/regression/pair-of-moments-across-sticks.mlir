// RUN: spyre-opt %s --pass-pipeline='builtin.module(spyre-to-sdsc{cores=2})' --split-input-file --verify-diagnostics
//
// Pairs of moments with one cell a stick were read and written as if both lay in one. What cannot be turned is refused.

func.func @transposed(%x: tensor<2x1xf16>) -> tensor<1x1xf16> {
  %0 = spyre.transpose %x {permutation = [1, 0]} : (tensor<2x1xf16>) -> tensor<1x2xf16>
  // expected-error @+2 {{SPY098: 'spyre.layernorm_scale': the pairs of moments do not lie in lanes 0 and 1 of one stick each}}
  // expected-note @+1 {{remedy: put their last dim on the stick}}
  %1 = spyre.layernorm_scale %0 {eps = 1.0e-03 : f64} : (tensor<1x2xf16>) -> tensor<1x1xf16>
  return %1 : tensor<1x1xf16>
}

// -----

func.func @reshaped(%x: tensor<2x1xf16>) -> tensor<1x1xf16> {
  %0 = spyre.reshape %x : (tensor<2x1xf16>) -> tensor<1x2xf16>
  // expected-error @+2 {{SPY098: 'spyre.layernorm_scale': the pairs of moments do not lie in lanes 0 and 1 of one stick each}}
  // expected-note @+1 {{remedy: put their last dim on the stick}}
  %1 = spyre.layernorm_scale %0 {eps = 1.0e-03 : f64} : (tensor<1x2xf16>) -> tensor<1x1xf16>
  return %1 : tensor<1x1xf16>
}

// -----

#turned = #spyre.encoding<layout = #spyre.layout<[2, 1, 64] : [1, 128, 2]>>

func.func @written(%x: tensor<8x64xf16>) -> tensor<8x2xf16, #turned> {
  // expected-error @+2 {{SPY098: 'spyre.exx2': the pairs of moments do not lie in lanes 0 and 1 of one stick each}}
  // expected-note @+1 {{remedy: put their last dim on the stick}}
  %0 = spyre.exx2 %x : (tensor<8x64xf16>) -> tensor<8x2xf16, #turned>
  return %0 : tensor<8x2xf16, #turned>
}
