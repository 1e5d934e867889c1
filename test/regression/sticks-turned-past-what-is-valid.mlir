// RUN: spyre check %s --span-limit 16384 --seeds 1 | FileCheck %s
//
// Sticks are turned as a whole, in tiles too: the last tile holds data in its first half only, which its type says.
// CHECK: same tensor spyre-tile
// CHECK: @f: same
func.func @f(%x: tensor<96x128xf16>, %y: tensor<96x128xf16>) -> tensor<96x96xf16> {
  %t = spyre.transpose %y {permutation = [1, 0]} : (tensor<96x128xf16>) -> tensor<128x96xf16>
  %r = spyre.batch_matmul %x, %t : (tensor<96x128xf16>, tensor<128x96xf16>) -> tensor<96x96xf16>
  return %r : tensor<96x96xf16>
}
