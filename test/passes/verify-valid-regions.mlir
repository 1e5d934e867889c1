// RUN: spyre-opt %s --pass-pipeline='builtin.module(spyre-verify-valid-regions)' | FileCheck %s
// RUN: spyre-opt %s --pass-pipeline='builtin.module(spyre-verify-valid-regions)' --mlir-pass-statistics 2>&1 | FileCheck %s --check-prefix=STATISTICS

// STATISTICS: (S) 7 verified - operations verified

#n = #spyre.encoding<valid_shape = [n, 16]>
#min = #spyre.encoding<valid_shape = [min(n, 8), 16]>
#six = #spyre.encoding<valid_shape = [6, 16]>

// A region may be spelled in another way than the rule spells it, as long as they are provably equal: an argument
// promises n <= 8.
// CHECK-LABEL: func.func @spelled
func.func @spelled(%n: index {spyre.extent = "n"}, %x: tensor<8x16xf16, #n>) -> tensor<8x16xf16, #min> {
  %0 = spyre.exp %x : (tensor<8x16xf16, #n>) -> tensor<8x16xf16, #min>
  return %0 : tensor<8x16xf16, #min>
}

// A symbol introduced inside, within its declared range; a call passes it under the same name, within the callee's.
// CHECK-LABEL: func.func @inside
func.func @inside(%v: index, %x: tensor<8x16xf16>) {
  spyre.extent "n" = %v in [1, 8]
  %0 = spyre.set_valid_shape %x [n, 16] : (tensor<8x16xf16>) -> tensor<8x16xf16, #n>
  func.call @callee(%v, %0) : (index, tensor<8x16xf16, #n>) -> ()
  return
}
// CHECK-LABEL: func.func private @callee
func.func private @callee(index {spyre.extent = "n", spyre.range = array<i64: 0, 8>}, tensor<8x16xf16, #n>)

// Windows that a loop writes lie provably inside the region of what it carries.
// CHECK-LABEL: func.func @written
func.func @written(%x: tensor<8x16xf16, #six>) -> tensor<8x16xf16, #six> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %e = spyre.empty : () -> tensor<8x16xf16, #six>
  %0 = scf.for %i = %c0 to %c3 step %c1 iter_args(%v = %e) -> tensor<8x16xf16, #six> {
    %two = arith.constant 2 : index
    %at = arith.muli %i, %two : index
    %1 = spyre.slice %x[%at, 0] : (tensor<8x16xf16, #six>) -> tensor<2x16xf16>
    %2 = spyre.exp %1 : (tensor<2x16xf16>) -> tensor<2x16xf16>
    %3 = spyre.insert_slice %2 into %v[%at, 0] : (tensor<2x16xf16>, tensor<8x16xf16, #six>) -> tensor<8x16xf16, #six>
    scf.yield %3 : tensor<8x16xf16, #six>
  }
  return %0 : tensor<8x16xf16, #six>
}

// What a window of a padded tensor promises of its pad need not be promised.
// CHECK-LABEL: func.func @weaker
func.func @weaker(%x: tensor<8x16xf16, #spyre.encoding<valid_shape = [6, 16], pad = zero>>) {
  %0 = spyre.slice %x[0, 0] : (tensor<8x16xf16, #spyre.encoding<valid_shape = [6, 16], pad = zero>>) -> tensor<8x16xf16, #six>
  return
}

// Arithmetic of other dialects is none of its business where everything is valid.
// CHECK-LABEL: func.func @upstream
func.func @upstream(%x: tensor<8x16xf16>, %y: tensor<?xf32>) -> tensor<8x16xf16> {
  %0 = arith.negf %x : tensor<8x16xf16>
  %1 = arith.negf %y : tensor<?xf32>
  return %0 : tensor<8x16xf16>
}
