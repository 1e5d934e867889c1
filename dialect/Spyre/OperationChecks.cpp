// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Spyre/Dialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace spyre;

//===--------------------------------------------------------------------===//
// Element types
//===--------------------------------------------------------------------===//

static bool isFloat8(Type type) { return isa<Float8E4M3FNType, Float8E5M2FNUZType>(type); }

static bool isSignedInteger(Type type) {
  return type.isSignlessInteger() && !type.isSignlessInteger(1);
}

static bool contains(ElementSet set, Type type) {
  bool wide = type.isF16() || type.isBF16() || type.isF32();
  bool integer = isSignedInteger(type) || type.isUnsignedInteger(8);
  bool boolean = type.isSignlessInteger(1);
  switch (set) {
  case ElementSet::Floats:
    return wide;
  case ElementSet::Signed:
    return wide || isSignedInteger(type);
  case ElementSet::Numbers:
    return wide || integer;
  case ElementSet::Integers:
    return integer;
  case ElementSet::Bits:
    return integer || boolean;
  case ElementSet::Comparable:
    return wide || integer || boolean;
  case ElementSet::Factors:
    return wide || integer || isFloat8(type);
  case ElementSet::All:
    return isSpyreElement(type);
  }
  llvm_unreachable("an element set without members");
}

static StringRef listOf(ElementSet set) {
  switch (set) {
  case ElementSet::Floats:
    return "f16, bf16, f32";
  case ElementSet::Signed:
    return "f16, bf16, f32, i8, i16, i32, i64";
  case ElementSet::Numbers:
    return "f16, bf16, f32, i8, i16, i32, i64, ui8";
  case ElementSet::Integers:
    return "i8, i16, i32, i64, ui8";
  case ElementSet::Bits:
    return "i8, i16, i32, i64, ui8, i1";
  case ElementSet::Comparable:
    return "f16, bf16, f32, i8, i16, i32, i64, ui8, i1";
  case ElementSet::Factors:
    return "f16, bf16, f32, f8E4M3FN, f8E5M2FNUZ, i8, i16, i32, i64, ui8";
  case ElementSet::All:
    return "f16, bf16, f32, f8E4M3FN, f8E5M2FNUZ, i8, i16, i32, i64, ui8, i1";
  }
  llvm_unreachable("an element set without members");
}

static RankedTensorType operandType(Operation *op, unsigned index) {
  return cast<RankedTensorType>(op->getOperand(index).getType());
}

static RankedTensorType resultType(Operation *op, unsigned index = 0) {
  return cast<RankedTensorType>(op->getResult(index).getType());
}

static LogicalResult verifyMember(Operation *op, Type element, ElementSet set, StringRef label,
                                  StringRef what = "element type") {
  if (contains(set, element))
    return success();
  return op->emitOpError() << label << ": " << what << " must be one of " << listOf(set) << ", got "
                           << element;
}

LogicalResult spyre::verifySameElement(Operation *op, ValueRange values, Type element,
                                       StringRef label) {
  for (auto [i, value] : llvm::enumerate(values))
    if (Type type = getElementTypeOrSelf(value.getType()); type != element)
      return op->emitOpError() << label << ": operand #" << i << " has elements of " << type
                               << ", expected " << element;
  return success();
}

/// A type that holds every position along `extent` cells.
static LogicalResult verifyPositions(Operation *op, Type element, int64_t extent, StringRef label) {
  unsigned bits = element.getIntOrFloatBitWidth();
  // The largest integer up to which every one is exact: signed range, or significand of the float.
  int64_t exact = element.isF16() ? 2048 : element.isBF16() ? 256 : element.isF32() ? 1 << 24 : 0;
  int64_t limit = exact ? exact : bits >= 63 ? INT64_MAX : (int64_t(1) << (bits - 1)) - 1;
  if (extent - 1 > limit)
    return op->emitOpError() << label << ": " << element << " does not hold the positions of "
                             << extent << " cells";
  return success();
}

