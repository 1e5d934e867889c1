// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations that compute every cell of the result from the cells of the operands at the same place.

#ifndef SPYRE_ELEMENTWISE_TD
#define SPYRE_ELEMENTWISE_TD

include "Spyre/Base.td"

/// result[i] = f(lhs[i], rhs[i]); operands broadcast right-aligned, one of them may be a scalar.
class Spyre_BinaryOp<string mnemonic, list<Trait> traits = []> : Spyre_PureOp<mnemonic, traits> {
  let arguments = (ins Spyre_TensorOrScalar:$lhs, Spyre_TensorOrScalar:$rhs);
  let results = (outs Spyre_Tensor:$result);
  let hasVerifier = 1;
  let extraClassDefinition = [{
    ::mlir::LogicalResult $cppClass::verify() {
      return ::spyre::verifyElementwise(*this, (*this)->getOperands());
    }
  }];
}

/// result[i] = f(input[i]).
class Spyre_UnaryOp<string mnemonic, list<Trait> traits = []> : Spyre_PureOp<mnemonic, traits> {
  let arguments = (ins Spyre_Tensor:$input);
  let results = (outs Spyre_Tensor:$result);
  let hasVerifier = 1;
  let extraClassDefinition = [{
    ::mlir::LogicalResult $cppClass::verify() {
      return ::spyre::verifyElementwise(*this, (*this)->getOperands());
    }
  }];
}

def Spyre_AddOp : Spyre_BinaryOp<"add", [Commutative]> {
  let summary = "elementwise sum";
}

#endif // SPYRE_ELEMENTWISE_TD
