// RUN: spyre-opt %s --pass-pipeline='builtin.module(func.func(spyre-assign-layouts,spyre-plan-span-overflow{span-limit=8192},spyre-tile))' | FileCheck %s
//
// What cannot share a loop, or should not, reads a full-size tensor.

// A reshape is not made anew of a tile.
// CHECK-LABEL: @reshaped
// CHECK: %[[FULL:[0-9]+]] = scf.for
// CHECK:   spyre.exp
// CHECK: %[[V:.+]] = spyre.reshape %[[FULL]]
// CHECK: scf.for
// CHECK:   spyre.slice %[[V]]
// CHECK:   spyre.neg
// CHECK: return
func.func @reshaped(%x: tensor<1x128x64xf16>) -> tensor<128x64xf16> {
  %0 = spyre.exp %x : (tensor<1x128x64xf16>) -> tensor<1x128x64xf16>
  %1 = spyre.reshape %0 : (tensor<1x128x64xf16>) -> tensor<128x64xf16>
  %2 = spyre.neg %1 : (tensor<128x64xf16>) -> tensor<128x64xf16>
  return %2 : tensor<128x64xf16>
}

// The sum needs all of dim 1, the only one along which its producer can be cut. What it makes is read with the producer
// again: three loops, as the loop of the sum stands between the others.
// CHECK-LABEL: @reduced
// CHECK: %[[FULL:[0-9]+]] = scf.for
// CHECK:   spyre.exp
// CHECK: scf.for
// CHECK:   spyre.max
// CHECK: scf.for
// CHECK:   spyre.slice %[[FULL]]
// CHECK:   spyre.sub
// CHECK: return
func.func @reduced(%x: tensor<2x512x64xf16>) -> tensor<2x512x64xf16> {
  %0 = spyre.exp %x : (tensor<2x512x64xf16>) -> tensor<2x512x64xf16>
  %1 = spyre.max %0 {dims = [1], keep_dims = true} : (tensor<2x512x64xf16>) -> tensor<2x1x64xf16>
  %2 = spyre.sub %0, %1 : (tensor<2x512x64xf16>, tensor<2x1x64xf16>) -> tensor<2x512x64xf16>
  return %2 : tensor<2x512x64xf16>
}

// A hint is never changed: what reads its result does so behind its loop.
// CHECK-LABEL: @hinted
// CHECK: scf.for
// CHECK:   spyre.exp
// CHECK: scf.for
// CHECK:   spyre.neg
func.func @hinted(%x: tensor<64x256xf16>) -> tensor<64x256xf16> {
  %0 = spyre.exp %x {spyre.tile = #spyre.tile_plan<origin = hint, group = 0, levels = [parallel(0) 2]>} : (tensor<64x256xf16>) -> tensor<64x256xf16>
  %1 = spyre.neg %0 : (tensor<64x256xf16>) -> tensor<64x256xf16>
  return %1 : tensor<64x256xf16>
}
