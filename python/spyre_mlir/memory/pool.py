# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The HBM pool: addresses for buffers that live and die.

A block is live from the step that first writes it to the last step that touches it, both included.
Blocks are placed in the order in which they come to life; the result does not depend on anything
but that list."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from spyre_mlir.diagnostics import Refusal
from spyre_mlir.hardware import STICK_BYTES


class Block(NamedTuple):
    """`bytes` of memory, live from step `first` to step `last`, both included."""

    bytes: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Pool:
    """Where the blocks lie: one offset in bytes per block, in the order given, and the size of the
    whole in bytes."""

    offsets: tuple[int, ...]
    bytes: int


def whole_sticks(size: int) -> int:
    """`size` bytes rounded up to whole sticks: sticks are aligned, so every block is a number of
    them."""
    return -(-size // STICK_BYTES) * STICK_BYTES


def allocate(blocks: Sequence[Block], *, limit: int | None = None) -> Pool:
    """Offsets for `blocks`, first fit, aligned to sticks; two blocks that are live at the same step
    never overlap.

    Holes are tried in the order in which they were freed; what is left of a hole becomes the
    youngest hole; holes are not joined; where none fits the pool grows. That is what the reference
    compiler does, and symbols of a bundle are numbered by distinct offset, so it is kept (observed
    over all its bundles with a pool). If the pool so found is larger than `limit` bytes, the blocks
    are packed anew by `pack`, and only if that is too large as well the program is refused
    (SPY120)."""
    pool = _Holes().place(blocks)
    if limit is not None and pool.bytes > limit:
        pool = pack(blocks)
        if pool.bytes > limit:
            raise _too_large(blocks, pool.bytes, limit)
    return pool


def pack(blocks: Sequence[Block]) -> Pool:
    """Offsets by lowest address: each block, largest first, lies as low as the blocks that live
    with it allow.

    Slower than `allocate` (quadratic in the number of blocks) and at times tighter."""
    offsets = [0] * len(blocks)
    placed: list[int] = []
    for number in sorted(range(len(blocks)), key=lambda n: (-blocks[n].bytes, blocks[n].first, n)):
        block = blocks[number]
        offset = 0
        for other in placed:  # by rising offset
            theirs = blocks[other]
            if theirs.last < block.first or block.last < theirs.first:
                continue
            if offset + whole_sticks(block.bytes) <= offsets[other]:
                break
            offset = max(offset, offsets[other] + whole_sticks(theirs.bytes))
        offsets[number] = offset
        insort(placed, number, key=lambda n: (offsets[n], n))
    return Pool(tuple(offsets), _top(blocks, offsets))


def _top(blocks: Sequence[Block], offsets: Sequence[int]) -> int:
    return max((o + whole_sticks(b.bytes) for b, o in zip(blocks, offsets, strict=True)), default=0)


def peak(blocks: Sequence[Block]) -> tuple[int, int]:
    """The largest number of bytes live at one step, and the first such step (0, 0 without blocks):
    no pool is smaller."""
    changes: dict[int, int] = {}
    for block in blocks:
        size = whole_sticks(block.bytes)
        changes[block.first] = changes.get(block.first, 0) + size
        changes[block.last + 1] = changes.get(block.last + 1, 0) - size
    most = live = step = 0
    for at in sorted(changes):
        live += changes[at]
        if live > most:
            most, step = live, at
    return most, step


def _too_large(blocks: Sequence[Block], size: int, limit: int) -> Refusal:
    most, step = peak(blocks)
    live = sorted((b.bytes for b in blocks if b.first <= step <= b.last), reverse=True)
    return Refusal(
        "SPY120",
        f"the intermediates need a pool of {size} bytes, {size - limit} bytes over its limit of"
        f" {limit} bytes",
        notes=(
            f"at step {step} there are {len(live)} buffers alive, {most} bytes together;"
            f" the largest has {live[0]} bytes",
        ),
        remedy="tile the operations around that step together, or raise the limit of the pool",
    )


class _Holes:
    """Free pieces of the pool by exact size, each with the moment at which it became free."""

    def __init__(self) -> None:
        self._by_size: dict[int, deque[tuple[int, int]]] = {}
        self._sizes: list[int] = []
        self._clock = 0
        self._top = 0

    def place(self, blocks: Sequence[Block]) -> Pool:
        offsets = [0] * len(blocks)
        births = sorted(range(len(blocks)), key=lambda n: (blocks[n].first, n))
        deaths = sorted(range(len(blocks)), key=lambda n: (blocks[n].last, n))
        dead = 0
        for number in births:
            while blocks[deaths[dead]].last < blocks[number].first:
                gone = deaths[dead]
                self._free(offsets[gone], whole_sticks(blocks[gone].bytes))
                dead += 1
            offsets[number] = self._take(whole_sticks(blocks[number].bytes))
        return Pool(tuple(offsets), self._top)

    def _free(self, offset: int, size: int) -> None:
        if size == 0:
            return
        holes = self._by_size.get(size)
        if holes is None:
            holes = self._by_size[size] = deque()
            insort(self._sizes, size)
        holes.append((self._clock, offset))
        self._clock += 1

    def _take(self, size: int) -> int:
        oldest: tuple[int, int] | None = None
        of_size = 0
        for candidate in self._sizes[bisect_left(self._sizes, size) :]:
            hole = self._by_size[candidate][0]
            if oldest is None or hole < oldest:
                oldest, of_size = hole, candidate
        if oldest is None:
            offset = self._top
            self._top += size
            return offset
        holes = self._by_size[of_size]
        holes.popleft()
        if not holes:
            del self._by_size[of_size], self._sizes[bisect_left(self._sizes, of_size)]
        offset = oldest[1]
        self._free(offset + size, of_size - size)
        return offset
