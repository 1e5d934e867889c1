// RUN: spyre-opt %s --pass-pipeline='builtin.module(func.func(spyre-assign-layouts,spyre-tile))' --split-input-file --verify-diagnostics

func.func @unknown_name(%x: tensor<20x64xf16>) {
  // expected-error @+2 {{SPY045: the hint names parallel dim 'rows'; the operation has: h, d}}
  // expected-note @+1 {{remedy: name the dims with spyre.dims, or give the number of the dim}}
  %0 = spyre.exp %x {spyre.dims = ["h", "d"], spyre.tile = #spyre.tile_plan<origin = hint, group = 0, levels = [parallel(rows) 4]>} : (tensor<20x64xf16>) -> tensor<20x64xf16>
  return
}

// -----

func.func @number(%x: tensor<20x64xf16>) {
  // expected-error @+1 {{SPY045: the hint cuts parallel dim 2; the operation has 2 of this kind}}
  %0 = spyre.exp %x {spyre.tile = #spyre.tile_plan<origin = hint, group = 0, levels = [parallel(2) 4]>} : (tensor<20x64xf16>) -> tensor<20x64xf16>
  return
}

// -----

func.func @cover(%x: tensor<20x64xf16>) {
  // expected-error @+1 {{SPY045: the tiles 4 x 4 + 0 cover 16 elements of parallel dim 0, which has 20}}
  %0 = spyre.exp %x {spyre.tile = #spyre.tile_plan<origin = hint, group = 0, levels = [parallel(0) 4 x 4]>} : (tensor<20x64xf16>) -> tensor<20x64xf16>
  return
}

// -----

// One group number for loops that have nothing in common.
func.func @group(%x: tensor<20x64xf16>) -> tensor<20x64xf16> {
  // expected-note @+1 {{'spyre.exp' is in the group}}
  %0 = spyre.exp %x {spyre.tile = #spyre.tile_plan<origin = hint, group = 0, levels = [parallel(0) 4]>} : (tensor<20x64xf16>) -> tensor<20x64xf16>
  // expected-error @+2 {{SPY045: 'spyre.neg' is in the loops of group 0, whose tiles are not its own}}
  // expected-note @+1 {{remedy: give what does not share its loops a group number of its own}}
  %1 = spyre.neg %0 {spyre.tile = #spyre.tile_plan<origin = hint, group = 0, levels = [parallel(0) 2]>} : (tensor<20x64xf16>) -> tensor<20x64xf16>
  return %1 : tensor<20x64xf16>
}
