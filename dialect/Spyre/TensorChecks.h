// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What every operation of the dialect demands of its tensors: the encoding agrees with shape and
// element type. It is checked at operations and not by the attribute, because upstream operations
// clone an encoding onto other shapes and element types, where an attribute that minds the shape
// would make MLIR abort.

#ifndef SPYRE_SPYRE_TENSORCHECKS_H
#define SPYRE_SPYRE_TENSORCHECKS_H

namespace spyre {

/// True for a ranked tensor of static shape whose element type has a device format.
bool isSpyreTensor(mlir::Type type);

/// True for an element type that has a device format.
bool isSpyreElement(mlir::Type type);

/// The format in which the device stores elements of `type`, if it has one.
std::optional<DeviceFormat> deviceFormat(mlir::Type type);

/// 128 bytes divided by the bytes of one element.
int64_t elementsPerStick(DeviceFormat format);

/// Checks layout, window, valid region and pad of `type` against its shape; `what` names the value
/// ("operand #0").
mlir::LogicalResult verifyEncoding(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
                                   mlir::RankedTensorType type, const llvm::Twine &what);

/// verifyEncoding for every tensor operand and result of `op`.
mlir::LogicalResult verifyTensors(mlir::Operation *op);

/// The trait of all operations of the dialect: verifyTensors.
template <typename ConcreteType>
class SpyreTensors : public mlir::OpTrait::TraitBase<ConcreteType, SpyreTensors> {
public:
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) { return verifyTensors(op); }
};

} // namespace spyre

#endif // SPYRE_SPYRE_TENSORCHECKS_H
