// Two programs that combine a full buffer of 64 rows with one that holds `valid_tok` of them: refused as they stand,
// compiled where operands may be narrowed.
//
// RUN: not spyre-opt %examples/valid_tok_prefill.mlir --pass-pipeline='builtin.module(spyre-to-sdsc)' 2>&1 | FileCheck %s --check-prefix=AGREE
// RUN: not spyre-opt %examples/valid_tok_reduce.mlir --pass-pipeline='builtin.module(spyre-to-sdsc)' 2>&1 | FileCheck %s --check-prefix=AGREE
// RUN: spyre-opt %examples/valid_tok_prefill.mlir --pass-pipeline='builtin.module(spyre-to-sdsc{policy=intersect})' | FileCheck %s --check-prefix=PREFILL
// RUN: spyre-opt %examples/valid_tok_reduce.mlir --pass-pipeline='builtin.module(spyre-to-sdsc{policy=intersect})' | FileCheck %s --check-prefix=REDUCE

// AGREE: error: SPY072: spyre.add: operands lhs and rhs do not provably agree on the valid extent of dim 0
// AGREE: note: {{.*}} fails for valid_tok = 0; it holds for valid_tok = 64
// AGREE: note: under the policy 'intersect' this is accepted, with the region [valid_tok, 256]
// AGREE: note: lhs, valid over
// AGREE: note: rhs, valid over
// AGREE: note: remedy: narrow {{.*}} with spyre.set_valid_shape to [valid_tok, 256]

// PREFILL-DAG: sdscbundle.sdsc @sdsc_0 "batchmatmul"{{.*}} symbolic = {{\[}}["mb", 4, "valid_tok"]]
// PREFILL-DAG: sdscbundle.sdsc @sdsc_1 "add"{{.*}} symbolic = {{\[}}["mb", 32, "valid_tok"]]
// PREFILL-DAG: sdscbundle.sdsc @sdsc_2 "silu"{{.*}} symbolic = {{\[}}["mb", 32, "valid_tok"]]
// PREFILL-DAG: func.func @sdsc_bundle({{.*}}%{{[^,]*}}: !sdscbundle.input_arg<index>, %{{[^,]*}}: !sdscbundle.input_arg<index, granularity=4, max_value=64>, %{{[^,]*}}: !sdscbundle.input_arg<index, granularity=32, max_value=64>)

// REDUCE: sdscbundle.launch @sdsc_0
// REDUCE: scf.for
// REDUCE-NEXT: sdscbundle.launch @sdsc_1
// REDUCE: sdscbundle.sdsc @sdsc_0 "identity"{{.*}} symbolic = {{\[}}["mb", 32, "valid_tok"]]
// REDUCE: sdscbundle.sdsc @sdsc_1 "add"{{.*}} symbolic = {{\[}}["mb", 32, "valid_tok"]]
