// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Extent/Prover.h"

#include "mlir/Analysis/Presburger/IntegerRelation.h"
#include "mlir/Analysis/Presburger/Simplex.h"

using namespace spyre;
using llvm::DynamicAPInt;
using mlir::presburger::IntegerPolyhedron;
using mlir::presburger::PresburgerSpace;

namespace {

/// A sum of `coefficient * variable` and a constant.
struct Linear {
  std::map<unsigned, DynamicAPInt> terms;
  DynamicAPInt constant = DynamicAPInt(0);

  void add(const Linear &other, int64_t factor) {
    for (const auto &[variable, coefficient] : other.terms)
      terms[variable] += coefficient * DynamicAPInt(factor);
    constant += other.constant * DynamicAPInt(factor);
  }
};

/// A min or max: its variable is one of the arguments.
struct Choice {
  Linear variable;
  std::vector<Linear> arguments;
  int64_t sign; // of `variable - argument`: not above for min, not below for max
};

using Sample = llvm::SmallVector<DynamicAPInt, 8>;

/// Extents as linear integer constraints: one variable per atom, defined by constraints of its own.
class System {
public:
  Linear translate(const Extent &extent) {
    Linear result;
    result.constant = DynamicAPInt(extent.constant());
    for (const Extent::Term &term : extent.terms())
      result.add(atom(term), term.coefficient);
    return result;
  }

  Linear symbol(const std::string &name) { return unknown(name); }

  /// From here on `linear + constant >= 0`.
  void require(Linear linear, int64_t constant = 0) {
    linear.constant += DynamicAPInt(constant);
    constraints.push_back(std::move(linear));
  }

  /// A solution with `extra >= 0` besides, or nothing. Sets `givenUp` where there are too many
  /// cases.
  std::optional<Sample> solve(const Linear &extra) {
    IntegerPolyhedron all(PresburgerSpace::getSetSpace(variables.size()));
    for (const Linear &constraint : constraints)
      all.addInequality(row(constraint));
    all.addInequality(row(extra));
    return solveCases(std::move(all), 0);
  }

  bool hasProducts = false;
  bool givenUp = false;
  std::map<std::string, unsigned> symbols;

private:
  /// Cases that are looked at, and the effort of their integer samples: the cube of the number of
  /// variables each. A few seconds at most, far beyond what extents of real programs need.
  static constexpr uint64_t casesMax = 4096, effortMax = 1 << 19;

  Linear unknown(const std::string &text) {
    auto [entry, fresh] = variables.try_emplace(text, variables.size());
    if (fresh)
      symbols.try_emplace(text, entry->second);
    return single(entry->second);
  }

  static Linear single(unsigned variable) {
    Linear result;
    result.terms[variable] = DynamicAPInt(1);
    return result;
  }

  Linear atom(const Extent::Term &term) {
    if (term.factors.size() == 1)
      return atom(*term.factors[0]);
    hasProducts = true;
    std::string text;
    for (const auto &factor : term.factors)
      text += "*" + factor->text;
    return single(variables.try_emplace(text, variables.size()).first->second);
  }

  Linear atom(const Extent::Atom &atom) {
    if (atom.function == Extent::Function::Symbol)
      return unknown(atom.name);
    auto [entry, fresh] = variables.try_emplace("(" + atom.text, variables.size());
    Linear result = single(entry->second);
    if (!fresh)
      return result;
    if (atom.function == Extent::Function::Min || atom.function == Extent::Function::Max)
      define(atom, result);
    else
      divide(atom, result);
    return result;
  }

  void define(const Extent::Atom &atom, const Linear &result) {
    Choice choice{result, {}, atom.function == Extent::Function::Min ? -1 : 1};
    for (const Extent &argument : atom.arguments) {
      choice.arguments.push_back(translate(argument));
      Linear bound;
      bound.add(result, choice.sign);
      bound.add(choice.arguments.back(), -choice.sign);
      require(bound);
    }
    choices.push_back(std::move(choice));
  }

