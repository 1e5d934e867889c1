// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one extension module of the project. It speaks to MLIR and to our own C++ through C APIs
// only: it is built with RTTI and exceptions, they are not.

#include "Python/Bind.h"

NB_MODULE(_spyre, m) {
  m.doc() =
      "Dialects, prover and pass bridge of spyre-mlir; use it through the spyre_mlir package.";
  bindDialect(m);
  bindBridge(m);
  bindListing(m);
  bindProver(m);
}
