// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text form and verification of the attributes. Lists may be empty; ODS formats print an empty list
// and cannot read it back, so the forms are written by hand.

#include "Extent/Extent.h"
#include "Spyre/Dialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace spyre;

#include "Spyre/Enums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "Spyre/Attributes.cpp.inc"

void SpyreDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "Spyre/Attributes.cpp.inc"
      >();
}

//===--------------------------------------------------------------------===//
// Shared pieces of text
//===--------------------------------------------------------------------===//

static ParseResult parseIntegers(AsmParser &parser, SmallVectorImpl<int64_t> &values) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Square, [&]() { return parser.parseInteger(values.emplace_back()); });
}

static void printIntegers(AsmPrinter &printer, ArrayRef<int64_t> values) {
  printer << '[';
  llvm::interleaveComma(values, printer.getStream());
  printer << ']';
}

/// Reads a keyword that names a case of an enum; `what` is for the message.
template <typename Enum>
static FailureOr<Enum> parseCase(AsmParser &parser, StringRef what,
                                 std::optional<Enum> (*symbolize)(StringRef)) {
  StringRef keyword;
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword))
    return failure();
  if (std::optional<Enum> value = symbolize(keyword))
    return *value;
  parser.emitError(at) << "unknown " << what << " '" << keyword << "'";
  return failure();
}

//===--------------------------------------------------------------------===//
// layout
//===--------------------------------------------------------------------===//

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> sizes, strides;
  std::optional<DeviceFormat> format;
  std::optional<Arrangement> arrangement;
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseLess() || parseIntegers(parser, sizes) || parser.parseColon() ||
      parseIntegers(parser, strides))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    SMLoc here = parser.getCurrentLocation();
    StringRef key;
    if (parser.parseKeyword(&key) || parser.parseEqual())
      return {};
    if (key == "format" && !format) {
      FailureOr<DeviceFormat> value =
          parseCase<DeviceFormat>(parser, "device format", symbolizeDeviceFormat);
      if (failed(value))
        return {};
      format = *value;
    } else if (key == "arrangement" && !arrangement) {
      FailureOr<Arrangement> value =
          parseCase<Arrangement>(parser, "arrangement", symbolizeArrangement);
      if (failed(value))
        return {};
      arrangement = *value;
    } else {
      parser.emitError(here, "expected 'format' or 'arrangement', each at most once");
      return {};
    }
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<LayoutAttr>(at, parser.getContext(), sizes, strides, format,
                                       arrangement);
}

void LayoutAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printIntegers(printer, getDeviceSize());
  printer << " : ";
  printIntegers(printer, getStrideMap());
  if (getFormat())
    printer << ", format = " << stringifyDeviceFormat(*getFormat());
  if (getArrangement())
    printer << ", arrangement = " << stringifyArrangement(*getArrangement());
  printer << '>';
}

LogicalResult LayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<int64_t> deviceSize, ArrayRef<int64_t> strideMap,
                                 std::optional<DeviceFormat>, std::optional<Arrangement>) {
  if (deviceSize.empty())
    return emitError() << "SPY001: a layout needs at least the stick dim";
  if (deviceSize.size() != strideMap.size())
    return emitError() << "SPY001: device_size has " << deviceSize.size()
                       << " entries and stride_map has " << strideMap.size();
  for (auto [j, size] : llvm::enumerate(deviceSize))
    if (size <= 0)
      return emitError() << "SPY001: device_size[" << j << "] is " << size
                         << ", a device dim has at least one element";
  for (auto [j, stride] : llvm::enumerate(strideMap))
    if (stride <= 0 && stride != -1)
      return emitError() << "SPY001: stride_map[" << j << "] is " << stride
                         << ", neither positive nor -1 (no host counterpart)";
  int64_t total = 128;
  for (int64_t size : deviceSize.drop_back())
    if (llvm::MulOverflow(total, size, total))
      return emitError() << "SPY001: the layout covers more than 2^63 bytes";
  return success();
}

//===--------------------------------------------------------------------===//
// extent
//===--------------------------------------------------------------------===//

namespace {
/// Recursive descent over MLIR's tokens; precedence as in arithmetic, the named divisions bind as
/// `*`.
class ExtentParser {
public:
  explicit ExtentParser(AsmParser &parser) : parser(parser) {}

  FailureOr<Extent> sum() {
    FailureOr<Extent> left = product();
    while (succeeded(left)) {
      if (succeeded(parser.parseOptionalPlus()))
        left = combine(left, product(), Extent::add);
      else if (succeeded(parser.parseOptionalMinus()))
        left = combine(left, product(), Extent::sub);
      else
        break;
    }
    return left;
  }

private:
  using Operation = std::optional<Extent> (*)(const Extent &, const Extent &, std::string &);

