// RUN: spyre-opt %s --pass-pipeline='builtin.module(spyre-materialize-extents,spyre-verify-valid-regions)' | FileCheck %s

#n = #spyre.encoding<valid_shape = [n, 16]>

// New arguments come last, by name; a caller that lacks what its callee needs gets it as well.
// CHECK-LABEL: func.func @caller
// CHECK-SAME: (%[[X:.+]]: tensor<{{[^%]*}}>, %{{.*}}: tensor<{{[^%]*}}>, %{{.*}}: index {spyre.extent = "m"}, %[[N:.+]]: index {spyre.extent = "n"})
// CHECK: call @callee(%[[X]], %[[N]]) : (tensor<{{.*}}>, index) -> tensor
func.func @caller(%x: tensor<8x16xf16, #n>, %y: tensor<4xf16, #spyre.encoding<valid_shape = [m]>>) -> tensor<8x16xf16, #n> {
  %0 = func.call @callee(%x) : (tensor<8x16xf16, #n>) -> tensor<8x16xf16, #n>
  return %0 : tensor<8x16xf16, #n>
}

// CHECK-LABEL: func.func private @callee
// CHECK-SAME: (%{{.*}}: tensor<{{[^%]*}}>, %[[M:.+]]: index {spyre.extent = "n"})
// CHECK: call @declared(%{{.*}}, %[[M]])
func.func private @callee(%x: tensor<8x16xf16, #n>) -> tensor<8x16xf16, #n> {
  %0 = spyre.exp %x : (tensor<8x16xf16, #n>) -> tensor<8x16xf16, #n>
  func.call @declared(%0) : (tensor<8x16xf16, #n>) -> ()
  return %0 : tensor<8x16xf16, #n>
}

// CHECK: func.func private @declared(tensor<{{.*}}>, index {spyre.extent = "n"})
func.func private @declared(tensor<8x16xf16, #n>)

// What is introduced already is passed on, from inside a loop too.
// CHECK-LABEL: func.func @introduced
// CHECK-SAME: (%[[V:.+]]: index, %{{[^:]*}}: tensor<8x16xf16>)
// CHECK: scf.for
// CHECK: call @callee(%{{.*}}, %[[V]])
func.func @introduced(%v: index, %x: tensor<8x16xf16>) {
  spyre.extent "n" = %v in [0, 8]
  %0 = spyre.set_valid_shape %x [n, 16] : (tensor<8x16xf16>) -> tensor<8x16xf16, #n>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %c1 step %c1 {
    %1 = func.call @callee(%0) : (tensor<8x16xf16, #n>) -> tensor<8x16xf16, #n>
  }
  return
}

// Only in types inside the body: an argument as well, with its place among the attributes of the others.
// CHECK-LABEL: func.func @body
// CHECK-SAME: (%{{.*}}: tensor<8x16xf16> {test.kept}, %{{.*}}: index {spyre.extent = "k"})
func.func @body(%x: tensor<8x16xf16> {test.kept}) {
  %0 = spyre.set_valid_shape %x [min(max(k, 0), 8), 16] : (tensor<8x16xf16>) -> tensor<8x16xf16, #spyre.encoding<valid_shape = [min(max(k, 0), 8), 16]>>
  return
}
