# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scalar operands become arguments: a bundle has no data section, so a scalar is a stick of its own."""

from __future__ import annotations

from collections.abc import Iterator

from spyre_mlir import encodings, ir
from spyre_mlir.dialects import spyre
from spyre_mlir.layouts import device_layout
from spyre_mlir.operations import PREFIX, meaning, walk
from spyre_mlir.optable import OPS
from spyre_mlir.optable.model import Operand
from spyre_mlir.tensors import TensorType

CONSTANT = "spyre.constant"
"""Attribute of an argument that the compiler added: the value that the caller must put there."""

SCALAR = "spyre.scalar"
"""Attribute of an argument that the compiler added for a scalar one: the number of that among all arguments."""


def pass_scalars(function: ir.Operation) -> int:
    """Replaces scalar operands by arguments of rank 0, appended behind the function's own; how many were added.

    Equal constants share one argument. An argument for a constant carries its value as `spyre.constant`, one for a
    scalar argument its number as `spyre.scalar`."""
    block = function.regions[0].blocks[0]
    added: dict[object, ir.Value] = {}
    attributes: list[ir.DictAttr] = []
    for op in walk(function, lambda op: bool(list(_scalars(op)))):
        for number, operand, value in _scalars(op):
            constant = _constant(value)
            key = value if constant is None else constant
            if key not in added:
                tensor = TensorType((), str(value.type), device_layout((), str(value.type)))
                added[key] = block.add_argument(encodings.write(tensor), op.location)
                attributes.append(ir.DictAttr.get(_meaning(value, constant)))
            if operand.kind == "either":
                op.operands[number] = added[key]
            elif OPS[op.name[len(PREFIX) :]].rule == "generate":
                _replicate(op, added[key])
    if added:
        _sign(function, [value.type for value in added.values()], attributes)
    return len(added)


def _scalars(op: ir.Operation) -> Iterator[tuple[int, Operand, ir.Value]]:
    """The scalar operands of an operation, with their number and what the table says of them."""
    row = meaning(op)
    for number, (operand, value) in enumerate(
        zip(row.operands if row else (), op.operands, strict=False)
    ):
        if operand.kind in ("either", "scalar") and not isinstance(value.type, ir.RankedTensorType):
            yield number, operand, value


def _replicate(op: ir.Operation, scalar: ir.Value) -> None:
    """A tensor full of one value is a copy of the argument, replicated."""
    shape = op.results[0].type
    tensor = encodings.read(shape)
    plain = TensorType(tensor.shape, tensor.element, device_layout(tensor.shape, tensor.element))
    with ir.InsertionPoint(op), op.location:
        seen = spyre.BroadcastOp(encodings.write(plain), scalar).result
        copy = spyre.IdentityOp(shape, seen).result
    op.results[0].replace_all_uses_with(copy)
    op.erase()


def _meaning(value: ir.Value, constant: ir.Attribute | None) -> dict[str, ir.Attribute]:
    """What the caller must put into the argument for a scalar."""
    if constant is not None:
        return {CONSTANT: constant}
    if isinstance(value, ir.BlockArgument):
        number = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value.arg_number)
        return {SCALAR: number}
    return {}


def _constant(value: ir.Value) -> ir.Attribute | None:
    if isinstance(value, ir.OpResult) and value.owner.name == "arith.constant":
        attribute: ir.Attribute = value.owner.attributes["value"]
        return attribute
    return None


def _sign(function: ir.Operation, types: list[ir.Type], attributes: list[ir.DictAttr]) -> None:
    """The signature with the arguments added."""
    signature = function.attributes["function_type"].value
    own = [ir.DictAttr.get({})] * len(signature.inputs)
    if "arg_attrs" in function.attributes:
        own = list(function.attributes["arg_attrs"])
    function.attributes["function_type"] = ir.TypeAttr.get(
        ir.FunctionType.get([*signature.inputs, *types], signature.results)
    )
    function.attributes["arg_attrs"] = ir.ArrayAttr.get([*own, *attributes])


def constants_of(function: ir.Operation) -> dict[int, ir.Attribute]:
    """Number of a tensor argument -> the constant that it stands for."""
    if "arg_attrs" not in function.attributes:
        return {}
    found, number = {}, 0
    types = function.attributes["function_type"].value.inputs
    for type, attributes in zip(types, function.attributes["arg_attrs"], strict=True):
        if isinstance(type, ir.RankedTensorType) or str(type).startswith("!sdscbundle"):
            if CONSTANT in attributes:
                found[number] = attributes[CONSTANT]
            number += 1
    return found
