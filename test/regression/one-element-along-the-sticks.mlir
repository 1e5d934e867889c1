// RUN: spyre-opt %s --pass-pipeline='builtin.module(spyre-to-sdsc{cores=2})' --split-input-file --verify-diagnostics
//
// Operands of which one element lies along the sticks were given a form that the files cannot state (no dim in the
// stick), or that reads behind them (sticks of different widths). What chooses one element has no dim to choose along.

func.func @product(%x: tensor<2x1xf16>, %y: tensor<1x1xf16>) -> tensor<2x1xf16> {
  // expected-error @+2 {{SPY093: batchmatmul has an operand with one element along its sticks, and no dim for them}}
  // expected-note @+1 {{remedy: give the tensors more elements there}}
  %0 = spyre.batch_matmul %x, %y : (tensor<2x1xf16>, tensor<1x1xf16>) -> tensor<2x1xf16>
  return %0 : tensor<2x1xf16>
}

// -----

func.func @wider(%x: tensor<4x3x1xf16>) -> tensor<4x3x1xf32> {
  // expected-error @+2 {{SPY093: dl16tofp32 reads and writes one element a stick, in sticks of different numbers of elements}}
  // expected-note @+1 {{remedy}}
  %0 = spyre.cast %x : (tensor<4x3x1xf16>) -> tensor<4x3x1xf32>
  return %0 : tensor<4x3x1xf32>
}

// -----

func.func @narrower(%x: tensor<4x3x1xf32>) -> tensor<4x3x1xf16> {
  // expected-error @+2 {{SPY093: fp32todl16 reads and writes one element a stick, in sticks of different numbers of elements}}
  // expected-note @+1 {{remedy}}
  %0 = spyre.cast %x : (tensor<4x3x1xf32>) -> tensor<4x3x1xf16>
  return %0 : tensor<4x3x1xf16>
}

// -----

func.func @choice(%x: tensor<16x65xf16>) -> tensor<1x65xf16> {
  // expected-error @+2 {{SPY093: topkvalue chooses one element, or from one: spyre.max does}}
  // expected-note @+1 {{remedy}}
  %0, %1 = spyre.topk %x {dim = 0 : i64, k = 1 : i64} : (tensor<16x65xf16>) -> (tensor<1x65xf16>, tensor<1x65xf16>)
  return %0 : tensor<1x65xf16>
}
