# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Brute force for tiling: every address of every operand in every iteration of a tiled program.

Shares nothing with the planner. A buffer is described by its host shape and by what each device dim
takes of a host dim; an access by one numpy function per host dim. Indices run over whole sticks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import product
from math import prod

import numpy as np

STICK = 128

Grid = dict[str, np.ndarray]


@dataclass
class Buffer:
    """Device dims, outer to inner, each (host dim or None, "whole" | "sticks" | "lane")."""

    shape: tuple[int, ...]
    lanes: int
    device: list[tuple[int | None, str]]

    def sizes(self, shape: tuple[int, ...]) -> list[int]:
        found = []
        for host, part in self.device:
            if part == "lane":
                found.append(self.lanes)
            elif host is None:
                found.append(1)
            else:
                found.append(shape[host] if part == "whole" else -(-shape[host] // self.lanes))
        return found

    def coordinates(self, cell: list[np.ndarray]) -> list[np.ndarray]:
        found = []
        for host, part in self.device:
            if host is None:
                found.append(np.zeros(1, dtype=np.int64))
            elif part == "whole":
                found.append(cell[host])
            else:
                sticks = cell[host] // self.lanes
                found.append(sticks if part == "sticks" else cell[host] % self.lanes)
        return found


@dataclass
class Operand:
    """An access: where in `buffer` a point of the iteration lies, one function per host dim."""

    buffer: Buffer
    cell: list[Callable[[Grid], np.ndarray]]
    symbols: list[set[str]]
    compact: bool = False


@dataclass
class Program:
    """An operation: symbol -> extent; symbol -> elements that stay together; which are summed
    over."""

    extents: dict[str, int]
    units: dict[str, int]
    reductions: set[str]
    operands: list[Operand]
    worst: dict[tuple[int, int], int] = field(default_factory=dict)

    def grids(self, tiles: dict[str, int], *, padding: bool = True) -> Iterator[Grid]:
        """The indices of each tile, stick dims rounded up to whole sticks; without `padding` cells
        only."""
        ranges = []
        for name, extent in self.extents.items():
            tile = tiles.get(name, self.rounded(name))
            starts = range(0, extent, tile)
            ends = [
                min(start + tile, self.rounded(name) if padding else extent) for start in starts
            ]
            ranges.append([(s, e) for s, e in zip(starts, ends, strict=True)])
        for box in product(*ranges):
            axes = np.ix_(*[np.arange(s, e) for s, e in box])
            yield dict(zip(self.extents, axes, strict=True))

    def rounded(self, name: str) -> int:
        unit = self.units[name]
        return -(-self.extents[name] // unit) * unit


def tile_spans(operand: Operand, grid: Grid) -> tuple[list[tuple[int, int]], int]:
    """((extent, span in bytes) per device dim but the stick, reach in bytes) of one tile."""
    cell = [at(grid) for at in operand.cell]
    shape = operand.buffer.shape
    if operand.compact:
        first = [int(index.min()) for index in cell]
        cell = [index - start for index, start in zip(cell, first, strict=True)]
        most = [int(index.max()) + 1 for index in cell]  # a tile has no row that the whole has not
        shape = tuple(min(size, whole) for size, whole in zip(most, shape, strict=True))
    sizes = operand.buffer.sizes(shape)
    coordinates = operand.buffer.coordinates(cell)
    lane_bytes = STICK // operand.buffer.lanes
    found, address = [], np.zeros(1, dtype=np.int64)
    for dim, coordinate in enumerate(coordinates):
        step = prod(sizes[dim + 1 :]) * lane_bytes
        # Padding of one operand's stick may lie beyond the rows of another; nothing is read there.
        coordinate = np.minimum(coordinate, sizes[dim] - 1)
        address = address + coordinate * step
        extent = int(coordinate.max() - coordinate.min()) + 1
        if dim < len(sizes) - 1:
            found.append((extent, extent * step))
    return found, int(address.max() - address.min()) + lane_bytes


def is_legal(program: Program, tiles: dict[str, int], limit: int, *, padding: bool = True) -> bool:
    """Whether every span that varies is within the limit; also that no reach exceeds its spans."""
    program.worst.clear()
    legal = True
    for grid in program.grids(tiles, padding=padding):
        for number, operand in enumerate(program.operands):
            spans, reach = tile_spans(operand, grid)
            varying = [span for extent, span in spans if extent > 1]
            assert reach <= max([*varying, STICK])
            legal = legal and all(span <= limit for span in varying)
            for dim, (extent, _) in enumerate(spans):
                key = (number, dim)
                program.worst[key] = max(program.worst.get(key, 0), extent)
    return legal


def covers_once(program: Program, tiles: dict[str, int]) -> bool:
    """Whether the tiles visit every point of the iteration exactly once (sticks' padding aside)."""
    seen = np.zeros([program.rounded(n) for n in program.extents], dtype=np.int64)
    for grid in program.grids(tiles):
        seen[tuple(grid[name] for name in program.extents)] += 1
    return bool((seen == 1).all())


def finest(program: Program, fixed: set[str]) -> dict[str, int]:
    """One unit per tile wherever a dim may be cut. Every tile holds a whole unit, so no other
    tiling spans less."""
    return {n: program.units[n] for n in program.extents if n not in fixed}


def cheapest(
    program: Program, limit: int, fixed: set[str], *, cap: int, max_dims: int, exact: bool
) -> tuple[int, int, int] | None:
    """(product of counts, dims that are cut, largest count) of the cheapest legal tiling."""
    choices = []
    for name in program.extents:
        units = program.rounded(name) // program.units[name]
        sizes = [units] if name in fixed else range(1, units + 1)
        choices.append(
            [
                (-(-units // size), size * program.units[name])
                for size in sizes
                if (not exact or units % size == 0) and -(-units // size) <= cap
            ]
        )
    ranked = []
    for choice in product(*choices):
        counts = [count for count, _ in choice]
        cut = sum(count > 1 for count in counts)
        if cut <= max_dims:
            tiles = {n: size for n, (_, size) in zip(program.extents, choice, strict=True)}
            ranked.append(((prod(counts), cut, max(counts)), tiles))
    ranked.sort(key=lambda entry: entry[0])
    for cost, tiles in ranked:
        if is_legal(program, tiles, limit):
            return cost
    return None
