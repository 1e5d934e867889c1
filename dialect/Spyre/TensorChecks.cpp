// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Spyre/Dialect.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace spyre;

std::optional<DeviceFormat> spyre::deviceFormat(Type type) {
  if (type.isF16() || type.isBF16() || type.isSignlessInteger(1))
    return DeviceFormat::SEN169_FP16; // a boolean is stored in two bytes
  if (type.isF32())
    return DeviceFormat::IEEE_FP32;
  if (isa<Float8E4M3FNType>(type))
    return DeviceFormat::SEN143_FP8;
  if (isa<Float8E5M2FNUZType>(type))
    return DeviceFormat::SEN152_FP8;
  if (type.isSignlessInteger(8))
    return DeviceFormat::SENINT8;
  if (type.isSignlessInteger(16))
    return DeviceFormat::SENINT16;
  if (type.isSignlessInteger(32) || type.isSignlessInteger(64))
    return DeviceFormat::IEEE_INT32; // 64-bit integers are narrowed on the device
  if (type.isUnsignedInteger(8))
    return DeviceFormat::SENUINT32;
  return std::nullopt;
}

int64_t spyre::elementsPerStick(DeviceFormat format) {
  switch (format) {
  case DeviceFormat::SEN143_FP8:
  case DeviceFormat::SEN152_FP8:
  case DeviceFormat::SENINT8:
    return 128;
  case DeviceFormat::SEN169_FP16:
  case DeviceFormat::SENINT16:
    return 64;
  case DeviceFormat::IEEE_FP32:
  case DeviceFormat::IEEE_INT32:
  case DeviceFormat::SENUINT32:
    return 32;
  }
  llvm_unreachable("a format without a size");
}

bool spyre::isSpyreElement(Type type) { return deviceFormat(type).has_value(); }

bool spyre::isSpyreTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && isSpyreElement(tensor.getElementType());
}

using Emit = function_ref<InFlightDiagnostic()>;

/// Elements that the shape covers once the stick dim is rounded up to whole sticks; a layout that
/// ends in -1 keeps one element a stick. Zero if the stride of the stick is not that of a dim of
/// the shape.
static int64_t coveredElements(ArrayRef<int64_t> shape, int64_t stickStride, int64_t stick) {
  int64_t covered = 1, stride = 1;
  bool found = stickStride == -1;
  for (int64_t size : llvm::reverse(shape)) {
    bool isStick = !found && size != 1 && stride == stickStride;
    covered *= isStick ? llvm::alignTo(size, stick) : size;
    found |= isStick;
    stride *= size;
  }
  return found ? covered : 0;
}

static LogicalResult verifyLayout(Emit emitError, RankedTensorType type, LayoutAttr layout,
                                  bool window, const Twine &what) {
  DeviceFormat format = layout.getFormat().value_or(*deviceFormat(type.getElementType()));
  int64_t stick = layout.getDeviceSize().back();
  if (stick != elementsPerStick(format))
    return emitError() << "SPY007: " << what << ": the last device dim is the stick, 128 bytes: "
                       << elementsPerStick(format) << " elements of " << type.getElementType()
                       << " in " << stringifyDeviceFormat(format) << ", but the layout says "
                       << stick;
  bool sparse = layout.getStrideMap().back() == -1;
  int64_t held = sparse ? 1 : stick;
  for (int64_t size : layout.getDeviceSize().drop_back())
    held *= size;
  if (window) {
    if (held < type.getNumElements())
      return emitError() << "SPY007: " << what << ": a window of " << type.getNumElements()
                         << " elements in a layout that holds " << held;
    return success();
  }
  int64_t covered = coveredElements(type.getShape(), layout.getStrideMap().back(), stick);
  if (covered == 0)
    return emitError() << "SPY007: " << what << ": the stick moves " << layout.getStrideMap().back()
                       << " host elements, the stride of no dim of the shape; a piece of a larger "
                          "buffer is marked 'window'";
  if (held != covered)
    return emitError() << "SPY007: " << what << ": the layout holds " << held
                       << " elements, the shape, its stick dim in whole sticks, has " << covered
                       << "; a piece of a larger buffer is marked 'window'";
  return success();
}

static LogicalResult verifyValidShape(Emit emitError, RankedTensorType type,
                                      ArrayRef<ExtentAttr> valid, const Twine &what) {
  if (valid.empty())
    return success();
  if (static_cast<int64_t>(valid.size()) != type.getRank())
    return emitError() << "SPY008: " << what << ": valid_shape has " << valid.size()
                       << " extents, the tensor has rank " << type.getRank();
  bool full = true;
  for (auto [i, extent] : llvm::enumerate(valid)) {
    std::optional<int64_t> literal = extent.getLiteral();
    int64_t size = type.getDimSize(i);
    if (literal && *literal > size)
      return emitError() << "SPY008: " << what << ": valid_shape[" << i << "] is " << *literal
                         << ", more than the " << size << " elements of the dim";
    full &= literal && *literal == size;
  }
  if (full)
    return emitError()
           << "SPY008: " << what
           << ": valid_shape covers the whole shape; a fully valid tensor leaves it out";
  return success();
}

LogicalResult spyre::verifyEncoding(Emit emitError, RankedTensorType type, const Twine &what) {
  if (!type.getEncoding())
    return success();
  auto encoding = dyn_cast<EncodingAttr>(type.getEncoding());
  if (!encoding)
    return emitError() << "SPY007: " << what << ": the encoding of the tensor is no "
                       << "#spyre.encoding but " << type.getEncoding();
  if (LayoutAttr layout = encoding.getLayout())
    if (failed(verifyLayout(emitError, type, layout, encoding.getWindow(), what)))
      return failure();
  return verifyValidShape(emitError, type, encoding.getValidShape(), what);
}

LogicalResult spyre::verifyTensors(Operation *op) {
  auto check = [&](TypeRange types, StringRef kind) -> LogicalResult {
    for (auto [i, type] : llvm::enumerate(types))
      if (isSpyreTensor(type))
        if (failed(verifyEncoding([&]() { return op->emitOpError(); }, cast<RankedTensorType>(type),
                                  kind + Twine(" #") + Twine(i))))
          return failure();
    return success();
  };
  if (failed(check(op->getOperandTypes(), "operand")))
    return failure();
  return check(op->getResultTypes(), "result");
}
