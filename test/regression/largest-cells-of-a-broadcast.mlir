// RUN: spyre check %s --cores 1 | FileCheck %s
//
// A scan whose operand is replicated had several dims that its operand has not: which one counts was not to be told.
//
// CHECK: @main: same

func.func @main(%x: tensor<1x1x4x64xf16>, %y: tensor<4x1x64xf16>) -> (tensor<2x2x4x64xf16>, tensor<2x3x64xf16>) {
  %0 = spyre.broadcast %x : (tensor<1x1x4x64xf16>) -> tensor<2x2x4x64xf16>
  %values, %indices = spyre.topk %0 {dim = 2 : i64, k = 4 : i64} : (tensor<2x2x4x64xf16>) -> (tensor<2x2x4x64xf16>, tensor<2x2x4x64xf16>)
  %1 = spyre.broadcast %y : (tensor<4x1x64xf16>) -> tensor<4x2x64xf16>
  %2 = spyre.transpose %1 {permutation = [1, 0, 2]} : (tensor<4x2x64xf16>) -> tensor<2x4x64xf16>
  %largest, %places = spyre.topk %2 {dim = 1 : i64, k = 3 : i64} : (tensor<2x4x64xf16>) -> (tensor<2x3x64xf16>, tensor<2x3x64xf16>)
  return %values, %largest : tensor<2x2x4x64xf16>, tensor<2x3x64xf16>
}
