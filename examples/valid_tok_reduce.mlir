// Partial sums of four devices lie one after another in a full buffer of 4 x 64 rows; the local one holds `valid_tok`
// rows. Each step of the loop adds a full window of 64 rows to what the loop carries, which holds valid_tok: refused
// under the default policy. With policy=intersect each window is narrowed, and the loop carries one type throughout.
//
//   spyre-opt examples/valid_tok_reduce.mlir --pass-pipeline='builtin.module(spyre-to-sdsc{policy=intersect})'
#tokens = #spyre.encoding<valid_shape = [valid_tok, 256]>
func.func @reduce(%local: tensor<64x256xf16, #tokens>, %received: tensor<256x256xf16>) -> tensor<64x256xf16> {
  %first = arith.constant 0 : index
  %rows = arith.constant 256 : index
  %chunk = arith.constant 64 : index
  %start = spyre.identity %local : (tensor<64x256xf16, #tokens>) -> tensor<64x256xf16>
  %total = scf.for %row = %first to %rows step %chunk iter_args(%sum = %start) -> tensor<64x256xf16> {
    %part = spyre.slice %received[%row, 0] : (tensor<256x256xf16>) -> tensor<64x256xf16>
    %next = spyre.add %sum, %part : (tensor<64x256xf16>, tensor<64x256xf16>) -> tensor<64x256xf16>
    scf.yield %next : tensor<64x256xf16>
  }
  return %total : tensor<64x256xf16>
}
