# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A function of the IR as the program that memory planning reads."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import lru_cache
from typing import cast

from spyre_mlir import encodings, ir
from spyre_mlir.accesses import Access, device_coordinates, flat_index
from spyre_mlir.layouts import Layout, contiguous_strides
from spyre_mlir.listings import BOUNDS, WRITE, Listing
from spyre_mlir.memory import Carried, Compute, Copy, Empty, Loop, Program, Step, Update, View
from spyre_mlir.operations import computed_results, layout_of, meaning, storage_of
from spyre_mlir.optable import Op
from spyre_mlir.properties import in_place
from spyre_mlir.quasiaffine import Expression, symbol
from spyre_mlir.value_ranges import simplify

DESTINATION = 1
"""The operand of an insertion that is written into."""

Steps = Callable[[int], list[Step]]
"""Number of an operation -> what it does to memory."""


class ProgramReader:
    """The steps of a function, its values and operations known by their numbers in `listing`.

    `program` is what `plan_memory` takes; `owners` are the operations that make a value that owns memory, with that
    value; `updates` are the insertions that do nothing because their source is computed in its place, with their
    results; `buffers` counts the tensor arguments."""

    def __init__(self, function: ir.Operation) -> None:
        self.listing = Listing(function)
        self.owners: list[tuple[int, int]] = []
        self.updates: list[tuple[int, int]] = []
        self._sizes: dict[int, int] = {}
        self._made: dict[int, ir.Value] = {}
        self._end = len(self.listing.kinds) - 1
        self._steps_of = self.listing.per_kind(self._reading)
        self._sizes_of = self.listing.per_kind(
            lambda op: [_bytes(value) if _is_tensor(value) else 0 for value in op.results]
        )
        block = function.regions[0].blocks[0]
        arguments = tuple(n for n, value in enumerate(block.arguments) if _is_tensor(value))
        self._sizes.update((n, _bytes(block.arguments[n])) for n in arguments)
        self.buffers = len(arguments)
        body = tuple(self._steps(0, self._end))
        end = self.listing.operation(self._end)
        returned = zip(self.listing.operands[self._end], end.operands, strict=True)
        results = tuple(number for number, value in returned if _is_tensor(value))
        self.program = Program(arguments, body, results, self._sizes)

    def _steps(self, first: int, last: int) -> list[Step]:
        """The steps of the operations from `first` to before `last`, loops as one."""
        steps: list[Step] = []
        kinds, ends, results = self.listing.kinds, self.listing.ends, self.listing.results
        at = first
        while at < last:
            kind = kinds[at]
            value = results[at]
            for size in self._sizes_of[kind]:
                self._sizes[value] = size
                value += 1
            steps += self._steps_of[kind](at)
            at = ends[at]
        return steps

    def _reading(self, op: ir.Operation) -> Steps:
        """How operations of the kind of `op` are read."""
        if op.name == "scf.for":
            return self._loop
        if not op.results or not _is_tensor(op.results[0]):
            return lambda at: []
        row = meaning(op)
        if row is None:
            raise TypeError(f"memory of '{op.name}' is not planned: no operation of the dialect")
        if op.name == "spyre.empty":
            return self._empty
        if op.name == WRITE:
            return self._updating(op)
        if row.tiling == "view":
            return self._viewing(op)
        return self._computing(op, row)

    def _loop(self, at: int) -> list[Step]:
        listing = self.listing
        first, initial = listing.results[at], listing.operands[at][BOUNDS:]
        count = len(initial)
        inside = range(first + count + 1, first + 2 * count + 1)  # behind the induction variable
        self._sizes.update(zip(inside, self._sizes_of[listing.kinds[at]], strict=True))
        end = listing.ends[at] - 1
        body = tuple(self._steps(at + 1, end))
        after = range(first, first + count)
        carried = zip(initial, inside, listing.operands[end], after, strict=True)
        return [Loop(at, tuple(Carried(*values) for values in carried), body)]

    def _empty(self, at: int) -> list[Step]:
        number = self.listing.results[at]
        self.owners.append((at, number))
        return [Empty(number)]

    def _updating(self, op: ir.Operation) -> Steps:
        results, operands = self.listing.results, self.listing.operands
        where, direct = _window(op), in_place(op)

        def steps(at: int) -> list[Step]:
            source, destination, *begin = operands[at]
            if direct:
                self.updates.append((at, results[at]))
            window = where, tuple(begin)
            return [Update(at, source, destination, results[at], window, direct)]

        return steps

    def _viewing(self, op: ir.Operation) -> Steps:
        results, operands = self.listing.results, self.listing.operands
        where = _window(op) if op.name == "spyre.slice" else None
        part = where is not None or not _lies_as_typed(op)

        def steps(at: int) -> list[Step]:
            source, *begin = operands[at]
            window = None if where is None else (where, tuple(begin))
            return [View(source, results[at], part, window)]

        return steps

    def _computing(self, op: ir.Operation, row: Op) -> Steps:
        results, operands, owners = self.listing.results, self.listing.operands, self.owners
        tensors = [(n, value) for n, value in enumerate(op.operands) if _is_tensor(value)]
        reads = [n for n, _ in tensors]
        made = [
            (result.result_number, [n for n, v in tensors if _in_step(row.tiling, v, result)])
            for result in computed_results(op)
        ]

        def steps(at: int) -> list[Step]:
            given, first = operands[at], results[at]
            read = tuple([given[n] for n in reads])
            found: list[Step] = []
            for number, in_step in made:
                owners.append((at, first + number))
                over = tuple([given[n] for n in in_step])
                found.append(Compute(at, read, first + number, over))
            return found

        return steps

    def insertion_point(self, copy: Copy) -> ir.InsertionPoint:
        """Where a copy stands: before its step, at the end of a loop's body, or at the end of the function."""
        op = self._user(copy)
        if copy.at_end:
            return ir.InsertionPoint.at_block_terminator(op.regions[0].blocks[0])
        return ir.InsertionPoint(op)

    def _user(self, copy: Copy) -> ir.Operation:
        """The operation that a copy is for; the end of the function without one."""
        return self.listing.operation(self._end if copy.key is None else cast(int, copy.key))

    def source(self, copy: Copy) -> ir.Value:
        """What is copied: a value of the function, or what an earlier copy made."""
        return self._made[copy.source] if copy.source < 0 else self.listing.value(copy.source)

    def substitute(self, copy: Copy, new: ir.Value) -> None:
        """Lets the step that the copy is for use the copy."""
        self._made[copy.target] = new
        user = self._user(copy)
        number = copy.operand
        if copy.key is None:
            tensors = [i for i, value in enumerate(user.operands) if _is_tensor(value)]
            number = tensors[copy.operand]
        elif copy.at_end:
            block = user.regions[0].blocks[0]
            user = block.operations[len(block.operations) - 1].operation
        elif user.name == "scf.for":
            number += BOUNDS
        else:
            number = DESTINATION
        user.operands[number] = new


