# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hints: plans written by hand, which may name their dims and leave tile sizes out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from spyre_mlir.diagnostics import Refusal
from spyre_mlir.kernels import Kernel
from spyre_mlir.tiling.accumulation import accumulation_of
from spyre_mlir.tiling.plans import Level, TilePlan

DimFact = tuple[str | None, int, bool, int]
"""(name or None, extent in elements, whether reduced, elements a stick or 1) of one iteration dim, in iteration
order."""


def resolve(plan: TilePlan, dims: Sequence[DimFact]) -> TilePlan:
    """The plan with every dim a number and every size an element count.

    A size that is left out is the extent divided by the count, rounded up to whole sticks: there may be fewer tiles
    than the count then. Refused (SPY045): a name or number that is no dim of the operation, a reduction dim cut as a
    parallel one, tiles that do not cover the extent."""
    return replace(plan, levels=tuple(_level(level, dims) for level in plan.levels))


def check_levels(plan: TilePlan, kernel: Kernel) -> None:
    """Refuses (SPY045) tiles of a range whose extent is symbolic, of which some may hold no data, and (SPY046) what
    tiling does not carry out: a reduced range in several tiles of which the results are not
    combined, or outside a level that divides the result, one tile of which an accumulator holds."""
    divided = None
    for level in plan.levels:
        own = [dim for dim in kernel.dims if dim.reduction == (level.kind == "reduction")]
        if level.tiles > 1 and own[int(level.dim)].symbolic:
            raise Refusal(
                "SPY045",
                f"the plan cuts {level.kind} dim {level.dim}, whose extent is symbolic: a tile may lie behind it",
                remedy="cut another dim, or give the extent as a literal",
            )
        if level.kind == "reduction" and level.tiles > 1:
            divided = level
            accumulation_of(kernel)
        elif divided is not None and level.tiles > 1:
            raise Refusal(
                "SPY046",
                f"{level.kind}({level.dim}) stands inside {divided.kind}({divided.dim}), whose accumulator holds one "
                "tile of the result",
                remedy="list the reduction levels last",
            )


def _level(level: Level, dims: Sequence[DimFact]) -> Level:
    wanted = level.kind == "reduction"
    own = [dim for dim in dims if dim[2] == wanted]
    if isinstance(level.dim, str):
        found = [number for number, dim in enumerate(own) if dim[0] == level.dim]
        if len(found) != 1:
            known = ", ".join(dim[0] for dim in own if dim[0]) or "none"
            raise Refusal(
                "SPY045",
                f"the hint names {level.kind} dim '{level.dim}'; the operation has: {known}",
                remedy="name the dims with spyre.dims, or give the number of the dim",
            )
        number = found[0]
    else:
        number = level.dim
    if number >= len(own):
        raise Refusal(
            "SPY045",
            f"the hint cuts {level.kind} dim {number}; the operation has {len(own)} of this kind",
        )
    _, extent, _, stick = own[number]
    if not extent:
        raise Refusal("SPY045", f"the hint cuts {level.kind} dim {number}, which has no cell")
    if not level.size:
        size = -(-extent // (level.count * stick)) * stick
        size = min(size, extent)
        count, remainder = divmod(extent, size)
        return Level(level.kind, number, count, size, remainder)
    if level.extent != extent:
        raise Refusal(
            "SPY045",
            f"the tiles {level.count} x {level.size} + {level.remainder} cover {level.extent} elements of "
            f"{level.kind} dim {number}, which has {extent}",
        )
    return replace(level, dim=number)
