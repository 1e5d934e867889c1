// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CAPI/Spyre.h"

#include "Extent/Extent.h"
#include "SdscBundle/Dialect.h"
#include "Spyre/Dialect.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"

using namespace mlir;
using namespace spyre;

void spyreRegisterDialects(MlirDialectRegistry registry) {
  unwrap(registry)->insert<SpyreDialect, sdscbundle::SdscBundleDialect>();
}

bool spyreExtentNormalize(MlirStringRef text, MlirStringCallback callback, void *userData) {
  std::string error;
  std::optional<Extent> extent = Extent::parse(unwrap(text), error);
  std::string answer = extent ? extent->str() : error;
  callback(wrap(StringRef(answer)), userData);
  return extent.has_value();
}

/// The functions that every attribute has.
#define SPYRE_ATTRIBUTE(NAME)                                                                      \
  bool spyreAttributeIsA##NAME(MlirAttribute attribute) {                                          \
    return isa<NAME##Attr>(unwrap(attribute));                                                     \
  }                                                                                                \
  MlirTypeID spyre##NAME##GetTypeID(void) { return wrap(NAME##Attr::getTypeID()); }
SPYRE_ATTRIBUTE(Layout)
SPYRE_ATTRIBUTE(Extent)
SPYRE_ATTRIBUTE(Encoding)
SPYRE_ATTRIBUTE(TileLevel)
SPYRE_ATTRIBUTE(TilePlan)
SPYRE_ATTRIBUTE(WorkDivision)
SPYRE_ATTRIBUTE(Place)
#undef SPYRE_ATTRIBUTE

/// Builds an attribute through its verifier; null after an error at `location`.
template <typename Attr, typename... Arguments>
static MlirAttribute build(MlirLocation location, Arguments &&...arguments) {
  Location at = unwrap(location);
  return wrap(Attribute(Attr::getChecked([&]() { return emitError(at); }, at.getContext(),
                                         std::forward<Arguments>(arguments)...)));
}

/// The enum case that `name` spells; emits an error for an unknown one.
template <typename Enum>
static std::optional<Enum> caseOf(MlirLocation location, MlirStringRef name,
                                  std::optional<Enum> (*symbolize)(StringRef), StringRef what) {
  std::optional<Enum> value = symbolize(unwrap(name));
  if (!value)
    emitError(unwrap(location)) << "unknown " << what << " '" << unwrap(name) << "'";
  return value;
}

template <typename Attr>
static Attr as(MlirAttribute attribute) {
  return cast<Attr>(unwrap(attribute));
}

static StringAttr textOrNull(MlirLocation location, MlirStringRef text) {
  return text.length ? StringAttr::get(unwrap(location).getContext(), unwrap(text)) : StringAttr();
}

static MlirStringRef textOf(StringAttr text) { return wrap(text ? text.getValue() : StringRef()); }

//===--------------------------------------------------------------------===//
// layout
//===--------------------------------------------------------------------===//

MlirAttribute spyreLayoutGet(MlirLocation location, intptr_t deviceRank, const int64_t *deviceSize,
                             intptr_t strideRank, const int64_t *strideMap, MlirStringRef format,
                             MlirStringRef arrangement) {
  std::optional<DeviceFormat> deviceFormat;
  std::optional<Arrangement> order;
  if (format.length) {
    deviceFormat = caseOf<DeviceFormat>(location, format, symbolizeDeviceFormat, "device format");
    if (!deviceFormat)
      return {};
  }
  if (arrangement.length) {
    order = caseOf<Arrangement>(location, arrangement, symbolizeArrangement, "arrangement");
    if (!order)
      return {};
  }
  return build<LayoutAttr>(location, ArrayRef(deviceSize, deviceRank),
                           ArrayRef(strideMap, strideRank), deviceFormat, order);
}

