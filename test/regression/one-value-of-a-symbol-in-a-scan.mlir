// RUN: spyre check %s --cores 1 | FileCheck %s
//
// The one largest cell had 2 for the symbol that can only be 2, which is another type than that of the result.
//
// CHECK: @main: same

func.func @main(%x: tensor<1x2x128xf16, #spyre.encoding<valid_shape = [1, n, 77]>>, %n: index {spyre.extent = "n", spyre.range = array<i64: 2, 2>}) -> tensor<1x2x128xf16, #spyre.encoding<valid_shape = [1, n, 77]>> {
  %values, %indices = spyre.topk %x {dim = 0 : i64, k = 1 : i64} : (tensor<1x2x128xf16, #spyre.encoding<valid_shape = [1, n, 77]>>) -> (tensor<1x2x128xf16, #spyre.encoding<valid_shape = [1, n, 77]>>, tensor<1x2x128xf16, #spyre.encoding<valid_shape = [1, n, 77]>>)
  return %values : tensor<1x2x128xf16, #spyre.encoding<valid_shape = [1, n, 77]>>
}
