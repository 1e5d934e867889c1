# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Brute force over tile sizes: every cell of every operand, every tile of every size.

Shares no code with the planner. The flat index of each cell is read off as digits of the layout's
strides; of each tile the largest and the smallest value of each coordinate count. Dims on a stick
are counted in whole sticks, as far as the buffer goes."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import product
from math import prod

import numpy as np

from spyre_mlir.accesses import Access
from spyre_mlir.kernels import Kernel

STICK = 128
MOST_TILES = 65535

Size = tuple[int, int]
"""(tiles, elements per tile)."""


class Enumerated:
    """The coordinates of every cell of every operand, and the worst extents under any tile sizes."""

    def __init__(self, kernel: Kernel, limit: int) -> None:
        self.limit = limit
        self.names = [dim.symbol for dim in kernel.dims]
        self.extents = [-(-dim.extent // dim.stick) * dim.stick for dim in kernel.dims]
        self.units = [dim.stick for dim in kernel.dims]
        self.coordinates: list[tuple[np.ndarray, int, tuple[int, ...]]] = []
        self.known: dict[tuple[int, tuple[int, ...]], int] = {}
        for access in kernel.accesses:
            ends = [_end(access, dim.symbol, dim.extent) for dim in kernel.dims]
            cells = [np.minimum(np.arange(n), e) for n, e in zip(self.extents, ends, strict=True)]
            grid = dict(zip(self.names, np.ix_(*cells), strict=True))
            flat = np.int64(access.index.constant)
            for atom, coefficient in access.index.terms:
                flat = flat + coefficient * eval(
                    str(atom), {"floor": np.floor, "Mod": np.mod, **grid}
                )
            self._place(np.asarray(np.floor(flat), np.int64), access.layout)

    def _place(self, flat: np.ndarray, layout: object) -> None:
        sizes, steps = layout.device_size, layout.stride_map  # type: ignore[attr-defined]
        moving = [d for d, (n, s) in enumerate(zip(sizes, steps, strict=True)) if s > 0 and n > 1]
        for dim in sorted(moving, key=lambda d: -steps[d]):
            digit, flat = flat // steps[dim], flat % steps[dim]
            if dim < len(sizes) - 1:
                axes = tuple(a for a in range(digit.ndim) if np.any(np.diff(digit, axis=a)))
                stride = prod(sizes[dim + 1 : -1]) * STICK
                others = tuple(a for a in range(digit.ndim) if a not in axes)
                self.coordinates.append((digit.min(axis=others), stride, axes))

    def extent(self, number: int, tiles: Sequence[int]) -> int:
        """The largest extent of a coordinate over all tiles."""
        values, _, axes = self.coordinates[number]
        key = (number, tuple([tiles[a] for a in axes]))
        if key not in self.known:
            most = least = values
            for axis, tile in enumerate(key[1]):
                starts = np.arange(0, values.shape[axis], tile)
                most = np.maximum.reduceat(most, starts, axis=axis)
                least = np.minimum.reduceat(least, starts, axis=axis)
            self.known[key] = int((most - least).max()) + 1
        return self.known[key]

    def legal(self, tiles: Sequence[int]) -> bool:
        """Whether every span that varies is within the limit in every tile."""
        for number, (_, stride, _) in enumerate(self.coordinates):
            extent = self.extent(number, tiles)
            if extent > 1 and extent * stride > self.limit:
                return False
        return True

    def sizes(self, axis: int, *, exact: bool, cap: int = MOST_TILES) -> list[Size]:
        """Every tile size of an axis with at most `cap` tiles."""
        unit, extent = self.units[axis], self.extents[axis]
        units = -(-extent // unit)
        found = [(-(-units // size), size * unit) for size in range(1, units + 1)]
        return [
            (count, tile)
            for count, tile in found
            if count <= cap and (not exact or units % (tile // unit) == 0)
        ]

    def whole(self, axis: int) -> list[Size]:
        """The axis uncut."""
        return [(1, -(-self.extents[axis] // self.units[axis]) * self.units[axis])]

    def overflowing(self) -> list[int]:
        """The axes whose coordinates overflow untiled, by falling span."""
        tiles = [self.whole(axis)[0][1] for axis in range(len(self.names))]
        spans: dict[int, int] = {}
        for number, (_, stride, axes) in enumerate(self.coordinates):
            span = self.extent(number, tiles) * stride
            if span > self.limit and axes:
                for axis in axes:
                    spans[axis] = max(spans.get(axis, 0), span)
        return sorted(spans, key=lambda axis: -spans[axis])


def _end(access: Access, name: str, extent: int) -> int:
    """The last value of a symbol that still lies in its row of the buffer."""
    step = dict(access.index.terms).get(name)
    for size, stride in zip(access.shape, access.strides, strict=True):
        if stride == step and size > 1:
            return max(extent, size - access.index.constant // stride % size) - 1
    return extent - 1


def choices(
    lists: Sequence[Sequence[Size]], dims: int
) -> Iterator[tuple[tuple[int, int, int], tuple[int, ...]]]:
    """((product of counts, axes cut, largest count), tiles) of every choice, cheapest first."""
    found = []
    for choice in product(*lists):
        counts = [count for count, _ in choice]
        cut = sum(count > 1 for count in counts)
        if cut <= dims:
            found.append(((prod(counts), cut, max(counts)), tuple([t for _, t in choice])))
    yield from sorted(found)


def fewest(program: Enumerated, lists: Sequence[Sequence[Size]], dims: int = sys.maxsize) -> int:
    """Tiles of the cheapest legal choice; 0 if none is legal."""
    return next((cost[0] for cost, tiles in choices(lists, dims) if program.legal(tiles)), 0)


def optimum(program: Enumerated, free: Sequence[int]) -> int:
    """The fewest tiles of any tile sizes of the axes that may be cut."""
    lists = [
        program.sizes(axis, exact=False) if axis in free else program.whole(axis)
        for axis in range(len(program.names))
    ]
    return fewest(program, lists)


def optimum_of_policy(
    program: Enumerated, free: Sequence[int], *, cap: int = 64, max_dims: int = 3
) -> int:
    """The fewest tiles as the default policy prefers them: docs/tiling.md, by exhaustion."""
    order = [axis for axis in program.overflowing() if axis in free]
    tiers = [{"exact": True, "cap": cap}, {"exact": False, "cap": cap}, {"exact": False}]
    everything = [*order, *[axis for axis in free if axis not in order]]
    for allowed, dims in ((tiers[:1], max_dims), (tiers, max_dims), (tiers, sys.maxsize)):
        for axes in (order, everything):
            taken = dict.fromkeys(axes, allowed[-1])

            def lists(taken: dict[int, dict[str, object]] = taken) -> list[list[Size]]:
                return [
                    program.sizes(a, **taken[a]) if a in taken else program.whole(a)  # type: ignore[arg-type]
                    for a in range(len(program.names))
                ]

            if not fewest(program, lists(), dims):
                continue
            for axis in axes:
                for tier in allowed:
                    taken[axis] = tier
                    if fewest(program, lists(), dims):
                        break
            return fewest(program, lists(), dims)
    return 0
