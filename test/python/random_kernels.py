# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random small operations, once as a kernel and once as the brute force sees it."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from math import lcm

import numpy as np
from oracles.tiled_addresses import Buffer, Grid, Operand, Program

from spyre_mlir.accesses import Access, flat_index
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.kernels import Dim, Kernel, stick_granules
from spyre_mlir.layouts import Layout, contiguous_strides
from spyre_mlir.quasiaffine import Expression, symbol

Index = tuple[Expression, Callable[[Grid], np.ndarray], set[str], int]
"""(planner's index, brute force's index, symbols, size of the host dim)."""


@dataclass
class Case:
    kernel: Kernel
    program: Program
    fixed: set[str]
    compact: set[str]
    limit: int
    ragged: bool = False
    """Whether slices that begin within sticks meet dims that end within sticks: what lies behind the
    end of such a dim is no cell, and may lie in another stick."""


def random_case(seed: int, *, symbolic: bool = False, ragged: bool = False) -> Case | None:
    """A random operation, or None where the draw is not one (an index that no layout reads)."""
    rng = random.Random(seed)
    lanes = rng.choice([2, 4, 8])
    rank = rng.randint(1, 5)
    most = {1: 60, 2: 30, 3: 12, 4: 6, 5: 4}[rank]
    extents = {f"d{i}": rng.choice([1, rng.randint(1, most), most]) for i in range(rank)}
    views = rng.random() < 0.5
    ragged = ragged and views
    if views and not ragged:  # an index into the middle of a buffer has no padding to run into
        extents = {name: -(-extent // lanes) * lanes for name, extent in extents.items()}
    reduced = rng.randint(0, rank - 1) if rng.random() < 0.4 else 0
    reductions = set(list(extents)[rank - reduced :])
    written = [name for name in extents if name not in reductions]
    accesses, operands, compact = [], [], set()
    for number in range(rng.randint(1, 3)):
        last = number == 0
        indices = [_plain(name, extents) for name in written]
        if not last:
            indices = _random_indices(rng, extents, views, ragged)
        sparse = last and bool(reductions) and rng.random() < 0.5
        label = "result" if last else f"input{number}"
        is_compact = not views and rng.random() < 0.2 and all(_simple(i) for i in indices)
        access, operand = _operand(rng, label, indices, lanes, sparse, written=last)
        operand.compact = is_compact
        if is_compact:
            compact.add(label)
        accesses.append(access)
        operands.append(operand)
    accesses, operands = accesses[1:] + accesses[:1], operands[1:] + operands[:1]
    try:
        units = stick_granules(accesses, extents)
    except Refusal:
        return None
    if any(lcm(units[n], lanes) != units[n] and units[n] != 1 for n in units):
        return None
    fixed = set(reductions)
    if symbolic and rng.random() < 0.5:
        fixed.add(rng.choice(written))
    dims = tuple(
        Dim(
            name,
            extent,
            name in reductions,
            None if name in reductions else written.index(name),
            units[name],
            name in fixed and name not in reductions,
        )
        for name, extent in extents.items()
    )
    limit = rng.choice([128, 256, 512, 1024, 2048, 128 * rng.randint(1, 40)])
    return Case(
        Kernel("random", "random", dims, tuple(accesses), f"op{seed}"),
        Program(extents, units, reductions, operands),
        fixed,
        compact,
        limit,
        ragged,
    )


def _simple(index: Index) -> bool:
    expression, _, names, _ = index
    return not names or str(expression) in names


def _plain(name: str, extents: dict[str, int]) -> Index:
    return symbol(name), lambda grid: grid[name], {name}, extents[name]


def _random_indices(
    rng: random.Random, extents: dict[str, int], views: bool, ragged: bool
) -> list[Index]:
    names = list(extents)
    rng.shuffle(names)
    indices: list[Index] = []
    while names:
        name = names.pop()
        draw = rng.random()
        if draw < 0.1:
            continue  # broadcast: the dim is missing
        if draw < 0.2:
            indices.append((Expression(0), lambda grid: np.zeros(1, np.int64), set(), 1))
        elif ragged and draw < 0.7:
            step = rng.choice([1, 1, 2, 3])
            indices.append(_sliced(name, extents, step, rng.randint(1, 9)))
        elif ragged:
            indices.append(_plain(name, extents))
        elif draw < 0.3 and views:
            indices.append(_sliced(name, extents, rng.randint(1, 3), rng.randint(0, 5)))
        elif draw < 0.4 and names and views:
            indices.append(_added(name, names.pop(), extents))
        elif draw < 0.55 and names and views:
            indices.append(_merged(name, names.pop(), extents))
        elif draw < 0.7 and views and extents[name] % 2 == 0:
            indices += _divided(name, extents, rng)
        else:
            indices.append(_plain(name, extents))
    return indices[:6] or [_plain(next(iter(extents)), extents)]


def _sliced(name: str, extents: dict[str, int], step: int, start: int) -> Index:
    size = start + step * (extents[name] - 1) + 1
    return symbol(name) * step + start, lambda g: g[name] * step + start, {name}, size


def _added(a: str, b: str, extents: dict[str, int]) -> Index:
    size = extents[a] + extents[b] - 1
    return symbol(a) + symbol(b), lambda g: g[a] + g[b], {a, b}, size


def _merged(a: str, b: str, extents: dict[str, int]) -> Index:
    inner = extents[b]
    index = symbol(a) * inner + symbol(b)
    return index, lambda g: g[a] * inner + g[b], {a, b}, extents[a] * inner


def _divided(name: str, extents: dict[str, int], rng: random.Random) -> list[Index]:
    by = rng.choice([d for d in range(2, extents[name] + 1) if extents[name] % d == 0])
    outer = extents[name] // by
    return [
        (symbol(name) // by, lambda g: g[name] // by, {name}, outer),
        (symbol(name) % by, lambda g: g[name] % by, {name}, by),
    ]


def _operand(
    rng: random.Random, label: str, indices: list[Index], lanes: int, sparse: bool, *, written: bool
) -> tuple[Access, Operand]:
    shape = tuple(size for *_, size in indices)
    strides = contiguous_strides(shape)
    stick = rng.randrange(len(shape))
    device: list[tuple[int | None, str]] = [
        (host, "whole") for host in range(len(shape)) if sparse or host != stick
    ]
    if not sparse:
        device.append((stick, "sticks"))
    if rng.random() < 0.3:
        device.append((None, "unit"))
    rng.shuffle(device)
    device.append((None if sparse else stick, "lane"))
    buffer = Buffer(shape, lanes, device)
    stride_map = [
        -1
        if host is None or shape[host] == 1
        else strides[host] * (lanes if part == "sticks" else 1)
        for host, part in device
    ]
    sizes = tuple(buffer.sizes(shape))
    layout = Layout(sizes, tuple(stride_map))
    index = flat_index([index for index, *_ in indices], strides)
    access = Access(label, label, layout, "f16", index, written, shape, strides)
    cell = [at for _, at, *_ in indices]
    return access, Operand(buffer, cell, [names for _, _, names, _ in indices])