  FailureOr<Extent> combine(FailureOr<Extent> left, FailureOr<Extent> right, Operation operation) {
    if (failed(left) || failed(right))
      return failure();
    std::string error;
    if (std::optional<Extent> result = operation(*left, *right, error))
      return *result;
    parser.emitError(parser.getCurrentLocation()) << "SPY002: " << error;
    return failure();
  }

  FailureOr<Extent> product() {
    FailureOr<Extent> left = atom();
    while (succeeded(left)) {
      if (succeeded(parser.parseOptionalStar()))
        left = combine(left, atom(), Extent::mul);
      else if (succeeded(parser.parseOptionalKeyword("floordiv")))
        left = combine(left, atom(), Extent::floorDiv);
      else if (succeeded(parser.parseOptionalKeyword("ceildiv")))
        left = combine(left, atom(), Extent::ceilDiv);
      else if (succeeded(parser.parseOptionalKeyword("mod")))
        left = combine(left, atom(), Extent::mod);
      else
        break;
    }
    return left;
  }

  FailureOr<Extent> atom() {
    int64_t value;
    OptionalParseResult literal = parser.parseOptionalInteger(value);
    if (literal.has_value())
      return failed(*literal) ? FailureOr<Extent>() : FailureOr<Extent>(Extent::literal(value));
    if (succeeded(parser.parseOptionalMinus()))
      return combine(Extent::literal(0), atom(), Extent::sub);
    if (succeeded(parser.parseOptionalLParen())) {
      FailureOr<Extent> inner = sum();
      if (failed(inner) || parser.parseRParen())
        return failure();
      return inner;
    }
    if (succeeded(parser.parseOptionalKeyword("min")))
      return extremum(Extent::min);
    if (succeeded(parser.parseOptionalKeyword("max")))
      return extremum(Extent::max);
    StringRef name;
    SMLoc at = parser.getCurrentLocation();
    if (failed(parser.parseOptionalKeyword(&name))) {
      parser.emitError(at, "expected an extent: a literal, a symbol or an expression of them");
      return failure();
    }
    std::string error;
    if (std::optional<Extent> symbol = Extent::symbol(name, error))
      return *symbol;
    parser.emitError(at) << "SPY002: " << error;
    return failure();
  }

  FailureOr<Extent> extremum(Operation operation) {
    FailureOr<Extent> result = failure();
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&]() -> ParseResult {
          FailureOr<Extent> next = sum();
          result = failed(result) ? next : combine(result, next, operation);
          return failed(next) ? failure() : success(succeeded(result));
        }))
      return failure();
    return result;
  }

  AsmParser &parser;
};
} // namespace

FailureOr<ExtentAttr> ExtentAttr::parseBare(AsmParser &parser) {
  FailureOr<Extent> extent = ExtentParser(parser).sum();
  if (failed(extent))
    return failure();
  return ExtentAttr::get(parser.getContext(), extent->str());
}

ExtentAttr ExtentAttr::getLiteral(MLIRContext *context, int64_t value) {
  return ExtentAttr::get(context, std::to_string(value));
}

std::optional<int64_t> ExtentAttr::getLiteral() const {
  int64_t value;
  if (getText().getAsInteger(10, value))
    return std::nullopt;
  return value;
}

Attribute ExtentAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FailureOr<ExtentAttr> extent = parseBare(parser);
  if (failed(extent) || parser.parseGreater())
    return {};
  return *extent;
}

void ExtentAttr::print(AsmPrinter &printer) const { printer << '<' << getText() << '>'; }

LogicalResult ExtentAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef text) {
  std::string error;
  std::optional<Extent> extent = Extent::parse(text, error);
  if (!extent)
    return emitError() << "SPY002: extent '" << text << "': " << error;
  std::string canonical = extent->str();
  if (canonical != text)
    return emitError() << "SPY002: extent '" << text << "' is not in normal form, which is '"
                       << canonical << "'";
  return success();
}

//===--------------------------------------------------------------------===//
// encoding
//===--------------------------------------------------------------------===//

