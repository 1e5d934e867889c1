// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers of shapes and element types, one per family. The labels C1, C2, ... in their messages
// are those of the operation's description and of the operation table.

#ifndef SPYRE_SPYRE_OPERATIONCHECKS_H
#define SPYRE_SPYRE_OPERATIONCHECKS_H

namespace spyre {

/// The sets of element types that operations take.
enum class ElementSet { Floats, Signed, Numbers, Integers, Bits, Comparable, Factors, All };

mlir::LogicalResult verifyElementwise(mlir::Operation *op, mlir::ValueRange operands,
                                      ElementSet elements, bool covers = true);
mlir::LogicalResult verifySameElement(mlir::Operation *op, mlir::ValueRange values,
                                      mlir::Type element, llvm::StringRef label);
mlir::LogicalResult verifyCompare(mlir::Operation *op);
mlir::LogicalResult verifyComparePacked(mlir::Operation *op);
mlir::LogicalResult verifySelect(mlir::Operation *op);
mlir::LogicalResult verifySelects(mlir::Operation *op);

mlir::LogicalResult verifyUnary(mlir::Operation *op, ElementSet elements);
mlir::LogicalResult verifySoftplus(mlir::Operation *op, double beta);
mlir::LogicalResult verifyClip(mlir::Operation *op, double min, double max);
mlir::LogicalResult verifyCast(mlir::Operation *op);

mlir::LogicalResult verifyReduce(mlir::Operation *op, mlir::ArrayAttr dims, bool keepDims,
                                 ElementSet elements);
mlir::LogicalResult verifyArgReduce(mlir::Operation *op, int64_t dim, bool keepDims);
mlir::LogicalResult verifyMoments(mlir::Operation *op);
mlir::LogicalResult verifyNormScale(mlir::Operation *op);
mlir::LogicalResult verifyNorm(mlir::Operation *op);
mlir::LogicalResult verifyContract(mlir::Operation *op, mlir::RankedTensorType lhs,
                                   mlir::RankedTensorType rhs);
mlir::LogicalResult verifyAccumulate(mlir::Operation *op, mlir::RankedTensorType accumulator,
                                     mlir::RankedTensorType lhs, mlir::RankedTensorType rhs);
mlir::LogicalResult verifyTopk(mlir::Operation *op, int64_t k, int64_t dim);

mlir::LogicalResult verifyReshape(mlir::Operation *op);
mlir::LogicalResult verifyTranspose(mlir::Operation *op, mlir::ArrayAttr permutation);
mlir::LogicalResult verifyConcat(mlir::Operation *op, int64_t dim);
mlir::LogicalResult verifyGather(mlir::Operation *op, int64_t dim);
mlir::LogicalResult verifyScatter(mlir::Operation *op, int64_t dim);
mlir::LogicalResult verifySort(mlir::Operation *op, int64_t dim);
mlir::LogicalResult verifyFillpad(mlir::Operation *op, llvm::StringRef pad);
mlir::LogicalResult verifyIota(mlir::Operation *op, int64_t dim);

} // namespace spyre

#endif // SPYRE_SPYRE_OPERATIONCHECKS_H
