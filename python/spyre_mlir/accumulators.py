# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Accumulators in the IR: what is built for the first tile of a reduced range, for each later one, and at the end.

What is built, and in which element type, `spyre_mlir.tiling.accumulation` says. The device casts whole sticks, so an
f32 buffer has two for each stick of 16-bit elements, also where the second one would hold nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from spyre_mlir import encodings, ir
from spyre_mlir.builders import create
from spyre_mlir.dialects import spyre
from spyre_mlir.kernels import Kernel
from spyre_mlir.layouts import device_layout
from spyre_mlir.operations import attributes, meaning
from spyre_mlir.optable import FLOATS, Domain, Op
from spyre_mlir.padding import rounded_up
from spyre_mlir.sticks import stick_of, with_stick
from spyre_mlir.tensors import TensorType
from spyre_mlir.tiling.accumulation import HALVES, Accumulation
from spyre_mlir.windows import Pieces, inserted_at, moved

Read = Callable[[int], "ir.Value"]
"""The operand of this number, as one tile reads it."""


@dataclass(frozen=True, slots=True)
class Accumulator:
    """One tile of the result of `op`: `tile` is its type, compact. `cut` says where a tile lies."""

    op: ir.Operation
    domain: Domain
    kernel: Kernel
    how: Accumulation
    tile: TensorType

    def first(self, read: Read, cut: Pieces) -> list[ir.Value]:
        """What the loops over the later tiles carry."""
        into = self._continued()
        operands = [read(number) for number in range(len(self.op.operands))]
        if into is not None and self.how.wide:
            operands[into] = self._widened(operands[into], self._stick())
        return self._part(operands, cut)

    def later(self, carried: Sequence[ir.Value], read: Read, cut: Pieces) -> list[ir.Value]:
        """What they carry after one more tile."""
        into = self._continued()
        numbers = range(len(self.op.operands))
        if into is not None:
            before = _trimmed(carried[0], self.tile.shape)
            return self._part([before if n == into else read(n) for n in numbers], cut)
        found = self._part([read(number) for number in numbers], cut)
        if self.how.combine.positions is not None:
            return self._better(carried, found)
        buffer = encodings.read(carried[0].type)
        return [_made(self.how.combine.function, [carried[0], found[0]], buffer)]

    def result(self, carried: Sequence[ir.Value], type: TensorType) -> ir.Value:
        """The tile of the result, of a type that is its window or compact; the accumulator itself where that is it."""
        value, how = carried[0], self.how
        if not how.wide and not how.combine.divided:
            return value
        plain, buffer = _wide(self.tile, self._stick(), how.element) if how.wide else (type, type)
        if how.in_lanes:
            plain = buffer = encodings.read(value.type)
        if how.combine.divided:
            value = _made_in("div", [value, _scalar(how.cells, how.element)], plain, buffer)
        elif encodings.read(value.type) != buffer:
            value = _made_in("identity", [value], plain, buffer)
        if not how.wide:
            return value
        if how.in_lanes:
            return _gathered(value, len(type.shape), type)
        if self._stick() is None:
            kept = self._kept()
            dim = len(type.shape) if kept is None else kept
            return _gathered(_spread(value, dim), dim, type)
        return _made("cast", [_trimmed(value, type.shape)], type)

    def _part(self, operands: Sequence[ir.Value], cut: Pieces) -> list[ir.Value]:
        """What one tile gives, in the elements in which it is kept."""
        combine, how = self.how.combine, self.how
        if how.widened:
            operands = [self._wide_operand(number, v) for number, v in enumerate(operands)]
        if combine.positions is not None:
            return self._best(operands, cut)
        name, given = self._row().name, attributes(self.op, self._row())
        if combine.part is not None:
            name, given = combine.part, self._reduced()
        if how.wide and not how.widened:
            # The operation reads and writes sticks of both widths.
            types = _wide(self.tile, self._stick(), how.element)
            return [_made_in(name, operands, *types, **given)]
        kept = self._type(how.element)
        if how.spread and not how.in_lanes:
            pairs = _pairs(operands[0], name, given)
            return [_made("sum", [pairs], kept, dims=self._reduced()["dims"], keep_dims=False)]
        if how.in_lanes:
            kept = _spread_type(kept, len(kept.shape))
        found = _made(name, operands, kept, **given)
        if combine.weighted:
            found = _made("mul", [found, _scalar(self._cells(cut), how.element)], kept)
        return [found]

    def _best(self, operands: Sequence[ir.Value], cut: Pieces) -> list[ir.Value]:
        """The positions that one tile gives, counted from the start of the range, and their values."""
        assert self.how.combine.part is not None, "positions are those of the values of a part"
        row = self._row()
        found = _made(row.name, operands, self.tile, **attributes(self.op, row))
        values = self._type(encodings.read(operands[0].type).element)
        return [
            self._shifted(found, cut),
            _made(self.how.combine.part, operands, values, **self._reduced()),
        ]

    def _shifted(self, positions: ir.Value, cut: Pieces) -> ir.Value:
        """Positions in the tile as positions in the whole range."""
        from mlir.dialects import arith

        (dim,) = [d for d, reduced in enumerate(self.domain.reduction) if reduced]
        begin = moved(0, cut.get(dim))
        if isinstance(begin, int) and begin == 0:
            return positions
        type = encodings.read(positions.type)
        scalar = (
            _scalar(begin, type.element)
            if isinstance(begin, int)
            else arith.IndexCastOp(ir.Type.parse(type.element), begin).result
        )
        return _made("add", [positions, scalar], type)

    def _better(self, carried: Sequence[ir.Value], found: Sequence[ir.Value]) -> list[ir.Value]:
        """Positions and values of the better of two; the earlier on a tie, and where it is no number."""
        at, best = carried
        mask = self._type("i1")
        positions, values = encodings.read(at.type), encodings.read(best.type)
        stays = _made("cmp", [found[1], best], mask, predicate=self.how.combine.positions)
        chosen = _made("select", [stays, at, found[0]], positions)
        if values.element in FLOATS:
            number = _made("cmp", [best, best], mask, predicate="eq")
            chosen = _made("select", [number, chosen, at], positions)
        return [chosen, _made(self.how.combine.function, [best, found[1]], values)]

    def _wide_operand(self, number: int, value: ir.Value) -> ir.Value:
        """An operand of a tile in f32; where a stick holds one value, that in all lanes of another dim."""
        if self.how.spread:
            dim = len(value.type.shape)
            return self._widened(_spread(value, dim), dim)
        return self._widened(value, stick_of(self.op.operands[number]))

    def _widened(self, value: ir.Value, stick: int | None) -> ir.Value:
        """A tile in f32."""
        tensor = encodings.read(value.type)
        if tensor.element not in HALVES:
            return value
        plain, buffer = _wide(tensor, stick, self.how.element)
        return _trimmed(_made_in("cast", [value], plain, buffer), plain.shape)

    def _type(self, element: str) -> TensorType:
        """The type of a tile of the result with other elements."""
        return (
            self.tile
            if element == self.tile.element
            else _relaid(self.tile, self._stick(), element)
        )

    def _stick(self) -> int | None:
        """The dim of the result that runs through the lanes of its sticks; None for one value a stick."""
        result = self.op.results[0]
        layout = encodings.read(result.type).layout
        return None if layout is None or layout.sparse else stick_of(result)

    def _row(self) -> Op:
        row = meaning(self.op)
        assert row is not None
        return row

    def _continued(self) -> int | None:
        """The operand that takes the result over the tiles before."""
        names = [operand.name for operand in self._row().operands]
        into = self.how.combine.into
        return None if into is None else names.index(into)

    def _reduced(self) -> dict[str, Any]:
        """The attributes of a reduction over the same dims."""
        index = self.domain.operands[0]
        assert index is not None
        dims = [d for d, e in enumerate(index) if e.terms and self.domain.reduction[e.terms[0][0]]]
        return {"dims": dims, "keep_dims": len(index) == len(self.tile.shape)}

    def _kept(self) -> int | None:
        """A dim of the result that stands for a reduced one."""
        index = self.domain.results[0]
        assert index is not None
        kept = [d for d, entry in enumerate(index) if not entry.terms and self.tile.shape[d] == 1]
        return kept[-1] if kept else None

    def _cells(self, cut: Pieces) -> int:
        """Reduced cells of one tile."""
        return prod(
            cut[number].size if number in cut else dim.extent
            for number, dim in enumerate(self.kernel.dims)
            if dim.reduction
        )


