// Whatever a pass raises is an error at its operation, or where a refusal points to.
// RUN: env PYTHONPATH=%S/Inputs spyre-opt --load-passes example_passes %s --split-input-file --verify-diagnostics \
// RUN:   --pass-pipeline='builtin.module(func.func(test-refuse))'
// RUN: env PYTHONPATH=%S/Inputs not spyre-opt --load-passes example_passes %s --test-raise 2>&1 | FileCheck %s --check-prefix=VALUE
// RUN: env PYTHONPATH=%S/Inputs not spyre-opt --load-passes example_passes %s --test-raise=kind=exit 2>&1 | FileCheck %s --check-prefix=EXIT
// RUN: env PYTHONPATH=%S/Inputs not spyre-opt --load-passes example_passes %s --test-raise=kind=mlir 2>&1 | FileCheck %s --check-prefix=MLIR
// RUN: env PYTHONPATH=%S/Inputs not spyre-opt --load-passes example_passes %s \
// RUN:   --pass-pipeline='builtin.module(func.func(test-read-tags))' 2>&1 | FileCheck %s --check-prefix=EARLY
// RUN: env PYTHONPATH=%S/Inputs spyre-opt --load-passes example_passes %s \
// RUN:   --pass-pipeline='builtin.module(func.func(test-tag,test-read-tags))' | FileCheck %s --check-prefix=ORDER

// VALUE: errors.mlir:{{.*}}: error: test-raise: ValueError: it went wrong ({{.*}}example_passes.py:{{[0-9]+}})
// VALUE-NOT: Traceback
// EXIT: error: test-raise: SystemExit: it went wrong
// MLIR: error: test-raise: MLIRError: Unable to parse module assembly ({{.*}}example_passes.py:{{[0-9]+}})
// EARLY: error: SPY200: test-read-tags needs tags: 'arith.constant' has no tag
// EARLY: note: remedy: run test-tag first
// ORDER: func.func @f() attributes {{.*}}read

func.func @f() {
  // expected-error @below {{SPY200: 12 bytes are more than 8 bytes}}
  // expected-note @below {{the 12 bytes come from here}}
  // expected-note @below {{and a note without a place}}
  // expected-note @below {{remedy: use 8 bytes}}
  %0 = arith.constant 1 : i32
  return
}

// -----

func.func @g() {
  // expected-error @below {{12 bytes}}
  // expected-note @below {{the 12 bytes}}
  // expected-note @below {{and a note}}
  // expected-note @below {{remedy}}
  return
}
