# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The interpreter of planned memory: tensors lie as bytes where layouts and places put them.

What an operation means is what the reference interpreter says; but it reads its operands from
memory and writes its result there, whole sticks at a time. Views name bytes of their operand,
windows those of their buffer, and loops write over what was there before. Padding, and whatever
holds no data, is marked by a shadow per byte."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spyre_mlir import ir
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.hardware import STICK_BYTES
from spyre_mlir.interpreter import arithmetic, control
from spyre_mlir.interpreter.apply import perform
from spyre_mlir.interpreter.calls import Call, Kind
from spyre_mlir.interpreter.cells import Bound, Cells, first_cell
from spyre_mlir.interpreter.execution import Output, bind_arguments
from spyre_mlir.interpreter.machine import Frame, Handler, Machine, scalar
from spyre_mlir.interpreter.placement import Memory, Placement, layout_of, read_placement
from spyre_mlir.interpreter.program import Step, TensorKind
from spyre_mlir.layouts import device_layout
from spyre_mlir.machine.formats import HOST, convert
from spyre_mlir.machine.memory import DATA, POISON, Buffer
from spyre_mlir.machine.transfer import positions, stored, to_device
from spyre_mlir.optable import OPS
from spyre_mlir.tensors import TensorType

Positions = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Placed:
    """A tensor in memory: for each cell, the place of its element, counted in elements.

    `dtype` is what an element is stored as, None where its type says so."""

    memory: Memory
    positions: Positions
    dtype: np.dtype[Any] | None = None