def _lanes(element: str) -> int:
    return device_layout((), element).elements_per_stick


def _laid(tensor: TensorType) -> TensorType:
    """A view's type: its layout says nothing of where the cells lie."""
    return replace(tensor, layout=device_layout(tensor.shape, tensor.element))


def _spread_type(tensor: TensorType, dim: int) -> TensorType:
    """The type with a stick of 16-bit elements along `dim`, which is of extent 1, or behind the last one."""
    lanes = _lanes(HALVES[0])
    shape, valid = (
        tuple(lanes if d == dim else e for d, e in enumerate((*box, 1)))
        for box in (tensor.shape, tensor.valid)
    )
    rank = max(len(tensor.shape), dim + 1)
    shape, valid = shape[:rank], valid[:rank]
    box = None if valid == shape else valid
    return TensorType(
        shape, tensor.element, with_stick(shape, tensor.element, dim), valid_shape=box
    )


def _spread(value: ir.Value, dim: int) -> ir.Value:
    """What a stick holds as its one value, in all lanes along `dim`."""
    tensor = encodings.read(value.type)
    if dim == len(tensor.shape):
        valid = None if tensor.valid_shape is None else (*tensor.valid_shape, 1)
        seen = TensorType((*tensor.shape, 1), tensor.element, valid_shape=valid)
        value = _made("reshape", [value], _laid(seen))
    dense = _spread_type(tensor, dim)
    return _made("identity", [_made("broadcast", [value], _laid(dense))], dense)


