// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Python classes of the dialect's attributes. An extent is an int or a str on the Python side; enum
// cases are str.

#include "CAPI/Spyre.h"
#include "Python/Bind.h"

#include "mlir-c/Diagnostics.h"
#include "mlir/Bindings/Python/Diagnostics.h"
#include "mlir/Bindings/Python/NanobindAdaptors.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;
using namespace mlir::python::nanobind_adaptors;

using Integers = std::vector<int64_t>;

static MlirStringRef spelling(const std::string &text) { return {text.data(), text.size()}; }

static nb::str text(MlirStringRef value) { return nb::str(value.data, value.length); }

/// The string, or None if it is empty.
static nb::object optionalText(MlirStringRef value) {
  return value.length ? nb::object(text(value)) : nb::none();
}

/// Calls `make` with an unknown location of `context`; what MLIR reports becomes a ValueError.
template <typename Make>
static MlirAttribute checked(MlirContext context, Make &&make) {
  mlir::python::CollectDiagnosticsToStringScope scope(context);
  MlirAttribute attribute = make(mlirLocationUnknownGet(context));
  std::string message = scope.takeMessage();
  if (mlirAttributeIsNull(attribute)) {
    const std::string place = "at loc(unknown): ";
    if (message.rfind(place, 0) == 0)
      message.erase(0, place.size());
    throw nb::value_error(message.c_str());
  }
  return attribute;
}

static nb::list integers(MlirAttribute attribute, intptr_t count,
                         int64_t (*get)(MlirAttribute, intptr_t)) {
  nb::list result;
  for (intptr_t i = 0; i < count; ++i)
    result.append(get(attribute, i));
  return result;
}

static nb::object extentValue(MlirAttribute extent) {
  int64_t literal;
  if (spyreExtentGetLiteral(extent, &literal))
    return nb::int_(literal);
  return text(spyreExtentGetText(extent));
}

static MlirAttribute extentFrom(MlirContext context, nb::handle value) {
  MlirAttribute given;
  if (nb::try_cast<MlirAttribute>(value, given) && spyreAttributeIsAExtent(given))
    return given;
  if (!nb::isinstance<nb::int_>(value) && !nb::isinstance<nb::str>(value))
    throw nb::type_error("an extent is an int, a str or an ExtentAttr");
  std::string spelled = nb::cast<std::string>(nb::str(value));
  return checked(context, [&](MlirLocation at) { return spyreExtentGet(at, spelling(spelled)); });
}

static void bindLayout(nb::module_ &m) {
  mlir_attribute_subclass(m, "LayoutAttr", spyreAttributeIsALayout, spyreLayoutGetTypeID)
      .def_classmethod(
          "get",
          [](nb::object cls, const Integers &deviceSize, const Integers &strideMap,
             const std::string &format, const std::string &arrangement, MlirContext context) {
            return cls(checked(context, [&](MlirLocation at) {
              return spyreLayoutGet(at, deviceSize.size(), deviceSize.data(), strideMap.size(),
                                    strideMap.data(), spelling(format), spelling(arrangement));
            }));
          },
          "cls"_a, "device_size"_a, "stride_map"_a, nb::kw_only(), "format"_a = "",
          "arrangement"_a = "", "context"_a = nb::none(),
          nb::sig("def get(cls, device_size: Sequence[int], stride_map: Sequence[int], *, format: "
                  "str = \"\", arrangement: str = \"\", context: mlir.ir.Context | None = None) -> "
                  "LayoutAttr"))
      .def_property_readonly(
          "device_size",
          [](MlirAttribute self) {
            return integers(self, spyreLayoutGetRank(self), spyreLayoutGetDeviceSize);
          },
          nb::sig("def device_size(self) -> list[int]"))
      .def_property_readonly(
          "stride_map",
          [](MlirAttribute self) {
            return integers(self, spyreLayoutGetRank(self), spyreLayoutGetStride);
          },
          nb::sig("def stride_map(self) -> list[int]"))
      .def_property_readonly(
          "format", [](MlirAttribute self) { return optionalText(spyreLayoutGetFormat(self)); },
          nb::sig("def format(self) -> str | None"))
      .def_property_readonly(
          "arrangement",
          [](MlirAttribute self) { return optionalText(spyreLayoutGetArrangement(self)); },
          nb::sig("def arrangement(self) -> str | None"));
}

static void bindExtent(nb::module_ &m) {
  mlir_attribute_subclass(m, "ExtentAttr", spyreAttributeIsAExtent, spyreExtentGetTypeID)
      .def_classmethod(
          "get",
          [](nb::object cls, nb::object value, MlirContext context) {
            return cls(extentFrom(context, value));
          },
          "cls"_a, "value"_a, nb::kw_only(), "context"_a = nb::none(),
          nb::sig("def get(cls, value: int | str | ExtentAttr, *, context: mlir.ir.Context | None "
                  "= None) -> ExtentAttr"))
      .def_property_readonly(
          "value", [](MlirAttribute self) { return extentValue(self); },
          nb::sig("def value(self) -> int | str"));
  m.def(
      "normalize_extent",
      [](const std::string &spelled) {
        std::string answer;
        auto store = [](MlirStringRef part, void *into) {
          static_cast<std::string *>(into)->append(part.data, part.length);
        };
        if (!spyreExtentNormalize(spelling(spelled), store, &answer))
          throw nb::value_error(answer.c_str());
        return answer;
      },
      "text"_a, "Normal form of an extent expression; ValueError if it is none.");
}