class DeviceMachine(Machine):
    """Runs one function in the memory that was planned for it."""

    def __init__(
        self, placement: Placement, buffers: dict[Memory, Buffer], steps: int | None
    ) -> None:
        function = placement.function
        super().__init__({function.name: function}, HANDLERS, steps=steps)
        self.placement = placement
        self.buffers = buffers

    def step(self, frame: Frame, step: Step) -> None:
        """Operations on tensors work on memory, all others as ever."""
        if step.op is None or not any(isinstance(kind, TensorKind) for kind in step.result_kinds):
            super().step(frame, step)
            return
        try:
            results = self.placed(frame, step)
        except Refusal as refusal:
            if refusal.place is None:
                refusal.place = step.location
            raise
        for slot, value in zip(step.results, results, strict=True):
            frame.values[slot] = value

    def placed(self, frame: Frame, step: Step) -> Sequence[Placed | None]:
        """The results of an operation of the table, in memory."""
        assert step.op is not None
        if step.name == "spyre.insert_slice":
            return [self.insert(frame, step)]
        if _names_cells(step):
            return [self.view(frame, step, frame.values[step.operands[0]])]
        targets = [self.target(frame, slot) for slot in step.results]
        if step.name != "spyre.empty":
            self.compute(frame, step, targets)
        return targets

    def kind(self, frame: Frame, kind: Kind | TensorKind, value: Any) -> Bound | str:
        """A value's type in this activation."""
        return frame.bind(kind) if isinstance(kind, TensorKind) else str(kind)

    def compute(self, frame: Frame, step: Step, targets: Sequence[Placed | None]) -> None:
        """Reads the operands, computes, writes the results that have a place."""
        assert step.op is not None
        operands = [
            self.cells(frame.values[slot], kind) if isinstance(kind, TensorKind)
            else frame.values[slot]
            for slot, kind in zip(step.operands, step.operand_kinds, strict=True)
        ]  # fmt: skip
        kinds = tuple(self.kind(frame, kind, None) for kind in step.operand_kinds)
        bounds = tuple(frame.bind(k) for k in step.result_kinds if isinstance(k, TensorKind))
        call = Call(step.op, tuple(operands), kinds, bounds, step.attributes)
        for slot, target, cells, bound in zip(
            step.results, targets, perform(call), bounds, strict=True
        ):
            if target is not None:
                whole = not self.placement.types[slot].window
                self.write(target, cells, bound, whole=whole)

    # Places

    def target(self, frame: Frame, slot: int) -> Placed | None:
        """Where a result is written: a window where it is inserted, a buffer where it was placed.
        None for a result that nobody uses and that was given no place."""
        tensor = self.placement.types[slot]
        if tensor.window and slot in self.placement.inserts:
            return self.into(frame, self.placement.inserts[slot])
        planned = self.placement.places.get(slot)
        if planned is None:
            return None
        dtype = stored(layout_of(tensor), tensor.element)
        first = planned.offset // dtype.itemsize
        if planned.memory not in self.buffers:
            raise Refusal("SPY149", f"there is no {planned.memory[0]} {planned.memory[1]}")
        size = self.buffers[planned.memory].bytes.size
        if planned.offset < 0 or planned.offset + layout_of(tensor).bytes > size:
            raise Refusal(
                "SPY149",
                f"bytes {planned.offset} to {planned.offset + layout_of(tensor).bytes} do not lie "
                f"in the {size} bytes of {planned.memory[0]} {planned.memory[1]}",
            )
        cells = positions(layout_of(tensor), tensor.shape).reshape(tensor.shape)
        return Placed(planned.memory, cells + first, dtype)

    def located(self, frame: Frame, slot: int) -> Placed:
        """Where a value lies, also if it is not computed yet: views and insertions before it only
        name memory."""
        origin = self.placement.origins.get(slot)
        if origin is None:
            value: Placed = frame.values[slot]
            return value
        if origin.name == "scf.for":
            return self.located(frame, self.placement.carried[slot])
        if origin.name == "spyre.insert_slice":
            return self.located(frame, origin.operands[1])
        if _names_cells(origin):
            return self.view(frame, origin, self.located(frame, origin.operands[0]))
        found = self.target(frame, slot)
        if found is None:
            raise Refusal("SPY149", f"the result of '{origin.name}' was given no place")
        return found

    def into(self, frame: Frame, insertion: Step) -> Placed:
        """The cells that an insertion writes."""
        source, destination = insertion.operand_kinds[:2]
        assert isinstance(source, TensorKind) and isinstance(destination, TensorKind)
        buffer = self.located(frame, insertion.operands[1])
        whole = frame.bind(destination)
        window = Bound(frame.bind(source).shape, "i64")
        offsets = tuple(self.index(frame, slot) for slot in insertion.operands[2:])
        call = Call(
            OPS["slice"],
            (Cells(buffer.positions), *offsets),
            (Bound(whole.shape, "i64"), *("index" for _ in offsets)),
            (window,),
            {"static_offsets": insertion.attributes["static_offsets"]},
        )
        return Placed(buffer.memory, perform(call)[0].values, buffer.dtype)

    def view(self, frame: Frame, step: Step, source: Placed) -> Placed:
        """The cells that a view names: its meaning, applied to their places."""
        assert step.op is not None
        indices = [self.index(frame, slot) for slot in step.operands[1:]]
        kinds = [self.kind(frame, kind, None) for kind in step.operand_kinds]
        bounds = [frame.bind(kind) for kind in step.result_kinds if isinstance(kind, TensorKind)]
        first = kinds[0]
        assert isinstance(first, Bound)
        call = Call(
            step.op,
            (Cells(source.positions), *indices),
            (replace(first, element="i64"), *kinds[1:]),
            (replace(bounds[0], element="i64"),),
            step.attributes,
        )
        return Placed(source.memory, perform(call)[0].values, source.dtype)

    def index(self, frame: Frame, slot: int) -> int:
        """An index, computed anew: it may be defined behind the operation whose place it says."""
        origin = self.placement.origins.get(slot)
        if origin is None or origin.name == "scf.for":
            return int(frame.values[slot])
        operands = [self.index(frame, operand) for operand in origin.operands]
        handler = self.handlers.get(origin.name)
        if handler is None or origin.regions:
            raise Refusal("SPY149", f"an offset is computed by '{origin.name}'")
        results = handler(self, frame, origin, operands)
        return int(results[origin.results.index(slot)])

    # Memory

    def lanes(self, value: Placed, element: str) -> tuple[Any, Any]:
        """The memory of a value as elements, and the shadow of each of their bytes."""
        buffer = self.buffers[value.memory]
        dtype = value.dtype
        if dtype is None:
            dtype = stored(device_layout((), element), element)
        return buffer.bytes.view(dtype), buffer.shadow.reshape(-1, dtype.itemsize)

    def cells(self, value: Placed, kind: TensorKind) -> Cells:
        """What a tensor in memory holds."""
        lanes, shadow = self.lanes(value, kind.element)
        values = convert(lanes[value.positions], HOST[kind.element])
        marks = shadow[value.positions].any(axis=-1)
        return Cells(values, marks if marks.any() else None)

    def write(self, target: Placed, cells: Cells, bound: Bound, *, whole: bool) -> None:
        """Writes the valid cells; what else lies in their sticks, or in a buffer of its own
        (`whole`), holds no data then."""
        lanes, shadow = self.lanes(target, bound.element)
        inside = target.positions[bound.region]
        per_stick = STICK_BYTES // lanes.dtype.itemsize
        shadow.reshape(-1, STICK_BYTES)[inside // per_stick] = POISON
        if whole:
            shadow[target.positions] = POISON
        lanes[inside] = convert(cells.values[bound.region], lanes.dtype)
        marks = np.full(inside.shape, DATA, np.uint8)
        if cells.poison is not None:
            marks[cells.poison[bound.region]] = POISON
        shadow[inside] = marks[..., None]

    def insert(self, frame: Frame, step: Step) -> Placed:
        """Moves the source to where it belongs, unless it was computed there."""
        source = frame.values[step.operands[0]]
        kind = step.operand_kinds[0]
        assert isinstance(kind, TensorKind)
        target, bound = self.into(frame, step), frame.bind(kind)
        there = target.memory == source.memory and np.array_equal(
            target.positions[bound.region], source.positions[bound.region]
        )
        if not there:
            self.write(target, self.cells(source, kind), bound, whole=False)
        return self.located(frame, step.operands[1])


def _names_cells(step: Step) -> bool:
    """Whether an operation is a view of its operand."""
    return step.op is not None and step.op.tiling == "view" and bool(step.op.operands)


def loop(machine: Machine, frame: Frame, step: Step, operands: list[Any]) -> Sequence[Any]:
    """Counted loop over [lower, upper): what it carries stays where it is."""
    lower, upper, stride = (int(value) for value in operands[:3])
    if stride <= 0:
        raise Refusal("SPY131", f"scf.for: the step is {stride}")
    carried = operands[3:]
    kind = step.operand_kinds[0]
    for number in range(lower, upper, stride):
        yielded = machine.block(frame, step.regions[0], [scalar(number, str(kind)), *carried])
        for position, (before, after) in enumerate(zip(carried, yielded, strict=True)):
            if isinstance(before, Placed) and not _same(before, after):
                raise Refusal(
                    "SPY149",
                    f"scf.for: carried tensor {position} begins in {before.memory[0]} "
                    f"{before.memory[1]} and is yielded from another place",
                )
        carried = [
            before if isinstance(before, Placed) else after
            for before, after in zip(carried, yielded, strict=True)
        ]
    return carried


def _same(first: Placed, second: Placed) -> bool:
    return first.memory == second.memory and np.array_equal(first.positions, second.positions)


HANDLERS: dict[str, Handler] = {**arithmetic.HANDLERS, **control.HANDLERS, "scf.for": loop}
"""Upstream operation name -> what it does. Those of `tensor` have no place in memory."""


def run_device(
    module: ir.Module | ir.Operation,
    arrays: Sequence[Any],
    *,
    symbols: Mapping[str, int] | None = None,
    steps: int | None = None,
) -> tuple[Any, ...]:
    """Runs the function of a module whose memory is planned (`spyre-plan-memory`), byte by byte.

    `arrays` are the arguments of the program as it was before constants and scalars became
    arguments, in order, without those that introduce a symbol of `symbols`. Results are those of
    `execution.execute`. `steps`: operations that may run (None: any number).

    Raises `Refusal` SPY130 to SPY139 as the reference interpreter, SPY144 for a valid cell of a
    result that holds no data, SPY147, and SPY149 where places contradict each other."""
    placement = read_placement(module)
    machine = DeviceMachine(placement, {}, steps)
    values = all_arguments(placement, arrays, symbols or {})
    tensors = [v for v in values if isinstance(v, Cells)]
    for number, (tensor, cells) in enumerate(zip(placement.arguments, tensors, strict=True)):
        machine.buffers["argument", number] = to_device(
            cells.values, layout_of(tensor), poison=cells.poison
        )
    first = len(placement.arguments)
    for number, tensor in enumerate(placement.results, start=first):
        machine.buffers["argument", number] = Buffer.empty(layout_of(tensor).bytes)
    machine.buffers["pool", 0] = Buffer.empty(_whole_sticks(placement.pool_bytes))
    given = iter(range(first))
    placed = [
        _argument(placement, next(given)) if isinstance(value, Cells) else value for value in values
    ]
    returned, frame = machine.call(placement.function.name, placed, [None] * len(placed))
    return _results(machine, frame, returned)


def _whole_sticks(size: int) -> int:
    return -(-size // STICK_BYTES) * STICK_BYTES


def _argument(placement: Placement, number: int) -> Placed:
    tensor = placement.arguments[number]
    cells = positions(layout_of(tensor), tensor.shape).reshape(tensor.shape)
    return Placed(("argument", number), cells)


def all_arguments(
    placement: Placement, arrays: Sequence[Any], symbols: Mapping[str, int]
) -> list[Any]:
    """Arguments of the function as cells and scalars, those that the compiler added included.

    `arrays` and `symbols` as for `run_device`; refused as by `execution.bind_arguments`."""
    function = placement.function
    kinds = function.body.kinds
    tensors = [i for i, kind in enumerate(kinds) if isinstance(kind, TensorKind)]
    added = {
        tensors[number]: np.asarray(value, HOST[placement.arguments[number].element])
        for number, value in placement.constants.items()
    }
    named = {symbol.argument for symbol in function.symbols if symbol.name in symbols}
    behind = {tensors[number]: argument for number, argument in placement.scalars.items()}
    given = iter(arrays)
    by_number: dict[int, Any] = {}
    for number in range(len(kinds)):
        if number in named:
            continue
        if number in added:
            by_number[number] = added[number]
        elif number in behind:
            by_number[number] = np.asarray(by_number[behind[number]])
        else:
            try:
                by_number[number] = next(given)
            except StopIteration:
                break
    return bind_arguments(function, [*by_number.values(), *given], symbols)


def _results(machine: DeviceMachine, frame: Frame, returned: Sequence[Any]) -> tuple[Any, ...]:
    """Tensors as they lie in the buffers of the results, scalars as returned."""
    placement = machine.placement
    kinds = placement.function.results
    outputs: list[Any] = []
    number = 0
    for kind, value in zip(kinds, returned, strict=True):
        if not isinstance(kind, TensorKind):
            outputs.append(value)
            continue
        outputs.append(_output(machine, number, placement.results[number], frame.bind(kind)))
        number += 1
    return tuple(outputs)


def _output(machine: DeviceMachine, number: int, tensor: TensorType, bound: Bound) -> Output:
    memory = ("argument", len(machine.placement.arguments) + number)
    places = positions(layout_of(tensor), tensor.shape).reshape(tensor.shape)
    kind = TensorKind(tensor.shape, tensor.element)
    cells = machine.cells(Placed(memory, places), kind)
    if cells.poison is not None and cells.poison[bound.region].any():
        cell = list(first_cell(cells.poison[bound.region]))
        raise Refusal("SPY144", f"the valid cell {cell} of result {number} holds no data")
    return Output(cells.values, cells.poison, bound)