Attribute EncodingAttr::parse(AsmParser &parser, Type) {
  LayoutAttr layout;
  bool window = false;
  std::optional<SmallVector<ExtentAttr>> valid;
  Pad pad = Pad::None;
  SMLoc at = parser.getCurrentLocation();
  auto parseField = [&]() -> ParseResult {
    SMLoc here = parser.getCurrentLocation();
    StringRef key;
    if (parser.parseKeyword(&key))
      return failure();
    if (key == "window" && !window) {
      window = true;
      return success();
    }
    if (key == "layout" && !layout)
      return failure(parser.parseEqual() || parser.parseAttribute(layout));
    if (key == "valid_shape" && !valid) {
      valid.emplace();
      return failure(parser.parseEqual() || parser.parseCommaSeparatedList(
                                                AsmParser::Delimiter::Square, [&]() -> ParseResult {
                                                  FailureOr<ExtentAttr> extent =
                                                      ExtentAttr::parseBare(parser);
                                                  if (succeeded(extent))
                                                    valid->push_back(*extent);
                                                  return success(succeeded(extent));
                                                }));
    }
    if (key == "pad" && pad == Pad::None) {
      if (parser.parseEqual())
        return failure();
      FailureOr<Pad> value = parseCase<Pad>(parser, "pad", symbolizePad);
      if (succeeded(value))
        pad = *value;
      return success(succeeded(value));
    }
    return parser.emitError(
        here, "expected 'layout', 'window', 'valid_shape' or 'pad', each at most once");
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, parseField))
    return {};
  return parser.getChecked<EncodingAttr>(
      at, parser.getContext(), layout, window,
      valid ? ArrayRef<ExtentAttr>(*valid) : ArrayRef<ExtentAttr>(), pad);
}

void EncodingAttr::print(AsmPrinter &printer) const {
  printer << '<';
  StringRef separator = "";
  auto field = [&]() -> raw_ostream & {
    raw_ostream &os = printer.getStream() << separator;
    separator = ", ";
    return os;
  };
  if (getLayout()) {
    field() << "layout = ";
    printer.printAttribute(getLayout());
  }
  if (getWindow())
    field() << "window";
  if (!getValidShape().empty()) {
    field() << "valid_shape = [";
    llvm::interleaveComma(getValidShape(), printer.getStream(),
                          [&](ExtentAttr extent) { printer.getStream() << extent.getText(); });
    printer << ']';
  }
  if (getPad() != Pad::None)
    field() << "pad = " << stringifyPad(getPad());
  printer << '>';
}

LogicalResult EncodingAttr::verify(function_ref<InFlightDiagnostic()> emitError, LayoutAttr layout,
                                   bool window, ArrayRef<ExtentAttr> validShape, Pad pad) {
  if (!layout && !window && validShape.empty() && pad == Pad::None)
    return emitError() << "SPY003: an encoding that says nothing is left off the tensor type";
  if (window && !layout)
    return emitError() << "SPY003: a window carries its parent's layout; this one has none";
  for (auto [i, extent] : llvm::enumerate(validShape))
    if (std::optional<int64_t> literal = extent.getLiteral(); literal && *literal < 0)
      return emitError() << "SPY003: valid_shape[" << i << "] is " << *literal
                         << ", an extent is at least 0";
  return success();
}

//===--------------------------------------------------------------------===//
// tile plan
//===--------------------------------------------------------------------===//

FailureOr<TileLevelAttr> TileLevelAttr::parseBare(AsmParser &parser) {
  SMLoc at = parser.getCurrentLocation();
  FailureOr<LevelKind> kind = parseCase<LevelKind>(parser, "level kind", symbolizeLevelKind);
  if (failed(kind) || parser.parseLParen())
    return failure();
  int64_t dim = -1, count = 0, size = 0, remainder = 0;
  StringAttr name;
  OptionalParseResult number = parser.parseOptionalInteger(dim);
  if (number.has_value()) {
    if (failed(*number))
      return failure();
  } else {
    StringRef keyword;
    if (parser.parseKeyword(&keyword))
      return failure();
    name = StringAttr::get(parser.getContext(), keyword);
  }
  if (parser.parseRParen() || parser.parseInteger(count))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("x")) && parser.parseInteger(size))
    return failure();
  if (succeeded(parser.parseOptionalPlus()) && parser.parseInteger(remainder))
    return failure();
  auto level = parser.getChecked<TileLevelAttr>(at, parser.getContext(), *kind, dim, name, count,
                                                size, remainder);
  if (!level)
    return failure();
  return level;
}

void TileLevelAttr::printBare(AsmPrinter &printer) const {
  printer << stringifyLevelKind(getKind()) << '(';
  if (getName())
    printer << getName().getValue();
  else
    printer << getDim();
  printer << ") " << getCount();
  if (getSize())
    printer << " x " << getSize();
  if (getRemainder())
    printer << " + " << getRemainder();
}

