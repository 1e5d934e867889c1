# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where operations stand: those of one group side by side, what reads them behind."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from heapq import heapify, heappop, heappush
from itertools import accumulate, pairwise

from spyre_mlir import ir
from spyre_mlir.listings import Listing
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


def gather(function: ir.Operation, groups: Mapping[int, int]) -> None:
    """Moves operations so that those of one group stand side by side in their block; `groups` gives
    the number of each that is in one, by its number in the listing of the function. Nothing is moved
    over an operation with regions."""
    if len(set(groups.values())) == len(groups):
        return
    listing = Listing(function)
    rearranged = listing.per_kind(is_rearranged)
    for first, last in _intervals(listing, groups):
        members = [at for at in range(first, last + 1) if at in groups]
        if len({groups[at] for at in members}) == 1 and not _is_read(listing, members):
            end = listing.operation(last)
            for at in members[:-1]:
                listing.operation(at).move_before(end)
            continue
        own = {at - first: groups[at] for at in range(first, last + 1) if at in groups}
        reads = _reads(listing, first, last)
        views = [rearranged[kind] for kind in listing.kinds[first : last + 1]]
        _take_views(reads, views, own)
        _move(listing, first, arranged(reads, own))


def _is_read(listing: Listing, members: Sequence[int]) -> bool:
    """Whether one of the operations between these reads, by way of others of them too, what these write."""
    results, operands = listing.results, listing.operands
    written: set[int] = set()
    group = set(members)
    for at in range(members[0], members[-1] + 1):
        if at in group:
            written.update(range(results[at], results[at + 1]))
        elif not written.isdisjoint(operands[at]):
            return True
    return False


def _reads(listing: Listing, first: int, last: int) -> list[set[int]]:
    """What each operation of an interval reads from others of it, both counted from the first."""
    maker: dict[int, int] = {}
    reads = []
    for at in range(first, last + 1):
        reads.append({maker[value] for value in listing.operands[at] if value in maker})
        end = listing.results[at + 1]
        maker.update((value, at - first) for value in range(listing.results[at], end))
    return reads


def _intervals(listing: Listing, groups: Mapping[int, int]) -> list[tuple[int, int]]:
    """The operations from the first to the last of each group, as intervals of numbers that do not
    overlap, between the operations that have regions or end a block."""
    ends = listing.per_kind(lambda op: bool(len(op.regions)) or not len(op.results))
    stretches = list(accumulate(ends[kind] for kind in listing.kinds))
    spans: dict[tuple[int, int], tuple[int, int]] = {}
    for at in sorted(groups):
        key = stretches[at], groups[at]
        spans[key] = spans.get(key, (at, at))[0], at
    found: list[tuple[int, int]] = []
    for first, last in sorted(spans.values()):
        if found and first <= found[-1][1]:
            found[-1] = found[-1][0], max(last, found[-1][1])
        else:
            found.append((first, last))
    return found


def _take_views(
    reads: Sequence[Collection[int]], views: Sequence[bool], numbers: dict[int, int]
) -> None:
    """Lets a view stand with the group that reads it, if it is a view of what the group makes."""
    readers: list[list[int]] = [[] for _ in reads]
    for at in reversed(range(len(reads))):
        for source in reads[at]:
            readers[source].append(at)
        if at in numbers or not views[at]:
            continue
        source = _seen(at, reads, views)
        if source in numbers and any(numbers.get(r) == numbers[source] for r in readers[at]):
            numbers[at] = numbers[source]


def _seen(at: int, reads: Sequence[Collection[int]], views: Sequence[bool]) -> int:
    """What a view, or a view of a view, shows; itself where that is made elsewhere."""
    while views[at] and reads[at]:
        (at,) = reads[at]
    return at


def _move(listing: Listing, first: int, order: Sequence[int]) -> None:
    """Puts operations, counted from the first of an interval, into an order, from its end on: groups stand where their
    last member did, so that only their other members move."""
    behind = {at: at + 1 for at in range(-1, len(order))}
    before = {at: at - 1 for at in range(len(order) + 1)}
    for after, at in pairwise(reversed(order)):
        if behind[at] != after:
            listing.operation(first + at).move_before(listing.operation(first + after))
            behind[before[at]], before[behind[at]] = behind[at], before[at]
            behind[before[after]], before[at] = at, before[after]
            behind[at], before[after] = after, at
