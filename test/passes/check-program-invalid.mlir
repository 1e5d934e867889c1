// RUN: spyre-opt %s --spyre-check-program --split-input-file --verify-diagnostics
//
// Each of these would be dropped, or compiled into something else, by passes that only look at the dialect.

func.func @effect(%x: tensor<4x64xf16>, %i: index) {
  // expected-error @below {{SPY100: 'vector.print' is not compiled}}
  vector.print %i : index
  return
}

// -----

func.func @computed(%x: tensor<4x64xf16>, %s: f16) -> tensor<4x64xf16> {
  // expected-error @below {{SPY100: 'arith.addf' is not compiled}}
  %t = arith.addf %s, %s : f16
  %0 = spyre.add %x, %t : (tensor<4x64xf16>, f16) -> tensor<4x64xf16>
  return %0 : tensor<4x64xf16>
}

// -----

func.func @returned(%x: tensor<4x64xf16>, %s: f16) -> (tensor<4x64xf16>, f16) {
  // expected-error @below {{SPY100: value #1 that is returned has type f16; only tensors are}}
  return %x, %s : tensor<4x64xf16>, f16
}

// -----

// expected-error @below {{SPY100: the function has 2 blocks; control flow is not compiled}}
// expected-note @below {{remedy: write counted loops as scf.for}}
func.func @blocks(%x: tensor<4x64xf16>) -> tensor<4x64xf16> {
  cf.br ^end
^end:
  return %x : tensor<4x64xf16>
}

// -----

func.func @trips(%x: tensor<4x64xf16>) -> tensor<4x64xf16> {
  %low = arith.constant 0 : index
  %high = arith.constant 65536 : index
  %step = arith.constant 1 : index
  // expected-error @below {{SPY162: a loop of 65536 trips; the hardware counts from 1 to 65535}}
  %r = scf.for %i = %low to %high step %step iter_args(%a = %x) -> tensor<4x64xf16> {
    scf.yield %a : tensor<4x64xf16>
  }
  return %r : tensor<4x64xf16>
}

// -----

func.func @first() {
  return
}

// expected-error @below {{SPY095: a bundle is one function; the module has 2 with a body}}
// expected-note @below {{remedy: inline the calls and remove what is not called}}
func.func @second() {
  return
}
