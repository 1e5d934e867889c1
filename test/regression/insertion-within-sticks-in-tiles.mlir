// RUN: spyre-opt %s --pass-pipeline='builtin.module(spyre-to-sdsc{span-limit=65536 cores=1})' | FileCheck %s

// What is written within sticks of an argument goes into a copy of it, merged lane by lane with what they hold; all of
// it in tiles. The destination is not copied as a whole, and what fills a new buffer tile by tile ends no stick early.
// CHECK-COUNT-3: scf.for
// CHECK: "where3"
func.func @main(%x: tensor<7x300x2xf16>, %y: tensor<8x301x3xf16>) -> tensor<8x301x3xf16> {
  %0 = spyre.insert_slice %x into %y[0, 0, 0] : (tensor<7x300x2xf16>, tensor<8x301x3xf16>) -> tensor<8x301x3xf16>
  return %0 : tensor<8x301x3xf16>
}