//===--------------------------------------------------------------------===//
// Shapes
//===--------------------------------------------------------------------===//

static std::string spelled(ArrayRef<int64_t> shape) {
  std::string text = "[";
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(shape, os);
  return text + "]";
}

static LogicalResult verifyShape(Operation *op, RankedTensorType type, ArrayRef<int64_t> expected,
                                 StringRef label, StringRef what) {
  if (type.getShape() == expected)
    return success();
  return op->emitOpError() << label << ": " << what << " must have shape " << spelled(expected)
                           << ", got " << spelled(type.getShape());
}

static LogicalResult verifyDim(Operation *op, int64_t dim, int64_t rank, StringRef label) {
  if (dim >= 0 && dim < rank)
    return success();
  return op->emitOpError() << label << ": dim is " << dim << ", the tensor has rank " << rank;
}

/// Merges `shape` into `joint`, right-aligned; false with `at` set to the dim of `joint` that
/// disagrees.
static bool broadcastInto(SmallVectorImpl<int64_t> &joint, ArrayRef<int64_t> shape, int64_t &at) {
  if (shape.size() > joint.size())
    joint.insert(joint.begin(), shape.size() - joint.size(), 1);
  int64_t lead = joint.size() - shape.size();
  for (auto [dim, size] : llvm::enumerate(shape)) {
    int64_t &extent = joint[lead + dim];
    if (size == 1 || size == extent)
      continue;
    at = lead + dim;
    if (extent != 1)
      return false;
    extent = size;
  }
  return true;
}

/// The joint shape of the tensors among `operands` (C1), at least one of them (C4).
static FailureOr<SmallVector<int64_t>> jointShape(Operation *op, ValueRange operands) {
  SmallVector<int64_t> joint;
  bool anyTensor = false;
  for (auto [i, operand] : llvm::enumerate(operands)) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!type)
      continue;
    anyTensor = true;
    int64_t at = 0;
    if (!broadcastInto(joint, type.getShape(), at))
      return op->emitOpError() << "C1: operand #" << i << " of shape " << spelled(type.getShape())
                               << " does not broadcast with " << spelled(joint)
                               << ", the joint shape of those before it, at dim " << at;
  }
  if (!anyTensor)
    return op->emitOpError() << "C4: at least one value operand must be a tensor";
  return joint;
}

//===--------------------------------------------------------------------===//
// Elementwise
//===--------------------------------------------------------------------===//

static LogicalResult verifyBroadcast(Operation *op, ValueRange operands, bool covers) {
  FailureOr<SmallVector<int64_t>> joint = jointShape(op, operands);
  if (failed(joint))
    return failure();
  if (covers)
    return verifyShape(op, resultType(op), *joint, "C1", "the result");
  SmallVector<int64_t> whole(resultType(op).getShape());
  int64_t at = 0;
  if (!broadcastInto(whole, *joint, at) || ArrayRef(whole) != resultType(op).getShape())
    return op->emitOpError() << "C1: the operand of shape " << spelled(*joint)
                             << " does not broadcast to " << spelled(resultType(op).getShape());
  return success();
}

LogicalResult spyre::verifyElementwise(Operation *op, ValueRange operands, ElementSet elements,
                                       bool covers) {
  Type element = resultType(op).getElementType();
  if (failed(verifyBroadcast(op, operands, covers)) ||
      failed(verifySameElement(op, operands, element, "C2")))
    return failure();
  return verifyMember(op, element, elements, "C3");
}

static LogicalResult verifyComparison(Operation *op) {
  Type element = getElementTypeOrSelf(op->getOperand(0).getType());
  if (failed(verifySameElement(op, op->getOperands(), element, "C2")) ||
      failed(verifyMember(op, element, ElementSet::Comparable, "C3", "operand element type")))
    return failure();
  StringRef predicate = op->getAttrOfType<StringAttr>("predicate").getValue();
  if (!llvm::is_contained({"eq", "ne", "gt", "ge", "lt", "le"}, predicate))
    return op->emitOpError() << "C5: predicate must be one of eq, ne, gt, ge, lt, le, got '"
                             << predicate << "'";
  return success();
}

