// RUN: spyre-opt %s --pass-pipeline='builtin.module(func.func(spyre-assign-layouts,spyre-tile))' | FileCheck %s
// RUN: spyre-opt %s --pass-pipeline='builtin.module(spyre-to-sdsc{cores=1})'
//
// A hint that left the size out got tiles that end within sticks (7 of 200 elements: 29), which no window can follow
// (SPY090). Sizes are rounded up to whole sticks of 64, so there are 3 full tiles and one of 8.

// CHECK-LABEL: @largest
// CHECK-DAG: arith.constant 64 : index
// CHECK-DAG: arith.constant 192 : index
// CHECK: scf.for
// CHECK: spyre.slice %{{.*}} -> tensor<9x64xf16
// CHECK: spyre.slice %{{.*}}[0, 192] {{.*}} -> tensor<9x8xf16
func.func @largest(%x: tensor<9x200xf16>) -> tensor<9xf16> {
  %0 = spyre.max %x {dims = [1], spyre.tile = #spyre.tile_plan<origin = hint, group = 0, levels = [reduction(0) 7]>} : (tensor<9x200xf16>) -> tensor<9xf16>
  return %0 : tensor<9xf16>
}
