// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides relations of extents over all integer values of their symbols.

#ifndef SPYRE_EXTENT_PROVER_H
#define SPYRE_EXTENT_PROVER_H

#include "Extent/Extent.h"

#include "llvm/ADT/ArrayRef.h"

#include <map>

namespace spyre {

enum class Relation { Equal, LessEqual };

/// `Always` and `Never`: for all values of the symbols that fulfil the facts. `Sometimes`: for some
/// of them only. `Undecided`: products of symbols, too many cases, or values beyond 64 bits.
enum class Verdict { Always, Never, Sometimes, Undecided };

/// Declared range of a symbol, both ends inclusive.
struct SymbolRange {
  std::string symbol;
  std::optional<int64_t> low, high;
};

struct Proof {
  Verdict verdict = Verdict::Undecided;
  /// Values of the symbols under which the relation holds, and under which it does not. Set if the
  /// verdict is `Sometimes`.
  std::map<std::string, int64_t> witness, counterexample;
};

/// Whether `lhs` is related to `rhs`, given the ranges and that each extent of `nonNegative` is 0
/// or more. Sound; complete without products of symbols, up to a bound on the effort: the cases
/// that min and max make, and the variables in each. Facts that no value fulfils make every
/// relation `Always`.
Proof prove(Relation relation, const Extent &lhs, const Extent &rhs,
            llvm::ArrayRef<SymbolRange> ranges, llvm::ArrayRef<Extent> nonNegative);

} // namespace spyre

#endif // SPYRE_EXTENT_PROVER_H
