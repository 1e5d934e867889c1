# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the operations of a bundle on memory, core by core, trip by trip.

Each operation reads all its operands on all cores, computes, and writes; operations follow each
other. The cores of one operation run at the same time, so that what one writes no other may read or
write; cores that differ only in slices of a reduced dim share their output. An operand may lie
under the output if every core reads a stick where it writes it, in functions that work cell by
cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NoReturn

import numpy as np

from spyre_mlir.diagnostics import Refusal
from spyre_mlir.hardware import LX_BYTES, STICK_BYTES
from spyre_mlir.machine.compute import Operation, Tensor, compute
from spyre_mlir.machine.formats import STORED
from spyre_mlir.machine.functions import POINTWISE
from spyre_mlir.machine.memory import POISON, READ, UNWRITTEN, WRITTEN, Array, Store
from spyre_mlir.machine.places import Index, Place, place
from spyre_mlir.machine.program import Program, Repeat, Step
from spyre_mlir.sdsc.model import Hbm

Trips = tuple[int, ...]

LX = "lx"
"""The store of all scratchpads, one behind the other."""

IN_PLACE = (*POINTWISE, "identity")
"""Functions that may write over what they read."""


@dataclass(frozen=True, slots=True)
class UnwrittenRead:
    """The first time that an operand read bytes that nobody wrote: `address` in bytes."""

    file: str
    operand: int
    core: int
    trips: Trips
    memory: str
    address: int

    def __str__(self) -> str:
        return (
            f"{self.file}: operand {self.operand} on core {self.core}{_in_trips(self.trips)} reads "
            f"byte {self.address} of {self.memory}, which nobody wrote"
        )


@dataclass(frozen=True, slots=True)
class Prepared:
    """An execution with the places of its operands."""

    step: Step
    places: tuple[Place, ...]
    operation: Operation


