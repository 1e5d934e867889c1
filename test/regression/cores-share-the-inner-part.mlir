// RUN: not spyre compile %s --cores 4 --span-limit 2048 -o %t 2>&1 | FileCheck %s
//
// Cores shared the inner part of a dim that an operand cuts in two, where the division of work had taken its outer part:
// each core reached over the whole operand, which was seen only when the bundle was written.
//
// CHECK: SPY110: identity: one core reaches over 4352 bytes of operand 0 in sdsc_0.json, the limit is 2048

func.func @main(%arg0: tensor<1x12x192xf16>) -> tensor<1x2304xf16> {
  %0 = spyre.reshape %arg0 : (tensor<1x12x192xf16>) -> tensor<1x2304xf16>
  return %0 : tensor<1x2304xf16>
}
