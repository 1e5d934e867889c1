// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Spyre/ShapeChecks.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace spyre;

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
