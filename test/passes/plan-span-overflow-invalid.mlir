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

// -----

// The loop is open, but its tiles are other cells than those that the reader needs.
func.func @open(%x: tensor<128x2x64xf16>) -> tensor<2x128x64xf16> {
  %0 = spyre.exp %x : (tensor<128x2x64xf16>) -> tensor<128x2x64xf16>
  %1 = spyre.transpose %0 {permutation = [1, 0, 2]} : (tensor<128x2x64xf16>) -> tensor<2x128x64xf16>
  // expected-error @+3 {{SPY052: 'spyre.neg' is tiled and reads 'spyre.exp', which is tiled in another loop}}
  // expected-note @+2 {{its tiles do not correspond to those of 'spyre.exp'}}
  // expected-note @+1 {{remedy: tile both alike with hints, or allow full-size intermediates}}
  %2 = spyre.neg %1 : (tensor<2x128x64xf16>) -> tensor<2x128x64xf16>
  return %2 : tensor<2x128x64xf16>
}

// -----

// A reshape reads the whole tensor, after the loop.
func.func @closed_by_reader(%x: tensor<1x128x64xf16>) -> tensor<128x64xf16> {
  %0 = spyre.exp %x : (tensor<1x128x64xf16>) -> tensor<1x128x64xf16>
  %1 = spyre.reshape %0 : (tensor<1x128x64xf16>) -> tensor<128x64xf16>
  // expected-error @+3 {{SPY050: 'spyre.neg' is tiled and reads 'spyre.exp', which is tiled in another loop}}
  // expected-note @+2 {{the loop of 'spyre.exp' is closed already}}
  // expected-note @+1 {{remedy: tile both alike with hints, or allow full-size intermediates}}
  %2 = spyre.neg %1 : (tensor<128x64xf16>) -> tensor<128x64xf16>
  return %2 : tensor<128x64xf16>
}
