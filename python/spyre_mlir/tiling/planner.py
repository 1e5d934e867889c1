# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plans one operation: the tiles under which no operand spans more than the hardware can
address."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from spyre_mlir.diagnostics import Refusal
from spyre_mlir.hardware import CORES, LOOP_TRIPS_MAX, SPAN_LIMIT_BYTES
from spyre_mlir.kernels import Kernel
from spyre_mlir.tiling.accumulation import Reductions, accumulation_of
from spyre_mlir.tiling.candidates import (
    Axis,
    Constraint,
    axes_of,
    constraints_of,
    temporary_constraints,
)
from spyre_mlir.tiling.divided import plan_divided
from spyre_mlir.tiling.plans import Level, TilePlan
from spyre_mlir.tiling.search import Choice, Remainders, search
from spyre_mlir.tiling.seed_policy import Caps, plan_seed
from spyre_mlir.tiling.sizes import exact_sizes

Policy = Literal["default", "seed"]


@dataclass(frozen=True, slots=True)
class Options:
    """What the planner may do.

    `span_limit` in bytes. Automatic plans prefer exact divisors with at most `count_cap` tiles on
    at most `max_dims` dims; `remainder` says whether a smaller last tile may be used: never, where
    no divisor fits, or wherever it is cheaper; `reductions` whether reduced ranges may be cut:
    never, where cutting the result's dims does not suffice, or wherever fewer operations run, those
    that combine partial results among them. `division` says whether plans may count on work
    division over `cores`: ignored, every tile is safe whatever it does; counted, a tile may reach
    further than each core does."""

    enabled: bool = True
    span_limit: int = SPAN_LIMIT_BYTES
    count_cap: int = 64
    max_dims: int = 3
    remainder: Remainders = "fallback"
    reductions: Reductions = "fallback"
    policy: Policy = "default"
    division: Literal["ignored", "counted"] = "ignored"
    cores: int = CORES


DEFAULT = Options()


def skipped(kernel: Kernel) -> str | None:
    """Why the planner leaves an operation alone, or None."""
    for access in kernel.accesses:
        if access.indirect:
            return (
                f"{access.label} is reached indirectly: addresses loaded from memory have no span "
                "before they are known"
            )
    return None


def plan_tiles(
    kernel: Kernel,
    options: Options = DEFAULT,
    *,
    compact: Collection[str] = (),
    given: Mapping[str, int] | None = None,
) -> TilePlan | None:
    """The cheapest plan under which every span is within the limit; None if no tiling is needed, or
    the kernel is `skipped`.

    `compact` names the buffers that hold one tile each, with a layout rebuilt for it; all others
    are windows of their full buffer. Raises Refusal: SPY040 no tiling helps, SPY041 only a symbolic
    dim could be cut, SPY042 only a reduction dim, SPY044 the search gave up, SPY047 only a dim that
    positions loaded from memory index."""
    if not options.enabled or skipped(kernel) is not None:
        return None
    if options.policy == "seed":
        caps = Caps(options.span_limit, options.count_cap, options.max_dims)
        return plan_seed(kernel, caps)
    if options.division == "counted":

        def plan_at(limit: int) -> TilePlan | None:
            careful = replace(options, division="ignored", span_limit=limit)
            return plan_tiles(kernel, careful, compact=compact, given=given)

        return plan_divided(kernel, plan_at, span_limit=options.span_limit, cores=options.cores)
    constraints = constraints_of(kernel, options.span_limit, compact)
    if not constraints and not given:
        return None
    axes = axes_of(kernel, reductions=options.reductions)
    tiles = dict(given or {})
    if tiles:
        constraints, axes = _with_given(constraints, axes, tiles)
    choice = _find(kernel, axes, constraints, options, tiles) if constraints else None
    if choice is None and constraints:
        raise refusal(kernel, axes, constraints, options, tiles)
    tiles.update(choice.tiles if choice else {})
    if not tiles:
        return None
    proved = choice is None or choice.proved
    return TilePlan(levels_of(axes, tiles), reason=reason_of(constraints), proved=proved)


