// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dialect `spyre`: tensor operations whose types say how a tensor lies in device memory and which
// part of it holds data.

#ifndef SPYRE_DIALECT_TD
#define SPYRE_DIALECT_TD

include "mlir/IR/DialectBase.td"

def Spyre_Dialect : Dialect {
  let name = "spyre";
  let cppNamespace = "::spyre";
  let summary = "Tensor operations of the Spyre accelerator";
  let description = [{
    Tensors are builtin ranked tensors with one encoding attribute, `#spyre.encoding`, which carries the
    device layout (`#spyre.layout`) and the valid region. Operations compute on the valid cells of their
    operands; what a cell outside holds is not defined unless `pad` promises it.
  }];
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
  }];
  // Arguments carry `spyre.extent` and `spyre.range`; both are checked here, functions by the verifier pass.
  let hasRegionArgAttrVerify = 1;
  let hasOperationAttrVerify = 1;
}

#endif // SPYRE_DIALECT_TD
