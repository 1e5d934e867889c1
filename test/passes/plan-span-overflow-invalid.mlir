// RUN: spyre-opt %s --pass-pipeline='builtin.module(func.func(spyre-assign-layouts,spyre-plan-span-overflow{span-limit=8192}))' --split-input-file --verify-diagnostics

// Two loops over one buffer, which are not synchronised.
func.func @closed(%x: tensor<64x64xf16>, %y: tensor<64x256xf16>) -> (tensor<64x256xf16>, tensor<64x256xf16>) {
  %0 = spyre.exp %y {spyre.tile = #spyre.tile_plan<origin = hint, group = 0, levels = [parallel(0) 2]>} : (tensor<64x256xf16>) -> tensor<64x256xf16>
  // expected-error @+3 {{SPY051: 'spyre.neg' is tiled and reads 'spyre.exp', which is tiled in another loop}}
  // expected-note @+2 {{a hint tiles 'spyre.exp'}}
  // expected-note @+1 {{remedy: tile both alike with hints, or allow full-size intermediates}}
  %1 = spyre.neg %0 : (tensor<64x256xf16>) -> tensor<64x256xf16>
  return %0, %1 : tensor<64x256xf16>, tensor<64x256xf16>
}
