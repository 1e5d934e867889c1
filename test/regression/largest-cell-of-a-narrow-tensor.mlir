// RUN: spyre check %s --cores 2
//
// The one largest cell of a tensor that is valid in part was chosen from a tensor that is valid throughout.

func.func @main(%x: tensor<2x4x64xf16, #spyre.encoding<valid_shape = [1, 3, 64]>>) -> tensor<2x1x64xf16, #spyre.encoding<valid_shape = [1, 1, 64]>> {
  %0, %1 = spyre.topk %x {dim = 1 : i64, k = 1 : i64} : (tensor<2x4x64xf16, #spyre.encoding<valid_shape = [1, 3, 64]>>) -> (tensor<2x1x64xf16, #spyre.encoding<valid_shape = [1, 1, 64]>>, tensor<2x1x64xf16, #spyre.encoding<valid_shape = [1, 1, 64]>>)
  return %0 : tensor<2x1x64xf16, #spyre.encoding<valid_shape = [1, 1, 64]>>
}