Attribute TileLevelAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FailureOr<TileLevelAttr> level = parseBare(parser);
  if (failed(level) || parser.parseGreater())
    return {};
  return *level;
}

void TileLevelAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printBare(printer);
  printer << '>';
}

LogicalResult TileLevelAttr::verify(function_ref<InFlightDiagnostic()> emitError, LevelKind,
                                    int64_t dim, StringAttr name, int64_t count, int64_t size,
                                    int64_t remainder) {
  if (!name && dim < 0)
    return emitError() << "SPY004: a level divides an iteration dim, got " << dim;
  if (name && dim != -1)
    return emitError() << "SPY004: a level has the number of a dim or its name, not both";
  if (count < 1 || count > 65535)
    return emitError()
           << "SPY004: a level has 1 to 65535 tiles (the loop counter has 16 bits), got " << count;
  if (size < 0 || remainder < 0 || (size && remainder >= size) || (!size && remainder))
    return emitError() << "SPY004: tiles of " << size << " with a remainder of " << remainder
                       << ": the remainder is smaller than a tile";
  return success();
}

Attribute TilePlanAttr::parse(AsmParser &parser, Type) {
  FailureOr<PlanOrigin> origin = failure();
  int64_t group = 0;
  SmallVector<TileLevelAttr> levels;
  StringAttr reason;
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseKeyword("origin") || parser.parseEqual() ||
      failed(origin = parseCase<PlanOrigin>(parser, "origin", symbolizePlanOrigin)) ||
      parser.parseComma() || parser.parseKeyword("group") || parser.parseEqual() ||
      parser.parseInteger(group) || parser.parseComma() || parser.parseKeyword("levels") ||
      parser.parseEqual() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
        FailureOr<TileLevelAttr> level = TileLevelAttr::parseBare(parser);
        if (succeeded(level))
          levels.push_back(*level);
        return success(succeeded(level));
      }))
    return {};
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("reason") || parser.parseEqual() || parser.parseAttribute(reason)))
    return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<TilePlanAttr>(at, parser.getContext(), *origin, group, levels, reason);
}

void TilePlanAttr::print(AsmPrinter &printer) const {
  printer << "<origin = " << stringifyPlanOrigin(getOrigin()) << ", group = " << getGroup()
          << ", levels = [";
  llvm::interleaveComma(getLevels(), printer.getStream(),
                        [&](TileLevelAttr level) { level.printBare(printer); });
  printer << ']';
  if (getReason()) {
    printer << ", reason = ";
    printer.printAttribute(getReason());
  }
  printer << '>';
}

LogicalResult TilePlanAttr::verify(function_ref<InFlightDiagnostic()> emitError, PlanOrigin origin,
                                   int64_t group, ArrayRef<TileLevelAttr> levels, StringAttr) {
  if (group < 0)
    return emitError() << "SPY004: the group of a plan is not negative, got " << group;
  for (auto [i, level] : llvm::enumerate(levels)) {
    if (origin == PlanOrigin::Auto && (level.getName() || !level.getSize()))
      return emitError() << "SPY004: only a hint may name a dim or leave the tile size out";
    for (TileLevelAttr outer : levels.take_front(i))
      if (outer.getKind() == level.getKind() && outer.getDim() == level.getDim() &&
          outer.getName() == level.getName())
        return emitError() << "SPY004: two levels divide the same dim";
  }
  return success();
}

//===--------------------------------------------------------------------===//
// work division, place
//===--------------------------------------------------------------------===//

Attribute WorkDivisionAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> splits;
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseLess() || parseIntegers(parser, splits) || parser.parseGreater())
    return {};
  return parser.getChecked<WorkDivisionAttr>(at, parser.getContext(), splits);
}

void WorkDivisionAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printIntegers(printer, getSplits());
  printer << '>';
}

LogicalResult WorkDivisionAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                       ArrayRef<int64_t> splits) {
  for (auto [i, split] : llvm::enumerate(splits))
    if (split < 1)
      return emitError() << "SPY005: dim " << i << " is cut into " << split
                         << " slices, at least one is needed";
  return success();
}

LogicalResult PlaceAttr::verify(function_ref<InFlightDiagnostic()> emitError, PlaceKind,
                                int64_t index, int64_t offset) {
  if (index < 0 || offset < 0)
    return emitError() << "SPY006: a place has a buffer number and an offset in bytes, neither "
                          "negative; got "
                       << index << " and " << offset;
  return success();
}