LogicalResult spyre::verifyCompare(Operation *op) {
  if (failed(verifyBroadcast(op, op->getOperands(), /*covers=*/true)) ||
      failed(verifyComparison(op)))
    return failure();
  if (!resultType(op).getElementType().isInteger(1))
    return op->emitOpError() << "C6: result element type must be i1, got "
                             << resultType(op).getElementType();
  return success();
}

LogicalResult spyre::verifyComparePacked(Operation *op) {
  FailureOr<SmallVector<int64_t>> joint = jointShape(op, op->getOperands());
  if (failed(joint))
    return failure();
  if (joint->empty())
    return op->emitOpError() << "C7: operands must have rank 1 or more";
  joint->back() = llvm::alignTo(llvm::divideCeil(joint->back(), 8), 32);
  if (failed(verifyShape(op, resultType(op), *joint, "C1", "the packed result")) ||
      failed(verifyComparison(op)))
    return failure();
  if (!resultType(op).getElementType().isUnsignedInteger(8))
    return op->emitOpError() << "C6: result element type must be ui8, got "
                             << resultType(op).getElementType();
  return success();
}

/// A mask of i1 broadcasts to the result (or has its shape); a packed one covers its last dim,
/// eight cells a byte.
static LogicalResult verifyMask(Operation *op, bool broadcasts, StringRef label) {
  RankedTensorType mask = operandType(op, 0), result = resultType(op);
  SmallVector<int64_t> joint(result.getShape());
  int64_t at = 0;
  bool fits;
  if (mask.getElementType().isInteger(1))
    fits = broadcasts
               ? broadcastInto(joint, mask.getShape(), at) && ArrayRef(joint) == result.getShape()
               : mask.getShape() == result.getShape();
  else
    fits = mask.getRank() == result.getRank() && mask.getRank() > 0 &&
           mask.getShape().drop_back() == result.getShape().drop_back() &&
           mask.getShape().back() * 8 >= result.getShape().back();
  if (fits)
    return success();
  return op->emitOpError() << label << ": a mask of " << mask.getElementType() << " and shape "
                           << spelled(mask.getShape()) << " does not cover a result of shape "
                           << spelled(result.getShape());
}

LogicalResult spyre::verifySelect(Operation *op) {
  OperandRange values = op->getOperands().drop_front();
  Type element = resultType(op).getElementType();
  FailureOr<SmallVector<int64_t>> joint = jointShape(op, values);
  if (failed(joint))
    return failure();
  int64_t at = 0;
  if (operandType(op, 0).getElementType().isInteger(1) &&
      !broadcastInto(*joint, operandType(op, 0).getShape(), at))
    return op->emitOpError() << "C1: the mask of shape " << spelled(operandType(op, 0).getShape())
                             << " does not broadcast with the values at dim " << at;
  if (failed(verifyShape(op, resultType(op), *joint, "C1", "the result")) ||
      failed(verifySameElement(op, values, element, "C2")) ||
      failed(verifyMember(op, element, ElementSet::All, "C3")))
    return failure();
  return verifyMask(op, /*broadcasts=*/true, "C5");
}

LogicalResult spyre::verifySelects(Operation *op) {
  Type element = resultType(op).getElementType();
  if (failed(verifyShape(op, resultType(op), operandType(op, 1).getShape(), "C1", "the result")) ||
      failed(verifySameElement(op, op->getOperands().drop_front(), element, "C2")) ||
      failed(verifyMember(op, element, ElementSet::All, "C3")))
    return failure();
  return verifyMask(op, /*broadcasts=*/false, "C4");
}

LogicalResult spyre::verifyUnary(Operation *op, ElementSet elements) {
  Type element = resultType(op).getElementType();
  if (failed(verifyShape(op, resultType(op), operandType(op, 0).getShape(), "C1", "the result")) ||
      failed(verifySameElement(op, op->getOperands(), element, "C2")))
    return failure();
  return verifyMember(op, element, elements, "C3");
}

