# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Why an operation is tiled as it is: spans, the plan with its cost, the runner-up or the refusal.

`as_json` is the documented form of `spyre explain --format json`; `as_text` says the same, and the
device coordinates and costs, to people."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from spyre_mlir.accesses import Access, device_coordinates
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.kernels import Kernel
from spyre_mlir.layouts import Layout
from spyre_mlir.spans import Span, spans
from spyre_mlir.tiling.accumulation import Accumulation, accumulation_of, divides
from spyre_mlir.tiling.candidates import axes_of, constraints_of
from spyre_mlir.tiling.cost import Cost, cost_of, tiles_needed
from spyre_mlir.tiling.planner import DEFAULT, Options, plan_tiles, runner_up, skipped
from spyre_mlir.tiling.plans import Level, TilePlan


@dataclass(frozen=True, slots=True)
class OperandReport:
    """One operand before tiling: its device coordinates as text, and its spans."""

    label: str
    layout: Layout
    coordinates: tuple[str, ...]
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """One operation. `skipped` says why it is left alone; `refusal` why it cannot be planned;
    `accumulation` how its reduced range runs in tiles, where it may; `needed` the tiles that no plan
    can do without; `shares` names the other operations in its loops, `compact` the operands and
    results that hold one tile of them."""

    name: str
    location: str
    operands: tuple[OperandReport, ...]
    plan: TilePlan | None = None
    runner_up: TilePlan | None = None
    refusal: Refusal | None = None
    skipped: str | None = None
    accumulation: Accumulation | None = None
    kernel: Kernel | None = None
    needed: int = 1
    shares: tuple[str, ...] = ()
    compact: tuple[str, ...] = ()

    @property
    def cost(self) -> Cost | None:
        """What the plan costs; a tile that several operations see counts where it is made."""
        if self.kernel is None or self.plan is None:
            return None
        made = [access.buffer for access in self.kernel.writes if access.label in self.compact]
        return cost_of(self.kernel, self.plan, compact=made)

    def in_group(
        self, plan: TilePlan, shares: Sequence[str], compact: Collection[str], options: Options
    ) -> Report:
        """The report of the same operation in loops that it shares, or not, with others."""
        assert self.kernel is not None, "what is planned has a kernel"
        return replace(
            self,
            plan=plan,
            refusal=None,
            needed=_needed(self.kernel, options, compact),
            shares=tuple(shares),
            compact=tuple(compact),
        )


def explain(
    kernel: Kernel,
    options: Options = DEFAULT,
    *,
    location: str = "",
    hint: TilePlan | None = None,
    compact: Collection[str] = (),
) -> Report:
    """The report of one operation. A `hint` is its plan; otherwise it is planned anew."""
    name = kernel.label or kernel.name
    operands = tuple(_operand(access, kernel) for access in kernel.accesses)
    if hint is not None:
        return Report(
            name,
            location,
            operands,
            hint,
            accumulation=_accumulation(kernel),
            kernel=kernel,
            needed=_needed(kernel, options, compact),
        )
    why = skipped(kernel) if options.enabled else "planning is off"
    if why is not None:
        return Report(name, location, operands, skipped=why)
    try:
        plan = plan_tiles(kernel, options, compact=compact)
    except Refusal as refusal:
        return Report(name, location, operands, refusal=refusal, kernel=kernel)
    second = runner_up(kernel, plan, options, compact=compact) if plan is not None else None
    return Report(
        name,
        location,
        operands,
        plan,
        second,
        accumulation=_accumulation(kernel),
        kernel=kernel,
        needed=1 if plan is None else _needed(kernel, options, compact),
    )


def _needed(kernel: Kernel, options: Options, compact: Collection[str]) -> int:
    domains = {n: axis.domain for n, axis in axes_of(kernel, reductions=options.reductions).items()}
    return tiles_needed(constraints_of(kernel, options.span_limit, compact), domains)


def _accumulation(kernel: Kernel) -> Accumulation | None:
    try:
        return accumulation_of(kernel)
    except Refusal:
        return None


def _operand(access: Access, kernel: Kernel) -> OperandReport:
    if access.indirect:
        return OperandReport(access.label, access.layout, (), ())
    coordinates = device_coordinates(access, kernel.extents)
    found = spans(access, kernel.extents)
    return OperandReport(access.label, access.layout, tuple(map(str, coordinates)), found)


def layout_text(layout: Layout) -> str:
    """The sizes and strides as `#spyre.layout` writes them."""
    return f"{list(layout.device_size)} : {list(layout.stride_map)}"


