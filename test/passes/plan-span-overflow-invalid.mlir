// RUN: spyre-opt %s --pass-pipeline='builtin.module(func.func(spyre-assign-layouts,spyre-plan-span-overflow{span-limit=8192 materialize=false}))' --split-input-file --verify-diagnostics

// Two loops over one buffer, where full-size intermediates are not allowed.
func.func @hinted(%x: tensor<64x64xf16>, %y: tensor<64x256xf16>) -> (tensor<64x256xf16>, tensor<64x256xf16>) {
  %0 = spyre.exp %y {spyre.tile = #spyre.tile_plan<origin = hint, group = 0, levels = [parallel(0) 2]>} : (tensor<64x256xf16>) -> tensor<64x256xf16>
  // expected-error @+3 {{SPY051: 'spyre.neg' is tiled and reads 'spyre.exp', which is tiled in another loop}}
  // expected-note @+2 {{a hint tiles 'spyre.exp'}}
  // expected-note @+1 {{remedy: tile both alike with hints, or allow full-size intermediates}}
  %1 = spyre.neg %0 : (tensor<64x256xf16>) -> tensor<64x256xf16>
  return %0, %1 : tensor<64x256xf16>, tensor<64x256xf16>
}

// -----

// A reshape reads the whole tensor, after the loop.
func.func @reshaped(%x: tensor<1x128x64xf16>) -> tensor<128x64xf16> {
  %0 = spyre.exp %x : (tensor<1x128x64xf16>) -> tensor<1x128x64xf16>
  %1 = spyre.reshape %0 : (tensor<1x128x64xf16>) -> tensor<128x64xf16>
  // expected-error @+3 {{SPY052: 'spyre.neg' is tiled and reads 'spyre.exp', which is tiled in another loop}}
  // expected-note @+2 {{its tiles are no tiles that 'spyre.exp' could be made in}}
  // expected-note @+1 {{remedy: tile both alike with hints, or allow full-size intermediates}}
  %2 = spyre.neg %1 : (tensor<128x64xf16>) -> tensor<128x64xf16>
  return %2 : tensor<128x64xf16>
}
