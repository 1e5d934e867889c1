// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Extent/Extent.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace spyre;
using llvm::StringRef;
using Result = Extent::Result;
using Term = Extent::Term;
using Factors = std::vector<std::shared_ptr<const Extent::Atom>>;

static constexpr StringRef overflow = "the expression leaves 64 bits";

static Result fail(std::string &error, const llvm::Twine &message) {
  error = message.str();
  return std::nullopt;
}

/// Reserved in expressions, so no names of symbols.
static bool isReserved(StringRef name) {
  return llvm::is_contained({"floordiv", "ceildiv", "mod", "min", "max"}, name);
}

//===--------------------------------------------------------------------===//
// Text
//===--------------------------------------------------------------------===//

static bool isDivision(Extent::Function function) {
  return function == Extent::Function::FloorDiv || function == Extent::Function::CeilDiv ||
         function == Extent::Function::Mod;
}

static StringRef spelling(Extent::Function function) {
  switch (function) {
  case Extent::Function::FloorDiv:
    return "floordiv";
  case Extent::Function::CeilDiv:
    return "ceildiv";
  case Extent::Function::Mod:
    return "mod";
  case Extent::Function::Min:
    return "min";
  case Extent::Function::Max:
    return "max";
  case Extent::Function::Symbol:
    return "";
  }
  llvm_unreachable("a function without a spelling");
}

/// The product, without its coefficient; a division inside a product stands in parentheses.
static std::string spell(const Factors &factors, bool alone) {
  std::string text;
  for (const auto &factor : factors) {
    if (!text.empty())
      text += " * ";
    bool enclosed = isDivision(factor->function) && !(alone && factors.size() == 1);
    text += enclosed ? "(" + factor->text + ")" : factor->text;
  }
  return text;
}

std::string Extent::str() const {
  std::string text;
  for (const Term &term : sum) {
    bool negative = term.coefficient < 0;
    // The smallest coefficient has no opposite; its digits are taken from the unsigned value.
    uint64_t size = negative ? -static_cast<uint64_t>(term.coefficient) : term.coefficient;
    if (text.empty())
      text += negative ? "-" : "";
    else
      text += negative ? " - " : " + ";
    if (size != 1)
      text += std::to_string(size) + " * ";
    // A leading minus binds to what follows it, so a division behind it is enclosed.
    text += spell(term.factors, /*alone=*/size == 1 && text != "-");
  }
  if (sum.empty())
    return std::to_string(rest);
  if (rest > 0)
    text += " + " + std::to_string(rest);
  if (rest < 0)
    text += " - " + std::to_string(-static_cast<uint64_t>(rest));
  return text;
}

//===--------------------------------------------------------------------===//
// Building
//===--------------------------------------------------------------------===//

/// Where a term stands in its sum, and whether two are alike.
static std::string keyOf(const Term &term) { return spell(term.factors, /*alone=*/true); }

std::optional<int64_t> Extent::literal() const {
  return sum.empty() ? std::optional<int64_t>(rest) : std::nullopt;
}

Extent Extent::literal(int64_t value) {
  Extent result;
  result.rest = value;
  return result;
}

/// An argument of a division: in parentheses unless it is a name, a literal, or a min or max.
static std::string enclosed(const Extent &argument) {
  std::string text = argument.str();
  bool simple = argument.literal().has_value()
                    ? *argument.literal() >= 0
                    : argument.constant() == 0 && argument.terms().size() == 1 &&
                          argument.terms()[0].coefficient == 1 &&
                          argument.terms()[0].factors.size() == 1 &&
                          !isDivision(argument.terms()[0].factors[0]->function);
  return simple ? text : "(" + text + ")";
}

Extent Extent::atom(Function function, std::string name, std::vector<Extent> arguments) {
  std::string text = name;
  if (isDivision(function))
    text = enclosed(arguments[0]) + " " + spelling(function).str() + " " + enclosed(arguments[1]);
  else if (function != Function::Symbol) {
    text = spelling(function).str() + "(";
    for (size_t i = 0; i < arguments.size(); ++i)
      text += (i ? ", " : "") + arguments[i].str();
    text += ")";
  }
  Extent result;
  result.sum.push_back(
      {1, {std::make_shared<Atom>(Atom{function, std::move(name), std::move(arguments), text})}});
  return result;
}

