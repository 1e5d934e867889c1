# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations on elements of several widths, whose sticks hold different numbers of them.

Only conversions read sticks of one width and write those of another, and they do so in whole sticks of the widest: two
sticks of f32 for one of f16. So comparisons of f32 write their truth values as f32, choices between tensors of f32 read
them so, and a conversion stands between; and what is converted lies in buffers whose sticks end together."""

from __future__ import annotations

from dataclasses import replace

from spyre_mlir import encodings, ir
from spyre_mlir.builders import build
from spyre_mlir.dialects import spyre
from spyre_mlir.formats import device_format
from spyre_mlir.padding import empty, rounded_up, trimmed
from spyre_mlir.sticks import with_stick
from spyre_mlir.tensors import TensorType

Value = ir.Value[ir.Type]

TRUTH = "i1"


def lanes_of(element: str) -> int:
    """Elements in a stick of their device format."""
    return device_format(element).elements_per_stick


def stored_as(tensor: TensorType, element: str) -> TensorType:
    """A type whose elements are stored in the device format of `element`, the last dim on the stick."""
    stick = tensor.rank - 1 if tensor.rank else None
    layout = with_stick(tensor.shape, element, stick)
    return replace(tensor, layout=replace(layout, format=device_format(element).name))


def _converted(value: Value, tensor: TensorType, source: str, target: str) -> Value:
    """A copy of a tensor of truth values in the format of another element type, of type `tensor`."""
    copy = spyre.IdentityOp(encodings.write(tensor), value)
    found = in_whole_sticks(copy.operation, source, target)
    if found is None:
        return copy.result
    copy.operation.erase()
    return found


def compared(op: ir.Operation, element: str) -> Value | None:
    """A comparison of elements of another width than that of truth values: made in theirs, then converted.

    None where the widths are equal."""
    if lanes_of(element) == lanes_of(TRUTH):
        return None
    result = encodings.read(op.results[0].type)
    made = _again(op, list(op.operands), stored_as(replace(result, layout=None), element))
    return _converted(made, result, element, TRUTH)


def chosen(op: ir.Operation, element: str) -> Value | None:
    """A choice among elements of another width than that of the mask, which is converted first."""
    mask = op.operands[0]
    tensor = encodings.read(mask.type)
    if tensor.element != TRUTH or lanes_of(element) == lanes_of(TRUTH):
        return None
    plain = TensorType(tensor.shape, tensor.element, valid_shape=tensor.valid_shape)
    wanted = stored_as(plain, element)
    made = _before_conversion(mask)
    if made is None or encodings.read(made.type) != wanted:
        made = _converted(mask, wanted, TRUTH, element)
    return _again(op, [made, *list(op.operands)[1:]], encodings.read(op.results[0].type))


def _before_conversion(mask: Value) -> Value | None:
    """What was converted into a mask right before."""
    owner = mask.owner if isinstance(mask, ir.OpResult) else None
    return owner.operands[0] if owner is not None and owner.name == "spyre.identity" else None


def in_whole_sticks(op: ir.Operation, source: str, target: str) -> Value | None:
    """The result of an elementwise operation from elements stored as `source` to others stored as `target`, in buffers
    whose last sticks end together.

    The operation is built again on them. None where the last sticks end together as it is."""
    result = encodings.read(op.results[0].type)
    lanes = (lanes_of(source), lanes_of(target))
    if not result.shape:
        return _replicated(op, source, target) if lanes[0] != lanes[1] else None
    extent = result.shape[-1]
    whole = rounded_up(extent, max(lanes))
    if all(rounded_up(extent, width) == whole for width in lanes):
        return None
    shape = (*result.shape[:-1], whole)
    kind = TensorType(shape, result.element, valid_shape=result.valid)
    if target != result.element:
        kind = stored_as(kind, target)
    made = _again(op, [_padded(value, extent, whole, source) for value in op.operands], kind)
    found = trimmed(made, result.shape)
    if result.layout is not None and target == result.element:
        found = spyre.IdentityOp(encodings.write(result), found).result
    return found


def _replicated(op: ir.Operation, source: str, target: str) -> Value:
    """A single cell, which is replicated over sticks first."""
    result = encodings.read(op.results[0].type)
    row = TensorType((max(lanes_of(source), lanes_of(target)),), result.element)
    row = row if target == result.element else stored_as(row, target)
    made = _again(op, [build("broadcast", op.operands[0], shape=row.shape)], row)
    return build("reshape", trimmed(made, (1,)), shape=())


def _padded(value: Value, extent: int, whole: int, stored: str) -> Value:
    """An operand with whole sticks along the last dim, unless it is replicated along it."""
    if not isinstance(value.type, ir.RankedTensorType):
        return value
    tensor = encodings.read(value.type)
    if not tensor.shape or tensor.shape[-1] != extent:
        return value
    kind = TensorType((*tensor.shape[:-1], whole), tensor.element, valid_shape=tensor.valid)
    room = empty(kind if stored == tensor.element else stored_as(kind, stored))
    return build("insert_slice", value, room, static_offsets=[0] * tensor.rank)


def _again(op: ir.Operation, operands: list[Value], result: TensorType) -> Value:
    """The same operation on other operands, with another type of result."""
    made = ir.Operation.create(
        op.name,
        results=[encodings.write(result)],
        operands=operands,
        attributes={name: op.attributes[name] for name in op.attributes},
    )
    return made.results[0]
