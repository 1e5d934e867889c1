# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The SDSC model between plain values and the IR: `sdscbundle.sdsc` operations and the bundle function."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from spyre_mlir import ir
from spyre_mlir.dialects import sdscbundle
from spyre_mlir.sdsc.model import (
    POOL,
    Axis,
    Bundle,
    Constant,
    Cut,
    Dim,
    Hbm,
    Loop,
    Lx,
    Mask,
    Operand,
    Parameter,
    PoolBuffer,
    Sdsc,
    Symbolic,
)

FUNCTION = "sdsc_bundle"
"""Name of the function that runs a bundle; the backend looks for it."""


def _i64(value: int) -> ir.Attribute:
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)


def _texts(values: tuple[str, ...]) -> ir.ArrayAttr:
    return ir.ArrayAttr.get([ir.StringAttr.get(value) for value in values])


def _operand(operand: Operand) -> ir.DictAttr:
    if isinstance(operand.place, Lx):
        raise TypeError("the scratchpad has no place in the IR")
    buffer = operand.place.buffer
    kind, number = ("pool", 0) if buffer == POOL else ("argument", buffer)
    return ir.DictAttr.get(
        {
            "axes": _texts(tuple(axis.dim for axis in operand.axes)),
            "standing": _texts(tuple(axis.dim for axis in operand.axes if not axis.iterates)),
            "gaps": ir.DenseI64ArrayAttr.get([axis.gap for axis in operand.axes]),
            "stick": ir.StringAttr.get(operand.stick),
            "format": ir.StringAttr.get(operand.format),
            "place": ir.PlaceAttr.get(kind, number, operand.place.offset),
            "advances": ir.DenseI64ArrayAttr.get(list(operand.place.advances)),
        }
    )


def write_sdsc(sdsc: Sdsc, name: str) -> ir.Operation:
    """The operation `sdscbundle.sdsc @name` at the current insertion point."""
    cut = [part for label, count in sdsc.cut for part in (ir.StringAttr.get(label), _i64(count))]
    constants = [
        ir.ArrayAttr.get([ir.StringAttr.get(c.name), ir.StringAttr.get(c.format), _i64(c.bits)])
        for c in sdsc.constants
    ]
    masks = [
        ir.ArrayAttr.get(
            [
                ir.StringAttr.get(m.dim),
                _i64(m.valid),
                _i64(m.pad),
                *([] if m.tag is None else [ir.StringAttr.get(m.tag)]),
            ]
        )
        for m in sdsc.mask
    ]
    symbolic = [
        ir.ArrayAttr.get(
            [
                ir.StringAttr.get(d.label),
                _i64(d.symbolic.granularity),
                ir.StringAttr.get(d.symbolic.tag),
            ]
        )
        for d in sdsc.dims
        if d.symbolic is not None
    ]
    op = sdscbundle.SdscOp(
        name,
        sdsc.function,
        sdsc.unit,
        _texts(tuple(dim.label for dim in sdsc.dims)),
        ir.DenseI64ArrayAttr.get([dim.extent for dim in sdsc.dims]),
        ir.ArrayAttr.get(cut),
        ir.ArrayAttr.get([_operand(operand) for operand in sdsc.operands]),
    )
    if sdsc.reads_output:
        op.attributes["reads_output"] = ir.BoolAttr.get(True)
    if constants:
        op.attributes["constants"] = ir.ArrayAttr.get(constants)
    if masks:
        op.attributes["mask"] = ir.ArrayAttr.get(masks)
    if symbolic:
        op.attributes["symbolic"] = ir.ArrayAttr.get(symbolic)
    return op.operation


def _read_operand(attribute: ir.DictAttr) -> Operand:
    standing = {label.value for label in attribute["standing"]}
    axes = tuple(
        Axis(label.value, label.value not in standing, gap)
        for label, gap in zip(attribute["axes"], attribute["gaps"], strict=True)
    )
    place = attribute["place"]
    buffer = POOL if place.kind == "pool" else place.index
    hbm = Hbm(buffer, place.offset, tuple(attribute["advances"]))
    return Operand(axes, attribute["stick"].value, attribute["format"].value, hbm)


def _optional(op: ir.Operation, name: str) -> Iterable[Any]:
    """The entries of a list that may be absent."""
    return list(op.attributes[name]) if name in op.attributes else ()


def read_sdsc(op: ir.Operation) -> Sdsc:
    """An `sdscbundle.sdsc` operation as a value."""
    given = op.attributes
    parts = list(given["cut"])
    cut: Cut = tuple(
        (label.value, count.value) for label, count in zip(parts[::2], parts[1::2], strict=True)
    )
    symbolic = {
        label.value: Symbolic(tag.value, granularity.value)
        for label, granularity, tag in _optional(op, "symbolic")
    }
    return Sdsc(
        given["function"].value,
        given["unit"].value,
        tuple(
            Dim(label.value, extent, symbolic.get(label.value))
            for label, extent in zip(given["labels"], given["extents"], strict=True)
        ),
        tuple(_read_operand(operand) for operand in given["operands"]),
        cut,
        "reads_output" in given and given["reads_output"].value,
        tuple(
            Constant(name.value, format.value, bits.value)
            for name, format, bits in _optional(op, "constants")
        ),
        tuple(
            Mask(dim.value, valid.value, pad.value, *(tag.value for tag in rest))
            for dim, valid, pad, *rest in _optional(op, "mask")
        ),
    )


