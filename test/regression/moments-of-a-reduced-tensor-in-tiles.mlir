// RUN: spyre check %s --cores 1 --span-limit 512 | FileCheck %s
//
// The moments of rows that hold one value a stick were taken along the lanes in which each value stands, when their
// range was divided: the result had a wrong shape.
//
// CHECK: same tensor spyre-tile
// CHECK: @main: same

func.func @main(%x: tensor<8x63x8xf16>) -> tensor<8x2xf16> {
  %0 = spyre.absmax %x {dims = [2]} : (tensor<8x63x8xf16>) -> tensor<8x63xf16>
  %1 = spyre.exx2 %0 : (tensor<8x63xf16>) -> tensor<8x2xf16>
  return %1 : tensor<8x2xf16>
}