static void bindEncoding(nb::module_ &m) {
  mlir_attribute_subclass(m, "EncodingAttr", spyreAttributeIsAEncoding, spyreEncodingGetTypeID)
      .def_classmethod(
          "get",
          [](nb::object cls, std::optional<MlirAttribute> layout, bool window,
             std::optional<std::vector<nb::object>> validShape, std::optional<std::string> pad,
             MlirContext context) {
            std::vector<MlirAttribute> extents;
            if (validShape)
              for (nb::object &extent : *validShape)
                extents.push_back(extentFrom(context, extent));
            if (layout && !spyreAttributeIsALayout(*layout))
              throw nb::type_error("layout is a LayoutAttr");
            std::string promise = pad.value_or("none");
            return cls(checked(context, [&](MlirLocation at) {
              return spyreEncodingGet(at, layout.value_or(MlirAttribute{nullptr}), window,
                                      extents.size(), extents.data(), spelling(promise));
            }));
          },
          "cls"_a, nb::kw_only(), "layout"_a = nb::none(), "window"_a = false,
          "valid_shape"_a = nb::none(), "pad"_a = nb::none(), "context"_a = nb::none(),
          nb::sig("def get(cls, *, layout: LayoutAttr | None = None, window: bool = False, "
                  "valid_shape: Sequence[int | str | ExtentAttr] | None = None, pad: str | None = "
                  "None, context: mlir.ir.Context | None = None) -> EncodingAttr"))
      .def_property_readonly(
          "layout",
          [](MlirAttribute self) -> std::optional<MlirAttribute> {
            MlirAttribute layout = spyreEncodingGetLayout(self);
            if (mlirAttributeIsNull(layout))
              return std::nullopt;
            return layout;
          },
          nb::sig("def layout(self) -> LayoutAttr | None"))
      .def_property_readonly(
          "window", [](MlirAttribute self) { return spyreEncodingGetWindow(self); },
          nb::sig("def window(self) -> bool"))
      .def_property_readonly(
          "valid_shape",
          [](MlirAttribute self) -> nb::object {
            intptr_t rank = spyreEncodingGetRank(self);
            if (rank == 0)
              return nb::none();
            nb::list extents;
            for (intptr_t i = 0; i < rank; ++i)
              extents.append(extentValue(spyreEncodingGetExtent(self, i)));
            return extents;
          },
          nb::sig("def valid_shape(self) -> list[int | str] | None"))
      .def_property_readonly(
          "pad",
          [](MlirAttribute self) -> nb::object {
            nb::str pad = text(spyreEncodingGetPad(self));
            return pad.equal(nb::str("none")) ? nb::none() : nb::object(pad);
          },
          nb::sig("def pad(self) -> str | None"));
}

