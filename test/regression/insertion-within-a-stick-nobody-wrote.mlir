// RUN: spyre check %s --cores 1 --seeds 2 | FileCheck %s
//
// An insertion that ends within a stick read the lanes behind it, which nobody had written yet, and wrote them again.
// CHECK: @main: same

func.func @main(%y: tensor<3x4x40xf16>) -> tensor<3x4x40xf16> {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c1 = arith.constant 1 : index
  %0 = spyre.empty : () -> tensor<3x4x40xf16>
  %1 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %0) -> (tensor<3x4x40xf16>) {
    %s = spyre.slice %y[%i, 0, 0] : (tensor<3x4x40xf16>) -> tensor<1x4x20xf16>
    %t = spyre.slice %y[%i, 0, 20] : (tensor<3x4x40xf16>) -> tensor<1x4x20xf16>
    %p = spyre.insert_slice %s into %a[%i, 0, 0] : (tensor<1x4x20xf16>, tensor<3x4x40xf16>) -> tensor<3x4x40xf16>
    %q = spyre.insert_slice %t into %p[%i, 0, 20] : (tensor<1x4x20xf16>, tensor<3x4x40xf16>) -> tensor<3x4x40xf16>
    scf.yield %q : tensor<3x4x40xf16>
  }
  return %1 : tensor<3x4x40xf16>
}
