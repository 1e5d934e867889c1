// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dialect `sdscbundle`: the public form of a bundle, as the backend reads it.

#ifndef SDSCBUNDLE_OPERATIONS_TD
#define SDSCBUNDLE_OPERATIONS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
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

/// The type as a constraint of its own, so that it is printed in full, as the backend expects it.
def SdscBundle_Parameter : Type<CPred<"::llvm::isa<::sdscbundle::InputArgType>($_self)">,
    "parameter of a bundle">;

def SdscBundle_InputArgExtractOp : SdscBundle_Op<"input_arg_extract", [Pure]> {
  let summary = "the value of a parameter";
  let description = [{
    Example: `%arg_0 = sdscbundle.input_arg_extract value from %arg_0_base_addr : !sdscbundle.input_arg<index> -> index`.
  }];
  let arguments = (ins SdscBundle_Parameter:$parameter);
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
  let assemblyFormat = "` ` `(` $addresses `)` attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::LogicalResult verifyUnique(::mlir::Operation *bundle);
  }];
}

def SdscBundle_SdscOp : SdscBundle_Op<"sdsc", [Symbol, HasParent<"::mlir::ModuleOp">]> {
  let summary = "what one SDSC says, each fact once";
  let description = [{
    The compact form of an operation on the cores, from which the bundle writer expands the JSON file and the
    addresses of every core.

    `labels` and `extents` (elements, whole sticks) are the iteration dims. `cut` says into how many slices cores cut a dim, as
    alternating label and count, the fastest first. Each of `operands` is a dictionary:

    * `axes`: labels of the dims in memory, inner to outer; `standing`: those along which the operand has one place;
      `gaps`: elements behind the extent of each axis that belong to the buffer only;
    * `stick`: the label that lies in the stick; `format`: the device format;
    * `place`: `#spyre.place`, the buffer and the offset in bytes; `advances`: bytes that one trip of each enclosing loop adds,
      outermost first, empty where the address stays.

    The last operand is written. `constants` are [name, format, bits]; `mask` lists [label, valid, pad].

    `symbolic` lists dims whose extent the caller passes: [label, granularity, tag]; `extents` holds the largest one, and `tag` is
    an expression over the symbols of the program, which the caller rounds up to a multiple of the granularity. A mask that ends
    there has the same tag: [label, largest valid, most pad, tag].

    * C1: as many extents as labels, all positive, labels distinct.
    * C2: `cut` names dims of the operation, each once, and divides their extents.
    * C3: an operand has the keys above, axes that are dims of the operation, and one gap an axis.
    * C4: `symbolic` names dims of the operation, each once; the granularity divides the extent, and the slices the granularity.

    Example: `sdscbundle.sdsc @sdsc_0 "exp" on "sfp" {labels = ["mb", "out"], extents = array<i64: 128, 256>, ...}`.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$function, StrAttr:$unit, StrArrayAttr:$labels,
                       DenseI64ArrayAttr:$extents, ArrayAttr:$cut, ArrayAttr:$operands,
                       DefaultValuedAttr<BoolAttr, "false">:$reads_output,
                       DefaultValuedAttr<ArrayAttr, "{}">:$constants, DefaultValuedAttr<ArrayAttr, "{}">:$mask,
                       DefaultValuedAttr<ArrayAttr, "{}">:$symbolic);
  let assemblyFormat = "$sym_name $function `on` $unit attr-dict";
  let hasVerifier = 1;
}

def SdscBundle_LaunchOp : SdscBundle_Op<"launch", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "runs an SDSC of the module";
  let description = [{
    The compact form of `sdsc_execute`: places and advances stand in the SDSC, so there are no operands.

    * C1: the symbol is an SDSC of the module.

    Example: `sdscbundle.launch @sdsc_0`.
  }];
  let arguments = (ins FlatSymbolRefAttr:$sdsc);
  let assemblyFormat = "$sdsc attr-dict";
}

#endif // SDSCBUNDLE_OPERATIONS_TD