LogicalResult spyre::verifySoftplus(Operation *op, double beta) {
  if (failed(verifyUnary(op, ElementSet::Floats)))
    return failure();
  if (beta == 0)
    return op->emitOpError() << "C4: beta must not be zero";
  return success();
}

LogicalResult spyre::verifyClip(Operation *op, double min, double max) {
  if (failed(verifyUnary(op, ElementSet::Signed)))
    return failure();
  if (!(min <= max))
    return op->emitOpError() << "C4: min must not be above max";
  return success();
}

LogicalResult spyre::verifyCast(Operation *op) {
  if (failed(verifyShape(op, resultType(op), operandType(op, 0).getShape(), "C1", "the result")) ||
      failed(verifyMember(op, operandType(op, 0).getElementType(), ElementSet::All, "C2")))
    return failure();
  return verifyMember(op, resultType(op).getElementType(), ElementSet::All, "C3");
}

//===--------------------------------------------------------------------===//
// Reductions
//===--------------------------------------------------------------------===//

/// `shape` without `dims`, or with extent 1 there.
static SmallVector<int64_t> reducedShape(ArrayRef<int64_t> shape, ArrayRef<int64_t> dims,
                                         bool keepDims) {
  SmallVector<int64_t> reduced;
  for (auto [dim, size] : llvm::enumerate(shape)) {
    if (!llvm::is_contained(dims, static_cast<int64_t>(dim)))
      reduced.push_back(size);
    else if (keepDims)
      reduced.push_back(1);
  }
  return reduced;
}

LogicalResult spyre::verifyReduce(Operation *op, ArrayAttr dims, bool keepDims,
                                  ElementSet elements) {
  RankedTensorType input = operandType(op, 0);
  Type element = resultType(op).getElementType();
  SmallVector<int64_t> reduced;
  for (Attribute entry : dims) {
    auto dim = dyn_cast<IntegerAttr>(entry);
    if (!dim || dim.getInt() < 0 || dim.getInt() >= input.getRank() ||
        (!reduced.empty() && dim.getInt() <= reduced.back()))
      return op->emitOpError()
             << "C4: dims must be distinct, increasing, at least one, and each in [0, "
             << input.getRank() << "), got " << dims;
    reduced.push_back(dim.getInt());
  }
  if (reduced.empty())
    return op->emitOpError()
           << "C4: dims must be distinct, increasing, at least one, and each in [0, "
           << input.getRank() << "), got " << dims;
  if (failed(verifyShape(op, resultType(op), reducedShape(input.getShape(), reduced, keepDims),
                         "C1", "the result")) ||
      failed(verifySameElement(op, op->getOperands(), element, "C2")))
    return failure();
  return verifyMember(op, element, elements, "C3");
}

LogicalResult spyre::verifyArgReduce(Operation *op, int64_t dim, bool keepDims) {
  RankedTensorType input = operandType(op, 0);
  Type position = resultType(op).getElementType();
  if (failed(verifyDim(op, dim, input.getRank(), "C4")) ||
      failed(verifyShape(op, resultType(op), reducedShape(input.getShape(), dim, keepDims), "C1",
                         "the result")) ||
      failed(verifyMember(op, input.getElementType(), ElementSet::Numbers, "C2",
                          "operand element type")))
    return failure();
  if (!position.isSignlessInteger(16) && !position.isSignlessInteger(32) &&
      !position.isSignlessInteger(64))
    return op->emitOpError() << "C3: result element type must be one of i16, i32, i64, got "
                             << position;
  return verifyPositions(op, position, input.getDimSize(dim), "C5");
}

/// `shape` with its last extent replaced.
static SmallVector<int64_t> withLast(ArrayRef<int64_t> shape, int64_t last) {
  SmallVector<int64_t> changed(shape);
  changed.back() = last;
  return changed;
}

