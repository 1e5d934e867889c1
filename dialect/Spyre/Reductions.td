// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations that combine the cells along some dims: reductions, norms, matrix products, top-k.

#ifndef SPYRE_REDUCTIONS_TD
#define SPYRE_REDUCTIONS_TD

include "Spyre/Base.td"

/// The cells along `dims` become one.
class Spyre_ReduceOp<string mnemonic, string elements> : Spyre_PureOp<mnemonic> {
  let arguments = (ins Spyre_Tensor:$input, I64ArrayAttr:$dims, DefaultValuedAttr<BoolAttr, "false">:$keep_dims);
  let results = (outs Spyre_Tensor:$result);
  let hasVerifier = 1;
  let extraClassDefinition = "::mlir::LogicalResult $cppClass::verify() {\n"
    "  return ::spyre::verifyReduce(*this, getDims(), getKeepDims(), ::spyre::ElementSet::" # elements # ");\n}";
}

/// The position along `dim` of the cell that wins.
class Spyre_ArgReduceOp<string mnemonic> : Spyre_PureOp<mnemonic> {
  let arguments = (ins Spyre_Tensor:$input, I64Attr:$dim, DefaultValuedAttr<BoolAttr, "false">:$keep_dims);
  let results = (outs Spyre_Tensor:$result);
  let hasVerifier = 1;
  let extraClassDefinition = "::mlir::LogicalResult $cppClass::verify() {\n"
    "  return ::spyre::verifyArgReduce(*this, getDim(), getKeepDims());\n}";
}

def Spyre_SumOp : Spyre_ReduceOp<"sum", "Numbers"> {
  let summary = "sum over dims";
  let description = [{
    Sum of the cells along `dims`. f16 and bf16 are accumulated in f32 and rounded once; f32 in f32; integers
    in 64 bits, then wrapped. Only valid cells take part, so a partly valid reduced dim is exact. A reduction
    over no cell at all is refused: by the verifier where it is provable, else when the program is run.

    * C1: the result shape must be the operand shape with the reduced dims dropped, or of extent 1 under
      keep_dims.
    * C2: operand and result must have one element type.
    * C3: element type must be one of f16, bf16, f32, i8, i16, i32, i64, ui8.
    * C4: dims must be distinct, increasing, at least one, and each in [0, rank).

    Example:

    ```mlir
    %0 = spyre.sum %arg0 {dims = [1], keep_dims = false} : (tensor<4x8xf16>) -> tensor<4xf16>
    ```
  }];
}

def Spyre_MaxOp : Spyre_ReduceOp<"max", "Numbers"> {
  let summary = "largest over dims";
  let description = [{
    Largest of the cells along `dims`. NaN in any of them gives NaN. Only valid cells take part, so a partly
    valid reduced dim is exact. A reduction over no cell at all is refused: by the verifier where it is
    provable, else when the program is run.

    * C1: the result shape must be the operand shape with the reduced dims dropped, or of extent 1 under
      keep_dims.
    * C2: operand and result must have one element type.
    * C3: element type must be one of f16, bf16, f32, i8, i16, i32, i64, ui8.
    * C4: dims must be distinct, increasing, at least one, and each in [0, rank).

    Example:

    ```mlir
    %0 = spyre.max %arg0 {dims = [1], keep_dims = false} : (tensor<4x8xf16>) -> tensor<4xf16>
    ```
  }];
}

def Spyre_MinOp : Spyre_ReduceOp<"min", "Numbers"> {
  let summary = "smallest over dims";
  let description = [{
    Smallest of the cells along `dims`. NaN in any of them gives NaN. Only valid cells take part, so a partly
    valid reduced dim is exact. A reduction over no cell at all is refused: by the verifier where it is
    provable, else when the program is run.

    * C1: the result shape must be the operand shape with the reduced dims dropped, or of extent 1 under
      keep_dims.
    * C2: operand and result must have one element type.
    * C3: element type must be one of f16, bf16, f32, i8, i16, i32, i64, ui8.
    * C4: dims must be distinct, increasing, at least one, and each in [0, rank).

    Example:

    ```mlir
    %0 = spyre.min %arg0 {dims = [1], keep_dims = false} : (tensor<4x8xf16>) -> tensor<4xf16>
    ```
  }];
}