intptr_t spyreLayoutGetRank(MlirAttribute attribute) {
  return as<LayoutAttr>(attribute).getDeviceSize().size();
}
int64_t spyreLayoutGetDeviceSize(MlirAttribute attribute, intptr_t index) {
  return as<LayoutAttr>(attribute).getDeviceSize()[index];
}
int64_t spyreLayoutGetStride(MlirAttribute attribute, intptr_t index) {
  return as<LayoutAttr>(attribute).getStrideMap()[index];
}
MlirStringRef spyreLayoutGetFormat(MlirAttribute attribute) {
  std::optional<DeviceFormat> format = as<LayoutAttr>(attribute).getFormat();
  return wrap(format ? stringifyDeviceFormat(*format) : StringRef());
}
MlirStringRef spyreLayoutGetArrangement(MlirAttribute attribute) {
  std::optional<Arrangement> order = as<LayoutAttr>(attribute).getArrangement();
  return wrap(order ? stringifyArrangement(*order) : StringRef());
}

//===--------------------------------------------------------------------===//
// extent
//===--------------------------------------------------------------------===//

MlirAttribute spyreExtentGet(MlirLocation location, MlirStringRef text) {
  std::string error;
  std::optional<Extent> extent = Extent::parse(unwrap(text), error);
  if (!extent) {
    emitError(unwrap(location)) << "SPY002: extent '" << unwrap(text) << "': " << error;
    return {};
  }
  return build<ExtentAttr>(location, StringRef(extent->str()));
}
MlirStringRef spyreExtentGetText(MlirAttribute attribute) {
  return wrap(as<ExtentAttr>(attribute).getText());
}
bool spyreExtentGetLiteral(MlirAttribute attribute, int64_t *value) {
  std::optional<int64_t> literal = as<ExtentAttr>(attribute).getLiteral();
  if (literal)
    *value = *literal;
  return literal.has_value();
}

//===--------------------------------------------------------------------===//
// encoding
//===--------------------------------------------------------------------===//

MlirAttribute spyreEncodingGet(MlirLocation location, MlirAttribute layoutOrNull, bool window,
                               intptr_t rank, const MlirAttribute *validShape, MlirStringRef pad) {
  std::optional<Pad> promise = caseOf<Pad>(location, pad, symbolizePad, "pad");
  if (!promise)
    return {};
  SmallVector<ExtentAttr> valid;
  for (intptr_t i = 0; i < rank; ++i)
    valid.push_back(as<ExtentAttr>(validShape[i]));
  auto layout = llvm::cast_or_null<LayoutAttr>(unwrap(layoutOrNull));
  return build<EncodingAttr>(location, layout, window, ArrayRef<ExtentAttr>(valid), *promise);
}
MlirAttribute spyreEncodingGetLayout(MlirAttribute attribute) {
  return wrap(Attribute(as<EncodingAttr>(attribute).getLayout()));
}
bool spyreEncodingGetWindow(MlirAttribute attribute) {
  return as<EncodingAttr>(attribute).getWindow();
}
intptr_t spyreEncodingGetRank(MlirAttribute attribute) {
  return as<EncodingAttr>(attribute).getValidShape().size();
}
MlirAttribute spyreEncodingGetExtent(MlirAttribute attribute, intptr_t index) {
  return wrap(Attribute(as<EncodingAttr>(attribute).getValidShape()[index]));
}
MlirStringRef spyreEncodingGetPad(MlirAttribute attribute) {
  return wrap(stringifyPad(as<EncodingAttr>(attribute).getPad()));
}

//===--------------------------------------------------------------------===//
// tile level and tile plan
//===--------------------------------------------------------------------===//