LogicalResult spyre::verifyMoments(Operation *op) {
  RankedTensorType input = operandType(op, 0);
  if (input.getRank() == 0)
    return op->emitOpError() << "C4: the operand must have rank 1 or more";
  Type element = resultType(op).getElementType();
  if (failed(verifyShape(op, resultType(op), withLast(input.getShape(), 2), "C1", "the result")) ||
      failed(verifySameElement(op, op->getOperands(), element, "C2")))
    return failure();
  return verifyMember(op, element, ElementSet::Floats, "C3");
}

LogicalResult spyre::verifyNormScale(Operation *op) {
  RankedTensorType moments = operandType(op, 0);
  Type element = resultType(op).getElementType();
  if (moments.getRank() == 0 || moments.getShape().back() != 2)
    return op->emitOpError() << "C1: the operand's last extent must be 2, its shape is "
                             << spelled(moments.getShape());
  if (failed(
          verifyShape(op, resultType(op), withLast(moments.getShape(), 1), "C1", "the result")) ||
      failed(verifySameElement(op, op->getOperands(), element, "C2")))
    return failure();
  return verifyMember(op, element, ElementSet::Floats, "C3");
}

LogicalResult spyre::verifyNorm(Operation *op) {
  RankedTensorType input = operandType(op, 0);
  Type element = resultType(op).getElementType();
  if (input.getRank() == 0)
    return op->emitOpError() << "C4: the operand must have rank 1 or more";
  if (failed(verifyShape(op, resultType(op), input.getShape(), "C1", "the result")) ||
      failed(verifySameElement(op, op->getOperands(), element, "C2")) ||
      failed(verifyMember(op, element, ElementSet::Floats, "C3")) ||
      failed(verifyShape(op, operandType(op, 1), withLast(input.getShape(), 2), "C4", "moments")) ||
      failed(verifyShape(op, operandType(op, 2), withLast(input.getShape(), 1), "C4", "scale")) ||
      failed(verifyShape(op, operandType(op, 3), input.getShape().take_back(1), "C5", "weight")))
    return failure();
  return verifyShape(op, operandType(op, 4), input.getShape().take_back(1), "C5", "bias");
}

LogicalResult spyre::verifyContract(Operation *op, RankedTensorType lhs, RankedTensorType rhs) {
  if (lhs.getRank() < 2 || rhs.getRank() < 2)
    return op->emitOpError() << "C1: both factors must have rank 2 or more, got " << lhs.getRank()
                             << " and " << rhs.getRank();
  int64_t k = lhs.getShape().back(), otherK = rhs.getDimSize(rhs.getRank() - 2);
  if (k != otherK)
    return op->emitOpError() << "C2: the last extent of lhs is " << k
                             << ", the last but one of rhs " << otherK;
  SmallVector<int64_t> joint(lhs.getShape().drop_back(2));
  int64_t at = 0;
  if (!broadcastInto(joint, rhs.getShape().drop_back(2), at))
    return op->emitOpError() << "C3: batch extents do not broadcast at dim " << at;
  joint.push_back(lhs.getDimSize(lhs.getRank() - 2));
  joint.push_back(rhs.getShape().back());
  if (failed(verifyShape(op, resultType(op), joint, "C3", "the result")))
    return failure();
  Type factor = lhs.getElementType(), sum = resultType(op).getElementType();
  if (factor != rhs.getElementType() || !contains(ElementSet::Factors, factor))
    return op->emitOpError() << "C4: both factors must have one element type, one of "
                             << listOf(ElementSet::Factors) << ", got " << factor << " and "
                             << rhs.getElementType();
  bool half = factor.isF16() || factor.isBF16();
  bool small = factor.isInteger(8) || factor.isSignlessInteger(16);
  bool allowed = isFloat8(factor) ? contains(ElementSet::Floats, sum)
                                  : sum == factor || (half && sum.isF32()) ||
                                        (small && sum.isSignlessInteger(32));
  if (!allowed)
    return op->emitOpError() << "C5: factors of " << factor << " cannot give a result of " << sum;
  return success();
}

