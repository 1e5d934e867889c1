// RUN: spyre-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(spyre-verify-valid-regions)'

func.func @derived(%x: tensor<8x16xf16>) {
  // expected-error @+2 {{SPY088: 'spyre.exp': result #0 is written as valid over [3, 16]; its rule gives [8, 16]}}
  // expected-note @+1 {{remedy: run spyre-infer-valid-shapes, or write what the rule gives}}
  %0 = spyre.exp %x : (tensor<8x16xf16>) -> tensor<8x16xf16, #spyre.encoding<valid_shape = [3, 16]>>
  return
}

// -----

func.func @pad(%x: tensor<8x16xf16, #spyre.encoding<valid_shape = [3, 16], pad = zero>>) {
  // expected-error @+2 {{SPY088: 'spyre.exp': result #0 promises pad zero; its rule promises none}}
  // expected-note @+1 {{remedy: run spyre-infer-valid-shapes}}
  %0 = spyre.exp %x : (tensor<8x16xf16, #spyre.encoding<valid_shape = [3, 16], pad = zero>>) -> tensor<8x16xf16, #spyre.encoding<valid_shape = [3, 16], pad = zero>>
  return
}

// -----

// Symbols.

// expected-error @+2 {{SPY015: symbol n is used in a type and introduced nowhere in the function}}
// expected-note @+1 {{remedy: introduce it: an index argument {spyre.extent = "n"}, spyre.extent, or spyre-materialize-extents}}
func.func @unknown(%x: tensor<8x16xf16, #spyre.encoding<valid_shape = [n, 16]>>) {
  return
}

// -----

// expected-note @+1 {{the first time is here}}
func.func @twice(%n: index {spyre.extent = "n"}, %m: index) {
  // expected-error @+2 {{SPY012: symbol n is introduced a second time}}
  // expected-note @+1 {{remedy: give one of the two another name}}
  spyre.extent "n" = %m
  return
}

// -----

// expected-error @+2 {{SPY013: result #0 of @leaves is valid over [n, 16]; a caller cannot name n, which is introduced inside}}
// expected-note @+1 {{remedy: introduce n by an index argument, or return a region without it}}
func.func @leaves(%v: index, %x: tensor<8x16xf16>) -> tensor<8x16xf16, #spyre.encoding<valid_shape = [n, 16]>> {
  // expected-note @+1 {{n is introduced here}}
  spyre.extent "n" = %v in [0, 8]
  %0 = spyre.set_valid_shape %x [n, 16] : (tensor<8x16xf16>) -> tensor<8x16xf16, #spyre.encoding<valid_shape = [n, 16]>>
  return %0 : tensor<8x16xf16, #spyre.encoding<valid_shape = [n, 16]>>
}

// -----

// expected-note @+1 {{@callee introduces n here}}
func.func private @callee(index {spyre.extent = "n"})
func.func @another(%m: index {spyre.extent = "m"}) {
  // expected-error @+2 {{SPY014: the call of @callee passes m for the symbol n}}
  // expected-note @+1 {{remedy: pass the value that the caller introduces as n}}
  func.call @callee(%m) : (index) -> ()
  return
}

// -----

func.func private @callee(index {spyre.extent = "n", spyre.range = array<i64: 0, 9>})
func.func @range(%n: index {spyre.extent = "n", spyre.range = array<i64: 0, 10>}) {
  // expected-error @+3 {{SPY014: @callee takes n in [0, 9]; n <= 9 is not provable at the call}}
  // expected-note @+2 {{n <= 9 fails for n = 10}}
  // expected-note @+1 {{remedy: declare the range of n in the caller as well}}
  func.call @callee(%n) : (index) -> ()
  return
}

// -----

// Boundaries: what is never an operand of an operation of the dialect is checked as well.

// expected-error @+1 {{SPY011: argument #0 of @rank: valid_shape has 1 extents, the tensor has rank 2}}
func.func @rank(%x: tensor<8x16xf16, #spyre.encoding<valid_shape = [1]>>) { return }

// -----

// expected-error @+1 {{SPY011: result #0 of @stick: the last device dim is the stick, 128 bytes: 64 elements of 'f16' in SEN169_FP16, but the layout says 32}}
func.func private @stick() -> tensor<1024x256xf16, #spyre.encoding<layout = #spyre.layout<[8, 1024, 32] : [32, 256, 1]>>>

// -----

// expected-error @+3 {{SPY071: argument #1 of @outside: valid extent n + 9 of dim 0 is not in [0, 8], the dim}}
// expected-note @+2 {{no values of the symbols give n + 9 <= 8}}
// expected-note @+1 {{remedy: use min(n + 9, 8), or declare ranges of n}}
func.func @outside(%n: index {spyre.extent = "n", spyre.range = array<i64: 0, 3>}, %x: tensor<8x16xf16, #spyre.encoding<valid_shape = [n + 9, 16]>>) {
  return
}

// -----

// Containment must be proved.

// expected-note @+1 {{input, valid over [8, 16], is from here}}
func.func @narrow(%n: index {spyre.extent = "n"}, %x: tensor<8x16xf16>) {
  // expected-error @+3 {{SPY082: spyre.set_valid_shape: extent n of dim 0 is not provably inside the operand's valid region [8, 16]: 0 <= n is needed}}
  // expected-note @+2 {{0 <= n fails for}}
  // expected-note @+1 {{remedy: use min(n, 8), or declare a range of n that keeps it inside}}
  %0 = spyre.set_valid_shape %x [n, 16] : (tensor<8x16xf16>) -> tensor<8x16xf16, #spyre.encoding<valid_shape = [n, 16]>>
  return
}

// -----

// expected-note @+1 {{source, valid over [2, 16], is from here}}
func.func @write(%x: tensor<2x16xf16>, %y: tensor<8x16xf16, #spyre.encoding<valid_shape = [5, 16]>>) {
  %c0 = arith.constant 0 : index
  %c6 = arith.constant 6 : index
  %c2 = arith.constant 2 : index
  // expected-note @+1 {{destination, valid over [5, 16], is from here}}
  %0 = scf.for %i = %c0 to %c6 step %c2 iter_args(%v = %y) -> tensor<8x16xf16, #spyre.encoding<valid_shape = [5, 16]>> {
    // expected-error @+4 {{SPY081: spyre.insert_slice: the source's valid cells are not provably inside the destination's region [5, 16]}}
    // expected-note @+3 {{fails for trip.0 = 2; it holds for trip.0 = 0}}
    // expected-note @+2 {{written into, the region would be}}
    // expected-note @+1 {{remedy:}}
    %1 = spyre.insert_slice %x into %v[%i, 0] : (tensor<2x16xf16>, tensor<8x16xf16, #spyre.encoding<valid_shape = [5, 16]>>) -> tensor<8x16xf16, #spyre.encoding<valid_shape = [5, 16]>>
    scf.yield %1 : tensor<8x16xf16, #spyre.encoding<valid_shape = [5, 16]>>
  }
  return
}

// -----

func.func @foreign(%x: tensor<8x16xf16, #spyre.encoding<valid_shape = [5, 16]>>) {
  // expected-error @+2 {{SPY086: 'arith.negf': operand #0 is valid over [5, 16] only, and no rule says which cells the operation reads and writes}}
  // expected-note @+1 {{remedy: use an operation of the dialect spyre, or fill the tensor with spyre.fillpad first}}
  %0 = arith.negf %x : tensor<8x16xf16, #spyre.encoding<valid_shape = [5, 16]>>
  return
}
