// RUN: spyre-opt %s --pass-pipeline='builtin.module(func.func(spyre-assign-layouts,spyre-plan-span-overflow{span-limit=32768},spyre-tile))' | FileCheck %s
//
// Groups: what shares a loop, and what each member cuts for itself inside it.

// The LM head in small: the restickify needs N and K cut, the product only N. N is shared; the inner loop over K fills
// the tile that the product reads through a view.
// CHECK-LABEL: @lm_head
// CHECK: scf.for %[[N:[a-z0-9]+]] =
// CHECK:   %[[TILE:.+]] = spyre.empty {{.*}}tensor<64x256xf16
// CHECK:   %[[W:.+]] = scf.for %[[K:[a-z0-9]+]] = {{.*}} iter_args(%[[ACC:[a-z0-9]+]] = %[[TILE]])
// CHECK:     spyre.slice %{{.*}}[%[[N]], %[[K]]] {{.*}} -> tensor<64x64xf16
// CHECK:     %[[PART:.+]] = spyre.restickify
// CHECK:     spyre.insert_slice %[[PART]] into %[[ACC]][0, %[[K]]]
// CHECK:   %[[T:.+]] = spyre.transpose %[[W]] {{.*}} -> tensor<256x64xf16
// CHECK:   spyre.batch_matmul %{{.*}}, %[[T]] : {{.*}} -> tensor<2x64xf16, {{.*}}window>>
// CHECK-NOT: scf.for
// CHECK: return
func.func @lm_head(%x: tensor<2x256xf16>, %w: tensor<256x256xf16>) -> tensor<2x256xf16> {
  %t = spyre.transpose %w {permutation = [1, 0]} : (tensor<256x256xf16>) -> tensor<256x256xf16>
  %r = spyre.batch_matmul %x, %t : (tensor<2x256xf16>, tensor<256x256xf16>) -> tensor<2x256xf16>
  return %r : tensor<2x256xf16>
}

// A reduction that keeps its dims counts its parallel dims without them.
// CHECK-LABEL: @keeps_dims
// CHECK: scf.for %[[I:[a-z0-9]+]] =
// CHECK:   scf.for %[[J:[a-z0-9]+]] =
// CHECK:     %[[E:.+]] = spyre.exp {{.*}} -> tensor<4x1x64x64xf16
// CHECK:     %[[S:.+]] = spyre.sum %[[E]]
// CHECK:     spyre.insert_slice %[[S]] into %{{.*}}[0, %[[I]], %[[J]], 0]
// CHECK-NOT: scf.for
// CHECK: return
func.func @keeps_dims(%x: tensor<4x16x256x64xf16>) -> tensor<1x16x256x64xf16> {
  %0 = spyre.exp %x : (tensor<4x16x256x64xf16>) -> tensor<4x16x256x64xf16>
  %1 = spyre.sum %0 {dims = [0], keep_dims = true} : (tensor<4x16x256x64xf16>) -> tensor<1x16x256x64xf16>
  return %1 : tensor<1x16x256x64xf16>
}

// What fits and reads nothing of the run stays before the loop, which is not divided by it.
// CHECK-LABEL: @passed_by
// CHECK: %[[SMALL:.+]] = spyre.neg
// CHECK: scf.for
// CHECK:   spyre.exp
// CHECK:   spyre.add %{{.*}}, %{{.*}} : {{.*}}window>>
// CHECK-NOT: scf.for
// CHECK: return
func.func @passed_by(%x: tensor<1x512x64xf16>, %y: tensor<64xf16>) -> tensor<1x512x64xf16> {
  %0 = spyre.exp %x : (tensor<1x512x64xf16>) -> tensor<1x512x64xf16>
  %1 = spyre.neg %y : (tensor<64xf16>) -> tensor<64xf16>
  %2 = spyre.add %0, %1 : (tensor<1x512x64xf16>, tensor<64xf16>) -> tensor<1x512x64xf16>
  return %2 : tensor<1x512x64xf16>
}

// A view that is used behind the loops as well follows them.
// CHECK-LABEL: @seen_outside
// CHECK: %[[R:[0-9]+]]:2 = scf.for
// CHECK: %[[V:.+]] = spyre.transpose %[[R]]#0
// CHECK: return %[[V]], %[[R]]#1
func.func @seen_outside(%x: tensor<512x1x64xf16>) -> (tensor<1x512x64xf16>, tensor<1x512x64xf16>) {
  %0 = spyre.exp %x : (tensor<512x1x64xf16>) -> tensor<512x1x64xf16>
  %1 = spyre.transpose %0 {permutation = [1, 0, 2]} : (tensor<512x1x64xf16>) -> tensor<1x512x64xf16>
  %2 = spyre.neg %1 : (tensor<1x512x64xf16>) -> tensor<1x512x64xf16>
  return %1, %2 : tensor<1x512x64xf16>, tensor<1x512x64xf16>
}

// Writes into one buffer keep their order: no loop in common.
// CHECK-LABEL: @two_writes
// CHECK: scf.for
// CHECK:   spyre.exp
// CHECK:   spyre.insert_slice
// CHECK: scf.for
// CHECK:   spyre.neg
// CHECK:   spyre.insert_slice
func.func @two_writes(%x: tensor<2x512x64xf16>, %y: tensor<2x1024x64xf16>) -> tensor<2x1024x64xf16> {
  %0 = spyre.exp %x : (tensor<2x512x64xf16>) -> tensor<2x512x64xf16>
  %1 = spyre.insert_slice %0 into %y[0, 0, 0] : (tensor<2x512x64xf16>, tensor<2x1024x64xf16>) -> tensor<2x1024x64xf16>
  %2 = spyre.neg %x : (tensor<2x512x64xf16>) -> tensor<2x512x64xf16>
  %3 = spyre.insert_slice %2 into %1[0, 512, 0] : (tensor<2x512x64xf16>, tensor<2x1024x64xf16>) -> tensor<2x1024x64xf16>
  return %3 : tensor<2x1024x64xf16>
}

// An operation in a loop of the user is planned as well, by itself.
// CHECK-LABEL: @inside
// CHECK: scf.for
// CHECK:   scf.for
// CHECK:     spyre.exp
func.func @inside(%x: tensor<2x512x64xf16>) -> tensor<2x512x64xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %e = spyre.empty : () -> tensor<2x512x64xf16>
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%acc = %e) -> (tensor<2x512x64xf16>) {
    %a = spyre.slice %x[%i, 0, 0] : (tensor<2x512x64xf16>) -> tensor<1x512x64xf16>
    %b = spyre.exp %a : (tensor<1x512x64xf16>) -> tensor<1x512x64xf16>
    %n = spyre.insert_slice %b into %acc[%i, 0, 0] : (tensor<1x512x64xf16>, tensor<2x512x64xf16>) -> tensor<2x512x64xf16>
    scf.yield %n : tensor<2x512x64xf16>
  }
  return %r : tensor<2x512x64xf16>
}