LogicalResult spyre::verifyAccumulate(Operation *op, RankedTensorType accumulator,
                                      RankedTensorType lhs, RankedTensorType rhs) {
  if (failed(verifyContract(op, lhs, rhs)))
    return failure();
  if (accumulator.getShape() != resultType(op).getShape() ||
      accumulator.getElementType() != resultType(op).getElementType())
    return op->emitOpError()
           << "C6: accumulator and result must have one shape and one element type";
  return success();
}

LogicalResult spyre::verifyTopk(Operation *op, int64_t k, int64_t dim) {
  RankedTensorType input = operandType(op, 0), values = resultType(op, 0);
  RankedTensorType indices = resultType(op, 1);
  Type element = input.getElementType(), position = indices.getElementType();
  if (failed(verifyDim(op, dim, input.getRank(), "C5")))
    return failure();
  if (k < 1 || k > input.getDimSize(dim))
    return op->emitOpError() << "C6: k must be in [1, " << input.getDimSize(dim) << "], got " << k;
  SmallVector<int64_t> shape(input.getShape());
  shape[dim] = k;
  if (failed(verifyShape(op, values, shape, "C1", "values")) ||
      failed(verifyShape(op, indices, shape, "C1", "indices")))
    return failure();
  if (values.getElementType() != element)
    return op->emitOpError() << "C2: operand and values must have one element type";
  if (failed(verifyMember(op, element, ElementSet::Numbers, "C3")))
    return failure();
  if (position != element && !position.isSignlessInteger(16) && !position.isSignlessInteger(32) &&
      !position.isSignlessInteger(64))
    return op->emitOpError() << "C4: the element type of indices must be one of i16, i32, i64 or "
                                "the values', got "
                             << position;
  return verifyPositions(op, position, input.getDimSize(dim), "C4");
}

//===--------------------------------------------------------------------===//
// Movement
//===--------------------------------------------------------------------===//

/// C2 of the moves: one element type.
static LogicalResult verifyMoved(Operation *op, ValueRange values) {
  return verifySameElement(op, values, resultType(op).getElementType(), "C2");
}

LogicalResult spyre::verifyReshape(Operation *op) {
  int64_t from = operandType(op, 0).getNumElements(), to = resultType(op).getNumElements();
  if (from != to)
    return op->emitOpError() << "C1: operand and result must have the same number of elements, got "
                             << from << " and " << to;
  return verifyMoved(op, op->getOperands());
}

LogicalResult spyre::verifyTranspose(Operation *op, ArrayAttr permutation) {
  ArrayRef<int64_t> shape = operandType(op, 0).getShape();
  SmallVector<int64_t> permuted;
  SmallVector<bool> seen(shape.size(), false);
  for (Attribute entry : permutation) {
    auto dim = dyn_cast<IntegerAttr>(entry);
    if (!dim || dim.getInt() < 0 || dim.getInt() >= static_cast<int64_t>(shape.size()) ||
        seen[dim.getInt()])
      return op->emitOpError() << "C4: " << permutation << " is no permutation of " << shape.size()
                               << " dims";
    seen[dim.getInt()] = true;
    permuted.push_back(shape[dim.getInt()]);
  }
  if (permuted.size() != shape.size())
    return op->emitOpError() << "C4: " << permutation << " is no permutation of " << shape.size()
                             << " dims";
  if (failed(verifyShape(op, resultType(op), permuted, "C1", "the result")))
    return failure();
  return verifyMoved(op, op->getOperands());
}

