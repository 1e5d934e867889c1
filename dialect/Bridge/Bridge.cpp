// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes and pipelines described at run time. To MLIR they are ordinary ones: options, statistics,
// dependent dialects and clones are real; only `run` is a callback.

#include "Bridge/Bridge.h"
#include "Bridge/Options.h"
#include "Bridge/Run.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/CAPI/Wrap.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

#include <mutex>
#include <thread>

using namespace mlir;
using namespace spyre::bridge;

static SpyreCallbacks callbacks;
static DialectRegistry *dialects = nullptr;

void spyreBridgeInitialize(MlirDialectRegistry registry, SpyreCallbacks table) {
  dialects = unwrap(registry);
  callbacks = table;
}

//===----------------------------------------------------------------------===//
// Dependent dialects
//===----------------------------------------------------------------------===//

/// The registry knows a dialect by name, but asking for it takes its TypeID, which only a loaded
/// dialect tells.
static TypeID getDialectTypeID(StringRef name) {
  static std::mutex mutex;
  static llvm::StringMap<TypeID> known;
  std::lock_guard<std::mutex> lock(mutex);
  auto [entry, isNew] = known.try_emplace(name, TypeID());
  if (isNew) {
    MLIRContext scratch(*dialects, MLIRContext::Threading::DISABLED);
    entry->second = scratch.getOrLoadDialect(name)->getTypeID();
  }
  return entry->second;
}

bool spyreIsDialect(MlirStringRef name) {
  return bool(dialects->getDialectAllocator(unwrap(name)));
}

//===----------------------------------------------------------------------===//
// Schemas
//===----------------------------------------------------------------------===//

namespace {
/// Lives as long as the process, as MLIR's registry does.
struct Schema {
  explicit Schema(const SpyreSchema &schema)
      : argument(unwrap(schema.argument)), name(unwrap(schema.name)),
        description(unwrap(schema.description)), anchor(unwrap(schema.anchor)),
        options(schema.options, schema.options + schema.numOptions),
        checksOptions(schema.checksOptions), owner(schema.owner) {
    for (intptr_t i = 0; i < schema.numStatistics; ++i)
      statistics.emplace_back(unwrap(schema.statistics[i].name), unwrap(schema.statistics[i].help));
    for (intptr_t i = 0; i < schema.numDialects; ++i)
      dialects.push_back(unwrap(schema.dialects[i]).str());
  }

  std::string argument, name, description, anchor;
  std::vector<OptionSchema> options;
  std::vector<std::pair<std::string, std::string>> statistics;
  std::vector<std::string> dialects;
  bool checksOptions;
  void *owner;
};

/// The object that does the work of a pass; immutable, hence shared by clones.
class Instance {
public:
  explicit Instance(void *object) : object(object) {}
  ~Instance() { callbacks.release(object); }
  Instance(const Instance &) = delete;
  void *const object;
};

/// How the present run was started; shared by a pass and its clones, set before threads start.
///
/// Who runs a pass manager while holding the interpreter lock (MLIR's own bindings do) waits for
/// its workers, and the workers would wait for the lock.
class RunState {
public:
  void start() {
    starter = std::this_thread::get_id();
    isLocked = callbacks.holdsInterpreter();
  }
  bool wouldDeadlock() const { return isLocked && starter != std::this_thread::get_id(); }

private:
  std::thread::id starter;
  bool isLocked = false;
};

void appendText(MlirStringRef text, void *userData) {
  static_cast<std::string *>(userData)->append(text.data, text.length);
}

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

class BridgePass final : public Pass {
public:
  BridgePass(const Schema &schema, TypeID id)
      : Pass(id, anchorOf(schema)), schema(schema),
        options(*static_cast<Pass *>(this), schema.options), state(std::make_shared<RunState>()) {
    makeStatistics();
  }
  BridgePass(const BridgePass &other)
      : Pass(other), schema(other.schema), options(*static_cast<Pass *>(this), schema.options),
        instance(other.instance), state(other.state) {
    makeStatistics();
  }

  StringRef getName() const override { return schema.name; }
  StringRef getArgument() const override { return schema.argument; }
  StringRef getDescription() const override { return schema.description; }

  std::unique_ptr<Pass> clonePass() const override { return std::make_unique<BridgePass>(*this); }

  bool canScheduleOn(RegisteredOperationName operation) const override {
    return schema.anchor.empty() || operation.getStringRef() == schema.anchor;
  }

  /// Called at the start of every run, on the thread that starts it.
  void getDependentDialects(DialectRegistry &registry) const override {
    state->start();
    for (const std::string &name : schema.dialects) {
      DialectAllocatorFunctionRef allocator = dialects->getDialectAllocator(name);
      registry.insert(getDialectTypeID(name), name, DialectAllocatorFunction(allocator));
    }
  }

