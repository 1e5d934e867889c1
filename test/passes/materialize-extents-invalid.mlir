// RUN: spyre-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(spyre-materialize-extents)'

// A call needs the symbol before the function has it.

func.func private @callee(%x: tensor<8xf16, #spyre.encoding<valid_shape = [n]>>)
func.func @late(%v: index, %x: tensor<8xf16, #spyre.encoding<valid_shape = [n]>>) {
  // expected-error @+2 {{SPY014: the call of @callee needs n, which is introduced after it}}
  // expected-note @+1 {{remedy: introduce n before the call}}
  func.call @callee(%x) : (tensor<8xf16, #spyre.encoding<valid_shape = [n]>>) -> ()
  // expected-note @+1 {{n is introduced here}}
  spyre.extent "n" = %v
  return
}
