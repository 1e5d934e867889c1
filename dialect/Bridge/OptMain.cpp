// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The entry points of `spyre-opt` and `spyre-lsp-server`.

#include "Bridge/Bridge.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/CAPI/Wrap.h"
#include "mlir/Debug/Counter.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/Timing.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/CommandLine.h"

using namespace mlir;

/// Options that MlirOptMain registers together with all passes, that is, too late to be asked for here. A test
/// compares them with --help.
static const char *const optFlags[] = {
    "allow-unregistered-dialect",
};

bool spyreIsOptFlag(MlirStringRef name) {
  registerAsmPrinterCLOptions();
  registerMLIRContextCLOptions();
  registerPassManagerCLOptions();
  registerDefaultTimingManagerCLOptions();
  tracing::DebugCounter::registerCLOptions();
  StringRef flag = unwrap(name);
  return llvm::is_contained(optFlags, flag) || llvm::cl::getRegisteredOptions().contains(flag);
}

int spyreOptMain(int argc, char **argv, MlirDialectRegistry registry) {
  // Read by the caller; declared for --help.
  static llvm::cl::list<std::string> loadPasses(
      "load-passes", llvm::cl::value_desc("module"),
      llvm::cl::desc("Import a Python module and register the passes and pipelines it defines"));
  return asMainReturnCode(MlirOptMain(argc, argv, "spyre-opt: the MLIR optimizer driver of spyre\n",
                                      *unwrap(registry)));
}

int spyreLspMain(int argc, char **argv, MlirDialectRegistry registry) {
  return asMainReturnCode(MlirLspServerMain(argc, argv, *unwrap(registry)));
}
