# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tiling: how operations are divided so that no core reaches over more memory than it can address.

`plan_tiles` plans one operation, `group` lets producers and consumers share loops, `explain` says
why."""

from spyre_mlir.tiling.planner import DEFAULT, Options, plan_tiles
from spyre_mlir.tiling.plans import Level, TilePlan, parse_plan

__all__ = ["DEFAULT", "Level", "Options", "TilePlan", "parse_plan", "plan_tiles"]
