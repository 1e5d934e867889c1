// RUN: spyre-opt %s --pass-pipeline='builtin.module(func.func(spyre-assign-layouts,spyre-plan-span-overflow))' | FileCheck %s
// RUN: spyre-opt %s --pass-pipeline='builtin.module(func.func(spyre-assign-layouts,spyre-plan-span-overflow{enabled=false}))' | FileCheck %s --check-prefix=OFF
// RUN: spyre-opt %s --pass-pipeline='builtin.module(func.func(spyre-assign-layouts,spyre-plan-span-overflow,spyre-plan-span-overflow))' | FileCheck %s

// OFF-NOT: origin = auto

// One dim overflows by 102 400 bytes: 8195 steps of 32 768 bytes.
// CHECK-LABEL: @overflow
// CHECK: spyre.add {{.*}} {spyre.tile = #spyre.tile_plan<origin = auto, group = 0, levels = [parallel(1) 5 x 1639], reason = "span of result, lhs, rhs">}
func.func @overflow(%x: tensor<1x8195x256x64xf16>) {
  %0 = spyre.add %x, %x : (tensor<1x8195x256x64xf16>, tensor<1x8195x256x64xf16>) -> tensor<1x8195x256x64xf16>
  return
}

// One row less fits.
// CHECK-LABEL: @fits
// CHECK-NOT: spyre.tile
func.func @fits(%x: tensor<1x8191x256x64xf16>) {
  %0 = spyre.exp %x : (tensor<1x8191x256x64xf16>) -> tensor<1x8191x256x64xf16>
  return
}

// Exactly 256 MiB is 4096 bytes over the limit.
// CHECK-LABEL: @power_of_two
// CHECK: levels = [parallel(1) 2 x 4096]
func.func @power_of_two(%x: tensor<1x8192x256x64xf16>) {
  %0 = spyre.exp %x : (tensor<1x8192x256x64xf16>) -> tensor<1x8192x256x64xf16>
  return
}

// A sum over the stick dim leaves one value a stick; the other dims can still be cut.
// CHECK-LABEL: @sparse_result
// CHECK: spyre.sum {{.*}}spyre.tile = #spyre.tile_plan<origin = auto, group = 0, levels = [parallel(
func.func @sparse_result(%x: tensor<1x8195x256x64xf16>) {
  %0 = spyre.sum %x {dims = [3]} : (tensor<1x8195x256x64xf16>) -> tensor<1x8195x256xf16>
  return
}

// A hint wins.
// CHECK-LABEL: @hint
// CHECK: spyre.exp {{.*}}origin = hint, group = 0, levels = [parallel(h) 11]
func.func @hint(%x: tensor<1x8195x256x64xf16>) {
  %0 = spyre.exp %x {spyre.dims = ["b", "h", "l", "d"], spyre.tile = #spyre.tile_plan<origin = hint, group = 0, levels = [parallel(h) 11]>} : (tensor<1x8195x256x64xf16>) -> tensor<1x8195x256x64xf16>
  return
}

// A chain shares one loop: equal plans, one group.
// CHECK-LABEL: @chain
// CHECK: spyre.exp {{.*}}group = [[G:[0-9]+]], levels = [parallel(1) 5 x 1639]
// CHECK: spyre.neg {{.*}}group = [[G]], levels = [parallel(1) 5 x 1639]
func.func @chain(%x: tensor<1x8195x256x64xf16>) -> tensor<1x8195x256x64xf16> {
  %0 = spyre.exp %x : (tensor<1x8195x256x64xf16>) -> tensor<1x8195x256x64xf16>
  %1 = spyre.neg %0 : (tensor<1x8195x256x64xf16>) -> tensor<1x8195x256x64xf16>
  return %1 : tensor<1x8195x256x64xf16>
}
