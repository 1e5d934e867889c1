// RUN: spyre-opt %s | FileCheck %s
//
// Upstream operations clone an encoding onto another shape or element type. That passes, or is refused by
// their own verifier; it never aborts.

#partial = #spyre.encoding<layout = #spyre.layout<[4, 1024, 64] : [64, 256, 1]>, valid_shape = [1000, 256]>

// CHECK-LABEL: @extract_slice
// CHECK: tensor.extract_slice
func.func @extract_slice(%a: tensor<1024x256xf16, #partial>) -> tensor<8x256xf16, #partial> {
  %0 = tensor.extract_slice %a[0, 0] [8, 256] [1, 1] : tensor<1024x256xf16, #partial> to tensor<8x256xf16, #partial>
  return %0 : tensor<8x256xf16, #partial>
}

// CHECK-LABEL: @cmpf
// CHECK: arith.cmpf
func.func @cmpf(%a: tensor<1024x256xf16, #partial>) {
  %0 = arith.cmpf olt, %a, %a : tensor<1024x256xf16, #partial>
  return
}
