// RUN: spyre-opt %s --pass-pipeline='builtin.module(func.func(spyre-assign-layouts))' | FileCheck %s

// The default layout: host dim 1 outermost, sticks of the last dim, host dim 0 next to the stick.
// CHECK-LABEL: @default
// CHECK-SAME: tensor<50x10x200xf16, #spyre.encoding<layout = #spyre.layout<[10, 4, 50, 64] : [200, 64, 2000, 1]>>>
// CHECK: spyre.exp {{.*}} -> tensor<50x10x200xf16, #spyre.encoding<layout = #spyre.layout<[10, 4, 50, 64] : [200, 64, 2000, 1]>>>
// CHECK: return {{.*}} : tensor<50x10x200xf16, #spyre.encoding<layout = #spyre.layout<[10, 4, 50, 64] : [200, 64, 2000, 1]>>>
func.func @default(%x: tensor<50x10x200xf16>) -> tensor<50x10x200xf16> {
  %0 = spyre.exp %x : (tensor<50x10x200xf16>) -> tensor<50x10x200xf16>
  return %0 : tensor<50x10x200xf16>
}

// A layout that is written stays, and an elementwise result lies as its operand does.
// CHECK-LABEL: @kept
// CHECK: spyre.exp {{.*}} -> tensor<128x256xf16, #spyre.encoding<layout = #spyre.layout<[2, 256, 64] : [16384, 1, 256]>>>
func.func @kept(%x: tensor<128x256xf16, #spyre.encoding<layout = #spyre.layout<[2, 256, 64] : [16384, 1, 256]>>>) {
  %0 = spyre.exp %x : (tensor<128x256xf16, #spyre.encoding<layout = #spyre.layout<[2, 256, 64] : [16384, 1, 256]>>>) -> tensor<128x256xf16>
  return
}

// The valid region stays where a layout comes in; a loop carries one type.
// CHECK-LABEL: @loop
// CHECK: scf.for {{.*}} -> (tensor<128xf32, #spyre.encoding<layout = #spyre.layout<[4, 32] : [32, 1]>, valid_shape = [100]>>)
func.func @loop(%x: tensor<128xf32, #spyre.encoding<valid_shape = [100]>>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%y = %x) -> tensor<128xf32, #spyre.encoding<valid_shape = [100]>> {
    %0 = spyre.exp %y : (tensor<128xf32, #spyre.encoding<valid_shape = [100]>>) -> tensor<128xf32, #spyre.encoding<valid_shape = [100]>>
    scf.yield %0 : tensor<128xf32, #spyre.encoding<valid_shape = [100]>>
  }
  return
}

// CHECK-LABEL: @declaration
func.func private @declaration(tensor<8x8xf16>)
