// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// C API of the bridge: passes and pipelines whose options are known to MLIR and whose work is done
// elsewhere (in Python). Nothing here speaks of Python: the other side is a table of callbacks.

#ifndef SPYRE_BRIDGE_BRIDGE_H
#define SPYRE_BRIDGE_BRIDGE_H

#include "mlir-c/Diagnostics.h"
#include "mlir-c/IR.h"
#include "mlir-c/Pass.h"

#ifdef __cplusplus
extern "C" {
#endif

/// One option. `grammar` says what a value (an element, if `isList`) looks like: "bool", "int",
/// "float", "string", or the admitted words separated by '|'. It is also what --help shows.
typedef struct SpyreOptionSchema {
  MlirStringRef name;
  MlirStringRef help;
  MlirStringRef grammar;
  bool isList;
  intptr_t numDefaults; // 1 unless `isList`
  const MlirStringRef *defaults;
} SpyreOptionSchema;

typedef struct SpyreStatisticSchema {
  MlirStringRef name;
  MlirStringRef help;
} SpyreStatisticSchema;

/// A pass or a pipeline; for a pipeline only `argument`, `description` and the options count.
/// Strings are copied.
typedef struct SpyreSchema {
  MlirStringRef argument;    // name on the command line and in pipelines
  MlirStringRef name;        // name in timing reports and messages
  MlirStringRef description; // for --help
  MlirStringRef anchor;      // operation the pass runs on; empty: any
  intptr_t numOptions;
  const SpyreOptionSchema *options;
  intptr_t numStatistics;
  const SpyreStatisticSchema *statistics;
  intptr_t numDialects; // dialects of which the pass may create operations
  const MlirStringRef *dialects;
  bool checksOptions; // options are checked by `create` when a pipeline is parsed, not first at the
                      // run
  void *owner;        // handed to the callbacks
} SpyreSchema;

/// Values of one option, in their canonical spelling.
typedef struct SpyreOptionValue {
  intptr_t numTexts;
  const MlirStringRef *texts;
} SpyreOptionValue;

/// The other side. Each callback may come on any thread; it takes the interpreter lock itself.
typedef struct SpyreCallbacks {
  /// The pass object for these option values; null after telling `report` why there is none.
  void *(*create)(void *owner, intptr_t numOptions, const SpyreOptionValue *options,
                  MlirStringCallback report, void *reportData);
  /// Runs the pass object; false if the pass failed, which it has said in a diagnostic.
  bool (*run)(void *instance, MlirOperation operation);
  void (*release)(void *instance);
  /// The textual pipeline for these option values, or what is wrong with them, through `report`.
  bool (*expand)(void *owner, intptr_t numOptions, const SpyreOptionValue *options,
                 MlirStringCallback report, void *reportData);
  /// Whether this thread holds the interpreter lock.
  bool (*holdsInterpreter)(void);
} SpyreCallbacks;

/// To be called once, before anything below. `registry` stays in use.
void spyreBridgeInitialize(MlirDialectRegistry registry, SpyreCallbacks callbacks);

/// Whether `argument` is a registered pass or pipeline, of MLIR's or ours.
bool spyreIsRegistered(MlirStringRef argument);
bool spyreIsDialect(MlirStringRef name);

/// The argument must be free and the dialects known.
void spyreRegisterPass(const SpyreSchema *schema);
void spyreRegisterPipeline(const SpyreSchema *schema);

/// Spells an option value so that a pipeline text gives it back; false if that cannot be done
/// (unbalanced braces, both kinds of quotes, space at an end).
bool spyreSpellOptionValue(MlirStringRef value, MlirStringCallback callback, void *userData);

/// Adds to a statistic of the pass that runs on this thread, if that is `argument`.
void spyreCount(MlirStringRef argument, intptr_t statistic, int64_t count);

/// An error with notes, in one piece.
typedef struct SpyreNote {
  MlirLocation location;
  MlirStringRef message;
} SpyreNote;
void spyreEmitError(MlirLocation location, MlirStringRef message, intptr_t numNotes,
                    const SpyreNote *notes);

typedef struct SpyreErrors {
  void *ptr;
} SpyreErrors;

/// Runs a pass manager and keeps its errors; other diagnostics go to the handlers of the context.
/// To be called with the interpreter lock. With `onOneThread`, as passes in Python need it, the
/// context's threads are not used. `errors` is to be destroyed by the caller.
MlirLogicalResult spyreRunPassManager(MlirPassManager passManager, MlirOperation operation,
                                      bool onOneThread, SpyreErrors *errors);
intptr_t spyreErrorsGetSize(SpyreErrors errors);
MlirDiagnostic spyreErrorsGet(SpyreErrors errors, intptr_t position);
/// Hands the errors to the handlers of the context.
void spyreErrorsEmit(SpyreErrors errors, MlirContext context);
void spyreErrorsDestroy(SpyreErrors errors);

/// Whether `name` (without dashes) is an option of `spyre-opt` that is not a pass.
bool spyreIsOptFlag(MlirStringRef name);
/// What `mlir-opt` does, with the dialects of the registry and all registered passes. Once per
/// process.
int spyreOptMain(int argc, char **argv, MlirDialectRegistry registry);
/// What `mlir-lsp-server` does.
int spyreLspMain(int argc, char **argv, MlirDialectRegistry registry);

#ifdef __cplusplus
}
#endif

#endif // SPYRE_BRIDGE_BRIDGE_H
