# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""spyre-plan-span-overflow: a tile plan for every operation that reaches too far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from spyre_mlir import ir
from spyre_mlir.hardware import CORES, SPAN_LIMIT_BYTES
from spyre_mlir.options import check_range
from spyre_mlir.passmanager import Pass, option, statistic
from spyre_mlir.plan_attributes import write_plan
from spyre_mlir.planning import PLAN, plan_function
from spyre_mlir.properties import LAYOUTS
from spyre_mlir.scheduling import gather
from spyre_mlir.tiling import Options


@dataclass(frozen=True)
class PlanSpanOverflow(
    Pass,
    name="spyre-plan-span-overflow",
    anchor="func.func",
    dependent_dialects=("spyre",),
    requires=(LAYOUTS,),
):
    """Plan tiles for operations whose spans exceed what one core addresses.

    Writes `spyre.tile` where a plan is needed; a hint that is there already wins. Operations that read one another
    share their loops, with one split that is legal for all of them, and are moved side by side. Where that cannot be,
    or costs more, what passes between them has its full size."""

    enabled: bool = option(True, help="whether to plan at all; hints are kept in any case")
    span_limit: int = option(SPAN_LIMIT_BYTES, help="largest span of one core, in bytes")
    policy: Literal["default", "seed"] = option(
        "default", help="seed restates the first planner of this kind, which is unsound, to compare"
    )
    count_cap: int = option(64, help="most tiles per dim that are preferred to a remainder tile")
    max_dims: int = option(3, help="most tiled dims that are preferred to a remainder tile")
    remainder: Literal["never", "fallback", "always"] = option(
        "fallback", help="when a last tile may be smaller"
    )
    reductions: Literal["never", "fallback", "always"] = option(
        "fallback", help="when a reduced range may be divided, and its parts combined"
    )
    division: Literal["ignored", "counted"] = option(
        "ignored", help="whether tiles may reach further than each core does after work division"
    )
    cores: int = option(CORES, help="cores to divide over, where division is counted")
    materialize: bool = option(
        True, help="whether what cannot share a loop, or should not, reads a full-size intermediate"
    )
    planned = statistic("operations planned")

    def __post_init__(self) -> None:
        check_range(self, "span_limit", least=1, most=SPAN_LIMIT_BYTES)
        for field in ("count_cap", "max_dims"):
            check_range(self, field, least=1)
        check_range(self, "cores", least=1, most=CORES)

    def run(self, op: ir.Operation) -> None:
        options = Options(
            enabled=self.enabled,
            span_limit=self.span_limit,
            policy=self.policy,
            count_cap=self.count_cap,
            max_dims=self.max_dims,
            remainder=self.remainder,
            reductions=self.reductions,
            division=self.division,
            cores=self.cores,
        )
        if not self.enabled:
            return
        found = plan_function(op, options, materialize=self.materialize)
        made = [planned for planned in found if not planned.hinted]
        for planned in made:
            planned.op.attributes[PLAN] = write_plan(planned.plan)
        gather(op, {planned.number: planned.plan.group for planned in made})
        self.planned.add(len(made))
