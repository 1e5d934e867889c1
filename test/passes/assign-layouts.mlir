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

// The second factor of a product is read with the generated dim on its sticks: the weight is turned, before it is
// transposed, once for both products.
// CHECK-LABEL: @linear(
// CHECK: %[[TURNED:.*]] = spyre.restickify %arg0 : {{.*}} -> tensor<128x64xf16, #spyre.encoding<layout = #spyre.layout<[2, 64, 64] : [4096, 1, 64]>>>
// CHECK: %[[WEIGHT:.*]] = spyre.transpose %[[TURNED]] {{.*}} -> tensor<64x128xf16, #spyre.encoding<layout = #spyre.layout<[2, 64, 64] : [64, 128, 1]>>>
// CHECK: spyre.batch_matmul %arg1, %[[WEIGHT]]
// CHECK-NOT: spyre.restickify
// CHECK: spyre.batch_matmul %arg2, %[[WEIGHT]]
func.func @linear(%w: tensor<128x64xf16>, %x: tensor<4x64xf16>, %y: tensor<8x64xf16>) -> (tensor<4x128xf16>, tensor<8x128xf16>) {
  %t = spyre.transpose %w {permutation = [1, 0]} : (tensor<128x64xf16>) -> tensor<64x128xf16>
  %0 = spyre.batch_matmul %x, %t : (tensor<4x64xf16>, tensor<64x128xf16>) -> tensor<4x128xf16>
  %1 = spyre.batch_matmul %y, %t : (tensor<8x64xf16>, tensor<64x128xf16>) -> tensor<8x128xf16>
  return %0, %1 : tensor<4x128xf16>, tensor<8x128xf16>
}

// A piece has its buffer's layout; a result is a buffer of its own.
// CHECK-LABEL: @piece(
// CHECK-SAME: -> tensor<64x64xf16, #spyre.encoding<layout = #spyre.layout<[1, 64, 64] : [64, 64, 1]>>>
// CHECK: %[[PIECE:.*]] = spyre.slice %arg0{{.*}} -> tensor<64x64xf16, #spyre.encoding<layout = #spyre.layout<[4, 64, 64] : [64, 256, 1]>, window>>
// CHECK: spyre.identity %[[PIECE]]
func.func @piece(%x: tensor<64x256xf16>) -> tensor<64x64xf16> {
  %0 = spyre.slice %x[0, 64] : (tensor<64x256xf16>) -> tensor<64x64xf16>
  return %0 : tensor<64x64xf16>
}

// One value a stick is what the device leaves of a reduced stick dim.
// CHECK-LABEL: @sparse(
// CHECK: spyre.sum {{.*}} -> tensor<64xf16, #spyre.encoding<layout = #spyre.layout<[1, 64, 64] : [-1, 1, -1]>>>
func.func @sparse(%x: tensor<64x256xf16>) -> tensor<64xf16> {
  %0 = spyre.sum %x {dims = [1]} : (tensor<64x256xf16>) -> tensor<64xf16>
  return %0 : tensor<64xf16>
}

// A dim that ends within a stick is turned in a buffer that has whole ones.
// CHECK-LABEL: @turned(
// CHECK: %[[BUFFER:.*]] = spyre.empty {{.*}} -> tensor<128x128xf16, {{.*}}valid_shape = [100, 70]>>
// CHECK: %[[COPY:.*]] = spyre.insert_slice %arg1 into %[[BUFFER]]
// CHECK: %[[TURNED:.*]] = spyre.restickify %[[COPY]]
// CHECK: %[[PIECE:.*]] = spyre.slice %[[TURNED]][0, 0]
// CHECK: %[[SEEN:.*]] = spyre.transpose %[[PIECE]]
// CHECK: spyre.add %arg0, %[[SEEN]]
func.func @turned(%x: tensor<70x100xf16>, %y: tensor<100x70xf16>) -> tensor<70x100xf16> {
  %0 = spyre.transpose %y {permutation = [1, 0]} : (tensor<100x70xf16>) -> tensor<70x100xf16>
  %1 = spyre.add %x, %0 : (tensor<70x100xf16>, tensor<70x100xf16>) -> tensor<70x100xf16>
  return %1 : tensor<70x100xf16>
}
