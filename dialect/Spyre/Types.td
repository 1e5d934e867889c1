// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Type constraints. A tensor of the dialect is a builtin ranked tensor of static shape; the agreement of its
// encoding is checked by the trait SpyreTensors, which can say what disagrees.

#ifndef SPYRE_TYPES_TD
#define SPYRE_TYPES_TD

include "mlir/IR/CommonTypeConstraints.td"

def Spyre_Element : Type<CPred<"::spyre::isSpyreElement($_self)">,
    "element with a device format (f16, bf16, f32, f8E4M3FN, f8E5M2FNUZ, i1, i8, i16, i32, i64, ui8)">;

def Spyre_Tensor : Type<CPred<"::spyre::isSpyreTensor($_self)">,
    "ranked tensor of static shape whose elements have a device format "
    "(f16, bf16, f32, f8E4M3FN, f8E5M2FNUZ, i1, i8, i16, i32, i64, ui8)",
    "::mlir::RankedTensorType">;

def Spyre_TensorOrScalar : AnyTypeOf<[Spyre_Tensor, Spyre_Element], "tensor, or scalar of the element type">;

def Spyre_MaskTensor : Type<
    CPred<"::spyre::isSpyreTensor($_self) && (::llvm::cast<::mlir::RankedTensorType>($_self).getElementType().isInteger(1) "
          "|| ::llvm::cast<::mlir::RankedTensorType>($_self).getElementType().isUnsignedInteger(8))">,
    "mask: tensor of i1, or of ui8 with eight predicates an element", "::mlir::RankedTensorType">;

#endif // SPYRE_TYPES_TD
