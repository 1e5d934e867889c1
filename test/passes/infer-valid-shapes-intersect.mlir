// RUN: spyre-opt %s --pass-pipeline='builtin.module(spyre-infer-valid-shapes{policy=intersect},spyre-verify-valid-regions)' | FileCheck %s
// RUN: spyre-opt %s --pass-pipeline='builtin.module(spyre-infer-valid-shapes{policy=intersect narrow=false},spyre-verify-valid-regions{policy=intersect})' | FileCheck %s --check-prefix=WIDE

// Operands that hold more than the others are narrowed, so that afterwards the strict policy holds as well.

#n = #spyre.encoding<valid_shape = [n, 16]>
#m = #spyre.encoding<valid_shape = [m, 16]>
// CHECK-LABEL: func.func @full_and_part
// CHECK-SAME: (%{{.*}}: index {{.*}}, %[[X:.+]]: tensor<8x16xf16>, %[[Y:.+]]: tensor
// WIDE-LABEL: func.func @full_and_part
func.func @full_and_part(%n: index {spyre.extent = "n"}, %x: tensor<8x16xf16>, %y: tensor<8x16xf16, #n>) -> tensor<8x16xf16> {
  // CHECK: %[[CUT:.+]] = spyre.set_valid_shape %[[X]] [n, 16]
  // CHECK: spyre.add %[[CUT]], %[[Y]]
  // WIDE-NOT: set_valid_shape
  // WIDE: spyre.add {{.*}} -> tensor<8x16xf16, #spyre.encoding<valid_shape = [n, 16]>>
  %0 = spyre.add %x, %y : (tensor<8x16xf16>, tensor<8x16xf16, #n>) -> tensor<8x16xf16>
  return %0 : tensor<8x16xf16>
}

// Of two that are not ordered both are narrowed; an operand of lower rank along its own dims.
// CHECK-LABEL: func.func @neither
func.func @neither(%n: index {spyre.extent = "n"}, %m: index {spyre.extent = "m"}, %x: tensor<8x16xf16, #m>, %y: tensor<8x16xf16, #n>,
                   %z: tensor<16xf16, #spyre.encoding<valid_shape = [9]>>) -> tensor<8x16xf16> {
  // CHECK-DAG: spyre.set_valid_shape %{{.*}} [min(m, n), 16]
  // CHECK-DAG: spyre.set_valid_shape %{{.*}} [min(m, n), 16]
  // CHECK: spyre.add {{.*}} -> tensor<8x16xf16, #spyre.encoding<valid_shape = [min(m, n), 16]>>
  %0 = spyre.add %x, %y : (tensor<8x16xf16, #m>, tensor<8x16xf16, #n>) -> tensor<8x16xf16>
  // CHECK: spyre.set_valid_shape %{{.*}} [min(m, n), 9]
  // CHECK: spyre.mul
  %1 = spyre.mul %0, %z : (tensor<8x16xf16>, tensor<16xf16, #spyre.encoding<valid_shape = [9]>>) -> tensor<8x16xf16>
  return %1 : tensor<8x16xf16>
}

// Operands of a concatenation are narrowed along the other dims; those of a product along batch dims.
// CHECK-LABEL: func.func @joined
func.func @joined(%x: tensor<4x16xf16>, %y: tensor<4x16xf16, #spyre.encoding<valid_shape = [3, 16]>>,
                  %a: tensor<2x8x16xf16>, %b: tensor<2x16x8xf16, #spyre.encoding<valid_shape = [1, 16, 8]>>) {
  // CHECK: spyre.set_valid_shape %{{.*}} [3, 16]
  // CHECK: spyre.concat {{.*}} -> tensor<4x32xf16, #spyre.encoding<valid_shape = [3, 32]>>
  %0 = spyre.concat %x, %y {dim = 1 : i64} : (tensor<4x16xf16>, tensor<4x16xf16, #spyre.encoding<valid_shape = [3, 16]>>) -> tensor<4x32xf16>
  // CHECK: spyre.set_valid_shape %{{.*}} [1, 8, 16]
  // CHECK: spyre.batch_matmul {{.*}} -> tensor<2x8x8xf16, #spyre.encoding<valid_shape = [1, 8, 8]>>
  %1 = spyre.batch_matmul %a, %b : (tensor<2x8x16xf16>, tensor<2x16x8xf16, #spyre.encoding<valid_shape = [1, 16, 8]>>) -> tensor<2x8x8xf16>
  return
}
