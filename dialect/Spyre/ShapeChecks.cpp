// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Spyre/ShapeChecks.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace spyre;

//===--------------------------------------------------------------------===//
// Element types
//===--------------------------------------------------------------------===//

bool spyre::isFloat8(Type type) { return isa<Float8E4M3FNType, Float8E5M2FNUZType>(type); }

static bool isSignedInteger(Type type) {
  return type.isSignlessInteger() && !type.isSignlessInteger(1);
}

bool spyre::contains(ElementSet set, Type type) {
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

StringRef spyre::listOf(ElementSet set) {
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

RankedTensorType spyre::operandType(Operation *op, unsigned index) {
  return cast<RankedTensorType>(op->getOperand(index).getType());
}

RankedTensorType spyre::resultType(Operation *op, unsigned index) {
  return cast<RankedTensorType>(op->getResult(index).getType());
}

LogicalResult spyre::verifyMember(Operation *op, Type element, ElementSet set, StringRef label,
                                  StringRef what) {
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
LogicalResult spyre::verifyPositions(Operation *op, Type element, int64_t extent, StringRef label) {
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

std::string spyre::spelled(ArrayRef<int64_t> shape) {
  std::string text = "[";
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(shape, os);
  return text + "]";
}

LogicalResult spyre::verifyShape(Operation *op, RankedTensorType type, ArrayRef<int64_t> expected,
                                 StringRef label, StringRef what) {
  if (type.getShape() == expected)
    return success();
  return op->emitOpError() << label << ": " << what << " must have shape " << spelled(expected)
                           << ", got " << spelled(type.getShape());
}

LogicalResult spyre::verifyDim(Operation *op, int64_t dim, int64_t rank, StringRef label) {
  if (dim >= 0 && dim < rank)
    return success();
  return op->emitOpError() << label << ": dim is " << dim << ", the tensor has rank " << rank;
}

/// Merges `shape` into `joint`, right-aligned; false with `at` set to the dim of `joint` that
/// disagrees.
bool spyre::broadcastInto(SmallVectorImpl<int64_t> &joint, ArrayRef<int64_t> shape, int64_t &at) {
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
FailureOr<SmallVector<int64_t>> spyre::jointShape(Operation *op, ValueRange operands) {
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