@dataclass(slots=True)
class Machine:
    """Memory, and the operations that run on it.

    `limit`: bytes that one core may reach from one base; `steps`: operations that may run;
    `strict`: whether a read of bytes that nobody wrote is an error; `values`: whether operations
    compute, or only touch memory."""

    program: Program
    stores: dict[int | str, Store]
    limit: int
    steps: int | None = None
    strict: bool = False
    values: bool = True
    ran: list[tuple[Prepared, Trips]] = field(default_factory=list)
    unwritten: list[UnwrittenRead] = field(default_factory=list)
    _seen: set[tuple[str, int]] = field(default_factory=set)

    def run(self) -> None:
        """Runs the whole program."""
        self._body(_prepared(self.program.body, 0), ())

    def _body(self, nodes: Sequence[Prepared | Loop], trips: Trips) -> None:
        for node in nodes:
            if isinstance(node, Prepared):
                self._step(node, trips)
            else:
                for trip in range(node.trips):
                    self._body(node.body, (*trips, trip))

    def _step(self, prepared: Prepared, trips: Trips) -> None:
        if self.steps is not None and len(self.ran) >= self.steps:
            raise Refusal("SPY147", f"the bundle runs more than {self.steps} operations")
        if 0 in prepared.step.sdsc.extents.values():
            return  # of a symbolic dim nothing is valid
        numbers = [self._located(prepared, i, trips) for i in range(len(prepared.places))]
        out = len(numbers) - 1
        self._claim(prepared, numbers, trips)
        for number, (own, sticks) in enumerate(zip(prepared.places, numbers, strict=True)):
            self.store(own).touched[sticks] |= WRITTEN if number == out else READ
        if self.values:
            inputs = [self._read(prepared, i, numbers[i], trips) for i in range(out)]
            with np.errstate(all="ignore"):
                result = compute(prepared.operation, inputs)
            self._write(prepared, numbers[out], result)
        self.ran.append((prepared, trips))

    # Addresses

    def store(self, place: Place) -> Store:
        """The memory that an operand lies in."""
        where = place.operand.place
        return self.stores[where.buffer if isinstance(where, Hbm) else LX]

    def _located(self, prepared: Prepared, number: int, trips: Trips) -> Index:
        """The sticks of an operand, all of them in its memory and within reach."""
        own = prepared.places[number]
        store = self.store(own)
        first = own.first(trips)
        if isinstance(own.operand.place, Hbm):
            start, end = first, len(store.sticks) * STICK_BYTES
            if own.reach > self.limit:
                self._fail(
                    "SPY143",
                    prepared,
                    number,
                    (0, trips),
                    f"reaches over {own.reach} bytes of {store.name}, the limit is {self.limit}",
                )
        else:
            start, end = first % LX_BYTES, LX_BYTES
        wrong = np.flatnonzero((start < 0) | (start + own.reach > end))
        if wrong.size:
            core = int(wrong[0])
            self._fail(
                "SPY140",
                prepared,
                number,
                (core, trips),
                f"touches bytes {int(start[core])} to {int(start[core]) + own.reach} of "
                f"{store.name}, which has {end}",
            )
        return own.sticks(trips)

    def _claim(self, prepared: Prepared, numbers: Sequence[Index], trips: Trips) -> None:
        """No stick is written twice, nor read by another core than the one that writes it."""
        out = prepared.places[-1]
        store, sticks = self.store(out), numbers[-1]
        positions = np.arange(sticks.size, dtype=np.int64).reshape(sticks.shape)
        store.owner[sticks] = positions
        try:
            twice = np.flatnonzero(store.owner[sticks] != positions)
            if twice.size:
                self._twice(prepared, sticks, store, int(twice[0]), trips)
            for number, (own, read) in enumerate(
                zip(prepared.places[:-1], numbers[:-1], strict=True)
            ):
                if self.store(own) is store:
                    self._undisturbed(prepared, number, read, (sticks, positions, store), trips)
        finally:
            store.owner[sticks] = -1

    def _twice(
        self, prepared: Prepared, sticks: Index, store: Store, at: int, trips: Trips
    ) -> NoReturn:
        out, number = prepared.places[-1], int(sticks.flat[at])
        cores = [out.core(p, sticks.shape) for p in (at, int(store.owner[number]))]
        self._fail(
            "SPY141",
            prepared,
            len(prepared.places) - 1,
            (cores[0], trips),
            f"writes byte {number * STICK_BYTES} of {store.name}, which core {cores[1]} writes too",
        )

    def _undisturbed(
        self,
        prepared: Prepared,
        number: int,
        read: Index,
        written: tuple[Index, Index, Store],
        trips: Trips,
    ) -> None:
        sticks, positions, store = written
        owners = store.owner[read]
        hit = owners >= 0
        if prepared.step.sdsc.function in IN_PLACE and read.shape == sticks.shape:
            hit &= owners != positions
        bad = np.flatnonzero(hit)
        if bad.size:
            own, out = prepared.places[number], prepared.places[-1]
            at = int(bad[0])
            writer = out.core(int(owners.flat[at]), sticks.shape)
            self._fail(
                "SPY142",
                prepared,
                number,
                (own.core(at, read.shape), trips),
                f"reads byte {int(read.flat[at]) * STICK_BYTES} of {store.name}, which core "
                f"{writer} writes in the same operation",
            )

    # Values

    def _read(self, prepared: Prepared, number: int, sticks: Index, trips: Trips) -> Tensor:
        """The whole operand over the dims of the operation; which cells hold no data."""
        own = prepared.places[number]
        store = self.store(own)
        shadow = store.shadow[sticks]
        dtype = STORED[own.operand.format]
        values = _unstick(own, store.sticks[sticks].view(dtype))
        if not shadow.any():
            return Tensor(values, None)
        if (shadow == UNWRITTEN).any():
            self._note_unwritten(prepared, number, sticks, shadow, trips)
        marks = shadow.reshape(*shadow.shape[:-1], own.lanes, dtype.itemsize).max(axis=-1)
        return Tensor(values, _unstick(own, marks) != 0)

    def _note_unwritten(
        self, prepared: Prepared, number: int, sticks: Index, shadow: Array, trips: Trips
    ) -> None:
        key = (prepared.step.file, number)
        if key in self._seen:
            return
        self._seen.add(key)
        own = prepared.places[number]
        at, byte = divmod(int(np.argmax(shadow == UNWRITTEN)), STICK_BYTES)
        found = UnwrittenRead(
            prepared.step.file,
            number,
            own.core(at, sticks.shape),
            trips,
            self.store(own).name,
            int(sticks.flat[at]) * STICK_BYTES + byte,
        )
        if self.strict:
            raise Refusal("SPY148", str(found))
        self.unwritten.append(found)

    def _write(self, prepared: Prepared, sticks: Index, result: Tensor) -> None:
        own = prepared.places[-1]
        store = self.store(own)
        dtype = STORED[own.operand.format]
        lanes = _stick(own, result.values.astype(dtype, copy=False), sticks.shape)
        rows, shadow = _rows(lanes)
        if result.poison is not None:
            marks = _stick(own, result.poison, sticks.shape)
            bytes = np.repeat(marks, dtype.itemsize, axis=-1).astype(np.uint8) * POISON
            shadow[..., : bytes.shape[-1]] = bytes
        store.sticks[sticks] = rows
        store.shadow[sticks] = shadow
        store.writer[sticks] = len(self.ran)

    def _fail(
        self, code: str, prepared: Prepared, number: int, at: tuple[int, Trips], what: str
    ) -> NoReturn:
        core, trips = at
        raise Refusal(
            code,
            f"{prepared.step.file} ({prepared.step.sdsc.function}): operand {number} on core "
            f"{core}{_in_trips(trips)} {what}",
        )


