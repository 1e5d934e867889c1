// RUN: spyre-opt %s --pass-pipeline='builtin.module(func.func(spyre-assign-layouts,spyre-plan-span-overflow{span-limit=512}))' | FileCheck %s
//
// What stands before and behind an operation that no plan divides, and depends on it, was put into one group.
//
// CHECK: spyre.cast{{.*}}group = 0
// CHECK: spyre.sort
// CHECK: spyre.mul{{.*}}group = 1

func.func @main(%x: tensor<3x2x1xi32>) -> tensor<3x2x1xf32> {
  %0 = spyre.cast %x : (tensor<3x2x1xi32>) -> tensor<3x2x1xf32>
  %1 = spyre.sort %0 {dim = 0 : i64} : (tensor<3x2x1xf32>) -> tensor<3x2x1xf32>
  %2 = spyre.mul %1, %1 : (tensor<3x2x1xf32>, tensor<3x2x1xf32>) -> tensor<3x2x1xf32>
  return %2 : tensor<3x2x1xf32>
}
