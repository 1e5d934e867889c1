// RUN: spyre-opt %s --pass-pipeline='builtin.module(spyre-to-sdsc)' --split-input-file --verify-diagnostics | FileCheck %s
//
// A reduction over a symbolic extent was lowered over the whole buffer, so that cells without data reached the result.

// Rows are iterated one by one, as many as the caller says.
// CHECK-DAG: sdscbundle.sdsc @sdsc_0 "sumnonstick"{{.*}}extents = array<i64: 256, 64>{{.*}}symbolic = {{\[}}["out", 1, "n"]]
// CHECK-DAG: func.func @sdsc_bundle(%{{.*}}: !sdscbundle.input_arg<index>, %{{.*}}: !sdscbundle.input_arg<index>, %{{.*}}: !sdscbundle.input_arg<index, granularity=1, max_value=64>)
func.func @sum(%x: tensor<64x256xf16, #spyre.encoding<valid_shape = [n, 256]>>, %n: index {spyre.extent = "n", spyre.range = array<i64: 1, 64>}) -> tensor<256xf16> {
  %0 = spyre.sum %x {dims = [0]} : (tensor<64x256xf16, #spyre.encoding<valid_shape = [n, 256]>>) -> tensor<256xf16>
  return %0 : tensor<256xf16>
}

// -----

// Along the stick whole sticks are read, and the lanes behind the valid ones masked.
// CHECK-DAG: sdscbundle.sdsc @sdsc_0 "max"{{.*}}extents = array<i64: 8, 128>{{.*}}mask = {{\[}}["out", 70, 63, "n"]]{{.*}}symbolic = {{\[}}["out", 64, "n"]]
// CHECK-DAG: func.func @sdsc_bundle({{.*}}, %{{.*}}: !sdscbundle.input_arg<index, granularity=64, max_value=128>, %{{.*}}: !sdscbundle.input_arg<index, granularity=1, max_value=70>)
func.func @max(%x: tensor<8x70xf16, #spyre.encoding<valid_shape = [8, n]>>, %n: index {spyre.extent = "n", spyre.range = array<i64: 1, 70>}) -> tensor<8xf16> {
  %0 = spyre.max %x {dims = [1]} : (tensor<8x70xf16, #spyre.encoding<valid_shape = [8, n]>>) -> tensor<8xf16>
  return %0 : tensor<8xf16>
}

// -----

// A product over whole sticks needs no mask, and can be divided over them.
// CHECK-DAG: sdscbundle.sdsc @sdsc_0 "batchmatmul"{{.*}}], symbolic = {{\[}}["in", 64, "64 * n"]]
func.func @product(%x: tensor<64x256xf16, #spyre.encoding<valid_shape = [64, 64 * n]>>, %y: tensor<256x64xf16, #spyre.encoding<valid_shape = [64 * n, 64]>>, %n: index {spyre.extent = "n", spyre.range = array<i64: 1, 4>}) -> tensor<64x64xf16> {
  %0 = spyre.batch_matmul %x, %y : (tensor<64x256xf16, #spyre.encoding<valid_shape = [64, 64 * n]>>, tensor<256x64xf16, #spyre.encoding<valid_shape = [64 * n, 64]>>) -> tensor<64x64xf16>
  return %0 : tensor<64x64xf16>
}

// -----

// A product reads whole sticks of its first factor: both are filled with zeros behind the extent. To that end the first
// one is turned, so that its extent ends with a row, and turned back.
// CHECK-DAG: sdscbundle.sdsc @sdsc_2 "identity"{{.*}} symbolic = {{\[}}["out", 1, "n"]]
// CHECK-DAG: sdscbundle.sdsc @sdsc_3 "ReStickifyOpHBM"
// CHECK-DAG: sdscbundle.sdsc @sdsc_5 "identity"{{.*}} symbolic = {{\[}}["mb", 1, "n"]]
// CHECK-DAG: sdscbundle.sdsc @sdsc_6 "batchmatmul"{{.*}}extents = array<i64: 64, 64, 128>
func.func @ends_within_a_stick(%x: tensor<64x128xf16, #spyre.encoding<valid_shape = [64, n]>>, %y: tensor<128x64xf16, #spyre.encoding<valid_shape = [n, 64]>>, %n: index {spyre.extent = "n", spyre.range = array<i64: 1, 128>}) -> tensor<64x64xf16> {
  %0 = spyre.batch_matmul %x, %y : (tensor<64x128xf16, #spyre.encoding<valid_shape = [64, n]>>, tensor<128x64xf16, #spyre.encoding<valid_shape = [n, 64]>>) -> tensor<64x64xf16>
  return %0 : tensor<64x64xf16>
}

// -----

func.func @mean(%x: tensor<64x256xf16, #spyre.encoding<valid_shape = [n, 256]>>, %n: index {spyre.extent = "n", spyre.range = array<i64: 1, 64>}) -> tensor<256xf16> {
  // expected-error @+2 {{SPY101: 'spyre.mean' divides by the number of cells that it combines, n, which is a constant of the device function and not known before the bundle runs}}
  // expected-note @+1 {{remedy: sum them with spyre.sum, and multiply by an argument that holds 1 / the number of cells}}
  %0 = spyre.mean %x {dims = [0]} : (tensor<64x256xf16, #spyre.encoding<valid_shape = [n, 256]>>) -> tensor<256xf16>
  return %0 : tensor<256xf16>
}

// -----

func.func @product_over_nothing(%x: tensor<64x256xf16, #spyre.encoding<valid_shape = [64, 64 * n]>>, %y: tensor<256x64xf16, #spyre.encoding<valid_shape = [64 * n, 64]>>, %n: index {spyre.extent = "n"}) -> tensor<64x64xf16> {
  // expected-error @+2 {{SPY101: 'spyre.batch_matmul' may combine no cell along iteration dim d2: its extent 64 * n may be 0, and the device then writes nothing}}
  // expected-note @+1 {{remedy: declare the range of the symbols, so that 64 * n is at least 1}}
  %0 = spyre.batch_matmul %x, %y : (tensor<64x256xf16, #spyre.encoding<valid_shape = [64, 64 * n]>>, tensor<256x64xf16, #spyre.encoding<valid_shape = [64 * n, 64]>>) -> tensor<64x64xf16>
  return %0 : tensor<64x64xf16>
}

// -----

// An insertion along the stick ends with a row where sticks are turned onto a dim that is written as a whole. There is none
// in a vector.
func.func @insertion(%x: tensor<64xf16, #spyre.encoding<valid_shape = [n]>>, %y: tensor<128xf16>, %n: index {spyre.extent = "n"}) -> tensor<128xf16> {
  // expected-error @+2 {{SPY101: 'spyre.insert_slice' writes n elements from element 0 of dim 0 on, whose sticks hold 64; they may begin or end within one, and cannot be turned: no dim is written as a whole}}
  // expected-note @+1 {{remedy: begin at a multiple of 64, and give the extent as one, such as 64 * k, or as a literal}}
  %0 = spyre.insert_slice %x into %y[0] : (tensor<64xf16, #spyre.encoding<valid_shape = [n]>>, tensor<128xf16>) -> tensor<128xf16>
  return %0 : tensor<128xf16>
}
