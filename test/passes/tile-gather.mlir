// RUN: spyre-opt %s --pass-pipeline='builtin.module(func.func(spyre-assign-layouts,spyre-plan-span-overflow{span-limit=8192},spyre-tile))' | FileCheck %s

// Planes picked by position: rows and columns are cut; each tile sees the same part of all planes.
// CHECK-LABEL: @gather
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<3x60x128xf16
// CHECK: scf.for %[[I:[a-z0-9]+]] =
// CHECK: %[[S:.+]] = spyre.slice %[[X]][0, %[[I]], 0]
// CHECK: spyre.gather %[[S]], %{{.*}} {dim = 0 : i64}
func.func @gather(%x: tensor<3x60x128xf16>, %at: tensor<5xi32>) -> tensor<5x60x128xf16> {
  %0 = spyre.gather %x, %at {dim = 0} : (tensor<3x60x128xf16>, tensor<5xi32>) -> tensor<5x60x128xf16>
  return %0 : tensor<5x60x128xf16>
}

// Many positions in a small table: they are cut in whole sticks of their own.
// CHECK-LABEL: @positions
// CHECK-SAME: %[[T:[a-z0-9]+]]: tensor<20x64xf16
// CHECK-SAME: %[[AT:[a-z0-9]+]]: tensor<640xi32
// CHECK: scf.for %[[I:[a-z0-9]+]] =
// CHECK: %[[P:.+]] = spyre.slice %[[AT]][%[[I]]] {{.*}} -> tensor<64xi32
// CHECK: spyre.gather %[[T]], %[[P]]
func.func @positions(%x: tensor<20x64xf16>, %at: tensor<640xi32>) -> tensor<640x64xf16> {
  %0 = spyre.gather %x, %at {dim = 0} : (tensor<20x64xf16>, tensor<640xi32>) -> tensor<640x64xf16>
  return %0 : tensor<640x64xf16>
}

// What is written by position: rows are cut; each tile of the destination is read and written as a whole plane.
// CHECK-LABEL: @scatter
// CHECK: scf.for %[[I:[a-z0-9]+]] =
// CHECK: %[[S:.+]] = spyre.slice %{{.*}}[0, %[[I]], 0]
// CHECK: %[[D:.+]] = spyre.slice %{{.*}}[0, %[[I]], 0]
// CHECK: %[[R:.+]] = spyre.scatter %[[S]], %{{.*}}, %[[D]] {dim = 0 : i64}
// CHECK: spyre.insert_slice %[[R]] into %{{.*}}[0, %[[I]], 0]
func.func @scatter(%x: tensor<2x60x128xf16>, %at: tensor<2xi32>, %y: tensor<5x60x128xf16>) -> tensor<5x60x128xf16> {
  %0 = spyre.scatter %x, %at, %y {dim = 0} : (tensor<2x60x128xf16>, tensor<2xi32>, tensor<5x60x128xf16>) -> tensor<5x60x128xf16>
  return %0 : tensor<5x60x128xf16>
}
