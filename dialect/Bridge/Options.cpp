// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Bridge/Options.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

using namespace spyre::bridge;
using llvm::StringRef;

OptionSchema::OptionSchema(const SpyreOptionSchema &schema)
    : name(schema.name.data, schema.name.length), help(schema.help.data, schema.help.length),
      grammar(schema.grammar.data, schema.grammar.length), isList(schema.isList) {
  for (intptr_t i = 0; i < schema.numDefaults; ++i)
    defaults.push_back(
        {canonical(grammar, {schema.defaults[i].data, schema.defaults[i].length}).first});
}

//===----------------------------------------------------------------------===//
// Spelling
//===----------------------------------------------------------------------===//

/// The parser of pipelines counts braces before it looks at quotes.
static bool hasBalancedBraces(StringRef value) {
  int depth = 0;
  for (char c : value) {
    depth += (c == '{') - (c == '}');
    if (depth < 0)
      return false;
  }
  return depth == 0;
}

std::optional<std::string> spyre::bridge::spell(StringRef value) {
  auto isPlain = [](char c) { return llvm::isAlnum(c) || StringRef("_-+.:/@%").contains(c); };
  if (llvm::all_of(value, isPlain))
    return value.str();
  if (!hasBalancedBraces(value) || value.trim() != value)
    return std::nullopt;
  for (char quote : {'"', '\''})
    if (!value.contains(quote))
      return quote + value.str() + quote;
  return std::nullopt;
}

llvm::raw_ostream &spyre::bridge::operator<<(llvm::raw_ostream &os, const Text &text) {
  // What was parsed can be spelled, except text that used braces as quotes around both kinds of
  // quotes.
  return os << spell(text.value).value_or("{" + text.value + "}");
}

bool spyreSpellOptionValue(MlirStringRef value, MlirStringCallback callback, void *userData) {
  std::optional<std::string> text = spell(StringRef(value.data, value.length));
  if (text)
    callback({text->data(), text->size()}, userData);
  return text.has_value();
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

/// The fewest digits that read back to the same number.
static std::string shortest(double number) {
  for (int digits = 1; digits <= 17; ++digits) {
    std::string text;
    llvm::raw_string_ostream(text) << llvm::format("%.*g", digits, number);
    double again;
    if (!StringRef(text).getAsDouble(again) && (again == number || digits == 17))
      return text;
  }
  return "nan";
}

std::pair<std::string, std::string> spyre::bridge::canonical(StringRef grammar, StringRef value) {
  auto wrong = [&](const llvm::Twine &what) {
    return std::make_pair(std::string(), ("'" + value + "' " + what).str());
  };
  if (grammar == "string")
    return {value.str(), ""};
  if (grammar == "bool") {
    if (value.empty() || value == "true" || value == "1")
      return {"true", ""};
    if (value == "false" || value == "0")
      return {"false", ""};
    return wrong("is neither true nor false");
  }
  if (grammar == "int") {
    int64_t number;
    if (value.getAsInteger(0, number))
      return wrong("is not an integer of 64 bits");
    return {std::to_string(number), ""};
  }
  if (grammar == "float") {
    double number;
    if (value.empty() || value.getAsDouble(number))
      return wrong("is not a number");
    return {shortest(number), ""};
  }
  llvm::SmallVector<StringRef> words;
  grammar.split(words, '|');
  if (llvm::is_contained(words, value))
    return {value.str(), ""};
  return wrong("is not one of " + llvm::join(words, ", "));
}

/// One thread parses one pipeline at a time; the message is taken right after the parse.
static std::string &optionError() {
  static thread_local std::string error;
  return error;
}

std::string spyre::bridge::takeOptionError() { return std::exchange(optionError(), {}); }

bool llvm::cl::parser<Text>::parse(Option &option, StringRef name, StringRef argument,
                                   Text &value) {
  auto [text, error] = canonical(option.ValueStr, argument);
  value.value = std::move(text);
  if (error.empty())
    return false;
  optionError() = ("option '" + option.ArgStr + "': " + error).str();
  return true;
}

/// What --help shows before the help text.
static std::string usage(const llvm::cl::Option &option) {
  const bool isList = option.getNumOccurrencesFlag() == llvm::cl::ZeroOrMore;
  const bool isSwitch = option.ValueStr == "bool" && !isList;
  std::string value = ("=<" + option.ValueStr + (isList ? ",...>" : ">")).str();
  return ("  --" + option.ArgStr + (isSwitch ? "[" + value + "]" : value)).str();
}

void llvm::cl::parser<Text>::printOptionInfo(const Option &option, size_t width) const {
  outs() << usage(option);
  Option::printHelpStr(option.HelpStr, width, getOptionWidth(option));
}

size_t llvm::cl::parser<Text>::getOptionWidth(const Option &option) const {
  return usage(option).size();
}

void llvm::cl::parser<Text>::printOptionDiff(const Option &option, const Text &value,
                                             const OptionValue<Text> &, size_t width) const {
  printOptionName(option, width);
  outs() << "= " << value << '\n';
}