def _is_tensor(value: ir.Value) -> bool:
    return isinstance(value.type, ir.RankedTensorType)


def _bytes(value: ir.Value) -> int:
    return _size(layout_of(encodings.read(value.type)))


@lru_cache(maxsize=1 << 12)
def _size(layout: Layout) -> int:
    return layout.bytes


def _window(op: ir.Operation) -> Hashable:
    """Literal offsets and shape of a window. Equal windows have, besides, the same index values."""
    offsets = tuple(ir.DenseI64ArrayAttr(op.attributes["static_offsets"]))
    piece = op.operands[0] if op.name == WRITE else op.results[0]
    return offsets, tuple(piece.type.shape)


def _in_step(tiling: str, read: ir.Value, result: ir.Value) -> bool:
    """Whether the result may lie over this read: elementwise, of the same shape and layout."""
    return tiling == "pointwise" and bool(read.type == result.type)


def _lies_as_typed(view: ir.Operation) -> bool:
    """Whether the cells of a view lie in memory as the layout of its type says.

    Under another shape they lie as those of the operand do, whatever the layout: what is returned is a copy."""
    row = meaning(view)
    if row is None or row.rule not in ("reshape", "broadcast"):
        return True
    value = view.results[0]
    tensor = encodings.read(value.type)
    extents = {f"d{dim}": extent for dim, extent in enumerate(tensor.shape)}
    index = tuple(symbol(name) for name in extents)
    storage = storage_of(value, index, extents)
    if storage.layout.bytes != layout_of(tensor).bytes:
        return False
    own = flat_index(index, contiguous_strides(tensor.shape))
    return _address(storage.layout, storage.flat, extents) == _address(
        layout_of(tensor), own, extents
    )


def _address(layout: Layout, flat: Expression, extents: Mapping[str, int]) -> Expression:
    """Lanes from the start of a buffer to its host element at `flat`."""
    coordinates = device_coordinates(Access("", "", layout, "", flat), extents)
    lanes = contiguous_strides(layout.device_size)
    return simplify(flat_index(coordinates, lanes), extents)
