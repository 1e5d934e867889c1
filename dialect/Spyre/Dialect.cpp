// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Spyre/Dialect.h"

using namespace mlir;
using namespace spyre;

#include "Spyre/Dialect.cpp.inc"

void SpyreDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "Spyre/Operations.cpp.inc"
      >();
}

/// `spyre.extent = "n"` and `spyre.range = [low, high]` on an index argument: it introduces the
/// symbol n.
LogicalResult SpyreDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned argument,
                                                     NamedAttribute attribute) {
  StringRef name = attribute.getName().strref();
  if (name == "spyre.extent") {
    auto symbol = dyn_cast<StringAttr>(attribute.getValue());
    if (!symbol || symbol.empty())
      return op->emitOpError() << "SPY009: argument #" << argument
                               << ": 'spyre.extent' is the name of a symbol";
    return success();
  }
  if (name == "spyre.range") {
    auto range = dyn_cast<DenseI64ArrayAttr>(attribute.getValue());
    if (!range || range.size() != 2 || range[0] > range[1])
      return op->emitOpError() << "SPY009: argument #" << argument
                               << ": 'spyre.range' is array<i64: low, high> with low <= high";
    return success();
  }
  if (name == "spyre.constant") {
    if (!isa<FloatAttr, IntegerAttr>(attribute.getValue()))
      return op->emitOpError() << "SPY009: argument #" << argument
                               << ": 'spyre.constant' is the number that the caller must pass";
    return success();
  }
  if (name == "spyre.scalar") {
    if (!isa<IntegerAttr>(attribute.getValue()))
      return op->emitOpError() << "SPY009: argument #" << argument
                               << ": 'spyre.scalar' is the number of a scalar argument";
    return success();
  }
  return op->emitOpError() << "SPY009: argument #" << argument << ": unknown attribute '" << name
                           << "'";
}

/// Attributes that passes and users put on operations of any dialect.
LogicalResult SpyreDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName().strref();
  Attribute value = attribute.getValue();
  auto expect = [&](bool holds, StringRef what) -> LogicalResult {
    if (holds)
      return success();
    return op->emitOpError() << "SPY009: '" << name << "' is " << what;
  };
  if (name == "spyre.tile")
    return expect(isa<TilePlanAttr>(value), "a #spyre.tile_plan");
  if (name == "spyre.division")
    return expect(isa<WorkDivisionAttr>(value), "a #spyre.work_division");
  if (name == "spyre.place")
    return expect(isa<PlaceAttr>(value), "a #spyre.place");
  if (name == "spyre.dims") {
    auto names = dyn_cast<ArrayAttr>(value);
    return expect(names && llvm::all_of(names, llvm::IsaPred<StringAttr>),
                  "a list of names, one per iteration dim");
  }
  if (name == "spyre.pool_bytes")
    return expect(isa<IntegerAttr>(value), "a number of bytes");
  return op->emitOpError() << "SPY009: unknown attribute '" << name << "'";
}
