// RUN: spyre-opt %s --pass-pipeline='builtin.module(spyre-to-sdsc{cores=1})' --verify-diagnostics
//
// A hint cut a dim whose extent is symbolic: a tile that lies behind the extent was sliced as if it held data.

func.func @rows(%x: tensor<4x64xf16, #spyre.encoding<valid_shape = [n, 64]>>, %n: index {spyre.extent = "n", spyre.range = array<i64: 1, 4>}) -> tensor<4x64xf16, #spyre.encoding<valid_shape = [n, 64]>> {
  // expected-error @+2 {{SPY045: the plan cuts parallel dim 0, whose extent is symbolic: a tile may lie behind it}}
  // expected-note @+1 {{remedy: cut another dim}}
  %0 = spyre.exp %x {spyre.tile = #spyre.tile_plan<origin = hint, group = 0, levels = [parallel(0) 2]>} : (tensor<4x64xf16, #spyre.encoding<valid_shape = [n, 64]>>) -> tensor<4x64xf16, #spyre.encoding<valid_shape = [n, 64]>>
  return %0 : tensor<4x64xf16, #spyre.encoding<valid_shape = [n, 64]>>
}