def as_json(reports: Sequence[Report], limit: int) -> dict[str, Any]:
    """`{"limit", "ops": [{"name", "location", "operands": [{"label", "layout", "spans":
    [{"device_dim", "extent", "stride_bytes", "span_bytes", "symbols"}]}], "plan", "refusal"}]}`.

    `plan` is null or `{"levels": [{"dim", "kind", "tile", "count", "remainder"}], "reason"}`, sizes
    in elements, and `{"accumulation": {"element", "casts", "operations"}}` where a reduced range is
    in several tiles; `refusal` is null or `{"code", "message"}`; bytes are device bytes."""
    return {"limit": limit, "ops": [_op(report) for report in reports]}


def _op(report: Report) -> dict[str, Any]:
    refusal = report.refusal
    return {
        "name": report.name,
        "location": report.location,
        "operands": [
            {
                "label": operand.label,
                "layout": layout_text(operand.layout),
                "spans": [_span(span) for span in operand.spans],
            }
            for operand in report.operands
        ],
        "plan": None if report.plan is None else _plan(report, report.plan),
        "refusal": refusal and {"code": refusal.code, "message": refusal.message},
    }


def _span(span: Span) -> dict[str, Any]:
    return {
        "device_dim": span.device_dim,
        "extent": span.extent,
        "stride_bytes": span.stride_bytes,
        "span_bytes": span.bytes,
        "symbols": list(span.symbols),
    }


def _plan(report: Report, plan: TilePlan) -> dict[str, Any]:
    cost, accumulation = report.cost, report.accumulation
    found: dict[str, Any] = {
        "levels": [_level(level) for level in plan.levels],
        "reason": plan.reason,
        "cost": cost and asdict(cost),
        "tiles_needed": report.needed,
        "proved": plan.proved,
        "group": plan.group,
        "compact": list(report.compact),
    }
    if accumulation is not None and divides(plan.levels):
        found["accumulation"] = {
            "element": accumulation.element,
            "casts": accumulation.widened,
            "operations": accumulation.kernels(plan.levels),
        }
    return found


def _level(level: Level) -> dict[str, Any]:
    return {
        "dim": level.dim,
        "kind": level.kind,
        "tile": level.size,
        "count": level.count,
        "remainder": level.remainder,
    }


def as_text(reports: Sequence[Report], limit: int) -> str:
    """The reports for people, one paragraph each."""
    return "\n\n".join("\n".join(_lines(report, limit)) for report in reports) + "\n"


def _lines(report: Report, limit: int) -> Iterator[str]:
    yield report.name + (f" at {report.location}" if report.location else "")
    for operand in report.operands:
        yield f"  {operand.label}: layout {layout_text(operand.layout)}"
        if operand.coordinates:
            yield f"    coordinates [{', '.join(operand.coordinates)}]"
        for span in operand.spans:
            verdict = "fits" if span.bytes <= limit else f"{span.bytes - limit} over"
            bound = "" if span.exact else " (an upper bound)"
            yield (
                f"    device dim {span.device_dim}: extent {span.extent}{bound} x "
                f"{span.stride_bytes} bytes = {span.bytes} bytes, limit {limit}: {verdict}"
            )
    yield from _verdict(report, limit)


def _verdict(report: Report, limit: int) -> Iterator[str]:
    if report.skipped is not None:
        yield f"  left alone: {report.skipped}"
    elif report.refusal is not None:
        for line in str(report.refusal).splitlines():
            yield f"  {line}"
    elif report.plan is None:
        over = any(span.bytes > limit for operand in report.operands for span in operand.spans)
        why = ": work division brings every core within the limit" if over else ""
        yield f"  no tiling needed{why}"
    else:
        yield f"  {'hint' if report.plan.origin == 'hint' else 'plan'}: {_costed(report.plan)}"
        if report.plan.reason:
            yield f"    for the {report.plan.reason}"
        if report.cost is not None:
            yield f"    {report.cost}"
        yield f"    {_gap(report.plan, report.needed)}"
        if report.shares:
            tiles = f"; tiles of its own: {', '.join(report.compact)}" if report.compact else ""
            yield f"    in one loop with {', '.join(report.shares)}{tiles}"
        if report.accumulation is not None and divides(report.plan.levels):
            casts = ", tiles of operands cast to it" if report.accumulation.widened else ""
            yield (
                f"    accumulated in {report.accumulation.element}{casts}; "
                f"{report.accumulation.kernels(report.plan.levels)} operations run"
            )
        if report.runner_up is not None:
            yield f"  runner-up: {_costed(report.runner_up)}"


def _gap(plan: TilePlan, needed: int) -> str:
    """How far a plan is from the lower bound."""
    over = 100 * (plan.tiles - needed) / needed
    proof = "" if plan.proved else "; the budget ended before it was proved to be the cheapest"
    return f"no plan has fewer than {needed} tiles: {over:.0f} % above that{proof}"


def _costed(plan: TilePlan) -> str:
    counts = [level.tiles for level in plan.levels]
    levels = ", ".join(map(str, plan.levels))
    return (
        f"{levels}; cost: {plan.tiles} tiles, {len(counts)} dims, largest count "
        f"{max(counts, default=1)}"
    )
