// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations on several tensors that compute every cell of the result from the operands' cells at the same place.

#ifndef SPYRE_ELEMENTWISE_TD
#define SPYRE_ELEMENTWISE_TD

include "Spyre/Base.td"

/// result[i] = f(lhs[i], rhs[i]); operands broadcast right-aligned, one of them may be a scalar.
class Spyre_BinaryOp<string mnemonic, string elements, list<Trait> traits = []>
    : Spyre_PureOp<mnemonic, traits> {
  let arguments = (ins Spyre_TensorOrScalar:$lhs, Spyre_TensorOrScalar:$rhs);
  let results = (outs Spyre_Tensor:$result);
  let hasVerifier = 1;
  let extraClassDefinition = "::mlir::LogicalResult $cppClass::verify() {\n"
    "  return ::spyre::verifyElementwise(*this, (*this)->getOperands(), ::spyre::ElementSet::" # elements # ");\n}";
}

/// As Spyre_BinaryOp, with an optional tensor to work in, whose cells are never read.
class Spyre_BinaryScratchOp<string mnemonic, string elements> : Spyre_BinaryOp<mnemonic, elements> {
  let arguments = (ins Spyre_TensorOrScalar:$lhs, Spyre_TensorOrScalar:$rhs, Optional<Spyre_Tensor>:$scratch);
  let hasVerifier = 1;
  let extraClassDefinition = "::mlir::LogicalResult $cppClass::verify() {\n"
    "  return ::spyre::verifyElementwise(*this, (*this)->getOperands().take_front(2), ::spyre::ElementSet::" # elements # ");\n}";
}

def Spyre_AddOp : Spyre_BinaryOp<"add", "Numbers", [Commutative]> {
  let summary = "sum of two tensors";
  let description = [{
    `lhs + rhs`, cell by cell. Floats are computed in f32 and rounded once to nearest even; integers wrap.

    * C1: operand shapes must broadcast, right-aligned, and the result shape must be their broadcast.
    * C2: operands and result must have one element type.
    * C3: element type must be one of f16, bf16, f32, i8, i16, i32, i64, ui8.
    * C4: at least one value operand must be a tensor.

    Example:

    ```mlir
    %0 = spyre.add %arg0, %arg1 : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
    ```
  }];
}

def Spyre_SubOp : Spyre_BinaryOp<"sub", "Numbers"> {
  let summary = "difference of two tensors";
  let description = [{
    `lhs - rhs`, cell by cell. Floats are computed in f32 and rounded once to nearest even; integers wrap.

    * C1: operand shapes must broadcast, right-aligned, and the result shape must be their broadcast.
    * C2: operands and result must have one element type.
    * C3: element type must be one of f16, bf16, f32, i8, i16, i32, i64, ui8.
    * C4: at least one value operand must be a tensor.

    Example:

    ```mlir
    %0 = spyre.sub %arg0, %arg1 : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
    ```
  }];
}

def Spyre_MulOp : Spyre_BinaryOp<"mul", "Numbers", [Commutative]> {
  let summary = "product of two tensors";
  let description = [{
    `lhs * rhs`, cell by cell. Floats are computed in f32 and rounded once to nearest even; integers wrap.

    * C1: operand shapes must broadcast, right-aligned, and the result shape must be their broadcast.
    * C2: operands and result must have one element type.
    * C3: element type must be one of f16, bf16, f32, i8, i16, i32, i64, ui8.
    * C4: at least one value operand must be a tensor.

    Example:

    ```mlir
    %0 = spyre.mul %arg0, %arg1 : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
    ```
  }];
}

