// RUN: spyre-opt %s --pass-pipeline='builtin.module(func.func(spyre-assign-layouts,spyre-plan-span-overflow{span-limit=8192 materialize=true},spyre-tile))' | FileCheck %s
//
// What is refused by default (plan-span-overflow-invalid.mlir) gets loops of its own over a full-size tensor.

// CHECK-LABEL: @open
// CHECK: %[[FULL:[0-9]+]] = scf.for
// CHECK:   spyre.exp
// CHECK: %[[T:[0-9]+]] = spyre.transpose %[[FULL]]
// CHECK: scf.for
// CHECK:   spyre.slice %[[T]]
// CHECK:   spyre.neg
// CHECK: return
func.func @open(%x: tensor<128x2x64xf16>) -> tensor<2x128x64xf16> {
  %0 = spyre.exp %x : (tensor<128x2x64xf16>) -> tensor<128x2x64xf16>
  %1 = spyre.transpose %0 {permutation = [1, 0, 2]} : (tensor<128x2x64xf16>) -> tensor<2x128x64xf16>
  %2 = spyre.neg %1 : (tensor<2x128x64xf16>) -> tensor<2x128x64xf16>
  return %2 : tensor<2x128x64xf16>
}

// CHECK-LABEL: @closed
// CHECK: scf.for
// CHECK:   spyre.exp
// CHECK: spyre.reshape
// CHECK: scf.for
// CHECK:   spyre.neg
// CHECK: return
func.func @closed(%x: tensor<1x128x64xf16>) -> tensor<128x64xf16> {
  %0 = spyre.exp %x : (tensor<1x128x64xf16>) -> tensor<1x128x64xf16>
  %1 = spyre.reshape %0 : (tensor<1x128x64xf16>) -> tensor<128x64xf16>
  %2 = spyre.neg %1 : (tensor<128x64xf16>) -> tensor<128x64xf16>
  return %2 : tensor<128x64xf16>
}
