// RUN: spyre-opt %s --pass-pipeline='builtin.module(func.func(spyre-assign-layouts,spyre-plan-span-overflow{span-limit=8192},spyre-tile))' | FileCheck %s
//
// Joint plans: one split for a chain, with reductions and small operations in it.

// A softmax whose rows fit: the sums are in the loop, and so is what combines them.
// CHECK-LABEL: @softmax
// CHECK: scf.for
// CHECK:   spyre.max
// CHECK:   spyre.sub {{.*}} -> tensor<4x16x64xf16, #spyre.encoding<layout = #spyre.layout<{{[^>]*}}>>>
// CHECK:   spyre.exp
// CHECK:   spyre.sum
// CHECK:   spyre.div
// CHECK:   spyre.insert_slice
// CHECK-NOT: scf.for
// CHECK: return
func.func @softmax(%x: tensor<4x64x64xf16>) -> tensor<4x64x64xf16> {
  %0 = spyre.max %x {dims = [0], keep_dims = true} : (tensor<4x64x64xf16>) -> tensor<1x64x64xf16>
  %1 = spyre.sub %x, %0 : (tensor<4x64x64xf16>, tensor<1x64x64xf16>) -> tensor<4x64x64xf16>
  %2 = spyre.exp %1 : (tensor<4x64x64xf16>) -> tensor<4x64x64xf16>
  %3 = spyre.sum %2 {dims = [0], keep_dims = true} : (tensor<4x64x64xf16>) -> tensor<1x64x64xf16>
  %4 = spyre.div %2, %3 : (tensor<4x64x64xf16>, tensor<1x64x64xf16>) -> tensor<4x64x64xf16>
  return %4 : tensor<4x64x64xf16>
}

// The reader turns what it reads; its producer cuts the other dim for itself, and fills the tile that is turned.
// CHECK-LABEL: @turned
// CHECK: scf.for
// CHECK:   %[[TILE:[0-9]+]] = scf.for
// CHECK:     spyre.exp
// CHECK:   %[[T:[0-9]+]] = spyre.transpose %[[TILE]]
// CHECK:   spyre.neg %[[T]]
// CHECK: return
func.func @turned(%x: tensor<64x16x64xf16>) -> tensor<16x64x64xf16> {
  %0 = spyre.exp %x : (tensor<64x16x64xf16>) -> tensor<64x16x64xf16>
  %1 = spyre.transpose %0 {permutation = [1, 0, 2]} : (tensor<64x16x64xf16>) -> tensor<16x64x64xf16>
  %2 = spyre.neg %1 : (tensor<16x64x64xf16>) -> tensor<16x64x64xf16>
  return %2 : tensor<16x64x64xf16>
}

// What reads two chains joins them; what reads a chain and is not in its loop stands behind it.
// CHECK-LABEL: @two_chains
// CHECK: %[[R:[0-9]+]]:2 = scf.for
// CHECK:   spyre.exp
// CHECK:   spyre.neg
// CHECK:   spyre.add
// CHECK: spyre.reshape %[[R]]#0
// CHECK: return
func.func @two_chains(%x: tensor<1x128x64xf16>, %y: tensor<1x128x64xf16>) -> (tensor<1x128x64xf16>, tensor<128x64xf16>) {
  %0 = spyre.exp %x : (tensor<1x128x64xf16>) -> tensor<1x128x64xf16>
  %1 = spyre.reshape %0 : (tensor<1x128x64xf16>) -> tensor<128x64xf16>
  %2 = spyre.neg %y : (tensor<1x128x64xf16>) -> tensor<1x128x64xf16>
  %3 = spyre.add %0, %2 : (tensor<1x128x64xf16>, tensor<1x128x64xf16>) -> tensor<1x128x64xf16>
  return %3, %1 : tensor<1x128x64xf16>, tensor<128x64xf16>
}

// The write of a piece and its reader: each has a loop of its own, in order, and other chains are not held up by them.
// CHECK-LABEL: @concat
// CHECK: scf.for
// CHECK:   spyre.exp
// CHECK:   spyre.insert_slice
// CHECK: return
func.func @concat(%x: tensor<1x128x64xf16>, %y: tensor<1x128x64xf16>) -> tensor<1x256x64xf16> {
  %e = spyre.empty : () -> tensor<1x256x64xf16>
  %0 = spyre.exp %x : (tensor<1x128x64xf16>) -> tensor<1x128x64xf16>
  %1 = spyre.insert_slice %0 into %e[0, 0, 0] : (tensor<1x128x64xf16>, tensor<1x256x64xf16>) -> tensor<1x256x64xf16>
  %2 = spyre.neg %y : (tensor<1x128x64xf16>) -> tensor<1x128x64xf16>
  %3 = spyre.insert_slice %2 into %1[0, 128, 0] : (tensor<1x128x64xf16>, tensor<1x256x64xf16>) -> tensor<1x256x64xf16>
  %4 = spyre.relu %3 : (tensor<1x256x64xf16>) -> tensor<1x256x64xf16>
  return %4 : tensor<1x256x64xf16>
}
