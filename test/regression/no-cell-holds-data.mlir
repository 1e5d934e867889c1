// RUN: spyre-opt %s --pass-pipeline='builtin.module(spyre-to-sdsc{cores=2})' --verify-diagnostics
//
// An operation on a tensor of which no cell is valid ended the division of work with StopIteration.

func.func @empty(%x: tensor<4x64xf16, #spyre.encoding<valid_shape = [0, 64]>>) -> tensor<4x64xf16, #spyre.encoding<valid_shape = [0, 64]>> {
  // expected-error @+2 {{SPY102: no cell of 'spyre.exp' holds data: its iteration dim d0 has the valid extent 0}}
  // expected-note @+1 {{remedy: leave the operation out}}
  %0 = spyre.exp %x : (tensor<4x64xf16, #spyre.encoding<valid_shape = [0, 64]>>) -> tensor<4x64xf16, #spyre.encoding<valid_shape = [0, 64]>>
  return %0 : tensor<4x64xf16, #spyre.encoding<valid_shape = [0, 64]>>
}
