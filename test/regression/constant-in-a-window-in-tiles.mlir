// RUN: spyre-opt %s --pass-pipeline='builtin.module(spyre-to-sdsc{span-limit=32768 cores=2})' | FileCheck %s

// A constant that fills a piece of a buffer is made there, tile by tile.
// CHECK: scf.for
// CHECK: "batchmatmul"

  func.func @main(%arg0: tensor<3x4x3x181xf16>, %arg1: tensor<3x1x181x59xf16>) -> tensor<3x4x3x59xf16> {
    %0 = spyre.broadcast %arg1 : (tensor<3x1x181x59xf16>) -> tensor<3x4x181x59xf16>
    %1 = spyre.batch_matmul %arg0, %0 : (tensor<3x4x3x181xf16>, tensor<3x4x181x59xf16>) -> tensor<3x4x3x59xf16>
    return %1 : tensor<3x4x3x59xf16>
  }

