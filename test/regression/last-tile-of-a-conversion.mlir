// RUN: not spyre compile %s --cores 2 --span-limit 1024 -o %t 2>&1 | FileCheck %s
//
// The last tile of a conversion ends within a stick of the wider format: two sticks of it were written behind a buffer
// that has room for one. The check looked at the size of the buffer, not at what is left of it behind the tile.

// CHECK: SPY093: an operand of dl16tofp32 has 32 elements along a dim of which 64 are read, in whole sticks
func.func @cast(%x: tensor<4x70xf16>) -> tensor<4x70xf32> {
  %0 = spyre.cast %x : (tensor<4x70xf16>) -> tensor<4x70xf32>
  return %0 : tensor<4x70xf32>
}
