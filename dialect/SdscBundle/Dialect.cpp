// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SdscBundle/Dialect.h"

#include "Spyre/Dialect.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace sdscbundle;

#include "SdscBundle/Dialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "SdscBundle/Types.cpp.inc"

static ParseResult parseBytes(OpAsmParser &parser, IntegerAttr &size) {
  int64_t value;
  if (parser.parseInteger(value))
    return failure();
  size = parser.getBuilder().getI64IntegerAttr(value);
  return success();
}

static void printBytes(OpAsmPrinter &printer, Operation *, IntegerAttr size) {
  printer << size.getInt();
}

#define GET_OP_CLASSES
#include "SdscBundle/Operations.cpp.inc"

void SdscBundleDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "SdscBundle/Types.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "SdscBundle/Operations.cpp.inc"
      >();
}

//===--------------------------------------------------------------------===//
// Types
//===--------------------------------------------------------------------===//

Type InputArgType::parse(AsmParser &parser) {
  Type value;
  int64_t granularity = 0, maxValue = 0;
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseType(value))
    return {};
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("granularity") || parser.parseEqual() ||
       parser.parseInteger(granularity) || parser.parseComma() ||
       parser.parseKeyword("max_value") || parser.parseEqual() || parser.parseInteger(maxValue)))
    return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<InputArgType>(at, parser.getContext(), value, granularity, maxValue);
}

void InputArgType::print(AsmPrinter &printer) const {
  printer << '<' << getValue();
  if (isExtent())
    printer << ", granularity=" << getGranularity() << ", max_value=" << getMaxValue();
  printer << '>';
}

LogicalResult InputArgType::verify(function_ref<InFlightDiagnostic()> emitError, Type value,
                                   int64_t granularity, int64_t maxValue) {
  if (!value.isIndex())
    return emitError() << "SPY010: a parameter of a bundle is an index, got " << value;
  if (granularity == 0 && maxValue == 0)
    return success();
  if (granularity < 1 || maxValue < granularity || maxValue % granularity != 0)
    return emitError()
           << "SPY010: the largest value is a positive multiple of the granularity, got "
           << maxValue << " and " << granularity;
  return success();
}

//===--------------------------------------------------------------------===//
// Operations
//===--------------------------------------------------------------------===//

LogicalResult DeviceMemAllocateOp::verify() {
  if (static_cast<int64_t>(getSize()) < 1)
    return emitOpError() << "C1: at least one byte is allocated, got "
                         << static_cast<int64_t>(getSize());
  return success();
}

/// The trips of a counted loop, if its bounds are constants and the step is above 0.
static std::optional<int64_t> tripCount(scf::ForOp loop) {
  std::optional<int64_t> low = getConstantIntValue(loop.getLowerBound());
  std::optional<int64_t> high = getConstantIntValue(loop.getUpperBound());
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  if (!low || !high || !step || *step < 1)
    return std::nullopt;
  return *high <= *low ? 0 : llvm::divideCeil(*high - *low, *step);
}

static LogicalResult verifyLoop(SdscExecuteOp op, scf::ForOp loop) {
  auto fail = [&](StringRef message) {
    InFlightDiagnostic error = op.emitOpError() << message;
    error.attachNote(loop.getLoc()) << "the loop is here";
    return error;
  };
  std::optional<int64_t> trips = tripCount(loop);
  if (!trips)
    return fail("C6: a loop around it has constant bounds and a step above 0");
  if (loop.getNumRegionIterArgs() != 0)
    return fail("C7: a loop around it carries no values");
  if (*trips > 65535)
    return fail("C8: a loop around it makes at most 65535 trips, not ") << *trips;
  return success();
}

/// Whether `value` is computed from constants, parameters, the pool and induction variables only.
static bool isAddress(Value value, SmallPtrSetImpl<Operation *> &seen) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    return loop && argument == loop.getInductionVar();
  }
  Operation *source = value.getDefiningOp();
  if (!seen.insert(source).second)
    return true;
  if (isa<InputArgExtractOp, DeviceMemAllocateOp, arith::ConstantOp>(source))
    return true;
  if (!isa<arith::AddIOp, affine::AffineApplyOp>(source))
    return false;
  return llvm::all_of(source->getOperands(),
                      [&](Value operand) { return isAddress(operand, seen); });
}

LogicalResult SdscExecuteOp::verify() {
  if (getAddresses().size() != getSymbolIds().size())
    return emitOpError() << "C1: " << getAddresses().size() << " operands for "
                         << getSymbolIds().size() << " symbol ids";
  int64_t previous = 0;
  for (IntegerAttr id : getSymbolIds().getAsRange<IntegerAttr>()) {
    if (id.getInt() >= 0)
      return emitOpError() << "C2: symbol ids are negative, got " << id.getInt();
    if (previous != 0 && id.getInt() >= previous)
      return emitOpError() << "C3: operands stand in the order of the symbol ids, but "
                           << id.getInt() << " follows " << previous;
    previous = id.getInt();
  }
  SmallPtrSet<Operation *, 16> seen;
  for (auto [i, address] : llvm::enumerate(getAddresses()))
    if (!isAddress(address, seen))
      return emitOpError() << "C5: operand #" << i
                           << " does not come from constants, arguments, the pool and induction "
                              "variables only";
  Operation *parent = (*this)->getParentOp();
  for (; auto loop = dyn_cast<scf::ForOp>(parent); parent = parent->getParentOp())
    if (failed(verifyLoop(*this, loop)))
      return failure();
  if (!isa<FunctionOpInterface>(parent))
    return emitOpError() << "C9: it stands in a function and in loops only, not in '"
                         << parent->getName() << "'";
  return verifyUnique(parent);
}

