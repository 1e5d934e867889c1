// RUN: spyre-opt %s --pass-pipeline='builtin.module(func.func(spyre-assign-layouts,spyre-plan-span-overflow{span-limit=8192}))' --split-input-file --verify-diagnostics

// The rows that are picked lie 8192 bytes apart, and any tile may need any of them.
func.func @gather(%x: tensor<4x60x1024xf16>, %at: tensor<37xi32>) -> tensor<4x37x1024xf16> {
  // expected-error @below {{SPY047: 'spyre.gather': a span stays over the limit, and positions that are loaded drive it}}
  // expected-note @below {{result, device dim 0: 37 steps of 8192 bytes}}
  // expected-note @below {{dim parallel(1) of extent 37 can be cut down to 32 elements}}
  // expected-note @below {{cut as finely as can be, it still spans 262144 bytes}}
  // expected-note @below {{source, device dim 0: 60 steps of 8192 bytes span 491520 bytes, 483328 over the limit of 8192}}
  // expected-note @below {{dim reduction(0) of extent 60 cannot be cut: it is indexed by positions that are loaded from memory}}
  // expected-note @below {{cut as finely as can be, it still spans 491520 bytes}}
  // expected-note @below {{remedy: lay the tensor out with the indexed dim inside}}
  %0 = spyre.gather %x, %at {dim = 1} : (tensor<4x60x1024xf16>, tensor<37xi32>) -> tensor<4x37x1024xf16>
  return %0 : tensor<4x37x1024xf16>
}
