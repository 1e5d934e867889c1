# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""spyre-assign-layouts: a device layout for every tensor."""

from __future__ import annotations

from dataclasses import dataclass, replace

from spyre_mlir import encodings, ir
from spyre_mlir.layouts import Layout, device_layout
from spyre_mlir.operations import meaning
from spyre_mlir.passmanager import Pass, statistic
from spyre_mlir.properties import LAYOUTS
from spyre_mlir.tensors import TensorType


@dataclass(frozen=True)
class AssignLayouts(
    Pass,
    name="spyre-assign-layouts",
    anchor="func.func",
    dependent_dialects=("spyre",),
    provides=(LAYOUTS,),
):
    """Give every tensor a device layout.

    An elementwise result lies as the first operand of its shape does; every other tensor takes the default layout.
    Layouts that are written stay."""

    assigned = statistic("layouts assigned")

    def run(self, op: ir.Operation) -> None:
        if not op.regions[0].blocks:
            return
        count = _block(op.regions[0].blocks[0])
        _adjust_signature(op)
        self.assigned.add(count)


def _block(block: ir.Block) -> int:
    """Layouts for the arguments of a block and everything in it; how many were assigned."""
    count = sum(_assign(argument, None) for argument in block.arguments)
    for op in block.operations:
        count += _operation(op.operation)
    return count


def _operation(op: ir.Operation) -> int:
    if op.name == "scf.for":
        body = op.regions[0].blocks[0]
        for inside, initial in zip(list(body.arguments)[1:], list(op.operands)[3:], strict=True):
            inside.set_type(initial.type)
        count = _block(body)
        for result, initial in zip(op.results, list(op.operands)[3:], strict=True):
            result.set_type(initial.type)
        return count
    count = sum(_block(block) for region in op.regions for block in region.blocks)
    model = _model(op)
    return count + sum(_assign(result, model) for result in op.results)


def _model(op: ir.Operation) -> TensorType | None:
    """The operand whose layout an elementwise result takes, or the buffer that a write goes to."""
    row = meaning(op)
    if row is None or not op.results:
        return None
    shape = op.results[0].type.shape
    for operand, value in zip(row.operands, op.operands, strict=False):
        if not isinstance(value.type, ir.RankedTensorType) or value.type.shape != shape:
            continue
        if operand.role == "target" or row.name == "set_valid_shape":
            return encodings.read(value.type)
        if row.tiling == "pointwise" and operand.role == "value":
            return encodings.read(value.type)
    return None


def _assign(value: ir.Value, model: TensorType | None) -> bool:
    if not isinstance(value.type, ir.RankedTensorType):
        return False
    tensor = encodings.read(value.type)
    if tensor.layout is not None:
        return False
    value.set_type(encodings.write(replace(tensor, layout=_layout(tensor, model))))
    return True


def _layout(tensor: TensorType, model: TensorType | None) -> Layout:
    layout = device_layout(tensor.shape, tensor.element)
    if model is not None and model.layout is not None:
        own = model.layout.elements_per_stick == layout.elements_per_stick
        if own and not model.window and not model.layout.sparse:
            return model.layout
    return layout


def _adjust_signature(function: ir.Operation) -> None:
    block = function.regions[0].blocks[0]
    ends = [list(op.operands) for op in block.operations if op.operation.name == "func.return"]
    results = [value.type for value in ends[-1]] if ends else []
    signature = ir.FunctionType.get([argument.type for argument in block.arguments], results)
    function.attributes["function_type"] = ir.TypeAttr.get(signature)
