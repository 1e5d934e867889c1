// RUN: not spyre compile %s --cores 1 --span-limit 896 -o %t 2>&1 | FileCheck %s
//
// The dim that counts what a scan chooses was cut into tiles, each of which would choose anew.
//
// CHECK: SPY042

func.func @main(%x: tensor<9x3x64xf16>) -> tensor<9x3x64xf16> {
  %0, %1 = spyre.topk %x {dim = 1 : i64, k = 3 : i64} : (tensor<9x3x64xf16>) -> (tensor<9x3x64xf16>, tensor<9x3x64xf16>)
  return %0 : tensor<9x3x64xf16>
}
