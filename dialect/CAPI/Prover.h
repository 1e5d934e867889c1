// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// C API of the prover: what the Python module may use.

#ifndef SPYRE_CAPI_PROVER_H
#define SPYRE_CAPI_PROVER_H

#include "mlir-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  MlirStringRef symbol;
  bool hasLow, hasHigh;
  int64_t low, high;
} SpyreSymbolRange;

/// One value of a symbol in the witness, or else in the counterexample.
typedef void (*SpyreBindingCallback)(bool isWitness, MlirStringRef symbol, int64_t value,
                                     void *userData);

/// "always", "never", "sometimes" or "undecided" whether `lhs` is related ("equal", "less_equal")
/// to `rhs`. Null after `error` was called: an argument is no extent, or no relation.
const char *spyreProve(MlirStringRef relation, MlirStringRef lhs, MlirStringRef rhs,
                       intptr_t rangeCount, const SpyreSymbolRange *ranges, intptr_t factCount,
                       const MlirStringRef *nonNegative, SpyreBindingCallback binding,
                       MlirStringCallback error, void *userData);

#ifdef __cplusplus
}
#endif

#endif // SPYRE_CAPI_PROVER_H
