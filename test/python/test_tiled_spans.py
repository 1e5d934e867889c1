# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is tiled is within the limit in every device dim, those too that did not overflow before.

A tile is a part of the iteration, so no extent grows; a compact tile has no device dim that is longer
than the one it was cut from, so no step grows. No plan has to be looked at again for dims that only
show once it is carried out; here all of them are."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import product

import pytest
from random_programs import PREPARE, random_module

from spyre_mlir import ir, passmanager
from spyre_mlir.accesses import Access, device_coordinates
from spyre_mlir.kernels import Kernel
from spyre_mlir.operations import kernel_of, walk
from spyre_mlir.quasiaffine import symbol
from spyre_mlir.spans import spans, strides_bytes
from spyre_mlir.tiling.candidates import constraints_of
from spyre_mlir.tiling.planner import Options, plan_tiles
from spyre_mlir.value_ranges import value_range

TILE = "builtin.module(func.func(spyre-plan-span-overflow{{span-limit={}}},spyre-tile))"


def largest_span(kernel: Kernel) -> int:
    """In bytes, over all operands; 0 if nothing varies."""
    found = [span.bytes for a in kernel.accesses for span in spans(a, kernel.extents)]
    return max(found, default=0)


def tiled(seed: int, limit: int) -> list[Kernel] | None:
    """The kernels of a random program in tiles; None if it is no program, or is refused."""
    with ir.Context():
        try:
            _, module = random_module(seed, (6, 14))
        except Exception:
            return None
        passmanager.run(passmanager.parse(PREPARE), module.operation)
        try:
            passmanager.run(passmanager.parse(TILE.format(limit)), module.operation)
        except ir.MLIRError as error:
            assert "SPY0" in str(error), error
            return None
        kernels = [kernel_of(op) for op in walk(module.operation)]
    return [kernel for kernel in kernels if kernel is not None]


@pytest.mark.parametrize("first", [0, 60])
def test_no_operation_in_a_loop_reaches_too_far(first: int) -> None:
    looked = 0
    for seed in range(first, first + 60):
        limit = 128 * random.Random(seed).choice([4, 16, 40, 150])
        for kernel in tiled(seed, limit) or ():
            assert largest_span(kernel) <= limit, (seed, kernel.name, kernel.extents)
            looked += 1
    assert looked > 100


def tiles(kernel: Kernel, sizes: dict[str, int]) -> Iterator[dict[str, tuple[int, int]]]:
    """Symbol -> (start, size) of every tile."""
    ranges = []
    for dim in kernel.dims:
        size = sizes.get(dim.symbol, dim.extent)
        starts = range(0, dim.extent, size)
        ranges.append([(s, min(size, dim.extent - s)) for s in starts])
    for box in product(*ranges):
        yield dict(zip([dim.symbol for dim in kernel.dims], box, strict=True))


def span_at(access: Access, dim: int, kernel: Kernel, tile: dict[str, tuple[int, int]]) -> int:
    """The span along one device dim in one tile."""
    coordinate = device_coordinates(access, kernel.extents)[dim]
    moved = coordinate.substitute({name: symbol(name) + start for name, (start, _) in tile.items()})
    extent = value_range(moved, {name: size for name, (_, size) in tile.items()}).extent
    return extent * strides_bytes(access.layout)[dim] if extent > 1 else 0


def test_every_device_dim_of_every_tile_is_within_the_limit() -> None:
    from test_planner_optimality import planned, small_kernels

    looked = 0
    for number, (seed, kernel) in enumerate(small_kernels(5000)):
        if number == 60:
            break
        limit = 128 * random.Random(seed).choice([2, 8, 30])
        plan = planned(kernel, span_limit=limit, reductions="never")
        if plan is None or isinstance(plan, str):
            continue
        over = {(c.access.label, c.device_dim) for c in constraints_of(kernel, limit, ())}
        parallel = {dim.host_dim: dim.symbol for dim in kernel.dims if not dim.reduction}
        sizes = {parallel[level.dim]: level.size for level in plan.levels}
        for tile in tiles(kernel, sizes):
            for access in kernel.accesses:
                for dim in range(len(access.layout.device_size) - 1):
                    assert span_at(access, dim, kernel, tile) <= limit, (seed, str(plan))
                    looked += (access.label, dim) not in over
    assert looked > 1000


def test_a_second_plan_finds_nothing_to_do() -> None:
    """Planning the tiles of a plan anew: there is nothing over the limit."""
    looked = 0
    for seed in range(200, 240):
        limit = 128 * 40
        for kernel in tiled(seed, limit) or ():
            assert plan_tiles(kernel, Options(span_limit=limit)) is None, (seed, kernel.name)
            looked += 1
    assert looked > 40
