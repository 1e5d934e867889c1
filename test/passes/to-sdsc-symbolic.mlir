// Symbolic extents in a bundle: what the caller passes, and how far operations run.
//
// RUN: spyre-opt %s --pass-pipeline='builtin.module(spyre-to-sdsc{cores=4})' --split-input-file | FileCheck %s

// Rows in granules of 4, one for each core: the caller rounds n up. The function takes its tensors, then its result, then
// the extent.
// CHECK-DAG: sdscbundle.sdsc @sdsc_0 "add"{{.*}}cut = ["mb", 4, "out", 1]{{.*}}extents = array<i64: 64, 256>{{.*}}symbolic = {{\[}}["mb", 4, "n"]]
// CHECK-DAG: func.func @sdsc_bundle(%{{[^,]*}}: !sdscbundle.input_arg<index>, %{{[^,]*}}: !sdscbundle.input_arg<index>, %{{[^,]*}}: !sdscbundle.input_arg<index>, %{{[^,]*}}: !sdscbundle.input_arg<index, granularity=4, max_value=64>)
#rows = #spyre.encoding<valid_shape = [n, 256]>
func.func @rows(%x: tensor<64x256xf16, #rows>, %n: index {spyre.extent = "n"}, %y: tensor<64x256xf16, #rows>) -> tensor<64x256xf16, #rows> {
  %0 = spyre.add %x, %y : (tensor<64x256xf16, #rows>, tensor<64x256xf16, #rows>) -> tensor<64x256xf16, #rows>
  return %0 : tensor<64x256xf16, #rows>
}

// -----

// An insertion between rows that hold data writes exactly its own: rows stay on one core.
// CHECK-DAG: sdscbundle.sdsc @sdsc_1 "identity"{{.*}}cut = ["mb", 1, "out", 4]{{.*}}symbolic = {{\[}}["mb", 1, "n"]]
#rows = #spyre.encoding<valid_shape = [n, 256]>
func.func @inserted(%x: tensor<64x256xf16, #rows>, %y: tensor<70x256xf16>, %n: index {spyre.extent = "n"}) -> tensor<70x256xf16> {
  %0 = spyre.insert_slice %x into %y[2, 0] : (tensor<64x256xf16, #rows>, tensor<70x256xf16>) -> tensor<70x256xf16>
  return %0 : tensor<70x256xf16>
}

// -----

// Rows that come in fours can be divided over four cores.
// CHECK-DAG: sdscbundle.sdsc @sdsc_1 "identity"{{.*}}cut = ["mb", 4, "out", 1]{{.*}}symbolic = {{\[}}["mb", 4, "4 * n"]]
#rows = #spyre.encoding<valid_shape = [4 * n, 256]>
func.func @in_fours(%x: tensor<64x256xf16, #rows>, %y: tensor<70x256xf16>, %n: index {spyre.extent = "n"}) -> tensor<70x256xf16> {
  %0 = spyre.insert_slice %x into %y[2, 0] : (tensor<64x256xf16, #rows>, tensor<70x256xf16>) -> tensor<70x256xf16>
  return %0 : tensor<70x256xf16>
}

// -----

// Behind the region of the destination nobody looks: whole granules are written.
// CHECK-DAG: sdscbundle.sdsc @sdsc_1 "identity"{{.*}}symbolic = {{\[}}["mb", 4, "n"]]
#rows = #spyre.encoding<valid_shape = [n, 256]>
func.func @replaced(%x: tensor<64x256xf16, #rows>, %y: tensor<64x256xf16, #rows>, %n: index {spyre.extent = "n"}) -> tensor<64x256xf16, #rows> {
  %0 = spyre.insert_slice %x into %y[0, 0] : (tensor<64x256xf16, #rows>, tensor<64x256xf16, #rows>) -> tensor<64x256xf16, #rows>
  return %0 : tensor<64x256xf16, #rows>
}

// -----

// Softmax over a symbolic extent: maximum, exponential and sum are masked, and both extents passed once for all of them.
// CHECK-DAG: "max"{{.*}} mask = {{\[}}["out", 100, 63, "n"]], {{.*}}symbolic = {{\[}}["out", 64, "n"]]
// CHECK-DAG: "sub"{{.*}} symbolic = {{\[}}["out", 64, "n"]]
// CHECK-DAG: "exp"{{.*}} mask = {{\[}}["out", 100, 63, "n"]], {{.*}}symbolic = {{\[}}["out", 64, "n"]]
// CHECK-DAG: "sum"{{.*}} mask = {{\[}}["out", 100, 63, "n"]], {{.*}}symbolic = {{\[}}["out", 64, "n"]]
// CHECK-DAG: "realdiv"{{.*}} symbolic = {{\[}}["out", 64, "n"]]
// CHECK-DAG: func.func @sdsc_bundle({{.*}}, %{{[^,]*}}: !sdscbundle.input_arg<index>, %{{[^,]*}}: !sdscbundle.input_arg<index, granularity=64, max_value=128>, %{{[^,]*}}: !sdscbundle.input_arg<index, granularity=1, max_value=100>)
#row = #spyre.encoding<valid_shape = [8, n]>
func.func @softmax(%x: tensor<8x100xf16, #row>, %n: index {spyre.extent = "n", spyre.range = array<i64: 1, 100>}) -> tensor<8x100xf16, #row> {
  %0 = spyre.max %x {dims = [1], keep_dims = true} : (tensor<8x100xf16, #row>) -> tensor<8x1xf16>
  %1 = spyre.sub %x, %0 : (tensor<8x100xf16, #row>, tensor<8x1xf16>) -> tensor<8x100xf16, #row>
  %2 = spyre.exp %1 : (tensor<8x100xf16, #row>) -> tensor<8x100xf16, #row>
  %3 = spyre.sum %2 {dims = [1], keep_dims = true} : (tensor<8x100xf16, #row>) -> tensor<8x1xf16>
  %4 = spyre.div %2, %3 : (tensor<8x100xf16, #row>, tensor<8x1xf16>) -> tensor<8x100xf16, #row>
  return %4 : tensor<8x100xf16, #row>
}
