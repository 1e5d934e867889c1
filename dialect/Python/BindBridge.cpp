// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Python's side of the bridge: callables behind the callback table, and the entry points of the
// tools.

#include "Bridge/Bridge.h"
#include "Python/Bind.h"

#include "mlir/Bindings/Python/NanobindAdaptors.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <deque>

namespace nb = nanobind;
using namespace nb::literals;
using namespace mlir::python::nanobind_adaptors;

static MlirStringRef spelling(const std::string &text) { return {text.data(), text.size()}; }

static nb::str toPython(MlirStringRef text) { return nb::str(text.data, text.length); }

static void append(MlirStringRef text, void *userData) {
  static_cast<std::string *>(userData)->append(text.data, text.length);
}

//===----------------------------------------------------------------------===//
// Callbacks
//===----------------------------------------------------------------------===//

namespace {
/// The functions of spyre_mlir.registry that do the work; never freed, for passes outlive the
/// interpreter.
struct Functions {
  nb::object create, run, expand;
};
Functions *functions = nullptr;
} // namespace

static void reportText(const std::string &text, MlirStringCallback report, void *data) {
  report(spelling(text), data);
}

static nb::tuple optionValues(intptr_t count, const SpyreOptionValue *options) {
  nb::list values;
  for (intptr_t i = 0; i < count; ++i) {
    nb::list texts;
    for (intptr_t j = 0; j < options[i].numTexts; ++j)
      texts.append(toPython(options[i].texts[j]));
    values.append(nb::tuple(texts));
  }
  return nb::tuple(values);
}

/// Calls `function(owner, values)`, which returns (result, error text); the result, or an invalid
/// object.
static nb::object callWithOptions(const nb::object &function, void *owner, intptr_t count,
                                  const SpyreOptionValue *options, MlirStringCallback report,
                                  void *data) {
  try {
    nb::handle target(static_cast<PyObject *>(owner));
    nb::object pair = function(target, optionValues(count, options));
    if (!pair[1].is_none()) {
      reportText(nb::cast<std::string>(pair[1]), report, data);
      return {};
    }
    return pair[0];
  } catch (const std::exception &error) {
    reportText(error.what(), report, data);
    return {};
  }
}

static void *createPass(void *owner, intptr_t count, const SpyreOptionValue *options,
                        MlirStringCallback report, void *data) {
  nb::gil_scoped_acquire lock;
  return callWithOptions(functions->create, owner, count, options, report, data).release().ptr();
}

static bool expandPipeline(void *owner, intptr_t count, const SpyreOptionValue *options,
                           MlirStringCallback report, void *data) {
  nb::gil_scoped_acquire lock;
  nb::object text = callWithOptions(functions->expand, owner, count, options, report, data);
  if (text)
    reportText(nb::cast<std::string>(text), report, data);
  return text.is_valid();
}

static bool runPass(void *instance, MlirOperation operation) {
  nb::gil_scoped_acquire lock;
  try {
    nb::handle object(static_cast<PyObject *>(instance));
    return nb::cast<bool>(functions->run(object, operation));
  } catch (const std::exception &error) {
    mlirEmitError(mlirOperationGetLocation(operation), error.what());
    return false;
  }
}

static void releasePass(void *instance) {
  if (!nb::is_alive())
    return;
  nb::gil_scoped_acquire lock;
  Py_DECREF(static_cast<PyObject *>(instance));
}

static bool holdsInterpreter() { return PyGILState_Check(); }

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

namespace {
/// A schema read from the tuples of spyre_mlir.schemas, with the storage its strings need.
class SchemaReader {
public:
  SchemaReader(nb::handle schema, nb::handle owner) {
    result.argument = text(schema.attr("argument"));
    result.name = text(schema.attr("class_name"));
    result.description = text(schema.attr("description"));
    result.anchor = text(schema.attr("anchor"));
    for (nb::handle option : schema.attr("options"))
      options.push_back(readOption(option));
    result.numOptions = options.size();
    result.options = options.data();
    for (nb::handle statistic : schema.attr("statistics"))
      statistics.push_back({text(statistic[0]), text(statistic[1])});
    result.numStatistics = statistics.size();
    result.statistics = statistics.data();
    const Texts &dialects = texts(schema.attr("dependent_dialects"));
    result.numDialects = dialects.size();
    result.dialects = dialects.data();
    result.checksOptions = nb::cast<bool>(schema.attr("checks_options"));
    // The owner is kept for good: MLIR's registry cannot forget a pass.
    result.owner = nb::borrow(owner).release().ptr();
  }

  const SpyreSchema *get() const { return &result; }

private:
  using Texts = std::vector<MlirStringRef>;

  MlirStringRef text(nb::handle value) {
    return spelling(strings.emplace_back(nb::cast<std::string>(value)));
  }

  const Texts &texts(nb::handle values) {
    Texts &result = lists.emplace_back();
    for (nb::handle value : values)
      result.push_back(text(value));
    return result;
  }

  SpyreOptionSchema readOption(nb::handle option) {
    const Texts &defaults = texts(option.attr("defaults"));
    return {text(option.attr("name")),    text(option.attr("help")),
            text(option.attr("grammar")), nb::cast<bool>(option.attr("is_list")),
            intptr_t(defaults.size()),    defaults.data()};
  }

  SpyreSchema result = {};
  std::deque<std::string> strings;
  std::deque<Texts> lists;
  std::vector<SpyreOptionSchema> options;
  std::vector<SpyreStatisticSchema> statistics;
};
} // namespace

