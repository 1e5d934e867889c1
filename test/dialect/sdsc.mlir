// RUN: spyre-opt %s | spyre-opt | FileCheck %s
// RUN: spyre-opt %s --emit-bytecode | spyre-opt | FileCheck %s
// RUN: spyre-opt %s --mlir-print-op-generic | spyre-opt | FileCheck %s

// CHECK-LABEL: @sdsc_bundle
// CHECK: scf.for
// CHECK:   sdscbundle.launch @sdsc_0
// CHECK: sdscbundle.launch @sdsc_1
func.func @sdsc_bundle(%a: !sdscbundle.input_arg<index>, %b: !sdscbundle.input_arg<index>) {
  %pool = sdscbundle.device_mem_allocate 4096 bytes : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    sdscbundle.launch @sdsc_0
  }
  sdscbundle.launch @sdsc_1
  return
}

// Everything but what is optional.
// CHECK: sdscbundle.sdsc @sdsc_0 "exp" on "sfp"
// CHECK-SAME: cut = ["mb", 4, "out", 1]
// CHECK-SAME: extents = array<i64: 8, 64>, labels = ["mb", "out"]
// CHECK-SAME: advances = array<i64: 1024>
// CHECK-SAME: place = #spyre.place<argument 0 + 128>
// CHECK-SAME: place = #spyre.place<pool 0 + 0>
sdscbundle.sdsc @sdsc_0 "exp" on "sfp" {
  labels = ["mb", "out"], extents = array<i64: 8, 64>, cut = ["mb", 4, "out", 1],
  operands = [
    {axes = ["mb", "out"], standing = [], gaps = array<i64: 24, 0>, stick = "out", format = "SEN169_FP16",
     place = #spyre.place<argument 0 + 128>, advances = array<i64: 1024>},
    {axes = ["mb", "out"], standing = [], gaps = array<i64: 24, 0>, stick = "out", format = "SEN169_FP16",
     place = #spyre.place<pool 0 + 0>, advances = array<i64: 1024>}]}

// A reduction over a partial stick: it reads its output, has a constant and a mask, and an operand that stands still.
// CHECK: sdscbundle.sdsc @sdsc_1 "sum" on "sfp"
// CHECK-SAME: constants = {{\[}}["samv-maskvalue", "SEN169_FP16", 0]]
// CHECK-SAME: mask = {{\[}}["out", 50, 14]]
// CHECK-SAME: standing = ["out"]
// CHECK-SAME: reads_output = true
sdscbundle.sdsc @sdsc_1 "sum" on "sfp" {
  labels = ["mb", "out"], extents = array<i64: 32, 64>, cut = [], reads_output = true,
  constants = [["samv-maskvalue", "SEN169_FP16", 0]], mask = [["out", 50, 14]],
  operands = [
    {axes = ["mb", "out"], standing = [], gaps = array<i64: 0, 0>, stick = "out", format = "SEN169_FP16",
     place = #spyre.place<pool 0 + 0>, advances = array<i64>},
    {axes = ["mb", "out"], standing = ["out"], gaps = array<i64: 0, 0>, stick = "out", format = "SEN169_FP16",
     place = #spyre.place<argument 1 + 0>, advances = array<i64>}]}
