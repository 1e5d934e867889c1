// RUN: spyre-opt %s --pass-pipeline='builtin.module(func.func(spyre-assign-layouts,spyre-tile))' | FileCheck %s

// Equal tiles: a loop over windows, the result written in place of a tensor that the loop carries.
// CHECK-LABEL: @rows
// CHECK: %[[EMPTY:.+]] = spyre.empty
// CHECK-DAG: %[[C0:.+]] = arith.constant 0 : index
// CHECK-DAG: %[[C20:.+]] = arith.constant 20 : index
// CHECK-DAG: %[[C5:.+]] = arith.constant 5 : index
// CHECK: %[[R:.+]] = scf.for %[[I:[a-z0-9]+]] = %[[C0]] to %[[C20]] step %[[C5]] iter_args(%[[ACC:.+]] = %[[EMPTY]])
// CHECK:   %[[X:.+]] = spyre.slice %{{.*}}[%[[I]], 0] {{.*}} -> tensor<5x64xf16, {{.*}}window>>
// CHECK:   %[[Y:.+]] = spyre.exp %[[X]] : {{.*}} -> tensor<5x64xf16, {{.*}}window>>
// CHECK:   %[[N:.+]] = spyre.insert_slice %[[Y]] into %[[ACC]][%[[I]], 0]
// CHECK:   scf.yield %[[N]]
// CHECK: return %[[R]]
func.func @rows(%x: tensor<20x64xf16>) -> tensor<20x64xf16> {
  %0 = spyre.exp %x {spyre.tile = #spyre.tile_plan<origin = hint, group = 0, levels = [parallel(0) 4]>} : (tensor<20x64xf16>) -> tensor<20x64xf16>
  return %0 : tensor<20x64xf16>
}

// A remainder follows the loop: 150 = 2 x 64 + 22, the last stick is partial.
// CHECK-LABEL: @remainder
// CHECK: scf.for
// CHECK:   spyre.exp {{.*}} -> tensor<8x64xf16
// CHECK: }
// CHECK: spyre.slice %{{.*}}[0, 128] {{.*}} -> tensor<8x22xf16
// CHECK: spyre.exp {{.*}} -> tensor<8x22xf16
// CHECK: spyre.insert_slice %{{.*}} into %{{.*}}[0, 128]
func.func @remainder(%x: tensor<8x150xf16>) -> tensor<8x150xf16> {
  %0 = spyre.exp %x {spyre.tile = #spyre.tile_plan<origin = hint, group = 0, levels = [parallel(1) 2 x 64 + 22]>} : (tensor<8x150xf16>) -> tensor<8x150xf16>
  return %0 : tensor<8x150xf16>
}

// Levels nest, and an operand that broadcasts is cut only where it has the dim.
// CHECK-LABEL: @nested
// CHECK: scf.for %[[I:[a-z0-9]+]] =
// CHECK:   scf.for %[[J:[a-z0-9]+]] =
// CHECK:     spyre.slice %{{.*}}[%[[I]], %[[J]]] {{.*}} -> tensor<4x64xf16
// CHECK:     spyre.slice %{{.*}}[%[[J]]] {{.*}} -> tensor<64xf16
func.func @nested(%x: tensor<8x128xf16>, %y: tensor<128xf16>) -> tensor<8x128xf16> {
  %0 = spyre.add %x, %y {spyre.tile = #spyre.tile_plan<origin = hint, group = 0, levels = [parallel(0) 2, parallel(1) 2]>} : (tensor<8x128xf16>, tensor<128xf16>) -> tensor<8x128xf16>
  return %0 : tensor<8x128xf16>
}

// One group shares one loop; what stays inside is a compact tile with a layout of its own.
// CHECK-LABEL: @group
// CHECK-COUNT-1: scf.for
// CHECK: %[[E:.+]] = spyre.exp {{.*}} -> tensor<4x128xf16, #spyre.encoding<layout = #spyre.layout<[2, 4, 64] : [64, 128, 1]>>>
// CHECK: spyre.neg %[[E]] : {{.*}} -> tensor<4x128xf16, {{.*}}window>>
// CHECK-NOT: scf.for
func.func @group(%x: tensor<8x128xf16>) -> tensor<8x128xf16> {
  %0 = spyre.exp %x {spyre.tile = #spyre.tile_plan<origin = auto, group = 3, levels = [parallel(0) 2 x 4]>} : (tensor<8x128xf16>) -> tensor<8x128xf16>
  %1 = spyre.neg %0 {spyre.tile = #spyre.tile_plan<origin = auto, group = 3, levels = [parallel(0) 2 x 4]>} : (tensor<8x128xf16>) -> tensor<8x128xf16>
  return %1 : tensor<8x128xf16>
}
