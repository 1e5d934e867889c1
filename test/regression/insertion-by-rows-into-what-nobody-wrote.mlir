// RUN: spyre check %s --cores 1 --seeds 2 | FileCheck %s
//
// An insertion that may end within a stick turns its destination, all of it, and writes it back; what nobody had
// written yet was read too. Now such a destination begins as zeros, though a loop carries it.
// CHECK: @main: same

func.func @main(%x: tensor<2x1x2xf16, #spyre.encoding<valid_shape = [2, 1, n]>>, %n: index {spyre.extent = "n", spyre.range = array<i64: 1, 2>}, %y: tensor<1x1x2xf16>) -> tensor<2x1x2xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %0 = spyre.empty : () -> tensor<2x1x2xf16>
  %1 = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %0) -> (tensor<2x1x2xf16>) {
    %s = spyre.slice %x[%i, 0, 0] : (tensor<2x1x2xf16, #spyre.encoding<valid_shape = [2, 1, n]>>) -> tensor<1x1x2xf16, #spyre.encoding<valid_shape = [1, 1, min(n, 2)]>>
    %w = spyre.insert_slice %s into %a[%i, 0, 0] : (tensor<1x1x2xf16, #spyre.encoding<valid_shape = [1, 1, min(n, 2)]>>, tensor<2x1x2xf16>) -> tensor<2x1x2xf16>
    %v = spyre.insert_slice %y into %w[%i, 0, 0] : (tensor<1x1x2xf16>, tensor<2x1x2xf16>) -> tensor<2x1x2xf16>
    scf.yield %v : tensor<2x1x2xf16>
  }
  return %1 : tensor<2x1x2xf16>
}
