// RUN: spyre-opt %s --pass-pipeline='builtin.module(func.func(spyre-assign-layouts,spyre-tile))' | FileCheck %s

// The first tile makes the accumulator, the loop starts at the second, the remainder follows it. What is not rounded
// when it is combined keeps its element type.
// CHECK-LABEL: @largest
// CHECK: %[[X0:.+]] = spyre.slice %{{.*}}[0, 0] {{.*}} -> tensor<4x64xf16
// CHECK: %[[FIRST:.+]] = spyre.max %[[X0]] {{.*}} -> tensor<64xf16
// CHECK-DAG: %[[C4:.+]] = arith.constant 4 : index
// CHECK-DAG: %[[C12:.+]] = arith.constant 12 : index
// CHECK: %[[ALL:.+]] = scf.for %[[I:[a-z0-9]+]] = %[[C4]] to %[[C12]] step %{{.*}} iter_args(%[[ACC:.+]] = %[[FIRST]])
// CHECK:   %[[X:.+]] = spyre.slice %{{.*}}[%[[I]], 0] {{.*}} -> tensor<4x64xf16
// CHECK:   %[[PART:.+]] = spyre.max %[[X]] {{.*}} -> tensor<64xf16
// CHECK:   %[[BOTH:.+]] = spyre.maximum %[[ACC]], %[[PART]]
// CHECK:   scf.yield %[[BOTH]]
// CHECK: %[[REST:.+]] = spyre.slice %{{.*}}[12, 0] {{.*}} -> tensor<1x64xf16
// CHECK: %[[LAST:.+]] = spyre.max %[[REST]]
// CHECK: %[[RESULT:.+]] = spyre.maximum %[[ALL]], %[[LAST]]
// CHECK: return %[[RESULT]]
func.func @largest(%x: tensor<13x64xf16>) -> tensor<64xf16> {
  %0 = spyre.max %x {dims = [0], spyre.tile = #spyre.tile_plan<origin = hint, group = 0, levels = [reduction(0) 3 x 4 + 1]>} : (tensor<13x64xf16>) -> tensor<64xf16>
  return %0 : tensor<64xf16>
}

// A sum of 16-bit floats is accumulated in f32 and rounded once.
// CHECK-LABEL: @sum
// CHECK: %[[WIDE:.+]] = spyre.cast %{{.*}} -> tensor<8x64xf32
// CHECK: %[[FIRST:.+]] = spyre.sum %[[WIDE]] {{.*}} -> tensor<64xf32
// CHECK: scf.for {{.*}} iter_args(%[[ACC:.+]] = %[[FIRST]])
// CHECK:   %[[PART:.+]] = spyre.sum %{{.*}} -> tensor<64xf32
// CHECK:   spyre.add %[[ACC]], %[[PART]] {{.*}} -> tensor<64xf32
// CHECK: spyre.cast %{{.*}} -> tensor<64xf16
func.func @sum(%x: tensor<40x64xf16>) -> tensor<64xf16> {
  %0 = spyre.sum %x {dims = [0], spyre.tile = #spyre.tile_plan<origin = hint, group = 0, levels = [reduction(0) 5]>} : (tensor<40x64xf16>) -> tensor<64xf16>
  return %0 : tensor<64xf16>
}

// A mean is a sum, divided once. One value a stick is spread, cast and picked: the device casts whole sticks.
// CHECK-LABEL: @mean
// CHECK: scf.for
// CHECK-NOT: spyre.div
// CHECK: }
// CHECK: %[[MEAN:.+]] = spyre.div %{{.*}}, %{{.*}} -> tensor<8xf32, {{.*}}[1, 8, 32] : [-1, 1, -1]
// CHECK: %[[COLUMN:.+]] = spyre.reshape %[[MEAN]] {{.*}} -> tensor<8x1xf32
// CHECK: %[[SEEN:.+]] = spyre.broadcast %[[COLUMN]] {{.*}} -> tensor<8x64xf32
// CHECK: %[[SPREAD:.+]] = spyre.identity %[[SEEN]]
// CHECK: %[[CAST:.+]] = spyre.cast %[[SPREAD]] {{.*}} -> tensor<8x64xf16
// CHECK: spyre.max %[[CAST]] {{.*}} -> tensor<8xf16
func.func @mean(%x: tensor<8x256xf16>) -> tensor<8xf16> {
  %0 = spyre.mean %x {dims = [1], spyre.tile = #spyre.tile_plan<origin = hint, group = 0, levels = [reduction(0) 4]>} : (tensor<8x256xf16>) -> tensor<8xf16>
  return %0 : tensor<8xf16>
}

// A buffer of f32 has two sticks for each of 16-bit elements, and ends where those do: the last tile has 8 elements.
// CHECK-LABEL: @within_a_stick
// CHECK: spyre.slice %{{.*}}[0, 192] {{.*}} -> tensor<7x8xf16
// CHECK: %[[CAST:.+]] = spyre.cast %{{.*}} -> tensor<7x8xf32, {{.*}}[2, 7, 32] : [32, 64, 1]>, window>>
// CHECK: %[[EMPTY:.+]] = spyre.empty {{.*}} -> tensor<7x64xf32, {{.*}}valid_shape = [7, 8]
// CHECK: spyre.insert_slice %[[CAST]] into %[[EMPTY]][0, 0]
func.func @within_a_stick(%x: tensor<7x200xf16>) -> tensor<7xf16> {
  %0 = spyre.sum %x {dims = [1], spyre.tile = #spyre.tile_plan<origin = hint, group = 0, levels = [reduction(0) 3 x 64 + 8]>} : (tensor<7x200xf16>) -> tensor<7xf16>
  return %0 : tensor<7xf16>
}

// Both kinds of levels: the accumulator is one tile of the result, and compact.
// CHECK-LABEL: @product
// CHECK: scf.for %[[M:[a-z0-9]+]] =
// CHECK:   spyre.batch_matmul {{.*}} -> tensor<4x64xf32
// CHECK:   scf.for %[[K:[a-z0-9]+]] = %{{.*}} iter_args(%[[ACC:[a-z0-9]+]] =
// CHECK:     spyre.slice %{{.*}}[%[[M]], %[[K]]] {{.*}} -> tensor<4x64xf16
// CHECK:     spyre.slice %{{.*}}[%[[K]], 0] {{.*}} -> tensor<64x64xf16
// CHECK:     %[[PART:.+]] = spyre.batch_matmul {{.*}} -> tensor<4x64xf32
// CHECK:     spyre.add %[[ACC]], %[[PART]]
// CHECK:   %[[TILE:.+]] = spyre.cast {{.*}} -> tensor<4x64xf16, {{.*}}window
// CHECK:   spyre.insert_slice %[[TILE]] into %{{.*}}[%[[M]], 0]
func.func @product(%x: tensor<8x256xf16>, %y: tensor<256x64xf16>) -> tensor<8x64xf16> {
  %0 = spyre.batch_matmul %x, %y {spyre.tile = #spyre.tile_plan<origin = hint, group = 0, levels = [parallel(0) 2, reduction(0) 4]>} : (tensor<8x256xf16>, tensor<256x64xf16>) -> tensor<8x64xf16>
  return %0 : tensor<8x64xf16>
}

// What adds to an accumulator goes on adding to it.
// CHECK-LABEL: @continued
// CHECK: %[[FIRST:.+]] = spyre.matmul_acc %arg0
// CHECK: scf.for {{.*}} iter_args(%[[ACC:[a-z0-9]+]] = %[[FIRST]])
// CHECK:   spyre.matmul_acc %[[ACC]]
func.func @continued(%a: tensor<8x64xf32>, %x: tensor<8x256xf32>, %y: tensor<256x64xf32>) -> tensor<8x64xf32> {
  %0 = spyre.matmul_acc %a, %x, %y {spyre.tile = #spyre.tile_plan<origin = hint, group = 0, levels = [reduction(0) 4]>} : (tensor<8x64xf32>, tensor<8x256xf32>, tensor<256x64xf32>) -> tensor<8x64xf32>
  return %0 : tensor<8x64xf32>
}

// Positions: those of a tile are moved by where it begins; the earlier one stays on a tie, and where it is no number.
// CHECK-LABEL: @position
// CHECK: scf.for %[[I:[a-z0-9]+]] = %{{.*}} iter_args(%[[AT:.+]] = %{{.*}}, %[[BEST:.+]] = %{{.*}})
// CHECK:   %[[IN_TILE:.+]] = spyre.argmax
// CHECK:   %[[BASE:.+]] = arith.index_cast %[[I]]
// CHECK:   %[[NEW:.+]] = spyre.add %[[IN_TILE]], %[[BASE]]
// CHECK:   %[[VALUE:.+]] = spyre.max
// CHECK:   %[[STAYS:.+]] = spyre.cmp %[[VALUE]], %[[BEST]] {predicate = "le"}
// CHECK:   %[[BETTER:.+]] = spyre.select %[[STAYS]], %[[AT]], %[[NEW]]
// CHECK:   %[[NUMBER:.+]] = spyre.cmp %[[BEST]], %[[BEST]] {predicate = "eq"}
// CHECK:   spyre.select %[[NUMBER]], %[[BETTER]], %[[AT]]
// CHECK:   spyre.maximum %[[BEST]], %[[VALUE]]
func.func @position(%x: tensor<8x256xf16>) -> tensor<8xi32> {
  %0 = spyre.argmax %x {dim = 1 : i64, spyre.tile = #spyre.tile_plan<origin = hint, group = 0, levels = [reduction(0) 4]>} : (tensor<8x256xf16>) -> tensor<8xi32>
  return %0 : tensor<8xi32>
}

// Moments are means: each is weighted with the cells of its tile, the total divided by all.
// CHECK-LABEL: @moments
// CHECK: scf.for
// CHECK:   %[[MEANS:.+]] = spyre.exx2 {{.*}} -> tensor<8x2xf32
// CHECK:   %[[SUMS:.+]] = spyre.mul %[[MEANS]]
// CHECK:   spyre.add %{{.*}}, %[[SUMS]]
// CHECK: }
// CHECK: spyre.div
func.func @moments(%x: tensor<8x256xf16>) -> tensor<8x2xf16> {
  %0 = spyre.exx2 %x {zero_mean = false, spyre.tile = #spyre.tile_plan<origin = hint, group = 0, levels = [reduction(0) 4]>} : (tensor<8x256xf16>) -> tensor<8x2xf16>
  return %0 : tensor<8x2xf16>
}

// Two reduced dims: only the first tile of both makes the accumulator.
// CHECK-LABEL: @all
// CHECK: spyre.slice %{{.*}}[0, 0, 0] {{.*}} -> tensor<1x4x64xf32
// CHECK: spyre.slice %{{.*}}[0, 4, 0] {{.*}} -> tensor<1x4x64xf32
// CHECK: scf.for %[[I:[a-z0-9]+]] =
// CHECK:   scf.for %[[J:[a-z0-9]+]] =
// CHECK:     spyre.slice %{{.*}}[%[[I]], %[[J]], 0] {{.*}} -> tensor<1x4x64xf32
func.func @all(%x: tensor<5x8x64xf32>) -> tensor<f32> {
  %0 = spyre.sum %x {dims = [0, 1, 2], spyre.tile = #spyre.tile_plan<origin = hint, group = 0, levels = [reduction(0) 5, reduction(1) 2]>} : (tensor<5x8x64xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// One value a stick has no cast: it stands in all lanes of a stick, from the operand to the last cast.
// CHECK-LABEL: @sparse
// CHECK: spyre.max
// CHECK: %[[SEEN:.+]] = spyre.broadcast {{.*}} -> tensor<10x64xf16
// CHECK: %[[SPREAD:.+]] = spyre.identity %[[SEEN]]
// CHECK: %[[CAST:.+]] = spyre.cast %[[SPREAD]] {{.*}} -> tensor<10x64xf32
// CHECK: spyre.sum %[[CAST]] {dims = [0]} {{.*}} -> tensor<64xf32
// CHECK: scf.for
// CHECK: }
// CHECK: %[[ALL:.+]] = spyre.cast %{{.*}} -> tensor<64xf16
// CHECK: spyre.max %[[ALL]] {{.*}} -> tensor<f16
func.func @sparse(%x: tensor<40x64xf16>) -> tensor<f16> {
  %0 = spyre.max %x {dims = [1]} : (tensor<40x64xf16>) -> tensor<40xf16>
  %1 = spyre.sum %0 {dims = [0], spyre.tile = #spyre.tile_plan<origin = hint, group = 0, levels = [reduction(0) 4]>} : (tensor<40xf16>) -> tensor<f16>
  return %1 : tensor<f16>
}
