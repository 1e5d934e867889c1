// RUN: spyre check %s --cores 2 --span-limit 128
//
// A write into what the same loops make was given that as the tensor that the loops carry: the process ended, because
// an operation was erased that was still in use.

func.func @main(%arg0: tensor<100xf16>, %arg1: tensor<100xf16>) -> tensor<100xf16> {
  %1 = spyre.tanh %arg0 : (tensor<100xf16>) -> tensor<100xf16>
  %3 = spyre.insert_slice %arg1 into %1[0] : (tensor<100xf16>, tensor<100xf16>) -> tensor<100xf16>
  return %3 : tensor<100xf16>
}
