// RUN: spyre-opt %s --pass-pipeline='builtin.module(func.func(spyre-assign-layouts,spyre-tile))' --split-input-file --verify-diagnostics | FileCheck %s
//
// A hint that divided a reduction dim gave a loop in which every tile wrote over the one before.

// CHECK-LABEL: @sum
// CHECK: scf.for {{.*}} iter_args(%[[ACC:[a-z0-9]+]] =
// CHECK: spyre.add %[[ACC]]
func.func @sum(%x: tensor<8x40x64xf16>) -> tensor<8x64xf16> {
  %0 = spyre.sum %x {dims = [1], spyre.tile = #spyre.tile_plan<origin = hint, group = 0, levels = [reduction(0) 4]>} : (tensor<8x40x64xf16>) -> tensor<8x64xf16>
  return %0 : tensor<8x64xf16>
}

// -----

func.func @view(%x: tensor<8x40xf16>) -> tensor<8x40xf16> {
  // expected-error @+1 {{SPY045: 'spyre.slice' computes nothing that a plan could divide}}
  %0 = spyre.slice %x[0, 0] {spyre.tile = #spyre.tile_plan<origin = hint, group = 0, levels = [parallel(0) 4]>} : (tensor<8x40xf16>) -> tensor<8x40xf16>
  return %0 : tensor<8x40xf16>
}