static void bindTilePlan(nb::module_ &m) {
  mlir_attribute_subclass(m, "TileLevelAttr", spyreAttributeIsATileLevel, spyreTileLevelGetTypeID)
      .def_classmethod(
          "get",
          [](nb::object cls, const std::string &kind, nb::object dim, int64_t count, int64_t size,
             int64_t remainder, MlirContext context) {
            bool named = nb::isinstance<nb::str>(dim);
            std::string name = named ? nb::cast<std::string>(dim) : "";
            int64_t number = named ? -1 : nb::cast<int64_t>(dim);
            return cls(checked(context, [&](MlirLocation at) {
              return spyreTileLevelGet(at, spelling(kind), number, spelling(name), count, size,
                                       remainder);
            }));
          },
          "cls"_a, "kind"_a, "dim"_a, "count"_a, "size"_a = 0, "remainder"_a = 0, nb::kw_only(),
          "context"_a = nb::none(),
          nb::sig("def get(cls, kind: str, dim: int | str, count: int, size: int = 0, remainder: "
                  "int = 0, *, context: mlir.ir.Context | None = None) -> TileLevelAttr"))
      .def_property_readonly(
          "kind", [](MlirAttribute self) { return text(spyreTileLevelGetKind(self)); },
          nb::sig("def kind(self) -> str"))
      .def_property_readonly(
          "dim",
          [](MlirAttribute self) -> nb::object {
            MlirStringRef name = spyreTileLevelGetName(self);
            if (name.length)
              return text(name);
            return nb::int_(spyreTileLevelGetDim(self));
          },
          nb::sig("def dim(self) -> int | str"))
      .def_property_readonly(
          "count", [](MlirAttribute self) { return spyreTileLevelGetCount(self); },
          nb::sig("def count(self) -> int"))
      .def_property_readonly(
          "size", [](MlirAttribute self) { return spyreTileLevelGetSize(self); },
          nb::sig("def size(self) -> int"))
      .def_property_readonly(
          "remainder", [](MlirAttribute self) { return spyreTileLevelGetRemainder(self); },
          nb::sig("def remainder(self) -> int"));

  mlir_attribute_subclass(m, "TilePlanAttr", spyreAttributeIsATilePlan, spyreTilePlanGetTypeID)
      .def_classmethod(
          "get",
          [](nb::object cls, const std::string &origin, int64_t group,
             const std::vector<MlirAttribute> &levels, std::optional<std::string> reason,
             MlirContext context) {
            for (MlirAttribute level : levels)
              if (!spyreAttributeIsATileLevel(level))
                throw nb::type_error("levels are TileLevelAttr");
            std::string why = reason.value_or("");
            return cls(checked(context, [&](MlirLocation at) {
              return spyreTilePlanGet(at, spelling(origin), group, levels.size(), levels.data(),
                                      spelling(why));
            }));
          },
          "cls"_a, "origin"_a, "group"_a, "levels"_a, "reason"_a = nb::none(), nb::kw_only(),
          "context"_a = nb::none(),
          nb::sig("def get(cls, origin: str, group: int, levels: Sequence[TileLevelAttr], reason: "
                  "str | None = None, *, context: mlir.ir.Context | None = None) -> TilePlanAttr"))
      .def_property_readonly(
          "origin", [](MlirAttribute self) { return text(spyreTilePlanGetOrigin(self)); },
          nb::sig("def origin(self) -> str"))
      .def_property_readonly(
          "group", [](MlirAttribute self) { return spyreTilePlanGetGroup(self); },
          nb::sig("def group(self) -> int"))
      .def_property_readonly(
          "levels",
          [](MlirAttribute self) {
            std::vector<MlirAttribute> levels;
            for (intptr_t i = 0; i < spyreTilePlanGetLevelCount(self); ++i)
              levels.push_back(spyreTilePlanGetLevel(self, i));
            return levels;
          },
          nb::sig("def levels(self) -> list[TileLevelAttr]"))
      .def_property_readonly(
          "reason", [](MlirAttribute self) { return optionalText(spyreTilePlanGetReason(self)); },
          nb::sig("def reason(self) -> str | None"));
}

static void bindPlacement(nb::module_ &m) {
  mlir_attribute_subclass(m, "WorkDivisionAttr", spyreAttributeIsAWorkDivision,
                          spyreWorkDivisionGetTypeID)
      .def_classmethod(
          "get",
          [](nb::object cls, const Integers &splits, MlirContext context) {
            return cls(checked(context, [&](MlirLocation at) {
              return spyreWorkDivisionGet(at, splits.size(), splits.data());
            }));
          },
          "cls"_a, "splits"_a, nb::kw_only(), "context"_a = nb::none(),
          nb::sig("def get(cls, splits: Sequence[int], *, context: mlir.ir.Context | None = None) "
                  "-> WorkDivisionAttr"))
      .def_property_readonly(
          "splits",
          [](MlirAttribute self) {
            return integers(self, spyreWorkDivisionGetCount(self), spyreWorkDivisionGetSplit);
          },
          nb::sig("def splits(self) -> list[int]"));

  mlir_attribute_subclass(m, "PlaceAttr", spyreAttributeIsAPlace, spyrePlaceGetTypeID)
      .def_classmethod(
          "get",
          [](nb::object cls, const std::string &kind, int64_t index, int64_t offset,
             MlirContext context) {
            return cls(checked(context, [&](MlirLocation at) {
              return spyrePlaceGet(at, spelling(kind), index, offset);
            }));
          },
          "cls"_a, "kind"_a, "index"_a, "offset"_a, nb::kw_only(), "context"_a = nb::none(),
          nb::sig("def get(cls, kind: str, index: int, offset: int, *, context: mlir.ir.Context | "
                  "None = None) -> PlaceAttr"))
      .def_property_readonly(
          "kind", [](MlirAttribute self) { return text(spyrePlaceGetKind(self)); },
          nb::sig("def kind(self) -> str"))
      .def_property_readonly(
          "index", [](MlirAttribute self) { return spyrePlaceGetIndex(self); },
          nb::sig("def index(self) -> int"))
      .def_property_readonly(
          "offset", [](MlirAttribute self) { return spyrePlaceGetOffset(self); },
          nb::sig("def offset(self) -> int"));
}

void bindDialect(nb::module_ &m) {
  m.def(
      "register_dialects", [](MlirDialectRegistry registry) { spyreRegisterDialects(registry); },
      "registry"_a, "Adds the dialects of the project to a registry.");
  bindLayout(m);
  bindExtent(m);
  bindEncoding(m);
  bindTilePlan(m);
  bindPlacement(m);
}
