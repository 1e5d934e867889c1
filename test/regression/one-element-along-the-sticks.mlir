// RUN: spyre-opt %s --pass-pipeline='builtin.module(spyre-to-sdsc{cores=2})' --split-input-file | FileCheck %s
//
// Operands of which one element lies along the sticks were given a form that the files cannot state (no dim in the
// stick), or that reads behind them (sticks of different widths). What chooses one element has no dim to choose along.
// They are given whole sticks, or become operations that need none.

// CHECK-LABEL: module
// CHECK: "mul" on
func.func @product(%x: tensor<2x1xf16>, %y: tensor<1x1xf16>) -> tensor<2x1xf16> {
  %0 = spyre.batch_matmul %x, %y : (tensor<2x1xf16>, tensor<1x1xf16>) -> tensor<2x1xf16>
  return %0 : tensor<2x1xf16>
}

// -----

// CHECK-LABEL: module
// CHECK: "batchmatmul" on
func.func @column(%x: tensor<2x64xf16>, %y: tensor<64x1xf16>) -> tensor<2x1xf16> {
  %0 = spyre.batch_matmul %x, %y : (tensor<2x64xf16>, tensor<64x1xf16>) -> tensor<2x1xf16>
  return %0 : tensor<2x1xf16>
}

// -----

// CHECK-LABEL: module
// CHECK: "dl16tofp32" on
func.func @wider(%x: tensor<4x3x1xf16>) -> tensor<4x3x1xf32> {
  %0 = spyre.cast %x : (tensor<4x3x1xf16>) -> tensor<4x3x1xf32>
  return %0 : tensor<4x3x1xf32>
}

// -----

// CHECK-LABEL: module
// CHECK: "fp32todl16" on
func.func @narrower(%x: tensor<4x3x1xf32>) -> tensor<4x3x1xf16> {
  %0 = spyre.cast %x : (tensor<4x3x1xf32>) -> tensor<4x3x1xf16>
  return %0 : tensor<4x3x1xf16>
}

// -----

// CHECK-LABEL: module
// CHECK: "topkvalue" on
func.func @choice(%x: tensor<16x65xf16>) -> tensor<1x65xf16> {
  %0, %1 = spyre.topk %x {dim = 0 : i64, k = 1 : i64} : (tensor<16x65xf16>) -> (tensor<1x65xf16>, tensor<1x65xf16>)
  return %0 : tensor<1x65xf16>
}