def _with_given(
    constraints: Sequence[Constraint], axes: Mapping[str, Axis], given: Mapping[str, int]
) -> tuple[tuple[Constraint, ...], dict[str, Axis]]:
    """What remains to be bounded once some axes are cut; those are not cut again."""
    domains = {name: axis.domain for name, axis in axes.items()}
    tiles = {**domains, **given}
    left = tuple(c for c in constraints if not c.holds(tiles, domains))
    fixed = {
        name: replace(axis, why_fixed="its tile is given") if name in given else axis
        for name, axis in axes.items()
    }
    return left, fixed


def find(
    axes: Mapping[str, Axis],
    constraints: Sequence[Constraint],
    options: Options,
    given: Mapping[str, int] | None = None,
    excluded: Mapping[str, int] | None = None,
    accumulating: Sequence[Constraint] = (),
) -> Choice | None:
    """`search` under these options: parallel dims first, and reduction dims too only where those do
    not suffice; then what `accumulating` bounds is bounded as well."""
    parallel = {
        name: replace(axis, why_fixed=axis.why_fixed or "it is a reduction dim")
        if axis.reduction
        else axis
        for name, axis in axes.items()
    }
    found = _search(parallel, constraints, options, given, excluded)
    if found is None and parallel != axes:
        return _search(axes, (*constraints, *accumulating), options, given, excluded)
    return found


def _search(
    axes: Mapping[str, Axis],
    constraints: Sequence[Constraint],
    options: Options,
    given: Mapping[str, int] | None,
    excluded: Mapping[str, int] | None = None,
) -> Choice | None:
    return search(
        axes,
        constraints,
        cap=options.count_cap,
        max_dims=options.max_dims,
        remainder=options.remainder,
        given=given or {},
        excluded=excluded,
    )


def _find(
    kernel: Kernel,
    axes: Mapping[str, Axis],
    constraints: Sequence[Constraint],
    options: Options,
    given: Mapping[str, int],
    excluded: Mapping[str, int] | None = None,
) -> Choice | None:
    """`find` for one kernel: its temporaries are bounded, and the cheaper way taken where asked
    for."""
    free = any(axis.reduction and axis.why_fixed is None for axis in axes.values())
    if not free:
        return find(axes, constraints, options, given, excluded)
    added = temporary_constraints(kernel, options.span_limit)
    found = find(axes, constraints, options, given, excluded, added)
    if options.reductions == "always" and found is not None:
        other = _search(axes, (*constraints, *added), options, given, excluded)
        if other is not None:
            count = accumulation_of(kernel).kernels
            counts = [count(levels_of(axes, {**given, **c.tiles})) for c in (found, other)]
            return other if counts[1] < counts[0] else found
    return found


def runner_up(
    kernel: Kernel, plan: TilePlan, options: Options = DEFAULT, *, compact: Collection[str] = ()
) -> TilePlan | None:
    """The cheapest other plan: it gives some axis another tile size. None if there is none."""
    if options.policy == "seed":
        return None
    constraints = constraints_of(kernel, options.span_limit, compact)
    axes = axes_of(kernel, reductions=options.reductions)
    numbers = {(level.kind == "reduction", level.dim): level.size for level in plan.levels}
    found: list[Choice] = []
    for name, axis in axes.items():
        size = numbers.get((axis.reduction, axis.number), axis.domain)
        other = _find(kernel, axes, constraints, options, {}, {name: size})
        if other is not None and other.tiles.get(name, axis.domain) != size:
            found.append(other)
    if not found:
        return None
    best = min(found, key=lambda choice: choice.cost)
    return TilePlan(levels_of(axes, best.tiles), reason=plan.reason)


def levels_of(axes: Mapping[str, Axis], tiles: Mapping[str, int]) -> tuple[Level, ...]:
    """The levels of a choice (symbol -> elements per tile): parallel dims outside, in the order of
    the result's dims."""
    chosen = [axes[name] for name in tiles]
    levels = []
    for axis in sorted(chosen, key=lambda a: (a.reduction, a.number)):
        size = tiles[axis.symbol]
        kind = "reduction" if axis.reduction else "parallel"
        count, remainder = divmod(axis.extent, size)
        levels.append(Level(kind, axis.number, count, size, remainder))  # type: ignore[arg-type]
    return tuple(levels)


