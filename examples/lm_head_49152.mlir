// LM head: 64 rows times a weight of 49152 x 4096, stored with its stick on the
// reduced dim. The weight is turned before the product.
func.func @main(%arg0: tensor<64x4096xf16>, %arg1: tensor<49152x4096xf16>) -> tensor<64x49152xf16> {
  %0 = spyre.transpose %arg1 {permutation = [1, 0]} : (tensor<49152x4096xf16>) -> tensor<4096x49152xf16>
  %1 = spyre.batch_matmul %arg0, %0 : (tensor<64x4096xf16>, tensor<4096x49152xf16>) -> tensor<64x49152xf16>
  return %1 : tensor<64x49152xf16>
}
