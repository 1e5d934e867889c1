// RUN: spyre-opt %s --pass-pipeline='builtin.module(func.func(spyre-assign-layouts,spyre-plan-span-overflow{span-limit=8192},spyre-tile))' | FileCheck %s
//
// Plans and tiling together on small limits, so that every loop and remainder runs in the interpreter as well.

// The valid box is divided, not the shape; full tiles have one literal region.
// CHECK-LABEL: @partial
// CHECK: scf.for
// CHECK: spyre.exp {{.*}} -> tensor<{{[0-9]+}}x{{[0-9]+}}xf16
func.func @partial(%x: tensor<128x256xf16, #spyre.encoding<valid_shape = [100, 200]>>) -> tensor<128x256xf16, #spyre.encoding<valid_shape = [100, 200]>> {
  %0 = spyre.exp %x : (tensor<128x256xf16, #spyre.encoding<valid_shape = [100, 200]>>) -> tensor<128x256xf16, #spyre.encoding<valid_shape = [100, 200]>>
  return %0 : tensor<128x256xf16, #spyre.encoding<valid_shape = [100, 200]>>
}

// A reduction joins the run that it reads: one loop, a compact tile between.
// CHECK-LABEL: @chain_into_reduction
// CHECK: scf.for
// CHECK: spyre.exp
// CHECK: spyre.sum
// CHECK-NOT: scf.for
// CHECK: return
func.func @chain_into_reduction(%x: tensor<1x40x16x64xf16>) -> tensor<1x40x64xf16> {
  %0 = spyre.exp %x : (tensor<1x40x16x64xf16>) -> tensor<1x40x16x64xf16>
  %1 = spyre.sum %0 {dims = [2]} : (tensor<1x40x16x64xf16>) -> tensor<1x40x64xf16>
  return %1 : tensor<1x40x64xf16>
}

// A sum over host dim 0 is cut along what its input spans.
// CHECK-LABEL: @input_span
// CHECK: scf.for
// CHECK: spyre.sum
func.func @input_span(%x: tensor<2x20x16x64xf16>) -> tensor<20x16x64xf16> {
  %0 = spyre.sum %x {dims = [0]} : (tensor<2x20x16x64xf16>) -> tensor<20x16x64xf16>
  return %0 : tensor<20x16x64xf16>
}

// A prime extent: equal full tiles, and a last smaller one.
// CHECK-LABEL: @prime
// CHECK: scf.for
// CHECK: }
// CHECK: spyre.neg
func.func @prime(%x: tensor<3x193x64xf16>) -> tensor<3x193x64xf16> {
  %0 = spyre.neg %x : (tensor<3x193x64xf16>) -> tensor<3x193x64xf16>
  return %0 : tensor<3x193x64xf16>
}

// A write into a buffer that an argument owns goes into a copy, in tiles too, and is planned as what it touches there.
// CHECK-LABEL: @mutation
// CHECK-SAME: %{{.*}}, %[[Y:[a-z0-9]+]]: tensor<2x40x16x64xf16
// CHECK: %[[COPY:[0-9]+]] = scf.for
// CHECK: %[[PART:.+]] = spyre.slice %[[Y]]
// CHECK: spyre.identity %[[PART]]
// CHECK-NOT: spyre.empty
// CHECK: scf.for %[[I:[a-z0-9]+]] = {{.*}} iter_args(%[[ACC:[a-z0-9]+]] = %[[COPY]])
// CHECK: %[[T:.+]] = spyre.slice
// CHECK: spyre.insert_slice %[[T]] into %[[ACC]][1, %[[I]], 0, 0]
func.func @mutation(%x: tensor<1x40x16x64xf16>, %y: tensor<2x40x16x64xf16>) -> tensor<2x40x16x64xf16> {
  %0 = spyre.insert_slice %x into %y[1, 0, 0, 0] : (tensor<1x40x16x64xf16>, tensor<2x40x16x64xf16>) -> tensor<2x40x16x64xf16>
  return %0 : tensor<2x40x16x64xf16>
}

// A product of matrices is cut along its columns.
// CHECK-LABEL: @matmul
// CHECK: scf.for
// CHECK: spyre.batch_matmul
func.func @matmul(%x: tensor<8x64xf16>, %y: tensor<64x512xf16>) -> tensor<8x512xf16> {
  %0 = spyre.batch_matmul %x, %y : (tensor<8x64xf16>, tensor<64x512xf16>) -> tensor<8x512xf16>
  return %0 : tensor<8x512xf16>
}

// Two readers of one tensor, both within its loop.
// CHECK-LABEL: @two_readers
// CHECK: scf.for
// CHECK: spyre.exp
// CHECK: spyre.neg
// CHECK: spyre.abs
// CHECK-NOT: scf.for
// CHECK: return
func.func @two_readers(%x: tensor<1x40x16x64xf16>) -> (tensor<1x40x16x64xf16>, tensor<1x40x16x64xf16>) {
  %0 = spyre.exp %x : (tensor<1x40x16x64xf16>) -> tensor<1x40x16x64xf16>
  %1 = spyre.neg %0 : (tensor<1x40x16x64xf16>) -> tensor<1x40x16x64xf16>
  %2 = spyre.abs %0 : (tensor<1x40x16x64xf16>) -> tensor<1x40x16x64xf16>
  return %1, %2 : tensor<1x40x16x64xf16>, tensor<1x40x16x64xf16>
}

// A window that begins inside the tiled dim moves with the loop.
// CHECK-LABEL: @shifted
// CHECK: scf.for %[[I:[a-z0-9]+]] =
// CHECK: %[[AT:.+]] = arith.addi %[[I]], %{{.*}} : index
// CHECK: spyre.insert_slice %{{.*}} into %{{.*}}[0, %[[AT]], 0, 0]
func.func @shifted(%x: tensor<1x40x16x64xf16>, %y: tensor<1x50x16x64xf16>) -> tensor<1x50x16x64xf16> {
  %0 = spyre.insert_slice %x into %y[0, 7, 0, 0] : (tensor<1x40x16x64xf16>, tensor<1x50x16x64xf16>) -> tensor<1x50x16x64xf16>
  return %0 : tensor<1x50x16x64xf16>
}
