// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// C API of the dialect: what the Python module may use. Names of enum cases cross as strings; a
// getter returns a null attribute after an error was emitted at `location`.

#ifndef SPYRE_CAPI_SPYRE_H
#define SPYRE_CAPI_SPYRE_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

void spyreRegisterDialects(MlirDialectRegistry registry);

/// Normal form of an extent, or the error, through `callback`; false on error.
bool spyreExtentNormalize(MlirStringRef text, MlirStringCallback callback, void *userData);

// #spyre.layout
bool spyreAttributeIsALayout(MlirAttribute attribute);
MlirTypeID spyreLayoutGetTypeID(void);
MlirAttribute spyreLayoutGet(MlirLocation location, intptr_t deviceRank, const int64_t *deviceSize,
                             intptr_t strideRank, const int64_t *strideMap, MlirStringRef format,
                             MlirStringRef arrangement);
intptr_t spyreLayoutGetRank(MlirAttribute attribute);
int64_t spyreLayoutGetDeviceSize(MlirAttribute attribute, intptr_t index);
int64_t spyreLayoutGetStride(MlirAttribute attribute, intptr_t index);
MlirStringRef spyreLayoutGetFormat(MlirAttribute attribute);      // empty: implied
MlirStringRef spyreLayoutGetArrangement(MlirAttribute attribute); // empty: implied

// #spyre.extent
bool spyreAttributeIsAExtent(MlirAttribute attribute);
MlirTypeID spyreExtentGetTypeID(void);
MlirAttribute spyreExtentGet(MlirLocation location, MlirStringRef text);
MlirStringRef spyreExtentGetText(MlirAttribute attribute);
bool spyreExtentGetLiteral(MlirAttribute attribute, int64_t *value);

// #spyre.encoding
bool spyreAttributeIsAEncoding(MlirAttribute attribute);
MlirTypeID spyreEncodingGetTypeID(void);
MlirAttribute spyreEncodingGet(MlirLocation location, MlirAttribute layoutOrNull, bool window,
                               intptr_t rank, const MlirAttribute *validShape, MlirStringRef pad);
MlirAttribute spyreEncodingGetLayout(MlirAttribute attribute); // null: none
bool spyreEncodingGetWindow(MlirAttribute attribute);
intptr_t spyreEncodingGetRank(MlirAttribute attribute); // 0: fully valid
MlirAttribute spyreEncodingGetExtent(MlirAttribute attribute, intptr_t index);
MlirStringRef spyreEncodingGetPad(MlirAttribute attribute);

// #spyre.tile_level and #spyre.tile_plan
bool spyreAttributeIsATileLevel(MlirAttribute attribute);
MlirTypeID spyreTileLevelGetTypeID(void);
MlirAttribute spyreTileLevelGet(MlirLocation location, MlirStringRef kind, int64_t dim,
                                MlirStringRef name, int64_t count, int64_t size, int64_t remainder);
MlirStringRef spyreTileLevelGetKind(MlirAttribute attribute);
int64_t spyreTileLevelGetDim(MlirAttribute attribute);
MlirStringRef spyreTileLevelGetName(MlirAttribute attribute);
int64_t spyreTileLevelGetCount(MlirAttribute attribute);
int64_t spyreTileLevelGetSize(MlirAttribute attribute);
int64_t spyreTileLevelGetRemainder(MlirAttribute attribute);

bool spyreAttributeIsATilePlan(MlirAttribute attribute);
MlirTypeID spyreTilePlanGetTypeID(void);
MlirAttribute spyreTilePlanGet(MlirLocation location, MlirStringRef origin, int64_t group,
                               intptr_t levelCount, const MlirAttribute *levels,
                               MlirStringRef reason);
MlirStringRef spyreTilePlanGetOrigin(MlirAttribute attribute);
int64_t spyreTilePlanGetGroup(MlirAttribute attribute);
intptr_t spyreTilePlanGetLevelCount(MlirAttribute attribute);
MlirAttribute spyreTilePlanGetLevel(MlirAttribute attribute, intptr_t index);
MlirStringRef spyreTilePlanGetReason(MlirAttribute attribute);

// #spyre.work_division
bool spyreAttributeIsAWorkDivision(MlirAttribute attribute);
MlirTypeID spyreWorkDivisionGetTypeID(void);
MlirAttribute spyreWorkDivisionGet(MlirLocation location, intptr_t count, const int64_t *splits);
intptr_t spyreWorkDivisionGetCount(MlirAttribute attribute);
int64_t spyreWorkDivisionGetSplit(MlirAttribute attribute, intptr_t index);

// #spyre.place
bool spyreAttributeIsAPlace(MlirAttribute attribute);
MlirTypeID spyrePlaceGetTypeID(void);
MlirAttribute spyrePlaceGet(MlirLocation location, MlirStringRef kind, int64_t index,
                            int64_t offset);
MlirStringRef spyrePlaceGetKind(MlirAttribute attribute);
int64_t spyrePlaceGetIndex(MlirAttribute attribute);
int64_t spyrePlaceGetOffset(MlirAttribute attribute);

#ifdef __cplusplus
}
#endif

#endif // SPYRE_CAPI_SPYRE_H
