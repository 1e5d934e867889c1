// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers operations and values, and finds out which operations are of one kind.

#include "Bridge/Listing.h"

#include "SdscBundle/Dialect.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace {
/// Numbers for different sequences of words.
class Interner {
public:
  int32_t number(ArrayRef<uint64_t> key) {
    auto [entry, isNew] = last.try_emplace(llvm::hash_combine_range(key.begin(), key.end()), -1);
    for (int32_t at = entry->second; at >= 0; at = previous[at])
      if (key == ArrayRef(words).slice(starts[at], starts[at + 1] - starts[at]))
        return at;
    int32_t made = previous.size();
    previous.push_back(entry->second);
    entry->second = made;
    words.insert(words.end(), key.begin(), key.end());
    starts.push_back(words.size());
    return made;
  }

  int32_t size() const { return previous.size(); }

private:
  DenseMap<size_t, int32_t> last; // hash -> the youngest number with it
  std::vector<int32_t> previous;  // the one before with the same hash
  std::vector<uint64_t> words;
  std::vector<size_t> starts = {0};
};

using Names = DenseSet<StringAttr>;

class Listing {
public:
  Listing(Operation *root, Names through, Names into, Names apart)
      : root(root), through(std::move(through)), into(std::move(into)), apart(std::move(apart)) {
    blocks(root);
    operandStarts.push_back(operands.size());
  }

  std::vector<Operation *> operations;
  std::vector<Value> values;
  std::vector<int32_t> kinds, ends, examples, results, operandStarts, operands;

private:
  using Key = SmallVector<uint64_t, 48>;

  static uint64_t word(const void *pointer) { return reinterpret_cast<uintptr_t>(pointer); }

  void blocks(Operation *op) {
    for (Region &region : op->getRegions())
      for (Block &block : region) {
        for (BlockArgument argument : block.getArguments())
          define(argument);
        for (Operation &inner : block)
          add(&inner);
      }
  }

  void define(Value value) {
    numbers[value] = values.size();
    values.push_back(value);
  }

  void add(Operation *op) {
    int32_t number = operations.size(), kind = kindOf(op);
    if (kind == int32_t(examples.size()))
      examples.push_back(number);
    operations.push_back(op);
    kinds.push_back(kind);
    operandStarts.push_back(operands.size());
    for (Value operand : op->getOperands()) {
      auto found = numbers.find(operand);
      operands.push_back(found == numbers.end() ? -1 : found->second);
    }
    results.push_back(values.size());
    for (Value result : op->getResults())
      define(result);
    ends.push_back(0);
    blocks(op);
    ends[number] = operations.size();
  }

  /// The kind of an operation. Numbers are given in program order, so the structure that `into`
  /// looks at ahead has numbers of its own.
  int32_t kindOf(Operation *op) {
    int32_t structure = structureOf(op);
    auto [entry, isNew] = kindOfStructure.try_emplace(structure, kindOfStructure.size());
    return entry->second;
  }

  bool isLookedThrough(Operation *op) const {
    return through.contains(op->getName().getIdentifier());
  }

  int32_t structureOf(Operation *op) {
    bool isKept = isLookedThrough(op) || op->getNumRegions();
    if (isKept)
      if (auto known = structures.find(op); known != structures.end())
        return known->second;
    Key key;
    key.push_back(saying(op));
    Operation *parent = op->getParentOp();
    key.push_back(parent == root ? 0 : uint64_t(structureOf(parent)) + 1);
    for (Value operand : op->getOperands())
      addOperand(key, operand);
    for (OpResult result : op->getResults()) {
      key.push_back(word(result.getType().getAsOpaquePointer()));
      key.push_back(result.use_empty() ? 0 : 1);
    }
    // Several results of a loop may be written into one another, which would lead back here.
    if (op->getNumResults() == 1 || !isLookedThrough(op))
      for (OpResult result : op->getResults())
        addUse(key, result);
    int32_t structure = ofStructures.number(key);
    if (isKept)
      structures[op] = structure;
    return structure;
  }

  /// A number for name and attributes.
  uint64_t saying(Operation *op) {
    Key key;
    key.push_back(word(op->getName().getAsOpaquePointer()));
    for (NamedAttribute attribute : op->getDiscardableAttrs()) {
      key.push_back(word(attribute.getName().getAsOpaquePointer()));
      bool isApart = apart.contains(attribute.getName());
      key.push_back(isApart ? 0 : word(attribute.getValue().getAsOpaquePointer()));
    }
    if (op->getPropertiesStorageSize())
      key.push_back(properties(op));
    return ofSayings.number(key);
  }

