// RUN: spyre-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(spyre-infer-valid-shapes)'

// expected-note @+1 {{lhs, valid over [8, 16], is from here}}
func.func @disagree(%x: tensor<8x16xf16>, %y: tensor<8x16xf16, #spyre.encoding<valid_shape = [n, 16]>>) {
  // expected-note @+1 {{rhs, valid over [n, 16], is from here}}
  %0 = spyre.exp %y : (tensor<8x16xf16, #spyre.encoding<valid_shape = [n, 16]>>) -> tensor<8x16xf16>
  // expected-error @+5 {{SPY072: spyre.add: operands lhs and rhs do not provably agree on the valid extent of dim 0: lhs has 8, rhs has n}}
  // expected-note @+4 {{an elementwise operation reads every operand at each cell and writes one region}}
  // expected-note @+3 {{8 == n fails for n = 0; it holds for n = 8}}
  // expected-note @+2 {{under the policy 'intersect' this is accepted, with the region [n, 16]}}
  // expected-note @+1 {{remedy: narrow lhs with spyre.set_valid_shape to [n, 16], or fill the padding of rhs with spyre.fillpad first}}
  %1 = spyre.add %x, %0 : (tensor<8x16xf16>, tensor<8x16xf16>) -> tensor<8x16xf16>
  return
}

// -----

// What a loop carries has one type.

func.func @loop(%x: tensor<8x16xf16>, %y: tensor<8x16xf16, #spyre.encoding<valid_shape = [4, 16]>>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c1 = arith.constant 1 : index
  // expected-note @+1 {{the other type is from here}}
  %e = spyre.exp %x : (tensor<8x16xf16>) -> tensor<8x16xf16>
  %0 = scf.for %i = %c0 to %c4 step %c1 iter_args(%v = %e) -> tensor<8x16xf16> {
    %1 = spyre.exp %y : (tensor<8x16xf16, #spyre.encoding<valid_shape = [4, 16]>>) -> tensor<8x16xf16>
    // expected-error @+2 {{SPY087: value #0 that the loop carries, on entry and after a trip: valid extent 8 meets 4 at dim 0, and they are not provably equal}}
    // expected-note @+1 {{remedy: narrow both sides to one region with spyre.set_valid_shape, or fill both with spyre.fillpad}}
    scf.yield %1 : tensor<8x16xf16>
  }
  return
}

// -----

func.func @branches(%c: i1, %x: tensor<8x16xf16, #spyre.encoding<valid_shape = [n, 16]>>, %y: tensor<8x16xf16, #spyre.encoding<valid_shape = [m, 16]>>) {
  %0 = scf.if %c -> tensor<8x16xf16> {
    // expected-note @+1 {{the first branch yields this}}
    %1 = spyre.exp %x : (tensor<8x16xf16, #spyre.encoding<valid_shape = [n, 16]>>) -> tensor<8x16xf16>
    scf.yield %1 : tensor<8x16xf16>
  } else {
    %1 = spyre.exp %y : (tensor<8x16xf16, #spyre.encoding<valid_shape = [m, 16]>>) -> tensor<8x16xf16>
    // expected-error @+3 {{SPY087: result #0 of the two branches: valid extent n meets m at dim 0, and they are not provably equal}}
    // expected-note @+2 {{n == m fails for}}
    // expected-note @+1 {{remedy: narrow both sides}}
    scf.yield %1 : tensor<8x16xf16>
  }
  return
}

// -----

// A signature that states a region is an interface.

// expected-note @+1 {{the other type is from here}}
func.func @stated(%x: tensor<8x16xf16>) -> tensor<8x16xf16, #spyre.encoding<valid_shape = [3, 16]>> {
  %0 = spyre.exp %x : (tensor<8x16xf16>) -> tensor<8x16xf16, #spyre.encoding<valid_shape = [3, 16]>>
  // expected-error @+2 {{SPY087: result #0 of the function, returned and as its signature states it: valid extent 3 meets 8 at dim 0}}
  // expected-note @+1 {{remedy: narrow both sides}}
  return %0 : tensor<8x16xf16, #spyre.encoding<valid_shape = [3, 16]>>
}

// -----

// expected-note @+1 {{the other type is from here}}
func.func private @callee(%x: tensor<8x16xf16>)
func.func @call(%x: tensor<8x16xf16, #spyre.encoding<valid_shape = [3, 16]>>) {
  %0 = spyre.exp %x : (tensor<8x16xf16, #spyre.encoding<valid_shape = [3, 16]>>) -> tensor<8x16xf16>
  // expected-error @+2 {{SPY087: argument #0 of @callee, there and at the call: valid extent 8 meets 3 at dim 0}}
  // expected-note @+1 {{remedy: narrow both sides}}
  func.call @callee(%0) : (tensor<8x16xf16>) -> ()
  return
}

// -----

// A type cannot depend on an induction variable: the last window holds less than the others.

func.func @induction(%x: tensor<8x16xf16, #spyre.encoding<valid_shape = [5, 16]>>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %c0 to %c8 step %c2 {
    // expected-error @+2 {{SPY079: spyre.slice: the valid extent of dim 0 of the result would be}}
    // expected-note @+1 {{remedy: narrow or fill the operand first}}
    %1 = spyre.slice %x[%i, 0] : (tensor<8x16xf16, #spyre.encoding<valid_shape = [5, 16]>>) -> tensor<2x16xf16>
  }
  return
}