def Spyre_DivOp : Spyre_BinaryOp<"div", "Numbers"> {
  let summary = "quotient of two tensors";
  let description = [{
    `lhs / rhs`, cell by cell. Floats are computed in f32 and rounded once; x / 0 is an infinity or NaN as in
    IEEE 754. Integers truncate towards zero and wrap; an integer zero as divisor of a valid cell is an error
    when the program is run.

    * C1: operand shapes must broadcast, right-aligned, and the result shape must be their broadcast.
    * C2: operands and result must have one element type.
    * C3: element type must be one of f16, bf16, f32, i8, i16, i32, i64, ui8.
    * C4: at least one value operand must be a tensor.

    Example:

    ```mlir
    %0 = spyre.div %arg0, %arg1 : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
    ```
  }];
}

def Spyre_MaximumOp : Spyre_BinaryOp<"maximum", "Numbers", [Commutative]> {
  let summary = "larger of two tensors";
  let description = [{
    The larger of `lhs` and `rhs`, cell by cell. A NaN in either operand gives NaN; between +0 and -0 either
    may be returned.

    * C1: operand shapes must broadcast, right-aligned, and the result shape must be their broadcast.
    * C2: operands and result must have one element type.
    * C3: element type must be one of f16, bf16, f32, i8, i16, i32, i64, ui8.
    * C4: at least one value operand must be a tensor.

    Example:

    ```mlir
    %0 = spyre.maximum %arg0, %arg1 : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
    ```
  }];
}

def Spyre_MinimumOp : Spyre_BinaryOp<"minimum", "Numbers", [Commutative]> {
  let summary = "smaller of two tensors";
  let description = [{
    The smaller of `lhs` and `rhs`, cell by cell. A NaN in either operand gives NaN; between +0 and -0 either
    may be returned.

    * C1: operand shapes must broadcast, right-aligned, and the result shape must be their broadcast.
    * C2: operands and result must have one element type.
    * C3: element type must be one of f16, bf16, f32, i8, i16, i32, i64, ui8.
    * C4: at least one value operand must be a tensor.

    Example:

    ```mlir
    %0 = spyre.minimum %arg0, %arg1 : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
    ```
  }];
}

