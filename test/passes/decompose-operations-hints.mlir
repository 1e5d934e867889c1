// RUN: spyre-opt %s --pass-pipeline='builtin.module(func.func(spyre-decompose-operations))' | FileCheck %s

// A hint goes to the steps: those that make the shape of the operation share its loops, the one that reduces its range
// divides it.
// CHECK-LABEL: @product_and_sum
// CHECK: spyre.batch_matmul {{.*}}group = 3, levels = [parallel(0) 2, reduction(0) 4]
// CHECK: spyre.add {{.*}}group = 3, levels = [parallel(0) 2]>}
func.func @product_and_sum(%a: tensor<8x64xf16>, %x: tensor<8x256xf16>, %y: tensor<256x64xf16>) -> tensor<8x64xf16> {
  %0 = spyre.matmul_acc %a, %x, %y {spyre.tile = #spyre.tile_plan<origin = hint, group = 3, levels = [parallel(0) 2, reduction(0) 4]>} : (tensor<8x64xf16>, tensor<8x256xf16>, tensor<256x64xf16>) -> tensor<8x64xf16>
  return %0 : tensor<8x64xf16>
}

// Names of dims go with it.
// CHECK-LABEL: @named
// CHECK-COUNT-2: spyre.add {{.*}}spyre.dims = ["h", "w"], {{.*}}levels = [parallel(h) 2]
func.func @named(%a: tensor<8x256xf16>, %b: tensor<8x256xf16>, %c: tensor<8x256xf16>) -> tensor<8x256xf16> {
  %0 = spyre.addc %a, %b, %c {spyre.dims = ["h", "w"], spyre.tile = #spyre.tile_plan<origin = hint, group = 0, levels = [parallel(h) 2]>} : (tensor<8x256xf16>, tensor<8x256xf16>, tensor<8x256xf16>) -> tensor<8x256xf16>
  return %0 : tensor<8x256xf16>
}
