// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dialect `sdscbundle`: the public form of a bundle, as the backend reads it.

#ifndef SDSCBUNDLE_OPERATIONS_TD
#define SDSCBUNDLE_OPERATIONS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def SdscBundle_Dialect : Dialect {
  let name = "sdscbundle";
  let cppNamespace = "::sdscbundle";
  let summary = "Runs the operations of an SDSC bundle";
  let description = [{
    A bundle is a function that executes SDSC files, one per operation, in counted loops. Operands of an execution are start
    addresses in bytes: constants, extracted arguments, the pool, and affine expressions of them and of induction variables.
  }];
  let useDefaultTypePrinterParser = 1;
}

class SdscBundle_Op<string mnemonic, list<Trait> traits = []> : Op<SdscBundle_Dialect, mnemonic, traits>;

def SdscBundle_InputArgType : TypeDef<SdscBundle_Dialect, "InputArg"> {
  let mnemonic = "input_arg";
  let summary = "a parameter of a bundle: a base address, or the extent of a symbolic dim";
  let description = [{
    An extent has a granularity, of which every value is a multiple, and a largest value.

    Example: `!sdscbundle.input_arg<index>`, `!sdscbundle.input_arg<index, granularity=64, max_value=4096>`.
  }];
  let parameters = (ins "::mlir::Type":$value, "int64_t":$granularity, "int64_t":$maxValue);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Whether this is the extent of a symbolic dim; a base address has neither granularity nor largest value (0).
    bool isExtent() const { return getGranularity() != 0; }
  }];
}

def SdscBundle_InputArgExtractOp : SdscBundle_Op<"input_arg_extract", [Pure]> {
  let summary = "the value of a parameter";
  let description = [{
    Example: `%arg_0 = sdscbundle.input_arg_extract value from %arg_0_base_addr : !sdscbundle.input_arg<index> -> index`.
  }];
  let arguments = (ins SdscBundle_InputArgType:$parameter);
  let results = (outs Index:$result);
  let assemblyFormat = "`value` `from` $parameter attr-dict `:` type($parameter) `->` type($result)";
}

def SdscBundle_DeviceMemAllocateOp : SdscBundle_Op<"device_mem_allocate", [MemoryEffects<[MemAlloc]>]> {
  let summary = "device memory for the intermediates of a bundle";
  let description = [{
    * C1: at least one byte.

    Example: `%pool = sdscbundle.device_mem_allocate 32768 bytes : index`.
  }];
  let arguments = (ins I64Attr:$size);
  let results = (outs Index:$address);
  let assemblyFormat = "custom<Bytes>($size) `bytes` attr-dict `:` type($address)";
  let hasVerifier = 1;
}

def SdscBundle_SdscExecuteOp : SdscBundle_Op<"sdsc_execute"> {
  let summary = "runs one SDSC";
  let description = [{
    `symbol_ids` are the symbols of the SDSC that the operands give values to, in the same order.

    * C1: as many operands as symbol ids.
    * C2: symbol ids are negative.
    * C3: operands stand in the order of the symbol ids: -1, -2, ...
    * C4: a symbol id is given a value once in a bundle.
    * C5: an address comes from constants, arguments, the pool and induction variables only.
    * C6: a loop around it has constant bounds and a step above 0.
    * C7: a loop around it carries no values.
    * C8: a loop around it makes at most 65535 trips: the loop counter has 16 bits.
    * C9: it stands in a function and in loops (`scf.for`) only, never under a condition.

    Example: `sdscbundle.sdsc_execute (%arg_0, %arg_1) {sdsc_filename = "sdsc_0.json", symbol_ids = [-1, -2]}`.
  }];
  let arguments = (ins Variadic<Index>:$addresses, StrAttr:$sdsc_filename, I64ArrayAttr:$symbol_ids);
  let assemblyFormat = "`(` $addresses `)` attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::LogicalResult verifyUnique(::mlir::Operation *bundle);
  }];
}

#endif // SDSCBUNDLE_OPERATIONS_TD