def parameter_types(count: int, extents: Iterable[Parameter]) -> list[ir.Type]:
    """Types of the parameters of a bundle: `count` addresses, then `extents`."""
    address = ir.Type.parse("!sdscbundle.input_arg<index>")
    return [address] * count + [ir.Type.parse(extent.type) for extent in extents]


def write_bundle(bundle: Bundle) -> ir.Module:
    """The lowered module of a bundle, in the current context: inverse of `read_bundle`.

    ValueError for what the IR has no place for: the scratchpad, and a pool that the caller passes."""
    from mlir.dialects import func

    if bundle.pool is not None and bundle.pool.bytes is None:
        raise ValueError("the caller of this bundle passes the pool, which the IR cannot say")
    sdscs = [sdsc for sdsc, _ in bundle.operations()]
    if any(isinstance(operand.place, Lx) for sdsc in sdscs for operand in sdsc.operands):
        raise ValueError("this bundle uses the scratchpad, for which the IR has no place")
    with ir.Location.unknown():
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            for number, sdsc in enumerate(sdscs):
                write_sdsc(sdsc, f"sdsc_{number}")
            count = max(bundle.arguments, default=-1) + 1
            function = func.FuncOp(FUNCTION, (parameter_types(count, bundle.parameters), []))
        with ir.InsertionPoint(function.add_entry_block()):
            if bundle.pool is not None:
                sdscbundle.DeviceMemAllocateOp(ir.IndexType.get(), _i64(bundle.pool.bytes or 0))
            _write_nodes(bundle.body, 0)
            func.ReturnOp([])
    return module


def _write_nodes(nodes: tuple[Sdsc | Loop, ...], number: int) -> int:
    """Writes launches and loops; `number` is that of the first SDSC, the result the next one."""
    from mlir.dialects import arith, scf

    for node in nodes:
        if isinstance(node, Sdsc):
            sdscbundle.LaunchOp(f"sdsc_{number}")
            number += 1
            continue
        index = ir.IndexType.get()
        low, high, step = (arith.ConstantOp(index, value).result for value in (0, node.trips, 1))
        loop = scf.ForOp(low, high, step)
        with ir.InsertionPoint(loop.body):
            number = _write_nodes(node.body, number)
            scf.YieldOp([])
    return number


def read_bundle(module: ir.Module | ir.Operation) -> Bundle:
    """The bundle of a lowered module.

    ValueError if the module is not lowered, or takes other extents than its operations ask for."""
    body = module.operation.regions[0].blocks[0]
    sdscs: dict[str, Sdsc] = {}
    functions = []
    for op in body.operations:
        if op.operation.name == "sdscbundle.sdsc":
            sdscs[op.attributes["sym_name"].value] = read_sdsc(op.operation)
        elif op.operation.name == "func.func" and op.attributes["sym_name"].value == FUNCTION:
            functions.append(op.operation)
    if len(functions) != 1:
        raise ValueError(
            f"the module has {len(functions)} functions @{FUNCTION}; lower it to a bundle first"
        )
    block = functions[0].regions[0].blocks[0]
    pools = [
        op.attributes["size"].value
        for op in block.operations
        if op.operation.name == "sdscbundle.device_mem_allocate"
    ]
    pool = PoolBuffer(pools[0]) if pools else None
    bundle = Bundle(_nodes(block, sdscs), pool)
    _check_extents(block, bundle)
    return bundle


def _check_extents(block: ir.Block, bundle: Bundle) -> None:
    """Whether the parameters of the function end with the extents that its operations ask for."""
    asked = [parameter.type for parameter in bundle.parameters]
    types = [str(argument.type) for argument in block.arguments]
    given = [type for type in types if "granularity" in type]
    if given != asked or types[len(types) - len(given) :] != given:
        raise ValueError(
            f"@{FUNCTION} takes the extents [{', '.join(given)}], its operations ask for "
            f"[{', '.join(asked)}]"
        )


def _nodes(block: ir.Block, sdscs: dict[str, Sdsc]) -> tuple[Sdsc | Loop, ...]:
    nodes: list[Sdsc | Loop] = []
    for operation in block.operations:
        op = operation.operation
        if op.name == "sdscbundle.launch":
            nodes.append(sdscs[op.attributes["sdsc"].value])
        elif op.name == "scf.for":
            trips = op.operands[1].owner.attributes["value"].value
            nodes.append(Loop(trips, _nodes(op.regions[0].blocks[0], sdscs)))
    return tuple(nodes)
