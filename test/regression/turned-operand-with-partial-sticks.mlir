// RUN: spyre check %s --cores 2
//
// An operand that lies with its first dim on partial sticks was padded into a buffer with the last dim on them, which
// asked for the operand to be turned, and so on without end.

#rows = #spyre.encoding<layout = #spyre.layout<[1, 32, 64] : [2048, 1, 32]>>
func.func @add(%x: tensor<6x32xf16, #rows>, %y: tensor<6x32xf16>) -> tensor<6x32xf16> {
  %0 = spyre.add %y, %x : (tensor<6x32xf16>, tensor<6x32xf16, #rows>) -> tensor<6x32xf16>
  return %0 : tensor<6x32xf16>
}
