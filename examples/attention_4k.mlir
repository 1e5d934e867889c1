// Attention block: 4096 tokens of 4096 elements, 32 heads of queries and 8 of
// keys and values, 128 elements each, with its norm, rotary positions and residual. Arguments:
// tokens, scale of the norm, weights of queries, keys, values and output, cosines and sines of the
// positions, mask added to the scores.
func.func @main(%arg0: tensor<4096x4096xf16>, %arg1: tensor<4096xf16>, %arg2: tensor<4096x4096xf16>, %arg3: tensor<1024x4096xf16>, %arg4: tensor<1024x4096xf16>, %arg5: tensor<4096x4096xf16>, %arg6: tensor<4096x1x128xf16>, %arg7: tensor<4096x1x128xf16>, %arg8: tensor<1x4096x4096xf16>) -> tensor<4096x4096xf16> {
  %0 = spyre.mul %arg0, %arg0 : (tensor<4096x4096xf16>, tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
  %1 = spyre.mean %0 {dims = [1], keep_dims = true} : (tensor<4096x4096xf16>) -> tensor<4096x1xf16>
  %cst = arith.constant 1.001360e-05 : f16
  %2 = spyre.add %1, %cst : (tensor<4096x1xf16>, f16) -> tensor<4096x1xf16>
  %3 = spyre.rsqrt %2 : (tensor<4096x1xf16>) -> tensor<4096x1xf16>
  %4 = spyre.mul %arg0, %3 : (tensor<4096x4096xf16>, tensor<4096x1xf16>) -> tensor<4096x4096xf16>
  %5 = spyre.mul %4, %arg1 : (tensor<4096x4096xf16>, tensor<4096xf16>) -> tensor<4096x4096xf16>
  %6 = spyre.transpose %arg2 {permutation = [1, 0]} : (tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
  %7 = spyre.batch_matmul %5, %6 : (tensor<4096x4096xf16>, tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
  %8 = spyre.reshape %7 : (tensor<4096x4096xf16>) -> tensor<4096x32x128xf16>
  %9 = spyre.slice %8[0, 0, 0] : (tensor<4096x32x128xf16>) -> tensor<4096x32x64xf16>
  %10 = spyre.slice %8[0, 0, 64] : (tensor<4096x32x128xf16>) -> tensor<4096x32x64xf16>
  %11 = spyre.neg %10 : (tensor<4096x32x64xf16>) -> tensor<4096x32x64xf16>
  %12 = spyre.concat %11, %9 {dim = 2 : i64} : (tensor<4096x32x64xf16>, tensor<4096x32x64xf16>) -> tensor<4096x32x128xf16>
  %13 = spyre.mul %8, %arg6 : (tensor<4096x32x128xf16>, tensor<4096x1x128xf16>) -> tensor<4096x32x128xf16>
  %14 = spyre.mul %12, %arg7 : (tensor<4096x32x128xf16>, tensor<4096x1x128xf16>) -> tensor<4096x32x128xf16>
  %15 = spyre.add %13, %14 : (tensor<4096x32x128xf16>, tensor<4096x32x128xf16>) -> tensor<4096x32x128xf16>
  %16 = spyre.transpose %arg3 {permutation = [1, 0]} : (tensor<1024x4096xf16>) -> tensor<4096x1024xf16>
  %17 = spyre.batch_matmul %5, %16 : (tensor<4096x4096xf16>, tensor<4096x1024xf16>) -> tensor<4096x1024xf16>
  %18 = spyre.reshape %17 : (tensor<4096x1024xf16>) -> tensor<4096x8x128xf16>
  %19 = spyre.slice %18[0, 0, 0] : (tensor<4096x8x128xf16>) -> tensor<4096x8x64xf16>
  %20 = spyre.slice %18[0, 0, 64] : (tensor<4096x8x128xf16>) -> tensor<4096x8x64xf16>
  %21 = spyre.neg %20 : (tensor<4096x8x64xf16>) -> tensor<4096x8x64xf16>
  %22 = spyre.concat %21, %19 {dim = 2 : i64} : (tensor<4096x8x64xf16>, tensor<4096x8x64xf16>) -> tensor<4096x8x128xf16>
  %23 = spyre.mul %18, %arg6 : (tensor<4096x8x128xf16>, tensor<4096x1x128xf16>) -> tensor<4096x8x128xf16>
  %24 = spyre.mul %22, %arg7 : (tensor<4096x8x128xf16>, tensor<4096x1x128xf16>) -> tensor<4096x8x128xf16>
  %25 = spyre.add %23, %24 : (tensor<4096x8x128xf16>, tensor<4096x8x128xf16>) -> tensor<4096x8x128xf16>
  %26 = spyre.reshape %15 : (tensor<4096x32x128xf16>) -> tensor<4096x8x4x128xf16>
  %27 = spyre.reshape %25 : (tensor<4096x8x128xf16>) -> tensor<4096x8x1x128xf16>
  %28 = spyre.transpose %arg4 {permutation = [1, 0]} : (tensor<1024x4096xf16>) -> tensor<4096x1024xf16>
  %29 = spyre.batch_matmul %5, %28 : (tensor<4096x4096xf16>, tensor<4096x1024xf16>) -> tensor<4096x1024xf16>
  %30 = spyre.reshape %29 : (tensor<4096x1024xf16>) -> tensor<4096x8x1x128xf16>
  %31 = spyre.transpose %26 {permutation = [1, 2, 0, 3]} : (tensor<4096x8x4x128xf16>) -> tensor<8x4x4096x128xf16>
  %32 = spyre.transpose %30 {permutation = [1, 2, 0, 3]} : (tensor<4096x8x1x128xf16>) -> tensor<8x1x4096x128xf16>
  %33 = spyre.transpose %27 {permutation = [1, 2, 3, 0]} : (tensor<4096x8x1x128xf16>) -> tensor<8x1x128x4096xf16>
  %34 = spyre.batch_matmul %31, %33 : (tensor<8x4x4096x128xf16>, tensor<8x1x128x4096xf16>) -> tensor<8x4x4096x4096xf16>
  %cst_0 = arith.constant 8.837890e-02 : f16
  %35 = spyre.mul %34, %cst_0 : (tensor<8x4x4096x4096xf16>, f16) -> tensor<8x4x4096x4096xf16>
  %36 = spyre.add %35, %arg8 : (tensor<8x4x4096x4096xf16>, tensor<1x4096x4096xf16>) -> tensor<8x4x4096x4096xf16>
  %37 = spyre.max %36 {dims = [3], keep_dims = true} : (tensor<8x4x4096x4096xf16>) -> tensor<8x4x4096x1xf16>
  %38 = spyre.sub %36, %37 : (tensor<8x4x4096x4096xf16>, tensor<8x4x4096x1xf16>) -> tensor<8x4x4096x4096xf16>
  %39 = spyre.exp %38 : (tensor<8x4x4096x4096xf16>) -> tensor<8x4x4096x4096xf16>
  %40 = spyre.sum %39 {dims = [3], keep_dims = true} : (tensor<8x4x4096x4096xf16>) -> tensor<8x4x4096x1xf16>
  %41 = spyre.div %39, %40 : (tensor<8x4x4096x4096xf16>, tensor<8x4x4096x1xf16>) -> tensor<8x4x4096x4096xf16>
  %42 = spyre.batch_matmul %41, %32 : (tensor<8x4x4096x4096xf16>, tensor<8x1x4096x128xf16>) -> tensor<8x4x4096x128xf16>
  %43 = spyre.transpose %42 {permutation = [2, 0, 1, 3]} : (tensor<8x4x4096x128xf16>) -> tensor<4096x8x4x128xf16>
  %44 = spyre.identity %43 : (tensor<4096x8x4x128xf16>) -> tensor<4096x8x4x128xf16>
  %45 = spyre.reshape %44 : (tensor<4096x8x4x128xf16>) -> tensor<4096x4096xf16>
  %46 = spyre.identity %45 : (tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
  %47 = spyre.transpose %arg5 {permutation = [1, 0]} : (tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
  %48 = spyre.batch_matmul %46, %47 : (tensor<4096x4096xf16>, tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
  %49 = spyre.add %arg0, %48 : (tensor<4096x4096xf16>, tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
  return %49 : tensor<4096x4096xf16>
}
