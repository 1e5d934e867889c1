// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The prover, for spyre_mlir.prover.

#include "CAPI/Prover.h"
#include "Python/Bind.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;

using Bindings = std::map<std::string, int64_t>;
using Range = std::tuple<std::string, std::optional<int64_t>, std::optional<int64_t>>;

namespace {
struct Answer {
  Bindings witness, counterexample;
  std::string error;
};
} // namespace

static MlirStringRef spelling(const std::string &text) { return {text.data(), text.size()}; }

static std::tuple<std::string, Bindings, Bindings>
prove(const std::string &relation, const std::string &lhs, const std::string &rhs,
      const std::vector<Range> &ranges, const std::vector<std::string> &nonNegative) {
  std::vector<SpyreSymbolRange> known;
  for (const auto &[name, low, high] : ranges)
    known.push_back(
        {spelling(name), low.has_value(), high.has_value(), low.value_or(0), high.value_or(0)});
  std::vector<MlirStringRef> facts;
  for (const std::string &fact : nonNegative)
    facts.push_back(spelling(fact));
  auto bind = [](bool isWitness, MlirStringRef symbol, int64_t value, void *answer) {
    Answer &into = *static_cast<Answer *>(answer);
    (isWitness ? into.witness : into.counterexample)[{symbol.data, symbol.length}] = value;
  };
  auto fail = [](MlirStringRef message, void *answer) {
    static_cast<Answer *>(answer)->error.append(message.data, message.length);
  };
  Answer answer;
  const char *verdict = spyreProve(spelling(relation), spelling(lhs), spelling(rhs), known.size(),
                                   known.data(), facts.size(), facts.data(), bind, fail, &answer);
  if (!verdict)
    throw nb::value_error(answer.error.c_str());
  return {verdict, answer.witness, answer.counterexample};
}

void bindProver(nb::module_ &m) {
  m.def("prove", prove, "relation"_a, "lhs"_a, "rhs"_a, "ranges"_a, "nonnegative"_a,
        "Whether an extent is always, never or sometimes 'equal' or 'less_equal' to another one: "
        "(verdict, witness, counterexample). Use it through spyre_mlir.prover.");
}
