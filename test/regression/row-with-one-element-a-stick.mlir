// RUN: not spyre compile %s --cores 1 -o %t 2>&1 | FileCheck %s
//
// A row that lay with one element a stick was read as if it lay along one: all but its first element were others.
//
// CHECK: SPY098: operand 0 of identity holds one element a stick where others hold many

func.func @main(%x: tensor<12x63xf16>, %y: tensor<12x63xf16>) -> tensor<1x63xf16> {
  %1 = spyre.transpose %x {permutation = [1, 0]} : (tensor<12x63xf16>) -> tensor<63x12xf16>
  %2 = spyre.slice %1[18, 0] : (tensor<63x12xf16>) -> tensor<1x12xf16>
  %3 = spyre.batch_matmul %2, %y : (tensor<1x12xf16>, tensor<12x63xf16>) -> tensor<1x63xf16>
  return %3 : tensor<1x63xf16>
}
