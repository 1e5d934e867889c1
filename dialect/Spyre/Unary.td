// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations that compute every cell of the result from the one cell of the operand at the same place.

#ifndef SPYRE_UNARY_TD
#define SPYRE_UNARY_TD

include "Spyre/Base.td"

/// result[i] = f(input[i]).
class Spyre_UnaryOp<string mnemonic, string elements> : Spyre_PureOp<mnemonic> {
  let arguments = (ins Spyre_Tensor:$input);
  let results = (outs Spyre_Tensor:$result);
  let hasVerifier = 1;
  let extraClassDefinition = "::mlir::LogicalResult $cppClass::verify() {\n"
    "  return ::spyre::verifyUnary(*this, ::spyre::ElementSet::" # elements # ");\n}";
}

def Spyre_AbsOp : Spyre_UnaryOp<"abs", "Signed"> {
  let summary = "absolute value";
  let description = [{
    |x|. Integers wrap: the smallest value stays as it is. Of -0 it is +0.

    * C1: operand and result must have one shape.
    * C2: operand and result must have one element type.
    * C3: element type must be one of f16, bf16, f32, i8, i16, i32, i64.

    Example:

    ```mlir
    %0 = spyre.abs %arg0 : (tensor<4x8xf16>) -> tensor<4x8xf16>
    ```
  }];
}

def Spyre_NegOp : Spyre_UnaryOp<"neg", "Signed"> {
  let summary = "negation";
  let description = [{
    -x. Integers wrap: the smallest value stays as it is. Of +0 it is -0.

    * C1: operand and result must have one shape.
    * C2: operand and result must have one element type.
    * C3: element type must be one of f16, bf16, f32, i8, i16, i32, i64.

    Example:

    ```mlir
    %0 = spyre.neg %arg0 : (tensor<4x8xf16>) -> tensor<4x8xf16>
    ```
  }];
}

def Spyre_ExpOp : Spyre_UnaryOp<"exp", "Floats"> {
  let summary = "exponential";
  let description = [{
    e to the x. Computed in f32 and rounded once to the element type.

    * C1: operand and result must have one shape.
    * C2: operand and result must have one element type.
    * C3: element type must be one of f16, bf16, f32.

    Example:

    ```mlir
    %0 = spyre.exp %arg0 : (tensor<4x8xf16>) -> tensor<4x8xf16>
    ```
  }];
}

def Spyre_FastExpOp : Spyre_UnaryOp<"fast_exp", "Floats"> {
  let summary = "exponential, fast form";
  let description = [{
    e to the x, by the device's faster approximation; its meaning is that of `exp`, its tolerance wider.
    Computed in f32 and rounded once to the element type.

    * C1: operand and result must have one shape.
    * C2: operand and result must have one element type.
    * C3: element type must be one of f16, bf16, f32.

    Example:

    ```mlir
    %0 = spyre.fast_exp %arg0 : (tensor<4x8xf16>) -> tensor<4x8xf16>
    ```
  }];
}

def Spyre_LogOp : Spyre_UnaryOp<"log", "Floats"> {
  let summary = "natural logarithm";
  let description = [{
    ln x; -inf of a zero of either sign, NaN below. Computed in f32 and rounded once to the element type.

    * C1: operand and result must have one shape.
    * C2: operand and result must have one element type.
    * C3: element type must be one of f16, bf16, f32.

    Example:

    ```mlir
    %0 = spyre.log %arg0 : (tensor<4x8xf16>) -> tensor<4x8xf16>
    ```
  }];
}

def Spyre_SqrtOp : Spyre_UnaryOp<"sqrt", "Floats"> {
  let summary = "square root";
  let description = [{
    Square root; -0 of -0, NaN below. Computed in f32 and rounded once to the element type.

    * C1: operand and result must have one shape.
    * C2: operand and result must have one element type.
    * C3: element type must be one of f16, bf16, f32.

    Example:

    ```mlir
    %0 = spyre.sqrt %arg0 : (tensor<4x8xf16>) -> tensor<4x8xf16>
    ```
  }];
}