MlirAttribute spyreTileLevelGet(MlirLocation location, MlirStringRef kind, int64_t dim,
                                MlirStringRef name, int64_t count, int64_t size,
                                int64_t remainder) {
  std::optional<LevelKind> levelKind =
      caseOf<LevelKind>(location, kind, symbolizeLevelKind, "level kind");
  if (!levelKind)
    return {};
  return build<TileLevelAttr>(location, *levelKind, dim, textOrNull(location, name), count, size,
                              remainder);
}
MlirStringRef spyreTileLevelGetKind(MlirAttribute attribute) {
  return wrap(stringifyLevelKind(as<TileLevelAttr>(attribute).getKind()));
}
int64_t spyreTileLevelGetDim(MlirAttribute attribute) {
  return as<TileLevelAttr>(attribute).getDim();
}
MlirStringRef spyreTileLevelGetName(MlirAttribute attribute) {
  return textOf(as<TileLevelAttr>(attribute).getName());
}
int64_t spyreTileLevelGetCount(MlirAttribute attribute) {
  return as<TileLevelAttr>(attribute).getCount();
}
int64_t spyreTileLevelGetSize(MlirAttribute attribute) {
  return as<TileLevelAttr>(attribute).getSize();
}
int64_t spyreTileLevelGetRemainder(MlirAttribute attribute) {
  return as<TileLevelAttr>(attribute).getRemainder();
}

MlirAttribute spyreTilePlanGet(MlirLocation location, MlirStringRef origin, int64_t group,
                               intptr_t levelCount, const MlirAttribute *levels,
                               MlirStringRef reason) {
  std::optional<PlanOrigin> planOrigin =
      caseOf<PlanOrigin>(location, origin, symbolizePlanOrigin, "origin");
  if (!planOrigin)
    return {};
  SmallVector<TileLevelAttr> all;
  for (intptr_t i = 0; i < levelCount; ++i)
    all.push_back(as<TileLevelAttr>(levels[i]));
  return build<TilePlanAttr>(location, *planOrigin, group, ArrayRef<TileLevelAttr>(all),
                             textOrNull(location, reason));
}
MlirStringRef spyreTilePlanGetOrigin(MlirAttribute attribute) {
  return wrap(stringifyPlanOrigin(as<TilePlanAttr>(attribute).getOrigin()));
}
int64_t spyreTilePlanGetGroup(MlirAttribute attribute) {
  return as<TilePlanAttr>(attribute).getGroup();
}
intptr_t spyreTilePlanGetLevelCount(MlirAttribute attribute) {
  return as<TilePlanAttr>(attribute).getLevels().size();
}
MlirAttribute spyreTilePlanGetLevel(MlirAttribute attribute, intptr_t index) {
  return wrap(Attribute(as<TilePlanAttr>(attribute).getLevels()[index]));
}
MlirStringRef spyreTilePlanGetReason(MlirAttribute attribute) {
  return textOf(as<TilePlanAttr>(attribute).getReason());
}

//===--------------------------------------------------------------------===//
// work division, place
//===--------------------------------------------------------------------===//

MlirAttribute spyreWorkDivisionGet(MlirLocation location, intptr_t count, const int64_t *splits) {
  return build<WorkDivisionAttr>(location, ArrayRef(splits, count));
}
intptr_t spyreWorkDivisionGetCount(MlirAttribute attribute) {
  return as<WorkDivisionAttr>(attribute).getSplits().size();
}
int64_t spyreWorkDivisionGetSplit(MlirAttribute attribute, intptr_t index) {
  return as<WorkDivisionAttr>(attribute).getSplits()[index];
}

MlirAttribute spyrePlaceGet(MlirLocation location, MlirStringRef kind, int64_t index,
                            int64_t offset) {
  std::optional<PlaceKind> placeKind =
      caseOf<PlaceKind>(location, kind, symbolizePlaceKind, "kind of place");
  if (!placeKind)
    return {};
  return build<PlaceAttr>(location, *placeKind, index, offset);
}
MlirStringRef spyrePlaceGetKind(MlirAttribute attribute) {
  return wrap(stringifyPlaceKind(as<PlaceAttr>(attribute).getKind()));
}
int64_t spyrePlaceGetIndex(MlirAttribute attribute) { return as<PlaceAttr>(attribute).getIndex(); }
int64_t spyrePlaceGetOffset(MlirAttribute attribute) {
  return as<PlaceAttr>(attribute).getOffset();
}
