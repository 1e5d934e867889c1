// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CAPI/Prover.h"
#include "Extent/Prover.h"

#include "mlir/CAPI/Support.h"

using namespace spyre;

static const char *spelling(Verdict verdict) {
  switch (verdict) {
  case Verdict::Always:
    return "always";
  case Verdict::Never:
    return "never";
  case Verdict::Sometimes:
    return "sometimes";
  case Verdict::Undecided:
    return "undecided";
  }
  llvm_unreachable("a verdict without a spelling");
}

const char *spyreProve(MlirStringRef relation, MlirStringRef lhs, MlirStringRef rhs,
                       intptr_t rangeCount, const SpyreSymbolRange *ranges, intptr_t factCount,
                       const MlirStringRef *nonNegative, SpyreBindingCallback binding,
                       MlirStringCallback error, void *userData) {
  std::string message;
  auto fail = [&]() -> const char * {
    error(wrap(llvm::StringRef(message)), userData);
    return nullptr;
  };
  bool isEqual = unwrap(relation) == "equal";
  if (!isEqual && unwrap(relation) != "less_equal") {
    message = "a relation is 'equal' or 'less_equal'";
    return fail();
  }
  Extent::Result left = Extent::parse(unwrap(lhs), message);
  Extent::Result right = left ? Extent::parse(unwrap(rhs), message) : std::nullopt;
  if (!right)
    return fail();
  std::vector<SymbolRange> known;
  for (const SpyreSymbolRange &range : llvm::ArrayRef(ranges, rangeCount)) {
    SymbolRange &next = known.emplace_back();
    next.symbol = unwrap(range.symbol).str();
    if (range.hasLow)
      next.low = range.low;
    if (range.hasHigh)
      next.high = range.high;
  }
  std::vector<Extent> facts;
  for (MlirStringRef text : llvm::ArrayRef(nonNegative, factCount)) {
    Extent::Result fact = Extent::parse(unwrap(text), message);
    if (!fact)
      return fail();
    facts.push_back(*fact);
  }
  Proof proof = prove(isEqual ? Relation::Equal : Relation::LessEqual, *left, *right, known, facts);
  for (const auto &[name, value] : proof.witness)
    binding(true, wrap(llvm::StringRef(name)), value, userData);
  for (const auto &[name, value] : proof.counterexample)
    binding(false, wrap(llvm::StringRef(name)), value, userData);
  return spelling(proof.verdict);
}