def reason_of(constraints: Sequence[Constraint]) -> str:
    """What a plan is for: the operands whose spans it brings within the limit."""
    labels = dict.fromkeys(constraint.access.label for constraint in constraints)
    return "span of " + ", ".join(labels)


def refusal(
    kernel: Kernel,
    axes: Mapping[str, Axis],
    constraints: Sequence[Constraint],
    options: Options,
    given: Mapping[str, int],
) -> Refusal:
    """Why no plan exists: each span that stays over the limit, by how much, and why no cut of its
    dims helps."""
    domains = {name: axis.domain for name, axis in axes.items()}
    finest = {n: a.domain if a.why_fixed else _finest(a, options) for n, a in axes.items()}
    finest.update(given)
    stuck = [c for c in constraints if not c.holds(finest, domains)] or list(constraints)
    notes = []
    for constraint in stuck:
        over = constraint.bytes - options.span_limit
        notes.append(
            f"{constraint.access.label}, device dim {constraint.device_dim}: {constraint.extent} "
            f"steps of {constraint.stride_bytes} bytes span {constraint.bytes} bytes, {over} over "
            f"the limit of {options.span_limit}"
        )
        notes += [_why(axes[name], finest, options) for name in _symbols(constraint)]
        least = constraint.bytes_at(finest, domains)
        if least > options.span_limit:
            notes.append(f"cut as finely as can be, it still spans {least} bytes")
    code, what = _code([axes[n] for c in stuck for n in _symbols(c)])
    title = kernel.label or kernel.name
    return Refusal(
        code,
        f"{title}: {what}",
        notes=tuple(dict.fromkeys(notes)),
        remedy=_remedy(code, options),
    )


def _symbols(constraint: Constraint) -> list[str]:
    names = {name: None for part in constraint.coordinates for s in part for name in s.symbols}
    return sorted(names)


def _code(axes: Sequence[Axis]) -> tuple[str, str]:
    fixed = [a for a in axes if a.why_fixed]
    if any("loaded from memory" in (a.why_fixed or "") for a in fixed):
        return "SPY047", "a span stays over the limit, and positions that are loaded drive it"
    if any("symbolic" in (a.why_fixed or "") for a in fixed):
        return "SPY041", "a span stays over the limit, and a dim that drives it is symbolic"
    if any(a.reduction for a in fixed):
        return "SPY042", "a span stays over the limit, and a reduction dim drives it"
    return "SPY040", "no tiling brings every span within the limit"


def _remedy(code: str, options: Options) -> str | None:
    if code == "SPY047":
        return "lay the tensor out with the indexed dim inside, or index fewer of its cells"
    if code == "SPY041":
        return "give the symbol a smaller maximum"
    if code == "SPY042" and options.reductions == "never":
        return "let reduction ranges be cut"
    if options.remainder == "never":
        return "allow remainder tiles"
    return None


def _finest(axis: Axis, options: Options) -> int:
    """Elements of the smallest tile that the options allow."""
    if options.remainder == "never":
        return exact_sizes(axis.units, LOOP_TRIPS_MAX)[-1][1] * axis.unit
    return -(-axis.units // LOOP_TRIPS_MAX) * axis.unit


def _why(axis: Axis, finest: Mapping[str, int], options: Options) -> str:
    kind = "reduction" if axis.reduction else "parallel"
    dim = f"dim {kind}({axis.number}) of extent {axis.extent}"
    if axis.why_fixed:
        return f"{dim} cannot be cut: {axis.why_fixed}"
    return (
        f"{dim} can be cut down to {finest[axis.symbol]} elements"
        + (f", whole sticks of {axis.unit}" if axis.unit > 1 else "")
        + (", by exact divisors only" if options.remainder == "never" else "")
    )
