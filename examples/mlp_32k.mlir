// Gated MLP block: 32768 tokens of 4096 elements, 14336 inside, with its norm and
// residual. Arguments: tokens, scale of the norm, weights gate, up and down.
func.func @main(%arg0: tensor<32768x4096xf16>, %arg1: tensor<4096xf16>, %arg2: tensor<14336x4096xf16>, %arg3: tensor<14336x4096xf16>, %arg4: tensor<4096x14336xf16>) -> tensor<32768x4096xf16> {
  %0 = spyre.mul %arg0, %arg0 : (tensor<32768x4096xf16>, tensor<32768x4096xf16>) -> tensor<32768x4096xf16>
  %1 = spyre.mean %0 {dims = [1], keep_dims = true} : (tensor<32768x4096xf16>) -> tensor<32768x1xf16>
  %cst = arith.constant 1.001360e-05 : f16
  %2 = spyre.add %1, %cst : (tensor<32768x1xf16>, f16) -> tensor<32768x1xf16>
  %3 = spyre.rsqrt %2 : (tensor<32768x1xf16>) -> tensor<32768x1xf16>
  %4 = spyre.mul %arg0, %3 : (tensor<32768x4096xf16>, tensor<32768x1xf16>) -> tensor<32768x4096xf16>
  %5 = spyre.mul %4, %arg1 : (tensor<32768x4096xf16>, tensor<4096xf16>) -> tensor<32768x4096xf16>
  %6 = spyre.transpose %arg2 {permutation = [1, 0]} : (tensor<14336x4096xf16>) -> tensor<4096x14336xf16>
  %7 = spyre.batch_matmul %5, %6 : (tensor<32768x4096xf16>, tensor<4096x14336xf16>) -> tensor<32768x14336xf16>
  %8 = spyre.silu %7 : (tensor<32768x14336xf16>) -> tensor<32768x14336xf16>
  %9 = spyre.transpose %arg3 {permutation = [1, 0]} : (tensor<14336x4096xf16>) -> tensor<4096x14336xf16>
  %10 = spyre.batch_matmul %5, %9 : (tensor<32768x4096xf16>, tensor<4096x14336xf16>) -> tensor<32768x14336xf16>
  %11 = spyre.mul %8, %10 : (tensor<32768x14336xf16>, tensor<32768x14336xf16>) -> tensor<32768x14336xf16>
  %12 = spyre.transpose %arg4 {permutation = [1, 0]} : (tensor<4096x14336xf16>) -> tensor<14336x4096xf16>
  %13 = spyre.batch_matmul %11, %12 : (tensor<32768x14336xf16>, tensor<14336x4096xf16>) -> tensor<32768x4096xf16>
  %14 = spyre.add %arg0, %13 : (tensor<32768x4096xf16>, tensor<32768x4096xf16>) -> tensor<32768x4096xf16>
  return %14 : tensor<32768x4096xf16>
}
