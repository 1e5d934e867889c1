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

class Spyre_TensorOf<list<Type> elements, string text>
    : ContainerType<AnyTypeOf<elements>, Spyre_Tensor.predicate,
        "::llvm::cast<::mlir::RankedTensorType>($_self).getElementType()", "tensor of " # text,
        "::mlir::RankedTensorType">;

def Spyre_Mask : Spyre_TensorOf<[I1], "i1">;
def Spyre_PackedMask : Spyre_TensorOf<[UI8], "ui8, eight predicates an element">;
def Spyre_Index : Spyre_TensorOf<[I32, I64], "i32 or i64">;

#endif // SPYRE_TYPES_TD