  /// Binds a division's variable: 0 <= e - d * q <= d - 1 for floordiv, 0 <= d * q - e <= d - 1 for
  /// ceildiv, and e - d * q itself for mod.
  void divide(const Extent::Atom &atom, const Linear &result) {
    Linear dividend = translate(atom.arguments[0]);
    int64_t divisor = *atom.arguments[1].literal();
    int64_t sign = atom.function == Extent::Function::CeilDiv ? -1 : 1;
    bool isMod = atom.function == Extent::Function::Mod;
    Linear quotient =
        isMod ? single(variables.try_emplace("/" + atom.text, variables.size()).first->second)
              : result;
    Linear rest;
    rest.add(dividend, sign);
    rest.add(quotient, -sign * divisor);
    Linear negated;
    negated.add(rest, -1);
    require(rest);
    require(negated, divisor - 1);
    if (!isMod)
      return;
    Linear above = rest, below = negated;
    above.add(result, -1);
    below.add(result, 1);
    require(above);
    require(below);
  }

  llvm::SmallVector<DynamicAPInt> row(const Linear &linear) const {
    llvm::SmallVector<DynamicAPInt> result(variables.size() + 1, DynamicAPInt(0));
    for (const auto &[variable, coefficient] : linear.terms)
      result[variable] = coefficient;
    result.back() = linear.constant;
    return result;
  }

  /// One case per argument that the min or max may be equal to; cases without rational solution are
  /// left at once.
  std::optional<Sample> solveCases(IntegerPolyhedron cases, size_t next) {
    if (++tried > casesMax) {
      givenUp = true;
      return std::nullopt;
    }
    if (mlir::presburger::Simplex(cases).isEmpty())
      return std::nullopt;
    if (next == choices.size()) {
      uint64_t count = variables.size();
      effort += count * count * count;
      if (effort <= effortMax)
        return cases.findIntegerSample();
      givenUp = true;
      return std::nullopt;
    }
    const Choice &choice = choices[next];
    for (const Linear &argument : choice.arguments) {
      Linear equal;
      equal.add(argument, choice.sign);
      equal.add(choice.variable, -choice.sign);
      IntegerPolyhedron narrowed = cases;
      narrowed.addInequality(row(equal));
      if (std::optional<Sample> sample = solveCases(std::move(narrowed), next + 1))
        return sample;
      if (givenUp)
        return std::nullopt;
    }
    return std::nullopt;
  }

  std::map<std::string, unsigned> variables;
  std::vector<Linear> constraints;
  std::vector<Choice> choices;
  uint64_t tried = 0, effort = 0;
};

} // namespace

/// The values of the symbols, or false where one leaves 64 bits.
static bool readValues(const System &system, const Sample &sample,
                       std::map<std::string, int64_t> &values) {
  static const DynamicAPInt lowest(INT64_MIN), highest(INT64_MAX);
  for (const auto &[name, variable] : system.symbols) {
    const DynamicAPInt &value = sample[variable];
    if (value < lowest || value > highest)
      return false;
    values[name] = int64_t(value);
  }
  return true;
}

Proof spyre::prove(Relation relation, const Extent &lhs, const Extent &rhs,
                   llvm::ArrayRef<SymbolRange> ranges, llvm::ArrayRef<Extent> nonNegative) {
  System system;
  Linear gap = system.translate(rhs);
  gap.add(system.translate(lhs), -1);
  for (const SymbolRange &range : ranges) {
    Linear value = system.symbol(range.symbol), negated;
    negated.add(value, -1);
    if (range.high) {
      negated.constant = DynamicAPInt(*range.high);
      system.require(negated);
    }
    if (range.low) {
      value.constant -= DynamicAPInt(*range.low);
      system.require(value);
    }
  }
  for (const Extent &fact : nonNegative)
    system.require(system.translate(fact));

  // gap < 0, and for equality also gap > 0, are against the relation.
  Linear above = gap, below;
  above.constant -= DynamicAPInt(1);
  below.add(gap, -1);
  below.constant -= DynamicAPInt(1);
  std::optional<Sample> against = system.solve(below);
  if (!against && relation == Relation::Equal)
    against = system.solve(above);
  Proof proof;
  if (system.givenUp)
    return proof;
  if (!against) {
    proof.verdict = Verdict::Always;
    return proof;
  }
  if (relation == Relation::Equal) {
    Linear opposite;
    opposite.add(gap, -1);
    system.require(opposite);
  }
  std::optional<Sample> with = system.solve(gap);
  if (system.givenUp)
    return proof;
  if (!with)
    proof.verdict = Verdict::Never;
  else if (!system.hasProducts && readValues(system, *with, proof.witness) &&
           readValues(system, *against, proof.counterexample))
    proof.verdict = Verdict::Sometimes;
  return proof;
}
