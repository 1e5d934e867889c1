// RUN: spyre-opt %s --pass-pipeline='builtin.module(spyre-to-sdsc)' --split-input-file --verify-diagnostics
//
// A reduction over a symbolic extent was lowered over the whole buffer, so that cells without data reached the result.

func.func @sum(%x: tensor<64x256xf16, #spyre.encoding<valid_shape = [n, 256]>>, %n: index {spyre.extent = "n", spyre.range = array<i64: 1, 64>}) -> tensor<256xf16> {
  // expected-error @+2 {{SPY101: 'spyre.sum' combines cells along iteration dim d1, whose extent is symbolic: the cells behind it, up to 64, would take part}}
  // expected-note @+1 {{remedy: fill them first with spyre.fillpad, or give the extent as a literal}}
  %0 = spyre.sum %x {dims = [0]} : (tensor<64x256xf16, #spyre.encoding<valid_shape = [n, 256]>>) -> tensor<256xf16>
  return %0 : tensor<256xf16>
}

// -----

func.func @matmul(%x: tensor<64x128xf16, #spyre.encoding<valid_shape = [64, n]>>, %y: tensor<128x64xf16, #spyre.encoding<valid_shape = [n, 64]>>, %n: index {spyre.extent = "n", spyre.range = array<i64: 1, 128>}) -> tensor<64x64xf16> {
  // expected-error @+2 {{SPY101: 'spyre.batch_matmul' combines cells along iteration dim d2, whose extent is symbolic}}
  // expected-note @+1 {{remedy: fill them first}}
  %0 = spyre.batch_matmul %x, %y : (tensor<64x128xf16, #spyre.encoding<valid_shape = [64, n]>>, tensor<128x64xf16, #spyre.encoding<valid_shape = [n, 64]>>) -> tensor<64x64xf16>
  return %0 : tensor<64x64xf16>
}
