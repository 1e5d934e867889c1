// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks of element types and shapes that the verifiers of several families share. Each emits one
// error, with the label of the constraint that it is asked for.

#ifndef SPYRE_SPYRE_SHAPECHECKS_H
#define SPYRE_SPYRE_SHAPECHECKS_H

#include "Spyre/Dialect.h"

namespace spyre {

bool isFloat8(mlir::Type type);
bool contains(ElementSet set, mlir::Type type);

/// The members of a set, as they stand in messages.
llvm::StringRef listOf(ElementSet set);

mlir::RankedTensorType operandType(mlir::Operation *op, unsigned index);
mlir::RankedTensorType resultType(mlir::Operation *op, unsigned index = 0);

mlir::LogicalResult verifyMember(mlir::Operation *op, mlir::Type element, ElementSet set,
                                 llvm::StringRef label, llvm::StringRef what = "element type");

/// `element` holds every position along `extent` cells.
mlir::LogicalResult verifyPositions(mlir::Operation *op, mlir::Type element, int64_t extent,
                                    llvm::StringRef label);

std::string spelled(llvm::ArrayRef<int64_t> shape);
mlir::LogicalResult verifyShape(mlir::Operation *op, mlir::RankedTensorType type,
                                llvm::ArrayRef<int64_t> expected, llvm::StringRef label,
                                llvm::StringRef what);
mlir::LogicalResult verifyDim(mlir::Operation *op, int64_t dim, int64_t rank,
                              llvm::StringRef label);

/// Merges `shape` into `joint`, right-aligned; false with `at` set to the dim of `joint` that
/// disagrees.
bool broadcastInto(llvm::SmallVectorImpl<int64_t> &joint, llvm::ArrayRef<int64_t> shape,
                   int64_t &at);

/// The joint shape of the tensors among `operands` (C1), at least one of them (C4).
mlir::FailureOr<llvm::SmallVector<int64_t>> jointShape(mlir::Operation *op,
                                                       mlir::ValueRange operands);

} // namespace spyre

#endif // SPYRE_SPYRE_SHAPECHECKS_H