LogicalResult spyre::verifyConcat(Operation *op, int64_t dim) {
  if (op->getNumOperands() == 0)
    return op->emitOpError() << "C1: there must be one operand or more";
  RankedTensorType result = resultType(op);
  if (failed(verifyMoved(op, op->getOperands())) ||
      failed(verifyDim(op, dim, result.getRank(), "C4")))
    return failure();
  int64_t total = 0;
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(operand.getType()).getShape();
    SmallVector<int64_t> expected(result.getShape());
    if (shape.size() == expected.size())
      expected[dim] = shape[dim];
    if (shape != ArrayRef(expected))
      return op->emitOpError() << "C5: operand #" << i << " of shape " << spelled(shape)
                               << " does not fit beside the others along dim " << dim;
    total += shape[dim];
  }
  if (total != result.getDimSize(dim))
    return op->emitOpError() << "C5: the operands have " << total << " cells along dim " << dim
                             << ", the result " << result.getDimSize(dim);
  return success();
}

static LogicalResult verifyIndices(Operation *op, RankedTensorType indices, StringRef label) {
  Type element = indices.getElementType();
  if (element.isSignlessInteger(16) || element.isSignlessInteger(32) ||
      element.isSignlessInteger(64))
    return success();
  return op->emitOpError() << label
                           << ": element type of indices must be one of i16, i32, i64, got "
                           << element;
}

LogicalResult spyre::verifyGather(Operation *op, int64_t dim) {
  RankedTensorType source = operandType(op, 0), indices = operandType(op, 1);
  if (failed(verifyDim(op, dim, source.getRank(), "C5")) ||
      failed(verifyMoved(op, op->getOperands().take_front(1))))
    return failure();
  if (failed(verifyIndices(op, indices, "C4")))
    return failure();
  SmallVector<int64_t> shape(source.getShape().take_front(dim));
  llvm::append_range(shape, indices.getShape());
  llvm::append_range(shape, source.getShape().drop_front(dim + 1));
  return verifyShape(op, resultType(op), shape, "C1", "the result");
}

LogicalResult spyre::verifyScatter(Operation *op, int64_t dim) {
  RankedTensorType source = operandType(op, 0), indices = operandType(op, 1);
  RankedTensorType destination = operandType(op, 2);
  if (failed(verifyDim(op, dim, destination.getRank(), "C6")))
    return failure();
  if (destination != resultType(op))
    return op->emitOpError() << "C1: destination and result must have one type";
  SmallVector<int64_t> expected(destination.getShape());
  if (source.getRank() == destination.getRank())
    expected[dim] = source.getDimSize(dim);
  if (failed(verifyShape(op, source, expected, "C1", "the source")))
    return failure();
  if (source.getElementType() != destination.getElementType())
    return op->emitOpError() << "C2: source and destination must have one element type";
  if (failed(verifyIndices(op, indices, "C5")))
    return failure();
  return verifyShape(op, indices, source.getDimSize(dim), "C4", "indices");
}

LogicalResult spyre::verifySort(Operation *op, int64_t dim) {
  if (failed(verifyUnary(op, ElementSet::Numbers)))
    return failure();
  return verifyDim(op, dim, operandType(op, 0).getRank(), "C4");
}

LogicalResult spyre::verifyFillpad(Operation *op, StringRef pad) {
  RankedTensorType input = operandType(op, 0), result = resultType(op);
  bool fits = input.getRank() == result.getRank();
  for (int64_t dim = 0; fits && dim < input.getRank(); ++dim)
    fits = result.getDimSize(dim) >= input.getDimSize(dim);
  if (!fits)
    return op->emitOpError() << "C1: a tensor of shape " << spelled(input.getShape())
                             << " cannot be padded to " << spelled(result.getShape());
  if (failed(verifyMoved(op, op->getOperands())))
    return failure();
  if (!llvm::is_contained({"zero", "min", "max"}, pad))
    return op->emitOpError() << "C4: pad must be one of zero, min, max, got '" << pad << "'";
  return success();
}

LogicalResult spyre::verifyIota(Operation *op, int64_t dim) {
  RankedTensorType result = resultType(op);
  if (failed(verifyMember(op, result.getElementType(), ElementSet::Numbers, "C1")))
    return failure();
  return verifyDim(op, dim, result.getRank(), "C2");
}
