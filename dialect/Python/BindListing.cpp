// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Listings of operations, for spyre_mlir.listings.

#include "Bridge/Listing.h"
#include "Python/Bind.h"

#include "mlir/Bindings/Python/NanobindAdaptors.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;
using namespace mlir::python::nanobind_adaptors;

using Texts = std::vector<std::string>;
using Integers = std::vector<int32_t>;

namespace {
/// Names as the C API takes them; `texts` outlives it.
class Names {
public:
  explicit Names(const Texts &texts) {
    for (const std::string &text : texts)
      references.push_back({text.data(), text.size()});
  }
  SpyreNames get() const { return {intptr_t(references.size()), references.data()}; }

private:
  std::vector<MlirStringRef> references;
};

class Listing {
public:
  Listing(MlirOperation root, const Texts &through, const Texts &into, const Texts &apart)
      : handle(spyreListingCreate(root, Names(through).get(), Names(into).get(),
                                  Names(apart).get())) {}
  Listing(const Listing &) = delete;
  ~Listing() { spyreListingDestroy(handle); }

  /// For a number from Python. IndexError if it is none.
  intptr_t at(intptr_t number, intptr_t count) const {
    if (number < 0 || number >= count)
      throw nb::index_error("no such number in the listing");
    return number;
  }
  intptr_t operation(intptr_t number) const {
    return at(number, spyreListingGetKinds(handle).count);
  }
  intptr_t value(intptr_t number) const { return at(number, spyreListingGetNumValues(handle)); }

  SpyreListing handle;
};
} // namespace

static nb::list listOf(SpyreNumbers numbers) {
  nb::list result;
  for (intptr_t i = 0; i < numbers.count; ++i)
    result.append(numbers.numbers[i]);
  return result;
}

static SpyreNumbers numbers(const Integers &values) {
  return {intptr_t(values.size()), values.data()};
}

static nb::list operandsOf(const Listing &listing) {
  SpyreNumbers starts = spyreListingGetOperandStarts(listing.handle);
  const int32_t *values = spyreListingGetOperands(listing.handle).numbers;
  nb::list result;
  for (intptr_t i = 0; i + 1 < starts.count; ++i) {
    int32_t first = starts.numbers[i], count = starts.numbers[i + 1] - first;
    nb::object own = nb::steal(PyTuple_New(count));
    for (int32_t j = 0; j < count; ++j)
      PyTuple_SET_ITEM(own.ptr(), j, PyLong_FromLong(values[first + j]));
    result.append(own);
  }
  return result;
}

/// (the distinct attributes of a name, per operation the number of its own or -1).
static nb::tuple attributesOf(const Listing &listing, const std::string &name) {
  nb::list table, choice;
  std::unordered_map<const void *, int32_t> known;
  intptr_t count = spyreListingGetKinds(listing.handle).count;
  for (intptr_t i = 0; i < count; ++i) {
    MlirAttribute attribute =
        spyreListingGetAttribute(listing.handle, i, {name.data(), name.size()});
    int32_t number = -1;
    if (!mlirAttributeIsNull(attribute)) {
      auto [entry, isNew] = known.try_emplace(attribute.ptr, int32_t(known.size()));
      number = entry->second;
      if (isNew)
        table.append(attribute);
    }
    choice.append(number);
  }
  return nb::make_tuple(table, choice);
}

/// IndexError unless all numbers are from `least` to before `end`.
static void check(const Integers &given, intptr_t least, intptr_t end) {
  for (int32_t number : given)
    if (number < least || number >= end)
      throw nb::index_error("no such number");
}

/// ValueError unless two lists are of one length.
static void checkLengths(size_t first, size_t second) {
  if (first != second)
    throw nb::value_error("lists of different lengths");
}

static void bindReading(nb::class_<Listing> &c) {
  c.def(nb::init<MlirOperation, const Texts &, const Texts &, const Texts &>(), "root"_a,
        "through"_a, "into"_a, "apart"_a, nb::keep_alive<1, 2>());
  c.def(
      "operation",
      [](const Listing &self, intptr_t number) {
        return spyreListingGetOperation(self.handle, self.operation(number));
      },
      "number"_a);
  c.def(
      "value",
      [](const Listing &self, intptr_t number) {
        return spyreListingGetValue(self.handle, self.value(number));
      },
      "number"_a);
  c.def_prop_ro("values",
                [](const Listing &self) { return spyreListingGetNumValues(self.handle); });
  c.def("kinds", [](const Listing &self) { return listOf(spyreListingGetKinds(self.handle)); });
  c.def("ends", [](const Listing &self) { return listOf(spyreListingGetEnds(self.handle)); });
  c.def("examples",
        [](const Listing &self) { return listOf(spyreListingGetExamples(self.handle)); });
  c.def("results", [](const Listing &self) { return listOf(spyreListingGetResults(self.handle)); });
  c.def("operands", operandsOf, "Per operation the numbers of its operands, -1 from outside.");
  c.def("attributes", attributesOf, "name"_a,
        "(distinct attributes of a name, per operation the number of its own or -1).");
}

static void bindWriting(nb::class_<Listing> &c) {
  c.def(
      "set_attributes",
      [](const Listing &self, const std::string &name, const std::vector<MlirAttribute> &table,
         const Integers &choice) {
        checkLengths(choice.size(), spyreListingGetKinds(self.handle).count);
        check(choice, -1, table.size());
        spyreListingSetAttributes(self.handle, {name.data(), name.size()}, table.data(),
                                  numbers(choice));
      },
      "name"_a, "table"_a, "choice"_a, "Per operation the number of its attribute, -1: as it is.");
  c.def(
      "set_types",
      [](const Listing &self, const std::vector<MlirType> &table, const Integers &values,
         const Integers &choice) {
        checkLengths(values.size(), choice.size());
        check(values, 0, spyreListingGetNumValues(self.handle));
        check(choice, 0, table.size());
        spyreListingSetTypes(self.handle, table.data(), numbers(values), numbers(choice));
      },
      "table"_a, "values"_a, "choice"_a, "Gives each of these values the type of its number.");
  c.def(
      "launch",
      [](const Listing &self, intptr_t first, const Integers &sources,
         const std::vector<MlirOperation> &templates, const Integers &chosen,
         const std::vector<MlirAttribute> &places, const Integers &placed, MlirOperation before,
         MlirBlock block) {
        checkLengths(sources.size(), chosen.size());
        check(sources, 0, spyreListingGetKinds(self.handle).count);
        check(chosen, 0, templates.size());
        check(placed, 0, places.size());
        if (spyreListingCountOperands(templates.data(), numbers(chosen)) != intptr_t(placed.size()))
          throw nb::value_error("one place for each operand of each SDSC");
        spyreListingLaunch(self.handle,
                           {first, numbers(sources), templates.data(), numbers(chosen),
                            places.data(), numbers(placed)},
                           before, block);
      },
      "first"_a, "sources"_a, "templates"_a, "chosen"_a, "places"_a, "placed"_a, "before"_a,
      "block"_a,
      "Copies of SDSCs before `before`, named from @sdsc_<first> on, and their launches at the end "
      "of "
      "`block`.");
}

void bindListing(nb::module_ &m) {
  nb::class_<Listing> c(m, "Listing");
  bindReading(c);
  bindWriting(c);
}
