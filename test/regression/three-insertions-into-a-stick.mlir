// RUN: spyre check %s --cores 1 --seeds 2 | FileCheck %s
//
// The second of three insertions into one stick read the lanes of the third, which nobody had written yet. The first
// one wrote the whole stick: it keeps the lanes behind its own once they hold zeros.
// CHECK: @main: same

func.func @main(%x: tensor<4x20xf16>, %y: tensor<4x20xf16>, %z: tensor<4x20xf16>) -> tensor<4x60xf16> {
  %0 = spyre.empty : () -> tensor<4x60xf16>
  %1 = spyre.insert_slice %x into %0[0, 0] : (tensor<4x20xf16>, tensor<4x60xf16>) -> tensor<4x60xf16>
  %2 = spyre.insert_slice %y into %1[0, 20] : (tensor<4x20xf16>, tensor<4x60xf16>) -> tensor<4x60xf16>
  %3 = spyre.insert_slice %z into %2[0, 40] : (tensor<4x20xf16>, tensor<4x60xf16>) -> tensor<4x60xf16>
  return %3 : tensor<4x60xf16>
}
