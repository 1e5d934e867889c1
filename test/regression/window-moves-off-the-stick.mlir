// RUN: spyre-opt %s --pass-pipeline='builtin.module(spyre-to-sdsc{cores=1})' --verify-diagnostics
//
// A window that a loop moves by less than a stick was read at addresses within sticks.

#rows = #spyre.encoding<layout = #spyre.layout<[2, 8, 64] : [512, 1, 8]>>
#part = #spyre.encoding<layout = #spyre.layout<[2, 8, 64] : [512, 1, 8]>, window>
func.func @fold(%x: tensor<65x8xf16, #rows>) -> tensor<13x8xf16> {
  %c0 = arith.constant 0 : index
  %c65 = arith.constant 65 : index
  %c13 = arith.constant 13 : index
  %0 = spyre.slice %x[0, 0] : (tensor<65x8xf16, #rows>) -> tensor<13x8xf16, #part>
  %1 = spyre.identity %0 : (tensor<13x8xf16, #part>) -> tensor<13x8xf16>
  %2 = scf.for %i = %c0 to %c65 step %c13 iter_args(%sum = %1) -> (tensor<13x8xf16>) {
    %3 = spyre.slice %x[%i, 0] : (tensor<65x8xf16, #rows>) -> tensor<13x8xf16, #part>
    // expected-error @+2 {{SPY090: a window moves by 26 bytes a trip, in sticks of 128 bytes}}
    // expected-note @+1 {{remedy: move it by whole sticks}}
    %4 = spyre.maximum %sum, %3 : (tensor<13x8xf16>, tensor<13x8xf16, #part>) -> tensor<13x8xf16>
    scf.yield %4 : tensor<13x8xf16>
  }
  return %2 : tensor<13x8xf16>
}
