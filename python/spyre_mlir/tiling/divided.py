# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plans that count on work division: a tile may reach further than one core does.

A plan is accepted only if work division, asked for every kind of tile of it, divides each so that no
core reaches too far. What is asked here is what `spyre-divide-work` asks of the tiled program, and
it fails if the answer is another one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import product

from spyre_mlir.accesses import device_coordinates
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.kernels import Kernel
from spyre_mlir.tiling.plans import TilePlan
from spyre_mlir.tiling.reaches import alignment
from spyre_mlir.work_division import divide

PlanAt = Callable[[int], TilePlan | None]
"""The plan under a span limit in bytes; raises Refusal where there is none."""


def plan_divided(
    kernel: Kernel, plan_at: PlanAt, *, span_limit: int, cores: int
) -> TilePlan | None:
    """The plan with the fewest tiles whose tiles work division brings within the limit.

    `plan_at(span_limit)` is safe however the work is divided, and is what is left where no other
    plan is accepted; the others are those under a limit of up to `cores` times as much."""
    tried: set[TilePlan | None] = set()
    for share in range(cores, 1, -1):
        try:
            plan = plan_at(share * span_limit)
        except Refusal:
            continue
        if plan not in tried:
            tried.add(plan)
            if _accepted(kernel, plan, span_limit, cores):
                return plan
    return plan_at(span_limit)


def _accepted(kernel: Kernel, plan: TilePlan | None, span_limit: int, cores: int) -> bool:
    """Whether every tile can be divided so that every core stays within the limit.

    Tiles of reduced ranges run as several operations, reshaped operands are divided in pieces of
    their own, and tiles that coordinates do not line up with differ from each other: none of that is
    counted on."""
    levels = plan.levels if plan is not None else ()
    if any(level.kind == "reduction" for level in levels):
        return False
    symbols = {dim.host_dim: dim.symbol for dim in kernel.dims if not dim.reduction}
    cut = {symbols[int(level.dim)]: level for level in levels}
    if not _lines_up(kernel, {name: level.size for name, level in cut.items()}):
        return False
    pieces = [
        [(name, level.size)] + ([(name, level.remainder)] if level.remainder else [])
        for name, level in cut.items()
    ]
    return all(_fits(kernel, dict(tile), span_limit, cores) for tile in product(*pieces))


def _lines_up(kernel: Kernel, sizes: Mapping[str, int]) -> bool:
    """Whether every dim moves one coordinate of an operand alone, as cores divide it when the
    operation is formed, and tiles start where their coordinates do."""
    for access in kernel.accesses:
        seen: set[str] = set()
        for coordinate in device_coordinates(access, kernel.extents)[:-1]:
            names = coordinate.symbols()
            if len(names) > 1 or seen.intersection(names):
                return False
            seen.update(names)
            for name in names:
                if name in sizes and sizes[name] % alignment(coordinate, name):
                    return False
    return True


def _fits(kernel: Kernel, tile: Mapping[str, int], span_limit: int, cores: int) -> bool:
    dims = tuple(replace(dim, extent=tile.get(dim.symbol, dim.extent)) for dim in kernel.dims)
    try:
        divide(replace(kernel, dims=dims), cores=cores, limit=span_limit)
    except Refusal:
        return False
    return True