  /// A number for the properties of an operation.
  uint64_t properties(Operation *op) {
    std::vector<Operation *> &same = withProperties[size_t(op->hashProperties())];
    OperationName name = op->getName();
    for (Operation *other : same)
      if (other->getName() == name &&
          name.compareOpProperties(other->getPropertiesStorage(), op->getPropertiesStorage()))
        return word(other);
    same.push_back(op);
    return word(op);
  }

  void addOperand(Key &key, Value value) {
    enum Origin : uint64_t { Root, Loop, Seen, Computed, Other };
    key.push_back(word(value.getType().getAsOpaquePointer()));
    auto add = [&](Origin origin, uint64_t number, uint64_t position) {
      key.append({uint64_t(origin) << 32 | position, number});
    };
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      Operation *owner = argument.getOwner()->getParentOp();
      if (owner != root && !owner->hasTrait<OpTrait::IsIsolatedFromAbove>())
        return add(Loop, structureOf(owner), argument.getArgNumber());
      if (isa<ShapedType>(value.getType()))
        return add(Root, 0, 0);
    } else if (Operation *owner = value.getDefiningOp(); isLookedThrough(owner)) {
      return add(Seen, structureOf(owner), cast<OpResult>(value).getResultNumber());
    } else if (isa<ShapedType>(value.getType())) {
      return add(Computed, word(owner->getName().getAsOpaquePointer()), 0);
    }
    add(Other, word(value.getAsOpaquePointer()), 0);
  }

  /// If the one use of a result is the first operand of an operation of `into`: what that one is,
  /// and its other operands. Those never lead back to the result.
  void addUse(Key &key, OpResult result) {
    Operation *user = result.hasOneUse() ? *result.user_begin() : nullptr;
    bool isWritten = user && into.contains(user->getName().getIdentifier()) &&
                     result.use_begin()->getOperandNumber() == 0;
    key.push_back(isWritten ? saying(user) + 1 : 0);
    if (!isWritten)
      return;
    for (Value other : llvm::drop_begin(user->getOperands()))
      addOperand(key, other);
  }

  Operation *root;
  Names through, into, apart;
  DenseMap<Value, int32_t> numbers;
  Interner ofStructures, ofSayings;
  DenseMap<Operation *, int32_t> structures; // of operations that are looked through, and loops
  DenseMap<int32_t, int32_t> kindOfStructure;
  DenseMap<size_t, std::vector<Operation *>> withProperties; // by hash, one of each
};
} // namespace

static Listing &unwrap(SpyreListing listing) { return *static_cast<Listing *>(listing.ptr); }

static SpyreNumbers wrap(const std::vector<int32_t> &numbers) {
  return {intptr_t(numbers.size()), numbers.data()};
}

static Names unwrap(SpyreNames names, MLIRContext *context) {
  Names result;
  for (const MlirStringRef &name : ArrayRef(names.names, names.count))
    result.insert(StringAttr::get(context, unwrap(name)));
  return result;
}

SpyreListing spyreListingCreate(MlirOperation root, SpyreNames through, SpyreNames into,
                                SpyreNames apart) {
  Operation *op = unwrap(root);
  MLIRContext *context = op->getContext();
  return {new Listing(op, unwrap(through, context), unwrap(into, context), unwrap(apart, context))};
}

void spyreListingDestroy(SpyreListing listing) { delete &unwrap(listing); }

MlirOperation spyreListingGetOperation(SpyreListing listing, intptr_t number) {
  return wrap(unwrap(listing).operations[number]);
}

MlirValue spyreListingGetValue(SpyreListing listing, intptr_t number) {
  return wrap(unwrap(listing).values[number]);
}

intptr_t spyreListingGetNumValues(SpyreListing listing) { return unwrap(listing).values.size(); }

