// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text forms and verifiers that are particular to one operation.

#include "Extent/Extent.h"
#include "Spyre/Dialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace spyre;

/// `[8, n + 1]`: the extents of set_valid_shape.
static ParseResult parseExtents(OpAsmParser &parser, ArrayAttr &extents) {
  SmallVector<Attribute> values;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
        FailureOr<ExtentAttr> extent = ExtentAttr::parseBare(parser);
        if (succeeded(extent))
          values.push_back(*extent);
        return success(succeeded(extent));
      }))
    return failure();
  extents = parser.getBuilder().getArrayAttr(values);
  return success();
}

static void printExtents(OpAsmPrinter &printer, Operation *, ArrayAttr extents) {
  printer << '[';
  llvm::interleaveComma(extents.getAsRange<ExtentAttr>(), printer.getStream(),
                        [&](ExtentAttr extent) { printer.getStream() << extent.getText(); });
  printer << ']';
}

#define GET_OP_CLASSES
#include "Spyre/Operations.cpp.inc"

//===--------------------------------------------------------------------===//
// Windows
//===--------------------------------------------------------------------===//

/// `window` lies inside `whole` at the offsets, as far as they are literal.
static LogicalResult verifyWindow(Operation *op, RankedTensorType window, RankedTensorType whole,
                                  ArrayRef<int64_t> offsets, ValueRange dynamicOffsets) {
  if (window.getRank() != whole.getRank())
    return op->emitOpError() << "C1: the window has rank " << window.getRank()
                             << ", the whole tensor rank " << whole.getRank();
  if (window.getElementType() != whole.getElementType())
    return op->emitOpError() << "C1: the window has elements of " << window.getElementType()
                             << ", the whole tensor of " << whole.getElementType();
  if (static_cast<int64_t>(offsets.size()) != whole.getRank())
    return op->emitOpError() << "C2: " << offsets.size() << " offsets for a tensor of rank "
                             << whole.getRank();
  if (llvm::count(offsets, ShapedType::kDynamic) != static_cast<int64_t>(dynamicOffsets.size()))
    return op->emitOpError() << "C2: " << llvm::count(offsets, ShapedType::kDynamic)
                             << " offsets are index values, but " << dynamicOffsets.size()
                             << " are given";
  for (auto [dim, offset] : llvm::enumerate(offsets)) {
    int64_t begin = offset == ShapedType::kDynamic ? 0 : offset;
    if (begin < 0)
      return op->emitOpError() << "C2: offset " << begin << " of dim " << dim << " is negative";
    if (begin + window.getDimSize(dim) > whole.getDimSize(dim))
      return op->emitOpError() << "C2: dim " << dim << ": " << window.getDimSize(dim)
                               << " elements from " << begin << " on do not fit into "
                               << whole.getDimSize(dim);
  }
  return success();
}

LogicalResult SliceOp::verify() {
  return verifyWindow(*this, getResult().getType(), getSource().getType(), getStaticOffsets(),
                      getOffsets());
}

LogicalResult InsertSliceOp::verify() {
  if (getResult().getType() != getDestination().getType())
    return emitOpError() << "C1: the result has type " << getResult().getType()
                         << ", the destination " << getDestination().getType();
  return verifyWindow(*this, getSource().getType(), getDestination().getType(), getStaticOffsets(),
                      getOffsets());
}

//===--------------------------------------------------------------------===//
// Valid regions and symbols
//===--------------------------------------------------------------------===//

static ArrayRef<ExtentAttr> validShapeOf(RankedTensorType type) {
  auto encoding = dyn_cast_or_null<EncodingAttr>(type.getEncoding());
  return encoding ? encoding.getValidShape() : ArrayRef<ExtentAttr>();
}

LogicalResult SetValidShapeOp::verify() {
  RankedTensorType source = getInput().getType(), result = getResult().getType();
  if (source.getShape() != result.getShape() || source.getElementType() != result.getElementType())
    return emitOpError() << "C1: source and result have the same shape and element type";
  auto from = dyn_cast_or_null<EncodingAttr>(source.getEncoding());
  auto to = dyn_cast_or_null<EncodingAttr>(result.getEncoding());
  if ((from ? from.getLayout() : nullptr) != (to ? to.getLayout() : nullptr))
    return emitOpError() << "C1: source and result have the same layout";
  if (static_cast<int64_t>(getValidShape().size()) != result.getRank())
    return emitOpError() << "C2: " << getValidShape().size() << " extents for a tensor of rank "
                         << result.getRank();
  ArrayRef<ExtentAttr> valid = validShapeOf(result);
  for (auto [dim, extent] : llvm::enumerate(getValidShape().getAsRange<ExtentAttr>())) {
    ExtentAttr stated =
        valid.empty() ? ExtentAttr::getLiteral(getContext(), result.getDimSize(dim)) : valid[dim];
    if (extent != stated)
      return emitOpError() << "C2: extent " << dim << " is " << extent.getText()
                           << ", the result type says " << stated.getText();
  }
  return success();
}

LogicalResult ExtentOp::verify() {
  auto function = dyn_cast_or_null<FunctionOpInterface>((*this)->getParentOp());
  if (!function || (*this)->getBlock() != &function.getFunctionBody().front())
    return emitOpError() << "C1: a symbol is introduced in the entry block of a function";
  std::string error;
  if (!Extent::symbol(getSymbol(), error))
    return emitOpError() << "C2: " << error;
  if (std::optional<ArrayRef<int64_t>> range = getRange())
    if (range->size() != 2 || (*range)[0] > (*range)[1])
      return emitOpError() << "C2: the range is [low, high] with low <= high";
  return success();
}