def _pairs(value: ir.Value, name: str, given: dict[str, Any]) -> ir.Value:
    """The moments of each value by itself, of equals that stand in all lanes of a dim behind the others: the operation
    reduces the last dim, which is that one."""
    tensor = encodings.read(value.type)
    shape, valid = (*tensor.shape[:-1], 2), (*tensor.valid[:-1], 2)
    box = None if valid == shape else valid
    layout = with_stick(shape, tensor.element, len(shape) - 1)
    return _made(name, [value], TensorType(shape, tensor.element, layout, valid_shape=box), **given)


def _gathered(value: ir.Value, dim: int, type: TensorType) -> ir.Value:
    """A cast of what was spread, read as the largest of equals: nothing else makes a 16-bit stick of one of f32."""
    narrow = _spread_type(replace(type, layout=None, window=False), dim)
    cast = _made("cast", [value], narrow)
    return _made("max", [cast], type, dims=[dim], keep_dims=dim < len(type.shape))


def _relaid(tensor: TensorType, stick: int | None, element: str) -> TensorType:
    """The type with other elements: one value a stick where it holds that, else the stick on its dim."""
    layout = tensor.layout
    assert layout is not None
    if stick is None:
        layout = replace(layout, device_size=(*layout.device_size[:-1], _lanes(element)))
    else:
        layout = with_stick(tensor.shape, element, stick)
    return replace(tensor, element=element, layout=layout, window=False, pad=None)


def _wide(tensor: TensorType, stick: int | None, element: str) -> tuple[TensorType, TensorType]:
    """The type with wider elements, and that of a buffer whose sticks end where those of `tensor` do."""
    plain = _relaid(tensor, stick, element)
    if stick is None:
        return plain, plain
    shape = list(tensor.shape)
    shape[stick] = rounded_up(shape[stick], _lanes(tensor.element))
    if shape[stick] == rounded_up(tensor.shape[stick], _lanes(element)):
        return plain, plain
    layout = with_stick(tuple(shape), element, stick)
    buffer = TensorType(tuple(shape), element, layout, valid_shape=tensor.valid)
    return replace(buffer, shape=tensor.shape, window=True, valid_shape=tensor.valid_shape), buffer


def _made(name: str, operands: Sequence[ir.Value], type: TensorType, **given: Any) -> ir.Value:
    return create(name, operands, [encodings.write(type)], **given).results[0]


def _made_in(
    name: str, operands: Sequence[ir.Value], plain: TensorType, buffer: TensorType, **given: Any
) -> ir.Value:
    """What an operation makes, in a buffer that may be larger."""
    made = _made(name, operands, plain, **given)
    if plain == buffer:
        return made
    empty = spyre.EmptyOp(encodings.write(buffer)).result
    return inserted_at(made, empty, [0] * len(plain.shape))


def _trimmed(value: ir.Value, shape: Sequence[int]) -> ir.Value:
    """The part of a buffer that a tile takes."""
    tensor = encodings.read(value.type)
    if tensor.shape == tuple(shape):
        return value
    valid = tensor.valid_shape if tensor.valid_shape != tuple(shape) else None
    window = replace(tensor, shape=tuple(shape), window=True, valid_shape=valid)
    return _made("slice", [value], window, static_offsets=[0] * len(shape))


def _scalar(value: int, element: str) -> ir.Value:
    from mlir.dialects import arith

    type = ir.Type.parse(element)
    number = value if element.startswith(("i", "ui")) else float(value)
    return arith.ConstantOp(type, number).result
