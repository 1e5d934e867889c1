// Softmax over 1024 rows of 262144 elements.
func.func @main(%arg0: tensor<1024x262144xf16>) -> tensor<1024x262144xf16> {
  %0 = spyre.max %arg0 {dims = [1], keep_dims = true} : (tensor<1024x262144xf16>) -> tensor<1024x1xf16>
  %1 = spyre.sub %arg0, %0 : (tensor<1024x262144xf16>, tensor<1024x1xf16>) -> tensor<1024x262144xf16>
  %2 = spyre.exp %1 : (tensor<1024x262144xf16>) -> tensor<1024x262144xf16>
  %3 = spyre.sum %2 {dims = [1], keep_dims = true} : (tensor<1024x262144xf16>) -> tensor<1024x1xf16>
  %4 = spyre.div %2, %3 : (tensor<1024x262144xf16>, tensor<1024x1xf16>) -> tensor<1024x262144xf16>
  return %4 : tensor<1024x262144xf16>
}
