// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Spyre/ShapeChecks.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace spyre;

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
