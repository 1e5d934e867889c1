// RUN: spyre-opt %s | spyre-opt | FileCheck %s
// RUN: spyre-opt %s --emit-bytecode | spyre-opt | FileCheck %s
// RUN: spyre-opt %s --mlir-print-op-generic | spyre-opt | FileCheck %s

#map_0 = affine_map<(d0)[s0] -> (s0 + 4096*d0)>

// CHECK-LABEL: @sdsc_bundle(
// CHECK-SAME: !sdscbundle.input_arg<index>
// CHECK-SAME: !sdscbundle.input_arg<index, granularity=64, max_value=4096>
// CHECK: %[[POOL:.+]] = sdscbundle.device_mem_allocate 32768 bytes : index
// CHECK: sdscbundle.input_arg_extract value from %{{.*}} : !sdscbundle.input_arg<index> -> index
// CHECK: sdscbundle.sdsc_execute (%{{.*}}, %{{.*}}, %[[POOL]]) {sdsc_filename = "sdsc_0.json", symbol_ids = [-1, -2, -3]}
// CHECK: sdscbundle.sdsc_execute () {sdsc_filename = "sdsc_1.json", symbol_ids = []}
func.func @sdsc_bundle(%a: !sdscbundle.input_arg<index>, %n: !sdscbundle.input_arg<index, granularity=64, max_value=4096>) {
  %pool = sdscbundle.device_mem_allocate 32768 bytes : index
  %arg_0 = sdscbundle.input_arg_extract value from %a : !sdscbundle.input_arg<index> -> index
  %extent = sdscbundle.input_arg_extract value from %n : !sdscbundle.input_arg<index, granularity=64, max_value=4096> -> index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %trips = arith.constant 65535 : index
  scf.for %i = %c0 to %trips step %c1 {
    %address = affine.apply #map_0(%i)[%arg_0]
    sdscbundle.sdsc_execute (%extent, %address, %pool) {sdsc_filename="sdsc_0.json", "symbol_ids"=[-1, -2, -3]}
  }
  sdscbundle.sdsc_execute () {sdsc_filename="sdsc_1.json", "symbol_ids"=[]}
  return
}
