# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""spyre-assign-layouts: a device layout for every tensor."""

from __future__ import annotations

from dataclasses import dataclass, replace

from spyre_mlir import encodings, ir
from spyre_mlir.layouts import Layout, contiguous_strides, device_layout, stick_dim
from spyre_mlir.operations import domain_of, meaning
from spyre_mlir.optable import Op, Operand
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

    An elementwise result lies as the first operand of its shape does, a reduction over the stick leaves one value a
    stick, every other tensor takes the default layout. Layouts that are written stay."""

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


def _model(op: ir.Operation) -> Layout | None:
    """The layout that a result takes from an operand, or None for the default one."""
    row = meaning(op)
    if row is None or not op.results:
        return None
    result = encodings.read(op.results[0].type)
    owners = [
        encodings.read(value.type)
        for operand, value in zip(row.operands, op.operands, strict=False)
        if isinstance(value.type, ir.RankedTensorType) and _gives(row, operand)
    ]
    if row.family == "reduce" and any(_reduces_stick(op, owner) for owner in owners):
        # One value a stick is what the device leaves of a reduced stick dim.
        order = (*range(len(result.shape)), -1) if result.shape else ()
        return device_layout(result.shape, result.element, order=order)
    if row.tiling != "pointwise" and not row.rule == "narrow" and row.name != "insert_slice":
        return None
    own = [t for t in owners if t.shape == result.shape and t.layout is not None and not t.window]
    own.sort(key=lambda tensor: tensor.layout.sparse)  # a dense operand before a sparse one
    lanes = device_layout((), result.element).elements_per_stick
    return next((t.layout for t in own if t.layout.elements_per_stick == lanes), None)


def _gives(row: Op, operand: Operand) -> bool:
    """Whether a result may take its layout from this operand."""
    return operand.role in ("value", "target")


def _reduces_stick(op: ir.Operation, tensor: TensorType) -> bool:
    """Whether a reduction runs over the dim on the stick of its operand."""
    assert tensor.layout is not None
    stick = stick_dim(tensor.layout, contiguous_strides(tensor.shape))
    return stick is not None and domain_of(op).reduction[_iteration_dim(op, stick)]


def _iteration_dim(op: ir.Operation, host_dim: int) -> int:
    index = domain_of(op).operands[0]
    assert index is not None
    return index[host_dim].terms[0][0]


def _assign(value: ir.Value, model: Layout | None) -> bool:
    if not isinstance(value.type, ir.RankedTensorType):
        return False
    tensor = encodings.read(value.type)
    if tensor.layout is not None:
        return False
    layout = model or device_layout(tensor.shape, tensor.element)
    value.set_type(encodings.write(replace(tensor, layout=layout)))
    return True


def _adjust_signature(function: ir.Operation) -> None:
    block = function.regions[0].blocks[0]
    ends = [list(op.operands) for op in block.operations if op.operation.name == "func.return"]
    results = [value.type for value in ends[-1]] if ends else []
    signature = ir.FunctionType.get([argument.type for argument in block.arguments], results)
    function.attributes["function_type"] = ir.TypeAttr.get(signature)
