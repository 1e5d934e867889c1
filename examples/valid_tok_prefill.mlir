// The last chunk of a prefill: buffers have 64 rows, and only the first `valid_tok` of the activations hold tokens.
// The residual is a full buffer. Rows behind the tokens mean nothing, so a sum over all 64 rows would write data that
// nobody has: it is refused. With policy=intersect the residual is narrowed, and the result is valid over valid_tok rows.
//
//   spyre-opt examples/valid_tok_prefill.mlir --pass-pipeline='builtin.module(spyre-to-sdsc{policy=intersect})'
#tokens = #spyre.encoding<valid_shape = [valid_tok, 256]>
func.func @prefill(%hidden: tensor<64x256xf16, #tokens>, %weight: tensor<256x256xf16>, %residual: tensor<64x256xf16>) -> tensor<64x256xf16> {
  %projected = spyre.batch_matmul %hidden, %weight : (tensor<64x256xf16, #tokens>, tensor<256x256xf16>) -> tensor<64x256xf16>
  %sum = spyre.add %residual, %projected : (tensor<64x256xf16>, tensor<64x256xf16>) -> tensor<64x256xf16>
  %gated = spyre.silu %sum : (tensor<64x256xf16>) -> tensor<64x256xf16>
  return %gated : tensor<64x256xf16>
}
