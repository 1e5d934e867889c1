# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pieces of tensors: windows of whole buffers, and compact tiles with layouts of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from spyre_mlir import encodings, ir
from spyre_mlir.dialects import spyre
from spyre_mlir.layouts import retile
from spyre_mlir.operations import meaning
from spyre_mlir.optable import Linear
from spyre_mlir.tensors import TensorType


@dataclass(frozen=True, slots=True)
class Piece:
    """The part of one iteration dim that a tile covers: where it begins (a literal or an induction variable), and its
    size in elements."""

    begin: int | ir.Value
    size: int


Pieces = Mapping[int, Piece]
"""Iteration dim -> its piece; dims that are left out are covered as a whole."""

Index = tuple[Linear, ...] | None
"""How a tensor is indexed from the iteration dims; None where it is not."""


def part(
    shape: Sequence[int], index: tuple[Linear, ...], cut: Pieces
) -> tuple[list[int], list[int | ir.Value]]:
    """Shape of one operand's tile, and where it begins in each dim."""
    sizes, begins = list(shape), [0] * len(shape)
    for dim, entry in enumerate(index):
        for iteration, _ in entry.terms:
            if iteration in cut:
                sizes[dim], begins[dim] = cut[iteration].size, cut[iteration].begin
    return sizes, begins


def window_of(
    tensor: TensorType, sizes: Sequence[int], begins: Sequence[int | ir.Value]
) -> TensorType:
    """The type of a window: the parent's layout, and of its valid region what lies inside.

    A loop runs over tiles that are fully valid along the dims that it cuts."""
    valid = tuple(
        extent if size == whole else _inside(extent, size, begin)
        for size, whole, extent, begin in zip(
            sizes, tensor.shape, tensor.valid, begins, strict=True
        )
    )
    return replace(
        tensor,
        shape=tuple(sizes),
        window=True,
        valid_shape=None if valid == tuple(sizes) else valid,
        pad=None,
    )


def _inside(extent: Any, size: int, begin: int | ir.Value) -> int:
    """How much of a piece that begins at a literal is valid; all of one in a loop, or of a symbolic extent."""
    if isinstance(begin, int) and isinstance(extent, int):
        return min(size, extent - begin)
    return size


def tile_type(result: ir.Value, index: Index, cut: Pieces, *, window: bool) -> TensorType:
    """The type of one tile of a result: a window of it, or a compact tile with a layout of its own. What is itself
    computed where its one use inserts it stays there."""
    assert index is not None, "a result of a tiled operation is indexed by its domain"
    tensor = encodings.read(result.type)
    sizes, begins = part(tensor.shape, index, cut)
    seen = window_of(tensor, sizes, begins)
    if window or tensor.window:
        return seen
    assert tensor.layout is not None, "layouts are required of tiled operations"
    return replace(seen, window=False, layout=retile(tensor.layout, tensor.shape, sizes))


def sliced(value: ir.Value, index: Index, cut: Pieces) -> ir.Value:
    """The window of a tensor that a tile reads; the value itself where it reads all of it, or no tensor."""
    if index is None or not isinstance(value.type, ir.RankedTensorType):
        return value
    tensor = encodings.read(value.type)
    sizes, begins = part(tensor.shape, index, cut)
    if tuple(sizes) == tensor.shape:
        return value
    static, dynamic = offsets(begins)
    return spyre.SliceOp(
        encodings.write(window_of(tensor, sizes, begins)), value, dynamic, static
    ).result


def inserted(tile: ir.Value, into: ir.Value, index: Index, cut: Pieces) -> ir.Value:
    """A tensor with a tile written into its place."""
    assert index is not None, "a result of a tiled operation is indexed by its domain"
    _, begins = part(into.type.shape, index, cut)
    return inserted_at(tile, into, begins)


def inserted_at(tile: ir.Value, into: ir.Value, begins: Sequence[int | ir.Value]) -> ir.Value:
    """A tensor with another one written into it, from `begins` on."""
    static, dynamic = offsets(begins)
    return spyre.InsertSliceOp(into.type, tile, into, dynamic, static).result


def offsets(begins: Sequence[int | ir.Value]) -> tuple[list[int], list[ir.Value]]:
    """Offsets as operations take them: literals, with a mark for each that is a value; the values."""
    marker = ir.ShapedType.get_dynamic_stride_or_offset()
    static = [begin if isinstance(begin, int) else marker for begin in begins]
    return static, [begin for begin in begins if not isinstance(begin, int)]


def moved(begin: int | ir.Value, piece: Piece | None) -> int | ir.Value:
    """An offset, moved by where a piece begins."""
    from mlir.dialects import arith

    if piece is None or (isinstance(piece.begin, int) and piece.begin == 0):
        return begin
    if isinstance(begin, int) and isinstance(piece.begin, int):
        return begin + piece.begin
    if isinstance(begin, int) and begin == 0:
        return piece.begin
    index = ir.IndexType.get()
    parts = [
        arith.ConstantOp(index, at).result if isinstance(at, int) else at
        for at in (piece.begin, begin)
    ]
    return arith.AddIOp(*parts).result


def repeated(
    op: ir.Operation, operands: Sequence[ir.Value], types: Sequence[TensorType]
) -> ir.Operation:
    """The same operation on other operands: its own attributes are kept, those of passes are not."""
    row = meaning(op)
    assert row is not None
    own = {a.name: op.attributes[a.name] for a in row.attributes if a.name in op.attributes}
    written = [encodings.write(type) for type in types]
    return ir.Operation.create(op.name, results=written, operands=operands, attributes=own)
