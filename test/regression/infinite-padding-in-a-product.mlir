// RUN: spyre-opt %s --pass-pipeline='builtin.module(func.func(spyre-decompose-operations))' | FileCheck %s
//
// A product reads whole sticks of its first factor, against zeros in the second. Where what lies behind the cells of the
// first one was computed, it could be an infinity, and infinity times zero is no number.

// The logarithm of padding: filled with zeros.
// CHECK-LABEL: @logarithm
// CHECK: %[[LOG:.*]] = spyre.log
// CHECK: %[[ZEROS:.*]] = spyre.full
// CHECK: %[[FILLED:.*]] = spyre.insert_slice %[[LOG]] into %[[ZEROS]][0, 0] : (tensor<8x70xf16>, tensor<8x128xf16>) -> tensor<8x128xf16>
// CHECK: %[[CUT:.*]] = spyre.slice %[[FILLED]][0, 0]
// CHECK: %[[SAME:.*]] = spyre.set_valid_shape %[[CUT]] [8, 70]
// CHECK: spyre.batch_matmul %[[SAME]],
func.func @logarithm(%x: tensor<8x70xf16>, %w: tensor<70x64xf16>) -> tensor<8x64xf16> {
  %0 = spyre.log %x : (tensor<8x70xf16>) -> tensor<8x70xf16>
  %1 = spyre.batch_matmul %0, %w : (tensor<8x70xf16>, tensor<70x64xf16>) -> tensor<8x64xf16>
  return %1 : tensor<8x64xf16>
}

// Cells that left the valid region may hold anything.
// CHECK-LABEL: @narrowed
// CHECK: %[[NARROW:.*]] = spyre.set_valid_shape
// CHECK: %[[FILLED:.*]] = spyre.insert_slice %[[NARROW]] into %{{.*}}[0, 0] : (tensor<8x128xf16, {{.*}}>, tensor<8x128xf16>) -> tensor<8x128xf16>
// CHECK: %[[SAME:.*]] = spyre.set_valid_shape %{{.*}} [8, 70]
// CHECK: spyre.batch_matmul %[[SAME]],
#part = #spyre.encoding<valid_shape = [8, 70]>
#depth = #spyre.encoding<valid_shape = [70, 64]>
func.func @narrowed(%x: tensor<8x128xf16>, %w: tensor<128x64xf16, #depth>) -> tensor<8x64xf16> {
  %0 = spyre.set_valid_shape %x [8, 70] : (tensor<8x128xf16>) -> tensor<8x128xf16, #part>
  %1 = spyre.batch_matmul %0, %w : (tensor<8x128xf16, #part>, tensor<128x64xf16, #depth>) -> tensor<8x64xf16>
  return %1 : tensor<8x64xf16>
}

// Softmax: the exponential is masked to zeros, and stays zero when divided by what is in a column.
// CHECK-LABEL: @weights
// CHECK: %[[DIV:.*]] = spyre.div
// CHECK: spyre.batch_matmul %[[DIV]],
func.func @weights(%x: tensor<8x70xf16>, %sum: tensor<8x1xf16>, %w: tensor<70x64xf16>) -> tensor<8x64xf16> {
  %0 = spyre.log %x : (tensor<8x70xf16>) -> tensor<8x70xf16>
  %1 = spyre.exp %0 : (tensor<8x70xf16>) -> tensor<8x70xf16>
  %2 = spyre.div %1, %sum : (tensor<8x70xf16>, tensor<8x1xf16>) -> tensor<8x70xf16>
  %3 = spyre.batch_matmul %2, %w : (tensor<8x70xf16>, tensor<70x64xf16>) -> tensor<8x64xf16>
  return %3 : tensor<8x64xf16>
}

// Arguments have zeros in their padding, and so has what is computed of zeros.
// CHECK-LABEL: @argument
// CHECK: %[[SUM:.*]] = spyre.add
// CHECK: spyre.batch_matmul %[[SUM]],
func.func @argument(%x: tensor<8x70xf16>, %y: tensor<8x70xf16>, %w: tensor<70x64xf16>) -> tensor<8x64xf16> {
  %0 = spyre.add %x, %y : (tensor<8x70xf16>, tensor<8x70xf16>) -> tensor<8x70xf16>
  %1 = spyre.batch_matmul %0, %w : (tensor<8x70xf16>, tensor<70x64xf16>) -> tensor<8x64xf16>
  return %1 : tensor<8x64xf16>
}
