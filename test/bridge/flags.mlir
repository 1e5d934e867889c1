// What mlir-opt does, spyre-opt does with passes written in Python.
// RUN: env PYTHONPATH=%S/Inputs spyre-opt --load-passes example_passes %s --pass-pipeline='builtin.module(func.func(test-tag))' --mlir-timing --mlir-pass-statistics 2>&1 | FileCheck %s --check-prefix=NUMBERS
// RUN: env PYTHONPATH=%S/Inputs spyre-opt --load-passes example_passes %s --pass-pipeline='builtin.module(func.func(test-tag))' --mlir-print-ir-after-all 2>&1 | FileCheck %s --check-prefix=AFTER
// RUN: env PYTHONPATH=%S/Inputs spyre-opt --load-passes example_passes %s --pass-pipeline='builtin.module(func.func(test-make))' | FileCheck %s --check-prefix=DIALECT
// RUN: env PYTHONPATH=%S/Inputs spyre-opt --load-passes example_passes %s --list-passes | FileCheck %s --check-prefix=LIST
// RUN: spyre-opt %s --show-dialects | FileCheck %s --check-prefix=DIALECTS
// RUN: spyre-opt %s --verify-roundtrip --canonicalize | FileCheck %s --check-prefix=ROUND
// RUN: spyre-opt %s --emit-bytecode -o %t.mlirbc && spyre-opt %t.mlirbc | FileCheck %s --check-prefix=ROUND
// RUN: spyre-opt < %s | FileCheck %s --check-prefix=ROUND
// RUN: spyre-opt --version | FileCheck %s --check-prefix=VERSION

// A crash reproducer holds the pipeline, and runs again.
// RUN: rm -f %t.repro.mlir
// RUN: env PYTHONPATH=%S/Inputs not spyre-opt --load-passes example_passes %s --test-raise --mlir-pass-pipeline-crash-reproducer=%t.repro.mlir
// RUN: FileCheck %s --check-prefix=REPRO --input-file=%t.repro.mlir
// RUN: env PYTHONPATH=%S/Inputs not spyre-opt --load-passes example_passes %t.repro.mlir --run-reproducer 2>&1 | FileCheck %s --check-prefix=AGAIN

// In transform scripts passes are known by name too.
// RUN: env PYTHONPATH=%S/Inputs spyre-opt --load-passes example_passes %S/Inputs/transform.mlir --transform-interpreter | FileCheck %s --check-prefix=TRANSFORM

// NUMBERS-DAG: TagFunctions
// NUMBERS-DAG: (S) 1 functions - functions seen
// NUMBERS-DAG: (S) 2 tagged - operations tagged
// AFTER: IR Dump After TagFunctions (test-tag)
// DIALECT: tensor.empty() : tensor<4xf16>
// LIST: test-tag
// DIALECTS: spyre
// ROUND: func.func @f
// VERSION: LLVM version 22
// REPRO: pipeline: "builtin.module(test-raise{kind=value})"
// AGAIN: error: test-raise: ValueError: it went wrong
// TRANSFORM: func.func @payload() attributes {{.*}}tag = "by-transform"

func.func @f() -> i32 {
  %0 = arith.constant 1 : i32
  %1 = arith.addi %0, %0 : i32
  return %1 : i32
}
