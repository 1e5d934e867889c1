// Bad input is told in one message, without a traceback, and the exit code is not 0.
// RUN: not spyre-opt %s --no-such-pass 2>&1 | FileCheck %s --check-prefix=FLAG
// RUN: not spyre-opt %s --pass-pipeline='builtin.module(no-such-pass)' 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not spyre-opt %s --pass-pipeline='builtin.module(cse' 2>&1 | FileCheck %s --check-prefix=TEXT
// RUN: not spyre-opt %t.missing.mlir 2>&1 | FileCheck %s --check-prefix=FILE
// RUN: not spyre-opt %S/Inputs/malformed.mlir 2>&1 | FileCheck %s --check-prefix=SYNTAX
// RUN: not spyre-opt %s -o %t.missing/out.mlir 2>&1 | FileCheck %s --check-prefix=OUT
// RUN: not spyre-opt %s --load-passes no_such_module 2>&1 | FileCheck %s --check-prefix=MODULE
// RUN: env PYTHONPATH=%S/Inputs not spyre-opt %s --load-passes broken_passes 2>&1 | FileCheck %s --check-prefix=BROKEN
// RUN: env PYTHONPATH=%S/Inputs not spyre-opt %s --load-passes example_passes --test-check=even=3 2>&1 | FileCheck %s --check-prefix=ODD
// RUN: env PYTHONPATH=%S/Inputs not spyre-opt %s --load-passes example_passes --test-check=even=x 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: env PYTHONPATH=%S/Inputs not spyre-opt %s --load-passes example_passes --test-check=odd=3 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: env PYTHONPATH=%S/Inputs not spyre-opt %s --load-passes example_passes --pass-pipeline='builtin.module(test-tag)' 2>&1 | FileCheck %s --check-prefix=ANCHOR

// FLAG: Unknown command line argument '--no-such-pass'
// NAME: 'no-such-pass' does not refer to a registered pass or pass pipeline
// TEXT: error: {{.*}}
// FILE: cannot open input file '{{.*}}missing.mlir'
// SYNTAX: malformed.mlir:2:{{.*}}error:
// OUT: missing/out.mlir
// MODULE: spyre-opt: cannot load passes: ModuleNotFoundError: No module named 'no_such_module'
// BROKEN: spyre-opt: cannot load passes: TypeError: BrokenOptions.count is declared without option(default, help="...")
// ODD: test-check: option 'even' is 3, which is odd
// TYPE: option 'even': 'x' is not an integer of 64 bits
// OPTION: no such option odd
// ANCHOR: Can't add pass 'TagFunctions' restricted to 'func.func'

module {
}