def Spyre_MeanOp : Spyre_ReduceOp<"mean", "Floats"> {
  let summary = "mean over dims";
  let description = [{
    Sum of the cells along `dims` divided by the number of valid cells summed. Accumulated and divided in f32,
    rounded once. Only valid cells take part, so a partly valid reduced dim is exact. A reduction over no cell
    at all is refused: by the verifier where it is provable, else when the program is run.

    * C1: the result shape must be the operand shape with the reduced dims dropped, or of extent 1 under
      keep_dims.
    * C2: operand and result must have one element type.
    * C3: element type must be one of f16, bf16, f32.
    * C4: dims must be distinct, increasing, at least one, and each in [0, rank).

    Example:

    ```mlir
    %0 = spyre.mean %arg0 {dims = [1], keep_dims = false} : (tensor<4x8xf16>) -> tensor<4xf16>
    ```
  }];
}

def Spyre_AbsmaxOp : Spyre_ReduceOp<"absmax", "Signed"> {
  let summary = "largest magnitude over dims";
  let description = [{
    Largest of |x| along `dims`; integers wrap as in `abs`. NaN in any of them gives NaN. Only valid cells
    take part, so a partly valid reduced dim is exact. A reduction over no cell at all is refused: by the
    verifier where it is provable, else when the program is run.

    * C1: the result shape must be the operand shape with the reduced dims dropped, or of extent 1 under
      keep_dims.
    * C2: operand and result must have one element type.
    * C3: element type must be one of f16, bf16, f32, i8, i16, i32, i64.
    * C4: dims must be distinct, increasing, at least one, and each in [0, rank).

    Example:

    ```mlir
    %0 = spyre.absmax %arg0 {dims = [1], keep_dims = false} : (tensor<4x8xf16>) -> tensor<4xf16>
    ```
  }];
}

def Spyre_ProdOp : Spyre_ReduceOp<"prod", "Numbers"> {
  let summary = "product over dims";
  let description = [{
    Product of the cells along `dims`. f16 and bf16 are accumulated in f32 and rounded once; f32 in f32;
    integers in 64 bits, then wrapped. Only valid cells take part, so a partly valid reduced dim is exact. A
    reduction over no cell at all is refused: by the verifier where it is provable, else when the program is
    run.

    * C1: the result shape must be the operand shape with the reduced dims dropped, or of extent 1 under
      keep_dims.
    * C2: operand and result must have one element type.
    * C3: element type must be one of f16, bf16, f32, i8, i16, i32, i64, ui8.
    * C4: dims must be distinct, increasing, at least one, and each in [0, rank).

    Example:

    ```mlir
    %0 = spyre.prod %arg0 {dims = [1], keep_dims = false} : (tensor<4x8xf16>) -> tensor<4xf16>
    ```
  }];
}

def Spyre_ArgmaxOp : Spyre_ArgReduceOp<"argmax"> {
  let summary = "position of the largest along a dim";
  let description = [{
    Position along `dim`, counted from 0, of the largest cell; of equal ones the first. A NaN counts as the
    largest, the first NaN wins. Only valid cells take part, so a partly valid reduced dim is exact. A
    reduction over no cell at all is refused: by the verifier where it is provable, else when the program is
    run.

    * C1: the result shape must be the operand shape with dim dropped, or of extent 1 under keep_dims.
    * C2: operand element type must be one of f16, bf16, f32, i8, i16, i32, i64, ui8.
    * C3: result element type must be one of i16, i32, i64.
    * C4: dim must be in [0, rank).
    * C5: the result element type must hold every position along dim.

    Example:

    ```mlir
    %0 = spyre.argmax %arg0 {dim = 1 : i64, keep_dims = false} : (tensor<4x8xf16>) -> tensor<4xi32>
    ```
  }];
}

def Spyre_ArgminOp : Spyre_ArgReduceOp<"argmin"> {
  let summary = "position of the smallest along a dim";
  let description = [{
    Position along `dim`, counted from 0, of the smallest cell; of equal ones the first. A NaN counts as the
    smallest, the first NaN wins. Only valid cells take part, so a partly valid reduced dim is exact. A
    reduction over no cell at all is refused: by the verifier where it is provable, else when the program is
    run.

    * C1: the result shape must be the operand shape with dim dropped, or of extent 1 under keep_dims.
    * C2: operand element type must be one of f16, bf16, f32, i8, i16, i32, i64, ui8.
    * C3: result element type must be one of i16, i32, i64.
    * C4: dim must be in [0, rank).
    * C5: the result element type must hold every position along dim.

    Example:

    ```mlir
    %0 = spyre.argmin %arg0 {dim = 1 : i64, keep_dims = false} : (tensor<4x8xf16>) -> tensor<4xi32>
    ```
  }];
}

