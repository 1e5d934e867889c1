// RUN: spyre-opt %s --pass-pipeline='builtin.module(func.func(spyre-decompose-operations))' | FileCheck %s

!t = tensor<64x128xf16>

// CHECK-LABEL: @addsc(
// CHECK: %[[SUM:.*]] = spyre.add %arg0, %{{.*}} : (tensor<64x128xf16>, f16)
// CHECK: %[[ALL:.*]] = spyre.add %[[SUM]], %arg1
// CHECK: return %[[ALL]]
func.func @addsc(%x: !t, %y: !t) -> !t {
  %c = arith.constant 2.0 : f16
  %0 = spyre.addsc %x, %c, %y : (!t, f16, !t) -> !t
  return %0 : !t
}

// CHECK-LABEL: @subc(
// CHECK: %[[DIFFERENCE:.*]] = spyre.sub %arg0, %arg1
// CHECK: spyre.add %[[DIFFERENCE]], %arg2
func.func @subc(%x: !t, %y: !t, %z: !t) -> !t {
  %0 = spyre.subc %x, %y, %z : (!t, !t, !t) -> !t
  return %0 : !t
}

// CHECK-LABEL: @matmul_acc(
// CHECK: %[[PRODUCT:.*]] = spyre.batch_matmul %arg1, %arg2
// CHECK: spyre.add %arg0, %[[PRODUCT]]
func.func @matmul_acc(%a: tensor<4x8xf32>, %x: tensor<4x64xf32>, %y: tensor<64x8xf32>) -> tensor<4x8xf32> {
  %0 = spyre.matmul_acc %a, %x, %y : (tensor<4x8xf32>, tensor<4x64xf32>, tensor<64x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// One copy for each operand, into one buffer.
// CHECK-LABEL: @concat(
// CHECK: %[[EMPTY:.*]] = spyre.empty
// CHECK: %[[FIRST:.*]] = spyre.insert_slice %arg0 into %[[EMPTY]][0, 0]
// CHECK: %[[BOTH:.*]] = spyre.insert_slice %arg1 into %[[FIRST]][0, 128]
// CHECK: return %[[BOTH]]
func.func @concat(%x: !t, %y: !t) -> tensor<64x256xf16> {
  %0 = spyre.concat %x, %y {dim = 1 : i64} : (!t, !t) -> tensor<64x256xf16>
  return %0 : tensor<64x256xf16>
}

// CHECK-LABEL: @fillpad(
// CHECK: %[[FULL:.*]] = spyre.full %{{.*}} -> tensor<8x128xf16>
// CHECK: spyre.insert_slice %arg0 into %[[FULL]][0, 0]
func.func @fillpad(%x: tensor<8x128xf16, #spyre.encoding<valid_shape = [5, 128]>>) -> tensor<8x128xf16> {
  %0 = spyre.fillpad %x {pad = "zero"} : (tensor<8x128xf16, #spyre.encoding<valid_shape = [5, 128]>>) -> tensor<8x128xf16>
  return %0 : tensor<8x128xf16>
}

// A scan for each result that is used.
// CHECK-LABEL: @topk(
// CHECK: %[[VALUES:.*]], %{{.*}} = spyre.topk %arg0
// CHECK: %{{.*}}, %[[INDICES:.*]] = spyre.topk %arg0
// CHECK: return %[[VALUES]], %[[INDICES]]
func.func @topk(%x: !t) -> (tensor<64x4xf16>, tensor<64x4xf16>) {
  %0, %1 = spyre.topk %x {k = 4 : i64, dim = 1 : i64} : (!t) -> (tensor<64x4xf16>, tensor<64x4xf16>)
  return %0, %1 : tensor<64x4xf16>, tensor<64x4xf16>
}

// The reduced dim ends within a stick: zeros stand behind it.
// CHECK-LABEL: @unaligned(
// CHECK: %[[BUFFER:.*]] = spyre.empty {{.*}} -> tensor<128x64xf16>
// CHECK: %[[ZEROS:.*]] = spyre.full {{.*}} -> tensor<64x64xf16>
// CHECK: %[[BEHIND:.*]] = spyre.insert_slice %[[ZEROS]] into %[[BUFFER]][64, 0]
// CHECK: %[[WHOLE:.*]] = spyre.insert_slice %arg1 into %[[BEHIND]][0, 0]
// CHECK: %[[FACTOR:.*]] = spyre.slice %[[WHOLE]][0, 0]
// CHECK: spyre.batch_matmul %arg0, %[[FACTOR]]
func.func @unaligned(%x: tensor<4x100xf16>, %y: tensor<100x64xf16>) -> tensor<4x64xf16> {
  %0 = spyre.batch_matmul %x, %y : (tensor<4x100xf16>, tensor<100x64xf16>) -> tensor<4x64xf16>
  return %0 : tensor<4x64xf16>
}