/// C4, checked for all executions of a bundle at once by the first of them.
LogicalResult SdscExecuteOp::verifyUnique(Operation *bundle) {
  DenseMap<int64_t, SdscExecuteOp> owners;
  bool isFirst = true, isDouble = false;
  bundle->walk([&](SdscExecuteOp execute) {
    if (isFirst && execute != *this) {
      isFirst = false; // another one is the first, and has checked them all
      return WalkResult::interrupt();
    }
    isFirst = false;
    for (Attribute entry : execute.getSymbolIds()) {
      int64_t id = cast<IntegerAttr>(entry).getInt();
      auto [owner, isNew] = owners.try_emplace(id, execute);
      if (isNew)
        continue;
      InFlightDiagnostic error = execute.emitOpError()
                                 << "C4: symbol id " << id << " is given a value twice";
      error.attachNote(owner->second.getLoc()) << "the first time here";
      isDouble = true;
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(isDouble);
}

//===--------------------------------------------------------------------===//
// The compact form
//===--------------------------------------------------------------------===//

/// C3 for one operand; `known` are the dims of the operation.
static LogicalResult verifyOperand(SdscOp op, unsigned number, Attribute entry,
                                   const llvm::StringMap<int64_t> &known) {
  auto fail = [&](const Twine &message) {
    return op.emitOpError() << "C3: operand #" << number << ": " << message;
  };
  auto operand = dyn_cast<DictionaryAttr>(entry);
  if (!operand)
    return fail("expected a dictionary");
  auto axes = operand.getAs<ArrayAttr>("axes");
  auto standing = operand.getAs<ArrayAttr>("standing");
  auto gaps = operand.getAs<DenseI64ArrayAttr>("gaps");
  auto stick = operand.getAs<StringAttr>("stick");
  if (!axes || !standing || !gaps || !stick || !operand.getAs<StringAttr>("format") ||
      !operand.getAs<spyre::PlaceAttr>("place") || !operand.getAs<DenseI64ArrayAttr>("advances"))
    return fail("expected the keys axes, standing, gaps, stick, format, place and advances");
  auto isDim = [&](Attribute label) {
    auto name = dyn_cast<StringAttr>(label);
    return name && known.contains(name.getValue());
  };
  for (ArrayAttr labels : {axes, standing})
    for (Attribute label : labels)
      if (!isDim(label))
        return fail("an axis is no dim of the operation");
  if (!llvm::is_contained(axes, Attribute(stick)))
    return fail("the stick '" + stick.getValue() + "' is none of its axes");
  if (gaps.size() != static_cast<int64_t>(axes.size()))
    return fail(Twine(axes.size()) + " axes and " + Twine(gaps.size()) + " gaps");
  return success();
}

/// C4; `known` are the dims of the operation, `slices` says into how many they are cut.
static LogicalResult verifySymbolic(SdscOp op, const llvm::StringMap<int64_t> &known,
                                    const llvm::StringMap<int64_t> &slices) {
  llvm::StringSet<> seen;
  for (Attribute entry : op.getSymbolic()) {
    auto fields = dyn_cast<ArrayAttr>(entry);
    bool isTriple = fields && fields.size() == 3;
    auto label = isTriple ? dyn_cast<StringAttr>(fields[0]) : StringAttr();
    auto granularity = isTriple ? dyn_cast<IntegerAttr>(fields[1]) : IntegerAttr();
    if (!label || !granularity || !isa<StringAttr>(fields[2]) ||
        !known.contains(label.getValue()) || !seen.insert(label.getValue()).second)
      return op.emitOpError() << "C4: symbolic lists dims, each once, as [label, granularity, tag]";
    int64_t extent = known.lookup(label.getValue()), grain = granularity.getInt();
    int64_t count = slices.contains(label.getValue()) ? slices.lookup(label.getValue()) : 1;
    if (grain < 1 || extent % grain != 0 || grain % count != 0)
      return op.emitOpError() << "C4: dim '" << label.getValue() << "' of extent " << extent
                              << " in " << count << " slices cannot have granules of " << grain;
  }
  return success();
}

LogicalResult SdscOp::verify() {
  llvm::StringMap<int64_t> known;
  if (getLabels().size() != getExtents().size())
    return emitOpError() << "C1: " << getLabels().size() << " labels and " << getExtents().size()
                         << " extents";
  for (auto [label, extent] : llvm::zip(getLabels().getAsRange<StringAttr>(), getExtents()))
    if (extent < 1 || !known.try_emplace(label.getValue(), extent).second)
      return emitOpError() << "C1: dim '" << label.getValue() << "' of extent " << extent
                           << ": extents are positive, labels distinct";
  ArrayRef<Attribute> cut = getCut().getValue();
  llvm::StringMap<int64_t> slices;
  for (size_t i = 0; i < cut.size(); i += 2) {
    auto label = dyn_cast<StringAttr>(cut[i]);
    auto count = i + 1 < cut.size() ? dyn_cast<IntegerAttr>(cut[i + 1]) : IntegerAttr();
    if (!label || !count || !known.contains(label.getValue()) ||
        !slices.try_emplace(label.getValue(), count.getInt()).second || count.getInt() < 1 ||
        known[label.getValue()] % count.getInt() != 0)
      return emitOpError()
             << "C2: cut is a list of dims and the number of slices that divides each";
  }
  for (auto [number, operand] : llvm::enumerate(getOperands()))
    if (failed(verifyOperand(*this, number, operand, known)))
      return failure();
  return verifySymbolic(*this, known, slices);
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (symbols.lookupNearestSymbolFrom<SdscOp>(*this, getSdscAttr()))
    return success();
  return emitOpError() << "C1: there is no SDSC " << getSdscAttr() << " in the module";
}
