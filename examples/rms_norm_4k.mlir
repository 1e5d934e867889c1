// RMSNorm of 4096 tokens of 4096 elements.
func.func @main(%arg0: tensor<4096x4096xf16>, %arg1: tensor<4096xf16>) -> tensor<4096x4096xf16> {
  %0 = spyre.mul %arg0, %arg0 : (tensor<4096x4096xf16>, tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
  %1 = spyre.mean %0 {dims = [1], keep_dims = true} : (tensor<4096x4096xf16>) -> tensor<4096x1xf16>
  %cst = arith.constant 1.001360e-05 : f16
  %2 = spyre.add %1, %cst : (tensor<4096x1xf16>, f16) -> tensor<4096x1xf16>
  %3 = spyre.rsqrt %2 : (tensor<4096x1xf16>) -> tensor<4096x1xf16>
  %4 = spyre.mul %arg0, %3 : (tensor<4096x4096xf16>, tensor<4096x1xf16>) -> tensor<4096x4096xf16>
  %5 = spyre.mul %4, %arg1 : (tensor<4096x4096xf16>, tensor<4096xf16>) -> tensor<4096x4096xf16>
  return %5 : tensor<4096x4096xf16>
}