def Spyre_Exx2Op : Spyre_PureOp<"exx2"> {
  let summary = "mean and mean of squares along the last dim";
  let description = [{
    For each row (all dims but the last) a pair: cell 0 is the mean of the row, cell 1 the mean of its
    squares. The device writes both into one stick per row and publishes no host form of them; this dialect
    gives the pair a last dim of extent 2, which occupies exactly that stick, in lanes 0 and 1. With
    `zero_mean` cell 0 is 0. The means are over the row's valid cells. Accumulated in f32, each rounded once.
    Only valid cells take part, so a partly valid reduced dim is exact. A reduction over no cell at all is
    refused: by the verifier where it is provable, else when the program is run.

    * C1: the result shape must be the operand shape with the last extent 2.
    * C2: operand and result must have one element type.
    * C3: element type must be one of f16, bf16, f32.
    * C4: the operand must have rank 1 or more.

    Example:

    ```mlir
    %0 = spyre.exx2 %arg0 : (tensor<4x8xf16>) -> tensor<4x2xf16>
    ```
  }];
  let arguments = (ins Spyre_Tensor:$input, DefaultValuedAttr<BoolAttr, "false">:$zero_mean);
  let results = (outs Spyre_Tensor:$moments);
  let hasVerifier = 1;
  let extraClassDefinition = "::mlir::LogicalResult $cppClass::verify() {\n"
    "  return ::spyre::verifyMoments(*this);\n}";
}

def Spyre_LayernormScaleOp : Spyre_PureOp<"layernorm_scale"> {
  let summary = "reciprocal standard deviation of each row";
  let description = [{
    From the pairs (m, q) of `exx2`: 1 / sqrt(q - m^2 + eps), one per row, in a last dim of extent 1. eps is
    added in f32; computed in f32 and rounded once. If m is 0 throughout (`zero_mean`) this is the scale of
    RMS normalisation.

    * C1: the operand's last extent must be 2, and the result shape the operand shape with the last extent 1.
    * C2: operand and result must have one element type.
    * C3: element type must be one of f16, bf16, f32.

    Example:

    ```mlir
    %0 = spyre.layernorm_scale %arg0 {eps = 1.0e-05 : f64} : (tensor<4x2xf16>) -> tensor<4x1xf16>
    ```
  }];
  let arguments = (ins Spyre_Tensor:$moments, DefaultValuedAttr<F64Attr, "1.0e-05">:$eps);
  let results = (outs Spyre_Tensor:$scale);
  let hasVerifier = 1;
  let extraClassDefinition = "::mlir::LogicalResult $cppClass::verify() {\n"
    "  return ::spyre::verifyNormScale(*this);\n}";
}

def Spyre_LayernormNormOp : Spyre_PureOp<"layernorm_norm"> {
  let summary = "normalises each row";
  let description = [{
    (operand - m) * scale * weight + bias, where m is cell 0 of the row's pair from `exx2`, scale that of
    `layernorm_scale`, weight and bias run along the last dim. Computed in f32 and rounded once.

    * C1: operand and result must have one shape.
    * C2: operands and result must have one element type.
    * C3: element type must be one of f16, bf16, f32.
    * C4: moments must have the operand shape with the last extent 2, scale the one with the last extent 1.
    * C5: weight and bias must have rank 1 and the operand's last extent.

    Example:

    ```mlir
    %0 = spyre.layernorm_norm %arg0, %arg1, %arg2, %arg3, %arg4 : (tensor<4x8xf16>, tensor<4x2xf16>, tensor<4x1xf16>, tensor<8xf16>, tensor<8xf16>) -> tensor<4x8xf16>
    ```
  }];
  let arguments = (ins Spyre_Tensor:$input, Spyre_Tensor:$moments, Spyre_Tensor:$scale, Spyre_Tensor:$weight, Spyre_Tensor:$bias);
  let results = (outs Spyre_Tensor:$result);
  let hasVerifier = 1;
  let extraClassDefinition = "::mlir::LogicalResult $cppClass::verify() {\n"
    "  return ::spyre::verifyNorm(*this);\n}";
}

