# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A function of the IR as the program that memory planning reads."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import cast

from spyre_mlir import encodings, ir
from spyre_mlir.accesses import Access, device_coordinates, flat_index
from spyre_mlir.layouts import Layout, contiguous_strides
from spyre_mlir.memory import Carried, Compute, Copy, Empty, Loop, Program, Step, Update, View
from spyre_mlir.operations import computed_results, layout_of, meaning, storage_of
from spyre_mlir.properties import in_place
from spyre_mlir.quasiaffine import Expression, symbol
from spyre_mlir.value_ranges import simplify

LOOP_BOUNDS = 3
"""Operands of a loop before the values that it carries: from, to, step."""

DESTINATION = 1
"""The operand of an insertion that is written into."""


class ProgramReader:
    """Numbers the tensors of a function and lists its steps.

    `program` is what `plan_memory` takes; `owners` are the results that own memory, with their numbers;
    `updates` are the insertions that do nothing because their source is computed in its place, with the numbers of
    their results; `buffers` counts the tensor arguments."""

    def __init__(self, function: ir.Operation) -> None:
        self.function = function
        self.values: list[ir.Value] = []
        self.owners: list[tuple[ir.Value, int]] = []
        self.updates: list[tuple[ir.Operation, int]] = []
        self._numbers: dict[ir.Value, int] = {}
        self._sizes: dict[int, int] = {}
        self._made: dict[int, ir.Value] = {}
        block = function.regions[0].blocks[0]
        arguments = tuple(self._new(a) for a in block.arguments if _is_tensor(a))
        self.buffers = len(arguments)
        self.end = block.operations[len(block.operations) - 1].operation
        body = tuple(self._steps(block))
        returned = tuple(self._numbers[v] for v in self.end.operands if _is_tensor(v))
        self.program = Program(arguments, body, returned, self._sizes)

    def _new(self, value: ir.Value) -> int:
        number = len(self.values)
        self.values.append(value)
        self._numbers[value] = number
        self._sizes[number] = layout_of(encodings.read(value.type)).bytes
        return number

    def _steps(self, block: ir.Block) -> list[Step]:
        steps: list[Step] = []
        for operation in block.operations:
            op = operation.operation
            if op.name == "scf.for":
                steps.append(self._loop(op))
            elif op.results and _is_tensor(op.results[0]):
                steps += self._step(op)
        return steps

    def _loop(self, op: ir.Operation) -> Loop:
        block = op.regions[0].blocks[0]
        initial = list(op.operands)[LOOP_BOUNDS:]
        inside = [self._new(value) for value in list(block.arguments)[1:]]
        body = tuple(self._steps(block))
        yielded = list(block.operations[len(block.operations) - 1].operands)
        carried = tuple(
            Carried(self._numbers[before], within, self._numbers[last], self._new(after))
            for before, within, last, after in zip(
                initial, inside, yielded, op.results, strict=True
            )
        )
        return Loop(op, carried, body)

    def _step(self, op: ir.Operation) -> list[Step]:
        row = meaning(op)
        if row is None:
            raise TypeError(f"memory of '{op.name}' is not planned: no operation of the dialect")
        if op.name == "spyre.empty":
            number = self._new(op.results[0])
            self.owners.append((op.results[0], number))
            return [Empty(number)]
        if op.name == "spyre.insert_slice":
            source, destination = (self._numbers[op.operands[i]] for i in (0, DESTINATION))
            window = _window(op, 2)
            result, direct = self._new(op.results[0]), in_place(op)
            if direct:
                self.updates.append((op, result))
            return [Update(op, source, destination, result, window, direct)]
        if row.tiling == "view":
            source = self._numbers[op.operands[0]]
            window = _window(op, 1) if op.name == "spyre.slice" else None
            part = window is not None or not _lies_as_typed(op)
            return [View(source, self._new(op.results[0]), part, window)]
        reads = [value for value in op.operands if _is_tensor(value)]
        steps: list[Step] = []
        for result in computed_results(op):
            number = self._new(result)
            self.owners.append((result, number))
            steps.append(
                Compute(
                    op,
                    tuple(self._numbers[value] for value in reads),
                    number,
                    tuple(self._numbers[v] for v in reads if _in_step(row.tiling, v, result)),
                )
            )
        return steps

    def insertion_point(self, copy: Copy) -> ir.InsertionPoint:
        """Where a copy stands: before its step, at the end of a loop's body, or at the end of the function."""
        if copy.key is None:
            return ir.InsertionPoint(self.end)
        op = cast(ir.Operation, copy.key)
        if copy.at_end:
            return ir.InsertionPoint.at_block_terminator(op.regions[0].blocks[0])
        return ir.InsertionPoint(op)

    def source(self, copy: Copy) -> ir.Value:
        """What is copied: a value of the function, or what an earlier copy made."""
        return self._made[copy.source] if copy.source < 0 else self.values[copy.source]

    def substitute(self, copy: Copy, new: ir.Value) -> None:
        """Lets the step that the copy is for use the copy."""
        self._made[copy.target] = new
        user = self.end if copy.key is None else cast(ir.Operation, copy.key)
        number = copy.operand
        if copy.key is None:
            tensors = [i for i, value in enumerate(user.operands) if _is_tensor(value)]
            number = tensors[copy.operand]
        elif copy.at_end:
            block = user.regions[0].blocks[0]
            user = block.operations[len(block.operations) - 1].operation
        elif user.name == "scf.for":
            number += LOOP_BOUNDS
        else:
            number = DESTINATION
        user.operands[number] = new


def _is_tensor(value: ir.Value) -> bool:
    return isinstance(value.type, ir.RankedTensorType)


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


def _window(op: ir.Operation, first: int) -> Hashable:
    """Equal for equal windows: literal offsets, index values and the shape of the piece."""
    offsets = tuple(ir.DenseI64ArrayAttr(op.attributes["static_offsets"]))
    piece = op.results[0] if op.name == "spyre.slice" else op.operands[0]
    return offsets, tuple(list(op.operands)[first:]), tuple(piece.type.shape)


def _in_step(tiling: str, read: ir.Value, result: ir.Value) -> bool:
    """Whether the result may lie over this read: elementwise, of the same shape and layout."""
    return tiling == "pointwise" and read.type == result.type
