// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SPYRE_SYMBOLS_TD
#define SPYRE_SYMBOLS_TD

include "Spyre/Base.td"

def Spyre_ExtentOp : Spyre_Op<"extent"> {
  let summary = "introduces a symbol";
  let description = [{
    The symbol stands for the index value in the types of this function. It is introduced once, in the entry block; the operation is
    kept where it is (it has an effect as far as other passes can tell) and is not inlined.

    * C1: stands in the entry block of a function, not in a loop or branch.
    * C2: the symbol is a name that is no reserved word.

    Example: `spyre.extent "n" = %v`, with a declared range `spyre.extent "n" = %v in [0, 64]`.
  }];
  let arguments = (ins StrAttr:$symbol, Index:$value, OptionalAttr<DenseI64ArrayAttr>:$range);
  let assemblyFormat = "$symbol `=` $value (`in` $range^)? attr-dict";
  let hasVerifier = 1;
}

#endif // SPYRE_SYMBOLS_TD