def Spyre_RsqrtOp : Spyre_UnaryOp<"rsqrt", "Floats"> {
  let summary = "reciprocal square root";
  let description = [{
    1 / sqrt(x); an infinity of x's sign at a zero, NaN below. Computed in f32 and rounded once to the element
    type.

    * C1: operand and result must have one shape.
    * C2: operand and result must have one element type.
    * C3: element type must be one of f16, bf16, f32.

    Example:

    ```mlir
    %0 = spyre.rsqrt %arg0 : (tensor<4x8xf16>) -> tensor<4x8xf16>
    ```
  }];
}

def Spyre_ReciprocalOp : Spyre_UnaryOp<"reciprocal", "Floats"> {
  let summary = "reciprocal";
  let description = [{
    1 / x; an infinity of x's sign at a zero. Computed in f32 and rounded once to the element type.

    * C1: operand and result must have one shape.
    * C2: operand and result must have one element type.
    * C3: element type must be one of f16, bf16, f32.

    Example:

    ```mlir
    %0 = spyre.reciprocal %arg0 : (tensor<4x8xf16>) -> tensor<4x8xf16>
    ```
  }];
}

def Spyre_SigmoidOp : Spyre_UnaryOp<"sigmoid", "Floats"> {
  let summary = "logistic function";
  let description = [{
    1 / (1 + e to the -x). Computed in f32 and rounded once to the element type.

    * C1: operand and result must have one shape.
    * C2: operand and result must have one element type.
    * C3: element type must be one of f16, bf16, f32.

    Example:

    ```mlir
    %0 = spyre.sigmoid %arg0 : (tensor<4x8xf16>) -> tensor<4x8xf16>
    ```
  }];
}

def Spyre_FastSigmoidOp : Spyre_UnaryOp<"fast_sigmoid", "Floats"> {
  let summary = "logistic function, fast form";
  let description = [{
    1 / (1 + e to the -x), by the device's faster approximation; its meaning is that of `sigmoid`, its
    tolerance wider. Computed in f32 and rounded once to the element type.

    * C1: operand and result must have one shape.
    * C2: operand and result must have one element type.
    * C3: element type must be one of f16, bf16, f32.

    Example:

    ```mlir
    %0 = spyre.fast_sigmoid %arg0 : (tensor<4x8xf16>) -> tensor<4x8xf16>
    ```
  }];
}

def Spyre_TanhOp : Spyre_UnaryOp<"tanh", "Floats"> {
  let summary = "hyperbolic tangent";
  let description = [{
    tanh x. Computed in f32 and rounded once to the element type.

    * C1: operand and result must have one shape.
    * C2: operand and result must have one element type.
    * C3: element type must be one of f16, bf16, f32.

    Example:

    ```mlir
    %0 = spyre.tanh %arg0 : (tensor<4x8xf16>) -> tensor<4x8xf16>
    ```
  }];
}

def Spyre_ReluOp : Spyre_UnaryOp<"relu", "Signed"> {
  let summary = "rectifier";
  let description = [{
    max(x, 0). NaN stays NaN; of -0 either zero.

    * C1: operand and result must have one shape.
    * C2: operand and result must have one element type.
    * C3: element type must be one of f16, bf16, f32, i8, i16, i32, i64.

    Example:

    ```mlir
    %0 = spyre.relu %arg0 : (tensor<4x8xf16>) -> tensor<4x8xf16>
    ```
  }];
}

def Spyre_Relu6Op : Spyre_UnaryOp<"relu6", "Signed"> {
  let summary = "rectifier capped at 6";
  let description = [{
    min(max(x, 0), 6). NaN stays NaN; of -0 either zero.

    * C1: operand and result must have one shape.
    * C2: operand and result must have one element type.
    * C3: element type must be one of f16, bf16, f32, i8, i16, i32, i64.

    Example:

    ```mlir
    %0 = spyre.relu6 %arg0 : (tensor<4x8xf16>) -> tensor<4x8xf16>
    ```
  }];
}

