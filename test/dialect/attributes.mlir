// RUN: spyre-opt %s | spyre-opt | FileCheck %s
// RUN: spyre-opt %s --mlir-print-op-generic | spyre-opt | FileCheck %s
// RUN: spyre-opt %s --emit-bytecode | spyre-opt | FileCheck %s
// RUN: spyre-opt %s --verify-roundtrip

#rows = #spyre.layout<[1, 8195, 256, 64] : [64, 16384, 64, 1]>

// CHECK-LABEL: @encodings
// CHECK-SAME: tensor<8195x256x64xf16, #spyre.encoding<layout = #spyre.layout<[1, 8195, 256, 64] : [64, 16384, 64, 1]>, valid_shape = [8195, n, 64], pad = zero>>
// CHECK-SAME: #spyre.encoding<layout = #spyre.layout<[1, 8195, 256, 64] : [64, 16384, 64, 1]>, window>
// CHECK-SAME: tensor<8x16xf32, #spyre.encoding<pad = max>>
func.func @encodings(
    %a: tensor<8195x256x64xf16, #spyre.encoding<layout = #rows, valid_shape = [8195, n, 64], pad = zero>>,
    %b: tensor<1639x256x64xf16, #spyre.encoding<window, layout = #rows>>,
    %c: tensor<8x16xf32, #spyre.encoding<pad = max, valid_shape = []>>) {
  return
}

// One normal form: associativity, commutativity, like terms and constants make no difference.
// CHECK-LABEL: @extents
// CHECK-SAME: e0 = #spyre.extent<n + 1>
// CHECK-SAME: e1 = #spyre.extent<2 * n>
// CHECK-SAME: e2 = #spyre.extent<min(n, 64)>
// CHECK-SAME: e3 = #spyre.extent<64>
func.func private @extents() attributes {test.e = [], e0 = #spyre.extent<1 + n>, e1 = #spyre.extent<n + n>,
  e2 = #spyre.extent<min(64, n)>, e3 = #spyre.extent<(x + 64) - x>}

// CHECK-LABEL: @plans
// CHECK-SAME: p0 = #spyre.tile_plan<origin = auto, group = 0, levels = [parallel(1) 5 x 1639], reason = "span of the result">
// CHECK-SAME: p1 = #spyre.tile_plan<origin = hint, group = 2, levels = [parallel(h) 5, reduction(0) 2 x 64 + 22]>
// CHECK-SAME: p2 = #spyre.tile_plan<origin = auto, group = 0, levels = []>
// CHECK-SAME: p3 = #spyre.work_division<[1, 4, 1]>
// CHECK-SAME: p4 = #spyre.work_division<[]>
// CHECK-SAME: p5 = #spyre.place<argument 2 + 0>
// CHECK-SAME: p6 = #spyre.place<pool 0 + 32768>
func.func private @plans() attributes {
  p0 = #spyre.tile_plan<origin = auto, group = 0, levels = [parallel(1) 5 x 1639], reason = "span of the result">,
  p1 = #spyre.tile_plan<origin = hint, group = 2, levels = [parallel(h) 5, reduction(0) 2 x 64 + 22]>,
  p2 = #spyre.tile_plan<origin = auto, group = 0, levels = []>,
  p3 = #spyre.work_division<[1, 4, 1]>, p4 = #spyre.work_division<[]>,
  p5 = #spyre.place<argument 2 + 0>, p6 = #spyre.place<pool 0 + 32768>}

// A scalar has a stick of its own; lists of offsets and extents may be empty.
// CHECK-LABEL: @rank_zero
// CHECK: spyre.slice %{{.*}}[] : (tensor<f16, #spyre.encoding<layout = #spyre.layout<[1, 64] : [-1, -1]>>>)
// CHECK: spyre.set_valid_shape %{{.*}} [] : (tensor<f16>) -> tensor<f16>
func.func @rank_zero(%a: tensor<f16, #spyre.encoding<layout = #spyre.layout<[1, 64] : [-1, -1]>>>, %b: tensor<f16>) {
  %0 = spyre.slice %a[] : (tensor<f16, #spyre.encoding<layout = #spyre.layout<[1, 64] : [-1, -1]>>>) -> tensor<f16>
  %1 = spyre.set_valid_shape %b [] : (tensor<f16>) -> tensor<f16>
  return
}

// CHECK-LABEL: @sparse
// CHECK-SAME: #spyre.layout<[256, 1, 1, 8195, 64] : [1, 256, -1, 256, -1]>
func.func @sparse(%a: tensor<8195x256xf16, #spyre.encoding<layout = #spyre.layout<[256, 1, 1, 8195, 64] : [1, 256, -1, 256, -1]>>>) {
  %0 = spyre.exp %a : (tensor<8195x256xf16, #spyre.encoding<layout = #spyre.layout<[256, 1, 1, 8195, 64] : [1, 256, -1, 256, -1]>>>) -> tensor<8195x256xf16>
  return
}

// CHECK-LABEL: @symbols
// CHECK-SAME: {spyre.extent = "n", spyre.range = array<i64: 0, 64>}
// CHECK: spyre.extent "m" = %{{.*}} in [0, 8]
func.func @symbols(%n: index {spyre.extent = "n", spyre.range = array<i64: 0, 64>}, %m: index) {
  spyre.extent "m" = %m in [0, 8]
  return
}
