// RUN: spyre-opt %s --pass-pipeline='builtin.module(spyre-to-sdsc)' | FileCheck %s
//
// An insertion of 3 rows at the start of a buffer of which 4 rows hold data ran over the 4: it read behind its source.

// CHECK: sdscbundle.sdsc @sdsc_1 "identity"
// CHECK-SAME: extents = array<i64: 3, 64>
#four = #spyre.encoding<valid_shape = [4, 64]>
func.func @insert(%x: tensor<3x64xf16>, %y: tensor<5x64xf16, #four>) -> tensor<5x64xf16, #four> {
  %0 = spyre.insert_slice %x into %y[0, 0] : (tensor<3x64xf16>, tensor<5x64xf16, #four>) -> tensor<5x64xf16, #four>
  return %0 : tensor<5x64xf16, #four>
}