SpyreNumbers spyreListingGetKinds(SpyreListing listing) { return wrap(unwrap(listing).kinds); }
SpyreNumbers spyreListingGetEnds(SpyreListing listing) { return wrap(unwrap(listing).ends); }
SpyreNumbers spyreListingGetExamples(SpyreListing listing) {
  return wrap(unwrap(listing).examples);
}
SpyreNumbers spyreListingGetResults(SpyreListing listing) { return wrap(unwrap(listing).results); }
SpyreNumbers spyreListingGetOperandStarts(SpyreListing listing) {
  return wrap(unwrap(listing).operandStarts);
}
SpyreNumbers spyreListingGetOperands(SpyreListing listing) {
  return wrap(unwrap(listing).operands);
}

MlirAttribute spyreListingGetAttribute(SpyreListing listing, intptr_t number, MlirStringRef name) {
  return wrap(unwrap(listing).operations[number]->getAttr(unwrap(name)));
}

void spyreListingSetAttributes(SpyreListing listing, MlirStringRef name, const MlirAttribute *table,
                               SpyreNumbers choice) {
  Listing &listed = unwrap(listing);
  StringAttr attribute;
  for (intptr_t i = 0; i < choice.count; ++i)
    if (choice.numbers[i] >= 0) {
      Operation *op = listed.operations[i];
      if (!attribute)
        attribute = StringAttr::get(op->getContext(), unwrap(name));
      op->setAttr(attribute, unwrap(table[choice.numbers[i]]));
    }
}

void spyreListingSetTypes(SpyreListing listing, const MlirType *table, SpyreNumbers values,
                          SpyreNumbers choice) {
  Listing &listed = unwrap(listing);
  for (intptr_t i = 0; i < values.count; ++i)
    listed.values[values.numbers[i]].setType(unwrap(table[choice.numbers[i]]));
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

namespace {
/// Copies an SDSC under another name and with other places. Operands that repeat are made once.
class SdscCopier {
public:
  explicit SdscCopier(MLIRContext *context) : place(StringAttr::get(context, "place")) {}

  sdscbundle::SdscOp copy(sdscbundle::SdscOp form, StringAttr name, ArrayRef<Attribute> places) {
    SmallVector<Attribute, 4> operands;
    for (auto [operand, at] : llvm::zip_equal(form.getOperandsAttr(), places))
      operands.push_back(placed(operand, at));
    auto made = cast<sdscbundle::SdscOp>(form->clone());
    made.setSymNameAttr(name);
    made.setOperandsAttr(ArrayAttr::get(name.getContext(), operands));
    return made;
  }

private:
  Attribute placed(Attribute operand, Attribute at) {
    Attribute &known = made[{operand, at}];
    if (!known) {
      NamedAttrList entries(cast<DictionaryAttr>(operand));
      entries.set(place, at);
      known = entries.getDictionary(operand.getContext());
    }
    return known;
  }

  StringAttr place;
  DenseMap<std::pair<Attribute, Attribute>, Attribute> made;
};
} // namespace

intptr_t spyreListingCountOperands(const MlirOperation *templates, SpyreNumbers chosen) {
  intptr_t count = 0;
  for (intptr_t i = 0; i < chosen.count; ++i) {
    auto form = dyn_cast<sdscbundle::SdscOp>(unwrap(templates[chosen.numbers[i]]));
    if (!form)
      return -1;
    count += form.getOperandsAttr().size();
  }
  return count;
}

void spyreListingLaunch(SpyreListing listing, SpyreLaunches launches, MlirOperation before,
                        MlirBlock block) {
  Operation *behind = unwrap(before);
  MLIRContext *context = behind->getContext();
  OpBuilder builder = OpBuilder::atBlockEnd(unwrap(block));
  SdscCopier copier(context);
  const int32_t *placed = launches.placed.numbers;
  for (intptr_t i = 0; i < launches.chosen.count; ++i) {
    auto form = cast<sdscbundle::SdscOp>(unwrap(launches.templates[launches.chosen.numbers[i]]));
    SmallVector<Attribute, 4> places;
    for (size_t j = 0, e = form.getOperandsAttr().size(); j < e; ++j)
      places.push_back(unwrap(launches.places[*placed++]));
    auto name = StringAttr::get(context, "sdsc_" + Twine(launches.first + i));
    Location location = unwrap(listing).operations[launches.sources.numbers[i]]->getLoc();
    sdscbundle::SdscOp made = copier.copy(form, name, places);
    made->setLoc(location);
    behind->getBlock()->getOperations().insert(behind->getIterator(), made);
    sdscbundle::LaunchOp::create(builder, location, FlatSymbolRefAttr::get(name));
  }
}
