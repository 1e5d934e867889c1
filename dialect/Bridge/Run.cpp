// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Running a pass manager whose passes need a lock that the caller gave up, and reporting errors
// with notes.

#include "Bridge/Run.h"

#include "Bridge/Bridge.h"

#include "mlir/CAPI/Diagnostics.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Pass.h"
#include "mlir/CAPI/Support.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace spyre::bridge;

using Diagnostics = std::vector<Diagnostic>;

static Diagnostics &listOf(SpyreDiagnostics diagnostics) {
  return *static_cast<Diagnostics *>(diagnostics.ptr);
}

//===----------------------------------------------------------------------===//
// Which run a diagnostic belongs to
//===----------------------------------------------------------------------===//

namespace {
/// One run of a pass manager. Runs nest (a pass may run another pass manager) and threads share
/// contexts, so a handler sees diagnostics that are not its own.
class Run {
public:
  Run() : outer(innermost), isNested(isInsidePass()) { innermost = this; }
  ~Run() { innermost = outer; }

  /// A thread with a run of its own belongs to that run. Other threads are workers: MLIR replays
  /// what they report on the thread that started them, so what arrives from them directly may only
  /// be taken by an outermost run.
  bool owns() const { return innermost ? innermost == this : !isNested; }

private:
  static thread_local Run *innermost;
  Run *outer;
  bool isNested;
};
thread_local Run *Run::innermost = nullptr;
} // namespace

MlirLogicalResult spyreRunPassManager(MlirPassManager passManager, MlirOperation operation,
                                      SpyreDiagnostics *diagnostics) {
  auto *kept = new Diagnostics();
  diagnostics->ptr = kept;
  Operation *op = unwrap(operation);
  Run run;
  ScopedDiagnosticHandler handler(op->getContext(), [&](Diagnostic &diagnostic) {
    if (!run.owns())
      return failure();
    kept->push_back(std::move(diagnostic));
    return success();
  });
  return wrap(unwrap(passManager)->run(op));
}

intptr_t spyreDiagnosticsGetSize(SpyreDiagnostics diagnostics) {
  return listOf(diagnostics).size();
}

MlirDiagnostic spyreDiagnosticsGet(SpyreDiagnostics diagnostics, intptr_t position) {
  return wrap(listOf(diagnostics)[position]);
}

void spyreDiagnosticsEmit(SpyreDiagnostics diagnostics, intptr_t position, MlirContext context) {
  unwrap(context)->getDiagEngine().emit(std::move(listOf(diagnostics)[position]));
}

void spyreDiagnosticsDestroy(SpyreDiagnostics diagnostics) { delete &listOf(diagnostics); }

void spyreEmitError(MlirLocation location, MlirStringRef message, intptr_t numNotes,
                    const SpyreNote *notes) {
  InFlightDiagnostic error = mlir::emitError(unwrap(location), unwrap(message));
  for (intptr_t i = 0; i < numNotes; ++i)
    error.attachNote(unwrap(notes[i].location)) << unwrap(notes[i].message);
}
