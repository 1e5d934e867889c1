// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Spyre/ShapeChecks.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace spyre;

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
