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
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

/// Options that MlirOptMain registers together with all passes, that is, too late to be asked for
/// here. A test compares them with --help.
static const char *const optFlags[] = {"allow-unregistered-dialect",
                                       "dump-pass-pipeline",
                                       "elide-resource-data-from-bytecode",
                                       "emit-bytecode",
                                       "emit-bytecode-version",
                                       "h",
                                       "irdl-file",
                                       "list-passes",
                                       "load-dialect-plugin",
                                       "load-pass-plugin",
                                       "load-passes",
                                       "log-actions-to",
                                       "log-mlir-actions-filter",
                                       "mlir-diagnostic-verbosity-level",
                                       "mlir-disable-diagnostic-notes",
                                       "mlir-enable-debugger-hook",
                                       "mlir-generate-reproducer",
                                       "mlir-very-unsafe-disable-verifier-on-parsing",
                                       "no-implicit-module",
                                       "o",
                                       "output-split-marker",
                                       "p",
                                       "pass-pipeline",
                                       "profile-actions-to",
                                       "remark-format",
                                       "remark-policy",
                                       "remarks-filter",
                                       "remarks-filter-analyse",
                                       "remarks-filter-failed",
                                       "remarks-filter-missed",
                                       "remarks-filter-passed",
                                       "remarks-output-file",
                                       "run-reproducer",
                                       "show-dialects",
                                       "split-input-file",
                                       "verify-diagnostics",
                                       "verify-each",
                                       "verify-roundtrip"};

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
  LogicalResult result =
      MlirOptMain(argc, argv, "The optimizer driver of spyre-mlir\n", *unwrap(registry));
  // The caller ends the process without destructors, which would say this.
  llvm::outs().flush();
  if (llvm::outs().has_error()) {
    llvm::errs() << "error: standard output: " << llvm::outs().error().message() << "\n";
    llvm::outs().clear_error();
    return 1;
  }
  return asMainReturnCode(result);
}

int spyreLspMain(int argc, char **argv, MlirDialectRegistry registry) {
  return asMainReturnCode(MlirLspServerMain(argc, argv, *unwrap(registry)));
}
