// RUN: spyre-opt %s --pass-pipeline='builtin.module(func.func(spyre-plan-span-overflow))' --verify-diagnostics
//
// What a pass needs is asked of the IR, not of history: run too early, it names the pass to run first.

func.func @too_early(%x: tensor<20x64xf16>) {
  // expected-error @+2 {{SPY200: spyre-plan-span-overflow needs device layouts: 'spyre.exp' has no device layout on operand #0}}
  // expected-note @+1 {{remedy: run spyre-assign-layouts first}}
  %0 = spyre.exp %x : (tensor<20x64xf16>) -> tensor<20x64xf16>
  return
}
