// RUN: spyre-opt %s --pass-pipeline='builtin.module(func.func(spyre-assign-layouts,spyre-tile))' --split-input-file --verify-diagnostics

// What a scan finds in parts of its range is not what it finds in all of it.
func.func @scan(%x: tensor<64x256xf16>) -> tensor<2x256xf16> {
  // expected-error @+2 {{SPY046: 'spyre.topk' cannot combine what it finds in parts of its range}}
  // expected-note @+1 {{remedy: divide a parallel dim}}
  %0, %1 = spyre.topk %x {k = 2 : i64, dim = 0 : i64, spyre.tile = #spyre.tile_plan<origin = hint, group = 0, levels = [reduction(0) 4]>} : (tensor<64x256xf16>) -> (tensor<2x256xf16>, tensor<2x256xf16>)
  return %0 : tensor<2x256xf16>
}

// -----

// An accumulator holds one tile of the result.
func.func @order(%x: tensor<8x40x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+2 {{SPY046: parallel(0) stands inside reduction(0), whose accumulator holds one tile of the result}}
  // expected-note @+1 {{remedy: list the reduction levels last}}
  %0 = spyre.sum %x {dims = [1], spyre.tile = #spyre.tile_plan<origin = hint, group = 0, levels = [reduction(0) 4, parallel(0) 2]>} : (tensor<8x40x64xf16>) -> tensor<8x64xf16>
  return %0 : tensor<8x64xf16>
}

// -----

// A mean is divided by a number that is known.
func.func @mean(%n: index {spyre.extent = "n"}, %x: tensor<8x256xf16, #spyre.encoding<valid_shape = [n, 256]>>) -> tensor<f16> {
  // expected-error @+2 {{SPY046: 'spyre.mean' divides by the number of reduced cells, which is symbolic}}
  // expected-note @+1 {{remedy: divide a parallel dim, or write the sum and the division out}}
  %0 = spyre.mean %x {dims = [0, 1], spyre.tile = #spyre.tile_plan<origin = hint, group = 0, levels = [reduction(1) 4]>} : (tensor<8x256xf16, #spyre.encoding<valid_shape = [n, 256]>>) -> tensor<f16>
  return %0 : tensor<f16>
}

// -----

// The rows of a layer norm are its result: dividing them is dividing parallel dims.
func.func @norm(%x: tensor<8x256xf16>, %m: tensor<8x2xf16>, %s: tensor<8x1xf16>, %w: tensor<256xf16>) -> tensor<8x256xf16> {
  // expected-error @+1 {{SPY045: the hint cuts reduction dim 0; the operation has 0 of this kind}}
  %0 = spyre.layernorm_norm %x, %m, %s, %w, %w {spyre.tile = #spyre.tile_plan<origin = hint, group = 0, levels = [reduction(0) 4]>} : (tensor<8x256xf16>, tensor<8x2xf16>, tensor<8x1xf16>, tensor<256xf16>, tensor<256xf16>) -> tensor<8x256xf16>
  return %0 : tensor<8x256xf16>
}