def Spyre_LeakyReluOp : Spyre_UnaryOp<"leaky_relu", "Floats"> {
  let summary = "rectifier with a slope below zero";
  let description = [{
    x where x >= 0, else slope * x. Computed in f32 and rounded once to the element type.

    * C1: operand and result must have one shape.
    * C2: operand and result must have one element type.
    * C3: element type must be one of f16, bf16, f32.

    Example:

    ```mlir
    %0 = spyre.leaky_relu %arg0 {slope = 0.2 : f64} : (tensor<4x8xf16>) -> tensor<4x8xf16>
    ```
  }];
  let arguments = (ins Spyre_Tensor:$input, DefaultValuedAttr<F64Attr, "0.01">:$slope);
}

def Spyre_GeluOp : Spyre_UnaryOp<"gelu", "Floats"> {
  let summary = "Gaussian error linear unit";
  let description = [{
    0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))). The tanh form is the definition: the device has one
    function for both forms. Of -inf it is 0. Computed in f32 and rounded once to the element type.

    * C1: operand and result must have one shape.
    * C2: operand and result must have one element type.
    * C3: element type must be one of f16, bf16, f32.

    Example:

    ```mlir
    %0 = spyre.gelu %arg0 : (tensor<4x8xf16>) -> tensor<4x8xf16>
    ```
  }];
}

def Spyre_SiluOp : Spyre_UnaryOp<"silu", "Floats"> {
  let summary = "x times sigmoid(x)";
  let description = [{
    x / (1 + e to the -x); 0 at -inf. Computed in f32 and rounded once to the element type.

    * C1: operand and result must have one shape.
    * C2: operand and result must have one element type.
    * C3: element type must be one of f16, bf16, f32.

    Example:

    ```mlir
    %0 = spyre.silu %arg0 : (tensor<4x8xf16>) -> tensor<4x8xf16>
    ```
  }];
}

def Spyre_MishOp : Spyre_UnaryOp<"mish", "Floats"> {
  let summary = "x times tanh(softplus(x))";
  let description = [{
    x tanh(ln(1 + e to the x)); 0 at -inf. Computed in f32 and rounded once to the element type.

    * C1: operand and result must have one shape.
    * C2: operand and result must have one element type.
    * C3: element type must be one of f16, bf16, f32.

    Example:

    ```mlir
    %0 = spyre.mish %arg0 : (tensor<4x8xf16>) -> tensor<4x8xf16>
    ```
  }];
}

def Spyre_SoftplusOp : Spyre_UnaryOp<"softplus", "Floats"> {
  let summary = "smooth rectifier";
  let description = [{
    ln(1 + e to the (beta x)) / beta, and x itself where beta x is above the threshold. Computed in f32 and
    rounded once to the element type.

    * C1: operand and result must have one shape.
    * C2: operand and result must have one element type.
    * C3: element type must be one of f16, bf16, f32.
    * C4: beta must not be zero.

    Example:

    ```mlir
    %0 = spyre.softplus %arg0 {beta = 2.0 : f64, threshold = 10.0 : f64} : (tensor<4x8xf16>) -> tensor<4x8xf16>
    ```
  }];
  let arguments = (ins Spyre_Tensor:$input, DefaultValuedAttr<F64Attr, "1.0">:$beta, DefaultValuedAttr<F64Attr, "20.0">:$threshold);
  let hasVerifier = 1;
  let extraClassDefinition = "::mlir::LogicalResult $cppClass::verify() {\n"
    "  return ::spyre::verifySoftplus(*this, getBeta().convertToDouble());\n}";
}

def Spyre_ClipOp : Spyre_UnaryOp<"clip", "Signed"> {
  let summary = "limits to a range";
  let description = [{
    min(max(x, min), max), both bounds rounded to the element type first. NaN stays NaN.

    * C1: operand and result must have one shape.
    * C2: operand and result must have one element type.
    * C3: element type must be one of f16, bf16, f32, i8, i16, i32, i64.
    * C4: min must not be above max.

    Example:

    ```mlir
    %0 = spyre.clip %arg0 {max = 1.0 : f64, min = -1.0 : f64} : (tensor<4x8xf16>) -> tensor<4x8xf16>
    ```
  }];
  let arguments = (ins Spyre_Tensor:$input, F64Attr:$min, F64Attr:$max);
  let hasVerifier = 1;
  let extraClassDefinition = "::mlir::LogicalResult $cppClass::verify() {\n"
    "  return ::spyre::verifyClip(*this, getMin().convertToDouble(), getMax().convertToDouble());\n}";
}

