// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operation that introduces a symbol.

#ifndef SPYRE_SYMBOLS_TD
#define SPYRE_SYMBOLS_TD

include "Spyre/Base.td"

def Spyre_ExtentOp : Spyre_Op<"extent"> {
  let summary = "introduces a symbol";
  let description = [{
    Binds the name of a symbol to an index value for this activation of the function. Stands in the entry
    block only, once per symbol. `range` declares the least and the largest value, both inclusive; the
    interpreter checks it.

    * C1: a symbol must be introduced in the entry block of a function.
    * C2: the symbol must be a name that is no reserved word, and the range [low, high] with low not above
      high.

    Example:

    ```mlir
    spyre.extent "n" = %arg0 in [0, 64]
    ```
  }];
  let arguments = (ins StrAttr:$symbol, Index:$value, OptionalAttr<DenseI64ArrayAttr>:$range);
  let assemblyFormat = "$symbol `=` $value (`in` $range^)? attr-dict";
  let hasVerifier = 1;
}

#endif // SPYRE_SYMBOLS_TD
