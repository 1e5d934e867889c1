// RUN: spyre-opt %examples/add.mlir --pass-pipeline='builtin.module(spyre-to-sdsc{cores=4})' | FileCheck %s
// RUN: spyre-opt %examples/add.mlir --spyre-to-sdsc='cores=4' | FileCheck %s
//
// The example of the README: two tensors of 268 533 760 bytes become a loop of 5 tiles of 1639 rows.

// CHECK: func.func @sdsc_bundle(%{{.*}}: !sdscbundle.input_arg<index>, %{{.*}}: !sdscbundle.input_arg<index>, %{{.*}}: !sdscbundle.input_arg<index>)
// CHECK: %[[TRIPS:.+]] = arith.constant 5 : index
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[TRIPS]] step %{{.*}} {
// CHECK:   sdscbundle.launch @sdsc_0
// CHECK: sdscbundle.sdsc @sdsc_0 "add" on "sfp"
// CHECK-SAME: extents = array<i64: 1639, 256, 64>
// CHECK-SAME: advances = array<i64: 53706752>
// CHECK-SAME: gaps = array<i64: 0, 6556, 0>
// CHECK-SAME: place = #spyre.place<argument 2 + 0>
