# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""spyre-plan-span-overflow: a tile plan for every operation that reaches too far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from spyre_mlir import ir
from spyre_mlir.diagnostics import refused_at
from spyre_mlir.hardware import SPAN_LIMIT_BYTES
from spyre_mlir.operations import kernel_of, walk
from spyre_mlir.passmanager import Pass, option, statistic
from spyre_mlir.plan_attributes import write_plan
from spyre_mlir.properties import LAYOUTS
from spyre_mlir.tiling import Options, TilePlan, plan_tiles


@dataclass(frozen=True)
class PlanSpanOverflow(
    Pass,
    name="spyre-plan-span-overflow",
    anchor="func.func",
    dependent_dialects=("spyre",),
    requires=(LAYOUTS,),
):
    """Plan tiles for operations whose spans exceed what one core addresses.

    Writes `spyre.tile` where a plan is needed; a hint that is there already wins."""

    enabled: bool = option(True, help="whether to plan at all; hints are kept in any case")
    span_limit: int = option(SPAN_LIMIT_BYTES, help="largest span of one core, in bytes")
    count_cap: int = option(64, help="most tiles per dim that are preferred to a remainder tile")
    max_dims: int = option(3, help="most tiled dims that are preferred to a remainder tile")
    remainder: Literal["never", "fallback", "always"] = option(
        "fallback", help="when a last tile may be smaller"
    )
    planned = statistic("operations planned")

    def run(self, op: ir.Operation) -> None:
        options = Options(
            enabled=self.enabled,
            span_limit=self.span_limit,
            count_cap=self.count_cap,
            max_dims=self.max_dims,
            remainder=self.remainder,
        )
        group = 0
        for inner in walk(op):
            if "spyre.tile" in inner.attributes:
                continue
            plan = _plan(inner, options)
            if plan is not None:
                inner.attributes["spyre.tile"] = write_plan(
                    TilePlan(plan.levels, plan.origin, group, plan.reason)
                )
                group += 1
        self.planned.add(group)


def _plan(op: ir.Operation, options: Options) -> TilePlan | None:
    with refused_at(op):
        kernel = kernel_of(op)
        return None if kernel is None else plan_tiles(kernel, options)
