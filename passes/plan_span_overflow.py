# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""spyre-plan-span-overflow: a tile plan for every operation that reaches too far."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from spyre_mlir import ir
from spyre_mlir.diagnostics import Refusal, refused_at
from spyre_mlir.hardware import SPAN_LIMIT_BYTES
from spyre_mlir.kernels import Kernel
from spyre_mlir.operations import carrier, kernel_of, walk
from spyre_mlir.options import check_range
from spyre_mlir.passmanager import Pass, option, statistic
from spyre_mlir.plan_attributes import read_plan, write_plan
from spyre_mlir.properties import LAYOUTS
from spyre_mlir.tiling import Options, plan_tiles
from spyre_mlir.tiling.groups import Member, SeedRules, SharedLevels, group, member_of

PLAN = "spyre.tile"


@dataclass(frozen=True)
class PlanSpanOverflow(
    Pass,
    name="spyre-plan-span-overflow",
    anchor="func.func",
    dependent_dialects=("spyre",),
    requires=(LAYOUTS,),
):
    """Plan tiles for operations whose spans exceed what one core addresses.

    Writes `spyre.tile` where a plan is needed; a hint that is there already wins. What reads a tiled
    operation shares its loop where the tiles correspond, and is refused where they do not."""

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
    materialize: bool = option(
        False, help="whether a reader that cannot share a loop reads a full-size intermediate"
    )
    planned = statistic("operations planned")

    def __post_init__(self) -> None:
        for field in ("span_limit", "count_cap", "max_dims"):
            check_range(self, field, least=1)

    def run(self, op: ir.Operation) -> None:
        options = Options(
            enabled=self.enabled,
            span_limit=self.span_limit,
            policy=self.policy,
            count_cap=self.count_cap,
            max_dims=self.max_dims,
            remainder=self.remainder,
        )
        if not self.enabled:
            return
        ops = [inner for inner in walk(op) if _matters(inner)]
        members = list(_members(ops, options))
        if all(member.plan is None for member in members):
            return
        rules = SeedRules() if self.policy == "seed" else SharedLevels(nested=False)
        try:
            grouping = group(members, rules, materialize=self.materialize)
        except Refusal as refusal:
            refusal.place = ops[refusal.place]
            raise
        first = 1 + max((m.hint.group for m in members if m.hint is not None), default=-1)
        count = 0
        for inner, member, plan in zip(ops, members, grouping.plans, strict=True):
            if plan is not None and member.hint is None:
                inner.attributes[PLAN] = write_plan(replace(plan, group=first + plan.group))
                count += 1
        self.planned.add(count)


def _matters(op: ir.Operation) -> bool:
    """Empty tensors move freely; every other operation computes, or must not be moved over."""
    return op.name != "spyre.empty"


def _members(ops: list[ir.Operation], options: Options) -> Iterator[Member]:
    """The operations as grouping sees them. What has no kernel ends a run, and so does what stands in a loop."""
    names: dict[ir.Value, str] = {}
    for op in ops:
        with refused_at(op):
            kernel = kernel_of(op) if op.parent.name == "func.func" else None
            if kernel is None:
                yield Member("", "", False, (), ())
                continue
            kernel = _named(op, kernel, names)
            hint = read_plan(op.attributes[PLAN]) if PLAN in op.attributes else None
            plan = None if hint is not None else plan_tiles(kernel, options)
            yield member_of(kernel, plan, hint=hint, options=options)


def _named(op: ir.Operation, kernel: Kernel, names: dict[ir.Value, str]) -> Kernel:
    """The kernel with one buffer name per value, so that reads are tied to writes."""
    tensors = [v for v in (*op.operands, *op.results) if isinstance(v.type, ir.RankedTensorType)]
    indexed = [names.setdefault(carrier(value), f"v{len(names)}") for value in tensors]
    accesses = tuple(
        replace(access, buffer=name) for access, name in zip(kernel.accesses, indexed, strict=False)
    )
    return replace(kernel, accesses=accesses, label=f"'{op.name}'")
