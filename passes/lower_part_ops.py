# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""spyre-lower-part-ops: unions become a copy and an operation on the cells that both operands hold."""

from __future__ import annotations

from dataclasses import dataclass, replace

from spyre_mlir import encodings, ir
from spyre_mlir.diagnostics import refused_at
from spyre_mlir.dialects import spyre
from spyre_mlir.listings import Listing
from spyre_mlir.optable import OPS, Op
from spyre_mlir.passmanager import Pass, statistic
from spyre_mlir.prover import Facts, equal
from spyre_mlir.region_reader import RegionReader
from spyre_mlir.regions.agreement import Part, Region, is_empty, unite
from spyre_mlir.tensors import TensorType

UNIONS = tuple(f"spyre.{name}" for name, row in OPS.items() if row.rule == "union")


@dataclass(frozen=True)
class LowerPartOps(
    Pass,
    name="spyre-lower-part-ops",
    anchor="func.func",
    dependent_dialects=("spyre",),
):
    """Replace `part_*` by the operation it is made of, on the cells that both operands hold.

    The operand whose region provably contains the other's is copied; the operation's result on the contained region is
    inserted into the copy. Where the contained region is literal, the operation works on slices, else on operands that
    are narrowed. Equal regions need the operation alone, an empty one the copy alone."""

    lowered = statistic("operations lowered")

    def run(self, op: ir.Operation) -> None:
        reader = RegionReader(op)
        for inner in Listing(op).select(lambda op: op.name in (*UNIONS, "spyre.extent")):
            if inner.name == "spyre.extent":
                reader.introduce(inner)
                continue
            row = reader.row(inner.name)
            assert row is not None
            with refused_at(inner):
                _lower(inner, row, reader)
            self.lowered.add()


def _lower(op: ir.Operation, row: Op, reader: RegionReader) -> None:
    """Replaces one operation."""
    copy, binary = row.device.decomposition
    tensors = [reader.read(value.type) for value in op.operands]
    result = reader.read(op.results[0].type)
    parts = [
        Part(name.name, t.shape, t.valid) for name, t in zip(row.operands, tensors, strict=True)
    ]
    union = unite(f"spyre.{row.name}", parts, result.shape, reader.facts)
    lifted = [_lifted(tensor, result.shape) for tensor in tensors]
    outer = 0 if _equal(lifted[0], union, reader.facts) else 1
    region = lifted[1 - outer]
    type = op.results[0].type
    with ir.InsertionPoint(op), op.location:
        if _equal(region, union, reader.facts):
            new = _made(binary, type, *op.operands)
        else:
            new = _made(copy, type, _whole(op.operands[outer], lifted[outer], result))
            if not is_empty(region, reader.facts):
                cut = [
                    _cut(value, reader.read(value.type), region, result) for value in op.operands
                ]
                both = _made(binary, encodings.write(_piece(result, region)), *cut)
                new = spyre.InsertSliceOp(type, both, new, [], [0] * result.rank).result
    op.results[0].replace_all_uses_with(new)
    op.erase()


def _made(name: str, type: ir.Type, *operands: ir.Value) -> ir.Value:
    new = ir.Operation.create(f"spyre.{name}", results=[type], operands=list(operands))
    return new.results[0]


def _lifted(tensor: TensorType, shape: tuple[int, ...]) -> Region:
    """The region over the result's dims: full along those that the operand lacks or is replicated in."""
    lead = len(shape) - tensor.rank
    own = zip(tensor.shape, tensor.valid, shape[lead:], strict=True)
    return (*shape[:lead], *(size if held != size else extent for held, extent, size in own))


def _equal(first: Region, second: Region, facts: Facts) -> bool:
    return all(equal(a, b, facts).holds for a, b in zip(first, second, strict=True))


def _whole(value: ir.Value, region: Region, result: TensorType) -> ir.Value:
    """The containing operand in the result's shape."""
    if tuple(value.type.shape) == result.shape:
        return value
    kind = TensorType(result.shape, result.element, valid_shape=_canonical(region, result.shape))
    return spyre.BroadcastOp(encodings.write(kind), value).result


def _is_literal(region: Region) -> bool:
    return all(isinstance(extent, int) for extent in region)


def _canonical(region: Region, shape: tuple[int, ...]) -> Region | None:
    return None if region == shape else region


def _piece(result: TensorType, region: Region) -> TensorType:
    """What the operation computes: a tile of the contained region if that is literal, else the result narrowed."""
    if _is_literal(region):
        sizes = tuple(extent for extent in region if isinstance(extent, int))
        return TensorType(sizes, result.element)
    return replace(result, valid_shape=_canonical(region, result.shape), pad=None)


def _cut(value: ir.Value, tensor: TensorType, region: Region, result: TensorType) -> ir.Value:
    """An operand on the contained region: a slice, or narrowed to it. Replicated dims stay."""
    lead = result.rank - tensor.rank
    own = zip(tensor.shape, tensor.valid, region[lead:], result.shape[lead:], strict=True)
    target = tuple(e if held == size else valid for held, valid, e, size in own)
    if _is_literal(region):
        sizes = tuple(extent for extent in target if isinstance(extent, int))
        if sizes == tensor.shape:
            return value
        windowed = tensor.layout is not None
        kind = replace(tensor, shape=sizes, valid_shape=None, pad=None, window=windowed)
        return spyre.SliceOp(encodings.write(kind), value, [], [0] * tensor.rank).result
    if target == tensor.valid:
        return value
    kind = replace(tensor, valid_shape=_canonical(target, tensor.shape), pad=None)
    extents = [ir.ExtentAttr.get(e if isinstance(e, int) else str(e)) for e in target]
    return spyre.SetValidShapeOp(encodings.write(kind), value, ir.ArrayAttr.get(extents)).result
