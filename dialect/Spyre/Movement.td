// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations that move, name or generate cells and compute nothing.

#ifndef SPYRE_MOVEMENT_TD
#define SPYRE_MOVEMENT_TD

include "Spyre/Base.td"

def Spyre_RestickifyOp : Spyre_PureOp<"restickify"> {
  let summary = "the same tensor with the stick on another dim";
  let description = [{
    The operand's cells in a buffer whose layout is that of the result's type: sticks of one dim become sticks
    of another. Shape, values and valid region stay.

    * C1: operand and result must have one shape.
    * C2: operands and result must have one element type.
    * C3: element type must be one of f16, bf16, f32, f8E4M3FN, f8E5M2FNUZ, i8, i16, i32, i64, ui8, i1.

    Example:

    ```mlir
    %0 = spyre.restickify %arg0 : (tensor<4x8xf16>) -> tensor<4x8xf16>
    ```
  }];
  let arguments = (ins Spyre_Tensor:$input);
  let results = (outs Spyre_Tensor:$result);
  let hasVerifier = 1;
  let extraClassDefinition = "::mlir::LogicalResult $cppClass::verify() {\n"
    "  return ::spyre::verifyUnary(*this, ::spyre::ElementSet::All);\n}";
}

def Spyre_SliceOp : Spyre_PureOp<"slice"> {
  let summary = "a window of a tensor";
  let description = [{
    result[i] = source[offset + i], in steps of one; the result's shape is the window's. An offset is a
    literal or an index value; in `static_offsets` the smallest i64 refers to the next index operand. The
    window must lie inside the source's shape, which an index value promises and the interpreter checks. The
    result's region is the part of the source's region that falls into the window. It names cells of its
    operand and reads none: a cell not yet written stays so.

    * C1: source and result must have one rank and one element type.
    * C2: one offset a dim; literal offsets must be 0 or more and the window must lie inside the whole.
    * C3: element type must be one of f16, bf16, f32, f8E4M3FN, f8E5M2FNUZ, i8, i16, i32, i64, ui8, i1.

    Example:

    ```mlir
    %0 = spyre.slice %arg0[%arg1, 0] : (tensor<4x8xf16>) -> tensor<2x8xf16>
    ```
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
    The destination with destination[offset + i] = source[i] for exactly the valid cells of the source, which
    must lie provably inside the destination's valid box. The result has the destination's type. Where the
    destination has no other use the write is in place. Cells of the destination are not read: one not yet
    written stays so unless overwritten.

    * C1: source and destination must have one rank and one element type, and the result the destination's
      type.
    * C2: one offset a dim; literal offsets must be 0 or more and the window must lie inside the whole.
    * C3: element type must be one of f16, bf16, f32, f8E4M3FN, f8E5M2FNUZ, i8, i16, i32, i64, ui8, i1.

    Example:

    ```mlir
    %0 = spyre.insert_slice %arg0 into %arg1[%arg2, 0] : (tensor<2x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
    ```
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
  let summary = "the same tensor with a narrower valid region";
  let description = [{
    Metadata only: the region is the one written, as in the result's type, and must provably lie inside the
    operand's. Layout and pad stay. It names cells of its operand and reads none: a cell not yet written stays
    so.

    * C1: operand and result must differ in their valid region only.
    * C2: the extents must be those of the result's type.
    * C3: element type must be one of f16, bf16, f32, f8E4M3FN, f8E5M2FNUZ, i8, i16, i32, i64, ui8, i1.

    Example:

    ```mlir
    %0 = spyre.set_valid_shape %arg0 [3, 8] : (tensor<4x8xf16>) -> tensor<4x8xf16, #spyre.encoding<valid_shape = [3, 8]>>
    ```
  }];
  let arguments = (ins Spyre_Tensor:$input, TypedArrayAttrBase<Spyre_ExtentAttr, "list of extents">:$valid_shape);
  let results = (outs Spyre_Tensor:$result);
  let assemblyFormat = [{
    $input custom<Extents>($valid_shape) attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Spyre_ReshapeOp : Spyre_PureOp<"reshape"> {
  let summary = "the same cells under another shape";
  let description = [{
    Cells in row-major order, read under the result's shape. A partial region must be exactly representable in
    the new shape. It names cells of its operand and reads none: a cell not yet written stays so.

    * C1: operand and result must have the same number of elements.
    * C2: operands and result must have one element type.
    * C3: element type must be one of f16, bf16, f32, f8E4M3FN, f8E5M2FNUZ, i8, i16, i32, i64, ui8, i1.

    Example:

    ```mlir
    %0 = spyre.reshape %arg0 : (tensor<4x8xf16>) -> tensor<2x16xf16>
    ```
  }];
  let arguments = (ins Spyre_Tensor:$input);
  let results = (outs Spyre_Tensor:$result);
  let hasVerifier = 1;
  let extraClassDefinition = "::mlir::LogicalResult $cppClass::verify() {\n"
    "  return ::spyre::verifyReshape(*this);\n}";
}

def Spyre_TransposeOp : Spyre_PureOp<"transpose"> {
  let summary = "permuted dims";
  let description = [{
    result dim i is operand dim permutation[i]; valid extents are permuted alike. It names cells of its
    operand and reads none: a cell not yet written stays so.

    * C1: the result shape must be the operand shape permuted.
    * C2: operands and result must have one element type.
    * C3: element type must be one of f16, bf16, f32, f8E4M3FN, f8E5M2FNUZ, i8, i16, i32, i64, ui8, i1.
    * C4: permutation must be a permutation of the operand's dims.

    Example:

    ```mlir
    %0 = spyre.transpose %arg0 {permutation = [1, 0]} : (tensor<4x8xf16>) -> tensor<8x4xf16>
    ```
  }];
  let arguments = (ins Spyre_Tensor:$input, I64ArrayAttr:$permutation);
  let results = (outs Spyre_Tensor:$result);
  let hasVerifier = 1;
  let extraClassDefinition = "::mlir::LogicalResult $cppClass::verify() {\n"
    "  return ::spyre::verifyTranspose(*this, getPermutation());\n}";
}

def Spyre_BroadcastOp : Spyre_PureOp<"broadcast"> {
  let summary = "replicated along dims";
  let description = [{
    The operand, right-aligned, replicated along dims that it lacks or where its extent is 1. A replicated
    cell must be provably valid; the result is fully valid along replicated dims and keeps the operand's
    extents along the others. It names cells of its operand and reads none: a cell not yet written stays so.

    * C1: the operand shape must broadcast, right-aligned, to the result shape.
    * C2: operands and result must have one element type.
    * C3: element type must be one of f16, bf16, f32, f8E4M3FN, f8E5M2FNUZ, i8, i16, i32, i64, ui8, i1.

    Example:

    ```mlir
    %0 = spyre.broadcast %arg0 : (tensor<4x1xf16>) -> tensor<4x8xf16>
    ```
  }];
  let arguments = (ins Spyre_Tensor:$input);
  let results = (outs Spyre_Tensor:$result);
  let hasVerifier = 1;
  let extraClassDefinition = "::mlir::LogicalResult $cppClass::verify() {\n"
    "  return ::spyre::verifyElementwise(*this, (*this)->getOperands(), ::spyre::ElementSet::All, /*covers=*/false);\n}";
}

def Spyre_ConcatOp : Spyre_PureOp<"concat"> {
  let summary = "tensors one after another along a dim";
  let description = [{
    The operands in order along `dim`. All but the last must be provably valid along `dim`; along the other
    dims all must have provably equal valid extents.

    * C1: there must be one operand or more.
    * C2: operands and result must have one element type.
    * C3: element type must be one of f16, bf16, f32, f8E4M3FN, f8E5M2FNUZ, i8, i16, i32, i64, ui8, i1.
    * C4: dim must be in [0, rank).
    * C5: extents must be equal but along dim, where the result's is their sum.

    Example:

    ```mlir
    %0 = spyre.concat %arg0, %arg1 {dim = 0 : i64} : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<8x8xf16>
    ```
  }];
  let arguments = (ins Variadic<Spyre_Tensor>:$inputs, I64Attr:$dim);
  let results = (outs Spyre_Tensor:$result);
  let hasVerifier = 1;
  let extraClassDefinition = "::mlir::LogicalResult $cppClass::verify() {\n"
    "  return ::spyre::verifyConcat(*this, getDim());\n}";
}

def Spyre_GatherOp : Spyre_PureOp<"gather"> {
  let summary = "cells picked along a dim by index";
  let description = [{
    result[a..., j..., b...] = source[a..., indices[j...], b...], with the index in the place of `dim`: the
    result shape is the source shape with the extent at `dim` replaced by the shape of `indices`. Every valid
    index must lie in [0, valid extent of the source at dim); another one is an error when the program is run.

    * C1: the result shape must be the source shape with the shape of indices in the place of dim.
    * C2: source and result must have one element type.
    * C3: element type must be one of f16, bf16, f32, f8E4M3FN, f8E5M2FNUZ, i8, i16, i32, i64, ui8, i1.
    * C4: element type of indices must be one of i16, i32, i64.
    * C5: dim must be in [0, rank of source).

    Example:

    ```mlir
    %0 = spyre.gather %arg0, %arg1 {dim = 0 : i64} : (tensor<4x8xf16>, tensor<3xi32>) -> tensor<3x8xf16>
    ```
  }];
  let arguments = (ins Spyre_Tensor:$source, Spyre_Tensor:$indices, I64Attr:$dim);
  let results = (outs Spyre_Tensor:$result);
  let hasVerifier = 1;
  let extraClassDefinition = "::mlir::LogicalResult $cppClass::verify() {\n"
    "  return ::spyre::verifyGather(*this, getDim());\n}";
}

def Spyre_ScatterOp : Spyre_PureOp<"scatter"> {
  let summary = "cells written along a dim by index";
  let description = [{
    The destination with destination[a..., indices[j], b...] = source[a..., j, b...], j at `dim`; of equal
    indices the last one wins. The result has the destination's type and region; a valid source cell must land
    inside it, which the interpreter checks. Destination cells are not read.

    * C1: destination and result must have one type, and source its rank and its extents but at dim.
    * C2: source and destination must have one element type.
    * C3: element type must be one of f16, bf16, f32, f8E4M3FN, f8E5M2FNUZ, i8, i16, i32, i64, ui8, i1.
    * C4: indices must have rank 1 and the source's extent at dim.
    * C5: element type of indices must be one of i16, i32, i64.
    * C6: dim must be in [0, rank of destination).

    Example:

    ```mlir
    %0 = spyre.scatter %arg0, %arg1, %arg2 {dim = 0 : i64} : (tensor<2x8xf16>, tensor<2xi32>, tensor<4x8xf16>) -> tensor<4x8xf16>
    ```
  }];
  let arguments = (ins Spyre_Tensor:$source, Spyre_Tensor:$indices, Spyre_Tensor:$destination, I64Attr:$dim);
  let results = (outs Spyre_Tensor:$result);
  let hasVerifier = 1;
  let extraClassDefinition = "::mlir::LogicalResult $cppClass::verify() {\n"
    "  return ::spyre::verifyScatter(*this, getDim());\n}";
}

def Spyre_SortOp : Spyre_PureOp<"sort"> {
  let summary = "sorted along a dim";
  let description = [{
    The valid cells along `dim` in increasing (or decreasing) order, in the valid positions. NaN counts as
    larger than everything; equal cells keep their order.

    * C1: operand and result must have one shape.
    * C2: operands and result must have one element type.
    * C3: element type must be one of f16, bf16, f32, i8, i16, i32, i64, ui8.
    * C4: dim must be in [0, rank).

    Example:

    ```mlir
    %0 = spyre.sort %arg0 {descending = true, dim = 1 : i64} : (tensor<4x8xf16>) -> tensor<4x8xf16>
    ```
  }];
  let arguments = (ins Spyre_Tensor:$input, I64Attr:$dim, DefaultValuedAttr<BoolAttr, "false">:$descending);
  let results = (outs Spyre_Tensor:$result);
  let hasVerifier = 1;
  let extraClassDefinition = "::mlir::LogicalResult $cppClass::verify() {\n"
    "  return ::spyre::verifySort(*this, getDim());\n}";
}

def Spyre_FillpadOp : Spyre_PureOp<"fillpad"> {
  let summary = "padding filled, everything valid";
  let description = [{
    The operand's valid cells, and `pad` everywhere else: zero, or the smallest (min) or largest (max) value
    of the element type, an infinity where it has one. The result is fully valid. Its shape may be larger than
    the operand's, dim by dim.

    * C1: operand and result must have one rank, and no result extent below the operand's.
    * C2: operands and result must have one element type.
    * C3: element type must be one of f16, bf16, f32, f8E4M3FN, f8E5M2FNUZ, i8, i16, i32, i64, ui8, i1.
    * C4: pad must be one of zero, min, max.

    Example:

    ```mlir
    %0 = spyre.fillpad %arg0 {pad = "zero"} : (tensor<4x8xf16, #spyre.encoding<valid_shape = [3, 8]>>) -> tensor<4x8xf16>
    ```
  }];
  let arguments = (ins Spyre_Tensor:$input, StrAttr:$pad);
  let results = (outs Spyre_Tensor:$result);
  let hasVerifier = 1;
  let extraClassDefinition = "::mlir::LogicalResult $cppClass::verify() {\n"
    "  return ::spyre::verifyFillpad(*this, getPad());\n}";
}

def Spyre_FullOp : Spyre_PureOp<"full"> {
  let summary = "one value everywhere";
  let description = [{
    Every valid cell is the scalar operand.

    * C1: value and result must have one element type.
    * C2: element type must be one of f16, bf16, f32, f8E4M3FN, f8E5M2FNUZ, i8, i16, i32, i64, ui8, i1.

    Example:

    ```mlir
    %0 = spyre.full %arg0 : (f16) -> tensor<4x8xf16>
    ```
  }];
  let arguments = (ins Spyre_Element:$value);
  let results = (outs Spyre_Tensor:$result);
  let hasVerifier = 1;
  let extraClassDefinition = "::mlir::LogicalResult $cppClass::verify() {\n"
    "  return ::spyre::verifySameElement(*this, (*this)->getOperands(), getResult().getType().getElementType(), \"C1\");\n}";
}

def Spyre_IotaOp : Spyre_PureOp<"iota"> {
  let summary = "positions along a dim";
  let description = [{
    Every valid cell is start + its position along `dim`, rounded (wrapped) to the element type.

    * C1: element type must be one of f16, bf16, f32, i8, i16, i32, i64, ui8.
    * C2: dim must be in [0, rank).

    Example:

    ```mlir
    %0 = spyre.iota {dim = 1 : i64, start = 0 : i64} : () -> tensor<4x8xf16>
    ```
  }];
  let arguments = (ins I64Attr:$dim, DefaultValuedAttr<I64Attr, "0">:$start);
  let results = (outs Spyre_Tensor:$result);
  let hasVerifier = 1;
  let extraClassDefinition = "::mlir::LogicalResult $cppClass::verify() {\n"
    "  return ::spyre::verifyIota(*this, getDim());\n}";
}

def Spyre_EmptyOp : Spyre_PureOp<"empty"> {
  let summary = "a buffer not yet written";
  let description = [{
    A buffer of the result's type; the region in its type is the one that will be valid once filled. Reading a
    cell before it is written is an error when the program is run.

    * C1: element type must be one of f16, bf16, f32, f8E4M3FN, f8E5M2FNUZ, i8, i16, i32, i64, ui8, i1.

    Example:

    ```mlir
    %0 = spyre.empty : () -> tensor<4x8xf16>
    ```
  }];
  let results = (outs Spyre_Tensor:$result);
}

#endif // SPYRE_MOVEMENT_TD