def Spyre_FloorOp : Spyre_UnaryOp<"floor", "Floats"> {
  let summary = "round down";
  let description = [{
    Largest whole number not above x; exact. -0, infinities and NaN stay.

    * C1: operand and result must have one shape.
    * C2: operand and result must have one element type.
    * C3: element type must be one of f16, bf16, f32.

    Example:

    ```mlir
    %0 = spyre.floor %arg0 : (tensor<4x8xf16>) -> tensor<4x8xf16>
    ```
  }];
}

def Spyre_IdentityOp : Spyre_UnaryOp<"identity", "All"> {
  let summary = "copy";
  let description = [{
    The operand's cells in a buffer of their own.

    * C1: operand and result must have one shape.
    * C2: operand and result must have one element type.
    * C3: element type must be one of f16, bf16, f32, f8E4M3FN, f8E5M2FNUZ, i8, i16, i32, i64, ui8, i1.

    Example:

    ```mlir
    %0 = spyre.identity %arg0 : (tensor<4x8xf16>) -> tensor<4x8xf16>
    ```
  }];
}

def Spyre_SinOp : Spyre_UnaryOp<"sin", "Floats"> {
  let summary = "sine";
  let description = [{
    sin x, NaN at infinities. Computed in f32 and rounded once to the element type.

    * C1: operand and result must have one shape.
    * C2: operand and result must have one element type.
    * C3: element type must be one of f16, bf16, f32.

    Example:

    ```mlir
    %0 = spyre.sin %arg0 : (tensor<4x8xf16>) -> tensor<4x8xf16>
    ```
  }];
}

def Spyre_CosOp : Spyre_UnaryOp<"cos", "Floats"> {
  let summary = "cosine";
  let description = [{
    cos x, NaN at infinities. Computed in f32 and rounded once to the element type.

    * C1: operand and result must have one shape.
    * C2: operand and result must have one element type.
    * C3: element type must be one of f16, bf16, f32.

    Example:

    ```mlir
    %0 = spyre.cos %arg0 : (tensor<4x8xf16>) -> tensor<4x8xf16>
    ```
  }];
}

def Spyre_NotOp : Spyre_UnaryOp<"not", "Bits"> {
  let summary = "bitwise complement";
  let description = [{
    Bitwise complement; of i1, logical not.

    * C1: operand and result must have one shape.
    * C2: operand and result must have one element type.
    * C3: element type must be one of i8, i16, i32, i64, ui8, i1.

    Example:

    ```mlir
    %0 = spyre.not %arg0 : (tensor<4x8xi1>) -> tensor<4x8xi1>
    ```
  }];
}

def Spyre_CastOp : Spyre_PureOp<"cast"> {
  let summary = "change of element type";
  let description = [{
    The same number in the result's element type. To a float: rounded to nearest even; what is too large
    becomes an infinity where the type has one, else NaN (f8E4M3FN, f8E5M2FNUZ). Float to integer: truncated
    towards zero, saturated at the type's range, NaN gives 0. Integer to integer: the low bits. To i1: whether
    it differs from zero (NaN does). From i1: 0 or 1. A cast to the same type is the identity.

    * C1: operand and result must have one shape.
    * C2: operand element type must be one of f16, bf16, f32, f8E4M3FN, f8E5M2FNUZ, i8, i16, i32, i64, ui8,
      i1.
    * C3: result element type must be one of f16, bf16, f32, f8E4M3FN, f8E5M2FNUZ, i8, i16, i32, i64, ui8, i1.

    Example:

    ```mlir
    %0 = spyre.cast %arg0 : (tensor<4x8xf16>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Spyre_Tensor:$input);
  let results = (outs Spyre_Tensor:$result);
  let hasVerifier = 1;
  let extraClassDefinition = "::mlir::LogicalResult $cppClass::verify() {\n"
    "  return ::spyre::verifyCast(*this);\n}";
}

#endif // SPYRE_UNARY_TD
