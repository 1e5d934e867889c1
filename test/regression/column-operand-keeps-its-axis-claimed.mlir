// RUN: spyre-opt %s --verify-diagnostics --pass-pipeline='builtin.module(spyre-verify-valid-regions)'

// The type that the fault claimed, of the turned column itself: what the reshape gives is derived, not believed.

func.func @claimed(%c: tensor<64x1xf16, #spyre.encoding<valid_shape = [40, 1]>>) {
  // expected-error @+2 {{SPY088: 'spyre.reshape': result #0 is written as valid over [1, 64]; its rule gives [1, 40]}}
  // expected-note @+1 {{remedy: run spyre-infer-valid-shapes, or write what the rule gives}}
  %row = spyre.reshape %c : (tensor<64x1xf16, #spyre.encoding<valid_shape = [40, 1]>>) -> tensor<1x64xf16>
  return
}