def Spyre_BatchMatmulOp : Spyre_PureOp<"batch_matmul"> {
  let summary = "matrix product, batched";
  let description = [{
    result[..., m, n] = sum over k of lhs[..., m, k] * rhs[..., k, n]; leading dims broadcast. Products and
    sums are taken in f32 (integers in 64 bits), rounded (wrapped) once to the result's element type; the
    order of summation is not specified. K runs over the valid extent of lhs, which rhs must cover; over no k
    the sum is 0.

    * C1: both factors must have rank 2 or more.
    * C2: the last extent of lhs must equal the last but one of rhs.
    * C3: batch extents must broadcast, right-aligned, and the result shape must be batch x M x N.
    * C4: both factors must have one element type, one of f16, bf16, f32, f8E4M3FN, f8E5M2FNUZ, i8, i16, i32,
      i64, ui8.
    * C5: the result element type must be the factors' or f32 for f16 and bf16 factors, f16, bf16 or f32 for
      f8 factors, the factors' or i32 for i8, ui8 and i16 factors.

    Example:

    ```mlir
    %0 = spyre.batch_matmul %arg0, %arg1 : (tensor<4x8xf16>, tensor<8x16xf16>) -> tensor<4x16xf16>
    ```
  }];
  let arguments = (ins Spyre_Tensor:$lhs, Spyre_Tensor:$rhs);
  let results = (outs Spyre_Tensor:$result);
  let hasVerifier = 1;
  let extraClassDefinition = "::mlir::LogicalResult $cppClass::verify() {\n"
    "  return ::spyre::verifyContract(*this, getLhs().getType(), getRhs().getType());\n}";
}

def Spyre_MatmulAccOp : Spyre_PureOp<"matmul_acc"> {
  let summary = "matrix product added to an accumulator";
  let description = [{
    accumulator + batch_matmul(lhs, rhs). The product is rounded to the accumulator's element type, then the sum is,
    as the two operations that it is lowered to. The result's region is the accumulator's; where the product's
    region ends short of it, the accumulator's value stays. Products and sums are taken in f32 (integers in 64
    bits), rounded (wrapped) once to the result's element type; the order of summation is not specified. K runs over
    the valid extent of lhs, which rhs must cover; over no k the sum is 0.

    * C1: both factors must have rank 2 or more.
    * C2: the last extent of lhs must equal the last but one of rhs.
    * C3: batch extents must broadcast, right-aligned, and the result shape must be batch x M x N.
    * C4: both factors must have one element type, one of f16, bf16, f32, f8E4M3FN, f8E5M2FNUZ, i8, i16, i32,
      i64, ui8.
    * C5: the result element type must be the factors' or f32 for f16 and bf16 factors, f16, bf16 or f32 for
      f8 factors, the factors' or i32 for i8, ui8 and i16 factors.
    * C6: accumulator and result must have one shape and one element type.

    Example:

    ```mlir
    %0 = spyre.matmul_acc %arg0, %arg1, %arg2 : (tensor<4x16xf16>, tensor<4x8xf16>, tensor<8x16xf16>) -> tensor<4x16xf16>
    ```
  }];
  let arguments = (ins Spyre_Tensor:$accumulator, Spyre_Tensor:$lhs, Spyre_Tensor:$rhs);
  let results = (outs Spyre_Tensor:$result);
  let hasVerifier = 1;
  let extraClassDefinition = "::mlir::LogicalResult $cppClass::verify() {\n"
    "  return ::spyre::verifyAccumulate(*this, getAccumulator().getType(), getLhs().getType(), getRhs().getType());\n}";
}

def Spyre_TopkOp : Spyre_PureOp<"topk"> {
  let summary = "the k largest along a dim, with their positions";
  let description = [{
    values: the k largest cells along `dim` in decreasing order; indices: their positions along `dim`, counted
    from 0. Equal cells keep their order. NaN counts as larger than everything. Only valid cells take part; at
    least k of them must be valid, provably, else when the program is run. Both results have extent k in the
    place of `dim`. Indices may have the values' element type: that is how the device writes them.

    * C1: both results must have the operand shape with extent k at dim.
    * C2: operand and values must have one element type.
    * C3: element type must be one of f16, bf16, f32, i8, i16, i32, i64, ui8.
    * C4: the element type of indices must be one of i16, i32, i64 or the values', and hold every position
      along dim.
    * C5: dim must be in [0, rank).
    * C6: k must be in [1, extent of dim].

    Example:

    ```mlir
    %0, %1 = spyre.topk %arg0 {dim = 1 : i64, k = 2 : i64} : (tensor<4x8xf16>) -> (tensor<4x2xf16>, tensor<4x2xi32>)
    ```
  }];
  let arguments = (ins Spyre_Tensor:$input, I64Attr:$k, I64Attr:$dim);
  let results = (outs Spyre_Tensor:$values, Spyre_Tensor:$indices);
  let hasVerifier = 1;
  let extraClassDefinition = "::mlir::LogicalResult $cppClass::verify() {\n"
    "  return ::spyre::verifyTopk(*this, getK(), getDim());\n}";
}

#endif // SPYRE_REDUCTIONS_TD