def Spyre_FmodOp : Spyre_BinaryOp<"fmod", "Numbers"> {
  let summary = "remainder with the sign of the dividend";
  let description = [{
    `lhs - trunc(lhs / rhs) * rhs`, exact, with the sign of `lhs` (C's fmod). A float zero as divisor gives
    NaN; an integer zero as divisor of a valid cell is an error when the program is run.

    * C1: operand shapes must broadcast, right-aligned, and the result shape must be their broadcast.
    * C2: operands and result must have one element type.
    * C3: element type must be one of f16, bf16, f32, i8, i16, i32, i64, ui8.
    * C4: at least one value operand must be a tensor.

    Example:

    ```mlir
    %0 = spyre.fmod %arg0, %arg1 : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
    ```
  }];
}

def Spyre_RemOp : Spyre_BinaryScratchOp<"rem", "Numbers"> {
  let summary = "remainder with the sign of the divisor";
  let description = [{
    `lhs - floor(lhs / rhs) * rhs`, with the sign of `rhs`. An optional third operand is workspace: it is
    never read, takes no part in valid regions, and need not match in shape. A float zero as divisor gives
    NaN; an integer zero as divisor of a valid cell is an error when the program is run.

    * C1: operand shapes must broadcast, right-aligned, and the result shape must be their broadcast.
    * C2: operands and result must have one element type.
    * C3: element type must be one of f16, bf16, f32, i8, i16, i32, i64, ui8.
    * C4: at least one value operand must be a tensor.

    Example:

    ```mlir
    %0 = spyre.rem %arg0, %arg1 : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
    ```
  }];
}

def Spyre_AndOp : Spyre_BinaryOp<"and", "Bits", [Commutative]> {
  let summary = "bitwise and";
  let description = [{
    Bitwise `lhs & rhs`; of i1, logical and.

    * C1: operand shapes must broadcast, right-aligned, and the result shape must be their broadcast.
    * C2: operands and result must have one element type.
    * C3: element type must be one of i8, i16, i32, i64, ui8, i1.
    * C4: at least one value operand must be a tensor.

    Example:

    ```mlir
    %0 = spyre.and %arg0, %arg1 : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>
    ```
  }];
}

def Spyre_OrOp : Spyre_BinaryOp<"or", "Bits", [Commutative]> {
  let summary = "bitwise or";
  let description = [{
    Bitwise `lhs | rhs`; of i1, logical or.

    * C1: operand shapes must broadcast, right-aligned, and the result shape must be their broadcast.
    * C2: operands and result must have one element type.
    * C3: element type must be one of i8, i16, i32, i64, ui8, i1.
    * C4: at least one value operand must be a tensor.

    Example:

    ```mlir
    %0 = spyre.or %arg0, %arg1 : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>
    ```
  }];
}

def Spyre_XorOp : Spyre_BinaryScratchOp<"xor", "Bits"> {
  let summary = "bitwise exclusive or";
  let description = [{
    Bitwise `lhs ^ rhs`; of i1, logical exclusive or. An optional third operand is workspace: it is never
    read, takes no part in valid regions, and need not match in shape.

    * C1: operand shapes must broadcast, right-aligned, and the result shape must be their broadcast.
    * C2: operands and result must have one element type.
    * C3: element type must be one of i8, i16, i32, i64, ui8, i1.
    * C4: at least one value operand must be a tensor.

    Example:

    ```mlir
    %0 = spyre.xor %arg0, %arg1 : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>
    ```
  }];
}

def Spyre_ShlOp : Spyre_BinaryOp<"shl", "Integers"> {
  let summary = "shift left";
  let description = [{
    `lhs << rhs`, bits shifted out are lost. The count is read per cell and must lie in [0, width of the
    element type); any other count on a valid cell is an error when the program is run.

    * C1: operand shapes must broadcast, right-aligned, and the result shape must be their broadcast.
    * C2: operands and result must have one element type.
    * C3: element type must be one of i8, i16, i32, i64, ui8.
    * C4: at least one value operand must be a tensor.

    Example:

    ```mlir
    %0 = spyre.shl %arg0, %arg1 : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>
    ```
  }];
}

def Spyre_ShrOp : Spyre_BinaryOp<"shr", "Integers"> {
  let summary = "shift right";
  let description = [{
    `lhs >> rhs`: arithmetic for signed element types, logical for ui8. The count is read per cell and must
    lie in [0, width of the element type); any other count on a valid cell is an error when the program is
    run.

    * C1: operand shapes must broadcast, right-aligned, and the result shape must be their broadcast.
    * C2: operands and result must have one element type.
    * C3: element type must be one of i8, i16, i32, i64, ui8.
    * C4: at least one value operand must be a tensor.

    Example:

    ```mlir
    %0 = spyre.shr %arg0, %arg1 : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>
    ```
  }];
}

class Spyre_CompareOp<string mnemonic, string verifier> : Spyre_PureOp<mnemonic> {
  let arguments = (ins Spyre_TensorOrScalar:$lhs, Spyre_TensorOrScalar:$rhs, StrAttr:$predicate);
  let results = (outs Spyre_Tensor:$result);
  let hasVerifier = 1;
  let extraClassDefinition = "::mlir::LogicalResult $cppClass::verify() {\n"
    "  return ::spyre::" # verifier # "(*this);\n}";
}

def Spyre_CmpOp : Spyre_CompareOp<"cmp", "verifyCompare"> {
  let summary = "comparison, one i1 per cell";
  let description = [{
    `lhs predicate rhs`, cell by cell, as i1. Ordered: with a NaN every predicate is false but `ne`, which is
    true. -0 equals +0.

    * C1: operand shapes must broadcast, right-aligned, and the result shape must be their broadcast.
    * C2: operands must have one element type.
    * C3: operand element type must be one of f16, bf16, f32, i8, i16, i32, i64, ui8, i1.
    * C4: at least one value operand must be a tensor.
    * C5: predicate must be one of eq, ne, gt, ge, lt, le.
    * C6: result element type must be i1.

    Example:

    ```mlir
    %0 = spyre.cmp %arg0, %arg1 {predicate = "lt"} : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xi1>
    ```
  }];
}

def Spyre_CmpPackedOp : Spyre_CompareOp<"cmp_packed", "verifyComparePacked"> {
  let summary = "comparison, eight cells per byte";
  let description = [{
    `lhs predicate rhs` as `cmp`, packed along the last dim: bit `c mod 8` (lowest first) of byte `c floordiv
    8` is the cell c. The logical region is agreed on as for any elementwise operation, then packed: the last
    valid extent v becomes ceil(v / 8), the last physical extent c becomes ceil(c / 8) rounded up to a
    multiple of 32. Bits of a valid byte beyond the logical region are 0.

    * C1: the result shape must be the broadcast operand shape with its last extent c packed to ceil(c / 8)
      rounded up to a multiple of 32.
    * C2: operands must have one element type.
    * C3: operand element type must be one of f16, bf16, f32, i8, i16, i32, i64, ui8, i1.
    * C4: at least one value operand must be a tensor.
    * C5: predicate must be one of eq, ne, gt, ge, lt, le.
    * C6: result element type must be ui8.
    * C7: operands must have rank 1 or more.

    Example:

    ```mlir
    %0 = spyre.cmp_packed %arg0, %arg1 {predicate = "lt"} : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x32xui8, #spyre.encoding<valid_shape = [4, 1]>>
    ```
  }];
}

/// Three addends; `rhs` is a tensor or, where `Middle` says so, a scalar.
class Spyre_ThreeAddendsOp<string mnemonic, Type middle> : Spyre_PureOp<mnemonic> {
  let arguments = (ins Spyre_Tensor:$lhs, middle:$rhs, Spyre_Tensor:$rhs2);
  let results = (outs Spyre_Tensor:$result);
  let hasVerifier = 1;
  let extraClassDefinition = "::mlir::LogicalResult $cppClass::verify() {\n"
    "  return ::spyre::verifyElementwise(*this, (*this)->getOperands(), ::spyre::ElementSet::Numbers);\n}";
}

def Spyre_AddcOp : Spyre_ThreeAddendsOp<"addc", Spyre_Tensor> {
  let summary = "sum of three tensors";
  let description = [{
    `(lhs + rhs) + rhs2`, cell by cell. Floats are rounded after each of the two steps, as the two operations
    it is lowered to; integers wrap.

    * C1: operand shapes must broadcast, right-aligned, and the result shape must be their broadcast.
    * C2: operands and result must have one element type.
    * C3: element type must be one of f16, bf16, f32, i8, i16, i32, i64, ui8.

    Example:

    ```mlir
    %0 = spyre.addc %arg0, %arg1, %arg2 : (tensor<4x8xf16>, tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
    ```
  }];
}

def Spyre_SubcOp : Spyre_ThreeAddendsOp<"subc", Spyre_Tensor> {
  let summary = "difference of two tensors plus a third";
  let description = [{
    `(lhs - rhs) + rhs2`, cell by cell: the third operand is added, as in the vector instruction of this name.
    Floats are rounded after each of the two steps, as the two operations it is lowered to; integers wrap.

    * C1: operand shapes must broadcast, right-aligned, and the result shape must be their broadcast.
    * C2: operands and result must have one element type.
    * C3: element type must be one of f16, bf16, f32, i8, i16, i32, i64, ui8.

    Example:

    ```mlir
    %0 = spyre.subc %arg0, %arg1, %arg2 : (tensor<4x8xf16>, tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
    ```
  }];
}

def Spyre_AddscOp : Spyre_ThreeAddendsOp<"addsc", Spyre_Element> {
  let summary = "tensor plus scalar plus tensor";
  let description = [{
    `(lhs + rhs) + rhs2`, cell by cell, with a scalar in the middle. Floats are rounded after each of the two
    steps, as the two operations it is lowered to; integers wrap.

    * C1: operand shapes must broadcast, right-aligned, and the result shape must be their broadcast.
    * C2: operands and result must have one element type.
    * C3: element type must be one of f16, bf16, f32, i8, i16, i32, i64, ui8.

    Example:

    ```mlir
    %0 = spyre.addsc %arg0, %arg1, %arg2 : (tensor<4x8xf16>, f16, tensor<4x8xf16>) -> tensor<4x8xf16>
    ```
  }];
}

def Spyre_SubscOp : Spyre_ThreeAddendsOp<"subsc", Spyre_Element> {
  let summary = "tensor minus scalar plus tensor";
  let description = [{
    `(lhs - rhs) + rhs2`, cell by cell, with a scalar in the middle: the third operand is added. Floats are
    rounded after each of the two steps, as the two operations it is lowered to; integers wrap.

    * C1: operand shapes must broadcast, right-aligned, and the result shape must be their broadcast.
    * C2: operands and result must have one element type.
    * C3: element type must be one of f16, bf16, f32, i8, i16, i32, i64, ui8.

    Example:

    ```mlir
    %0 = spyre.subsc %arg0, %arg1, %arg2 : (tensor<4x8xf16>, f16, tensor<4x8xf16>) -> tensor<4x8xf16>
    ```
  }];
}

def Spyre_SelectOp : Spyre_PureOp<"select"> {
  let summary = "choice between two tensors by a mask";
  let description = [{
    `on_true` where the mask holds, else `on_false`. The mask is i1, one cell per cell, or ui8, packed along
    the last dim as `cmp_packed` writes it. It takes no part in the agreement of valid regions, but must
    provably cover the result's region. The branch not chosen is not observed.

    * C1: operand shapes must broadcast, right-aligned, and the result shape must be their broadcast.
    * C2: on_true, on_false and result must have one element type.
    * C3: element type must be one of f16, bf16, f32, f8E4M3FN, f8E5M2FNUZ, i8, i16, i32, i64, ui8, i1.
    * C4: at least one value operand must be a tensor.
    * C5: the mask must be i1 and broadcast to the result shape, or packed ui8 whose leading extents are the
      result's and whose last extent times 8 covers the result's.

    Example:

    ```mlir
    %0 = spyre.select %arg0, %arg1, %arg2 : (tensor<4x8xi1>, tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
    ```
  }];
  let arguments = (ins Spyre_MaskTensor:$mask, Spyre_TensorOrScalar:$on_true, Spyre_TensorOrScalar:$on_false);
  let results = (outs Spyre_Tensor:$result);
  let hasVerifier = 1;
  let extraClassDefinition = "::mlir::LogicalResult $cppClass::verify() {\n"
    "  return ::spyre::verifySelect(*this);\n}";
}

def Spyre_SelectsOp : Spyre_PureOp<"selects"> {
  let summary = "choice between a tensor and a scalar by a mask";
  let description = [{
    `source` where the mask holds, else `otherwise`. The mask is i1, one cell per cell, or ui8, packed along
    the last dim as `cmp_packed` writes it. It takes no part in the agreement of valid regions, but must
    provably cover the result's region. The branch not chosen is not observed.

    * C1: source and result must have one shape.
    * C2: source, otherwise and result must have one element type.
    * C3: element type must be one of f16, bf16, f32, f8E4M3FN, f8E5M2FNUZ, i8, i16, i32, i64, ui8, i1.
    * C4: the mask must be i1 of the result shape, or packed ui8 whose leading extents are the result's and
      whose last extent times 8 covers the result's.

    Example:

    ```mlir
    %0 = spyre.selects %arg0, %arg1, %arg2 : (tensor<4x32xui8, #spyre.encoding<valid_shape = [4, 1]>>, tensor<4x8xf16>, f16) -> tensor<4x8xf16>
    ```
  }];
  let arguments = (ins Spyre_MaskTensor:$mask, Spyre_Tensor:$source, Spyre_Element:$otherwise);
  let results = (outs Spyre_Tensor:$result);
  let hasVerifier = 1;
  let extraClassDefinition = "::mlir::LogicalResult $cppClass::verify() {\n"
    "  return ::spyre::verifySelects(*this);\n}";
}

/// f where both operands are valid, a copy where one of them is.
class Spyre_PartOp<string mnemonic, list<Trait> traits = []> : Spyre_PureOp<mnemonic, traits> {
  let arguments = (ins Spyre_Tensor:$lhs, Spyre_Tensor:$rhs);
  let results = (outs Spyre_Tensor:$result);
  let hasVerifier = 1;
  let extraClassDefinition = "::mlir::LogicalResult $cppClass::verify() {\n"
    "  return ::spyre::verifyElementwise(*this, (*this)->getOperands(), ::spyre::ElementSet::Numbers);\n}";
}

def Spyre_PartAddOp : Spyre_PartOp<"part_add", [Commutative]> {
  let summary = "sum where both operands hold data, a copy where one does";
  let description = [{
    On cells valid in both operands `spyre.add`; on cells valid in one of them that operand's value. The
    result's region is the union of the two regions, which must provably be one of them; what lies outside the
    union is not observable. Same rounding as the operation it is made of.

    * C1: operand shapes must broadcast, right-aligned, and the result shape must be their broadcast.
    * C2: operands and result must have one element type.
    * C3: element type must be one of f16, bf16, f32, i8, i16, i32, i64, ui8.

    Example:

    ```mlir
    %0 = spyre.part_add %arg0, %arg1 : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
    ```
  }];
}

def Spyre_PartMulOp : Spyre_PartOp<"part_mul", [Commutative]> {
  let summary = "product where both operands hold data, a copy where one does";
  let description = [{
    On cells valid in both operands `spyre.mul`; on cells valid in one of them that operand's value. The
    result's region is the union of the two regions, which must provably be one of them; what lies outside the
    union is not observable. Same rounding as the operation it is made of.

    * C1: operand shapes must broadcast, right-aligned, and the result shape must be their broadcast.
    * C2: operands and result must have one element type.
    * C3: element type must be one of f16, bf16, f32, i8, i16, i32, i64, ui8.

    Example:

    ```mlir
    %0 = spyre.part_mul %arg0, %arg1 : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
    ```
  }];
}

def Spyre_PartMaxOp : Spyre_PartOp<"part_max", [Commutative]> {
  let summary = "maximum where both operands hold data, a copy where one does";
  let description = [{
    On cells valid in both operands `spyre.maximum`; on cells valid in one of them that operand's value. The
    result's region is the union of the two regions, which must provably be one of them; what lies outside the
    union is not observable. Same rounding as the operation it is made of.

    * C1: operand shapes must broadcast, right-aligned, and the result shape must be their broadcast.
    * C2: operands and result must have one element type.
    * C3: element type must be one of f16, bf16, f32, i8, i16, i32, i64, ui8.

    Example:

    ```mlir
    %0 = spyre.part_max %arg0, %arg1 : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
    ```
  }];
}

def Spyre_PartMinOp : Spyre_PartOp<"part_min", [Commutative]> {
  let summary = "minimum where both operands hold data, a copy where one does";
  let description = [{
    On cells valid in both operands `spyre.minimum`; on cells valid in one of them that operand's value. The
    result's region is the union of the two regions, which must provably be one of them; what lies outside the
    union is not observable. Same rounding as the operation it is made of.

    * C1: operand shapes must broadcast, right-aligned, and the result shape must be their broadcast.
    * C2: operands and result must have one element type.
    * C3: element type must be one of f16, bf16, f32, i8, i16, i32, i64, ui8.

    Example:

    ```mlir
    %0 = spyre.part_min %arg0, %arg1 : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
    ```
  }];
}

#endif // SPYRE_ELEMENTWISE_TD
