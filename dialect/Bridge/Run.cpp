// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Running a pass manager from Python, and reporting errors with notes.

#include "Bridge/Run.h"

#include "Bridge/Bridge.h"

#include "mlir/CAPI/Diagnostics.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Pass.h"
#include "mlir/CAPI/Support.h"
#include "mlir/IR/Diagnostics.h"

#include <map>

using namespace mlir;
using namespace spyre::bridge;

//===----------------------------------------------------------------------===//
// One thread
//===----------------------------------------------------------------------===//

namespace {
/// Keeps a context off its thread pool. Python code runs on one thread at a time, and a pool shared
/// with threads that hold the interpreter lock while they wait for it can block for good. The
/// caller holds that lock, so that nothing else uses the context, or `uses`, meanwhile.
class OneThread {
public:
  explicit OneThread(MLIRContext *context) : context(context) {
    auto [entry, isFirst] = uses().try_emplace(context);
    ++entry->second.count;
    // Inside a pass MLIR is at work in this context; its threads cannot be changed any more.
    if (isFirst && !isInsidePass() && context->isMultithreadingEnabled()) {
      entry->second.isToBeRestored = true;
      context->disableMultithreading();
    }
  }
  ~OneThread() {
    auto entry = uses().find(context);
    if (--entry->second.count)
      return;
    if (entry->second.isToBeRestored)
      context->enableMultithreading();
    uses().erase(entry);
  }

private:
  struct Use {
    int count = 0;
    bool isToBeRestored = false;
  };
  static std::map<MLIRContext *, Use> &uses() {
    static std::map<MLIRContext *, Use> instance;
    return instance;
  }
  MLIRContext *context;
};
} // namespace

//===----------------------------------------------------------------------===//
// Errors of a run
//===----------------------------------------------------------------------===//

using Errors = std::vector<Diagnostic>;

static Errors &errorsOf(SpyreErrors errors) { return *static_cast<Errors *>(errors.ptr); }

/// Python threads that share a context take turns within their runs, and the handler of the run
/// that began last is asked first: an error belongs to the innermost run of the thread it is on.
static thread_local const Errors *innermost = nullptr;

MlirLogicalResult spyreRunPassManager(MlirPassManager passManager, MlirOperation operation,
                                      bool onOneThread, SpyreErrors *errors) {
  auto *kept = new Errors();
  errors->ptr = kept;
  Operation *op = unwrap(operation);
  std::optional<OneThread> oneThread;
  if (onOneThread)
    oneThread.emplace(op->getContext());
  const Errors *outer = std::exchange(innermost, kept);
  ScopedDiagnosticHandler handler(op->getContext(), [kept](Diagnostic &diagnostic) {
    if (innermost != kept || diagnostic.getSeverity() != DiagnosticSeverity::Error)
      return failure();
    kept->push_back(std::move(diagnostic));
    return success();
  });
  LogicalResult result = unwrap(passManager)->run(op);
  innermost = outer;
  return wrap(result);
}

intptr_t spyreErrorsGetSize(SpyreErrors errors) { return errorsOf(errors).size(); }

MlirDiagnostic spyreErrorsGet(SpyreErrors errors, intptr_t position) {
  return wrap(errorsOf(errors)[position]);
}

void spyreErrorsEmit(SpyreErrors errors, MlirContext context) {
  for (Diagnostic &error : errorsOf(errors))
    unwrap(context)->getDiagEngine().emit(std::move(error));
  errorsOf(errors).clear();
}

void spyreErrorsDestroy(SpyreErrors errors) { delete &errorsOf(errors); }

void spyreEmitError(MlirLocation location, MlirStringRef message, intptr_t numNotes,
                    const SpyreNote *notes) {
  InFlightDiagnostic error = mlir::emitError(unwrap(location), unwrap(message));
  for (intptr_t i = 0; i < numNotes; ++i)
    error.attachNote(unwrap(notes[i].location)) << unwrap(notes[i].message);
}
