// RUN: split-file %s %t
// RUN: spyre check %t/both.mlir --cores 2
// RUN: spyre check %t/laid-out.mlir --cores 2
// RUN: spyre check %t/first.mlir --cores 2
//
// A product reads whole sticks of its reduced dim. The second factor got zeros behind its shape, but none behind its
// valid cells, and none at all if it had a layout: what lay in the padding of both factors was multiplied and summed.

//--- both.mlir
#left = #spyre.encoding<valid_shape = [5, 50]>
#right = #spyre.encoding<valid_shape = [50, 10]>
#both = #spyre.encoding<valid_shape = [5, 10]>
func.func @both(%x: tensor<8x70xf16, #left>, %y: tensor<70x10xf16, #right>) -> tensor<8x10xf16, #both> {
  %0 = spyre.batch_matmul %x, %y : (tensor<8x70xf16, #left>, tensor<70x10xf16, #right>) -> tensor<8x10xf16, #both>
  return %0 : tensor<8x10xf16, #both>
}

//--- first.mlir
#left = #spyre.encoding<valid_shape = [8, 100]>
func.func @first(%x: tensor<8x128xf16, #left>, %y: tensor<128x10xf16>) -> tensor<8x10xf16> {
  %0 = spyre.batch_matmul %x, %y : (tensor<8x128xf16, #left>, tensor<128x10xf16>) -> tensor<8x10xf16>
  return %0 : tensor<8x10xf16>
}

//--- laid-out.mlir
#turned = #spyre.encoding<layout = #spyre.layout<[2, 10, 64] : [640, 1, 10]>>
func.func @laid_out(%x: tensor<8x70xf16>, %y: tensor<70x10xf16, #turned>) -> tensor<8x10xf16> {
  %0 = spyre.batch_matmul %x, %y : (tensor<8x70xf16>, tensor<70x10xf16, #turned>) -> tensor<8x10xf16>
  return %0 : tensor<8x10xf16>
}
