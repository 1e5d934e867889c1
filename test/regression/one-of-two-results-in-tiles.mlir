// RUN: spyre-opt %s --pass-pipeline='builtin.module(spyre-to-sdsc{span-limit=65536 cores=1})' | FileCheck %s

// Of two results in tiles each is computed by an operation of its own, whose other result is written nowhere.
// CHECK: scf.for
// CHECK: launch @sdsc_0
// CHECK: scf.for
// CHECK: launch @sdsc_1
// CHECK: @sdsc_0 "topkvalue"
// CHECK: @sdsc_1 "topkindex"
func.func @main(%x: tensor<64x20x64xf32>) -> (tensor<4x20x64xf32>, tensor<4x20x64xf32>) {
  %v, %i = spyre.topk %x {k = 4, dim = 0} : (tensor<64x20x64xf32>) -> (tensor<4x20x64xf32>, tensor<4x20x64xf32>)
  return %v, %i : tensor<4x20x64xf32>, tensor<4x20x64xf32>
}