  LogicalResult initializeOptions(StringRef text,
                                  function_ref<LogicalResult(const Twine &)> report) override {
    instance.reset();
    if (failed(Pass::initializeOptions(
            text, [&](const Twine &message) { return report(message + takeOptionError()); })))
      return failure();
    if (!schema.checksOptions)
      return success();
    std::string error = makeInstance();
    return error.empty() ? success() : report(error);
  }

  void runOnOperation() override {
    Operation *op = getOperation();
    if (state->wouldDeadlock()) {
      op->emitError()
          << "pass '" << schema.argument
          << "' is written in Python and cannot run on another thread while the "
             "thread that started the run holds Python's lock: disable multithreading in "
             "the context";
      return signalPassFailure();
    }
    if (!instance) {
      std::string error = makeInstance();
      if (!error.empty()) {
        op->emitError() << error;
        return signalPassFailure();
      }
    }
    BridgePass *outer = std::exchange(running, this);
    bool succeeded = callbacks.run(instance->object, wrap(op));
    running = outer;
    if (!succeeded)
      signalPassFailure();
  }

  /// The pass that runs on this thread.
  static BridgePass *getRunning() { return running; }

  void count(intptr_t index, int64_t count) { *statistics[index] += count; }

private:
  static std::optional<StringRef> anchorOf(const Schema &schema) {
    return schema.anchor.empty() ? std::nullopt : std::optional<StringRef>(schema.anchor);
  }

  void makeStatistics() {
    for (const auto &[name, help] : schema.statistics)
      statistics.push_back(std::make_unique<Statistic>(this, name.c_str(), help.c_str()));
  }

  /// The empty string, or why the object of this pass cannot be made.
  std::string makeInstance() {
    std::string error;
    void *object = options.withValues([&](intptr_t count, const SpyreOptionValue *values) {
      return callbacks.create(schema.owner, count, values, appendText, &error);
    });
    if (object)
      instance = std::make_shared<Instance>(object);
    return error;
  }

  static thread_local BridgePass *running;
  const Schema &schema;
  Options options;
  std::vector<std::unique_ptr<Statistic>> statistics;
  std::shared_ptr<Instance> instance;
  std::shared_ptr<RunState> state;
};
thread_local BridgePass *BridgePass::running = nullptr;
} // namespace

bool spyre::bridge::isInsidePass() { return BridgePass::getRunning() != nullptr; }

void spyreRegisterPass(const SpyreSchema *description) {
  // One allocator for all: a TypeID is an address, and these live as long as the process.
  static auto *ids = new TypeIDAllocator();
  auto *schema = new Schema(*description);
  TypeID id = ids->allocate();
  registerPass([schema, id] { return std::make_unique<BridgePass>(*schema, id); });
}

void spyreCount(MlirStringRef argument, intptr_t statistic, int64_t count) {
  BridgePass *pass = BridgePass::getRunning();
  if (pass && pass->getArgument() == unwrap(argument))
    pass->count(statistic, count);
}

//===----------------------------------------------------------------------===//
// Pipelines
//===----------------------------------------------------------------------===//

namespace {
class PipelineOptions : public detail::PassOptions {
public:
  explicit PipelineOptions(const Schema &schema)
      : values(*static_cast<detail::PassOptions *>(this), schema.options) {}
  Options values;
};
} // namespace

static LogicalResult addPipeline(const Schema &schema, OpPassManager &passManager, StringRef text,
                                 function_ref<LogicalResult(const Twine &)> report) {
  PipelineOptions options(schema);
  std::string message;
  llvm::raw_string_ostream stream(message);
  if (failed(options.parseFromString(text, stream)))
    return report(message + takeOptionError());
  std::string expanded;
  bool succeeded = options.values.withValues([&](intptr_t count, const SpyreOptionValue *values) {
    return callbacks.expand(schema.owner, count, values, appendText, &expanded);
  });
  if (!succeeded)
    return report(expanded);
  if (failed(parsePassPipeline(expanded, passManager, stream)))
    return report("pipeline '" + schema.argument + "': " + message);
  return success();
}

void spyreRegisterPipeline(const SpyreSchema *description) {
  auto *schema = new Schema(*description);
  registerPassPipeline(
      schema->argument, schema->description,
      [schema](OpPassManager &passManager, StringRef text,
               function_ref<LogicalResult(const Twine &)> report) {
        return addPipeline(*schema, passManager, text, report);
      },
      [schema](function_ref<void(const detail::PassOptions &)> use) {
        use(PipelineOptions(*schema));
      });
}

bool spyreIsRegistered(MlirStringRef argument) {
  return PassInfo::lookup(unwrap(argument)) || PassPipelineInfo::lookup(unwrap(argument));
}
