// RUN: spyre-opt %s --spyre-check-program | FileCheck %s
//
// Nothing is changed: operations of the dialect in counted loops, declarations beside.

// CHECK-LABEL: func.func @f
// CHECK:         scf.for
// CHECK:           spyre.add
func.func @f(%x: tensor<4x64xf16>, %s: f16) -> tensor<4x64xf16> {
  %low = arith.constant 0 : index
  %high = arith.constant 8 : index
  %step = arith.constant 1 : index
  %r = scf.for %i = %low to %high step %step iter_args(%a = %x) -> tensor<4x64xf16> {
    %0 = spyre.add %a, %s : (tensor<4x64xf16>, f16) -> tensor<4x64xf16>
    scf.yield %0 : tensor<4x64xf16>
  }
  return %r : tensor<4x64xf16>
}

// CHECK: func.func private @g
func.func private @g(tensor<4xf64>)
