# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where operations stand: those of one group side by side, what reads them behind."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from itertools import pairwise

from spyre_mlir import ir
from spyre_mlir.planning import is_rearranged


def arranged(reads: Sequence[Collection[int]], group_of: Mapping[int, int]) -> list[int]:
    """An order of operations 0, 1, ... in which each stands behind those it reads and those of one
    group side by side; otherwise as they stood, a group where its last member did.

    ValueError if groups depend on one another in a circle."""
    unit_of = [(1, group_of[op]) if op in group_of else (0, op) for op in range(len(reads))]
    members: dict[tuple[int, int], list[int]] = {}
    for op, unit in enumerate(unit_of):
        members.setdefault(unit, []).append(op)
    waiting = dict.fromkeys(members, 0)
    readers: dict[tuple[int, int], set[tuple[int, int]]] = {unit: set() for unit in members}
    for op, sources in enumerate(reads):
        for source in sources:
            before, after = unit_of[source], unit_of[op]
            if before != after and after not in readers[before]:
                readers[before].add(after)
                waiting[after] += 1
    ready = [(members[unit][-1], unit) for unit, count in waiting.items() if not count]
    heapify(ready)
    order: list[int] = []
    while ready:
        _, unit = heappop(ready)
        order += members[unit]
        for after in readers[unit]:
            waiting[after] -= 1
            if not waiting[after]:
                heappush(ready, (members[after][-1], after))
    if len(order) < len(reads):
        raise ValueError("groups depend on one another in a circle")
    return order


def gather(groups: Mapping[ir.Operation, int]) -> None:
    """Moves operations so that those of one group stand side by side in their block; `groups` gives
    the number of each that is in one. Nothing is moved over an operation with regions."""
    blocks = dict.fromkeys(op.block for op in groups)
    for block in blocks:
        for stretch in _stretches(block):
            numbers = {at: groups[op] for at, op in enumerate(stretch) if op in groups}
            if len(set(numbers.values())) < len(numbers):
                _gather(stretch, numbers)


def _stretches(block: ir.Block) -> Iterator[list[ir.Operation]]:
    """The operations of a block between those that have regions or end it."""
    stretch: list[ir.Operation] = []
    for op in block.operations:
        if len(op.operation.regions) or not len(op.operation.results):
            yield stretch
            stretch = []
        else:
            stretch.append(op.operation)
    yield stretch


def _gather(stretch: Sequence[ir.Operation], numbers: dict[int, int]) -> None:
    place = {op: at for at, op in enumerate(stretch)}
    reads = [
        {
            place[value.owner.operation]
            for value in op.operands
            if isinstance(value, ir.OpResult) and value.owner.operation in place
        }
        for op in stretch
    ]
    for at in reversed(range(len(stretch))):
        _take_view(at, stretch, reads, place, numbers)
    order = arranged(reads, numbers)
    if order != sorted(order):
        for before, after in pairwise(order):
            stretch[after].move_after(stretch[before])


def _take_view(
    at: int,
    stretch: Sequence[ir.Operation],
    reads: Sequence[Collection[int]],
    place: Mapping[ir.Operation, int],
    numbers: dict[int, int],
) -> None:
    """Lets a view stand with the group that reads it, if it is a view of what the group makes."""
    op = stretch[at]
    if at in numbers or not is_rearranged(op):
        return
    source = _seen(at, stretch, reads)
    users = (place.get(use.owner.operation) for use in op.results[0].uses)
    if source in numbers and any(
        numbers.get(user) == numbers[source] for user in users if user is not None
    ):
        numbers[at] = numbers[source]


def _seen(at: int, stretch: Sequence[ir.Operation], reads: Sequence[Collection[int]]) -> int:
    """What a view, or a view of a view, shows; itself where that is made elsewhere."""
    while is_rearranged(stretch[at]) and reads[at]:
        (at,) = reads[at]
    return at
