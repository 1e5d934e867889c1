// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// C API of listings: the operations below one operation as numbers, so that Python reads a program
// without an object per operation, and writes to all of them at once.

#ifndef SPYRE_BRIDGE_LISTING_H
#define SPYRE_BRIDGE_LISTING_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The operations inside a root, numbered from 0, outer before inner, in order. Values are numbered
/// where they are defined: block arguments of the root, then per operation its results and, behind
/// them, the arguments of its blocks.
///
/// Operations of one *kind* agree in name, attributes, types, the loops around, which results are
/// used, and where operands come from: a block argument, an operation of one name, or, if that is
/// one of `through`, of one kind. Of a result whose one use is the first operand of an
/// operation of `into`, that one counts as well. Attributes that stand `apart` count by their
/// presence only. Values that are no tensors count by identity, unless they come from `through`.
///
/// A listing is valid until one of its operations is erased; what is inserted later is not in it.
typedef struct SpyreListing {
  void *ptr;
} SpyreListing;

typedef struct SpyreNames {
  intptr_t count;
  const MlirStringRef *names;
} SpyreNames;

typedef struct SpyreNumbers {
  intptr_t count;
  const int32_t *numbers;
} SpyreNumbers;

SpyreListing spyreListingCreate(MlirOperation root, SpyreNames through, SpyreNames into,
                                SpyreNames apart);
void spyreListingDestroy(SpyreListing listing);

MlirOperation spyreListingGetOperation(SpyreListing listing, intptr_t number);
MlirValue spyreListingGetValue(SpyreListing listing, intptr_t number);
intptr_t spyreListingGetNumValues(SpyreListing listing);

/// Per operation: its kind, and the number behind the last operation inside it.
SpyreNumbers spyreListingGetKinds(SpyreListing listing);
SpyreNumbers spyreListingGetEnds(SpyreListing listing);
/// Per kind: its first operation.
SpyreNumbers spyreListingGetExamples(SpyreListing listing);
/// Per operation: its first result, and the position of its first operand in the operands of all,
/// with one more at the end.
SpyreNumbers spyreListingGetResults(SpyreListing listing);
SpyreNumbers spyreListingGetOperandStarts(SpyreListing listing);
/// Values; -1 for one that is defined outside the root.
SpyreNumbers spyreListingGetOperands(SpyreListing listing);

/// The attribute `name` of an operation, null if it has none.
MlirAttribute spyreListingGetAttribute(SpyreListing listing, intptr_t number, MlirStringRef name);
/// Sets an attribute of operations: per operation its number in `table`, or -1 to leave it.
void spyreListingSetAttributes(SpyreListing listing, MlirStringRef name, const MlirAttribute *table,
                               SpyreNumbers choice);
/// Sets types: of each of these values that of its number in `table`.
void spyreListingSetTypes(SpyreListing listing, const MlirType *table, SpyreNumbers values,
                          SpyreNumbers choice);

/// Copies of `sdscbundle.sdsc` operations with other names and places, each with its launch.
typedef struct SpyreLaunches {
  intptr_t first;                 // number of the first SDSC: @sdsc_<first>
  SpyreNumbers sources;           // operations of the listing, whose locations are taken
  const MlirOperation *templates; // operations sdscbundle.sdsc
  SpyreNumbers chosen;            // per launch its template
  const MlirAttribute *places;    // attributes #spyre.place
  SpyreNumbers placed;            // per operand of each launch in turn its place
} SpyreLaunches;

/// Operands of all of these copies together; -1 if one is no copy of an SDSC.
intptr_t spyreListingCountOperands(const MlirOperation *templates, SpyreNumbers chosen);

/// The SDSCs are inserted before `before`, the launches at the end of `block`.
void spyreListingLaunch(SpyreListing listing, SpyreLaunches launches, MlirOperation before,
                        MlirBlock block);

#ifdef __cplusplus
}
#endif

#endif // SPYRE_BRIDGE_LISTING_H
