// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations that move or rename cells and compute nothing.

#ifndef SPYRE_MOVEMENT_TD
#define SPYRE_MOVEMENT_TD

include "Spyre/Base.td"

def Spyre_EmptyOp : Spyre_PureOp<"empty"> {
  let summary = "a tensor whose cells are still to be written";
  let description = [{
    The result type states the region that will be valid once it is filled; a cell that was not written yet must
    not be read.

    Example: `%0 = spyre.empty : () -> tensor<8x64xf16>`.
  }];
  let arguments = (ins);
  let results = (outs Spyre_Tensor:$result);
}

def Spyre_SliceOp : Spyre_PureOp<"slice"> {
  let summary = "a window of a tensor";
  let description = [{
    The window begins at `offsets` (elements, one a dim, each a literal or an index value) and has the shape of the result. No data moves.

    * C1: source and result have the same rank and element type.
    * C2: one offset a dim; literal offsets are at least 0 and the window lies inside the source.

    Example: `%t = spyre.slice %x[%i, 0] : (tensor<8195x64xf16>) -> tensor<1639x64xf16>`.
  }];
  let arguments = (ins Spyre_Tensor:$source, Variadic<Index>:$offsets, DenseI64ArrayAttr:$static_offsets);
  let results = (outs Spyre_Tensor:$result);
  let assemblyFormat = [{
    $source `` custom<DynamicIndexList>($offsets, $static_offsets) attr-dict
    `:` `(` type($source) `)` `->` type($result)
  }];
  let hasVerifier = 1;
}

def Spyre_InsertSliceOp : Spyre_PureOp<"insert_slice"> {
  let summary = "a tensor with a window overwritten";
  let description = [{
    Writes exactly the valid cells of the source into the destination, beginning at `offsets`. They must lie inside the valid box of
    the destination, whose type is also the result's, so that a loop carries one type.

    * C1: source, destination and result have the same rank and element type; the result has the type of the destination.
    * C2: one offset a dim; literal offsets are at least 0 and the window lies inside the destination.

    Example: `%r = spyre.insert_slice %t into %x[%i, 0] : (tensor<1639x64xf16>, tensor<8195x64xf16>) -> tensor<8195x64xf16>`.
  }];
  let arguments = (ins Spyre_Tensor:$source, Spyre_Tensor:$destination, Variadic<Index>:$offsets,
                       DenseI64ArrayAttr:$static_offsets);
  let results = (outs Spyre_Tensor:$result);
  let assemblyFormat = [{
    $source `into` $destination `` custom<DynamicIndexList>($offsets, $static_offsets) attr-dict
    `:` `(` type($source) `,` type($destination) `)` `->` type($result)
  }];
  let hasVerifier = 1;
}

def Spyre_SetValidShapeOp : Spyre_PureOp<"set_valid_shape"> {
  let summary = "narrows the valid region";
  let description = [{
    Metadata only. The extents must provably not exceed those of the source; they are what the result type says.

    * C1: source and result differ in their valid region only.
    * C2: the extents are those of the result type.

    Example: `%r = spyre.set_valid_shape %x [8, n] : (tensor<8x64xf16>) -> tensor<8x64xf16, #spyre.encoding<valid_shape = [8, n]>>`.
  }];
  let arguments = (ins Spyre_Tensor:$source, TypedArrayAttrBase<Spyre_ExtentAttr, "list of extents">:$valid_shape);
  let results = (outs Spyre_Tensor:$result);
  let assemblyFormat = [{
    $source custom<Extents>($valid_shape) attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // SPYRE_MOVEMENT_TD
