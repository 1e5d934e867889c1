// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Options described at run time, as real options of MLIR passes and pipelines. A value is kept in
// its canonical spelling; what it may be is said by the option's value description (see
// SpyreOptionSchema::grammar), so that the text in --help is the rule that is checked.

#ifndef SPYRE_BRIDGE_OPTIONS_H
#define SPYRE_BRIDGE_OPTIONS_H

#ifdef NDEBUG
#error "the MLIR packages are built with assertions: NDEBUG changes the size of MLIR's classes"
#endif

#include "Bridge/Bridge.h"

#include "mlir/Pass/Pass.h"

#include <memory>
#include <string>
#include <vector>

namespace spyre::bridge {

/// One value as text. A class of its own, because MLIR prints strings such that not all parse back.
struct Text {
  std::string value;
};
llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const Text &text);

/// The text for a pipeline that parses back to `value`, or nullopt if there is none.
std::optional<std::string> spell(llvm::StringRef value);

/// Canonical spelling of `value` under `grammar`; an error message as the second element otherwise.
std::pair<std::string, std::string> canonical(llvm::StringRef grammar, llvm::StringRef value);

struct OptionSchema {
  explicit OptionSchema(const SpyreOptionSchema &schema);
  std::string name, help, grammar;
  bool isList;
  std::vector<Text> defaults;
};

/// What the error handler of MLIR's option parser does not get: it writes to stderr instead.
std::string takeOptionError();

} // namespace spyre::bridge

namespace llvm::cl {
template <>
class parser<spyre::bridge::Text> : public basic_parser<spyre::bridge::Text> {
public:
  using Text = spyre::bridge::Text;
  explicit parser(Option &option) : basic_parser(option) {}
  bool parse(Option &option, StringRef name, StringRef argument, Text &value);
  void printOptionInfo(const Option &option, size_t width) const;
  size_t getOptionWidth(const Option &option) const;
  void printOptionDiff(const Option &option, const Text &value, const OptionValue<Text> &,
                       size_t width) const;
};
} // namespace llvm::cl

namespace spyre::bridge {

/// An option of a pass or pipeline, whatever its type. A name without a value stands for the empty
/// text: MLIR would refuse it on stderr, our parser does so where it can be read.
class DeclaredOption {
public:
  virtual ~DeclaredOption() = default;
  virtual llvm::ArrayRef<Text> values() = 0;
};

/// `Owner` is mlir::Pass or mlir::detail::PassOptions; both have `Option` and `ListOption`.
template <typename Owner>
class ScalarOption final : public DeclaredOption {
public:
  ScalarOption(Owner &owner, const OptionSchema &schema)
      : option(owner, schema.name, llvm::cl::desc(schema.help),
               llvm::cl::value_desc(schema.grammar), llvm::cl::init(schema.defaults.front()),
               llvm::cl::ValueOptional) {}
  llvm::ArrayRef<Text> values() override { return option.getValue(); }

private:
  typename Owner::template Option<Text> option;
};

template <typename Owner>
class ListOption final : public DeclaredOption {
public:
  ListOption(Owner &owner, const OptionSchema &schema)
      : option(owner, schema.name, llvm::cl::desc(schema.help),
               llvm::cl::value_desc(schema.grammar),
               llvm::cl::list_init(llvm::ArrayRef(schema.defaults)), llvm::cl::ValueOptional) {}
  llvm::ArrayRef<Text> values() override { return *option; }

private:
  typename Owner::template ListOption<Text> option;
};

/// The options of one pass or pipeline object.
class Options {
public:
  template <typename Owner>
  Options(Owner &owner, const std::vector<OptionSchema> &schemas) {
    for (const OptionSchema &schema : schemas) {
      if (schema.isList)
        options.push_back(std::make_unique<ListOption<Owner>>(owner, schema));
      else
        options.push_back(std::make_unique<ScalarOption<Owner>>(owner, schema));
    }
  }

  /// Calls `use(count, values)` with the present values.
  template <typename Use>
  auto withValues(Use &&use) {
    std::vector<std::vector<MlirStringRef>> texts;
    std::vector<SpyreOptionValue> values;
    for (const auto &option : options) {
      texts.emplace_back();
      for (const Text &text : option->values())
        texts.back().push_back({text.value.data(), text.value.size()});
      values.push_back({intptr_t(texts.back().size()), texts.back().data()});
    }
    return use(intptr_t(values.size()), values.data());
  }

private:
  std::vector<std::unique_ptr<DeclaredOption>> options;
};

} // namespace spyre::bridge

#endif // SPYRE_BRIDGE_OPTIONS_H
