# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which sticks an operand has on which core, as index arrays.

An index array has two axes per dim of the operation, in its order: the slice that a core works on,
then the place within the slice (in sticks for the dim that lies in the stick). Both have extent 1
along dims where the operand stands still. Memory is row-major over the operand's axes, the last one
outermost; along each it has extent + gap places, of one core alone in the scratchpad."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from spyre_mlir.diagnostics import Refusal
from spyre_mlir.hardware import LX_BYTES, STICK_BYTES
from spyre_mlir.machine.program import Step
from spyre_mlir.sdsc.model import Cut, Lx, Operand

Index = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Place:
    """One operand of an operation in memory.

    `cut`: slices per dim, fastest first, over the cores. `labels` and `extents`: the operation's
    dims; `running`: along which of them the operand runs. `within`: sticks from where the core's
    slice begins. `starts`: bytes from the start of the memory to the slice of each core;
    `advances`: bytes that each loop adds per trip (cores x loops)."""

    operand: Operand
    labels: tuple[str, ...]
    extents: tuple[int, ...]
    cut: Cut
    running: tuple[bool, ...]
    within: Index
    starts: Index
    advances: Index

    @property
    def stick(self) -> int:
        """Number of the dim that lies in the stick."""
        return self.labels.index(self.operand.stick)

    @property
    def packed(self) -> bool:
        """Whether the operand runs along the dim in its sticks; else a stick holds one element."""
        return self.running[self.stick]

    @property
    def lanes(self) -> int:
        """Elements of a stick."""
        return self.operand.storage.elements_per_stick

    @property
    def reach(self) -> int:
        """Bytes from the first to the last that one core touches."""
        return (int(self.within.max()) + 1) * STICK_BYTES

    def first(self, trips: tuple[int, ...]) -> Index:
        """Bytes to the slice of each core in one trip of the loops."""
        if not self.advances.any():
            return self.starts
        return self.starts + self.advances @ np.array(trips, np.int64)

    def sticks(self, trips: tuple[int, ...]) -> Index:
        """The index array of one trip: numbers of sticks in the memory."""
        starts = self.by_slice(self.first(trips) // STICK_BYTES)
        for dim, runs in enumerate(self.running):
            first = starts.take([0], axis=dim)
            if not runs and (starts == first).all():
                starts = first
        pairs = [part for count in starts.shape for part in (count, 1)]
        return starts.reshape(pairs) + self.within

    def by_slice(self, of_core: Index) -> Index:
        """One value per core as an array over the slices of each dim."""
        counts = [count for _, count in reversed(self.cut)]
        order = [label for label, _ in reversed(self.cut)]
        return of_core.reshape(counts).transpose([order.index(label) for label in self.labels])

    def core(self, position: int, shape: Sequence[int]) -> int:
        """The core (the first, if several share it) at a position of an index array."""
        at = np.unravel_index(position, tuple(shape))[::2]
        slices = dict(zip(self.labels, (int(part) for part in at), strict=True))
        core, step = 0, 1
        for label, count in self.cut:
            core += slices[label] * step
            step *= count
        return core


def place(step: Step, number: int, depth: int) -> Place:
    """The place of an operand in an operation inside `depth` loops."""
    sdsc = step.sdsc
    operand = sdsc.operands[number]
    labels = tuple(dim.label for dim in sdsc.dims)
    own = operand.place.cut if isinstance(operand.place, Lx) else None
    counts = dict(sdsc.cut if own is None else own)
    cut = tuple((label, count) for label, count in (own or sdsc.cut))
    axes = {axis.dim: axis for axis in operand.axes if axis.iterates}
    lengths = tuple(
        dim.extent // counts.get(dim.label, 1) if dim.label in axes else 1 for dim in sdsc.dims
    )
    starts, advances = _starts(step, number, depth)
    _check_sticks(step, number, starts, advances)
    return Place(
        operand,
        labels,
        tuple(dim.extent for dim in sdsc.dims),
        cut,
        tuple(label in axes for label in labels),
        _within(step, operand, dict(zip(labels, lengths, strict=True))),
        starts,
        advances,
    )


def _starts(step: Step, number: int, depth: int) -> tuple[Index, Index]:
    """Bytes to the slice of each core, and per trip. Scratchpads follow each other in memory."""
    where = step.sdsc.operands[number].place
    cores = step.sdsc.cores
    if isinstance(where, Lx):
        starts = np.arange(cores, dtype=np.int64) * LX_BYTES + where.address
        return starts, np.zeros((cores, depth), np.int64)
    addresses = step.addresses[number]
    advances = [address.advances or (0,) * depth for address in addresses]
    return (
        np.array([address.offset for address in addresses], np.int64),
        np.array(advances, np.int64).reshape(cores, depth),
    )


def _within(step: Step, operand: Operand, lengths: dict[str, int]) -> Index:
    """Sticks from the start of a core's slice, over the places within the slice."""
    extents = step.sdsc.extents
    local = isinstance(operand.place, Lx)
    lanes = operand.storage.elements_per_stick
    within = np.zeros((1,) * (2 * len(lengths)), np.int64)
    inner = 1
    labels = list(lengths)
    for axis in operand.axes:
        if not axis.iterates:
            continue
        unit = lanes if axis.dim == operand.stick else 1
        shape = [1] * (2 * len(lengths))
        shape[2 * labels.index(axis.dim) + 1] = lengths[axis.dim] // unit
        within = (
            within + np.arange(lengths[axis.dim] // unit, dtype=np.int64).reshape(shape) * inner
        )
        inner *= ((lengths[axis.dim] if local else extents[axis.dim]) + axis.gap) // unit
    return within


def _check_sticks(step: Step, number: int, starts: Index, advances: Index) -> None:
    for off in (starts, advances):
        wrong = np.flatnonzero(off % STICK_BYTES)
        if wrong.size:
            core = int(wrong[0]) // max(prod(off.shape[1:]), 1)
            raise Refusal(
                "SPY140",
                f"{step.file}: operand {number} of core {core} begins off the stick, at byte "
                f"{int(off.reshape(-1)[wrong[0]])}",
            )
