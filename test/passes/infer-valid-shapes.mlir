// RUN: spyre-opt %s --split-input-file --pass-pipeline='builtin.module(spyre-infer-valid-shapes,spyre-verify-valid-regions)' | FileCheck %s

// Regions and pads are derived, in order; the signature follows what is returned.

#part = #spyre.encoding<valid_shape = [5, 16], pad = zero>
// CHECK-LABEL: func.func @straight
// CHECK-SAME: -> tensor<1x8xf16, #spyre.encoding<valid_shape = [1, 5]>>
func.func @straight(%x: tensor<8x16xf16, #part>) -> tensor<1x8xf16> {
  // A computed result promises no pad.
  // CHECK: spyre.exp {{.*}} -> tensor<8x16xf16, #spyre.encoding<valid_shape = [5, 16]>>
  %0 = spyre.exp %x : (tensor<8x16xf16, #part>) -> tensor<8x16xf16>
  // CHECK: spyre.sum {{.*}} -> tensor<8x1xf16, #spyre.encoding<valid_shape = [5, 1]>>
  %1 = spyre.sum %0 {dims = [1], keep_dims = true} : (tensor<8x16xf16>) -> tensor<8x1xf16>
  // CHECK: spyre.transpose {{.*}} -> tensor<1x8xf16, #spyre.encoding<valid_shape = [1, 5]>>
  %2 = spyre.transpose %1 {permutation = [1, 0]} : (tensor<8x1xf16>) -> tensor<1x8xf16>
  return %2 : tensor<1x8xf16>
}

// -----

// A region written wrongly on an operation is replaced; layouts stay as they are.

// CHECK-LABEL: func.func @replaced
func.func @replaced(%x: tensor<8x64xf16, #spyre.encoding<layout = #spyre.layout<[1, 8, 64] : [64, 64, 1]>, valid_shape = [4, 64]>>) {
  // CHECK: spyre.exp {{.*}} -> tensor<8x64xf16, #spyre.encoding<valid_shape = [4, 64]>>
  %0 = spyre.exp %x : (tensor<8x64xf16, #spyre.encoding<layout = #spyre.layout<[1, 8, 64] : [64, 64, 1]>, valid_shape = [4, 64]>>) -> tensor<8x64xf16, #spyre.encoding<valid_shape = [2, 64]>>
  return
}

// -----

// Callees are inferred before their callers; a loop carries its initial value's type; branches meet in one
// spelling, and a value that is valid over an equal region takes it.

#n = #spyre.encoding<valid_shape = [n, 16]>
// CHECK-LABEL: func.func @caller
func.func @caller(%n: index {spyre.extent = "n"}, %x: tensor<8x16xf16, #n>, %c: i1) -> tensor<8x16xf16> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c1 = arith.constant 1 : index
  // CHECK: call @callee({{.*}}) : (index, {{.*}}) -> tensor<8x16xf16, #spyre.encoding<valid_shape = [n, 16]>>
  %0 = func.call @callee(%n, %x) : (index, tensor<8x16xf16, #n>) -> tensor<8x16xf16>
  // CHECK: scf.for {{.*}} -> (tensor<8x16xf16, #spyre.encoding<valid_shape = [n, 16]>>)
  %1 = scf.for %i = %c0 to %c4 step %c1 iter_args(%v = %0) -> tensor<8x16xf16> {
    %2 = spyre.exp %v : (tensor<8x16xf16>) -> tensor<8x16xf16>
    scf.yield %2 : tensor<8x16xf16>
  }
  // CHECK: scf.if {{.*}} -> (tensor<8x16xf16, #spyre.encoding<valid_shape = [min(n, 8), 16]>>)
  %3 = scf.if %c -> tensor<8x16xf16> {
    // CHECK: %[[EXP:.+]] = spyre.exp {{.*}} -> tensor<8x16xf16, #spyre.encoding<valid_shape = [n, 16]>>
    // CHECK: %[[SAME:.+]] = spyre.set_valid_shape %[[EXP]] [min(n, 8), 16]
    // CHECK: scf.yield %[[SAME]]
    %2 = spyre.exp %1 : (tensor<8x16xf16>) -> tensor<8x16xf16>
    scf.yield %2 : tensor<8x16xf16>
  } else {
    %4 = spyre.set_valid_shape %1 [min(n, 8), 16] : (tensor<8x16xf16>) -> tensor<8x16xf16, #spyre.encoding<valid_shape = [min(n, 8), 16]>>
    %5 = spyre.neg %4 : (tensor<8x16xf16, #spyre.encoding<valid_shape = [min(n, 8), 16]>>) -> tensor<8x16xf16>
    scf.yield %5 : tensor<8x16xf16>
  }
  return %3 : tensor<8x16xf16>
}
// CHECK-LABEL: func.func private @callee
// CHECK-SAME: -> tensor<8x16xf16, #spyre.encoding<valid_shape = [n, 16]>>
func.func private @callee(%n: index {spyre.extent = "n"}, %x: tensor<8x16xf16, #n>) -> tensor<8x16xf16> {
  %0 = spyre.exp %x : (tensor<8x16xf16, #n>) -> tensor<8x16xf16>
  return %0 : tensor<8x16xf16>
}

// -----

// The induction variable decides what a window sees, and no type names it: rows 0, 2, 4 are inside the 6 valid ones.

// CHECK-LABEL: func.func @windows
func.func @windows(%x: tensor<8x16xf16, #spyre.encoding<valid_shape = [6, 16]>>) -> tensor<8x16xf16, #spyre.encoding<valid_shape = [6, 16]>> {
  %c0 = arith.constant 0 : index
  %c6 = arith.constant 6 : index
  %c2 = arith.constant 2 : index
  %e = spyre.empty : () -> tensor<8x16xf16, #spyre.encoding<valid_shape = [6, 16]>>
  %0 = scf.for %i = %c0 to %c6 step %c2 iter_args(%v = %e) -> tensor<8x16xf16, #spyre.encoding<valid_shape = [6, 16]>> {
    // CHECK: spyre.slice {{.*}} -> tensor<2x16xf16>
    %1 = spyre.slice %x[%i, 0] : (tensor<8x16xf16, #spyre.encoding<valid_shape = [6, 16]>>) -> tensor<2x16xf16>
    %2 = spyre.exp %1 : (tensor<2x16xf16>) -> tensor<2x16xf16>
    %3 = spyre.insert_slice %2 into %v[%i, 0] : (tensor<2x16xf16>, tensor<8x16xf16, #spyre.encoding<valid_shape = [6, 16]>>) -> tensor<8x16xf16, #spyre.encoding<valid_shape = [6, 16]>>
    scf.yield %3 : tensor<8x16xf16, #spyre.encoding<valid_shape = [6, 16]>>
  }
  return %0 : tensor<8x16xf16, #spyre.encoding<valid_shape = [6, 16]>>
}
