// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Extents: integer expressions over literals and named symbols, in one normal form. Pure values;
// nothing here knows MLIR's IR.

#ifndef SPYRE_EXTENT_EXTENT_H
#define SPYRE_EXTENT_EXTENT_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace spyre {

/// An integer expression: a sum of terms `coefficient * atom * atom ...` and a constant. Atoms are
/// symbols and the functions floordiv, ceildiv, mod (by a positive literal), min and max.
///
/// The normal form: like terms merged, terms in the order of their text, the constant last;
/// literals folded; multiples of the divisor taken out of divisions; min and max flattened, without
/// arguments that another one bounds by a constant, the literal last. Two extents with equal text
/// are the same value.
///
/// Operations return nothing and set `error` where a result is not defined: overflow of 64 bits, a
/// divisor that is no positive literal.
class Extent {
public:
  struct Atom;
  struct Term {
    int64_t coefficient;
    std::vector<std::shared_ptr<const Atom>> factors; // in the order of their text
  };
  enum class Function { Symbol, FloorDiv, CeilDiv, Mod, Min, Max };
  using Result = std::optional<Extent>;

  static Extent literal(int64_t value);
  static Result symbol(llvm::StringRef name, std::string &error);
  static Result add(const Extent &a, const Extent &b, std::string &error);
  static Result sub(const Extent &a, const Extent &b, std::string &error);
  static Result mul(const Extent &a, const Extent &b, std::string &error);
  static Result floorDiv(const Extent &a, const Extent &b, std::string &error);
  static Result ceilDiv(const Extent &a, const Extent &b, std::string &error);
  static Result mod(const Extent &a, const Extent &b, std::string &error);
  static Result min(const Extent &a, const Extent &b, std::string &error);
  static Result max(const Extent &a, const Extent &b, std::string &error);

  /// Reads the text form; precedence as in arithmetic, the named divisions bind as `*`.
  static Result parse(llvm::StringRef text, std::string &error);

  /// Canonical text; `parse` reads it back to the same value.
  std::string str() const;

  /// The value, if there are no symbols.
  std::optional<int64_t> literal() const;

  const std::vector<Term> &terms() const { return sum; }
  int64_t constant() const { return rest; }

  /// Names of the symbols, sorted.
  std::set<std::string> symbols() const;

  bool operator==(const Extent &other) const { return str() == other.str(); }
  bool operator!=(const Extent &other) const { return !(*this == other); }

private:
  static Extent atom(Function function, std::string name, std::vector<Extent> arguments);
  static Result extremum(Function function, const Extent &a, const Extent &b, std::string &error);
  static Result divide(Function function, const Extent &a, const Extent &b, std::string &error);

  std::vector<Term> sum; // in the order of their text, coefficients not 0
  int64_t rest = 0;
};

struct Extent::Atom {
  Function function;
  std::string name;              // of a symbol
  std::vector<Extent> arguments; // of a function; a division has (dividend, divisor)
  std::string text;              // canonical
};

} // namespace spyre

#endif // SPYRE_EXTENT_EXTENT_H
