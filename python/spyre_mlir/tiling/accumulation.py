# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How the parts of a reduced range that lies in several tiles are put together.

The first tile makes the accumulator, a compact buffer; every later tile is combined with it, in the
order of the tiles. What is rounded when it is combined (sums and products of 16-bit floats) is
computed and kept in f32, and rounded once at the end, as the undivided operation does: its operand
is cast before, or, for a product of matrices, its result is made in f32."""

from __future__ import annotations

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
    operands are cast to it, tile by tile. `cells` counts the reduced cells in all."""

    combine: Combine
    element: str
    wide: bool
    widened: bool
    cells: int

    def kernels(self, levels: tuple[Level, ...]) -> int:
        """Operations that run on the device under these levels."""
        reduced = prod(level.tiles for level in levels if level.kind == "reduction")
        outer = prod(level.tiles for level in levels if level.kind == "parallel")
        if reduced == 1:
            return outer
        positions = self.combine.positions is not None
        per_tile = 1 + self.widened + self.combine.weighted + positions
        per_step = 5 if positions else 1
        return outer * (reduced * per_tile + (reduced - 1) * per_step + 1)


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
    made = kernel.writes[0].element
    wide = made in HALVES and combine.positions is None and not OPS[combine.function].exact
    widened = wide and not _makes_wide(row)
    if widened and any(access.layout.sparse for access in kernel.reads):
        raise Refusal(
            "SPY046",
            f"{title} would be accumulated in {WIDE}, and its operand, which holds one value a stick, has no cast",
            remedy="divide a parallel dim, or cast to f32 before the reduction that made the operand",
        )
    reduced = [dim for dim in kernel.dims if dim.reduction]
    if combine.divided and any(dim.symbolic for dim in reduced):
        raise Refusal(
            "SPY046",
            f"{title} divides by the number of reduced cells, which is symbolic",
            remedy="divide a parallel dim, or write the sum and the division out",
        )
    cells = prod(dim.extent for dim in reduced)
    return Accumulation(combine, WIDE if wide else made, wide, widened, cells)


def _makes_wide(row: Op) -> bool:
    """Whether the operation itself may have a wide result."""
    return WIDE in (row.results[0].elements or ())