@dataclass(frozen=True, slots=True)
class Loop:
    """A counted loop of prepared executions."""

    trips: int
    body: tuple[Prepared | Loop, ...]


def _prepared(nodes: Sequence[Step | Repeat], depth: int) -> tuple[Prepared | Loop, ...]:
    found: list[Prepared | Loop] = []
    for node in nodes:
        if isinstance(node, Repeat):
            found.append(Loop(node.trips, _prepared(node.body, depth + 1)))
            continue
        places = tuple(place(node, i, depth) for i in range(len(node.sdsc.operands)))
        found.append(Prepared(node, places, Operation.of(node, places)))
    return tuple(found)


def _in_trips(trips: Trips) -> str:
    return f" in trip {list(trips)}" if trips else ""


# --- sticks and tensors --------------------------------------------------------------------------


def _unstick(own: Place, lanes: Array) -> Array:
    """Lanes by stick (index axes, then lanes) as a tensor over the operation's dims, with lanes as a
    last axis where a stick holds one element."""
    rank = len(own.labels)
    if own.packed:
        lanes = np.moveaxis(lanes, -1, 2 * own.stick + 2)
    pairs = list(lanes.shape)
    sizes = []
    for dim in range(rank):
        take = 3 if own.packed and dim == own.stick else 2
        sizes.append(int(np.prod(pairs[:take])))
        del pairs[:take]
    tensor = lanes.reshape(*sizes, *pairs)
    for dim, (size, runs) in enumerate(zip(sizes, own.running, strict=True)):
        if size > 1 and not runs:  # every core has a copy of its own
            tensor = tensor.repeat(own.extents[dim] // size, axis=dim)
    return tensor


def _stick(own: Place, tensor: Array, shape: Sequence[int]) -> Array:
    """A tensor over the operation's dims as lanes by stick. Where a stick holds one element, the
    tensor's last axis counts the lanes that are written."""
    split: list[int] = []
    whole: list[int] = []
    for dim in range(len(own.labels)):
        slices, within = shape[2 * dim], shape[2 * dim + 1]
        packed = own.packed and dim == own.stick
        split += [slices, within, own.lanes] if packed else [slices, within]
        whole.append(slices * within * (own.lanes if packed else 1))
    tail = [] if own.packed else [tensor.shape[-1]]
    lanes = np.broadcast_to(tensor, (*whole, *tail)).reshape(*split, *tail)
    return np.moveaxis(lanes, 2 * own.stick + 2, -1) if own.packed else lanes


def _rows(lanes: Array) -> tuple[Array, Array]:
    """The bytes of whole sticks and their shadow: lanes behind the given ones hold no data."""
    bytes = np.ascontiguousarray(lanes).view(np.uint8)
    if bytes.shape[-1] == STICK_BYTES:
        return bytes, np.zeros(bytes.shape, np.uint8)
    rows = np.full((*bytes.shape[:-1], STICK_BYTES), 0xFF, np.uint8)
    shadow = np.full(rows.shape, POISON, np.uint8)
    rows[..., : bytes.shape[-1]] = bytes
    shadow[..., : bytes.shape[-1]] = 0
    return rows, shadow


def scratchpads(program: Program) -> int:
    """Bytes of the scratchpads that a program uses, of all cores."""
    cores = [
        step.sdsc.cores
        for step in program.steps()
        if any(not isinstance(operand.place, Hbm) for operand in step.sdsc.operands)
    ]
    return max(cores, default=0) * LX_BYTES
