// RUN: spyre check %s --cores 1 | FileCheck %s
//
// A square in bf16, rounded to a half on the device, was told to differ from the one rounded to bf16 once it was
// converted to f32: the tolerance was that of f32.
//
// CHECK: @main: same

func.func @main(%x: tensor<7x64xbf16>) -> tensor<7x64xf32> {
  %0 = spyre.mul %x, %x : (tensor<7x64xbf16>, tensor<7x64xbf16>) -> tensor<7x64xbf16>
  %1 = spyre.cast %0 : (tensor<7x64xbf16>) -> tensor<7x64xf32>
  return %1 : tensor<7x64xf32>
}
