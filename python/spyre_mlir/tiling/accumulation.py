# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How the parts of a reduced range that lies in several tiles are put together.

The first tile makes the accumulator, a compact buffer; every later tile is combined with it, in the
order of the tiles. What is rounded when it is combined (sums and products of 16-bit floats) is
computed and kept in f32, and rounded once at the end, as the undivided operation does: its operand
is cast before, or, for a product of matrices, its result is made in f32."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Literal

from spyre_mlir.diagnostics import Refusal
from spyre_mlir.kernels import Kernel
from spyre_mlir.optable import OPS, Combine, Op
from spyre_mlir.tiling.plans import Level

Reductions = Literal["never", "fallback", "always"]
"""When a planner cuts reduced ranges: never, where cutting the result's dims does not suffice, or wherever fewer
operations run."""

HALVES = ("f16", "bf16")
"""Element types whose accumulators are wider than they are."""

WIDE = "f32"
"""The element type of those accumulators."""

GROWTH = 2
"""How many sticks of f32 hold the elements of a stick of 16-bit floats."""


@dataclass(frozen=True, slots=True)
class Accumulation:
    """How a reduction in several tiles runs.

    `element` is the accumulator's; `wide` says that it is wider than the result's. `widened`:
    operands are cast to it, tile by tile; `spread`: a stick of the operand holds one value, which
    stands in all its lanes for that. `sparse`: a stick of the result holds one value. `cells` counts
    the reduced cells in all."""

    combine: Combine
    element: str
    wide: bool
    widened: bool
    spread: bool
    sparse: bool
    cells: int

    @property
    def in_lanes(self) -> bool:
        """Whether the accumulator too has what it found in all lanes of a dim behind its own. Moments
        of what is spread are those of each value, a pair, and then their sum."""
        return self.spread and not self.combine.weighted

    def kernels(self, levels: Sequence[Level]) -> int:
        """Operations that run on the device under these levels, but for a copy of each tile of the
        result whose sticks of f32 end before its 16-bit ones."""
        reduced = prod(level.tiles for level in levels if level.kind == "reduction")
        outer = prod(level.tiles for level in levels if level.kind == "parallel")
        return outer if reduced == 1 else outer * self.operations(reduced, several=outer > 1)

    def operations(self, parts: int, *, several: bool) -> int:
        """Operations on one tile of the result whose reduced range lies in so many parts; `several`:
        there are more tiles of the result."""
        positions = self.combine.positions is not None
        per_tile = 1 + self.widened + self.spread + self.combine.weighted + positions
        per_step = 5 if positions else 0 if self.combine.into else 1
        return parts * per_tile + (parts - 1) * per_step + self._last(several)

    def _last(self, several: bool) -> int:
        """Operations on a tile of the result after its last part: a division, the cast, or a copy
        into the result where there are several tiles of it."""
        if not self.wide:
            return 1 if self.combine.divided or several else 0
        return self.combine.divided + (2 if self.in_lanes else 3 if self.sparse else 1)


def divides(levels: Sequence[Level]) -> bool:
    """Whether a reduced range lies in several tiles."""
    return any(level.kind == "reduction" and level.tiles > 1 for level in levels)


def accumulation_of(kernel: Kernel) -> Accumulation:
    """How the reduced range of a kernel is divided. Refused (SPY046) where it cannot be."""
    row = OPS.get(kernel.name)
    title = kernel.label or f"'spyre.{kernel.name}'"
    if row is None or row.combine is None:
        raise Refusal(
            "SPY046",
            f"{title} cannot combine what it finds in parts of its range",
            remedy="divide a parallel dim",
        )
    combine = row.combine
    result = kernel.writes[0]
    made = result.element
    wide = made in HALVES and combine.positions is None and not OPS[combine.function].exact
    widened = wide and not _makes_wide(row)
    spread = widened and any(access.layout.sparse for access in kernel.reads)
    reduced = [dim for dim in kernel.dims if dim.reduction]
    if combine.divided and any(dim.symbolic for dim in reduced):
        raise Refusal(
            "SPY046",
            f"{title} divides by the number of reduced cells, which is symbolic",
            remedy="divide a parallel dim, or write the sum and the division out",
        )
    cells = prod(dim.extent for dim in reduced)
    element = WIDE if wide else made
    return Accumulation(combine, element, wide, widened, spread, result.layout.sparse, cells)


def _makes_wide(row: Op) -> bool:
    """Whether the operation itself may have a wide result."""
    return WIDE in (row.results[0].elements or ())
