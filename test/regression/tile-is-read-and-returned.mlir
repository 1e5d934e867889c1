// RUN: spyre check %s --cores 2 --span-limit 768
//
// In the loop of a group, a value that is returned and also read in the loop was computed beside its result: the
// insertion counted as done, and the result was never written.

func.func @both(%x: tensor<1x1x1x7x1xf16>) -> (tensor<1x1x1x7x1xf16>, tensor<1x1x1x7x1xf16>) {
  %0 = spyre.maximum %x, %x : (tensor<1x1x1x7x1xf16>, tensor<1x1x1x7x1xf16>) -> tensor<1x1x1x7x1xf16>
  %1 = spyre.sub %0, %0 : (tensor<1x1x1x7x1xf16>, tensor<1x1x1x7x1xf16>) -> tensor<1x1x1x7x1xf16>
  return %1, %0 : tensor<1x1x1x7x1xf16>, tensor<1x1x1x7x1xf16>
}
