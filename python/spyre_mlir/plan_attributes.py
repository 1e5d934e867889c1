# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tile plans between MLIR and plain values."""

from __future__ import annotations

from spyre_mlir import ir
from spyre_mlir.tiling.plans import Level, TilePlan


def read_plan(attribute: ir.Attribute) -> TilePlan:
    """`#spyre.tile_plan` as a value."""
    levels = tuple(
        Level(level.kind, level.dim, level.count, level.size, level.remainder)
        for level in attribute.levels
    )
    return TilePlan(levels, attribute.origin, attribute.group, attribute.reason)


def write_plan(plan: TilePlan) -> ir.TilePlanAttr:
    """A plan as `#spyre.tile_plan`, in the current context."""
    levels = [
        ir.TileLevelAttr.get(level.kind, level.dim, level.count, level.size, level.remainder)
        for level in plan.levels
    ]
    return ir.TilePlanAttr.get(plan.origin, plan.group, levels, plan.reason)