Result Extent::symbol(StringRef name, std::string &error) {
  auto inside = [](char c) { return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.'; };
  if (name.empty() || !(llvm::isAlpha(name[0]) || name[0] == '_') || !llvm::all_of(name, inside))
    return fail(error, "'" + name + "' is no name of a symbol");
  if (isReserved(name))
    return fail(error, "'" + name + "' is a reserved word, not a symbol");
  return atom(Function::Symbol, name.str(), {});
}

Result Extent::add(const Extent &a, const Extent &b, std::string &error) {
  Extent result;
  if (llvm::AddOverflow(a.rest, b.rest, result.rest))
    return fail(error, overflow);
  auto left = a.sum.begin(), right = b.sum.begin();
  while (left != a.sum.end() || right != b.sum.end()) {
    int order = left == a.sum.end()    ? 1
                : right == b.sum.end() ? -1
                                       : StringRef(keyOf(*left)).compare(keyOf(*right));
    Term term = order <= 0 ? *left : *right;
    if (order == 0 && llvm::AddOverflow(left->coefficient, right->coefficient, term.coefficient))
      return fail(error, overflow);
    if (term.coefficient != 0)
      result.sum.push_back(term);
    if (order <= 0)
      ++left;
    if (order >= 0)
      ++right;
  }
  return result;
}

Result Extent::sub(const Extent &a, const Extent &b, std::string &error) {
  Result negative = mul(b, literal(-1), error);
  return negative ? add(a, *negative, error) : std::nullopt;
}

Result Extent::mul(const Extent &a, const Extent &b, std::string &error) {
  Result result = literal(0);
  auto addend = [](const Extent &extent) {
    std::vector<Term> all = extent.sum;
    if (extent.rest != 0)
      all.push_back({extent.rest, {}});
    return all;
  };
  for (const Term &x : addend(a))
    for (const Term &y : addend(b)) {
      Term term{0, x.factors};
      if (llvm::MulOverflow(x.coefficient, y.coefficient, term.coefficient))
        return fail(error, overflow);
      llvm::append_range(term.factors, y.factors);
      llvm::stable_sort(term.factors, [](auto &p, auto &q) { return p->text < q->text; });
      Extent product;
      if (term.factors.empty())
        product.rest = term.coefficient;
      else
        product.sum.push_back(term);
      result = add(*result, product, error);
      if (!result)
        return std::nullopt;
    }
  return result;
}

//===--------------------------------------------------------------------===//
// Division
//===--------------------------------------------------------------------===//

static int64_t floorMod(int64_t value, int64_t divisor) {
  int64_t rest = value % divisor;
  return rest < 0 ? rest + divisor : rest;
}

/// Splits the dividend into `divisor * quotient + remainder`; what is left over has coefficients
/// and constant in [0, divisor). Then (d * q + r) floordiv d = q + r floordiv d, the same for
/// ceildiv, and mod keeps r only.
Result Extent::divide(Function function, const Extent &a, const Extent &b, std::string &error) {
  std::optional<int64_t> divisor = b.literal();
  if (!divisor || *divisor <= 0)
    return fail(error, "the divisor of " + spelling(function) + " is a positive literal, got '" +
                           b.str() + "'");
  Extent quotient, remainder;
  for (const Term &term : a.sum) {
    // Only whole multiples leave a division: taking part of a coefficient out would change its text
    // for nothing.
    int64_t rest = floorMod(term.coefficient, *divisor);
    if (rest == 0)
      quotient.sum.push_back({term.coefficient / *divisor, term.factors});
    else
      remainder.sum.push_back({function == Function::Mod ? rest : term.coefficient, term.factors});
  }
  remainder.rest = floorMod(a.rest, *divisor);
  if (llvm::SubOverflow(a.rest, remainder.rest, quotient.rest))
    return fail(error, overflow);
  quotient.rest /= *divisor;
  if (remainder.sum.empty()) {
    if (function == Function::Mod)
      return literal(remainder.rest);
    bool up = function == Function::CeilDiv && remainder.rest != 0;
    return add(quotient, literal(up), error);
  }
  if (function == Function::Mod)
    return atom(function, "", {remainder, b});
  return add(quotient, atom(function, "", {remainder, b}), error);
}

Result Extent::floorDiv(const Extent &a, const Extent &b, std::string &error) {
  return divide(Function::FloorDiv, a, b, error);
}
Result Extent::ceilDiv(const Extent &a, const Extent &b, std::string &error) {
  return divide(Function::CeilDiv, a, b, error);
}
Result Extent::mod(const Extent &a, const Extent &b, std::string &error) {
  return divide(Function::Mod, a, b, error);
}

//===--------------------------------------------------------------------===//
// Extrema
//===--------------------------------------------------------------------===//

Result Extent::extremum(Function function, const Extent &a, const Extent &b, std::string &error) {
  std::vector<Extent> all;
  for (const Extent *side : {&a, &b}) {
    bool same = side->rest == 0 && side->sum.size() == 1 && side->sum[0].coefficient == 1 &&
                side->sum[0].factors.size() == 1 && side->sum[0].factors[0]->function == function;
    if (same)
      llvm::append_range(all, side->sum[0].factors[0]->arguments);
    else
      all.push_back(*side);
  }
  std::vector<Extent> kept;
  for (const Extent &next : all) {
    bool bounded = false;
    for (Extent &other : kept) {
      Result difference = sub(next, other, error);
      if (!difference)
        return std::nullopt;
      std::optional<int64_t> gap = difference->literal();
      if (!gap)
        continue;
      bounded = true;
      if (function == Function::Min ? *gap < 0 : *gap > 0)
        other = next;
      break;
    }
    if (!bounded)
      kept.push_back(next);
  }
  if (kept.size() == 1)
    return kept[0];
  llvm::stable_sort(kept, [](const Extent &p, const Extent &q) {
    return std::make_pair(p.literal().has_value(), p.str()) <
           std::make_pair(q.literal().has_value(), q.str());
  });
  return atom(function, "", std::move(kept));
}

Result Extent::min(const Extent &a, const Extent &b, std::string &error) {
  return extremum(Function::Min, a, b, error);
}
Result Extent::max(const Extent &a, const Extent &b, std::string &error) {
  return extremum(Function::Max, a, b, error);
}

std::set<std::string> Extent::symbols() const {
  std::set<std::string> names;
  for (const Term &term : sum)
    for (const auto &factor : term.factors) {
      if (factor->function == Function::Symbol)
        names.insert(factor->name);
      for (const Extent &argument : factor->arguments)
        for (const std::string &name : argument.symbols())
          names.insert(name);
    }
  return names;
}

//===--------------------------------------------------------------------===//
// Reading
//===--------------------------------------------------------------------===//

namespace {
class Reader {
public:
  Reader(StringRef text, std::string &error) : rest(text), error(error) {}

  Result whole() {
    Result result = expression();
    rest = rest.ltrim();
    if (result && !rest.empty())
      return fail(error, "unexpected '" + rest + "'");
    return result;
  }

private:
  using Operation = Result (*)(const Extent &, const Extent &, std::string &);

  bool take(StringRef token) {
    rest = rest.ltrim();
    return rest.consume_front(token);
  }

  StringRef word() {
    rest = rest.ltrim();
    return rest.take_while(
        [](char c) { return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.'; });
  }

  bool takeWord(StringRef expected) {
    if (word() != expected)
      return false;
    rest = rest.drop_front(expected.size());
    return true;
  }

  Result combine(Result left, Result right, Operation operation) {
    return left && right ? operation(*left, *right, error) : std::nullopt;
  }

  Result expression() {
    Result left = product();
    while (left) {
      if (take("+"))
        left = combine(left, product(), Extent::add);
      else if (take("-"))
        left = combine(left, product(), Extent::sub);
      else
        break;
    }
    return left;
  }

  Result product() {
    Result left = unit();
    while (left) {
      if (take("*"))
        left = combine(left, unit(), Extent::mul);
      else if (takeWord("floordiv"))
        left = combine(left, unit(), Extent::floorDiv);
      else if (takeWord("ceildiv"))
        left = combine(left, unit(), Extent::ceilDiv);
      else if (takeWord("mod"))
        left = combine(left, unit(), Extent::mod);
      else
        break;
    }
    return left;
  }

  Result unit() {
    if (++depth > 200)
      return fail(error, "the expression is nested too deeply");
    Result result = innerUnit();
    --depth;
    return result;
  }

  Result innerUnit() {
    if (take("("))
      return closed(expression());
    if (take("-")) {
      // The smallest literal has no positive counterpart to negate.
      StringRef digits = word();
      int64_t value;
      if (!StringRef("-" + digits.str()).getAsInteger(10, value)) {
        rest = rest.drop_front(digits.size());
        return Extent::literal(value);
      }
      return combine(Extent::literal(0), unit(), Extent::sub);
    }
    StringRef name = word();
    if (rest.empty())
      return fail(error, "the expression ends too early");
    if (name.empty())
      return fail(error, "unexpected '" + rest.take_front(1) + "'");
    rest = rest.drop_front(name.size());
    if (llvm::isDigit(name[0])) {
      int64_t value;
      if (name.getAsInteger(10, value))
        return fail(error, "'" + name + "' is no 64-bit integer");
      return Extent::literal(value);
    }
    if ((name == "min" || name == "max") && take("(")) {
      Operation operation = name == "min" ? Extent::min : Extent::max;
      Result result = expression();
      while (result && take(","))
        result = combine(result, expression(), operation);
      return closed(result);
    }
    return Extent::symbol(name, error);
  }

  Result closed(Result result) {
    if (result && !take(")"))
      return fail(error, "a parenthesis is not closed");
    return result;
  }

  StringRef rest;
  std::string &error;
  int depth = 0;
};
} // namespace

Result Extent::parse(StringRef text, std::string &error) { return Reader(text, error).whole(); }
