// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all operations have in common: one text form, one trait, no side effects.

#ifndef SPYRE_BASE_TD
#define SPYRE_BASE_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "Spyre/Attributes.td"
include "Spyre/Dialect.td"
include "Spyre/Types.td"

/// Layout, window and valid region of every tensor agree with its shape (TensorChecks.h).
def SpyreTensors : NativeOpTrait<"SpyreTensors"> {
  let cppNamespace = "::spyre";
}

/// `%r = spyre.name %a, %b {attributes} : (types) -> type`.
class Spyre_Op<string mnemonic, list<Trait> traits = []>
    : Op<Spyre_Dialect, mnemonic, !listconcat(traits, [SpyreTensors])> {
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

class Spyre_PureOp<string mnemonic, list<Trait> traits = []>
    : Spyre_Op<mnemonic, !listconcat([Pure], traits)>;

#endif // SPYRE_BASE_TD