static void bindRegistration(nb::module_ &m) {
  m.def(
      "initialize_bridge",
      [](MlirDialectRegistry registry, nb::object create, nb::object run, nb::object expand) {
        functions = new Functions{std::move(create), std::move(run), std::move(expand)};
        spyreBridgeInitialize(registry,
                              {createPass, runPass, releasePass, expandPipeline, holdsInterpreter});
      },
      "registry"_a, "create"_a, "run"_a, "expand"_a,
      "Connects passes and pipelines with the functions that make, run and expand them.");
  m.def(
      "register_pass",
      [](nb::handle schema, nb::handle owner) {
        spyreRegisterPass(SchemaReader(schema, owner).get());
      },
      "schema"_a, "owner"_a);
  m.def(
      "register_pipeline",
      [](nb::handle schema, nb::handle owner) {
        spyreRegisterPipeline(SchemaReader(schema, owner).get());
      },
      "schema"_a, "owner"_a);
  m.def(
      "is_registered",
      [](const std::string &argument) { return spyreIsRegistered(spelling(argument)); },
      "argument"_a, "Whether a pass or pipeline of this name exists.");
  m.def(
      "is_dialect", [](const std::string &name) { return spyreIsDialect(spelling(name)); },
      "name"_a);
  m.def(
      "spell_option_value",
      [](const std::string &value) {
        std::string spelled;
        if (!spyreSpellOptionValue(spelling(value), append, &spelled))
          throw nb::value_error(("no pipeline text can hold the option value: " + value).c_str());
        return spelled;
      },
      "value"_a, "The text that stands for `value` in a pipeline.");
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// (severity, location, message, notes), the shape of ir.DiagnosticInfo.
static nb::object diagnosticInfo(MlirDiagnostic diagnostic, const nb::object &make) {
  std::string message;
  mlirDiagnosticPrint(diagnostic, append, &message);
  nb::list notes;
  for (intptr_t i = 0, e = mlirDiagnosticGetNumNotes(diagnostic); i < e; ++i)
    notes.append(diagnosticInfo(mlirDiagnosticGetNote(diagnostic, i), make));
  return make(int(mlirDiagnosticGetSeverity(diagnostic)), mlirDiagnosticGetLocation(diagnostic),
              message, notes);
}

static std::pair<bool, nb::list> runPassManager(MlirPassManager passManager,
                                                MlirOperation operation, bool onOneThread,
                                                bool emitErrors, nb::object make) {
  SpyreErrors kept;
  MlirLogicalResult result = spyreRunPassManager(passManager, operation, onOneThread, &kept);
  if (emitErrors)
    spyreErrorsEmit(kept, mlirOperationGetContext(operation));
  nb::list errors;
  for (intptr_t i = 0, e = spyreErrorsGetSize(kept); i < e; ++i)
    errors.append(diagnosticInfo(spyreErrorsGet(kept, i), make));
  spyreErrorsDestroy(kept);
  return {mlirLogicalResultIsSuccess(result), errors};
}

static void emitError(MlirLocation location, const std::string &message,
                      const std::vector<std::pair<MlirLocation, std::string>> &notes) {
  std::vector<SpyreNote> converted;
  for (const auto &[at, text] : notes)
    converted.push_back({at, spelling(text)});
  spyreEmitError(location, spelling(message), converted.size(), converted.data());
}

static void bindRunning(nb::module_ &m) {
  m.def("run_pass_manager", runPassManager, "pass_manager"_a, "operation"_a, "on_one_thread"_a,
        "emit_errors"_a, "make_info"_a,
        "(succeeded, errors); with `emit_errors`, errors go to the handlers of the context.");
  m.def("emit_error", emitError, "location"_a, "message"_a, "notes"_a);
  m.def(
      "count",
      [](const std::string &argument, intptr_t statistic, int64_t count) {
        spyreCount(spelling(argument), statistic, count);
      },
      "argument"_a, "statistic"_a, "count"_a);
}

//===----------------------------------------------------------------------===//
// Tools
//===----------------------------------------------------------------------===//

static int runTool(int (*main)(int, char **, MlirDialectRegistry),
                   std::vector<std::string> &arguments, MlirDialectRegistry registry) {
  std::vector<char *> argv;
  for (std::string &argument : arguments)
    argv.push_back(argument.data());
  argv.push_back(nullptr);
  nb::gil_scoped_release unlock;
  return main(int(arguments.size()), argv.data(), registry);
}

static void bindTools(nb::module_ &m) {
  m.def(
      "is_opt_flag", [](const std::string &name) { return spyreIsOptFlag(spelling(name)); },
      "name"_a, "Whether spyre-opt has an option of this name that is not a pass.");
  m.def(
      "opt_main",
      [](std::vector<std::string> argv, MlirDialectRegistry registry) {
        return runTool(spyreOptMain, argv, registry);
      },
      "argv"_a, "registry"_a, "mlir-opt with everything that is registered; once per process.");
  m.def(
      "lsp_main",
      [](std::vector<std::string> argv, MlirDialectRegistry registry) {
        return runTool(spyreLspMain, argv, registry);
      },
      "argv"_a, "registry"_a, "mlir-lsp-server with the dialects of the registry.");
}

void bindBridge(nb::module_ &m) {
  bindRegistration(m);
  bindRunning(m);
  bindTools(m);
}
