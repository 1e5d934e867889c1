// RUN: spyre-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{SPY010: the largest value is a positive multiple of the granularity, got 100 and 64}}
func.func private @f(!sdscbundle.input_arg<index, granularity=64, max_value=100>)

// -----

// expected-error @+1 {{SPY010: a parameter of a bundle is an index, got 'f16'}}
func.func private @f(!sdscbundle.input_arg<f16>)

// -----

func.func @f() {
  // expected-error @+1 {{C1: at least one byte is allocated, got 0}}
  %0 = sdscbundle.device_mem_allocate 0 bytes : index
  return
}

// -----

func.func @f() {
  %0 = arith.constant 0 : index
  // expected-error @+1 {{C1: 1 operands for 2 symbol ids}}
  sdscbundle.sdsc_execute (%0) {sdsc_filename = "sdsc_0.json", symbol_ids = [-1, -2]}
  return
}

// -----

func.func @f() {
  %0 = arith.constant 0 : index
  // expected-error @+1 {{C2: symbol ids are negative, got 1}}
  sdscbundle.sdsc_execute (%0) {sdsc_filename = "sdsc_0.json", symbol_ids = [1]}
  return
}

// -----

func.func @f() {
  %0 = arith.constant 0 : index
  // expected-error @+1 {{C3: operands stand in the order of the symbol ids, but -1 follows -2}}
  sdscbundle.sdsc_execute (%0, %0) {sdsc_filename = "sdsc_0.json", symbol_ids = [-2, -1]}
  return
}

// -----

func.func @f() {
  %0 = arith.constant 0 : index
  // expected-note @+1 {{the first time here}}
  sdscbundle.sdsc_execute (%0) {sdsc_filename = "sdsc_0.json", symbol_ids = [-1]}
  // expected-error @+1 {{C4: symbol id -1 is given a value twice}}
  sdscbundle.sdsc_execute (%0) {sdsc_filename = "sdsc_1.json", symbol_ids = [-1]}
  return
}

// -----

func.func @f(%a: index) {
  // expected-error @+1 {{C5: operand #0 does not come from constants, arguments, the pool and induction variables only}}
  sdscbundle.sdsc_execute (%a) {sdsc_filename = "sdsc_0.json", symbol_ids = [-1]}
  return
}

// -----

func.func @f(%a: !sdscbundle.input_arg<index>) {
  %n = sdscbundle.input_arg_extract value from %a : !sdscbundle.input_arg<index> -> index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-note @+1 {{the loop is here}}
  scf.for %i = %c0 to %n step %c1 {
    // expected-error @+1 {{C6: a loop around it has constant bounds and a step above 0}}
    sdscbundle.sdsc_execute (%i) {sdsc_filename = "sdsc_0.json", symbol_ids = [-1]}
  }
  return
}

// -----

func.func @f() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-note @+1 {{the loop is here}}
  %0 = scf.for %i = %c0 to %c1 step %c1 iter_args(%x = %c0) -> index {
    // expected-error @+1 {{C7: a loop around it carries no values}}
    sdscbundle.sdsc_execute (%i) {sdsc_filename = "sdsc_0.json", symbol_ids = [-1]}
    scf.yield %x : index
  }
  return
}

// -----

func.func @f() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 65536 : index
  // expected-note @+1 {{the loop is here}}
  scf.for %i = %c0 to %n step %c1 {
    // expected-error @+1 {{C8: a loop around it makes at most 65535 trips, not 65536}}
    sdscbundle.sdsc_execute (%i) {sdsc_filename = "sdsc_0.json", symbol_ids = [-1]}
  }
  return
}

// -----

func.func @f() {
  %c0 = arith.constant 0 : index
  %true = arith.constant true
  scf.if %true {
    // expected-error @+1 {{C9: it stands in a function and in loops only, not in 'scf.if'}}
    sdscbundle.sdsc_execute (%c0) {sdsc_filename = "sdsc_0.json", symbol_ids = [-1]}
  }
  return
}

// -----

func.func @f(%a: !sdscbundle.input_arg<index>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = sdscbundle.input_arg_extract value from %a : !sdscbundle.input_arg<index> -> index
  %product = arith.muli %x, %x : index
  // expected-error @+1 {{C5: operand #1 does not come from constants, arguments, the pool and induction variables only}}
  sdscbundle.sdsc_execute (%x, %product) {sdsc_filename = "sdsc_0.json", symbol_ids = [-1, -2]}
  return
}

// -----

func.func @f() {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  // expected-note @+1 {{the loop is here}}
  scf.for %i = %c0 to %c4 step %c0 {
    // expected-error @+1 {{C6: a loop around it has constant bounds and a step above 0}}
    sdscbundle.sdsc_execute (%i) {sdsc_filename = "sdsc_0.json", symbol_ids = [-1]}
  }
  return
}
